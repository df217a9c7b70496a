/* h5_text.c -- texts as attributes of groups: UTF-8, of fixed length with a 0 at the
 * end. (HDF5 keeps texts of variable length where nothing checks them.) */
#include "io/h5_impl.h"

#include <string.h>

/* ---- write ---- */

static weft_status write_text(weft__h5 *h5, const char *name, hid_t type, hid_t attribute,
                              const char *text)
{
    TRY_H5(h5, name, H5Awrite(attribute, type, text));
    return WEFT_OK;
}

static weft_status put_attribute(weft__h5 *h5, hid_t group, const char *name, hid_t type,
                                 hid_t space, const char *text)
{
    hid_t attribute;

    TRY_H5(h5, name, H5Tset_size(type, strlen(text) + 1));
    TRY_H5(h5, name, H5Tset_cset(type, H5T_CSET_UTF8));
    TRY_H5_ID(h5, name, attribute, H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    const weft_status done = write_text(h5, name, type, attribute, text);
    H5Aclose(attribute);
    return done;
}

weft_status weft__h5_put_text(weft__h5 *h5, const char *path, const char *name, const char *text)
{
    hid_t group;

    WEFT_TRY(weft__h5_put_group(h5, path));
    TRY_H5_ID(h5, path, group, H5Gopen2(h5->file, path, H5P_DEFAULT));
    const hid_t       type = H5Tcopy(H5T_C_S1);
    const hid_t       space = H5Screate(H5S_SCALAR);
    const weft_status done = put_attribute(h5, group, name, type, space, text);
    H5Sclose(space);
    H5Tclose(type);
    H5Gclose(group);
    return done;
}

/* ---- read ---- */

/* One text of fixed length, not longer than the file. 0 if it is none. */
static size_t length_of(const weft__h5 *h5, hid_t type, hid_t space)
{
    const size_t length = H5Tget_size(type);

    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 || length > h5->disk.size)
        return 0;
    return H5Sget_simple_extent_npoints(space) == 1 ? length : 0;
}

static weft_status read_text(weft__h5 *h5, const char *name, hid_t attribute, hid_t type,
                             hid_t space, char **text)
{
    const size_t length = length_of(h5, type, space);

    if (length == 0)
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: attribute %s is not a text of fixed length", h5->name,
                         name);
    WEFT_TRY_NEW(*text = weft_alloc_zeroed((int64_t)length + 1));
    TRY_H5(h5, name, H5Aread(attribute, type, *text));
    return WEFT_OK;
}

static weft_status get_attribute(weft__h5 *h5, const char *path, const char *name, char **text)
{
    htri_t there;
    hid_t  attribute;

    TRY_H5_ID(h5, path, there, H5Aexists_by_name(h5->file, path, name, H5P_DEFAULT));
    if (there == 0)
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s has no text %s", h5->name, path, name);

    TRY_H5_ID(h5, path, attribute, H5Aopen_by_name(h5->file, path, name, H5P_DEFAULT, H5P_DEFAULT));
    const hid_t       type = H5Aget_type(attribute);
    const hid_t       space = H5Aget_space(attribute);
    const weft_status done = read_text(h5, name, attribute, type, space, text);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return done;
}

char *weft__h5_get_text(weft__h5 *h5, const char *path, const char *name)
{
    char *text = NULL;

    if (get_attribute(h5, path, name, &text) == WEFT_OK)
        return text;
    weft_free(text);
    return NULL;
}
