/* tensor_dataset.c -- samples that are the rows of tensors. */
#include "weft/data.h"

#include <string.h>

typedef struct {
    weft_tensor x[WEFT_MAX_FIELDS]; /* the caller's memory */
} tensors;

static weft_status read(const void *state, int field, int64_t n, const int64_t *sample,
                        weft_tensor *to)
{
    const weft_tensor *x = &((const tensors *)state)->x[field];
    const size_t       row = (size_t)(weft_tensor_bytes(x) / x->shape[0]);

    for (int64_t i = 0; i < n; i++)
        memcpy((char *)to->data + (size_t)i * row, (const char *)x->data + (size_t)sample[i] * row,
               row);
    return WEFT_OK;
}

static const weft_dataset_kind kind = { .name = "tensors", .read = read, .destroy = weft_free };

static weft_status check_field(const char *name, const weft_tensor *x)
{
    WEFT_TRY_NEW(x);
    if (name == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "a data set from a tensor %s without a name",
                         weft_shape_text(x));
    if (x->data == NULL && x->count > 0)
        return WEFT_FAIL(WEFT_E_ARG, "a data set from \"%s\", %s without data", name,
                         weft_shape_text(x));
    return WEFT_OK;
}

static weft_status check(int fields, const char *const *name, const weft_tensor *const *x)
{
    if (fields < 1 || fields > WEFT_MAX_FIELDS)
        return WEFT_FAIL(WEFT_E_ARG, "a data set from %d tensors: 1 to %d are possible", fields,
                         WEFT_MAX_FIELDS);
    if (name == NULL || x == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "a data set from %d tensors without %s", fields,
                         name == NULL ? "names" : "tensors");
    for (int i = 0; i < fields; i++)
        WEFT_TRY(check_field(name[i], x[i]));
    for (int i = 0; i < fields; i++)
        if (x[i]->ndim == 0 || x[i]->shape[0] != x[0]->shape[0])
            return WEFT_FAIL(
                WEFT_E_SHAPE,
                "a data set from tensors with as many rows: \"%s\" is %s, \"%s\" is %s", name[0],
                weft_shape_text(x[0]), name[i], weft_shape_text(x[i]));
    return WEFT_OK;
}

/* A row of x is a sample. */
static weft_field describe(const char *name, const weft_tensor *x)
{
    weft_field field = { .name = name, .dtype = x->dtype, .ndim = x->ndim - 1 };
    memcpy(field.shape, x->shape + 1, (size_t)field.ndim * sizeof *field.shape);
    return field;
}

weft_dataset *weft_tensor_dataset(int fields, const char *const *name, const weft_tensor *const *x)
{
    weft_field field[WEFT_MAX_FIELDS];

    if (check(fields, name, x) != WEFT_OK)
        return NULL;
    tensors *state = weft_alloc((int64_t)sizeof *state);
    if (state == NULL)
        return NULL;
    for (int i = 0; i < fields; i++) {
        field[i] = describe(name[i], x[i]);
        state->x[i] = *x[i];
    }
    return weft_dataset_create(&kind, state, x[0]->shape[0], fields, field);
}
