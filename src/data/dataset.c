/* dataset.c -- a number of samples with the same fields, of any kind. */
#include "weft/data.h"

#include <inttypes.h>
#include <string.h>

static const int64_t MOST_SAMPLES = INT64_C(1) << 48; /* weft_random counts them in 48 bits */

struct weft_dataset {
    const weft_dataset_kind *kind;
    void                    *state;
    int64_t                  length;
    int                      fields;
    weft_field               field[WEFT_MAX_FIELDS];
    char                    *name[WEFT_MAX_FIELDS]; /* theirs, our own copies */
};

static weft_status check_field(const weft_field *field)
{
    if (field->ndim < 0 || field->ndim >= WEFT_MAX_AXES) /* a batch has one more */
        return WEFT_FAIL(WEFT_E_ARG, "field \"%s\" of a data set has %d axes: 0 to %d are possible",
                         field->name, field->ndim, WEFT_MAX_AXES - 1);
    for (int i = 0; i < field->ndim; i++)
        if (field->shape[i] < 0)
            return WEFT_FAIL(WEFT_E_ARG,
                             "field \"%s\" of a data set has extent %" PRId64 " on axis %d",
                             field->name, field->shape[i], i);
    return WEFT_OK;
}

static weft_status add_field(weft_dataset *dataset, const weft_field *field)
{
    const int i = dataset->fields;

    WEFT_TRY(check_field(field));
    WEFT_TRY_NEW(dataset->name[i] = weft_text_copy(field->name));
    dataset->field[i] = *field;
    dataset->field[i].name = dataset->name[i];
    dataset->fields++;
    return WEFT_OK;
}

static weft_status fill_in(weft_dataset *dataset, int fields, const weft_field *field)
{
    if (dataset->length < 0 || dataset->length >= MOST_SAMPLES)
        return WEFT_FAIL(WEFT_E_ARG,
                         "a data set of %" PRId64 " samples: below %" PRId64 " are possible",
                         dataset->length, MOST_SAMPLES);
    if (fields < 0 || fields > WEFT_MAX_FIELDS)
        return WEFT_FAIL(WEFT_E_ARG, "a data set with %d fields: 0 to %d are possible", fields,
                         WEFT_MAX_FIELDS);
    for (int i = 0; i < fields; i++)
        WEFT_TRY(add_field(dataset, &field[i]));
    return WEFT_OK;
}

weft_dataset *weft_dataset_create(const weft_dataset_kind *kind, void *state, int64_t length,
                                  int fields, const weft_field *field)
{
    weft_dataset *dataset = weft_alloc_zeroed((int64_t)sizeof *dataset);

    if (dataset == NULL) {
        if (kind->destroy != NULL)
            kind->destroy(state);
        return NULL;
    }
    *dataset = (weft_dataset){ .kind = kind, .state = state, .length = length };
    if (fill_in(dataset, fields, field) != WEFT_OK) {
        weft_dataset_destroy(dataset);
        return NULL;
    }
    return dataset;
}

void weft_dataset_destroy(weft_dataset *dataset)
{
    if (dataset == NULL)
        return;
    for (int i = 0; i < dataset->fields; i++)
        weft_free(dataset->name[i]);
    if (dataset->kind->destroy != NULL)
        dataset->kind->destroy(dataset->state);
    weft_free(dataset);
}

int64_t weft_dataset_length(const weft_dataset *dataset)
{
    return dataset->length;
}

int weft_dataset_fields(const weft_dataset *dataset)
{
    return dataset->fields;
}

const weft_field *weft_dataset_field(const weft_dataset *dataset, int index)
{
    return index >= 0 && index < dataset->fields ? &dataset->field[index] : NULL;
}

/* ---- read ------------------------------------------------------------------------ */

static weft_status check_target(const weft_field *field, int64_t n, const weft_tensor *to)
{
    if (to->dtype != field->dtype)
        return WEFT_FAIL(WEFT_E_DTYPE, "field \"%s\" is %s and is read into %s", field->name,
                         weft_dtype_text(field->dtype), weft_shape_text(to));
    if (to->ndim != field->ndim + 1 || n < 0 || n > to->shape[0] ||
        memcmp(to->shape + 1, field->shape, (size_t)field->ndim * sizeof *field->shape) != 0) {
        const weft_tensor one = weft_tensor_wrap(field->dtype, field->ndim, field->shape, NULL);
        return WEFT_FAIL(WEFT_E_SHAPE, "%" PRId64 " samples of field \"%s\", each %s, read into %s",
                         n, field->name, weft_shape_text(&one), weft_shape_text(to));
    }
    return WEFT_OK;
}

static weft_status check_samples(const weft_dataset *dataset, int64_t n, const int64_t *sample)
{
    for (int64_t i = 0; i < n; i++)
        if (sample[i] < 0 || sample[i] >= dataset->length)
            return WEFT_FAIL(WEFT_E_ARG, "sample %" PRId64 " of a data set of %" PRId64, sample[i],
                             dataset->length);
    return WEFT_OK;
}

weft_status weft_dataset_read(const weft_dataset *dataset, int field, int64_t n,
                              const int64_t *sample, weft_tensor *to)
{
    if (weft_dataset_field(dataset, field) == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "field %d of a data set with %d fields", field,
                         dataset->fields);
    WEFT_TRY(check_target(&dataset->field[field], n, to));
    WEFT_TRY(check_samples(dataset, n, sample));
    if (n == 0)
        return WEFT_OK;
    WEFT_TRY(dataset->kind->read(dataset->state, field, n, sample, to));
    return WEFT_OK;
}
