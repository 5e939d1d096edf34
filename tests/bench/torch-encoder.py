"""An encoder of MiniLM's shape (6 layers, width 384, 12 heads, MLP 1536) with random weights in PyTorch, on one thread.

    torch-encoder.py PASSAGES LENGTH            prints "torch seconds", the fastest of three passes over all passages
    torch-encoder.py PASSAGES LENGTH MODEL.onnx writes the same encoder for other libraries, without timing it

Ends with status 3 where PyTorch would be timed with another BLAS than OpenBLAS or MKL.
"""

import sys
import time

import torch

LAYERS, WIDTH, HEADS, HIDDEN, TURNS = 6, 384, 12, 1536, 3

torch.set_num_threads(1)
torch.manual_seed(1)
layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, activation="gelu", batch_first=True)
encoder = torch.nn.TransformerEncoder(layer, LAYERS).eval()
passages = torch.randn(int(sys.argv[1]), int(sys.argv[2]), WIDTH)

if len(sys.argv) > 3:
    # Gradients keep the layers from their fused form, which ONNX does not have.
    torch.onnx.export(encoder, passages, sys.argv[3], input_names=["tokens"], output_names=["states"], opset_version=14)
    sys.exit()

with open("/proc/self/maps") as maps:
    if "openblas" not in maps.read() and not torch.backends.mkl.is_available():
        sys.exit(3)
with torch.inference_mode():
    encoder(passages[:1])
    seconds = []
    for _ in range(TURNS):
        begin = time.perf_counter()
        encoder(passages)
        seconds.append(time.perf_counter() - begin)
print("torch", min(seconds))
