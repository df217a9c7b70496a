#!/usr/bin/python3
"""A checkpoint as Chainer would read it.

usage: checkpoint.py FILE TRAINER

FILE is written by tests/unit/test_checkpoint_tree.c, TRAINER by Chainer (see
chainer/README.md) for the same network, but for its batch norm. Every path that
TRAINER has and that concerns what Weft has must be in FILE, with the same shape and
type; and a trainer that reads FILE by Chainer's rules, object by object in Chainer's
order, must find all it looks for.

Exit 0: so it is, 1: not, 77: no h5py.
"""
import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)


class Reader:
    """Chainer's rules: a missing group or member fails, a null dataspace is None, an
    array is filled in place, a single value takes the type of the old one."""

    def __init__(self, group):
        self.group = group

    def __getitem__(self, name):
        group = self.group[name]
        assert isinstance(group, h5py.Group), name
        return Reader(group)

    def __call__(self, name, old):
        data = self.group[name]
        assert isinstance(data, h5py.Dataset), f"{data.name} is a group"
        if data.shape is None:
            return None
        if old is None:
            return np.asarray(data[()])
        if isinstance(old, np.ndarray):
            assert data.shape == old.shape, (data.name, data.shape, old.shape)
            data.read_direct(old)
            return old
        return type(old)(np.asarray(data[()]))


PARAMS = {"l1/W": (3, 4), "l1/b": (3,), "l2/W": (2, 3), "l2/b": (2,)}


def below(reader, path):
    for part in path.split("/"):
        reader = reader[part]
    return reader


def trainer(reader):
    """In the order in which Chainer's trainer reads."""
    updater = reader["updater"]

    iterator = updater["iterator:main"]
    assert iterator("current_position", 0) == 8
    assert iterator("epoch", 0) == 0
    assert iterator("is_new_epoch", True) is False
    order = iterator("order", np.zeros(10, np.int64))
    assert sorted(order) == list(range(10)), order
    assert iterator("previous_epoch_detail", -1.0) == 0.4

    optimizer = updater["optimizer:main"]
    assert optimizer("t", 0) == 2 and optimizer("epoch", 0) == 0
    for name, shape in PARAMS.items():
        rule = below(optimizer["predictor"], name)
        assert rule("t", 0) == 2
        for state in ("m", "v"):
            got = rule(state, np.full(shape, np.nan, np.float32))
            assert np.isfinite(got).all() and (got != 0).any(), (name, state)

    model = updater["model:main"]["predictor"]
    for name, shape in PARAMS.items():
        layer, member = name.split("/")
        got = model[layer](member, np.full(shape, np.nan, np.float32))
        assert np.isfinite(got).all() and (got != 0).any(), name

    assert updater("iteration", 0) == 2
    assert reader["stop_trigger"]("previous_iteration", 0) == 2
    assert reader["stop_trigger"]("previous_epoch_detail", 0.0) == 0.8
    reader["extensions"], reader["extension_triggers"]
    assert reader("_snapshot_elapsed_time", 0.0) == 1.25


def items(file):
    """What a reader of a path can tell apart."""
    found = {}

    def note(name, at):
        found[name] = (at.shape, at.dtype) if isinstance(at, h5py.Dataset) else "group"

    file.visititems(note)
    return found


def compare(file, chainer):
    here, there = items(file), items(chainer)
    there = {name: item for name, item in there.items() if "/bn" not in name}
    for name, item in there.items():
        assert here.get(name) == item, (name, here.get(name), item)
    more = [name for name in here if name not in there and name.split("/")[0] != "weft"]
    assert not more, more
    for name, item in here.items():  # Chainer can not read texts
        assert item == "group" or item[1].kind in "fiub", (name, item)


if len(sys.argv) != 3:
    sys.exit(__doc__)
with h5py.File(sys.argv[1], "r") as mine, h5py.File(sys.argv[2], "r") as theirs:
    compare(mine, theirs)
    trainer(Reader(mine))
    for text in ("plan", "rule", "dtype", "kernels", "gemm", "mpi", "hdf5", "version"):
        assert text == "plan" or len(mine["weft"].attrs[text]) > 0, text
    assert mine["weft/seed"][()] == 3 and mine["weft/hyper/rate"][()] == 0.001
