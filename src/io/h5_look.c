/* h5_look.c -- what is at a path: nothing, a group, numbers of which shape. */
#include "io/h5_impl.h"

#include <inttypes.h>
#include <string.h>

/* ---- a dataset ---- */

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

    TRY_H5_ID(h5, path, there, H5Aexists(data, WEFT__H5_SUM));
    if (there == 0)
        return WEFT_OK;
    TRY_H5_ID(h5, path, sum, H5Aopen(data, WEFT__H5_SUM, H5P_DEFAULT));
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

/* ---- a path ---- */

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
    char *copy;

    *item = (weft__h5_item){ .kind = WEFT__H5_NOTHING };
    WEFT_TRY_NEW(copy = weft_text_copy(path));
    const weft_status done = look_along(h5, copy, item);
    weft_free(copy);
    return done;
}
