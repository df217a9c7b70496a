#!/usr/bin/python3
"""bench_torch.py -- what `weft bench` measures, measured in PyTorch.

The same network, batch, optimizer and images in memory; prints the same kind of
JSON line. One process; --threads for PyTorch's own loops and products.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 scripts/bench_torch.py --workload w1 --threads 1
"""

import argparse
import gzip
import json
import pathlib
import resource
import statistics
import time

import numpy
import torch
from torch import nn

FOLDER = "/usr/share/datasets/fashion-mnist"


def read_idx(path):
    """An IDX file, gzip, as an array of bytes."""
    raw = gzip.decompress(path.read_bytes())
    axes = raw[3]
    shape = [int.from_bytes(raw[4 + 4 * a : 8 + 4 * a], "big") for a in range(axes)]
    return numpy.frombuffer(raw, numpy.uint8, offset=4 + 4 * axes).reshape(shape)


def read_images(folder, samples):
    folder = pathlib.Path(folder)
    x = read_idx(folder / "train-images-idx3-ubyte.gz")[:samples]
    t = read_idx(folder / "train-labels-idx1-ubyte.gz")[:samples]
    x = torch.tensor(x.reshape(len(x), -1).astype(numpy.float32) / 255)
    return x, torch.tensor(t.astype(numpy.int64))


def w1():
    """784-1000-1000-10 with ReLU."""
    return nn.Sequential(
        nn.Linear(784, 1000), nn.ReLU(), nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 10)
    )


class Training:
    """Goes round and round through the images, a batch a step."""

    def __init__(self, options):
        torch.manual_seed(0)
        self.model = w1()
        self.adam = torch.optim.Adam(self.model.parameters())
        self.x, self.t = read_images(options.data, options.samples)
        self.batch, self.at, self.loss = options.batch, 0, None

    def steps(self, n):
        for _ in range(n):
            if self.at + self.batch > len(self.x):
                self.at = 0
            rows = slice(self.at, self.at + self.batch)
            self.at += self.batch
            self.adam.zero_grad(set_to_none=True)
            self.loss = nn.functional.cross_entropy(self.model(self.x[rows]), self.t[rows])
            self.loss.backward()
            self.adam.step()

    def seconds(self, n):
        begin = time.perf_counter()
        self.steps(n)
        return (time.perf_counter() - begin) / n


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workload", choices=["w1"], default="w1")
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--reps", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--samples", type=int, default=20000)
    parser.add_argument("--data", default=FOLDER)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    training = Training(options)
    training.steps(3)
    n = max(3, int(options.seconds / training.seconds(5)))
    step = sorted(training.seconds(n) for _ in range(options.reps))
    rate = [options.batch / s for s in step]
    print(
        json.dumps(
            {
                "peer": "pytorch-" + torch.__version__,
                "workload": options.workload,
                "ranks": 1,
                "threads": options.threads,
                "batch": options.batch,
                "samples_per_s": round(statistics.median(rate), 1),
                "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
                "best": round(rate[0], 1),
                "worst": round(rate[-1], 1),
                "loss": round(float(training.loss), 4),
            }
        )
    )


if __name__ == "__main__":
    main()
