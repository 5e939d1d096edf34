"""The spectra of heads as notebooks get them: W = W_Q W_K^T as a d x d matrix, numpy's eigvals and traces.

    numpy-spectra.py MODEL.safetensors     prints "numpy seconds-a-head", file and start not counted
"""

import json
import sys
import time

import numpy as np

WIDTH, HEADS, HEAD_WIDTH = 384, 12, 32

with open(sys.argv[1], "rb") as file:
    data = file.read()
start = 8 + int.from_bytes(data[:8], "little")
header = json.loads(data[8:start])


def heads_of(kind):
    """The first layer's weight as d x d_h factors, in the single precision of a notebook."""
    end = f"encoder.layer.0.attention.self.{kind}.weight"
    info = next(header[name] for name in header if name.endswith(end))
    begin = start + info["data_offsets"][0]
    raw = data[begin : begin + 2 * WIDTH * WIDTH]
    weight = np.frombuffer(raw, "<f2").reshape(HEADS, HEAD_WIDTH, WIDTH).astype(np.float32)
    return weight.transpose(0, 2, 1)


query, key = heads_of("query"), heads_of("key")
begin = time.perf_counter()
for head in range(HEADS):
    w = query[head] @ key[head].T
    np.linalg.eigvals(w), np.trace(w), np.trace(w @ w), np.sum(w * w)
print("numpy", (time.perf_counter() - begin) / HEADS)
