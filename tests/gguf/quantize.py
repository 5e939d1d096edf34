#!/usr/bin/python3
"""Quantizes a BERT in .safetensors into a GGUF file: quantize.py FOLDER TYPE FILE [--distances].

Each block of a matrix is rounded to the nearest code between its extremes; llama.cpp searches for better scales in some
types. As there, embeddings of positions and of segments, gains and biases keep F32, and matrices whose rows are not
whole super-blocks of 256 get the type of `FALLBACK`. Prints as JSON the type of W_Q and, where asked for, for every
head ||W' - W||_F / ||W||_F of W = W_Q W_K^T, from the blocks as tests/reference/generators/gguf_blocks.py decodes them.
"""
import json
import struct
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "reference" / "generators"))
import gguf_blocks  # noqa: E402

DTYPES = {"F16": "<f2", "F32": "<f4"}
PLAIN = {"F32": 0, "F16": 1}
FALLBACK = {"Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0", "Q2_K": "IQ4_NL", "Q3_K": "IQ4_NL", "IQ4_XS": "IQ4_NL"}
CODES = {name: (number, size, decode) for name, number, size, _, decode in gguf_blocks.TYPES}
NAMES = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
KEPT = {"position_embd.weight", "token_types.weight"}


def read(folder):
    raw = next(Path(folder).glob("*.safetensors")).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + it for it in entry["data_offsets"])
        if entry["dtype"] in DTYPES:
            tensors[name] = np.frombuffer(raw[begin:end], DTYPES[entry["dtype"]]).astype(float).reshape(entry["shape"])
    return tensors


def gguf_name(name):
    base, kind = name.rsplit(".", 1)
    if not base.startswith("encoder.layer."):
        return f"{NAMES[base]}.{kind}" if base in NAMES else None
    layer, inner = base.removeprefix("encoder.layer.").split(".", 1)
    return f"blk.{layer}.{NAMES[inner]}.{kind}"


def halves(scales):
    """Numbers as half precision: their bytes, and what a reader finds."""
    stored = scales.astype("<f2")
    return stored[:, None].view(np.uint8), stored.astype(float)


def divided(x, by):
    return np.divide(x, by, out=np.zeros(np.broadcast(x, by).shape), where=by != 0)


def packed_nibbles(codes):
    """Rows of pairs (low, high) of equal length."""
    return (codes[..., 0, :] % 16 + codes[..., 1, :] % 16 * 16).astype(np.uint8)


def plain(x, minimum, fifth):
    levels = 32 if fifth else 16
    if minimum:
        low = x.min(1)
        (scale_bytes, scale), (low_bytes, low) = halves((x.max(1) - low) / (levels - 1)), halves(low)
        codes = divided(x - low[:, None], scale[:, None])
    else:
        extreme = np.take_along_axis(x, np.abs(x).argmax(1)[:, None], 1)[:, 0]
        (scale_bytes, scale), low_bytes = halves(-extreme / (levels // 2)), np.zeros((len(x), 0), np.uint8)
        codes = divided(x, scale[:, None]) + levels // 2
    codes = np.clip(np.rint(codes), 0, levels - 1).astype(int)
    high = np.packbits(codes // 16, axis=1, bitorder="little") if fifth else np.zeros((len(x), 0), np.uint8)
    return np.concatenate([scale_bytes, low_bytes, high, packed_nibbles(codes.reshape(-1, 2, 16))], 1)


def eight_bits(x):
    scale_bytes, scale = halves(np.abs(x).max(1) / 127)
    codes = np.clip(np.rint(divided(x, scale[:, None])), -127, 127).astype(np.int8)
    return np.concatenate([scale_bytes, codes.view(np.uint8)], 1)


def super_block(x, fifth):
    x = x.reshape(-1, 8, 32)
    levels = 32 if fifth else 16
    low = np.minimum(x.min(2), 0)
    steps, offsets = (x.max(2) - low) / (levels - 1), -low
    (d_bytes, d), (m_bytes, m) = halves(steps.max(1) / 63), halves(offsets.max(1) / 63)
    scales, minima = (
        np.clip(np.rint(divided(part, by[:, None])), 0, 63).astype(int) for part, by in ((steps, d), (offsets, m))
    )
    step, offset = (d[:, None] * scales)[..., None], (m[:, None] * minima)[..., None]
    codes = np.clip(np.rint(divided(x + offset, step)), 0, levels - 1).astype(int)
    pairs = np.concatenate(
        [
            scales[:, :4] + scales[:, 4:] // 16 * 64,
            minima[:, :4] + minima[:, 4:] // 16 * 64,
            scales[:, 4:] % 16 + minima[:, 4:] % 16 * 16,
        ],
        1,
    ).astype(np.uint8)
    fifths = np.packbits(codes // 16, axis=1, bitorder="little").reshape(-1, 32)
    low_bits = packed_nibbles(codes.reshape(-1, 4, 2, 32)).reshape(-1, 128)
    parts = [d_bytes, m_bytes, pairs, *([fifths] if fifth else []), low_bits]
    return np.concatenate(parts, 1)


def six_bits(x):
    x = x.reshape(-1, 16, 16)
    steps = np.abs(x).max(2) / 31
    d_bytes, d = halves(steps.max(1) / 127)
    scales = np.clip(np.rint(divided(steps, d[:, None])), 0, 127).astype(int)
    codes = np.clip(np.rint(divided(x, (d[:, None] * scales)[..., None])), -32, 31).astype(int) + 32
    runs = codes.reshape(-1, 2, 2, 2, 32)  # half, nibble, bytes of 32
    low = (runs[:, :, 0] % 16 + runs[:, :, 1] % 16 * 16).reshape(-1, 128)
    high = (codes.reshape(-1, 2, 4, 32) // 16 * (4 ** np.arange(4))[:, None]).sum(2).reshape(-1, 64)
    parts = [low.astype(np.uint8), high.astype(np.uint8), scales.astype(np.int8).view(np.uint8), d_bytes]
    return np.concatenate(parts, 1)


def two_bits(codes):
    """The low two bits of 256 codes: in each half four runs of 32 share the bytes."""
    return (codes.reshape(-1, 2, 4, 32) % 4 * (4 ** np.arange(4))[:, None]).sum(2).reshape(-1, 64).astype(np.uint8)


def two_bit_codes(x):
    x = x.reshape(-1, 16, 16)
    low = np.minimum(x.min(2), 0)
    steps, offsets = (x.max(2) - low) / 3, -low
    (d_bytes, d), (m_bytes, m) = halves(steps.max(1) / 15), halves(offsets.max(1) / 15)
    scales, minima = (
        np.clip(np.rint(divided(part, by[:, None])), 0, 15).astype(int) for part, by in ((steps, d), (offsets, m))
    )
    step, offset = (d[:, None] * scales)[..., None], (m[:, None] * minima)[..., None]
    codes = np.clip(np.rint(divided(x + offset, step)), 0, 3).astype(int)
    return np.concatenate([(scales + 16 * minima).astype(np.uint8), two_bits(codes), d_bytes, m_bytes], 1)


def three_bits(x):
    x = x.reshape(-1, 16, 16)
    steps = np.abs(x).max(2) / 4
    d_bytes, d = halves(steps.max(1) / 31)
    scales = np.clip(np.rint(divided(steps, d[:, None])), 0, 31).astype(int)
    codes = np.clip(np.rint(divided(x, (d[:, None] * scales)[..., None])), -4, 3).astype(int) + 4
    third = (codes.reshape(-1, 8, 32) // 4 * (2 ** np.arange(8))[:, None]).sum(1)
    stored = scales + 32
    low = stored[:, :8] % 16 + stored[:, 8:] % 16 * 16
    high = (stored.reshape(-1, 4, 4) // 16 * (4 ** np.arange(4))[:, None]).sum(1)
    parts = [third.astype(np.uint8), two_bits(codes), low.astype(np.uint8), high.astype(np.uint8), d_bytes]
    return np.concatenate(parts, 1)


def nearest(levels, values):
    return np.abs(values[..., None] - levels).argmin(-1)


def largest(x):
    """The number with the largest magnitude in each row."""
    return np.take_along_axis(x, np.abs(x).argmax(-1)[..., None], -1)[..., 0]


def uneven_levels(x):
    scale_bytes, scale = halves(largest(x) / gguf_blocks.UNEVEN[0])
    codes = nearest(gguf_blocks.UNEVEN, divided(x, scale[:, None]))
    return np.concatenate([scale_bytes, packed_nibbles(codes.reshape(-1, 2, 16))], 1)


def uneven_super_block(x):
    x = x.reshape(-1, 8, 32)
    steps = largest(x) / gguf_blocks.UNEVEN[0]
    d_bytes, d = halves(np.abs(steps).max(1) / 31)
    scales = np.clip(np.rint(divided(steps, d[:, None])), -32, 31).astype(int)
    codes = nearest(gguf_blocks.UNEVEN, divided(x, (d[:, None] * scales)[..., None]))
    stored = scales + 32
    high = (stored // 16 * 4 ** np.arange(8)).sum(1).astype("<u2")[:, None].view(np.uint8)
    low = (stored[:, ::2] % 16 + stored[:, 1::2] % 16 * 16).astype(np.uint8)
    nibbles = packed_nibbles(codes.reshape(-1, 8, 2, 16)).reshape(-1, 128)
    return np.concatenate([d_bytes, high, low, nibbles], 1)


def float_levels(x):
    most = np.abs(x).max(1)
    power = np.floor(np.log2(np.maximum(most, 2.0**-120))) - 2
    codes = nearest(gguf_blocks.FLOATS, x / 2.0 ** power[:, None])
    return np.concatenate([(power + 127).astype(np.uint8)[:, None], packed_nibbles(codes.reshape(-1, 2, 16))], 1)


ENCODE = {
    "Q4_0": (32, lambda x: plain(x, False, False)),
    "Q4_1": (32, lambda x: plain(x, True, False)),
    "Q5_0": (32, lambda x: plain(x, False, True)),
    "Q5_1": (32, lambda x: plain(x, True, True)),
    "Q8_0": (32, eight_bits),
    "Q4_K": (256, lambda x: super_block(x, False)),
    "Q5_K": (256, lambda x: super_block(x, True)),
    "Q6_K": (256, six_bits),
    "Q2_K": (256, two_bit_codes),
    "Q3_K": (256, three_bits),
    "IQ4_NL": (32, uneven_levels),
    "IQ4_XS": (256, uneven_super_block),
    "MXFP4": (32, float_levels),
}


def type_of(name, values, wanted):
    if values.ndim < 2 or name in KEPT:
        return "F32"
    if wanted in PLAIN:
        return wanted
    return wanted if values.shape[-1] % ENCODE[wanted][0] == 0 else FALLBACK[wanted]


def encoded(values, kind):
    if kind in PLAIN:
        return values.astype(DTYPES[kind]).tobytes()
    size, encode = ENCODE[kind]
    return encode(values.reshape(-1, size)).tobytes()


def decoded(raw, shape, kind):
    if kind in PLAIN:
        return np.frombuffer(raw, DTYPES[kind]).astype(float).reshape(shape)
    _, size, decode = CODES[kind]
    return np.concatenate([decode(raw[at : at + size]) for at in range(0, len(raw), size)]).reshape(shape)


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def metadata(config):
    counts = {
        "embedding_length": config["hidden_size"],
        "block_count": config["num_hidden_layers"],
        "attention.head_count": config["num_attention_heads"],
        "feed_forward_length": config["intermediate_size"],
        "context_length": config["max_position_embeddings"],
    }
    entries = {"general.architecture": struct.pack("<I", 8) + text("bert")}
    entries |= {f"bert.{key}": struct.pack("<II", 4, value) for key, value in counts.items()}
    return entries | {"bert.attention.layer_norm_epsilon": struct.pack("<If", 6, config["layer_norm_eps"])}


def write(path, tensors, entries):
    """`tensors`: name, shape, type, bytes. `entries`: the values of the metadata by their keys, each behind its type."""
    infos, offset = [], 0
    for name, shape, kind, raw in tensors:
        sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        number = PLAIN[kind] if kind in PLAIN else CODES[kind][0]
        infos.append(text(name) + sizes + struct.pack("<IQ", number, offset))
        offset += len(raw) + -len(raw) % 32
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries))
    header += b"".join([*(text(key) + value for key, value in entries.items()), *infos])
    with open(path, "wb") as file:
        for part in (header, *(raw for *_, raw in tensors)):
            file.write(part)
            file.write(bytes(-len(part) % 32))


def distances(before, after, config):
    heads = config["num_attention_heads"]
    for layer in range(config["num_hidden_layers"]):
        parts = [[it[f"blk.{layer}.attn_{kind}.weight"] for kind in "qk"] for it in (before, after)]
        for head in range(heads):
            rows = slice(head * len(parts[0][0]) // heads, (head + 1) * len(parts[0][0]) // heads)
            old, new = (q[rows].T @ k[rows] for q, k in parts)
            yield {"layer": layer, "head": head, "distance": np.linalg.norm(new - old) / np.linalg.norm(old)}


def main(folder, kind, path, *options):
    config = json.loads((Path(folder) / "config.json").read_text())
    before = {name: values for key, values in read(folder).items() if (name := gguf_name(key))}
    kinds = {name: type_of(name, values, kind) for name, values in before.items()}
    files = [(name, values.shape, kinds[name], encoded(values, kinds[name])) for name, values in before.items()]
    write(path, files, metadata(config))
    printed = {"type": kinds["blk.0.attn_q.weight"]}
    if options == ("--distances",):
        after = {
            name: decoded(raw, shape, it)
            for name, shape, it, raw in files
            if "attn_q." in name or "attn_k." in name
        }
        printed["heads"] = list(distances(before, after, config))
    print(json.dumps(printed))


if __name__ == "__main__":
    main(*sys.argv[1:])
