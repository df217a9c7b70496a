#!/usr/bin/python3
"""Snapshots seen by h5py.

usage: snapshot.py check FILE    FILE, from tests/unit/test_h5py.c, holds what it should
       snapshot.py make FILE     write what that test reads: as Chainer writes, and
                                 other things that HDF5 allows

Exit 0: as it should be, 1: not, 77: no h5py.
"""
import sys
import zlib

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)


def datasets(file):
    found = []
    file.visititems(lambda name, at: found.append(name) if isinstance(at, h5py.Dataset) else None)
    return found


def check(path):
    counting = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8", "u8": "u1"}
    with h5py.File(path, "r") as file:
        for name, dtype in counting.items():
            at = file["all/" + name]
            assert at.dtype == np.dtype(dtype), (name, at.dtype)
            assert at.shape == (3, 4) and at.maxshape == (3, 4), (name, at.shape)
            assert at.chunks is None and at.compression is None, name
            assert (at[()] == np.arange(1, 13).reshape(3, 4)).all(), name
        assert file["one"].shape == (1,) and file["one"][0] == 1
        assert file["none"].shape == (0, 5)
        iteration = file["updater/iteration"]
        assert iteration.shape == () and iteration.dtype == "<i8" and iteration[()] == 600
        detail = file["updater/iterator:main/previous_epoch_detail"]
        assert detail.shape == () and detail.dtype == "<f8" and detail[()] == 0.1
        flag = file["updater/iterator:main/is_new_epoch"]
        assert flag.shape == () and flag.dtype == np.bool_ and flag[()]
        assert h5py.check_enum_dtype(flag.id.get_type().dtype) or flag.dtype == np.bool_
        assert file["weft"].attrs["plan"].decode() == "l1 \u2192 l2"
        assert isinstance(file["extensions"], h5py.Group) and len(file["extensions"]) == 0
        assert len(datasets(file)) == 10, datasets(file)
        for name in datasets(file):
            at = file[name]
            sum_ = zlib.crc32(np.ascontiguousarray(at[()]).tobytes())
            assert at.attrs["weft_crc32"] == sum_, name
            assert at.dtype.kind in "fiub", name


def make(path):
    numbers = np.arange(1, 13).reshape(3, 4)
    with h5py.File(path, "w") as file:
        for dtype in ("<f2", "<f4", ">f4", "<f8", "<i2", ">i4", "<u4", "<i8"):
            file["all/" + dtype] = numbers.astype(dtype)
        for level in (1, 4, 9):
            file.create_dataset(f"deflate/{level}", data=numbers.astype("f4"), chunks=(2, 3),
                                compression="gzip", compression_opts=level)
        file.create_dataset("shuffled", data=numbers.astype("f4"), chunks=(3, 4),
                            compression="gzip", shuffle=True, fletcher32=True)
        file.create_dataset("large", data=np.ones((300, 1000), "f4"), compression="gzip")
        file["null"] = h5py.Empty("f4")
        file["text"] = b"[]"
        file["texts"] = np.array([b"a", b"b"])
        file["complex"] = np.zeros(3, "c8")
        file["scalars/f4"] = np.float32(2.5)
        file["scalars/i1"] = np.int8(-3)
        file["scalars/one"] = np.array([7], "i4")
        file["scalars/true"] = True
        file["scalars/bool"] = np.int8(1)
        file["half"] = numbers[:2].astype("f4")
        file.create_dataset("unwritten", shape=(1000, 1000, 1000), dtype="f4")
        file.create_dataset("sparse", shape=(1000, 1000, 1000), dtype="f4", chunks=(1, 10, 10))
        file["sparse"][0, 0, 0] = 1
        file["axes"] = np.zeros((1,) * 9)
        file["soft"] = h5py.SoftLink("/all/<f4")
        file["dangling"] = h5py.SoftLink("/nowhere")
    with h5py.File(path + ".latest", "w", libver="latest") as file:
        file.create_dataset("l1/W", data=numbers.astype("f4"), chunks=(2, 2), compression="gzip")
        file["l1/b"] = np.arange(1, 4).astype("f4")


if len(sys.argv) != 3 or sys.argv[1] not in ("check", "make"):
    sys.exit(__doc__)
{"check": check, "make": make}[sys.argv[1]](sys.argv[2])
