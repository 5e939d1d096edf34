"""Weights of small linear layers, quantized in each way that is decoded, and what they stand for.

Codes, scales and zeros are drawn, the weight is computed from them by its definition, and only then they are packed.
"""

import json

import numpy as np

NAME = "model.layers.0.self_attn.q_proj."
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]  # the output of each place in a number


def bfloat16(values):
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def rounded(values):
    return (bfloat16(values).astype(np.uint32) << 16).view(np.float32).astype(float)


def tensor(ending, dtype, values, shape=None):
    values = np.ascontiguousarray(values)
    return {
        "name": NAME + ending,
        "dtype": dtype,
        "shape": list(values.shape if shape is None else shape),
        "bytes": values.tobytes().hex(),
    }


def bf16(ending, values):
    return tensor(ending, "BF16", bfloat16(values))


def half(values):
    return np.asarray(values, np.float16).astype(float)


def small_floats(exponents, mantissas):
    """The values of a small float by their codes."""
    bias = 2 ** (exponents - 1) - 1
    positive = []
    for exponent in range(2**exponents):
        for fraction in range(2**mantissas):
            part = fraction / 2**mantissas
            positive.append((1 + part) * 2.0 ** (exponent - bias) if exponent else part * 2.0 ** (1 - bias))
    return np.array(positive + [-value for value in positive])


E4M3, E5M2, E2M1 = small_floats(4, 3), small_floats(5, 2), small_floats(2, 1)


def packed(codes, axis, bits=4, order=None):
    """Codes along an axis in numbers of 32 bits, the first in the lowest bits."""
    each = 32 // bits
    parts = np.moveaxis(np.asarray(codes, np.uint64), axis, -1)
    parts = parts.reshape(*parts.shape[:-1], -1, each)
    if order:
        parts = parts[..., order]
    numbers = (parts << (bits * np.arange(each, dtype=np.uint64))).sum(-1).astype(np.uint32)
    return np.moveaxis(numbers, -1, axis)


def streamed(codes, bits):
    """The codes of each row as one stream of bits, the lowest first, in numbers of 32 bits."""
    stream = np.asarray(codes)[..., None] >> np.arange(bits) & 1
    return np.packbits(stream.reshape(len(codes), -1), axis=1, bitorder="little").view(np.uint32)


def grouped(values, size):
    return np.repeat(values, size, axis=1)


def blocks(values, shape, size):
    rows, columns = shape
    return np.repeat(np.repeat(values, size, 0), size, 1)[:rows, :columns]


def block_size(side):
    return {"quantization_config": {"weight_block_size": [side, side]}}


def weight_groups(**weights):
    return {"quantization_config": {"config_groups": {"group_0": {"weights": weights}}}}


def cases(random):
    def codes(levels, *shape):
        return random.integers(0, levels, shape)

    def scales(*shape):
        return rounded(random.uniform(0.01, 0.1, shape))

    fp8 = np.where(np.arange(256) % 128 == 127, 0, np.arange(256))  # without NaN
    raw, scale = fp8[codes(256, 130, 6)], scales(2, 1)
    yield "FP8 blocks", block_size(128), E4M3[raw] * blocks(scale, raw.shape, 128), [
        tensor("weight", "F8_E4M3", raw.astype(np.uint8)),
        tensor("weight_scale_inv", "F32", scale.astype(np.float32)),
        tensor("bias", "F32", np.zeros(130, np.float32)),
    ]
    raw, scale = fp8[codes(124, 6, 8)], scales(6, 1)
    yield "FP8 rows", {}, E5M2[raw] * scale, [
        tensor("weight", "F8_E5M2", raw.astype(np.uint8)),
        bf16("weight_scale", scale),
    ]
    raw, scale = fp8[codes(256, 6, 8)], scales(1)
    yield "FP8 tensor", {}, E4M3[raw] * scale, [
        tensor("weight", "F8_E4M3", raw.astype(np.uint8)),
        bf16("weight_scale", scale),
        bf16("input_scale", scales(1)),
    ]
    raw, powers = fp8[codes(256, 8, 12)], codes(20, 2, 3) + 110
    yield "FP8 blocks with powers of two", block_size(4), E4M3[raw] * blocks(2.0 ** (powers - 127), raw.shape, 4), [
        tensor("weight", "F8_E4M3", raw.astype(np.uint8)),
        tensor("weight_scale_inv", "F8_E8M0", powers.astype(np.uint8)),
    ]
    raw, scale = codes(255, 6, 8) - 127, scales(6, 1)
    yield "INT8 rows", {}, raw * scale, [
        tensor("weight", "I8", raw.astype(np.int8)),
        bf16("weight_scale", scale),
    ]
    zeros = 7 * np.arange(6)[:, None] - 20
    yield "INT8 rows with zero points", {}, (raw - zeros) * scale, [
        tensor("weight", "I8", raw.astype(np.int8)),
        bf16("weight_scale", scale),
        tensor("weight_zero_point", "I8", zeros.astype(np.int8)),
    ]
    largest = random.uniform(1, 3, 6).astype(np.float32)
    yield "bitsandbytes INT8", {}, raw * (largest.astype(float) / 127)[:, None], [
        tensor("weight", "I8", raw.astype(np.int8)),
        tensor("SCB", "F32", largest),
        tensor("weight_format", "U8", np.zeros((), np.uint8)),
    ]

    inputs, outputs, group = 32, 16, 8
    raw, zeros = codes(16, inputs, outputs), codes(16, inputs // group, outputs)
    scale = half(random.uniform(0.01, 0.1, (inputs // group, outputs)))
    weight = (raw - np.repeat(zeros, group, 0)) * np.repeat(scale, group, 0)
    yield "AWQ", {}, weight.T, [
        tensor("qweight", "I32", packed(raw, 1, order=AWQ_ORDER)),
        tensor("qzeros", "I32", packed(zeros, 1, order=AWQ_ORDER)),
        tensor("scales", "F16", scale.astype(np.float16)),
    ]
    for bits, version in ((4, "gptq"), (8, "gptq"), (4, "gptq_v2")):
        raw, zeros = codes(2**bits, inputs, outputs), codes(2**bits - 1, inputs // group, outputs) + 1
        order = random.permutation(np.arange(inputs) // group)
        weight = (raw - zeros[order]) * scale[order]
        config = {"quantization_config": {"quant_method": "gptq", "bits": bits, "checkpoint_format": version}}
        yield f"GPTQ {bits} bits, {version}", config, weight.T, [
            tensor("qweight", "I32", packed(raw, 0, bits)),
            tensor("qzeros", "I32", packed(zeros - (version == "gptq"), 1, bits)),
            tensor("scales", "F16", scale.astype(np.float16)),
            tensor("g_idx", "I32", order.astype(np.int32)),
        ]

    rows, columns, group = 16, 32, 8
    raw, scale = codes(16, rows, columns), scales(rows, columns // group)
    shape = tensor("weight_shape", "I64", np.array([rows, columns], np.int64))
    yield "compressed-tensors integers", {}, (raw - 8) * grouped(scale, group), [
        tensor("weight_packed", "I32", packed(raw, 1)),
        bf16("weight_scale", scale),
        shape,
    ]
    zeros = codes(16, rows, columns // group)
    yield "compressed-tensors integers with zeros", {}, (raw - grouped(zeros, group)) * grouped(scale, group), [
        tensor("weight_packed", "I32", packed(raw, 1)),
        bf16("weight_scale", scale),
        tensor("weight_zero_point", "I32", packed(zeros, 0)),
        shape,
    ]
    bytes_of_pairs = (raw[:, ::2] + 16 * raw[:, 1::2]).astype(np.uint8)
    scale8, whole = codes(100, rows, columns // 16) + 10, np.float32(37.5)
    weight = E2M1[raw] * grouped(E4M3[scale8], 16)
    yield "NVFP4 of compressed-tensors", {}, weight / whole, [
        tensor("weight_packed", "U8", bytes_of_pairs),
        tensor("weight_scale", "F8_E4M3", scale8.astype(np.uint8)),
        tensor("weight_global_scale", "F32", np.array([whole], np.float32)),
    ]
    yield "NVFP4 of ModelOpt", {}, weight * float(whole), [
        tensor("weight", "U8", bytes_of_pairs),
        tensor("weight_scale", "F8_E4M3", scale8.astype(np.uint8)),
        tensor("weight_scale_2", "F32", np.array(whole, np.float32)),
        tensor("input_scale", "F32", np.array(1, np.float32)),
    ]

    bias = rounded(random.uniform(-1, 1, scale.shape))
    for bits in (4, 8, 3, 5, 6):
        raw = codes(2**bits, rows, columns)
        config = {"quantization": {"group_size": group, "bits": bits}}
        yield f"MLX {bits} bits", config, raw * grouped(scale, group) + grouped(bias, group), [
            tensor("weight", "U32", streamed(raw, bits)),
            bf16("scales", scale),
            bf16("biases", bias),
        ]
    raw, powers = codes(16, rows, 64), codes(20, rows, 2) + 110
    yield "MLX MXFP4", {}, E2M1[raw] * grouped(2.0 ** (powers - 127), 32), [
        tensor("weight", "U32", packed(raw, 1)),
        tensor("scales", "U8", powers.astype(np.uint8)),
    ]

    raw, size = codes(16, rows, 64), 32
    table = np.sort(random.uniform(-1, 1, 16)).astype(np.float32)
    pairs = raw.reshape(-1, 2)
    bytes_of_pairs = (16 * pairs[:, :1] + pairs[:, 1:]).astype(np.uint8)
    largest = random.uniform(0.5, 2, rows * 64 // size).astype(np.float32)
    state = {"quant_type": "nf4", "blocksize": size, "dtype": "bfloat16", "shape": [rows, 64]}
    levels = table.astype(float)[raw].reshape(-1, size)

    def quantized_state(facts, kind):
        text = np.frombuffer(json.dumps(facts).encode(), np.uint8)
        return tensor(f"weight.quant_state.bitsandbytes__{kind}", "U8", text)

    yield "bitsandbytes FP4", {}, (levels * largest.astype(float)[:, None]).reshape(rows, 64), [
        tensor("weight", "U8", bytes_of_pairs),
        tensor("weight.absmax", "F32", largest),
        tensor("weight.quant_map", "F32", table),
        quantized_state({**state, "quant_type": "fp4"}, "fp4"),
    ]
    nested = np.sort(random.uniform(-1, 1, 256)).astype(np.float32)
    inner, outer = codes(256, len(largest)), random.uniform(0.5, 1, 2).astype(np.float32)
    largest = nested.astype(float)[inner] * np.repeat(outer.astype(float), 16)[: len(inner)] + 0.25
    facts = {**state, "nested_blocksize": 16, "nested_dtype": "float32", "nested_offset": 0.25}
    yield "bitsandbytes NF4 with nested scales", {}, (levels * largest[:, None]).reshape(rows, 64), [
        tensor("weight", "U8", bytes_of_pairs),
        tensor("weight.absmax", "U8", inner.astype(np.uint8)),
        tensor("weight.quant_map", "F32", table),
        tensor("weight.nested_absmax", "F32", outer),
        tensor("weight.nested_quant_map", "F32", nested),
        quantized_state(facts, "nf4"),
    ]

    raw, powers = fp8[codes(256, 8, 12)], codes(20, 2, 3) + 110
    weight = E4M3[raw] * blocks(2.0 ** (powers - 127), raw.shape, 4)
    yield "FP8 blocks with powers of two beside them", block_size(4), weight, [
        tensor("weight", "F8_E4M3", raw.astype(np.uint8)),
        tensor("scale", "F8_E8M0", powers.astype(np.uint8)),
    ]
    # Two groups, of 24 inputs and of the 8 that are left.
    raw, zeros, order = codes(16, inputs, outputs), codes(16, 2, outputs), np.arange(inputs) // 24
    scale = half(random.uniform(0.01, 0.1, (2, outputs)))
    facts = {"quant_method": "auto-round", "packing_format": "auto_round:exllamav2", "bits": 4, "group_size": 24}
    yield "AutoRound with a short group", {"quantization_config": facts}, ((raw - zeros[order]) * scale[order]).T, [
        tensor("qweight", "I32", packed(raw, 0)),
        tensor("qzeros", "I32", packed(zeros, 1)),
        tensor("scales", "F16", scale.astype(np.float16)),
    ]

    # Groups of 96 columns, whose count is also that of blocks of 128.
    raw, scale = fp8[codes(256, 6, 192)], scales(6, 2)
    yield "FP8 groups", weight_groups(strategy="group", group_size=96), E4M3[raw] * grouped(scale, 96), [
        tensor("weight", "F8_E4M3", raw.astype(np.uint8)),
        bf16("weight_scale", scale),
    ]
    raw, zeros, scale, group = codes(255, 6, 24) - 127, codes(60, 6, 3) - 30, scales(6, 3), 8
    config = weight_groups(strategy="group", group_size=group, symmetric=False)
    yield "INT8 groups", config, (raw - grouped(zeros, group)) * grouped(scale, group), [
        tensor("weight", "I8", raw.astype(np.int8)),
        bf16("weight_scale", scale),
        tensor("weight_zero_point", "I8", zeros.astype(np.int8)),
    ]
    order = random.permutation(np.arange(24) // group)
    config = weight_groups(num_bits=4, strategy="group", group_size=group, actorder="group")
    sorted_groups = tensor("weight_g_idx", "I32", order.astype(np.int32))
    yield "INT8 groups in an order", config, raw * scale[:, order], [
        tensor("weight", "I8", raw.astype(np.int8)),
        bf16("weight_scale", scale),
        sorted_groups,
    ]
    rows, raw, zeros, scale = 16, codes(16, 16, 24), codes(16, 16, 3), scales(16, 3)
    shape = tensor("weight_shape", "I64", np.array([rows, 24], np.int64))
    yield "compressed-tensors integers in an order", config, (raw - zeros[:, order]) * scale[:, order], [
        tensor("weight_packed", "I32", packed(raw, 1)),
        bf16("weight_scale", scale),
        tensor("weight_zero_point", "I32", packed(zeros, 0)),
        sorted_groups,
        shape,
    ]
    # Without an order every group is -1.
    yield "compressed-tensors integers without an order", {}, (raw - 8) * grouped(scale, group), [
        tensor("weight_packed", "I32", packed(raw, 1)),
        bf16("weight_scale", scale),
        tensor("weight_g_idx", "I32", np.full(24, -1, np.int32)),
        shape,
    ]
    raw, powers = codes(16, rows, 64), codes(20, rows, 2) + 110
    config = weight_groups(num_bits=4, type="float", strategy="group", group_size=32)
    yield "MXFP4 of compressed-tensors", config, E2M1[raw] * grouped(2.0 ** (powers - 127), 32), [
        tensor("weight_packed", "U8", (raw[:, ::2] + 16 * raw[:, 1::2]).astype(np.uint8)),
        tensor("weight_scale", "U8", powers.astype(np.uint8)),
    ]
    # Blocks of 64 in rows of 40, the last one shorter, in numbers of 16 bits.
    raw, size, rows, columns = codes(16, 6, 40), 64, 6, 40
    pairs, count = raw.reshape(-1, 2), -(-raw.size // size)
    largest = random.uniform(0.5, 2, count).astype(np.float32)
    weight = table.astype(float)[raw].ravel() * np.repeat(largest.astype(float), size)[: raw.size]
    state = {"quant_type": "nf4", "blocksize": size, "dtype": "bfloat16", "shape": [rows, columns]}
    yield "bitsandbytes NF4 in numbers of 16 bits", {}, weight.reshape(rows, columns), [
        tensor("weight", "BF16", (16 * pairs[:, 0] + pairs[:, 1]).astype(np.uint8).view(np.uint16)[:, None]),
        tensor("weight.absmax", "F32", largest),
        tensor("weight.quant_map", "F32", table),
        quantized_state(state, "nf4"),
    ]


def stacked_blocks(random):
    """Matrices of gpt-oss in MXFP4, as stored and decoded."""
    raw, powers = random.integers(0, 16, (2, 3, 64)), random.integers(110, 130, (2, 3, 2))
    pairs = raw.reshape(2, 3, 2, 16, 2)
    return {
        "blocks": (pairs[..., 0] + 16 * pairs[..., 1]).astype(np.uint8).tobytes().hex(),
        "scales": powers.astype(np.uint8).tobytes().hex(),
        "values": (E2M1[raw] * np.repeat(2.0 ** (powers - 127), 32, axis=2)).ravel(),
    }


def generate():
    made = cases(np.random.default_rng(7))
    return {
        "cases": [
            {"name": name, "config": json.dumps(config), "shape": list(weight.shape), "tensors": tensors,
             "values": weight.astype(float).ravel()}
            for name, config, weight, tensors in made
        ],
        "stacked_blocks": stacked_blocks(np.random.default_rng(8)),
    }
