/* h5_data.c -- datasets: look, write, read. */
#include "io/h5_impl.h"

#include <inttypes.h>
#include <string.h>

#include <zlib.h>

#define SUM "weft_crc32" /* attribute of a dataset: checksum of its elements */

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

/* ---- look ---- */

/* The narrowest dtype of ours that holds a type's values. False: no numbers. */
static bool dtype_of(hid_t type, weft_dtype *dtype)
{
    const H5T_class_t kind = H5Tget_class(type);
    const size_t      bytes = H5Tget_size(type);

    if (kind == H5T_FLOAT)
        *dtype = bytes <= 4 ? WEFT_F32 : WEFT_F64;
    else if (kind == H5T_ENUM && bytes == 1)
        *dtype = WEFT_U8;
    else if (kind == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE)
        *dtype = bytes == 1 ? WEFT_U8 : bytes == 2 ? WEFT_I32 : WEFT_I64;
    else if (kind == H5T_INTEGER)
        *dtype = bytes <= 4 ? WEFT_I32 : WEFT_I64;
    else
        return false;
    return true;
}

static weft_status look_at_type(weft__h5 *h5, const char *path, hid_t data, weft__h5_item *item)
{
    hid_t type;

    TRY_H5_ID(h5, path, type, H5Dget_type(data));
    if (!dtype_of(type, &item->what.dtype))
        item->kind = WEFT__H5_OTHER;
    H5Tclose(type);
    return WEFT_OK;
}

static weft_status take_shape(weft__h5 *h5, const char *path, hid_t space, weft__h5_item *item)
{
    hsize_t      extent[H5S_MAX_RANK];
    weft_tensor *what = &item->what;
    int          n;

    TRY_H5_ID(h5, path, n, H5Sget_simple_extent_dims(space, extent, NULL));
    if (n > WEFT_MAX_AXES)
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s has %d axes, more than %d", h5->name, path, n,
                         WEFT_MAX_AXES);
    what->ndim = n;
    what->count = 1;
    for (int i = 0; i < n; i++) {
        if (extent[i] > INT64_MAX / 8 ||
            (what->count > 0 && (int64_t)extent[i] > INT64_MAX / 8 / what->count))
            return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s has too many elements: axis %d is %" PRIu64,
                             h5->name, path, i, (uint64_t)extent[i]);
        what->shape[i] = (int64_t)extent[i];
        what->count *= what->shape[i];
    }
    return WEFT_OK;
}

static weft_status look_at_space(weft__h5 *h5, const char *path, hid_t data, weft__h5_item *item)
{
    weft_status done = WEFT_OK;
    hid_t       space;

    TRY_H5_ID(h5, path, space, H5Dget_space(data));
    if (H5Sget_simple_extent_type(space) == H5S_NULL)
        item->kind = WEFT__H5_NULL;
    else
        done = take_shape(h5, path, space, item);
    H5Sclose(space);
    return done;
}

static weft_status read_sum(weft__h5 *h5, const char *path, hid_t sum, weft__h5_item *item)
{
    TRY_H5(h5, path, H5Aread(sum, H5T_NATIVE_UINT32, &item->sum));
    item->summed = true;
    return WEFT_OK;
}

static weft_status look_at_sum(weft__h5 *h5, const char *path, hid_t data, weft__h5_item *item)
{
    htri_t there;
    hid_t  sum;

    TRY_H5_ID(h5, path, there, H5Aexists(data, SUM));
    if (there == 0)
        return WEFT_OK;
    TRY_H5_ID(h5, path, sum, H5Aopen(data, SUM, H5P_DEFAULT));
    const weft_status done = read_sum(h5, path, sum, item);
    H5Aclose(sum);
    return done;
}

static weft_status look_at_data(weft__h5 *h5, const char *path, hid_t data, weft__h5_item *item)
{
    item->kind = WEFT__H5_NUMBERS;
    WEFT_TRY(look_at_type(h5, path, data, item));
    WEFT_TRY(look_at_space(h5, path, data, item));
    WEFT_TRY(look_at_sum(h5, path, data, item));
    QUIETLY(item->stored = (int64_t)H5Dget_storage_size(data)) /* 0 if it fails */
    return WEFT_OK;
}

static weft_status look_at_object(weft__h5 *h5, const char *path, hid_t object, weft__h5_item *item)
{
    switch (H5Iget_type(object)) {
    case H5I_GROUP:
        item->kind = WEFT__H5_GROUP;
        return WEFT_OK;
    case H5I_DATASET:
        return look_at_data(h5, path, object, item);
    default:
        item->kind = WEFT__H5_OTHER;
        return WEFT_OK;
    }
}

/* A link to nothing is nothing. */
static weft_status is_there(weft__h5 *h5, const char *path, bool *there)
{
    htri_t link, object = 1;

    TRY_H5_ID(h5, path, link, H5Lexists(h5->file, path, H5P_DEFAULT));
    if (link > 0)
        TRY_H5_ID(h5, path, object, H5Oexists_by_name(h5->file, path, H5P_DEFAULT));
    *there = link > 0 && object > 0;
    return WEFT_OK;
}

static weft_status look(weft__h5 *h5, const char *path, weft__h5_item *item)
{
    bool  there = false;
    hid_t object;

    *item = (weft__h5_item){ .kind = WEFT__H5_NOTHING };
    WEFT_TRY(is_there(h5, path, &there));
    if (!there)
        return WEFT_OK;
    TRY_H5_ID(h5, path, object, H5Oopen(h5->file, path, H5P_DEFAULT));
    const weft_status done = look_at_object(h5, path, object, item);
    H5Oclose(object);
    return done;
}

/* HDF5 can say that a path is not there only if all above it are: so from above. */
static weft_status look_along(weft__h5 *h5, char *path, weft__h5_item *item)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        WEFT_TRY(look(h5, path, item));
        *slash = '/';
        if (item->kind != WEFT__H5_GROUP) {
            item->kind = WEFT__H5_NOTHING;
            return WEFT_OK;
        }
    }
    return look(h5, path, item);
}

weft_status weft__h5_look(weft__h5 *h5, const char *path, weft__h5_item *item)
{
    char *const       copy = weft_text_copy(path);
    const weft_status done = copy == NULL ? weft_error_status() : look_along(h5, copy, item);

    weft_free(copy);
    return done;
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
              H5Acreate2(data, SUM, H5T_STD_U32LE, d->scalar, H5P_DEFAULT, H5P_DEFAULT));
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
