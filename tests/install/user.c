/* user.c -- a program outside the tree, in C that is C++ as well.
 *
 *     L = sum_i x_i^2,  dL/dx_i = 2 x_i
 */
#include <weft.h>

int main(int argc, char **argv)
{
    WEFT_MUST(weft_start(&argc, &argv));

    const int64_t shape[] = { 3 };
    weft_comm    *comm;
    weft_tape    *tape;
    weft_var     *x;

    WEFT_MUST_NEW(comm = weft_comm_create(MPI_COMM_WORLD, NULL));
    WEFT_MUST_NEW(tape = weft_tape_create());
    WEFT_MUST_NEW(x = weft_variable(tape, WEFT_F64, 1, shape, true));
    for (int i = 0; i < 3; i++)
        weft_tensor_set(&x->value, i, i + 1);

    weft_var *L = weft_sum(weft_multiply(x, x));
    WEFT_MUST(weft_backward(L));
    weft_say(comm, "L = %g, dL/dx = %g %g %g\n", weft_item(L), weft_tensor_get(&x->grad, 0),
             weft_tensor_get(&x->grad, 1), weft_tensor_get(&x->grad, 2));

    weft_tape_destroy(tape);
    weft_comm_destroy(comm);
    return weft_finish(0);
}
