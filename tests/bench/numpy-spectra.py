"""The spectra of heads by numpy with OpenBLAS: the d_h x d_h products of the factors, eigenvalues, singular values and
traces; and eigenvalues of larger matrices.

    numpy-spectra.py MODEL.safetensors     prints "minilm" and "llama", a head of MiniLM and of a 7B LLaMA, and
                                           "eigenvalues-128" and "eigenvalues-256" with seconds, the shortest of some
                                           calls; file and start are not counted

Ends with status 3 where numpy has another BLAS.
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


def spectra(query, key):
    for q, k in zip(query, key):
        core, queries, keys = k.T @ q, q.T @ q, k.T @ k
        np.linalg.eigvals(core), np.linalg.eigvals(queries @ keys)
        np.trace(core), np.sum(core * core.T), np.sum(queries * keys)


def seconds(call):
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


query, key = heads_of("query"), heads_of("key")
with open("/proc/self/maps") as maps:
    if "openblas" not in maps.read():
        sys.exit(3)
print("minilm", seconds(lambda: spectra(query, key)) / HEADS)
drawn = np.random.default_rng(1).standard_normal((2, 1, 4096, 128)).astype(np.float32)
print("llama", seconds(lambda: spectra(*drawn)))
for n in (128, 256):
    matrix = np.random.default_rng(n).standard_normal((n, n))
    print(f"eigenvalues-{n}", seconds(lambda: np.linalg.eigvals(matrix)))
