"""Blocks of quantized numbers in GGUF files, decoded with numpy from the layouts of ggml-common.h.

Whole arrays are unpacked at once, bits first, so that nothing of the C++ order of loops is repeated.
"""

import numpy as np


def half(raw, at):
    return float(np.frombuffer(raw[at : at + 2], "<f2")[0])


def octets(raw, at, count):
    return np.frombuffer(raw[at : at + count], np.uint8)


def bits(raw, at, count):
    """The lowest bit of each byte first."""
    return np.unpackbits(octets(raw, at, count), bitorder="little")


def nibbles(raw, at, count):
    """Two rows: low halves and high halves of the bytes."""
    packed = octets(raw, at, count).astype(int)
    return np.stack([packed % 16, packed // 16])


def plain(raw, minimum, fifth):
    at = 4 if minimum else 2
    high = bits(raw, at, 4).astype(int) if fifth else np.zeros(32, int)
    codes = nibbles(raw, at + 4 * fifth, 16).reshape(32) + 16 * high
    scale = half(raw, 0)
    return scale * codes + half(raw, 2) if minimum else scale * (codes - (16 if fifth else 8))


def eight_bits(raw):
    return half(raw, 0) * np.frombuffer(raw[2:], np.int8).astype(float)


def six_bit_pairs(raw, at):
    """Scales and minima of 8 parts: the 96 bits by their places in the layout."""
    scales, minima = np.zeros(8, int), np.zeros(8, int)
    b = octets(raw, at, 12).astype(int)
    scales[:4], minima[:4] = b[0:4] % 64, b[4:8] % 64
    scales[4:], minima[4:] = b[8:12] % 16 + b[0:4] // 64 * 16, b[8:12] // 16 + b[4:8] // 64 * 16
    return scales, minima


def super_block(raw, fifth):
    scales, minima = six_bit_pairs(raw, 4)
    codes = nibbles(raw, 48 if fifth else 16, 128).reshape(2, 4, 32).transpose(1, 0, 2).reshape(8, 32)
    if fifth:
        codes = codes + 16 * bits(raw, 16, 32).reshape(32, 8).T
    steps, offsets = half(raw, 0) * scales, half(raw, 2) * minima
    return (steps[:, None] * codes - offsets[:, None]).reshape(256)


def six_bits(raw):
    low = nibbles(raw, 0, 128).reshape(2, 2, 2, 32).transpose(1, 0, 2, 3)  # half, nibble, bytes of 32
    high = bits(raw, 128, 64).reshape(2, 32, 4, 2) @ [1, 2]  # half, byte, run
    codes = low.reshape(2, 4, 32) + 16 * high.transpose(0, 2, 1)
    steps = np.frombuffer(raw[192:208], np.int8).astype(float).repeat(16)
    return half(raw, 208) * steps * (codes.reshape(256) - 32)


def two_bits(raw, at):
    """Codes of two bits: half, run, bytes of 32."""
    return (bits(raw, at, 64).reshape(2, 32, 4, 2) @ [1, 2]).transpose(0, 2, 1).reshape(256)


def q2_k(raw):
    minima, scales = nibbles(raw, 0, 16)[::-1]
    return half(raw, 80) * scales.repeat(16) * two_bits(raw, 16) - half(raw, 82) * minima.repeat(16)


def q3_k(raw):
    third = bits(raw, 0, 32).reshape(32, 8).T.reshape(256)
    low = nibbles(raw, 96, 8).reshape(16)
    high = (bits(raw, 104, 4).reshape(4, 4, 2) @ [1, 2]).T.reshape(16)
    steps = half(raw, 108) * (low + 16 * high - 32)
    return steps.repeat(16) * (two_bits(raw, 32) + 4 * third - 4)


UNEVEN = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113])
FLOATS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])  # E2M1


def iq4_nl(raw):
    return half(raw, 0) * UNEVEN[nibbles(raw, 2, 16).reshape(32)]


def iq4_xs(raw):
    high = bits(raw, 2, 2).reshape(8, 2) @ [1, 2]
    low = nibbles(raw, 4, 4).T.reshape(8)
    codes = nibbles(raw, 8, 128).reshape(2, 8, 16).transpose(1, 0, 2).reshape(8, 32)
    return (half(raw, 0) * (low + 16 * high - 32)[:, None] * UNEVEN[codes]).reshape(256)


def mxfp4(raw):
    return 2.0 ** (raw[0] - 127) * FLOATS[nibbles(raw, 1, 16).reshape(32)]


TYPES = [
    ("Q4_0", 2, 18, [0], lambda raw: plain(raw, False, False)),
    ("Q4_1", 3, 20, [0, 2], lambda raw: plain(raw, True, False)),
    ("Q5_0", 6, 22, [0], lambda raw: plain(raw, False, True)),
    ("Q5_1", 7, 24, [0, 2], lambda raw: plain(raw, True, True)),
    ("Q8_0", 8, 34, [0], eight_bits),
    ("Q4_K", 12, 144, [0, 2], lambda raw: super_block(raw, False)),
    ("Q5_K", 13, 176, [0, 2], lambda raw: super_block(raw, True)),
    ("Q6_K", 14, 210, [208], six_bits),
    ("Q2_K", 10, 84, [80, 82], q2_k),
    ("Q3_K", 11, 110, [108], q3_k),
    ("IQ4_NL", 20, 18, [0], iq4_nl),
    ("IQ4_XS", 23, 136, [0], iq4_xs),
    ("MXFP4", 39, 17, [], mxfp4),
]


def generate():
    random = np.random.default_rng(5)
    types = []
    for name, number, size, scales, decode in TYPES:
        block = bytearray(random.integers(0, 256, size, np.uint8).tobytes())
        for at in scales:  # arbitrary bits could be infinite
            block[at : at + 2] = np.float16(random.normal() / 16).tobytes()
        if name == "MXFP4":
            block[0] = 123  # the exponent of the scale
        raw = bytes(block)
        types.append({"name": name, "number": number, "bytes": raw.hex(), "values": decode(raw).astype(float)})
    return {"types": types}
