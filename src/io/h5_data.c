/* h5_data.c -- datasets: write and read their elements. */
#include "io/h5_impl.h"

#include <zlib.h>

uint32_t weft__h5_sum(const weft_tensor *x)
{
    return (uint32_t)crc32_z(0, x->data, (size_t)weft_tensor_bytes(x));
}

/* ---- types ---- */

/* In the file. */
static hid_t file_type(weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_F32:
        return H5T_IEEE_F32LE;
    case WEFT_F64:
        return H5T_IEEE_F64LE;
    case WEFT_I32:
        return H5T_STD_I32LE;
    case WEFT_I64:
        return H5T_STD_I64LE;
    case WEFT_U8:
        return H5T_STD_U8LE;
    }
    return H5I_INVALID_HID;
}

/* In memory. */
static hid_t memory_type(weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_F32:
        return H5T_NATIVE_FLOAT;
    case WEFT_F64:
        return H5T_NATIVE_DOUBLE;
    case WEFT_I32:
        return H5T_NATIVE_INT32;
    case WEFT_I64:
        return H5T_NATIVE_INT64;
    case WEFT_U8:
        return H5T_NATIVE_UINT8;
    }
    return H5I_INVALID_HID;
}

/* An enumeration FALSE, TRUE over int8, as h5py makes and knows it. Negative if it
 * can not be made. */
static hid_t bool_type(void)
{
    const hid_t  type = H5Tenum_create(H5T_STD_I8LE);
    const int8_t no = 0, yes = 1;

    if (H5Tenum_insert(type, "FALSE", &no) < 0 || H5Tenum_insert(type, "TRUE", &yes) < 0)
        return -1;
    return type;
}

/* ---- write ---- */

/* A dataset about to be made. */
typedef struct {
    weft__h5          *h5;
    const char        *path;
    const weft_tensor *x;
    uint32_t           sum;
    hid_t              in_file, in_memory; /* types of elements */
    hid_t              space, scalar;
    hid_t              creation;
} draft;

static weft_status write_sum(const draft *d, hid_t attribute)
{
    TRY_H5(d->h5, d->path, H5Awrite(attribute, H5T_NATIVE_UINT32, &d->sum));
    return WEFT_OK;
}

static weft_status put_sum(const draft *d, hid_t data)
{
    hid_t attribute;

    TRY_H5_ID(d->h5, d->path, attribute,
              H5Acreate2(data, WEFT__H5_SUM, H5T_STD_U32LE, d->scalar, H5P_DEFAULT, H5P_DEFAULT));
    const weft_status done = write_sum(d, attribute);
    H5Aclose(attribute);
    return done;
}

static weft_status fill(const draft *d, hid_t data)
{
    if (d->x->count > 0)
        TRY_H5(d->h5, d->path,
               H5Dwrite(data, d->in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, d->x->data));
    return put_sum(d, data);
}

/* Contiguous, which is the default: deflate would save 8 % of float weights, and
 * cost most of the time of a snapshot. */
static weft_status put(const draft *d)
{
    hid_t data;

    TRY_H5(d->h5, d->path, H5Pset_obj_track_times(d->creation, 0));
    TRY_H5(d->h5, d->path, H5Pset_fill_time(d->creation, H5D_FILL_TIME_NEVER));
    TRY_H5_ID(d->h5, d->path, data,
              H5Dcreate2(d->h5->file, d->path, d->in_file, d->space, H5P_DEFAULT, d->creation,
                         H5P_DEFAULT));
    const weft_status done = fill(d, data);
    H5Dclose(data);
    return done;
}

static hid_t space_of(const weft_tensor *x)
{
    hsize_t extent[WEFT_MAX_AXES];

    for (int i = 0; i < x->ndim; i++)
        extent[i] = (hsize_t)x->shape[i];
    return x->ndim == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(x->ndim, extent, NULL);
}

weft_status weft__h5_put(weft__h5 *h5, const char *path, const weft_tensor *x, bool as_bool,
                         uint32_t sum)
{
    WEFT_TRY(weft__h5_put_groups_above(h5, path));

    const hid_t bools = bool_type();
    const draft d = {
        .h5 = h5,
        .path = path,
        .x = x,
        .sum = sum,
        .in_file = as_bool ? bools : file_type(x->dtype),
        .in_memory = as_bool ? bools : memory_type(x->dtype),
        .space = space_of(x),
        .scalar = H5Screate(H5S_SCALAR),
        .creation = H5Pcreate(H5P_DATASET_CREATE),
    };
    const weft_status done = put(&d);
    H5Pclose(d.creation);
    H5Sclose(d.scalar);
    H5Sclose(d.space);
    H5Tclose(bools);
    return done;
}

/* ---- read ---- */

/* HDF5 would write the nearest number that there is. */
static H5T_conv_ret_t refuse(H5T_conv_except_t what, hid_t from_type, hid_t to_type, void *from,
                             void *to, void *refused)
{
    (void)from_type, (void)to_type, (void)from, (void)to;
    if (what != H5T_CONV_EXCEPT_RANGE_HI && what != H5T_CONV_EXCEPT_RANGE_LOW)
        return H5T_CONV_UNHANDLED;
    *(bool *)refused = true;
    return H5T_CONV_ABORT;
}

static weft_status read_elements(weft__h5 *h5, const char *path, hid_t data, hid_t transfer,
                                 weft_tensor *x)
{
    bool   refused = false;
    herr_t code;

    TRY_H5(h5, path, H5Pset_type_conv_cb(transfer, refuse, &refused));
    QUIETLY(code = H5Dread(data, memory_type(x->dtype), H5S_ALL, H5S_ALL, transfer, x->data))
    if (refused)
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s holds a number that does not fit into %s", h5->name,
                         path, weft_dtype_text(x->dtype));
    return code < 0 ? weft__h5_failed(h5, path, WEFT_HERE, "H5Dread()") : WEFT_OK;
}

weft_status weft__h5_get(weft__h5 *h5, const char *path, weft_tensor *x)
{
    hid_t data;

    if (x->count == 0)
        return WEFT_OK;
    TRY_H5_ID(h5, path, data, H5Dopen2(h5->file, path, H5P_DEFAULT));
    const hid_t       transfer = H5Pcreate(H5P_DATASET_XFER);
    const weft_status done = read_elements(h5, path, data, transfer, x);
    H5Pclose(transfer);
    H5Dclose(data);
    return done;
}
