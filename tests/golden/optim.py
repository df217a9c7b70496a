"""Write optim.h: how PyTorch's optimizers move parameters, in double.

    /usr/bin/python3 tests/golden/optim.py > tests/golden/optim.h

PyTorch's Adam puts eps inside the correction of the bias and Weft's, as its paper's
section 2, outside: with an eps of nothing they are one. AdamW has it inside in both.
"""
import torch

torch.manual_seed(11)
F64 = torch.float64
N, STEPS = 7, 6

theta0 = torch.randn(N, dtype=F64)
g = torch.randn(STEPS, N, dtype=F64) * torch.logspace(-3, 1, N, dtype=F64)
g[2, 1] = 0
g[:, 4] = 0

RULES = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.85, 0.99), eps=1e-30),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.02, betas=(0.85, 0.99), eps=1e-4,
                                         weight_decay=0.3),
}


def row(x):
    values = [repr(v) for v in x.tolist()]
    lines = [", ".join(values[i:i + 4]) for i in range(0, len(values), 4)]
    return "    { %s },\n" % ",\n      ".join(lines)


def table(name, rows):
    print("static const double golden_%s[][GOLDEN_N] = {\n%s};\n" % (name, "".join(map(row, rows))))


def moved(make):
    theta = theta0.clone().requires_grad_()
    rule = make([theta])
    for step in range(STEPS):
        theta.grad = g[step].clone()
        rule.step()
        yield theta.detach().clone()


print("/* optim.h -- written by optim.py with PyTorch %s. */" % torch.__version__)
print("/* clang-format off */\n")
print("enum { GOLDEN_N = %d, GOLDEN_STEPS = %d };\n" % (N, STEPS))
table("theta0", [theta0])
table("g", g)
for name, make in RULES.items():
    table(name, moved(make))
