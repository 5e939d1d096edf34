#!/usr/bin/python3
"""Writes the files of this folder with PyTorch (Debian's python3-torch 1.13), whose reader is
tests/torch_file_test.cpp, and the seeds of fuzz-pickle and fuzz-torch: make_files.py. Element i of a tensor is
sin(i + 1), rounded to its type."""
import io
import zipfile
from collections import OrderedDict
from pathlib import Path

import torch

HERE = Path(__file__).parent
SEEDS = HERE.parent / "fuzz" / "corpus"


def waves(*shape, dtype=torch.float32):
    count = torch.Size(shape).numel()
    return torch.sin(torch.arange(1, count + 1, dtype=torch.float64)).to(dtype).reshape(shape)


def state_dict():
    tied = waves(5, 4)
    tensors = OrderedDict()
    tensors["embed_tokens.weight"] = tied
    tensors["lm_head.weight"] = tied
    for layer in range(2):
        prefix = f"layers.{layer}.self_attn."
        tensors[prefix + "q_proj.weight"] = waves(4, 4, dtype=torch.float16)
        tensors[prefix + "k_proj.weight"] = waves(4, 4, dtype=torch.bfloat16)
    tensors["rows.weight"] = waves(6, 3)[2:4]  # begins inside its storage
    tensors["steps"] = torch.tensor(7)
    tensors["parameter"] = torch.nn.Parameter(waves(3, dtype=torch.float64))
    return tensors


torch.save(state_dict(), HERE / "state_dict.bin")
torch.save({"epoch": 3, "loss": 0.5, "model": dict(state_dict()), "optimizer": {"lr": [0.1]}}, HERE / "nested.pt")
torch.save({"turned": waves(2, 3).T}, HERE / "turned.pt")
torch.save(torch.nn.Linear(2, 2), HERE / "module.pt")


def saved(value, protocol=2):
    file = io.BytesIO()
    torch.save(value, file, pickle_protocol=protocol)
    return file.getvalue()


def repacked(archive, compression=zipfile.ZIP_STORED, large=False):
    """The same files; with records for large ones (ZIP64) where `large` is true."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(packed, "w", compression) as new:
        for entry in old.infolist():
            with new.open(zipfile.ZipInfo(entry.filename), "w", force_zip64=large) as file:
                file.write(old.read(entry))
    return packed.getvalue()


small = {"a.weight": waves(2, 3), "a.bias": waves(2, dtype=torch.float16)}
nested = {"epoch": 3, "loss": 0.5, "state_dict": OrderedDict(small), "ids": [1 << 40, True, None]}
for name, value, protocol in (("small", small, 2), ("nested", nested, 2), ("frames", nested, 4)):
    file = saved(value, protocol)
    (SEEDS / "torch" / name).write_bytes(file)
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        (SEEDS / "pickle" / name).write_bytes(archive.read("archive/data.pkl"))
(SEEDS / "torch" / "compressed").write_bytes(repacked(saved(small), zipfile.ZIP_DEFLATED))
(SEEDS / "torch" / "large").write_bytes(repacked(saved(small), large=True))
