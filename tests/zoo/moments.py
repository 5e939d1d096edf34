"""Moments of heads of models in models.json from the formulas of their original code, in double precision with numpy.

    python3 -B tests/zoo/moments.py [NAME...]   # writes vectors, rows and truth of the models below into models.json

A head is a function of the numbers in the file; W is built as a product of d x d_h factors, without this project's code.
"""

import json
import math
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
arguments, sys.argv = sys.argv[1:], sys.argv[:1]
import zoo_test  # noqa: E402

OFFSETS = (0, 7)


class File:
    """What zoo_test.write_model would write of a model, as numbers; it notes which rows and vectors are asked for."""

    def __init__(self, seed, tensors):
        self.seed = seed
        self.shapes = {name: entry[1] for name, entry in zoo_test.of_layers(tensors)}
        self.vectors, self.rows = {}, {}

    def numbers(self, codes):
        return (np.asarray(codes, dtype=np.uint32) << 16).view(np.float32).astype(float)

    def vector(self, name, around=1.0, spread=0.3):
        """The gain called `name`."""
        size = math.prod(self.shapes[name])
        self.vectors[name] = (around, spread)
        return self.numbers(zoo_test.codes_drawn(f"{self.seed} {name}", spread, around, size))

    def weight(self, name, first, count, spread=0.02):
        """Rows of a weight, count x inputs."""
        width = self.shapes[name][-1]
        self.rows[name, first, count] = (spread, 0.0)
        draw = [zoo_test.codes_drawn(f"{self.seed} {name} {row}", spread, 0.0, width) for row in range(first, first + count)]
        return self.numbers(np.array(draw))

    def filled(self, name, counts):
        """The whole weight, of which only runs of rows, by their first, have numbers."""
        whole = np.zeros(self.shapes[name])
        for first, count in counts.items():
            whole[first : first + count] = self.weight(name, first, count)
        return whole


def turned(factor, offset, pairs, width, base, scale=None):
    """The columns 0 to width - 1 of a d x d_h factor of queries, turned for keys `offset` tokens before them."""
    factor = factor.copy()
    for pair in range(width // 2):
        i, j = (pair, pair + width // 2) if pairs == "halves" else (2 * pair, 2 * pair + 1)
        angle = offset * base ** (-2 * pair / width) * (1 if scale is None else scale[pair])
        x, y = factor[:, i].copy(), factor[:, j].copy()
        factor[:, i] = math.cos(angle) * x - math.sin(angle) * y
        factor[:, j] = math.sin(angle) * x + math.cos(angle) * y
    return factor


def moments(query, key):
    """Mean and Frobenius variance of the d eigenvalues of query key^T."""
    d = len(query)
    mean = np.sum(query * key) / d
    return mean, np.sum((query.T @ query) * (key.T @ key)) / d - mean**2


def yarn_scales(width, base, factor, length, fast, slow):
    """Factors of the angles by YaRN's ramp."""

    def pair_of(turns):
        return width * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low = max(math.floor(pair_of(fast)), 0)
    high = min(math.ceil(pair_of(slow)), width - 1)
    ramp = np.clip((np.arange(width // 2) - low) / max(high - low, 0.001), 0, 1)
    return ramp / factor + 1 - ramp


def plain(query, key, gain=None, norms=None, pairs="halves", turn=0, base=1e4, scales=None, key_gain=None, added=0.0):
    """A function of file and offset: rows of queries and keys as (tensor, first row, count); gains by name, of norms
    with their first coordinate, which are the numbers of the file with another one added."""

    def head(file, offset):
        def gain_of(name):
            return added + file.vector(name, 1.0 - added)

        q, k = file.weight(*query).T, file.weight(*key).T
        if gain:
            q, k = q * gain_of(gain)[:, None], k * gain_of(key_gain or gain)[:, None]
        if norms:
            (q_norm, q_first), (k_norm, k_first) = norms
            q = q * gain_of(q_norm)[q_first : q_first + q.shape[1]]
            k = k * gain_of(k_norm)[k_first : k_first + k.shape[1]]
        return moments(turned(q, offset, pairs, turn, base, scales), k)

    return head


def latent(layer, head_number, nope, rope, value, rank, base, queries, scale=1.0, scales=None):
    """Multi-head latent attention; of the compressions only some rows hold numbers."""

    def head(file, offset):
        attention = layer + "self_attn."
        n = file.vector(layer + "input_layernorm.weight")
        g_q, g_k = (file.vector(f"{attention}{which}_a_layernorm.weight") for which in ("q", "kv"))
        w_qa = file.filled(attention + "q_a_proj.weight", queries)
        w_ka = file.filled(attention + "kv_a_proj_with_mqa.weight", {0: 40, rank: rope})
        w_qb = file.weight(attention + "q_b_proj.weight", head_number * (nope + rope), nope + rope)
        w_kb = file.weight(attention + "kv_b_proj.weight", head_number * (nope + value), nope)
        q = (w_qb @ (g_q[:, None] * w_qa) * n).T
        k = np.concatenate([w_kb @ (g_k[:, None] * w_ka[:rank]), w_ka[rank:]]).T * n[:, None]
        q = np.hstack([q[:, :nope], turned(q[:, nope:], offset, "neighbours", rope, base, scales)])
        return moments(scale * q, k)

    return head


def deepseek_v4(layer, head_number, base, scales=None):
    """Heads of width 512, of whose queries and one key the last 64 coordinates turn; the key's norm alone has a gain."""

    def head(file, offset):
        attention = f"layers.{layer}.attn."
        n, g_q, g_k = (file.vector(name) for name in (f"layers.{layer}.attn_norm.weight", attention + "q_norm.weight",
                                                      attention + "kv_norm.weight"))
        w_qa = file.filled(attention + "wq_a.weight", {0: 40, 1000: 8})
        q = (file.weight(attention + "wq_b.weight", head_number * 512, 512) @ (g_q[:, None] * w_qa) * n).T
        k = file.weight(attention + "wkv.weight", 0, 512).T * n[:, None] * g_k
        q = np.hstack([q[:, :448], turned(q[:, 448:], offset, "neighbours", 64, base, scales)])
        return moments(q, k)

    return head


def llama(prefix, layer, head, width, group, **more):
    at = f"{prefix}layers.{layer}."
    return plain(
        (at + "self_attn.q_proj.weight", head * width, width),
        (at + "self_attn.k_proj.weight", head // group * width, width),
        at + "input_layernorm.weight",
        turn=width,
        **more,
    )


def encoder_decoder(prefix, stack, layer, head, norms):
    at = prefix + ("encoder" if stack == "encoder" else "decoder") + f".layers.{layer}."
    attention = at + ("encoder_attn" if stack == "cross" else "self_attn")
    gain = f"{attention}_layer_norm.weight" if norms and stack != "cross" else None
    return plain((attention + ".q_proj.weight", 64 * head, 64), (attention + ".k_proj.weight", 64 * head, 64), gain)


def llama3_scales(width, base, factor, low, high, length):
    scales = []
    for pair in range(width // 2):
        turns = length * base ** (-2 * pair / width) / (2 * math.pi)
        kept = min(max((turns - low) / (high - low), 0), 1)
        scales.append(kept + (1 - kept) / factor)
    return scales


def step(layer, head, turn, base, scales=None):
    at = f"model.layers.{layer}."
    norms = [(f"{at}self_attn.{which}_norm.weight", 0) for which in "qk"]
    group = 12 if layer else 8
    return plain(
        (at + "self_attn.q_proj.weight", head * 128, 128),
        (at + "self_attn.k_proj.weight", head // group * 128, 128),
        at + "input_layernorm.weight",
        norms,
        turn=turn,
        base=base,
        scales=scales,
        added=1.0,
    )


def t5_gemma(side, attention, layer, head):
    at = f"model.{side}.layers.{layer}."
    return plain(
        (f"{at}{attention}.q_proj.weight", head * 256, 256),
        (f"{at}{attention}.k_proj.weight", head // 2 * 256, 256),
        f"{at}pre_{attention}_layernorm.weight",
        turn=256 if attention == "self_attn" else 0,
        key_gain=None if attention == "self_attn" else "model.encoder.norm.weight",
        added=1.0,
    )


KIMI = (0.1 * math.log(64) + 1) ** 2

# (stack, layer, head): its formula.
HEADS = {
    "glm-5": {("", 0, 63): latent("model.layers.0.", 63, 192, 64, 256, 512, 1e6, {0: 40, 2000: 8})},
    "glm-5.2": {("", 0, 1): latent("model.layers.0.", 1, 192, 64, 256, 512, 8e6, {7: 30})},
    "kimi-k2.5": {
        ("", 0, 5): latent(
            "language_model.model.layers.0.", 5, 128, 64, 128, 512, 5e4, {3: 50}, KIMI, yarn_scales(64, 5e4, 64, 4096, 32, 1)
        )
    },
    "deepseek-v4-flash-bf16": {
        ("", 0, 37): deepseek_v4(0, 37, 1e4),
        ("", 2, 0): deepseek_v4(2, 0, 1.6e5, yarn_scales(64, 1.6e5, 16, 65536, 32, 1)),
    },
    "llama-3.2-11b-vision": {
        ("", 2, 31): llama(
            "language_model.model.", 2, 31, 128, 4, base=5e5, scales=llama3_scales(128, 5e5, 8, 1, 4, 8192)
        )
    },
    "voxtral-mini-3b": {("", 0, 9): llama("language_model.model.", 0, 9, 128, 4, base=1e8)},
    "minicpm-v-2.6": {("", 0, 27): llama("llm.model.", 0, 27, 128, 7, base=1e6)},
    "internvl3-8b": {("", 1, 8): llama("language_model.model.", 1, 8, 128, 7, base=1e6)},
    "deepseek-ocr2": {("", 1, 9): llama("model.", 1, 9, 128, 1)},
    "bart-large": {(s, 1, 3): encoder_decoder("model.", s, 1, 3, False) for s in ("encoder", "decoder", "cross")},
    "nllb-200-distilled-600m": {
        (s, 0, 15): encoder_decoder("model.", s, 0, 15, True) for s in ("encoder", "decoder", "cross")
    },
    "florence-2-base": {(s, 1, 11): encoder_decoder("language_model.model.", s, 1, 11, False) for s in ("encoder", "cross")},
    "baichuan2-7b": {
        ("", 0, 30): plain(
            ("model.layers.0.self_attn.W_pack.weight", 30 * 128, 128),
            ("model.layers.0.self_attn.W_pack.weight", 4096 + 30 * 128, 128),
            "model.layers.0.input_layernorm.weight",
            turn=128,
        )
    },
    "baichuan2-13b": {
        ("", 0, 39): plain(
            ("model.layers.0.self_attn.W_pack.weight", 39 * 128, 128),
            ("model.layers.0.self_attn.W_pack.weight", 5120 + 39 * 128, 128),
            "model.layers.0.input_layernorm.weight",
        )
    },
    # The base twice as large, and the angles divided once more, so that the slowest one is half of what it was.
    "gte-base-en-v1.5": {
        ("", 1, 5): plain(
            ("encoder.layer.1.attention.qkv_proj.weight", 5 * 64, 64),
            ("encoder.layer.1.attention.qkv_proj.weight", 768 + 5 * 64, 64),
            turn=64,
            base=1e6,
            scales=[2 ** (-2 / 64)] * 32,
        )
    },
    "jina-embeddings-v3": {
        ("", 0, 15): plain(
            ("roberta.encoder.layers.0.mixer.Wqkv.parametrizations.weight.original", 15 * 64, 64),
            ("roberta.encoder.layers.0.mixer.Wqkv.parametrizations.weight.original", 1024 + 15 * 64, 64),
            turn=64,
            base=2e4,
        )
    },
    "step-3.5-flash": {
        ("", 0, 60): step(0, 60, 64, 5e6, llama3_scales(64, 5e6, 2, 1, 32, 131072)),
        ("", 1, 95): step(1, 95, 128, 1e4),
    },
    "t5gemma-2b-2b": {
        ("encoder", 1, 7): t5_gemma("encoder", "self_attn", 1, 7),
        ("decoder", 0, 2): t5_gemma("decoder", "self_attn", 0, 2),
        ("cross", 1, 5): t5_gemma("decoder", "cross_attn", 1, 5),
    },
    "chatglm3": {
        ("", 0, 15): plain(
            ("transformer.encoder.layers.0.self_attention.query_key_value.weight", 15 * 128, 128),
            ("transformer.encoder.layers.0.self_attention.query_key_value.weight", 2048 + 128, 128),
            "transformer.encoder.layers.0.input_layernorm.weight",
            pairs="neighbours",
            turn=64,
        )
    },
    "internlm2.5-7b": {
        ("", 0, 6): plain(
            ("model.layers.0.attention.wqkv.weight", (6 + 2) * 128, 128),
            ("model.layers.0.attention.wqkv.weight", (6 + 4) * 128, 128),
            "model.layers.0.attention_norm.weight",
            turn=128,
            base=1e6,
        )
    },
    "exaone-3.5-2.4b": {
        ("", 0, 5): plain(
            ("transformer.h.0.attn.attention.q_proj.weight", 400, 80),
            ("transformer.h.0.attn.attention.k_proj.weight", 80, 80),
            "transformer.h.0.ln_1.weight",
            turn=80,
            base=1e6,
        )
    },
    "ling-mini-2.0": {
        ("", 0, 7): plain(
            ("model.layers.0.attention.query_key_value.weight", 7 * 128, 128),
            ("model.layers.0.attention.query_key_value.weight", 2048 + 128, 128),
            "model.layers.0.input_layernorm.weight",
            norms=[("model.layers.0.attention.query_layernorm.weight", 0), ("model.layers.0.attention.key_layernorm.weight", 0)],
            turn=64,
            base=6e5,
        )
    },
    "all-mpnet-base-v2": {
        ("", 1, 4): plain(
            ("encoder.layer.1.attention.attn.q.weight", 256, 64), ("encoder.layer.1.attention.attn.k.weight", 256, 64)
        )
    },
    "starcoder1-gpt-bigcode": {
        ("", 0, 12): plain(
            ("transformer.h.0.attn.c_attn.weight", 12 * 128, 128),
            ("transformer.h.0.attn.c_attn.weight", 2048, 128),
            "transformer.h.0.ln_1.weight",
        )
    },
    "sam-vit-base": {
        ("", 1, 2): plain(
            ("vision_encoder.layers.1.attn.qkv.weight", 128, 64),
            ("vision_encoder.layers.1.attn.qkv.weight", 768 + 128, 64),
            "vision_encoder.layers.1.layer_norm1.weight",
        )
    },
    "command-r-plus": {
        ("", 0, 25): plain(
            ("model.layers.0.self_attn.q_proj.weight", 25 * 128, 128),
            ("model.layers.0.self_attn.k_proj.weight", 2 * 128, 128),
            "model.layers.0.input_layernorm.weight",
            norms=[("model.layers.0.self_attn.q_norm.weight", 25 * 128), ("model.layers.0.self_attn.k_norm.weight", 256)],
            pairs="neighbours",
            turn=128,
            base=7.5e7,
        )
    },
    "dinov3-vitb16": {
        ("", 1, 11): plain(
            ("layer.1.attention.q_proj.weight", 704, 64), ("layer.1.attention.k_proj.weight", 704, 64), "layer.1.norm1.weight"
        )
    },
}
# Positions on two axes have no offset.
WITHOUT_OFFSET = {"dinov3-vitb16"}


def entry(name, model):
    file = File(model["seed"], model["tensors"])
    truth = []
    for (stack, layer, head), formula in HEADS[name].items():
        for offset in OFFSETS[: 1 if name in WITHOUT_OFFSET else 2]:
            mean, variance = formula(file, offset)
            truth.append([stack, layer, head, offset, float(f"{mean:.9g}"), float(f"{variance:.9g}")])
    changed = {key: model[key] for key in ("seed", "config", "tensors")}
    changed["vectors"] = [[key, "", *value] for key, value in file.vectors.items()]
    changed["rows"] = [[key, "", first, count, *value] for (key, first, count), value in file.rows.items()]
    changed["truth"] = truth
    return changed


def main():
    path = os.path.join(HERE, "models.json")
    with open(path) as file:
        models = json.load(file)
    for name in arguments or HEADS:
        models[name] = entry(name, models[name])

    def text(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    lines = (
        json.dumps(name) + ": {\n" + ",\n".join(f'"{key}": {text(value)}' for key, value in model.items()) + "\n}"
        for name, model in models.items()
    )
    with open(path, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
