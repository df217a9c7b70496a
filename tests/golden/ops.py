"""Write ops.h: operators' values and gradients as PyTorch computes them, in double.

    /usr/bin/python3 tests/golden/ops.py > tests/golden/ops.h

L = sum of g * y, with g as written; gin are the gradients of L.
"""
import torch
import torch.nn.functional as F

torch.manual_seed(7)
F64 = torch.float64


def normal(*shape):
    return torch.randn(shape, dtype=F64)


def away_from_zero(*shape):
    """So that a difference quotient does not step over a kink."""
    x = normal(*shape)
    return x + 0.1 * torch.sign(x)


def initializer(x):
    values = [repr(v) for v in x.double().reshape(-1).tolist()]
    rows = [", ".join(values[i:i + 4]) for i in range(0, len(values), 4)]
    shape = ", ".join(str(s) for s in x.shape) or "0"
    return "{ %d, { %s }, (const double[]){\n    %s } }" % (x.dim(), shape, ",\n    ".join(rows))


def case(name, formula, *inputs):
    x = [v.clone().requires_grad_(v.is_floating_point()) for v in inputs]
    y = formula(*x)
    g = normal(*y.shape)
    if y.requires_grad:
        (g * y).sum().backward()
    print("static const golden golden_%s = {\n  .n = %d,\n  .in = {" % (name, len(x)))
    for v in x:
        print("   %s," % initializer(v.detach()))
    print("  },\n  .labels = %s," % ("false" if x[-1].is_floating_point() else "true"))
    print("  .y = %s,\n  .g = %s,\n  .gin = {" % (initializer(y.detach()), initializer(g)))
    for v in x:
        if v.is_floating_point():
            print("   %s," % initializer(v.grad if v.grad is not None else torch.zeros_like(v)))
    print("  },\n};\n")


def accuracy(x, t):
    return (x.argmax(1) == t).double().mean()


print("/* ops.h -- written by ops.py with PyTorch %s. */" % torch.__version__)
print("/* clang-format off */\n")

case("matmul", torch.matmul, normal(5, 11), normal(11, 3))
case("affine", F.linear, normal(5, 7), normal(11, 7), normal(11))
case("affine_no_bias", F.linear, normal(5, 7), normal(3, 7))
case("affine_images", lambda x, W, b: F.linear(x.flatten(1), W, b),
     normal(4, 2, 3), normal(5, 6), normal(5))
case("affine_relu", lambda x, W, b: F.relu(F.linear(x, W, b)),
     normal(5, 7), normal(11, 7), normal(11))
case("affine_relu_no_bias", lambda x, W: F.relu(F.linear(x, W)), normal(5, 7), normal(3, 7))

case("add", torch.add, normal(4, 11), normal(4, 11))
case("add_row", torch.add, normal(4, 3, 11), normal(11))
case("subtract", torch.sub, normal(4, 11), normal(4, 11))
case("subtract_row", torch.sub, normal(4, 3, 11), normal(11))
case("multiply", torch.mul, normal(4, 11), normal(4, 11))
case("scale", lambda x: -1.7 * x, normal(4, 11))
case("relu", F.relu, away_from_zero(4, 11))
case("leaky_relu", lambda x: F.leaky_relu(x, 0.2), away_from_zero(4, 11))
case("leaky_relu_falling", lambda x: torch.where(x > 0, x, -0.5 * x), away_from_zero(4, 11))
case("sigmoid", torch.sigmoid, 3 * normal(4, 11))
case("tanh", torch.tanh, normal(4, 11))

case("sum", torch.sum, normal(4, 11))
case("mean", torch.mean, normal(4, 11))
case("reshape", lambda x: x.reshape(2, 3, -1), normal(4, 3, 5))
case("slice", lambda x: x[1:3], normal(4, 11))
case("concat_rows", lambda *x: torch.cat(x, 0), normal(4, 6), normal(1, 6), normal(2, 6))
case("concat_columns", lambda *x: torch.cat(x, 1), normal(4, 6, 2), normal(4, 1, 2),
     normal(4, 3, 2))
case("concat_last", lambda *x: torch.cat(x, 2), normal(4, 2, 5), normal(4, 2, 1))

case("softmax", lambda x: F.softmax(x, -1), 2 * normal(4, 11))
case("softmax_images", lambda x: F.softmax(x, -1), normal(4, 2, 3))
case("log_softmax", lambda x: F.log_softmax(x, -1), 2 * normal(4, 11))
labels = torch.tensor([3, 0, 10, 3])
case("softmax_cross_entropy", F.cross_entropy, 2 * normal(4, 11), labels)
case("softmax_cross_entropy_ignore", lambda x, t: F.cross_entropy(x, t, ignore_index=-1),
     2 * normal(4, 11), torch.tensor([-1, 0, 10, -1]))
case("accuracy", accuracy, normal(4, 3), torch.tensor([0, 1, 2, 1]))
case("mean_squared_error", F.mse_loss, normal(4, 11), normal(4, 11))
