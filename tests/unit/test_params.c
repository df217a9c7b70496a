/* Parameters: names, order, two flat arenas, gradients that are there or not. */
#include "weft_test.h"
#include "weft/nn.h"

static weft_layer *net;

/* l1 (3 -> 5), deep/{a (5 -> 2), relu}, l2 (2 -> 1, no b) */
static int setup(void **state)
{
    (void)state;
    weft_linear_options no_bias = weft_linear_defaults();
    no_bias.no_bias = true;
    weft_error_clear();
    net = weft_chain_create();
    weft_layer *deep = weft_chain_create();
    weft_chain_add(net, "l1", weft_linear_create(3, 5, NULL));
    weft_chain_add(deep, "a", weft_linear_create(5, 2, NULL));
    weft_chain_add(deep, NULL, weft_function_create("relu", weft_relu));
    weft_chain_add(net, "deep", deep);
    return weft_chain_add(net, "l2", weft_linear_create(2, 1, &no_bias)) != WEFT_OK;
}

static int teardown(void **state)
{
    (void)state;
    weft_layer_destroy(net);
    return weft_memory_now().blocks != 0;
}

static void are_named_by_their_path_in_order(void **state)
{
    (void)state;
    static const char *const expected[] = { "l1/W", "l1/b", "deep/a/W", "deep/a/b", "l2/W" };
    weft_params             *params = weft_params_create(net, NULL);
    const weft_bundle        values = weft_params_values(params), grads = weft_params_grads(params);

    assert_int_equal(5, weft_params_n(params));
    assert_int_equal(5, values.n);
    for (int i = 0; i < 5; i++) {
        weft_var *x = weft_params_var(params, i);
        assert_string_equal(expected[i], weft_params_name(params, i));
        assert_string_equal(expected[i], values.name[i]);
        assert_ptr_equal(x, weft_params_find(params, expected[i]));
        assert_ptr_equal(&x->value, values.at[i]);
        assert_ptr_equal(&x->grad, grads.at[i]);
        assert_int_equal(i, x->index);
        assert_null(x->tape);
        assert_true(x->needs_grad);
    }
    assert_null(weft_params_find(params, "l1"));
    assert_string_equal("deep", weft_layer_name(weft_layer_child_at(net, 1)));
    assert_int_equal(15 + 5 + 10 + 2 + 2, weft_bundle_count(&values));
    weft_params_destroy(params);
    assert_string_equal("", weft_layer_name(weft_layer_child_at(net, 1)));
}

static void lie_in_one_aligned_vector_with_zeros_between(void **state)
{
    (void)state;
    const weft_dtype dtypes[] = { WEFT_F32, WEFT_F64 };
    for (int d = 0; d < 2; d++) {
        weft_params *params = weft_params_create(net, &(weft_params_options){ .dtype = dtypes[d] });
        const weft_tensor *flat = weft_params_flat_values(params);
        const weft_tensor *flat_grads = weft_params_flat_grads(params);
        int64_t            end = 0;

        assert_int_equal(1, flat->ndim);
        for (int i = 0; i < weft_params_n(params); i++) {
            const weft_var *x = weft_params_var(params, i);
            const int64_t   offset = weft_params_offset(params, i);
            const int64_t   bytes = offset * weft_dtype_bytes(dtypes[d]);
            assert_int_equal(0, bytes % WEFT_ALIGNMENT);
            assert_int_equal(0, (uintptr_t)x->value.data % WEFT_ALIGNMENT);
            assert_ptr_equal((char *)flat->data + bytes, x->value.data);
            assert_ptr_equal((char *)flat_grads->data + bytes, x->grad.data);
            assert_int_equal(dtypes[d], x->grad.dtype);
            for (; end < offset; end++) {
                assert_near(0, weft_tensor_get(flat, end), 0);
                assert_near(0, weft_tensor_get(flat_grads, end), 0);
            }
            end += x->value.count;
        }
        for (; end < flat->count; end++)
            assert_near(0, weft_tensor_get(flat, end), 0);
        weft_params_destroy(params);
    }
}

/* ---- where the memory comes from ------------------------------------------------------ */

static int     taken, given;
static int64_t taken_bytes;

static void *take(void *context, int64_t bytes)
{
    assert_ptr_equal(&taken, context);
    taken++;
    taken_bytes += bytes;
    return weft_alloc(bytes);
}

static void give(void *context, void *block, int64_t bytes)
{
    (void)context;
    given++;
    taken_bytes -= bytes;
    weft_free(block);
}

static void come_from_the_allocator_given(void **state)
{
    (void)state;
    const weft_allocator from = { take, give, &taken };
    weft_params *params = weft_params_create(net, &(weft_params_options){ .allocator = &from });
    assert_int_equal(2, taken);
    assert_true(taken_bytes >= 2 * weft_tensor_bytes(weft_params_flat_values(params)));
    weft_params_destroy(params);
    assert_int_equal(2, given);
    assert_int_equal(0, taken_bytes);
}

static void *refuse(void *context, int64_t bytes)
{
    (void)context;
    return WEFT_FAIL_NULL(WEFT_E_NOMEM, "no window of %d bytes", (int)bytes);
}

static void leave_the_layer_as_it_was_when_memory_is_refused(void **state)
{
    (void)state;
    const weft_allocator from = { refuse, give, NULL };
    assert_null(weft_params_create(net, &(weft_params_options){ .allocator = &from }));
    assert_int_equal(WEFT_E_NOMEM, weft_error_status());
    assert_message_has("no window");
    assert_string_equal("", weft_layer_name(weft_layer_child_at(net, 0)));
    weft_params_destroy(weft_params_create(net, NULL));
}

static void may_be_none(void **state)
{
    (void)state;
    weft_layer  *empty = weft_chain_create();
    weft_params *params = weft_params_create(empty, NULL);
    assert_non_null(params);
    assert_int_equal(0, weft_params_n(params));
    assert_int_equal(0, weft_params_flat_values(params)->count);
    assert_int_equal(0, weft_params_values(params).n);
    weft_params_complete_grads(params);
    weft_params_clear_grads(params);
    weft_params_destroy(params);
    weft_params_destroy(NULL);
    weft_layer_destroy(empty);
}

static void are_refused_a_second_time_and_for_integers(void **state)
{
    (void)state;
    weft_params *inner = weft_params_create(weft_layer_child_at(net, 1), NULL);
    assert_string_equal("a/W", weft_params_name(inner, 0));
    assert_null(weft_params_create(net, NULL));
    assert_int_equal(WEFT_E_STATE, weft_error_status());
    assert_string_equal("a/W", weft_params_name(inner, 0));
    assert_non_null(weft_params_var(inner, 0)->value.data);
    weft_params_destroy(inner);
    assert_null(weft_params_create(net, &(weft_params_options){ .dtype = WEFT_I32 }));
    assert_int_equal(WEFT_E_DTYPE, weft_error_status());
    assert_message_has("i32");
}

/* ---- gradients ---------------------------------------------------------------------------- */

static void gradients_are_cleared_by_a_flag_and_completed_with_zeros(void **state)
{
    (void)state;
    weft_params *params = weft_params_create(net, NULL);
    weft_var    *W = weft_params_find(params, "l1/W"), *b = weft_params_find(params, "l1/b");
    weft_tensor_fill(&W->grad, 3);
    weft_tensor_fill(&b->grad, 4);
    W->has_grad = b->has_grad = true;

    weft_params_complete_grads(params);
    assert_near(3, weft_tensor_get(&W->grad, 14), 0);
    weft_params_clear_grads(params);
    assert_false(W->has_grad);
    b->has_grad = true;
    weft_params_complete_grads(params);
    assert_near(0, weft_tensor_get(&W->grad, 14), 0);
    assert_near(4, weft_tensor_get(&b->grad, 0), 0);
    assert_true(W->has_grad);
    weft_params_destroy(params);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(are_named_by_their_path_in_order),
        test(lie_in_one_aligned_vector_with_zeros_between),
        test(come_from_the_allocator_given),
        test(leave_the_layer_as_it_was_when_memory_is_refused),
        test(may_be_none),
        test(are_refused_a_second_time_and_for_integers),
        test(gradients_are_cleared_by_a_flag_and_completed_with_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
