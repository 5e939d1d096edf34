"""family-forward.json: the forward pass of a small checkpoint of each family that reads text.

The order of operations is that of Hugging Face's modeling files, written out family by family. The weights
are waves (llama_forward.py), so that the test can make them too.
"""

import math

import numpy as np
from llama_forward import wave

WIDTH, HEADS, HEAD_WIDTH, HIDDEN, VOCABULARY, LAYERS = 16, 4, 4, 10, 7, 2
IDS = [3, 1, 4, 1, 5, 0, 2, 6]

ROTARY = {"num_attention_heads": HEADS, "num_key_value_heads": 2, "rms_norm_eps": 1e-3, "rope_theta": 50.0}


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x / (1 + np.exp(-x))


def rotated(x, theta, turned):
    """x: tokens x heads x coordinates, its first `turned` turned as by apply_rotary_pos_emb."""
    half = turned // 2
    frequencies = theta ** (-2.0 * np.arange(half) / turned)
    angles = (np.arange(len(x))[:, None] * np.concatenate([frequencies, frequencies]))[:, None]
    part, rest = x[..., :turned], x[..., turned:]
    swapped = np.concatenate([-part[..., half:], part[..., :half]], axis=-1)
    return np.concatenate([part * np.cos(angles) + swapped * np.sin(angles), rest], axis=-1)


def rotated_neighbours(x, theta):
    """The same where neighbouring coordinates are turned."""
    pairs = np.concatenate([x[..., 0::2], x[..., 1::2]], axis=-1)
    turned = rotated(pairs, theta, x.shape[-1])
    return np.stack(np.split(turned, 2, axis=-1), axis=-1).reshape(x.shape)


def layer_of(prefix):
    return int(prefix.split(".layers.")[1].split(".")[0])


def attend(queries, keys, values, scale, causal=True, cap=None, reach=None, sinks=None, bias=0.0):
    """Tokens x heads x coordinates each, the last two perhaps with fewer heads; tokens x all coordinates. `sinks` are
    logits of each head beside those of its keys, `bias` (heads x queries x keys) what is added to these."""
    keys, values = (np.repeat(y, queries.shape[1] // y.shape[1], axis=1) for y in (keys, values))
    logits = np.einsum("qhc,khc->hqk", queries, keys) * scale + bias
    if cap:
        logits = cap * np.tanh(logits / cap)
    ahead = np.arange(len(queries)) - np.arange(len(queries))[:, None]  # of the key before the query
    hidden = (ahead > 0) & causal
    if reach is not None:
        hidden |= np.abs(ahead) > reach
    logits[:, hidden] = -np.inf
    highest = logits.max(axis=-1, keepdims=True)
    weights = np.exp(logits - highest)
    weights /= weights.sum(axis=-1, keepdims=True) + (
        0 if sinks is None else np.exp(sinks[:, None, None] - highest)
    )
    return np.einsum("hqk,khc->qhc", weights, values).reshape(len(queries), -1)


class Model:
    """Tensors in the order of their waves, and the layers that read them."""

    config = {}
    prefix = "model."
    depth = LAYERS

    def __init__(self):
        self.rows, self.w = [], {}
        self.build()

    def tensor(self, name, shape, scale, mean=0.0):
        # As the file holds them: in single precision.
        self.w[name] = wave(len(self.rows), shape, scale, mean).astype(np.float32).astype(float)
        self.rows.append({"name": name, "shape": shape, "scale": scale, "mean": mean})

    def add_linear(self, name, outputs, inputs, bias=False):
        self.tensor(name + ".weight", [outputs, inputs], 0.6)
        if bias:
            self.tensor(name + ".bias", [outputs], 0.4)

    def add_norm(self, name, size=WIDTH, bias=False, mean=1.0):
        self.tensor(name + ".weight", [size], 0.3, mean)
        if bias:
            self.tensor(name + ".bias", [size], 0.3)

    def linear(self, name, x):
        return x @ self.w[name + ".weight"].T + self.w.get(name + ".bias", 0.0)

    def rms_norm(self, name, x):
        root = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.config["rms_norm_eps"])
        return x / root * self.w[name + ".weight"]

    def layer_norm(self, name, x, epsilon):
        centred = x - x.mean(axis=-1, keepdims=True)
        root = np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + epsilon)
        return centred / root * self.w[name + ".weight"] + self.w.get(name + ".bias", 0.0)

    def norm(self, name, x):
        return self.layer_norm(name, x, self.config["layer_norm_eps"])

    def layer_prefix(self, layer):
        return f"{self.prefix}{self.layers}{layer}."

    def heads_of(self, names, x):
        """Queries, keys and values by the linear maps with these names, tokens x heads x coordinates each."""
        return [self.linear(name, x).reshape(len(x), -1, HEAD_WIDTH) for name in names]

    def logits(self, x):
        """None for an encoder."""
        return None

    def result(self):
        x = self.embedded(np.array(IDS))
        layers = []
        for layer in range(self.depth):
            x = self.block(self.layer_prefix(layer), x)
            layers.append(x)
        logits = self.logits(x)
        return {
            "config": self.config,
            "tensors": self.rows,
            "ids": IDS,
            "layers": layers,
            "logits": [] if logits is None else logits[-1],
        }


class Llama(Model):
    """LLaMA and Mistral, without biases; windows shorter than the passage."""

    config = {**ROTARY, "model_type": "mistral", "hidden_act": "silu", "sliding_window": 3}
    layers = "layers."
    gain, query_bias, query_norm, width, heads = 1.0, False, 0, HEAD_WIDTH, HEADS
    picture_rows = 0  # of the embeddings
    value_width = None  # where it is not that of queries and keys
    norms, final_norm = ["input_layernorm", "post_attention_layernorm"], "norm"
    activation = staticmethod(silu)

    def build(self):
        groups = self.config["num_key_value_heads"]
        self.tensor("model.embed_tokens.weight", [VOCABULARY + self.picture_rows, WIDTH], 1.0)
        for layer in range(self.depth):
            p = f"model.layers.{layer}."
            for name in self.norms:
                self.add_norm(p + name, mean=self.gain)
            self.add_attention(p + "self_attn.", groups)
            self.add_mlp(p + "mlp.")
        self.add_norm("model." + self.final_norm, mean=self.gain)
        if not self.config.get("tie_word_embeddings"):
            self.tensor("lm_head.weight", [VOCABULARY, WIDTH], 1.0)

    def add_attention(self, p, groups):
        self.add_projections(p, groups)
        self.add_linear(p + "o_proj", WIDTH, self.heads * (self.value_width or self.width))

    def add_projections(self, p, groups):
        for name, heads in (("q", self.heads), ("k", groups), ("v", groups)):
            self.add_linear(p + name + "_proj", heads * self.width, WIDTH, self.query_bias)

    def add_mlp(self, p):
        for name in ("gate_proj", "up_proj"):
            self.add_linear(p + name, HIDDEN, WIDTH)
        self.add_linear(p + "down_proj", WIDTH, HIDDEN)

    def embedded(self, ids):
        return self.w["model.embed_tokens.weight"][ids]

    def projections(self, p, x):
        return [self.linear(p + name + "_proj", x) for name in "qkv"]

    def normed(self, name, x):
        """Queries or keys of all heads, tokens x heads x coordinates."""
        return x

    def turned(self, p, x):
        return rotated(x, self.config["rope_theta"], self.width)

    def has_window(self, layer):
        return "sliding_window" in self.config

    def reach(self, layer):
        return self.config["sliding_window"] - 1 if self.has_window(layer) else None

    def read(self, p, x, scale=None, cap=None):
        """What all heads read."""
        q, k, v = (y.reshape(len(x), -1, self.width) for y in self.projections(p, x))
        q, k = self.normed(p + "q_norm", q), self.normed(p + "k_norm", k)
        q, k = self.turned(p, q), self.turned(p, k)
        causal = not self.config.get("use_bidirectional_attention")
        reach, sinks = self.reach(layer_of(p)), self.w.get(p + "sinks")
        return attend(q, k, v, scale or self.width**-0.5, causal, cap, reach, sinks)

    def attention(self, p, x, scale=None, cap=None):
        return self.linear(p + "o_proj", self.read(p, x, scale, cap))

    def mlp(self, p, x):
        active = self.activation(self.linear(p + "gate_proj", x)) * self.linear(p + "up_proj", x)
        return self.linear(p + "down_proj", active)

    def block(self, p, x):
        x = x + self.attention(p + "self_attn.", self.rms_norm(p + "input_layernorm", x))
        return x + self.mlp(p + "mlp.", self.rms_norm(p + "post_attention_layernorm", x))

    def logits(self, x):
        output = self.w.get("lm_head.weight", self.w["model.embed_tokens.weight"])
        return self.rms_norm("model." + self.final_norm, x) @ output.T


class PlainLlama(Llama):
    """No windows."""

    config = {**ROTARY, "model_type": "llama", "hidden_act": "silu"}

    def has_window(self, layer):
        return False


class Qwen2(Llama):
    """Windows from a layer on."""

    config = {
        **ROTARY,
        "model_type": "qwen2",
        "hidden_act": "silu",
        "sliding_window": 3,
        "use_sliding_window": True,
        "max_window_layers": 1,
    }
    query_bias = True

    def has_window(self, layer):
        return layer >= self.config["max_window_layers"]


class PanguEmbedded(PlainLlama):
    """Biases of queries, keys and values, and of the output."""

    config = {**PlainLlama.config, "model_type": "PanguEmbedded", "bias": True}
    query_bias = True

    def add_linear(self, name, outputs, inputs, bias=False):
        super().add_linear(name, outputs, inputs, bias or name.endswith("o_proj"))


class Qwen3(Llama):
    """A norm of each head's queries and keys."""

    config = {**ROTARY, "model_type": "qwen3", "hidden_act": "silu", "head_dim": 6}
    width = 6

    def add_projections(self, p, groups):
        super().add_projections(p, groups)
        self.add_norm(p + "q_norm", self.width)
        self.add_norm(p + "k_norm", self.width)

    def normed(self, name, x):
        return self.rms_norm(name, x)


class Apertus(PlainLlama):
    """A norm of each head, and an MLP without a gate whose activation has learned numbers."""

    config = {**ROTARY, "model_type": "apertus", "hidden_act": "xielu", "rope_scaling": None}
    norms = ["attention_layernorm", "feedforward_layernorm"]

    def add_projections(self, p, groups):
        super().add_projections(p, groups)
        self.add_norm(p + "q_norm", self.width)
        self.add_norm(p + "k_norm", self.width)

    def normed(self, name, x):
        return self.rms_norm(name, x)

    def add_mlp(self, p):
        self.add_linear(p + "up_proj", HIDDEN, WIDTH)
        self.add_linear(p + "down_proj", WIDTH, HIDDEN)
        for name in ("alpha_p", "alpha_n"):
            self.tensor(p + "act_fn." + name, [1], 0.8)

    def xielu(self, p, x):
        beta, eps = (self.w.get(p + name, [usual])[0] for name, usual in (("beta", 0.5), ("eps", -1e-6)))
        positive, negative = (np.log1p(np.exp(self.w[p + name][0])) for name in ("alpha_p", "alpha_n"))
        below = (np.expm1(np.minimum(x, eps)) - x) * (beta + negative)
        return np.where(x > 0, positive * x * x, below) + beta * x

    def mlp(self, p, x):
        return self.linear(p + "down_proj", self.xielu(p + "act_fn.", self.linear(p + "up_proj", x)))

    def block(self, p, x):
        x = x + self.attention(p + "self_attn.", self.rms_norm(p + "attention_layernorm", x))
        return x + self.mlp(p + "mlp.", self.rms_norm(p + "feedforward_layernorm", x))


class WholeApertus(Apertus):
    """With all its numbers in the file."""

    def add_mlp(self, p):
        super().add_mlp(p)
        self.tensor(p + "act_fn.beta", [1], 0.2, 0.7)
        self.tensor(p + "act_fn.eps", [1], 0.1, -0.3)


class NormOfAllHeads(Llama):
    """A norm of all queries and of all keys."""

    def add_projections(self, p, groups):
        super().add_projections(p, groups)
        self.add_norm(p + "q_norm", HEADS * self.width)
        self.add_norm(p + "k_norm", groups * self.width)

    def normed(self, name, x):
        return self.rms_norm(name, x.reshape(len(x), -1)).reshape(x.shape)


class Olmo(PlainLlama):
    """LayerNorms without gains."""

    config = {
        "model_type": "olmo",
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "hidden_act": "silu",
        "rope_theta": 50.0,
        "attention_bias": False,
        "clip_qkv": None,
        "tie_word_embeddings": False,
    }

    def add_norm(self, name, size=WIDTH, bias=False, mean=1.0):
        pass

    def rms_norm(self, name, x):
        centred = x - x.mean(axis=-1, keepdims=True)
        return centred / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + 1e-5)


class ClippedOlmo(Olmo):
    """Queries, keys and values are cut."""

    config = {**Olmo.config, "clip_qkv": 0.75}

    def projections(self, p, x):
        bound = self.config["clip_qkv"]
        return [np.clip(y, -bound, bound) for y in super().projections(p, x)]


class Olmo2(NormOfAllHeads):
    """Norms of the outputs of attention and MLP."""

    config = {**ROTARY, "model_type": "olmo2", "hidden_act": "silu"}
    norms = ["post_attention_layernorm", "post_feedforward_layernorm"]

    def block(self, p, x):
        x = x + self.rms_norm(p + "post_attention_layernorm", self.attention(p + "self_attn.", x))
        return x + self.rms_norm(p + "post_feedforward_layernorm", self.mlp(p + "mlp.", x))


class Olmo3(Olmo2):
    """Windows but in each fourth layer; the angles of the others are scaled."""

    config = {**ROTARY, "model_type": "olmo3", "hidden_act": "silu", "sliding_window": 3}
    config |= {"layer_types": ["sliding_attention", "full_attention"]}
    config |= {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}

    def has_window(self, layer):
        return self.config["layer_types"][layer] == "sliding_attention"

    def turned(self, p, x):
        if self.has_window(layer_of(p)):
            return super().turned(p, x)
        base, half = self.config["rope_theta"], self.width // 2
        slow = base ** (-2.0 * np.arange(half) / self.width) / self.config["rope_scaling"]["factor"]
        z = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * np.arange(len(x))[:, None] * slow)[:, None]
        return np.concatenate([z.real, z.imag], axis=-1)


class Exaone4(Olmo2):
    """A norm of each head; layers without a window have no positions."""

    config = {**ROTARY, "model_type": "exaone4", "hidden_act": "silu", "sliding_window": 3}
    config |= {"layer_types": ["sliding_attention", "full_attention"]}
    has_window = Olmo3.has_window

    def add_projections(self, p, groups):
        Llama.add_projections(self, p, groups)
        self.add_norm(p + "q_norm", self.width)
        self.add_norm(p + "k_norm", self.width)

    def normed(self, name, x):
        return self.rms_norm(name, x)

    def turned(self, p, x):
        return super().turned(p, x) if self.has_window(layer_of(p)) else x


class ShortExaone4(Exaone4):
    """Without windows all layers have positions."""

    config = {**ROTARY, "model_type": "exaone4", "hidden_act": "silu", "sliding_window": None}
    config |= {"layer_types": ["full_attention", "full_attention"]}

    def has_window(self, layer):
        return False

    def turned(self, p, x):
        return Llama.turned(self, p, x)


class Starcoder2(Llama):
    """Norms with biases, an MLP without a gate, biases everywhere."""

    config = {
        "model_type": "starcoder2",
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "hidden_act": "gelu_pytorch_tanh",
        "norm_epsilon": 1e-3,
        "rope_theta": 50.0,
        "sliding_window": 3,
        "tie_word_embeddings": True,
    }

    def add_linear(self, name, outputs, inputs, bias=True):
        super().add_linear(name, outputs, inputs, True)

    def add_norm(self, name, size=WIDTH, bias=True, mean=1.0):
        super().add_norm(name, size, True, mean)

    def rms_norm(self, name, x):
        return self.layer_norm(name, x, self.config["norm_epsilon"])

    def add_mlp(self, p):
        self.add_linear(p + "c_fc", HIDDEN, WIDTH)
        self.add_linear(p + "c_proj", WIDTH, HIDDEN)

    def mlp(self, p, x):
        return self.linear(p + "c_proj", gelu_tanh(self.linear(p + "c_fc", x)))


class LlamaNemotron(PlainLlama):
    """Layers without heads or without an MLP, and with key heads and an MLP of their own."""

    config = {
        "model_type": "nemotron-nas",
        "num_attention_heads": HEADS,
        "num_key_value_heads": None,
        "hidden_act": "silu",
        "intermediate_size": None,
        "rms_norm_eps": 1e-3,
        "rope_theta": 50.0,
        "block_configs": [
            {"attention": {"no_op": False, "n_heads_in_group": 2}, "ffn": {"no_op": False, "ffn_mult": 1.0}},
            {"attention": {"no_op": True, "n_heads_in_group": None}, "ffn": {"no_op": False, "ffn_mult": 2.0}},
            {"attention": {"no_op": False, "n_heads_in_group": 4}, "ffn": {"no_op": True, "ffn_mult": None}},
            {"attention": {"no_op": False, "n_heads_in_group": 1}, "ffn": {"no_op": False, "ffn_mult": 1.5}},
        ],
    }
    depth = 4

    def build(self):
        self.tensor("model.embed_tokens.weight", [VOCABULARY, WIDTH], 1.0)
        for layer, block in enumerate(self.config["block_configs"]):
            p = self.layer_prefix(layer)
            if not block["attention"]["no_op"]:
                self.add_norm(p + "input_layernorm")
                self.add_attention(p + "self_attn.", HEADS // block["attention"]["n_heads_in_group"])
            if not block["ffn"]["no_op"]:
                self.add_norm(p + "post_attention_layernorm")
                hidden = round(block["ffn"]["ffn_mult"] * HIDDEN)
                for name, outputs, inputs in (("gate", hidden, WIDTH), ("up", hidden, WIDTH), ("down", WIDTH, hidden)):
                    self.add_linear(f"{p}mlp.{name}_proj", outputs, inputs)
        self.add_norm("model.norm")
        self.tensor("lm_head.weight", [VOCABULARY, WIDTH], 1.0)

    def block(self, p, x):
        block = self.config["block_configs"][layer_of(p)]
        if not block["attention"]["no_op"]:
            x = x + self.attention(p + "self_attn.", self.rms_norm(p + "input_layernorm", x))
        if not block["ffn"]["no_op"]:
            x = x + self.mlp(p + "mlp.", self.rms_norm(p + "post_attention_layernorm", x))
        return x


class Arcee(Llama):
    """An MLP without a gate, whose activation is the square of ReLU."""

    config = {**ROTARY, "model_type": "arcee", "hidden_act": "relu2"}

    def has_window(self, layer):
        return False

    def add_mlp(self, p):
        self.add_linear(p + "up_proj", HIDDEN, WIDTH)
        self.add_linear(p + "down_proj", WIDTH, HIDDEN)

    def mlp(self, p, x):
        return self.linear(p + "down_proj", np.maximum(self.linear(p + "up_proj", x), 0) ** 2)


class Nemotron(Arcee):
    """Layer norms whose gains are stored as g - 1; a half of a head's coordinates turn."""

    config = {
        "model_type": "nemotron",
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "hidden_act": "relu2",
        "norm_eps": 1e-3,
        "rope_theta": 50.0,
        "tie_word_embeddings": False,
    }
    gain = 0.0

    def add_norm(self, name, size=WIDTH, bias=True, mean=1.0):
        super().add_norm(name, size, True, mean)

    def rms_norm(self, name, x):
        centred = x - x.mean(axis=-1, keepdims=True)
        root = np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + self.config["norm_eps"])
        return centred / root * (1 + self.w[name + ".weight"]) + self.w[name + ".bias"]

    def turned(self, p, x):
        return rotated(x, self.config["rope_theta"], self.width // 2)


class Gemma(Llama):
    """Gains are stored as g - 1; the embeddings are scaled; the old "hidden_act" does not count."""

    config = {
        **ROTARY,
        "model_type": "gemma",
        "hidden_act": "gelu",
        "head_dim": 6,
        "tie_word_embeddings": True,
    }
    gain, width = 0.0, 6
    activation = staticmethod(gelu_tanh)

    def rms_norm(self, name, x):
        root = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.config["rms_norm_eps"])
        return x / root * (1 + self.w[name + ".weight"])

    def embedded(self, ids):
        return super().embedded(ids) * math.sqrt(WIDTH)


class Gemma2(Gemma):
    """Capped logits; each other layer has a window."""

    config = {
        **ROTARY,
        "model_type": "gemma2",
        "hidden_activation": "gelu_pytorch_tanh",
        "head_dim": 6,
        "query_pre_attn_scalar": 9,
        "attn_logit_softcapping": 2.0,
        "final_logit_softcapping": 3.0,
        "sliding_window": 3,
    }
    norms = [
        "input_layernorm",
        "post_attention_layernorm",
        "pre_feedforward_layernorm",
        "post_feedforward_layernorm",
    ]

    def has_window(self, layer):
        return layer % 2 == 0

    def block(self, p, x):
        scale = self.config["query_pre_attn_scalar"] ** -0.5
        y = self.rms_norm(p + "input_layernorm", x)
        y = self.attention(p + "self_attn.", y, scale, self.config.get("attn_logit_softcapping"))
        x = x + self.rms_norm(p + "post_attention_layernorm", y)
        y = self.mlp(p + "mlp.", self.rms_norm(p + "pre_feedforward_layernorm", x))
        return x + self.rms_norm(p + "post_feedforward_layernorm", y)

    def logits(self, x):
        cap = self.config["final_logit_softcapping"]
        return cap * np.tanh(super().logits(x) / cap)


class VaultGemma(Gemma2):
    """Without norms of the branches' outputs."""

    config = {**Gemma2.config, "model_type": "vaultgemma"}
    norms = ["input_layernorm", "pre_feedforward_layernorm"]

    def block(self, p, x):
        scale, cap = self.config["query_pre_attn_scalar"] ** -0.5, self.config["attn_logit_softcapping"]
        x = x + self.attention(p + "self_attn.", self.rms_norm(p + "input_layernorm", x), scale, cap)
        return x + self.mlp(p + "mlp.", self.rms_norm(p + "pre_feedforward_layernorm", x))


class Gemma3(Gemma2):
    """A norm of each head's queries and keys, nothing capped, another rotary base in layers with a window."""

    config = {
        **ROTARY,
        "model_type": "gemma3_text",
        "hidden_activation": "gelu_pytorch_tanh",
        "head_dim": 6,
        "query_pre_attn_scalar": 9,
        "attn_logit_softcapping": None,
        "final_logit_softcapping": None,
        "sliding_window": 3,
        "sliding_window_pattern": 2,
        "rope_local_base_freq": 10.0,
    }

    def add_projections(self, p, groups):
        super().add_projections(p, groups)
        self.add_norm(p + "q_norm", self.width, mean=self.gain)
        self.add_norm(p + "k_norm", self.width, mean=self.gain)

    def normed(self, name, x):
        return self.rms_norm(name, x)

    def turned(self, p, x):
        base = "rope_local_base_freq" if self.has_window(layer_of(p)) else "rope_theta"
        return rotated(x, self.config[base], self.width)

    def logits(self, x):
        return Llama.logits(self, x)


class BidirectionalGemma3(Gemma3):
    """EmbeddingGemma: queries see half of a window on each side."""

    config = {**Gemma3.config, "use_bidirectional_attention": True}

    def reach(self, layer):
        return self.config["sliding_window"] // 2 if self.has_window(layer) else None


def as_text_of(model_type, found, left_out=("num_attention_heads", "num_key_value_heads"), part="text_config"):
    """Under a prefix, with keys in an object of config.json, of which the default counts of heads are left out."""
    for row in found["tensors"]:
        row["name"] = "language_model." + row["name"]
    text = {key: value for key, value in found["config"].items() if key not in left_out}
    return {**found, "config": {"model_type": model_type, part: text}}


class MultimodalGemma3(Gemma3):
    """The text of a model with vision."""

    config = {**Gemma3.config, "num_attention_heads": 8, "num_key_value_heads": 4}
    heads = 8

    def result(self):
        return as_text_of("gemma3", super().result())


class Llava(Llama):
    """The text of a model with vision."""

    config = {**ROTARY, "model_type": "llama", "hidden_act": "silu"}
    config |= {"num_attention_heads": 32, "num_key_value_heads": 32}
    heads, width = 32, 2

    def result(self):
        return as_text_of("llava", super().result())


class Mllama(PlainLlama):
    """A layer of cross-attention between the others, which text passes over, and embeddings for pictures."""

    config = {**PlainLlama.config, "model_type": "mllama_text_model", "cross_attention_layers": [1]}
    depth, picture_rows = 3, 8

    def add_attention(self, p, groups):
        if layer_of(p) not in self.config["cross_attention_layers"]:
            return super().add_attention(p, groups)
        layer = p.removesuffix("self_attn.")
        super().add_attention(layer + "cross_attn.", groups)
        for name in ("q_norm", "k_norm"):
            self.add_norm(layer + "cross_attn." + name, self.width)
        for name in ("attn", "mlp"):
            self.tensor(f"{layer}cross_attn_{name}_gate", [1], 0.5)

    def block(self, p, x):
        return x if layer_of(p) in self.config["cross_attention_layers"] else super().block(p, x)

    def result(self):
        return as_text_of("mllama", super().result(), ())


class Mistral3(Llama):
    """The text of a model with vision: a Mistral with windows."""

    def result(self):
        return as_text_of("mistral3", super().result(), ())


class Ministral3(Llama):
    """The same without windows; queries are scaled from the 8,192nd token on."""

    config = {**ROTARY, "model_type": "ministral3", "hidden_act": "silu", "sliding_window": None}
    config |= {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0, "llama_4_scaling_beta": 0.1}}

    def has_window(self, layer):
        return False

    def result(self):
        return as_text_of("mistral3", super().result(), ())


class Qwen25Vl(Qwen2):
    """The three positions of a token of text are the same."""

    config = {**Qwen2.config, "model_type": "qwen2_5_vl", "use_sliding_window": False}
    config |= {"rope_scaling": {"type": "mrope", "mrope_section": [1, 1]}}

    def has_window(self, layer):
        return False


def beside_vision(model_type, found):
    """Under a prefix within the model's, with keys in an object of config.json."""
    for row in found["tensors"]:
        row["name"] = row["name"].replace("model.", "model.language_model.", 1)
    return {**found, "config": {"model_type": model_type, "text_config": found["config"]}}


def in_thinker(model_type, found):
    """As the part of a model that reads, beside those that speak."""
    for row in found["tensors"]:
        row["name"] = "thinker." + row["name"]
    return {**found, "config": {"model_type": model_type, "thinker_config": {"text_config": found["config"]}}}


class Qwen3Vl(Qwen3):
    """The same beside a vision model."""

    config = {**Qwen3.config, "model_type": "qwen3_vl_text", "tie_word_embeddings": False}
    config |= {"rope_scaling": {"rope_type": "default", "mrope_interleaved": True, "mrope_section": [1, 1, 1]}}

    def result(self):
        return beside_vision("qwen3_vl", super().result())


class SmolLM3(Llama):
    """Layers without positions, where the list has 0."""

    config = {**ROTARY, "model_type": "smollm3", "hidden_act": "silu", "no_rope_layers": [1, 0]}

    def turned(self, p, x):
        return super().turned(p, x) if self.config["no_rope_layers"][layer_of(p)] else x


class Cohere(Llama):
    """Attention and MLP read the same norm, which has no bias; neighbouring coordinates are turned."""

    config = {
        "model_type": "cohere",
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "hidden_act": "silu",
        "layer_norm_eps": 1e-3,
        "rope_theta": 50.0,
        "logit_scale": 0.25,
        "use_qk_norm": False,
        "tie_word_embeddings": True,
    }
    norms = ["input_layernorm"]

    def turned(self, p, x):
        return rotated_neighbours(x, self.config["rope_theta"])

    def block(self, p, x):
        y = self.norm(p + "input_layernorm", x)
        return x + self.attention(p + "self_attn.", y) + self.mlp(p + "mlp.", y)

    def logits(self, x):
        output = self.w["model.embed_tokens.weight"]
        return self.norm("model.norm", x) @ output.T * self.config["logit_scale"]


class CommandRPlus(Cohere):
    """A LayerNorm of each head's queries and keys, whose gains differ by the head."""

    config = {**Cohere.config, "use_qk_norm": True}

    def add_projections(self, p, groups):
        super().add_projections(p, groups)
        for name, heads in (("q", HEADS), ("k", groups)):
            self.tensor(f"{p}{name}_norm.weight", [heads, self.width], 0.6, 1.0)

    def normed(self, name, x):
        return self.norm(name, x)


class Cohere2(Cohere):
    """Layers with a window turn, the others do not."""

    config = {**Cohere.config, "model_type": "cohere2", "sliding_window": 3}
    config |= {"layer_types": ["sliding_attention", "full_attention"]}
    has_window = Olmo3.has_window

    def turned(self, p, x):
        return super().turned(p, x) if self.has_window(layer_of(p)) else x


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


class MixtureOfExperts(Llama):
    """In the place of the MLP a router and experts; `route` gives the weights of those that it chooses for a token."""

    router, expert, experts, hidden = "mlp.gate", "mlp.experts.{}.", 4, 6
    maps = ("gate_proj", "up_proj", "down_proj")
    shared = None

    def is_mixture(self, p):
        return True

    def add_gated(self, p, maps, hidden):
        for name, (outputs, inputs) in zip(maps, ((hidden, WIDTH), (hidden, WIDTH), (WIDTH, hidden))):
            self.add_linear(p + name, outputs, inputs)

    def add_mlp(self, p):
        p = p.removesuffix("mlp.")
        if not self.is_mixture(p):
            return super().add_mlp(p + "mlp.")
        self.tensor(p + self.router + ".weight", [self.experts, WIDTH], 0.4)
        for expert in range(self.experts):
            self.add_gated(p + self.expert.format(expert), self.maps, self.hidden)
        if self.shared:
            self.add_gated(p + self.shared, self.maps, self.hidden + 2)

    def expert_output(self, p, expert, x):
        return self.gated(p + self.expert.format(expert), self.maps, x)

    def gated(self, p, maps, x):
        gate, up, down = (self.w[p + name + ".weight"] for name in maps)
        return down @ (silu(gate @ x) * (up @ x))

    def shared_weight(self, p, x):
        return 1.0

    def mlp(self, p, x):
        p = p.removesuffix("mlp.")
        if not self.is_mixture(p):
            return super().mlp(p + "mlp.", x)
        rows = []
        for token in x:
            row = np.zeros(WIDTH)
            for expert, weight in self.route(p, token).items():
                row += weight * self.expert_output(p, expert, token)
            if self.shared:
                row += self.shared_weight(p, token) * self.gated(p + self.shared, self.maps, token)
            rows.append(row)
        return np.array(rows)

    def best(self, scores):
        """The experts with the largest scores."""
        return np.argsort(-scores)[: self.config["num_experts_per_tok"]]

    def route(self, p, x):
        """Softmax over all experts, then the largest weights, which add up to 1 by `norm_topk_prob`."""
        weights = softmax(self.w[p + self.router + ".weight"] @ x)
        chosen = self.best(weights)
        total = weights[chosen].sum() if self.config.get("norm_topk_prob") else 1.0
        return {expert: weights[expert] / total for expert in chosen}


class Mixtral(MixtureOfExperts):
    """Softmax over the scores of the chosen experts."""

    config = {**ROTARY, "model_type": "mixtral", "hidden_act": "silu", "num_experts_per_tok": 2, "num_local_experts": 4}
    router, expert = "block_sparse_moe.gate", "block_sparse_moe.experts.{}."
    maps = ("w1", "w3", "w2")

    def route(self, p, x):
        scores = self.w[p + self.router + ".weight"] @ x
        chosen = self.best(scores)
        return dict(zip(chosen, softmax(scores[chosen])))


class Qwen3Moe(Qwen3, MixtureOfExperts):
    """The first layer has an MLP."""

    config = {
        **ROTARY,
        "model_type": "qwen3_moe",
        "hidden_act": "silu",
        "head_dim": 6,
        "num_experts_per_tok": 2,
        "norm_topk_prob": True,
        "mlp_only_layers": [0],
    }

    def is_mixture(self, p):
        return layer_of(p) not in self.config["mlp_only_layers"]


class Qwen2Moe(MixtureOfExperts):
    """Weights that do not add up to 1, and an expert that runs on every token, whose weight is a sigmoid."""

    config = {**ROTARY, "model_type": "qwen2_moe", "hidden_act": "silu", "num_experts_per_tok": 3}
    query_bias, shared = True, "mlp.shared_expert."

    def add_mlp(self, p):
        super().add_mlp(p)
        self.add_linear(p + "shared_expert_gate", 1, WIDTH)

    def shared_weight(self, p, x):
        return 1 / (1 + math.exp(-(self.w[p + "mlp.shared_expert_gate.weight"] @ x)[0]))


class Olmoe(NormOfAllHeads, MixtureOfExperts):
    config = {**ROTARY, "model_type": "olmoe", "hidden_act": "silu", "num_experts_per_tok": 2, "norm_topk_prob": False}


class SigmoidRouter(MixtureOfExperts):
    """Sigmoids of the scores; a correction of each expert is added where experts are chosen. With groups only those of
    the best ones are, by the sum of their two largest corrected scores."""

    correction, factor = None, "routed_scaling_factor"

    def add_mlp(self, p):
        super().add_mlp(p)
        p = p.removesuffix("mlp.")
        if self.is_mixture(p):
            self.tensor(p + self.correction, [self.experts], 0.1)

    def route(self, p, x):
        scores = 1 / (1 + np.exp(-(self.w[p + self.router + ".weight"] @ x)))
        choosing = scores + self.w[p + self.correction]
        groups = choosing.reshape(self.config.get("n_group", 1), -1)
        best = np.argsort(-np.sort(groups, axis=1)[:, -2:].sum(axis=1))[: self.config.get("topk_group", 1)]
        allowed = np.isin(np.arange(len(choosing)) // groups.shape[1], best)
        chosen = self.best(np.where(allowed, choosing, -np.inf))
        factor = self.config.get(self.factor, 1.0) / scores[chosen].sum()
        return {expert: factor * scores[expert] for expert in chosen}


class MinimaxM2(NormOfAllHeads, SigmoidRouter):
    """A half of a head's coordinates turn."""

    config = {
        **ROTARY,
        "model_type": "minimax_m2",
        "hidden_act": "silu",
        "rotary_dim": 2,
        "num_experts_per_tok": 2,
        "scoring_func": "sigmoid",
        "tie_word_embeddings": False,
    }
    router, expert = "block_sparse_moe.gate", "block_sparse_moe.experts.{}."
    maps, correction = ("w1", "w3", "w2"), "block_sparse_moe.e_score_correction_bias"

    def turned(self, p, x):
        return rotated(x, self.config["rope_theta"], 2)


class MinimaxM3(SigmoidRouter):
    """Norms of each head; gains are 1 + g; all MLPs cut their gates as gpt-oss does, and the first layer has one alone.
    Its sparse attention sees all blocks of a short passage."""

    config = {
        **ROTARY,
        "model_type": "minimax_m3_vl_text",
        "hidden_act": "swigluoai",
        "rotary_dim": 2,
        "first_k_dense_replace": 1,
        "moe_layer_freq": [0, 1],
        "num_experts_per_tok": 2,
        "routed_scaling_factor": 2.0,
        "scoring_func": "sigmoid",
        "swiglu_alpha": 1.702,
        "swiglu_limit": 0.5,
        "sparse_attention_config": {
            "sparse_attention_freq": [0, 1],
            "sparse_block_size": 128,
            "sparse_topk_blocks": 16,
        },
        "tie_word_embeddings": False,
    }
    router, expert, gain = MinimaxM2.router, MinimaxM2.expert, 0.0
    maps, correction = MinimaxM2.maps, MinimaxM2.correction
    shared, shared_maps = "block_sparse_moe.shared_experts.", MixtureOfExperts.maps

    def is_mixture(self, p):
        return layer_of(p) > 0

    def has_window(self, layer):
        return False

    def add_gated(self, p, maps, hidden):
        super().add_gated(p, self.shared_maps if "shared" in p else maps, hidden)

    def add_projections(self, p, groups):
        super().add_projections(p, groups)
        self.add_norm(p + "q_norm", self.width, mean=0.0)
        self.add_norm(p + "k_norm", self.width, mean=0.0)
        if self.is_mixture(p):
            self.add_linear(p + "index_q_proj", 8, WIDTH)
            self.add_linear(p + "index_k_proj", 4, WIDTH)
            self.add_norm(p + "index_q_norm", 4, mean=0.0)
            self.add_norm(p + "index_k_norm", 4, mean=0.0)

    def rms_norm(self, name, x):
        root = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.config["rms_norm_eps"])
        return x / root * (1 + self.w[name + ".weight"])

    def normed(self, name, x):
        return self.rms_norm(name, x)

    def turned(self, p, x):
        return rotated(x, self.config["rope_theta"], 2)

    def gated(self, p, maps, x):
        names = self.shared_maps if "shared" in p else maps
        gate, up, down = (self.w[p + name + ".weight"] for name in names)
        limit = self.config["swiglu_limit"]
        gate, up = np.minimum(gate @ x, limit), np.clip(up @ x, -limit, limit)
        return down @ ((up + 1) * gate / (1 + np.exp(-1.702 * gate)))

    def mlp(self, p, x):
        if self.is_mixture(p):
            return super().mlp(p, x)
        return np.array([self.gated(p, MixtureOfExperts.maps, token) for token in x])


class Glm45(SigmoidRouter):
    """Groups of experts, a factor, and an expert that runs on every token."""

    config = {
        **ROTARY,
        "model_type": "glm4_moe",
        "hidden_act": "silu",
        "partial_rotary_factor": 0.5,
        "num_experts_per_tok": 3,
        "norm_topk_prob": True,
        "routed_scaling_factor": 2.5,
        "n_group": 4,
        "topk_group": 2,
        "tie_word_embeddings": False,
    }
    experts, query_bias = 8, True
    correction, shared = "mlp.gate.e_score_correction_bias", "mlp.shared_experts."

    def turned(self, p, x):
        return rotated(x, self.config["rope_theta"], 2)


class Dots1(Qwen3, Glm45):
    """Norms of each head, whose coordinates all turn; the file's name of the scores is that of DeepSeek's choice."""

    config = {key: value for key, value in Glm45.config.items() if key != "partial_rotary_factor"}
    config |= {"model_type": "dots1", "head_dim": 6, "sliding_window": None}
    config |= {"scoring_func": "noaux_tc", "topk_method": "noaux_tc"}
    query_bias = False

    def has_window(self, layer):
        return False

    def turned(self, p, x):
        return Llama.turned(self, p, x)


class Glm45v(Glm45):
    """Beside a vision model; the three positions of a token of text are the same."""

    config = {**Glm45.config, "model_type": "glm4v_moe_text"}
    config |= {"rope_scaling": {"rope_type": "default", "mrope_section": [1]}}

    def result(self):
        return beside_vision("glm4v_moe", super().result())


class ExaoneMoe(Dots1):
    """The first layer has an MLP; layers without a window have no positions."""

    config = {
        **{key: value for key, value in Glm45.config.items() if key != "partial_rotary_factor"},
        "model_type": "exaone_moe",
        "head_dim": 6,
        "scoring_func": "sigmoid",
        "first_k_dense_replace": 1,
        "sliding_window": 3,
        "layer_types": ["sliding_attention", "full_attention"],
    }
    correction = "mlp.e_score_correction_bias"
    has_window = Olmo3.has_window

    def is_mixture(self, p):
        return layer_of(p) > 0

    def turned(self, p, x):
        return super().turned(p, x) if self.has_window(layer_of(p)) else x


class SolarOpen(Glm45):
    """All coordinates turn."""

    config = {key: value for key, value in Glm45.config.items() if key != "partial_rotary_factor"}
    config |= {"model_type": "solar_open"}
    query_bias = False

    def has_window(self, layer):
        return False

    def turned(self, p, x):
        return Llama.turned(self, p, x)


class Hy3(Dots1):
    """No groups, and names of its own; the first layer has an MLP."""

    config = {
        **ROTARY,
        "model_type": "hy_v3",
        "hidden_act": "silu",
        "head_dim": 6,
        "first_k_dense_replace": 1,
        "num_experts_per_tok": 3,
        "router_scaling_factor": 2.5,
        "route_norm": True,
        "moe_router_use_sigmoid": True,
        "tie_word_embeddings": False,
    }
    router, correction, factor = "mlp.router.gate", "mlp.expert_bias", "router_scaling_factor"
    shared = "mlp.shared_mlp."

    def is_mixture(self, p):
        return layer_of(p) > 0


class MimoV2(SigmoidRouter):
    """Values are narrower than keys and have a factor. Layers with a window have sinks and counts of their own; the
    first layer has an MLP."""

    config = {
        **{key: value for key, value in ROTARY.items() if key != "rms_norm_eps"},
        "model_type": "mimo_v2_flash",
        "hidden_act": "silu",
        "head_dim": 6,
        "v_head_dim": 4,
        "swa_num_attention_heads": HEADS,
        "swa_num_key_value_heads": 4,
        "swa_head_dim": 6,
        "swa_v_head_dim": 2,
        "swa_rope_theta": 20.0,
        "partial_rotary_factor": 0.67,
        "hybrid_layer_pattern": [1, 0],
        "sliding_window": 3,
        "attention_value_scale": 0.707,
        "add_swa_attention_sink_bias": True,
        "add_full_attention_sink_bias": False,
        "layernorm_epsilon": 1e-3,
        "moe_layer_freq": [0, 1],
        "num_experts_per_tok": 3,
        "norm_topk_prob": True,
        "scoring_func": "sigmoid",
        "routed_scaling_factor": None,
        "n_group": 1,
        "topk_group": 1,
        "tie_word_embeddings": False,
    }
    experts, width, correction, factor = 8, 6, Glm45.correction, None

    def is_mixture(self, p):
        return layer_of(p) > 0

    def has_window(self, layer):
        return self.config["hybrid_layer_pattern"][layer] == 1

    def add_attention(self, p, groups):
        window = self.has_window(layer_of(p))
        groups, values = (4, 2) if window else (groups, 4)
        for name, outputs in (("q", self.heads * 6), ("k", groups * 6), ("v", groups * values)):
            self.add_linear(p + name + "_proj", outputs, WIDTH)
        self.add_linear(p + "o_proj", WIDTH, self.heads * values)
        if window:
            self.tensor(p + "attention_sink_bias", [self.heads], 2.0)

    def rms_norm(self, name, x):
        root = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.config["layernorm_epsilon"])
        return x / root * self.w[name + ".weight"]

    def read(self, p, x, scale=None, cap=None):
        window = self.has_window(layer_of(p))
        q, k, v = (y.reshape(len(x), -1, n) for y, n in zip(self.projections(p, x), (6, 6, 2 if window else 4)))
        theta = self.config["swa_rope_theta" if window else "rope_theta"]
        q, k = rotated(q, theta, 4), rotated(k, theta, 4)
        v = v * self.config["attention_value_scale"]
        return attend(q, k, v, 6**-0.5, reach=self.reach(layer_of(p)), sinks=self.w.get(p + "attention_sink_bias"))


class Trinity(Dots1):
    """Gates of what heads read, norms of the branches' outputs; layers without a window have no positions."""

    config = {
        **ROTARY,
        "model_type": "afmoe",
        "hidden_act": "silu",
        "head_dim": 6,
        "num_experts_per_tok": 3,
        "route_scale": 2.5,
        "route_norm": True,
        "score_func": "sigmoid",
        "mup_enabled": True,
        "sliding_window": 3,
        "layer_types": ["sliding_attention", "full_attention"],
        "tie_word_embeddings": False,
    }
    norms = ["input_layernorm", "post_attention_layernorm", "pre_mlp_layernorm", "post_mlp_layernorm"]
    router, correction, factor = "mlp.router.gate", "mlp.expert_bias", "route_scale"
    has_window = Olmo3.has_window

    def is_mixture(self, p):
        return layer_of(p) > 0

    def add_projections(self, p, groups):
        super().add_projections(p, groups)
        self.add_linear(p + "gate_proj", HEADS * self.width, WIDTH)

    def embedded(self, ids):
        return super().embedded(ids) * math.sqrt(WIDTH)

    def turned(self, p, x):
        return super().turned(p, x) if self.has_window(layer_of(p)) else x

    def read(self, p, x, scale=None, cap=None):
        return super().read(p, x, scale, cap) / (1 + np.exp(-self.linear(p + "gate_proj", x)))

    def block(self, p, x):
        y = self.attention(p + "self_attn.", self.rms_norm(p + "input_layernorm", x))
        x = x + self.rms_norm(p + "post_attention_layernorm", y)
        y = self.mlp(p + "mlp.", self.rms_norm(p + "pre_mlp_layernorm", x))
        return x + self.rms_norm(p + "post_mlp_layernorm", y)


def yarn(config, turned):
    """Angles between neighbouring positions: pairs that turn more than beta_fast times in the first training's length
    are kept, those that turn less than beta_slow times are slowed down by the factor, with a ramp over the pairs
    between."""
    s, base = config["rope_scaling"], config["rope_theta"]

    def pair(turns):
        length = s["original_max_position_embeddings"]
        return turned * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair(s["beta_fast"]), pair(s["beta_slow"])
    if s.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, turned - 1)
    pairs = np.arange(turned // 2)
    ramp = np.clip((pairs - low) / (high - low), 0, 1)
    plain = base ** (-2.0 * pairs / turned)
    return plain / s["factor"] * ramp + plain * (1 - ramp)


def turns(frequencies, length):
    """Complex factors, tokens x 1 x pairs."""
    return np.exp(1j * np.arange(length)[:, None] * frequencies)[:, None]


class GptOss(MixtureOfExperts):
    """Sinks, biases, windows in each other layer, yarn. Experts lie in one tensor, inputs first, their gates and ups in
    turn; the gate is cut above, the other factor on both sides."""

    scaling = {
        "rope_type": "yarn",
        "factor": 4.0,
        "beta_fast": 2.0,
        "beta_slow": 0.25,
        "truncate": False,
        "original_max_position_embeddings": 16,
    }
    config = {
        **ROTARY,
        "model_type": "gpt_oss",
        "head_dim": 6,
        "hidden_act": "silu",
        "sliding_window": 3,
        "rope_scaling": scaling,
        "swiglu_limit": 0.5,
        "num_experts_per_tok": 2,
        "tie_word_embeddings": True,
    }
    width, query_bias = 6, True

    def has_window(self, layer):
        return layer % 2 == 0

    def add_projections(self, p, groups):
        super().add_projections(p, groups)
        self.tensor(p + "sinks", [self.heads], 2.0)

    def add_mlp(self, p):
        self.add_linear(p + "router", self.experts, WIDTH, True)
        self.tensor(p + "experts.gate_up_proj", [self.experts, WIDTH, 2 * self.hidden], 0.6)
        self.tensor(p + "experts.gate_up_proj_bias", [self.experts, 2 * self.hidden], 0.4)
        self.tensor(p + "experts.down_proj", [self.experts, self.hidden, WIDTH], 0.6)
        self.tensor(p + "experts.down_proj_bias", [self.experts, WIDTH], 0.4)

    def route(self, p, x):
        scores = self.linear(p + "mlp.router", x)
        chosen = self.best(scores)
        return dict(zip(chosen, softmax(scores[chosen])))

    def expert_output(self, p, expert, x):
        p, limit = p + "mlp.experts.", self.config["swiglu_limit"]
        both = x @ self.w[p + "gate_up_proj"][expert] + self.w[p + "gate_up_proj_bias"][expert]
        gate, up = np.minimum(both[0::2], limit), np.clip(both[1::2], -limit, limit)
        hidden = (up + 1) * gate / (1 + np.exp(-1.702 * gate))
        return hidden @ self.w[p + "down_proj"][expert] + self.w[p + "down_proj_bias"][expert]

    def turned(self, p, x):
        half = self.width // 2
        z = (x[..., :half] + 1j * x[..., half:]) * turns(yarn(self.config, self.width), len(x))
        return np.concatenate([z.real, z.imag], axis=-1) * (0.1 * math.log(self.scaling["factor"]) + 1)


class Qwen3VlMoe(Qwen3, MixtureOfExperts):
    """The text of a model with vision. Experts lie in one tensor, inputs first, gates before ups."""

    config = {**Qwen3Moe.config, "model_type": "qwen3_vl_moe_text", "tie_word_embeddings": False}
    config |= {"rope_scaling": {"rope_type": "default", "mrope_interleaved": True, "mrope_section": [1, 1, 1]}}
    is_mixture = Qwen3Moe.is_mixture

    def result(self):
        return beside_vision("qwen3_vl_moe", super().result())

    def add_mlp(self, p):
        if not self.is_mixture(p):
            return Llama.add_mlp(self, p)
        self.tensor(p + "gate.weight", [self.experts, WIDTH], 0.4)
        self.tensor(p + "experts.gate_up_proj", [self.experts, WIDTH, 2 * self.hidden], 0.6)
        self.tensor(p + "experts.down_proj", [self.experts, self.hidden, WIDTH], 0.6)

    def expert_output(self, p, expert, x):
        gate, up = np.split(x @ self.w[p + "mlp.experts.gate_up_proj"][expert], 2)
        return (silu(gate) * up) @ self.w[p + "mlp.experts.down_proj"][expert]


class Llama4(MixtureOfExperts):
    """Norms of queries and keys without a gain, in layers with positions; the first layer has an MLP. What an expert
    reads is multiplied by its weight. Experts lie in one tensor, inputs first, gates before ups."""

    config = {**ROTARY, "model_type": "llama4_text", "hidden_act": "silu", "use_qk_norm": True}
    config |= {"no_rope_layers": [1, 0], "num_experts_per_tok": 1, "tie_word_embeddings": False}
    config |= {"layer_types": ["chunked_attention", "full_attention"]}
    shared = "mlp.shared_expert."

    def is_mixture(self, p):
        return layer_of(p) == 1

    def has_window(self, layer):
        return False

    def turned(self, p, x):
        if not self.config["no_rope_layers"][layer_of(p)]:
            return x
        x = rotated_neighbours(x, self.config["rope_theta"])
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.config["rms_norm_eps"])

    def add_gated(self, p, maps, hidden):
        if "shared" in p:
            super().add_gated(p, maps, hidden)
        elif p.endswith(".0."):
            p = p.removesuffix("0.")
            self.tensor(p + "gate_up_proj", [self.experts, WIDTH, 2 * hidden], 0.6)
            self.tensor(p + "down_proj", [self.experts, hidden, WIDTH], 0.6)

    def route(self, p, x):
        """The weight 1 of what the experts give."""
        return dict.fromkeys(self.best(self.w[p + self.router + ".weight"] @ x), 1.0)

    def weighted(self, p, expert, x):
        return x / (1 + math.exp(-(self.w[p + self.router + ".weight"][expert] @ x)))

    def expert_output(self, p, expert, x):
        gate, up = np.split(self.weighted(p, expert, x) @ self.w[p + "mlp.experts.gate_up_proj"][expert], 2)
        return (silu(gate) * up) @ self.w[p + "mlp.experts.down_proj"][expert]

    def result(self):
        names = {"mlp.gate.": "mlp.router.", "mlp.": "feed_forward."}
        return renamed(super().result(), names, {})


class SeparateLlama4(Llama4):
    """One tensor an expert, and two experts a token."""

    config = {**Llama4.config, "num_experts_per_tok": 2}
    add_gated = MixtureOfExperts.add_gated

    def expert_output(self, p, expert, x):
        return MixtureOfExperts.expert_output(self, p, expert, self.weighted(p, expert, x))


class Gemma4(Llama):
    """Logits are not divided. Layers without a window have wider heads, of which the first pairs turn; their values are
    the keys before the norm. Values have a norm without gain, layers a factor of what leaves them."""

    widths = {True: 4, False: 8}  # by has_window()
    config = {
        "num_attention_heads": HEADS,
        "rms_norm_eps": 1e-3,
        "model_type": "gemma4_text",
        "hidden_activation": "gelu_pytorch_tanh",
        "head_dim": 4,
        "global_head_dim": 8,
        "num_key_value_heads": 2,
        "num_global_key_value_heads": 1,
        "attention_k_eq_v": True,
        "final_logit_softcapping": 3.0,
        "sliding_window": 3,
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {
            "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.5, "rope_theta": 100.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10.0},
        },
        "use_bidirectional_attention": "vision",
        "tie_word_embeddings": True,
    }
    norms = Gemma2.norms
    activation = staticmethod(gelu_tanh)

    def has_window(self, layer):
        return self.config["layer_types"][layer] == "sliding_attention"

    def key_heads(self, layer):
        return self.config["num_key_value_heads" if self.has_window(layer) else "num_global_key_value_heads"]

    def key_layer(self, layer):
        return layer

    def add_attention(self, p, groups):
        layer = layer_of(p)
        width, groups = self.widths[self.has_window(layer)], self.key_heads(layer)
        self.add_linear(p + "q_proj", HEADS * width, WIDTH)
        self.add_norm(p + "q_norm", width)
        self.add_linear(p + "o_proj", WIDTH, HEADS * width)
        if self.key_layer(layer) != layer:
            return
        self.add_linear(p + "k_proj", groups * width, WIDTH)
        self.add_norm(p + "k_norm", width)
        if self.has_window(layer) or not self.config["attention_k_eq_v"]:
            self.add_linear(p + "v_proj", groups * width, WIDTH)

    def add_mlp(self, p):
        super().add_mlp(p)
        self.tensor(p.removesuffix("mlp.") + "layer_scalar", [1], 0.3, 1.0)

    def embedded(self, ids):
        return super().embedded(ids) * math.sqrt(WIDTH)

    def root_mean_square(self, x):
        return np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.config["rms_norm_eps"])

    def turned(self, p, x):
        kind = self.config["rope_parameters"][self.config["layer_types"][layer_of(p)]]
        half = x.shape[-1] // 2
        frequencies = kind["rope_theta"] ** (-np.arange(half) / half)
        frequencies[int(kind.get("partial_rotary_factor", 1) * half) :] = 0
        z = (x[..., :half] + 1j * x[..., half:]) * turns(frequencies, len(x))
        return np.concatenate([z.real, z.imag], axis=-1)

    def keys_and_values(self, p, x):
        width = self.widths[self.has_window(layer_of(p))]
        k = self.linear(p + "k_proj", x).reshape(len(x), -1, width)
        has_values = p + "v_proj.weight" in self.w
        v = self.linear(p + "v_proj", x).reshape(len(x), -1, width) if has_values else k
        return self.turned(p, self.rms_norm(p + "k_norm", k)), v / self.root_mean_square(v)

    def read(self, p, x):
        layer = layer_of(p)
        q = self.linear(p + "q_proj", x).reshape(len(x), HEADS, -1)
        q = self.turned(p, self.rms_norm(p + "q_norm", q))
        if self.key_layer(layer) == layer:
            self.shared[layer] = self.keys_and_values(p, x)
        return attend(q, *self.shared[self.key_layer(layer)], 1.0, reach=self.reach(layer))

    def attention(self, p, x):
        return self.linear(p + "o_proj", self.read(p, x))

    def feed_forward(self, p, x):
        return self.mlp(p + "mlp.", self.rms_norm(p + "pre_feedforward_layernorm", x))

    def block(self, p, x):
        y = self.attention(p + "self_attn.", self.rms_norm(p + "input_layernorm", x))
        x = x + self.rms_norm(p + "post_attention_layernorm", y)
        x = x + self.rms_norm(p + "post_feedforward_layernorm", self.feed_forward(p, x))
        return self.with_input(p, x) * self.w[p + "layer_scalar"]

    def with_input(self, p, x):
        return x

    def result(self):
        self.shared = {}
        return super().result()

    def logits(self, x):
        cap = self.config["final_logit_softcapping"]
        return cap * np.tanh(super().logits(x) / cap)


class Gemma4Moe(Gemma4):
    """Experts beside the MLP, with norms of their own; the router reads the tokens through a norm of its own."""

    experts, hidden = 4, 6
    config = {**Gemma4.config, "enable_moe_block": True, "num_experts": 4, "top_k_experts": 2}

    def add_mlp(self, p):
        super().add_mlp(p)
        p = p.removesuffix("mlp.")
        for name in ("pre_feedforward_layernorm_2", "post_feedforward_layernorm_1", "post_feedforward_layernorm_2"):
            self.add_norm(p + name)
        self.add_linear(p + "router.proj", self.experts, WIDTH)
        self.tensor(p + "router.scale", [WIDTH], 1.5, 3.0)
        self.tensor(p + "router.per_expert_scale", [self.experts], 0.4, 1.0)
        self.tensor(p + "experts.gate_up_proj", [self.experts, 2 * self.hidden, WIDTH], 0.6)
        self.tensor(p + "experts.down_proj", [self.experts, WIDTH, self.hidden], 0.6)

    def mixture(self, p, x, states):
        """For one token and the states that the experts read."""
        routed = x / self.root_mean_square(x) * self.w[p + "router.scale"] / math.sqrt(WIDTH)
        weights = softmax(self.linear(p + "router.proj", routed))
        chosen = np.argsort(-weights)[: self.config["top_k_experts"]]
        sum_ = np.zeros(WIDTH)
        for expert in chosen:
            gate, up = np.split(self.w[p + "experts.gate_up_proj"][expert] @ states, 2)
            output = self.w[p + "experts.down_proj"][expert] @ (gelu_tanh(gate) * up)
            weight = weights[expert] / weights[chosen].sum() * self.w[p + "router.per_expert_scale"][expert]
            sum_ += weight * output
        return sum_

    def feed_forward(self, p, x):
        dense = self.rms_norm(p + "post_feedforward_layernorm_1", super().feed_forward(p, x))
        states = self.rms_norm(p + "pre_feedforward_layernorm_2", x)
        sparse = np.array([self.mixture(p, *token) for token in zip(x, states)])
        return dense + self.rms_norm(p + "post_feedforward_layernorm_2", sparse)


class SmallGemma4(Gemma4):
    """Per-layer embeddings; the last layers use the keys and values of earlier ones, and have wider MLPs."""

    depth, inputs = 5, 3
    config = {
        **Gemma4.config,
        "num_hidden_layers": 5,
        "layer_types": ["sliding_attention", "full_attention"] * 2 + ["full_attention"],
        "num_global_key_value_heads": None,
        "attention_k_eq_v": False,
        "num_kv_shared_layers": 3,
        "use_double_wide_mlp": True,
        "hidden_size_per_layer_input": 3,
    }

    def key_heads(self, layer):
        return self.config["num_key_value_heads"]

    def key_layer(self, layer):
        return layer if layer < 2 else (0 if self.has_window(layer) else 1)

    def build(self):
        super().build()
        self.tensor("model.embed_tokens_per_layer.weight", [VOCABULARY, self.depth * self.inputs], 1.0)
        self.add_linear("model.per_layer_model_projection", self.depth * self.inputs, WIDTH)
        self.add_norm("model.per_layer_projection_norm", self.inputs)

    def add_mlp(self, p):
        hidden = HIDDEN if self.key_layer(layer_of(p)) == layer_of(p) else 2 * HIDDEN
        for name in ("gate_proj", "up_proj"):
            self.add_linear(p + name, hidden, WIDTH)
        self.add_linear(p + "down_proj", WIDTH, hidden)
        p = p.removesuffix("mlp.")
        self.tensor(p + "layer_scalar", [1], 0.3, 1.0)
        self.add_linear(p + "per_layer_input_gate", self.inputs, WIDTH)
        self.add_linear(p + "per_layer_projection", WIDTH, self.inputs)
        self.add_norm(p + "post_per_layer_input_norm")

    def embedded(self, ids):
        x = super().embedded(ids)
        own = self.w["model.embed_tokens_per_layer.weight"][ids] * math.sqrt(self.inputs)
        projected = self.linear("model.per_layer_model_projection", x) / math.sqrt(WIDTH)
        by_layer = (len(ids), self.depth, self.inputs)
        projected = self.rms_norm("model.per_layer_projection_norm", projected.reshape(by_layer))
        self.layer_inputs = (projected + own.reshape(by_layer)) / math.sqrt(2)
        return x

    def with_input(self, p, x):
        gate = gelu_tanh(self.linear(p + "per_layer_input_gate", x))
        y = self.linear(p + "per_layer_projection", gate * self.layer_inputs[:, layer_of(p)])
        return x + self.rms_norm(p + "post_per_layer_input_norm", y)


class Granite(Llama):
    """Factors of the embeddings, the logits of attention and the branches; the output is divided."""

    config = {
        **ROTARY,
        "model_type": "granite",
        "hidden_act": "silu",
        "attention_multiplier": 0.3,
        "embedding_multiplier": 3.0,
        "residual_multiplier": 0.4,
        "logits_scaling": 5.0,
        "tie_word_embeddings": True,
    }

    def has_window(self, layer):
        return False

    def embedded(self, ids):
        return super().embedded(ids) * self.config["embedding_multiplier"]

    def block(self, p, x):
        factor = self.config["residual_multiplier"]
        y = self.rms_norm(p + "input_layernorm", x)
        x = x + factor * self.attention(p + "self_attn.", y, self.config["attention_multiplier"])
        return x + factor * self.mlp(p + "mlp.", self.rms_norm(p + "post_attention_layernorm", x))

    def logits(self, x):
        return super().logits(x) / self.config["logits_scaling"]


class GraniteSwa(Granite):
    """Sinks, windows but in each fourth layer from the first, and a rotary base of each layer, 0 for no positions."""

    config = {**Granite.config, "model_type": "granite_swa", "sliding_window": 3, "layer_rope_theta": [0, 30.0]}

    def has_window(self, layer):
        return layer % 4 != 0

    def add_projections(self, p, groups):
        super().add_projections(p, groups)
        self.tensor(p + "sinks", [self.heads], 2.0)

    def turned(self, p, x):
        theta = self.config["layer_rope_theta"][layer_of(p)]
        return rotated(x, theta, self.width) if theta else x


class HyperClovaX(Granite):
    """Norms of the branches' outputs; the output is multiplied, and the logits of attention have their usual scale."""

    config = {key: value for key, value in Granite.config.items() if key != "attention_multiplier"}
    config |= {"model_type": "hyperclovax", "use_post_norm": True}
    norms = [*Granite.norms, "post_norm1", "post_norm2"]

    def block(self, p, x):
        factor = self.config["residual_multiplier"]
        y = self.attention(p + "self_attn.", self.rms_norm(p + "input_layernorm", x))
        x = x + factor * self.rms_norm(p + "post_norm1", y)
        y = self.mlp(p + "mlp.", self.rms_norm(p + "post_attention_layernorm", x))
        return x + factor * self.rms_norm(p + "post_norm2", y)

    def logits(self, x):
        return Llama.logits(self, x) * self.config["logits_scaling"]


class PlainHyperClovaX(Granite):
    """Without these norms."""

    config = {**Granite.config, "model_type": "hyperclovax", "use_post_norm": False}
    logits = HyperClovaX.logits


class GraniteMoe(Granite, MixtureOfExperts):
    """Experts lie in one tensor, outputs first, gates before ups."""

    config = {**Granite.config, "model_type": "granitemoe", "num_experts_per_tok": 2}

    def add_halves(self, p, names, hidden):
        self.add_linear(p + names[0], 2 * hidden, WIDTH)
        self.add_linear(p + names[1], WIDTH, hidden)

    def add_mlp(self, p):
        p = p.removesuffix("mlp.") + "block_sparse_moe."
        self.tensor(p + "router.layer.weight", [self.experts, WIDTH], 0.4)
        self.tensor(p + "input_linear.weight", [self.experts, 2 * self.hidden, WIDTH], 0.6)
        self.tensor(p + "output_linear.weight", [self.experts, WIDTH, self.hidden], 0.6)

    def route(self, p, x):
        scores = self.w[p + "block_sparse_moe.router.layer.weight"] @ x
        chosen = self.best(scores)
        return dict(zip(chosen, softmax(scores[chosen])))

    def halves(self, into, out, x):
        gate, up = np.split(into @ x, 2)
        return out @ (silu(gate) * up)

    def expert_output(self, p, expert, x):
        into, out = (self.w[f"{p}block_sparse_moe.{name}_linear.weight"][expert] for name in ("input", "output"))
        return self.halves(into, out, x)


class GraniteShared(GraniteMoe):
    """An expert that runs on every token."""

    config = {**GraniteMoe.config, "model_type": "granitemoeshared"}
    shared = "shared_mlp."

    def add_mlp(self, p):
        super().add_mlp(p)
        self.add_halves(p.removesuffix("mlp.") + self.shared, ("input_linear", "output_linear"), HIDDEN)

    def gated(self, p, maps, x):
        return self.halves(self.w[p + "input_linear.weight"], self.w[p + "output_linear.weight"], x)


class Granite4(GraniteShared):
    """Without positions."""

    config = {**GraniteMoe.config, "model_type": "granitemoehybrid", "position_embedding_type": "nope"}
    config |= {"layer_types": ["attention", "attention"]}

    def turned(self, p, x):
        return x


class DenseGranite4(Granite4):
    """With positions, and the shared expert alone."""

    config = {**Granite4.config, "position_embedding_type": "rope", "num_local_experts": 0}

    def add_mlp(self, p):
        self.add_halves(p.removesuffix("mlp.") + self.shared, ("input_linear", "output_linear"), HIDDEN)

    def turned(self, p, x):
        return Llama.turned(self, p, x)

    def mlp(self, p, x):
        return np.array([self.gated(p.removesuffix("mlp.") + self.shared, (), token) for token in x])


HYBRID_KEYS = {
    "heads": "mamba_n_heads",
    "width": "mamba_d_head",
    "states": "mamba_d_state",
    "groups": "mamba_n_groups",
}


class StateSpace(Llama):
    """Mamba-2: heads share their inputs and outputs by group."""

    space_keys = {}  # of config.json: counts of heads, their width, states, and groups
    limits = (0, np.inf)  # of the steps

    def counts(self):
        return (self.config[self.space_keys[name]] for name in ("heads", "width", "states", "groups"))

    def add_state_space(self, p):
        heads, width, states, groups = self.counts()
        inner, shared = heads * width, groups * states
        self.add_linear(p + "in_proj", 2 * inner + 2 * shared + heads, WIDTH)
        self.tensor(p + "conv1d.weight", [inner + 2 * shared, 1, 4], 0.6)
        self.tensor(p + "conv1d.bias", [inner + 2 * shared], 0.4)
        for name in ("A_log", "dt_bias", "D"):
            self.tensor(p + name, [heads], 0.5)
        self.add_space_norm(p, inner)
        self.add_linear(p + "out_proj", WIDTH, inner)

    def add_space_norm(self, p, inner):
        self.add_norm(p + "norm", inner)

    def space_norm(self, name, x, groups):
        return self.rms_norm(name, x)

    def state_factors(self):
        """Of the projected states."""
        return 1

    def state_space(self, p, x):
        heads, width, states, groups = self.counts()
        inner, shared, length = heads * width, groups * states, len(x)
        projected = self.linear(p + "in_proj", x) * self.state_factors()
        z, mixed, steps = np.split(projected, [inner, 2 * inner + 2 * shared], axis=1)
        mixed = silu(causal_convolution(mixed, self.w[p + "conv1d.weight"][:, 0]) + self.w[p + "conv1d.bias"])
        values, inputs, outputs = np.split(mixed, [inner, inner + shared], axis=1)
        values = values.reshape(length, heads, width)
        inputs, outputs = (
            np.repeat(y.reshape(length, groups, -1), heads // groups, axis=1) for y in (inputs, outputs)
        )
        steps = np.clip(np.log1p(np.exp(steps + self.w[p + "dt_bias"])), *self.limits)
        decay = np.exp(-np.exp(self.w[p + "A_log"]) * steps)
        read = np.zeros_like(values)
        for head in range(heads):
            state = np.zeros((states, width))
            for t in range(length):
                state = decay[t, head] * state + steps[t, head] * np.outer(inputs[t, head], values[t, head])
                read[t, head] = outputs[t, head] @ state + self.w[p + "D"][head] * values[t, head]
        return self.linear(p + "out_proj", self.gated_states(p, read.reshape(length, inner), silu(z), groups))

    def gated_states(self, p, read, gate, groups):
        return self.space_norm(p + "norm", read * gate, groups)


def normed_by_group(x, groups, epsilon):
    """Of what the heads of each group read."""
    parts = x.reshape(len(x), groups, -1)
    return (parts / np.sqrt(np.mean(parts * parts, axis=-1, keepdims=True) + epsilon)).reshape(x.shape)


class FalconH1(StateSpace):
    """Heads beside a state space, which both read the same states, and factors everywhere."""

    config = {
        **ROTARY,
        "model_type": "falcon_h1",
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "attention_in_multiplier": 0.8,
        "attention_out_multiplier": 0.9,
        "key_multiplier": 0.7,
        "embedding_multiplier": 1.5,
        "lm_head_multiplier": 0.6,
        "mlp_multipliers": [1.3, 0.5],
        "ssm_in_multiplier": 1.25,
        "ssm_multipliers": [0.9, 1.2, 0.8, 1.5, 0.7],
        "ssm_out_multiplier": 0.4,
        "mamba_n_heads": 4,
        "mamba_d_head": 3,
        "mamba_d_state": 5,
        "mamba_n_groups": 2,
        "mamba_rms_norm": False,
        "time_step_limit": (0.5, 0.8),
        "tie_word_embeddings": True,
    }
    space_keys, limits = HYBRID_KEYS, config["time_step_limit"]
    norms, final_norm = ["input_layernorm", "pre_ff_layernorm"], "final_layernorm"

    def add_attention(self, p, groups):
        super().add_attention(p, groups)
        self.add_state_space(p.removesuffix("self_attn.") + "mamba.")

    def add_space_norm(self, p, inner):
        if self.config["mamba_rms_norm"]:
            super().add_space_norm(p, inner)

    def add_mlp(self, p):
        super().add_mlp(p.removesuffix("mlp.") + "feed_forward.")

    def state_factors(self):
        heads, width, states, groups = self.counts()
        sizes = [heads * width, heads * width, groups * states, groups * states, heads]
        return self.config["ssm_in_multiplier"] * np.repeat(self.config["ssm_multipliers"], sizes)

    def gated_states(self, p, read, gate, groups):
        if not self.config["mamba_rms_norm"]:
            return read * gate
        first = self.config["mamba_norm_before_gate"]
        normed = normed_by_group(read if first else read * gate, groups, self.config["rms_norm_eps"])
        return normed * self.w[p + "norm.weight"] * (gate if first else 1)

    def has_window(self, layer):
        return False

    def embedded(self, ids):
        return super().embedded(ids) * self.config["embedding_multiplier"]

    def block(self, p, x):
        its = self.config
        y = self.rms_norm(p + "input_layernorm", x)
        scale = self.width**-0.5 * its["key_multiplier"]
        heads = self.attention(p + "self_attn.", its["attention_in_multiplier"] * y, scale)
        x = x + its["attention_out_multiplier"] * heads + its["ssm_out_multiplier"] * self.state_space(p + "mamba.", y)
        return x + self.mlp(p + "feed_forward.", self.rms_norm(p + "pre_ff_layernorm", x))

    def mlp(self, p, x):
        gate, output = self.config["mlp_multipliers"]
        active = silu(gate * self.linear(p + "gate_proj", x)) * self.linear(p + "up_proj", x)
        return output * self.linear(p + "down_proj", active)

    def logits(self, x):
        return super().logits(x) * self.config["lm_head_multiplier"]


class NormedFalconH1(FalconH1):
    """A norm of what the state space reads, after its gate."""

    config = {**FalconH1.config, "mamba_rms_norm": True, "mamba_norm_before_gate": False}


class NormFirstFalconH1(FalconH1):
    config = {**FalconH1.config, "mamba_rms_norm": True, "mamba_norm_before_gate": True}


class Jamba(MixtureOfExperts):
    """A selective scan in the place of the heads of two layers of three, experts in the last two, no positions."""

    config = {
        **{key: value for key, value in ROTARY.items() if key != "rope_theta"},
        "model_type": "jamba",
        "hidden_act": "silu",
        "num_experts_per_tok": 2,
        "mamba_d_state": 5,
        "mamba_dt_rank": 3,
        "tie_word_embeddings": False,
    }
    norms, final_norm, depth = ["input_layernorm", "pre_ff_layernorm"], "final_layernorm", 3
    router, expert = "feed_forward.router", "feed_forward.experts.{}."
    channels = 12

    def has_heads(self, p):
        return layer_of(p) == 1

    def is_mixture(self, p):
        return layer_of(p) > 0

    def has_window(self, layer):
        return False

    def turned(self, p, x):
        return x

    def add_attention(self, p, groups):
        if self.has_heads(p):
            return super().add_attention(p, groups)
        p = p.removesuffix("self_attn.") + "mamba."
        states, rank = self.config["mamba_d_state"], self.config["mamba_dt_rank"]
        self.add_linear(p + "in_proj", 2 * self.channels, WIDTH)
        self.tensor(p + "conv1d.weight", [self.channels, 1, 4], 0.6)
        self.tensor(p + "conv1d.bias", [self.channels], 0.4)
        self.add_linear(p + "x_proj", rank + 2 * states, self.channels)
        self.add_linear(p + "dt_proj", self.channels, rank, bias=True)
        for name, size in (("dt", rank), ("b", states), ("c", states)):
            self.add_norm(f"{p}{name}_layernorm", size)
        self.tensor(p + "A_log", [self.channels, states], 0.5)
        self.tensor(p + "D", [self.channels], 0.5)
        self.add_linear(p + "out_proj", WIDTH, self.channels)

    def attention(self, p, x, scale=None, cap=None):
        if self.has_heads(p):
            return super().attention(p, x, scale, cap)
        p = p.removesuffix("self_attn.") + "mamba."
        states, rank = self.config["mamba_d_state"], self.config["mamba_dt_rank"]
        own, gate = np.split(self.linear(p + "in_proj", x), 2, axis=1)
        own = silu(causal_convolution(own, self.w[p + "conv1d.weight"][:, 0]) + self.w[p + "conv1d.bias"])
        parts = np.split(self.linear(p + "x_proj", own), [rank, rank + states], axis=1)
        steps, inputs, outputs = (
            self.rms_norm(f"{p}{name}_layernorm", part) for name, part in zip(("dt", "b", "c"), parts)
        )
        steps = np.log1p(np.exp(self.linear(p + "dt_proj", steps)))
        rates = np.exp(self.w[p + "A_log"])
        state, read = np.zeros_like(rates), np.zeros_like(own)
        for t in range(len(x)):
            state = np.exp(-rates * steps[t, :, None]) * state + np.outer(steps[t] * own[t], inputs[t])
            read[t] = state @ outputs[t] + self.w[p + "D"] * own[t]
        return self.linear(p + "out_proj", read * silu(gate))

    def add_mlp(self, p):
        if self.is_mixture(p):
            return super().add_mlp(p)
        Llama.add_mlp(self, p.removesuffix("mlp.") + "feed_forward.")

    def mlp(self, p, x):
        return super().mlp(p, x) if self.is_mixture(p) else Llama.mlp(self, p.removesuffix("mlp.") + "feed_forward.", x)

    def block(self, p, x):
        x = x + self.attention(p + "self_attn.", self.rms_norm(p + "input_layernorm", x))
        return x + self.mlp(p + "mlp.", self.rms_norm(p + "pre_ff_layernorm", x))


class HybridGranite4(StateSpace, Granite4):
    """A state space in the place of the heads of some layers."""

    config = {**Granite4.config, "layer_types": ["mamba", "attention"], "mamba_n_heads": 4, "mamba_d_head": 3}
    config |= {"mamba_d_state": 5, "mamba_n_groups": 2, "mamba_conv_bias": True, "mamba_proj_bias": False}
    space_keys = HYBRID_KEYS

    def add_attention(self, p, groups):
        if self.config["layer_types"][layer_of(p)] == "attention":
            return super().add_attention(p, groups)
        self.add_state_space(p.removesuffix("self_attn.") + "mamba.")

    def attention(self, p, x, scale=None, cap=None):
        if self.config["layer_types"][layer_of(p)] == "attention":
            return super().attention(p, x, scale, cap)
        return self.state_space(p.removesuffix("self_attn.") + "mamba.", x)


class NemotronHybrid(StateSpace, SigmoidRouter):
    """Layers of a state space (M), heads (*), an MLP (-) or experts (E), each by itself behind one norm; without
    positions, and without gates in MLP and experts."""

    config = {
        "model_type": "nemotron_h",
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "layer_norm_epsilon": 1e-3,
        "hybrid_override_pattern": "M*-M",
        "mlp_hidden_act": "relu2",
        "mamba_hidden_act": "silu",
        "mamba_num_heads": 4,
        "mamba_head_dim": 3,
        "ssm_state_size": 5,
        "n_groups": 2,
        "use_conv_bias": True,
        "tie_word_embeddings": False,
    }
    space_keys = {
        "heads": "mamba_num_heads",
        "width": "mamba_head_dim",
        "states": "ssm_state_size",
        "groups": "n_groups",
    }
    prefix, depth = "backbone.", 4
    router, expert, shared = "mixer.gate", "mixer.experts.{}.", "mixer.shared_experts."
    correction, maps = "mixer.gate.e_score_correction_bias", ("up_proj", "down_proj")

    def build(self):
        self.tensor("backbone.embeddings.weight", [VOCABULARY, WIDTH], 1.0)
        for layer, kind in enumerate(self.config["hybrid_override_pattern"]):
            p = self.layer_prefix(layer)
            self.add_norm(p + "norm")
            if kind == "M":
                self.add_state_space(p + "mixer.")
            elif kind == "*":
                self.add_attention(p + "mixer.", self.config["num_key_value_heads"])
            elif kind == "-":
                self.add_gated(p + "mixer.", self.maps, HIDDEN)
            else:
                self.add_mlp(p)
        self.add_norm("backbone.norm_f")
        self.tensor("lm_head.weight", [VOCABULARY, WIDTH], 1.0)

    def add_gated(self, p, maps, hidden, width=WIDTH):
        self.add_linear(p + maps[0], hidden, width)
        self.add_linear(p + maps[1], width, hidden)

    def gated(self, p, maps, x):
        up, down = (self.w[p + name + ".weight"] for name in maps)
        return down @ np.maximum(up @ x, 0) ** 2

    def rms_norm(self, name, x):
        root = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.config["layer_norm_epsilon"])
        return x / root * self.w[name + ".weight"]

    def space_norm(self, name, x, groups):
        return normed_by_group(x, groups, self.config["layer_norm_epsilon"]) * self.w[name + ".weight"]

    def turned(self, p, x):
        return x

    def embedded(self, ids):
        return self.w["backbone.embeddings.weight"][ids]

    def block(self, p, x):
        y = self.rms_norm(p + "norm", x)
        kind = self.config["hybrid_override_pattern"][layer_of(p)]
        if kind == "M":
            return x + self.state_space(p + "mixer.", y)
        if kind == "*":
            return x + self.attention(p + "mixer.", y)
        if kind == "-":
            return x + np.array([self.gated(p + "mixer.", self.maps, token) for token in y])
        return x + self.mlp(p, y)

    def logits(self, x):
        return self.rms_norm("backbone.norm_f", x) @ self.w["lm_head.weight"].T


class Nemotron3(NemotronHybrid):
    """Experts in groups, and one that runs on every token."""

    config = {
        **NemotronHybrid.config,
        "hybrid_override_pattern": "E*ME",
        "layers_block_type": ["moe", "attention", "mamba", "moe"],
        "num_experts_per_tok": 3,
        "norm_topk_prob": True,
        "routed_scaling_factor": 2.5,
        "n_group": 4,
        "topk_group": 2,
    }
    experts = 8


class Nemotron3Super(Nemotron3):
    """What the experts that are chosen read and give is narrower than the tokens."""

    latent = 5

    def add_mlp(self, p):
        self.add_linear(p + "mixer.fc1_latent_proj", self.latent, WIDTH)
        self.add_linear(p + "mixer.fc2_latent_proj", WIDTH, self.latent)
        super().add_mlp(p)

    def add_gated(self, p, maps, hidden, width=WIDTH):
        super().add_gated(p, maps, hidden, self.latent if ".experts." in p else width)

    def expert_output(self, p, expert, x):
        read = super().expert_output(p, expert, self.w[p + "mixer.fc1_latent_proj.weight"] @ x)
        return self.w[p + "mixer.fc2_latent_proj.weight"] @ read


LATENT = {
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-3,
    "rope_theta": 50.0,
    "q_lora_rank": 6,
    "kv_lora_rank": 5,
    "qk_nope_head_dim": 3,
    "qk_rope_head_dim": 4,
    "v_head_dim": 2,
    "tie_word_embeddings": False,
}


class LatentAttention(Llama):
    """Queries, and keys with values, are made of normalized compressions; a part of the keys, which turns, is shared by
    the heads. The norms have an epsilon of their own."""

    value_width = LATENT["v_head_dim"]

    def has_window(self, layer):
        return False

    def add_projections(self, p, groups):
        c = self.config
        query = HEADS * (c["qk_nope_head_dim"] + c["qk_rope_head_dim"])
        if c["q_lora_rank"] is None:
            self.add_linear(p + "q_proj", query, WIDTH)
        else:
            self.add_linear(p + "q_a_proj", c["q_lora_rank"], WIDTH)
            self.add_norm(p + "q_a_layernorm", c["q_lora_rank"])
            self.add_linear(p + "q_b_proj", query, c["q_lora_rank"])
        self.add_linear(p + "kv_a_proj_with_mqa", c["kv_lora_rank"] + c["qk_rope_head_dim"], WIDTH)
        self.add_norm(p + "kv_a_layernorm", c["kv_lora_rank"])
        self.add_linear(p + "kv_b_proj", HEADS * (c["qk_nope_head_dim"] + c["v_head_dim"]), c["kv_lora_rank"])

    def latent_norm(self, name, x):
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6) * self.w[name + ".weight"]

    def turned(self, p, x):
        return rotated_neighbours(x, self.config["rope_theta"])

    def scale(self):
        return (self.config["qk_nope_head_dim"] + self.config["qk_rope_head_dim"]) ** -0.5

    def read(self, p, x, scale=None, cap=None):
        c = self.config
        if c["q_lora_rank"] is None:
            q = self.linear(p + "q_proj", x)
        else:
            q = self.linear(p + "q_b_proj", self.latent_norm(p + "q_a_layernorm", self.linear(p + "q_a_proj", x)))
        q_nope, q_rope = np.split(q.reshape(len(x), HEADS, -1), [c["qk_nope_head_dim"]], axis=-1)
        latent, k_rope = np.split(self.linear(p + "kv_a_proj_with_mqa", x), [c["kv_lora_rank"]], axis=-1)
        kv = self.linear(p + "kv_b_proj", self.latent_norm(p + "kv_a_layernorm", latent))
        k_nope, v = np.split(kv.reshape(len(x), HEADS, -1), [c["qk_nope_head_dim"]], axis=-1)
        k_rope = np.repeat(self.turned(p, k_rope[:, None]), HEADS, axis=1)
        q = np.concatenate([q_nope, self.turned(p, q_rope)], axis=-1)
        return attend(q, np.concatenate([k_nope, k_rope], axis=-1), v, self.scale())


class DeepseekV3(LatentAttention, SigmoidRouter):
    """The first layer has an MLP; yarn, which scales the logits too."""

    config = {
        **LATENT,
        "model_type": "deepseek_v3",
        "rope_interleave": True,
        "rope_scaling": {
            "type": "yarn",
            "factor": 4.0,
            "beta_fast": 2.0,
            "beta_slow": 0.25,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "original_max_position_embeddings": 16,
        },
        "first_k_dense_replace": 1,
        "num_experts_per_tok": 3,
        "norm_topk_prob": True,
        "routed_scaling_factor": 2.5,
        "scoring_func": "sigmoid",
        "topk_method": "noaux_tc",
        "n_group": 4,
        "topk_group": 2,
    }
    experts, correction, shared = 8, Glm45.correction, Glm45.shared

    def is_mixture(self, p):
        return layer_of(p) >= self.config["first_k_dense_replace"]

    def turned(self, p, x):
        z = (x[..., 0::2] + 1j * x[..., 1::2]) * turns(yarn(self.config, x.shape[-1]), len(x))
        return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)

    def scale(self):
        return super().scale() * (0.1 * math.log(self.config["rope_scaling"]["factor"]) + 1) ** 2


class Youtu(LatentAttention):
    """MLPs, and the embeddings are the output."""

    config = {**LATENT, "model_type": "youtu", "rope_interleave": True, "tie_word_embeddings": True}


class Glm47Flash(DeepseekV3):
    """No scaling of the angles, whose pairs are halves where config.json says so."""

    config = {key: value for key, value in DeepseekV3.config.items() if key not in ("rope_scaling", "scoring_func")}
    config |= {"model_type": "glm4_moe_lite", "rope_interleave": False}

    def turned(self, p, x):
        return rotated(x, self.config["rope_theta"], x.shape[-1])

    def scale(self):
        return LatentAttention.scale(self)


class DeepseekV2(LatentAttention, MixtureOfExperts):
    """Queries read the tokens. The router has a softmax and no correction: groups are chosen by their largest weight, and
    weights do not add up to 1."""

    config = {
        **LATENT,
        "model_type": "deepseek_v2",
        "q_lora_rank": None,
        "num_experts_per_tok": 3,
        "norm_topk_prob": False,
        "routed_scaling_factor": 2.0,
        "scoring_func": "softmax",
        "topk_method": "group_limited_greedy",
        "n_group": 4,
        "topk_group": 2,
    }
    experts, shared = 8, Glm45.shared

    def route(self, p, x):
        weights = softmax(self.w[p + self.router + ".weight"] @ x)
        groups = weights.reshape(self.config["n_group"], -1).max(axis=1)
        best = np.argsort(-groups)[: self.config["topk_group"]]
        allowed = np.isin(np.arange(len(weights)) // (len(weights) // len(groups)), best)
        chosen = self.best(np.where(allowed, weights, 0))
        return {expert: self.config["routed_scaling_factor"] * weights[expert] for expert in chosen}


class DeepseekV2Lite(DeepseekV2):
    """Without groups, whatever their number."""

    config = {**DeepseekV2.config, "topk_method": "greedy"}

    def route(self, p, x):
        weights = softmax(self.w[p + self.router + ".weight"] @ x)
        return {expert: self.config["routed_scaling_factor"] * weights[expert] for expert in self.best(weights)}


class MiniCpm3(LatentAttention):
    """Factors of the embeddings, of the branches by the depth, and of the output by the width; halves turn."""

    config = {**LATENT, "model_type": "minicpm3", "num_hidden_layers": LAYERS}
    config |= {"scale_emb": 3, "scale_depth": 1.4, "dim_model_base": 4}

    def embedded(self, ids):
        return super().embedded(ids) * self.config["scale_emb"]

    def turned(self, p, x):
        return rotated(x, self.config["rope_theta"], x.shape[-1])

    def block(self, p, x):
        factor = self.config["scale_depth"] / math.sqrt(LAYERS)
        x = x + factor * self.attention(p + "self_attn.", self.rms_norm(p + "input_layernorm", x))
        return x + factor * self.mlp(p + "mlp.", self.rms_norm(p + "post_attention_layernorm", x))

    def logits(self, x):
        return super().logits(x) / (WIDTH / self.config["dim_model_base"])


class Phi(Model):
    """Attention and MLP read the same norm; rotary positions on a half of each head; biases everywhere."""

    config = {
        "model_type": "phi",
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "hidden_act": "gelu_new",
        "layer_norm_eps": 1e-3,
        "partial_rotary_factor": 0.5,
        "rope_theta": 50.0,
        "tie_word_embeddings": False,
    }
    layers = "layers."

    def build(self):
        self.tensor("model.embed_tokens.weight", [VOCABULARY, WIDTH], 1.0)
        for layer in range(LAYERS):
            p = f"model.layers.{layer}."
            self.add_norm(p + "input_layernorm", bias=True)
            for name, heads in (("q", HEADS), ("k", 2), ("v", 2)):
                self.add_linear(p + f"self_attn.{name}_proj", heads * HEAD_WIDTH, WIDTH, True)
            self.add_linear(p + "self_attn.dense", WIDTH, WIDTH, True)
            self.add_linear(p + "mlp.fc1", HIDDEN, WIDTH, True)
            self.add_linear(p + "mlp.fc2", WIDTH, HIDDEN, True)
        self.add_norm("model.final_layernorm", bias=True)
        self.add_linear("lm_head", VOCABULARY, WIDTH, True)

    def embedded(self, ids):
        return self.w["model.embed_tokens.weight"][ids]

    def block(self, p, x):
        y = self.norm(p + "input_layernorm", x)
        q, k, v = self.heads_of([f"{p}self_attn.{name}_proj" for name in "qkv"], y)
        turned = int(HEAD_WIDTH * self.config["partial_rotary_factor"])
        q, k = (rotated(part, self.config["rope_theta"], turned) for part in (q, k))
        read = self.linear(p + "self_attn.dense", attend(q, k, v, HEAD_WIDTH**-0.5))
        return x + read + self.linear(p + "mlp.fc2", gelu_tanh(self.linear(p + "mlp.fc1", y)))

    def logits(self, x):
        return self.linear("lm_head", self.norm("model.final_layernorm", x))


class Phi3(Llama):
    """Fused projections, and gate and up in one."""

    config = {**ROTARY, "model_type": "phi3", "hidden_act": "silu", "sliding_window": 3}

    def add_projections(self, p, groups):
        self.add_linear(p + "qkv_proj", (HEADS + 2 * groups) * self.width, WIDTH)

    def add_mlp(self, p):
        self.add_linear(p + "gate_up_proj", 2 * HIDDEN, WIDTH)
        self.add_linear(p + "down_proj", WIDTH, HIDDEN)

    def projections(self, p, x):
        queries, keys = HEADS * self.width, self.config["num_key_value_heads"] * self.width
        return np.split(self.linear(p + "qkv_proj", x), [queries, queries + keys], axis=1)

    def mlp(self, p, x):
        gate, up = np.split(self.linear(p + "gate_up_proj", x), 2, axis=1)
        return self.linear(p + "down_proj", silu(gate) * up)


class Glm(Phi3):
    """Separate projections; a half of a head's coordinates turns, in neighbours."""

    config = {**ROTARY, "model_type": "glm", "hidden_act": "silu", "partial_rotary_factor": 0.5}
    query_bias = True
    add_projections, projections = Llama.add_projections, Llama.projections

    def turned(self, p, x):
        return np.concatenate([rotated_neighbours(x[..., :2], self.config["rope_theta"]), x[..., 2:]], axis=-1)


class Glm4(Glm):
    """Norms of the outputs of attention and MLP."""

    config = {**Glm.config, "model_type": "glm4"}
    norms = ["input_layernorm", "post_self_attn_layernorm", "post_attention_layernorm", "post_mlp_layernorm"]

    def block(self, p, x):
        read = self.attention(p + "self_attn.", self.rms_norm(p + "input_layernorm", x))
        x = x + self.rms_norm(p + "post_self_attn_layernorm", read)
        hidden = self.mlp(p + "mlp.", self.rms_norm(p + "post_attention_layernorm", x))
        return x + self.rms_norm(p + "post_mlp_layernorm", hidden)


class Glm4v(Glm4):
    """The same beside a vision model; the three positions of a token of text are the same."""

    config = {**Glm4.config, "model_type": "glm4v_text", "tie_word_embeddings": False}
    config |= {"rope_scaling": {"rope_type": "default", "mrope_section": [1]}}

    def result(self):
        return beside_vision("glm4v", super().result())


class Ernie45(PlainLlama):
    """Neighbouring coordinates are turned; all linear maps have biases."""

    config = {**ROTARY, "model_type": "ernie4_5", "hidden_act": "silu", "use_bias": True}
    config |= {"tie_word_embeddings": True}

    def add_linear(self, name, outputs, inputs, bias=True):
        super().add_linear(name, outputs, inputs, True)

    def turned(self, p, x):
        return rotated_neighbours(x, self.config["rope_theta"])


class Ernie45Moe(SigmoidRouter):
    """The first layer has an MLP. A router of a softmax, with a correction where experts are chosen and weights that add
    up to 1."""

    config = {**ROTARY, "model_type": "ernie4_5_moe", "hidden_act": "silu", "moe_k": 2, "num_experts_per_tok": 2}
    config |= {"tie_word_embeddings": True, "use_bias": False}
    correction, shared = "mlp.moe_statics.e_score_correction_bias", "mlp.shared_experts."
    turned = Ernie45.turned

    def is_mixture(self, p):
        return layer_of(p) > 0

    def tensor(self, name, shape, scale, mean=0.0):
        super().tensor(name, [1, *shape] if name.endswith(self.correction) else shape, scale, mean)

    def route(self, p, x):
        weights = softmax(self.w[p + self.router + ".weight"] @ x)
        chosen = self.best(weights + self.w[p + self.correction][0])
        return {expert: weights[expert] / weights[chosen].sum() for expert in chosen}


class Hunyuan(PlainLlama):
    """Norms of queries and keys behind the rotation, whose base a factor scales."""

    config = {**PlainLlama.config, "model_type": "hunyuan_v1_dense", "head_dim": 6}
    config |= {"rope_scaling": {"type": "dynamic", "alpha": 5.0, "factor": 1.0}}
    width = 6

    def add_projections(self, p, groups):
        super().add_projections(p, groups)
        self.add_norm(p + "query_layernorm", self.width)
        self.add_norm(p + "key_layernorm", self.width)

    def turned(self, p, x):
        base = self.config["rope_theta"] * self.config["rope_scaling"]["alpha"] ** (self.width / (self.width - 2))
        return rotated(x, base, self.width)

    def read(self, p, x, scale=None, cap=None):
        q, k, v = (y.reshape(len(x), -1, self.width) for y in self.projections(p, x))
        q = self.rms_norm(p + "query_layernorm", self.turned(p, q))
        k = self.rms_norm(p + "key_layernorm", self.turned(p, k))
        return attend(q, k, v, self.width**-0.5)


class StableLm(PlainLlama):
    """LayerNorms; a half of a head's coordinates turns."""

    config = {**ROTARY, "model_type": "stablelm", "hidden_act": "silu", "layer_norm_eps": 1e-3}
    config |= {"partial_rotary_factor": 0.5, "use_parallel_residual": False, "qk_layernorm": False}
    query_bias = True

    def add_norm(self, name, size=WIDTH, bias=True, mean=1.0):
        super().add_norm(name, size, True, mean)

    def rms_norm(self, name, x):
        return self.norm(name, x)

    def turned(self, p, x):
        return rotated(x, self.config["rope_theta"], 2)


def renamed(found, names, keys):
    """The tensors and keys of config.json under other names."""
    for row in found["tensors"]:
        for name, other in names.items():
            row["name"] = row["name"].replace(name, other)
    config = {keys.get(key, key): value for key, value in found["config"].items()}
    return {**found, "config": config}


def split_groups(fused, groups, width):
    """Queries, keys and values of each group one after another: tokens x heads x coordinates each."""
    parts = fused.reshape(len(fused), groups, -1, width)
    return [parts[:, :, :-2].reshape(len(fused), -1, width), parts[:, :, -2], parts[:, :, -1]]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def causal_convolution(x, kernel):
    """x: tokens x channels, kernel: channels x positions, the last of which is the present one."""
    width = kernel.shape[1]
    padded = np.concatenate([np.zeros((width - 1, x.shape[1])), x])
    return sum(padded[i : i + len(x)] * kernel[:, i] for i in range(width))


class Lfm2(Qwen3):
    """Convolutions in the place of the heads of some layers."""

    config = {**ROTARY, "model_type": "lfm2", "tie_word_embeddings": True}
    config |= {"layer_types": ["conv", "full_attention", "conv"], "conv_bias": False, "conv_L_cache": 3}
    width, depth = HEAD_WIDTH, 3

    def is_conv(self, p):
        return self.config["layer_types"][layer_of(p)] == "conv"

    def add_attention(self, p, groups):
        if not self.is_conv(p):
            return super().add_attention(p, groups)
        p = p.removesuffix("self_attn.") + "conv."
        self.add_linear(p + "in_proj", 3 * WIDTH, WIDTH)
        self.tensor(p + "conv.weight", [WIDTH, 1, self.config["conv_L_cache"]], 0.6)
        self.add_linear(p + "out_proj", WIDTH, WIDTH)

    def has_window(self, layer):
        return False

    def attention(self, p, x, scale=None, cap=None):
        p = p.removesuffix("self_attn.")
        if not self.is_conv(p):
            return super().attention(p + "self_attn.", x)
        before, after, value = np.split(self.linear(p + "conv.in_proj", x), 3, axis=1)
        kernel = self.w[p + "conv.conv.weight"][:, 0]
        return self.linear(p + "conv.out_proj", after * causal_convolution(before * value, kernel))

    def result(self):
        names = {"model.norm": "model.embedding_norm", "input_layernorm": "operator_norm"}
        names |= {"post_attention_layernorm": "ffn_norm", "q_norm": "q_layernorm", "k_norm": "k_layernorm"}
        names |= {"self_attn.o_proj": "self_attn.out_proj", "mlp.": "feed_forward."}
        names |= {"gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}
        return renamed(super().result(), names, {"rms_norm_eps": "norm_eps"})


class Lfm2Moe(Lfm2, SigmoidRouter):
    """The first layer has an MLP."""

    config = {**Lfm2.config, "model_type": "lfm2_moe", "num_experts_per_tok": 2, "norm_topk_prob": True}
    config |= {"use_expert_bias": True, "routed_scaling_factor": 1.5, "num_dense_layers": 1}
    correction = "mlp.expert_bias"

    def is_mixture(self, p):
        return layer_of(p) >= self.config["num_dense_layers"]


DELTA = {"linear_num_key_heads": 2, "linear_key_head_dim": 3, "linear_num_value_heads": 4, "linear_value_head_dim": 5}


class Qwen35(Qwen3):
    """Attention whose output is gated; the gated delta rule in the place of the heads of some layers."""

    config = {**Qwen3.config, **DELTA, "model_type": "qwen3_5_text", "head_dim": 8, "attn_output_gate": True}
    config |= {"partial_rotary_factor": 0.5, "tie_word_embeddings": False, "linear_conv_kernel_dim": 4}
    config |= {"layer_types": ["linear_attention", "full_attention"]}
    width, gain = 8, 0.0
    rms_norm = Gemma.rms_norm

    def has_window(self, layer):
        return False

    def add_projections(self, p, groups):
        self.add_linear(p + "q_proj", 2 * self.heads * self.width, WIDTH)
        for name in ("k_proj", "v_proj"):
            self.add_linear(p + name, groups * self.width, WIDTH)
        self.add_norm(p + "q_norm", self.width, mean=self.gain)
        self.add_norm(p + "k_norm", self.width, mean=self.gain)

    def add_attention(self, p, groups):
        c = self.config
        if c["layer_types"][layer_of(p)] == "full_attention":
            return super().add_attention(p, groups)
        keys = c["linear_num_key_heads"] * c["linear_key_head_dim"]
        values = c["linear_num_value_heads"] * c["linear_value_head_dim"]
        p = p.removesuffix("self_attn.") + "linear_attn."
        self.add_inputs(p, keys, values)
        self.tensor(p + "conv1d.weight", [2 * keys + values, 1, c["linear_conv_kernel_dim"]], 0.6)
        self.tensor(p + "A_log", [c["linear_num_value_heads"]], 0.5)
        self.tensor(p + "dt_bias", [c["linear_num_value_heads"]], 0.5)
        self.add_norm(p + "norm", c["linear_value_head_dim"])
        self.add_linear(p + "out_proj", WIDTH, values)

    def add_inputs(self, p, keys, values):
        self.add_linear(p + "in_proj_qkv", 2 * keys + values, WIDTH)
        self.add_linear(p + "in_proj_z", values, WIDTH)
        self.add_linear(p + "in_proj_b", self.config["linear_num_value_heads"], WIDTH)
        self.add_linear(p + "in_proj_a", self.config["linear_num_value_heads"], WIDTH)

    def inputs(self, p, x):
        """Queries, keys and values, then gates, write rates and steps, of all heads."""
        return [self.linear(p + "in_proj_" + name, x) for name in ("qkv", "z", "b", "a")]

    def projections(self, p, x):
        queries = self.linear(p + "q_proj", x).reshape(len(x), self.heads, 2, self.width)[:, :, 0]
        return queries, *(self.linear(p + name, x) for name in ("k_proj", "v_proj"))

    def turned(self, p, x):
        return rotated(x, self.config["rope_theta"], 4)

    def attention(self, p, x, scale=None, cap=None):
        if self.config["layer_types"][layer_of(p)] == "linear_attention":
            return self.delta_rule(p.removesuffix("self_attn.") + "linear_attn.", x)
        gates = self.linear(p + "q_proj", x).reshape(len(x), self.heads, 2, self.width)[:, :, 1]
        return self.linear(p + "o_proj", self.read(p, x) * sigmoid(gates.reshape(len(x), -1)))

    def delta_rule(self, p, x):
        c = self.config
        shape = (len(x), c["linear_num_key_heads"], c["linear_key_head_dim"])
        heads, width = c["linear_num_value_heads"], c["linear_value_head_dim"]
        mixed, z, b, a = self.inputs(p, x)
        mixed = silu(causal_convolution(mixed, self.w[p + "conv1d.weight"][:, 0]))
        q, k, v = np.split(mixed, [shape[1] * shape[2], 2 * shape[1] * shape[2]], axis=1)
        q, k = (
            np.repeat(y / np.sqrt((y * y).sum(axis=-1, keepdims=True) + 1e-6), heads // shape[1], axis=1)
            for y in (q.reshape(shape), k.reshape(shape))
        )
        v = v.reshape(len(x), heads, width)
        beta, g = sigmoid(b), -np.exp(self.w[p + "A_log"]) * np.log1p(np.exp(a + self.w[p + "dt_bias"]))
        read = np.zeros_like(v)
        for head in range(heads):
            state = np.zeros((shape[2], width))
            for t in range(len(x)):
                state = state * np.exp(g[t, head])
                change = (v[t, head] - k[t, head] @ state) * beta[t, head]
                state = state + np.outer(k[t, head], change)
                read[t, head] = q[t, head] @ state / math.sqrt(shape[2])
        root = np.sqrt(np.mean(read * read, axis=-1, keepdims=True) + c["rms_norm_eps"])
        read = self.w[p + "norm.weight"] * read / root * silu(z.reshape(read.shape))
        return self.linear(p + "out_proj", read.reshape(len(x), -1))


class Qwen35Moe(Qwen35, Qwen2Moe):
    """Weights of the experts add up to 1."""

    config = {**Qwen35.config, "model_type": "qwen3_5_moe_text", "num_experts_per_tok": 2, "norm_topk_prob": True}
    query_bias = False

    def result(self):
        return beside_vision("qwen3_5_moe", super().result())


class StackedExperts(MixtureOfExperts):
    """Experts lie in one tensor, outputs first, gates before ups."""

    def add_gated(self, p, maps, hidden):
        if "shared" in p:
            super().add_gated(p, maps, hidden)
        elif p.endswith(".0."):
            p = p.removesuffix("0.")
            self.tensor(p + "gate_up_proj", [self.experts, 2 * hidden, WIDTH], 0.6)
            self.tensor(p + "down_proj", [self.experts, WIDTH, hidden], 0.6)

    def expert_output(self, p, expert, x):
        gate, up = np.split(self.w[p + "mlp.experts.gate_up_proj"][expert] @ x, 2)
        return self.w[p + "mlp.experts.down_proj"][expert] @ (silu(gate) * up)


class StackedQwen35(StackedExperts, Qwen35Moe):
    """The same with experts in one tensor."""


class Mistral4(StackedExperts, DeepseekV3):
    """The router has a softmax, whose chosen weights add up to a factor; experts lie in one tensor."""

    config = {key: value for key, value in Glm47Flash.config.items() if key not in ("first_k_dense_replace", "topk_method")}
    config |= {"rope_scaling": DeepseekV3.config["rope_scaling"], "rope_interleave": True}
    config |= {"model_type": "mistral4", "n_group": 1, "topk_group": 1}
    add_mlp, is_mixture = MixtureOfExperts.add_mlp, MixtureOfExperts.is_mixture

    def route(self, p, x):
        factor = self.config["routed_scaling_factor"]
        return {expert: factor * weight for expert, weight in MixtureOfExperts.route(self, p, x).items()}


class Qwen3Next(Qwen35Moe):
    """Two maps, of which the outputs of one head of keys lie together."""

    config = {**Qwen35Moe.config, "model_type": "qwen3_next"}

    def add_inputs(self, p, keys, values):
        self.add_linear(p + "in_proj_qkvz", 2 * keys + 2 * values, WIDTH)
        self.add_linear(p + "in_proj_ba", 2 * self.config["linear_num_value_heads"], WIDTH)

    def inputs(self, p, x):
        c = self.config
        heads, width = c["linear_num_key_heads"], c["linear_key_head_dim"]
        of_head = c["linear_num_value_heads"] // heads
        values = of_head * c["linear_value_head_dim"]
        states = self.linear(p + "in_proj_qkvz", x).reshape(len(x), heads, -1)
        q, k, v, z = np.split(states, [width, 2 * width, 2 * width + values], axis=-1)
        b, a = np.split(self.linear(p + "in_proj_ba", x).reshape(len(x), heads, -1), 2, axis=-1)
        q, k, v, z, b, a = (y.reshape(len(x), -1) for y in (q, k, v, z, b, a))
        return np.concatenate([q, k, v], axis=1), z, b, a

    def result(self):
        return Llama.result(self)


class InternLm2(PlainLlama):
    """One map of queries, keys and values."""

    config = {**ROTARY, "model_type": "internlm2", "hidden_act": "silu", "tie_word_embeddings": False}

    def add_projections(self, p, groups):
        self.add_linear(p + "wqkv", (HEADS + 2 * groups) * self.width, WIDTH)

    def projections(self, p, x):
        return split_groups(self.linear(p + "wqkv", x), self.config["num_key_value_heads"], self.width)

    def result(self):
        names = {"embed_tokens": "tok_embeddings", "self_attn.o_proj": "attention.wo", "self_attn": "attention"}
        names |= {"input_layernorm": "attention_norm", "post_attention_layernorm": "ffn_norm", "lm_head": "output"}
        names |= {"mlp.gate_proj": "feed_forward.w1", "mlp.up_proj": "feed_forward.w3"}
        return renamed(super().result(), {**names, "mlp.down_proj": "feed_forward.w2"}, {})


class Exaone3(PlainLlama):
    """LLaMA under other names."""

    config = {**ROTARY, "model_type": "exaone", "hidden_act": "silu", "tie_word_embeddings": False}

    def result(self):
        names = {"model.embed_tokens": "transformer.wte", "model.layers": "transformer.h", "model.norm": "transformer.ln_f"}
        names |= {"self_attn.o_proj": "attn.attention.out_proj", "self_attn": "attn.attention"}
        names |= {"input_layernorm": "ln_1", "post_attention_layernorm": "ln_2", "gate_proj": "c_fc_0"}
        names |= {"up_proj": "c_fc_1", "down_proj": "c_proj"}
        keys = {"rms_norm_eps": "layer_norm_epsilon", "hidden_act": "activation_function"}
        return renamed(super().result(), names, keys)


class SeedOss(Qwen2):
    """No windows."""

    config = {**ROTARY, "model_type": "seed_oss", "hidden_act": "silu"}

    def has_window(self, layer):
        return False


class NeoX(Model):
    """Queries, keys and values of each head one after another; rotary positions on a half of it."""

    config = {
        "model_type": "gpt_neox",
        "num_attention_heads": HEADS,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-3,
        "rotary_pct": 0.5,
        "rotary_emb_base": 50,
        "use_parallel_residual": True,
        "tie_word_embeddings": False,
    }
    prefix, layers = "gpt_neox.", "layers."

    def build(self):
        self.tensor("gpt_neox.embed_in.weight", [VOCABULARY, WIDTH], 1.0)
        for layer in range(LAYERS):
            p = f"gpt_neox.layers.{layer}."
            self.add_norm(p + "input_layernorm", bias=True)
            self.add_norm(p + "post_attention_layernorm", bias=True)
            self.add_linear(p + "attention.query_key_value", 3 * WIDTH, WIDTH, True)
            self.add_linear(p + "attention.dense", WIDTH, WIDTH, True)
            self.add_linear(p + "mlp.dense_h_to_4h", HIDDEN, WIDTH, True)
            self.add_linear(p + "mlp.dense_4h_to_h", WIDTH, HIDDEN, True)
        self.add_norm("gpt_neox.final_layer_norm", bias=True)
        self.tensor("embed_out.weight", [VOCABULARY, WIDTH], 1.0)

    def embedded(self, ids):
        return self.w["gpt_neox.embed_in.weight"][ids]

    def attention(self, p, x):
        turned, base = int(HEAD_WIDTH * self.config["rotary_pct"]), self.config["rotary_emb_base"]
        fused = self.linear(p + "query_key_value", x).reshape(len(x), HEADS, 3 * HEAD_WIDTH)
        q, k, v = np.split(fused, 3, axis=-1)
        q, k = rotated(q, base, turned), rotated(k, base, turned)
        return self.linear(p + "dense", attend(q, k, v, HEAD_WIDTH**-0.5))

    def mlp(self, p, x):
        return self.linear(p + "dense_4h_to_h", gelu(self.linear(p + "dense_h_to_4h", x)))

    def block(self, p, x):
        y = x + self.attention(p + "attention.", self.norm(p + "input_layernorm", x))
        read = x if self.config["use_parallel_residual"] else y
        return y + self.mlp(p + "mlp.", self.norm(p + "post_attention_layernorm", read))

    def logits(self, x):
        return self.norm("gpt_neox.final_layer_norm", x) @ self.w["embed_out.weight"].T


class SequentialNeoX(NeoX):
    config = {**NeoX.config, "use_parallel_residual": False}


class Falcon7b(Model):
    """Attention and MLP read the same norm; all heads share the last two widths, those of key and value."""

    config = {
        "model_type": "falcon",
        "num_attention_heads": HEADS,
        "layer_norm_epsilon": 1e-3,
        "rope_theta": 50.0,
        "multi_query": True,
        "num_kv_heads": 1,
        "new_decoder_architecture": False,
        "parallel_attn": True,
        "bias": False,
        "alibi": False,
    }
    prefix, layers = "transformer.", "h."
    norms, groups = ["input_layernorm", "input_layernorm"], 1

    def build(self):
        self.tensor("transformer.word_embeddings.weight", [VOCABULARY, WIDTH], 1.0)
        for layer in range(LAYERS):
            p = f"transformer.h.{layer}."
            for name in sorted(set(self.norms)):
                self.add_norm(p + name, bias=True)
            self.add_linear(p + "self_attention.query_key_value", (HEADS + 2 * self.groups) * HEAD_WIDTH, WIDTH)
            self.add_linear(p + "self_attention.dense", WIDTH, WIDTH)
            self.add_linear(p + "mlp.dense_h_to_4h", HIDDEN, WIDTH)
            self.add_linear(p + "mlp.dense_4h_to_h", WIDTH, HIDDEN)
        self.add_norm("transformer.ln_f", bias=True)

    def embedded(self, ids):
        return self.w["transformer.word_embeddings.weight"][ids]

    def norm(self, name, x):
        return self.layer_norm(name, x, self.config["layer_norm_epsilon"])

    def attention(self, p, x):
        q, k, v = split_groups(self.linear(p + "query_key_value", x), self.groups, HEAD_WIDTH)
        q, k = (rotated(part, self.config["rope_theta"], HEAD_WIDTH) for part in (q, k))
        return self.linear(p + "dense", attend(q, k, v, HEAD_WIDTH**-0.5))

    def block(self, p, x):
        read = self.attention(p + "self_attention.", self.norm(p + self.norms[0], x))
        hidden = gelu(self.linear(p + "mlp.dense_h_to_4h", self.norm(p + self.norms[1], x)))
        return x + read + self.linear(p + "mlp.dense_4h_to_h", hidden)

    def logits(self, x):
        return self.norm("transformer.ln_f", x) @ self.w["transformer.word_embeddings.weight"].T


class Falcon(Falcon7b):
    """A norm each for attention and MLP; grouped keys."""

    config = {**Falcon7b.config, "new_decoder_architecture": True, "num_kv_heads": 2}
    norms, groups = ["ln_attn", "ln_mlp"], 2


class GptJ(Model):
    """Attention and MLP read the same norm; neighbours turn in a part of each head; the output map has a bias."""

    config = {
        "model_type": "gptj",
        "n_head": HEADS,
        "rotary_dim": 2,
        "layer_norm_epsilon": 1e-3,
        "activation_function": "gelu_new",
        "tie_word_embeddings": False,
    }
    prefix, layers = "transformer.", "h."
    attention_names, mlp_names = "attn.", ["mlp.fc_in", "mlp.fc_out"]
    norms, output_biases = ["ln_1"], False

    def build(self):
        self.tensor("transformer.wte.weight", [VOCABULARY, WIDTH], 1.0)
        for layer in range(LAYERS):
            p = f"transformer.h.{layer}."
            for name in self.norms:
                self.add_norm(p + name, bias=True)
            for name in ("q_proj", "k_proj", "v_proj"):
                self.add_linear(p + self.attention_names + name, WIDTH, WIDTH)
            self.add_linear(p + self.attention_names + "out_proj", WIDTH, WIDTH, self.output_biases)
            self.add_linear(p + self.mlp_names[0], HIDDEN, WIDTH, True)
            self.add_linear(p + self.mlp_names[1], WIDTH, HIDDEN, True)
        self.add_norm("transformer.ln_f", bias=True)
        self.add_ends()

    def add_ends(self):
        self.add_linear("lm_head", VOCABULARY, WIDTH, True)

    def embedded(self, ids):
        return self.w["transformer.wte.weight"][ids]

    def norm(self, name, x):
        return self.layer_norm(name, x, self.config["layer_norm_epsilon"])

    def projections(self, p, x):
        return self.heads_of([f"{p}{self.attention_names}{name}_proj" for name in "qkv"], x)

    def mlp(self, p, x):
        return self.linear(p + self.mlp_names[1], gelu_tanh(self.linear(p + self.mlp_names[0], x)))

    def block(self, p, x):
        y = self.norm(p + "ln_1", x)
        q, k, v = self.projections(p, y)
        turned = self.config["rotary_dim"]
        q, k = (
            np.concatenate([rotated_neighbours(part[..., :turned], 10000.0), part[..., turned:]], axis=-1)
            for part in (q, k)
        )
        return x + self.linear(p + "attn.out_proj", attend(q, k, v, HEAD_WIDTH**-0.5)) + self.mlp(p, y)

    def logits(self, x):
        return self.linear("lm_head", self.norm("transformer.ln_f", x))


class GptNeo(GptJ):
    """Learned positions, logits as they are, and windows as long as the passage."""

    config = {
        "model_type": "gpt_neo",
        "num_heads": HEADS,
        "layer_norm_epsilon": 1e-3,
        "activation_function": "gelu_new",
        "attention_layers": ["global", "local"],
        "window_size": len(IDS),
    }
    attention_names, mlp_names = "attn.attention.", ["mlp.c_fc", "mlp.c_proj"]
    norms, output_biases = ["ln_1", "ln_2"], True

    def add_ends(self):
        self.tensor("transformer.wpe.weight", [12, WIDTH], 1.0)

    def embedded(self, ids):
        return super().embedded(ids) + self.w["transformer.wpe.weight"][: len(ids)]

    def block(self, p, x):
        q, k, v = self.projections(p, self.norm(p + "ln_1", x))
        x = x + self.linear(p + "attn.attention.out_proj", attend(q, k, v, 1.0))
        return x + self.mlp(p, self.norm(p + "ln_2", x))

    def logits(self, x):
        return self.norm("transformer.ln_f", x) @ self.w["transformer.wte.weight"].T


def alibi(heads, length, exponent=8):
    """Heads x queries x keys: minus the distance times slopes, as the code of the paper nests them."""

    def slopes(count):
        if math.log2(count).is_integer():
            return [2 ** (-exponent * (i + 1) / count) for i in range(count)]
        lower = 2 ** int(math.log2(count))
        return slopes(lower) + slopes(2 * lower)[::2][: count - lower]

    positions = np.arange(length)
    distance = np.abs(positions - positions[:, None])
    return -np.array(slopes(heads))[:, None, None] * distance


def in_buckets(table, length, farthest):
    """The same of a table buckets x heads, as T5 has it; logarithms in single precision."""
    side = len(table) // 2
    narrow = side // 2
    positions = np.arange(length)
    offset = positions - positions[:, None]  # of the key
    distance = np.abs(offset)
    ratio = np.log(np.maximum(distance, 1).astype(np.float32) / np.float32(narrow))
    wide = narrow + (ratio / np.float32(math.log(farthest / narrow)) * np.float32(side - narrow)).astype(int)
    bucket = np.where(distance < narrow, distance, np.minimum(wide, side - 1)) + side * (offset > 0)
    return np.moveaxis(table[bucket], -1, 0)


class Bloom(NeoX):
    """ALiBi; a norm after the embeddings, which are the output weights too."""

    config = {"model_type": "bloom", "n_head": HEADS, "layer_norm_epsilon": 1e-3}
    prefix, layers = "transformer.", "h."

    def build(self):
        self.tensor("transformer.word_embeddings.weight", [VOCABULARY, WIDTH], 1.0)
        self.add_norm("transformer.word_embeddings_layernorm", bias=True)
        for layer in range(LAYERS):
            p = f"transformer.h.{layer}."
            self.add_norm(p + "input_layernorm", bias=True)
            self.add_norm(p + "post_attention_layernorm", bias=True)
            self.add_linear(p + "self_attention.query_key_value", 3 * WIDTH, WIDTH, True)
            self.add_linear(p + "self_attention.dense", WIDTH, WIDTH, True)
            self.add_linear(p + "mlp.dense_h_to_4h", HIDDEN, WIDTH, True)
            self.add_linear(p + "mlp.dense_4h_to_h", WIDTH, HIDDEN, True)
        self.add_norm("transformer.ln_f", bias=True)

    def norm(self, name, x):
        return self.layer_norm(name, x, self.config["layer_norm_epsilon"])

    def embedded(self, ids):
        return self.norm(
            "transformer.word_embeddings_layernorm", self.w["transformer.word_embeddings.weight"][ids]
        )

    def block(self, p, x):
        a = p + "self_attention."
        fused = self.linear(a + "query_key_value", self.norm(p + "input_layernorm", x))
        q, k, v = np.split(fused.reshape(len(x), HEADS, 3 * HEAD_WIDTH), 3, axis=-1)
        read = attend(q, k, v, HEAD_WIDTH**-0.5, bias=alibi(HEADS, len(x)))
        x = x + self.linear(a + "dense", read)
        hidden = self.linear(p + "mlp.dense_h_to_4h", self.norm(p + "post_attention_layernorm", x))
        return x + self.linear(p + "mlp.dense_4h_to_h", gelu_tanh(hidden))

    def logits(self, x):
        return self.norm("transformer.ln_f", x) @ self.w["transformer.word_embeddings.weight"].T


class Mpt(Model):
    """ALiBi with slopes of its own; no biases."""

    exponent = 6
    config = {
        "model_type": "mpt",
        "n_heads": HEADS,
        "d_model": WIDTH,
        "layer_norm_epsilon": 1e-3,
        "attn_config": {"alibi": True, "alibi_bias_max": exponent, "clip_qkv": None},
    }
    prefix, layers = "transformer.", "blocks."

    def build(self):
        self.tensor("transformer.wte.weight", [VOCABULARY, WIDTH], 1.0)
        for layer in range(LAYERS):
            p = f"transformer.blocks.{layer}."
            self.add_norm(p + "norm_1")
            self.add_norm(p + "norm_2")
            self.add_linear(p + "attn.Wqkv", 3 * WIDTH, WIDTH)
            self.add_linear(p + "attn.out_proj", WIDTH, WIDTH)
            self.add_linear(p + "ffn.up_proj", HIDDEN, WIDTH)
            self.add_linear(p + "ffn.down_proj", WIDTH, HIDDEN)
        self.add_norm("transformer.norm_f")

    def norm(self, name, x):
        return self.layer_norm(name, x, self.config["layer_norm_epsilon"])

    def embedded(self, ids):
        return self.w["transformer.wte.weight"][ids]

    def block(self, p, x):
        fused = self.linear(p + "attn.Wqkv", self.norm(p + "norm_1", x)).reshape(len(x), 3, HEADS, HEAD_WIDTH)
        q, k, v = (fused[:, part] for part in range(3))
        read = attend(q, k, v, HEAD_WIDTH**-0.5, bias=alibi(HEADS, len(x), self.exponent))
        x = x + self.linear(p + "attn.out_proj", read)
        return x + self.linear(p + "ffn.down_proj", gelu(self.linear(p + "ffn.up_proj", self.norm(p + "norm_2", x))))

    def logits(self, x):
        return self.norm("transformer.norm_f", x) @ self.w["transformer.wte.weight"].T


class BigCode(Model):
    """Learned positions; all heads share the last two widths, those of key and value."""

    config = {
        "model_type": "gpt_bigcode",
        "n_head": HEADS,
        "layer_norm_epsilon": 1e-3,
        "activation_function": "gelu_pytorch_tanh",
        "multi_query": True,
    }
    prefix, layers, groups = "transformer.", "h.", 1

    def build(self):
        self.tensor("transformer.wte.weight", [VOCABULARY, WIDTH], 1.0)
        self.tensor("transformer.wpe.weight", [12, WIDTH], 1.0)
        for layer in range(LAYERS):
            p = f"transformer.h.{layer}."
            for name in ("ln_1", "ln_2"):
                self.add_norm(p + name, bias=True)
            self.add_linear(p + "attn.c_attn", (HEADS + 2 * self.groups) * HEAD_WIDTH, WIDTH, True)
            self.add_linear(p + "attn.c_proj", WIDTH, WIDTH, True)
            self.add_linear(p + "mlp.c_fc", HIDDEN, WIDTH, True)
            self.add_linear(p + "mlp.c_proj", WIDTH, HIDDEN, True)
        self.add_norm("transformer.ln_f", bias=True)

    def norm(self, name, x):
        return self.layer_norm(name, x, self.config["layer_norm_epsilon"])

    def embedded(self, ids):
        return self.w["transformer.wte.weight"][ids] + self.w["transformer.wpe.weight"][: len(ids)]

    def split(self, fused):
        return split_groups(fused, self.groups, HEAD_WIDTH)

    def block(self, p, x):
        q, k, v = self.split(self.linear(p + "attn.c_attn", self.norm(p + "ln_1", x)))
        x = x + self.linear(p + "attn.c_proj", attend(q, k, v, HEAD_WIDTH**-0.5))
        hidden = gelu_tanh(self.linear(p + "mlp.c_fc", self.norm(p + "ln_2", x)))
        return x + self.linear(p + "mlp.c_proj", hidden)

    def logits(self, x):
        return self.norm("transformer.ln_f", x) @ self.w["transformer.wte.weight"].T


class MultiHeadBigCode(BigCode):
    """Each head has a key of its own, between its query and its value."""

    config = {**BigCode.config, "multi_query": False}
    groups = HEADS


class LinearGpt2(BigCode):
    """GPT-2 with torch's linear layers, as GGUF has it: all queries, then keys, then values."""

    config = {"model_type": "gpt2-linear", "n_head": HEADS, "layer_norm_epsilon": 1e-3}
    groups = HEADS

    def split(self, fused):
        return [part.reshape(len(fused), HEADS, HEAD_WIDTH) for part in np.split(fused, 3, axis=1)]


class Opt(Model):
    """Norms before attention and MLP; positions count from 2; ReLU."""

    config = {"model_type": "opt", "num_attention_heads": HEADS, "activation_function": "relu"}
    prefix, layers = "model.decoder.", "layers."

    def build(self):
        p = self.prefix
        self.tensor(p + "embed_tokens.weight", [VOCABULARY, WIDTH], 1.0)
        self.tensor(p + "embed_positions.weight", [12, WIDTH], 1.0)
        self.add_norm(p + "final_layer_norm", bias=True)
        for layer in range(LAYERS):
            p = f"{self.prefix}layers.{layer}."
            for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                self.add_linear(p + "self_attn." + name, WIDTH, WIDTH, True)
            self.add_linear(p + "fc1", HIDDEN, WIDTH, True)
            self.add_linear(p + "fc2", WIDTH, HIDDEN, True)
            for name in ("self_attn_layer_norm", "final_layer_norm"):
                self.add_norm(p + name, bias=True)

    def embedded(self, ids):
        positions = self.w[self.prefix + "embed_positions.weight"][2 : 2 + len(ids)]
        return self.w[self.prefix + "embed_tokens.weight"][ids] + positions

    def block(self, p, x):
        y = self.layer_norm(p + "self_attn_layer_norm", x, 1e-5)
        q, k, v = self.heads_of([f"{p}self_attn.{name}_proj" for name in "qkv"], y)
        read = attend(q * HEAD_WIDTH**-0.5, k, v, 1.0)
        x = x + self.linear(p + "self_attn.out_proj", read)
        y = np.maximum(self.linear(p + "fc1", self.layer_norm(p + "final_layer_norm", x, 1e-5)), 0)
        return x + self.linear(p + "fc2", y)

    def logits(self, x):
        x = self.layer_norm(self.prefix + "final_layer_norm", x, 1e-5)
        return x @ self.w[self.prefix + "embed_tokens.weight"].T


class Clip(Model):
    """The text of CLIP: causal, norms before attention and MLP."""

    text = {
        "model_type": "clip_text_model",
        "num_attention_heads": HEADS,
        "hidden_act": "quick_gelu",
        "layer_norm_eps": 1e-3,
    }
    config = {"model_type": "clip", "text_config": text}
    prefix, layers, causal, epsilon = "text_model.", "encoder.layers.", True, 1e-3

    def build(self):
        p = self.prefix
        self.tensor(p + "embeddings.token_embedding.weight", [VOCABULARY, WIDTH], 1.0)
        self.tensor(p + "embeddings.position_embedding.weight", [12, WIDTH], 1.0)
        for layer in range(LAYERS):
            p = self.layer_prefix(layer)
            for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                self.add_linear(p + "self_attn." + name, WIDTH, WIDTH, True)
            self.add_linear(p + "mlp.fc1", HIDDEN, WIDTH, True)
            self.add_linear(p + "mlp.fc2", WIDTH, HIDDEN, True)
            for name in ("layer_norm1", "layer_norm2"):
                self.add_norm(p + name, bias=True)
        self.add_norm(self.prefix + "final_layer_norm", bias=True)

    def embedded(self, ids):
        p = self.prefix + "embeddings."
        positions = self.w[p + "position_embedding.weight"][: len(ids)]
        return self.w[p + "token_embedding.weight"][ids] + positions

    @staticmethod
    def activation(x):
        return x / (1 + np.exp(-1.702 * x))

    def block(self, p, x):
        y = self.layer_norm(p + "layer_norm1", x, self.epsilon)
        q, k, v = self.heads_of([f"{p}self_attn.{name}_proj" for name in "qkv"], y)
        read = attend(q, k, v, HEAD_WIDTH**-0.5, causal=self.causal)
        x = x + self.linear(p + "self_attn.out_proj", read)
        y = self.linear(p + "mlp.fc1", self.layer_norm(p + "layer_norm2", x, self.epsilon))
        return x + self.linear(p + "mlp.fc2", self.activation(y))


class Siglip(Clip):
    """The text of SigLIP: bidirectional; its config.json may leave out everything but the types."""

    config = {
        "model_type": "siglip",
        "text_config": {"model_type": "siglip_text_model", "num_attention_heads": HEADS},
    }
    causal, epsilon = False, 1e-6
    activation = staticmethod(gelu_tanh)


class Qwen1(Model):
    """Fused projections with a bias; gated by w2."""

    config = {
        "model_type": "qwen",
        "num_attention_heads": HEADS,
        "kv_channels": HEAD_WIDTH,
        "layer_norm_epsilon": 1e-3,
        "rms_norm_eps": 1e-3,
        "rotary_pct": 1.0,
        "rotary_emb_base": 50,
        "seq_length": 12,
        "scale_attn_weights": True,
        "tie_word_embeddings": False,
    }
    prefix, layers = "transformer.", "h."

    def build(self):
        self.tensor("transformer.wte.weight", [VOCABULARY, WIDTH], 1.0)
        for layer in range(LAYERS):
            p = self.layer_prefix(layer)
            self.add_norm(p + "ln_1")
            self.add_norm(p + "ln_2")
            self.add_linear(p + "attn.c_attn", 3 * WIDTH, WIDTH, True)
            self.add_linear(p + "attn.c_proj", WIDTH, WIDTH)
            self.add_linear(p + "mlp.w1", HIDDEN, WIDTH)
            self.add_linear(p + "mlp.w2", HIDDEN, WIDTH)
            self.add_linear(p + "mlp.c_proj", WIDTH, HIDDEN)
        self.add_norm("transformer.ln_f")
        self.tensor("lm_head.weight", [VOCABULARY, WIDTH], 1.0)

    def embedded(self, ids):
        return self.w["transformer.wte.weight"][ids]

    def block(self, p, x):
        fused = self.linear(p + "attn.c_attn", self.rms_norm(p + "ln_1", x))
        fused = fused.reshape(len(x), 3, HEADS, HEAD_WIDTH)
        q, k = (rotated(fused[:, part], self.config["rotary_emb_base"], HEAD_WIDTH) for part in (0, 1))
        x = x + self.linear(p + "attn.c_proj", attend(q, k, fused[:, 2], HEAD_WIDTH**-0.5))
        y = self.rms_norm(p + "ln_2", x)
        return x + self.linear(
            p + "mlp.c_proj", self.linear(p + "mlp.w1", y) * silu(self.linear(p + "mlp.w2", y))
        )

    def logits(self, x):
        return self.rms_norm("transformer.ln_f", x) @ self.w["lm_head.weight"].T


class Roberta(Model):
    """Norms after the skip connections; positions count from 2."""

    config = {
        "model_type": "roberta",
        "num_attention_heads": HEADS,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-3,
    }
    prefix, layers, first, epsilon = "roberta.", "encoder.layer.", 2, 1e-3
    query, key, value = (f"attention.self.{name}" for name in ("query", "key", "value"))
    output, end = "attention.output.dense", "attention.output.LayerNorm"
    up, down, last = "intermediate.dense", "output.dense", "output.LayerNorm"
    tables = [("word", VOCABULARY), ("position", 12), ("token_type", 1)]
    stored, embedding = LAYERS, WIDTH
    activation = staticmethod(gelu)

    def build(self):
        p = self.prefix
        for name, rows in self.tables:
            self.tensor(f"{p}embeddings.{name}_embeddings.weight", [rows, self.embedding], 1.0)
        self.add_norm(p + "embeddings.LayerNorm", self.embedding, bias=True)
        for layer in range(self.stored):
            p = self.stored_prefix(layer)
            for name in (self.query, self.key, self.value, self.output):
                self.add_linear(p + name, WIDTH, WIDTH, True)
            self.add_norm(p + self.end, bias=True)
            self.add_linear(p + self.up, HIDDEN, WIDTH, True)
            self.add_linear(p + self.down, WIDTH, HIDDEN, True)
            self.add_norm(p + self.last, bias=True)

    def stored_prefix(self, layer):
        return f"{self.prefix}{self.layers}{layer}."

    def embedded(self, ids):
        p = self.prefix + "embeddings."
        x = self.w[p + "word_embeddings.weight"][ids]
        padding = self.first - 1  # which has this position, and does not count
        counted = self.first - 1 + np.cumsum(ids != padding)
        positions = np.where(ids == padding, padding, counted)
        x = x + self.w[p + "position_embeddings.weight"][positions]
        if len(self.tables) == 3:
            x = x + self.w[p + "token_type_embeddings.weight"][0]
        return self.layer_norm(p + "LayerNorm", x, self.epsilon)

    def turned(self, x):
        return x

    def bias(self, length):
        """Of the logits, heads x queries x keys."""
        return 0.0

    def block(self, p, x):
        q, k, v = self.heads_of([p + self.query, p + self.key, p + self.value], x)
        read = attend(self.turned(q), self.turned(k), v, HEAD_WIDTH**-0.5, causal=False, bias=self.bias(len(x)))
        x = self.layer_norm(p + self.end, x + self.linear(p + self.output, read), self.epsilon)
        y = self.linear(p + self.down, self.activation(self.linear(p + self.up, x)))
        return self.layer_norm(p + self.last, x + y, self.epsilon)


class XlmRoberta(Roberta):
    config = {**Roberta.config, "model_type": "xlm-roberta"}


class Electra(Roberta):
    """Embeddings of another width."""

    config = {**Roberta.config, "model_type": "electra"}
    prefix, first, embedding = "electra.", 0, 6

    def build(self):
        super().build()
        self.add_linear("electra.embeddings_project", WIDTH, self.embedding, True)

    def embedded(self, ids):
        return self.linear("electra.embeddings_project", super().embedded(ids))


class WideElectra(Roberta):
    """Embeddings of the layers' width."""

    config = {**Roberta.config, "model_type": "electra"}
    prefix, first = "electra.", 0


class MpNet(Roberta):
    """Biases of offsets, the same in all layers."""

    config = {**Roberta.config, "model_type": "mpnet", "relative_attention_num_buckets": 32}
    prefix = "mpnet."
    query, key, value, output = (f"attention.attn.{name}" for name in "qkvo")
    end = "attention.LayerNorm"
    tables = [("word", VOCABULARY), ("position", 12)]

    def build(self):
        super().build()
        self.tensor("mpnet.encoder.relative_attention_bias.weight", [32, HEADS], 1.0)

    def bias(self, length):
        return in_buckets(self.w["mpnet.encoder.relative_attention_bias.weight"], length, 128)


class DebertaV3(Roberta):
    """Disentangled attention: queries and keys of tokens also meet those that the same maps make of vectors of their
    offsets, of which far ones share one."""

    config = {
        **Roberta.config,
        "model_type": "deberta-v2",
        "relative_attention": True,
        "position_biased_input": False,
        "pos_att_type": "p2c|c2p",
        "position_buckets": 6,
        "max_relative_positions": 10,
        "max_position_embeddings": 512,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
    }
    prefix, tables = "deberta.", [("word", VOCABULARY)]
    query, key, value = (f"attention.self.{name}_proj" for name in ("query", "key", "value"))
    terms = ("c2p", "p2c")

    def build(self):
        super().build()
        self.tensor("deberta.encoder.rel_embeddings.weight", [2 * self.span(), WIDTH], 1.0)
        if self.config["norm_rel_ebd"] == "layer_norm":
            self.add_norm("deberta.encoder.LayerNorm", bias=True)
        if not self.config.get("share_att_key"):
            for layer in range(self.stored):
                p = self.stored_prefix(layer) + "attention.self."
                if "c2p" in self.terms:
                    self.add_linear(p + "pos_key_proj", WIDTH, WIDTH, True)
                if "p2c" in self.terms:
                    self.add_linear(p + "pos_query_proj", WIDTH, WIDTH, True)

    def span(self):
        return self.config.get("position_buckets") or self.config["max_relative_positions"]

    def embedded(self, ids):
        p = "deberta.embeddings."
        return self.layer_norm(p + "LayerNorm", self.w[p + "word_embeddings.weight"][ids], self.epsilon)

    def place(self, offset):
        """Of a query from a key."""
        if "position_buckets" in self.config:
            middle = self.config["position_buckets"] // 2
            if abs(offset) > middle:
                share = math.log(abs(offset) / middle) / math.log((self.config["max_relative_positions"] - 1) / middle)
                offset = math.copysign(math.ceil(share * (middle - 1)) + middle, offset)
        return int(np.clip(offset + self.span(), 0, 2 * self.span() - 1))

    def block(self, p, x):
        q, k, v = self.heads_of([p + self.query, p + self.key, p + self.value], x)
        vectors = self.w["deberta.encoder.rel_embeddings.weight"]
        if self.config["norm_rel_ebd"] == "layer_norm":
            vectors = self.layer_norm("deberta.encoder.LayerNorm", vectors, self.epsilon)
        at = p + "attention.self."
        shared = self.config.get("share_att_key")
        scale = ((1 + len(self.terms)) * HEAD_WIDTH) ** -0.5
        bias = np.zeros((HEADS, len(x), len(x)))
        places = [[self.place(query - key) for key in range(len(x))] for query in range(len(x))]
        if "c2p" in self.terms:
            (keys,) = self.heads_of([p + self.key if shared else at + "pos_key_proj"], vectors)
            bias += np.einsum("qhc,qkhc->hqk", q, keys[places]) * scale
        if "p2c" in self.terms:
            (queries,) = self.heads_of([p + self.query if shared else at + "pos_query_proj"], vectors)
            bias += np.einsum("khc,qkhc->hqk", k, queries[places]) * scale
        read = attend(q, k, v, scale, causal=False, bias=bias)
        x = self.layer_norm(p + self.end, x + self.linear(p + self.output, read), self.epsilon)
        y = self.linear(p + self.down, self.activation(self.linear(p + self.up, x)))
        return self.layer_norm(p + self.last, x + y, self.epsilon)


class DebertaV2(DebertaV3):
    """One term, with a map and vectors of its own, that are not normalized; offsets have no buckets."""

    config = {**DebertaV3.config, "pos_att_type": ["p2c"], "max_relative_positions": 4, "norm_rel_ebd": "none"}
    config = {key: value for key, value in config.items() if key not in ("position_buckets", "share_att_key")}
    terms = ("p2c",)


class Jina2(Roberta):
    """ALiBi on both sides, and a gated MLP."""

    config = {**Roberta.config, "model_type": "bert", "position_embedding_type": "alibi", "feed_forward_type": "geglu"}
    prefix, first = "", 0
    up, down, last = "mlp.gated_layers", "mlp.wo", "mlp.layernorm"
    tables = [("word", VOCABULARY), ("token_type", 1)]

    def add_linear(self, name, outputs, inputs, bias=False):
        gated = name.endswith("gated_layers")
        super().add_linear(name, outputs * (2 if gated else 1), inputs, bias and not gated)

    def embedded(self, ids):
        p = self.prefix + "embeddings."
        x = self.w[p + "word_embeddings.weight"][ids] + self.w[p + "token_type_embeddings.weight"][0]
        return self.layer_norm(p + "LayerNorm", x, self.epsilon)

    def bias(self, length):
        return alibi(HEADS, length)

    def activation(self, x):
        active, gated = np.split(x, 2, axis=-1)
        return gelu(active) * gated


class SeparateGte(Roberta):
    """Rotary positions with a scaled base; the gate comes after what it gates."""

    config = {**Roberta.config, "model_type": "new", "position_embedding_type": "rope", "rope_theta": 50.0}
    config |= {"rope_scaling": {"type": "ntk", "factor": 2.0}}
    prefix, first = "new.", 0
    query, key, value, output = (f"attention.{name}_proj" for name in "qkvo")
    end, up, down, last = "attn_ln", "mlp.up_gate_proj", "mlp.down_proj", "mlp_ln"
    tables = [("word", VOCABULARY), ("token_type", 1)]
    embedded = Jina2.embedded

    def add_linear(self, name, outputs, inputs, bias=False):
        gated = name.endswith(self.up)
        super().add_linear(name, outputs * (2 if gated else 1), inputs, bias and not gated)

    def activation(self, x):
        gated, active = np.split(x, 2, axis=-1)
        return gelu(active) * gated

    def turned(self, x):
        half, factor = HEAD_WIDTH // 2, self.config["rope_scaling"]["factor"]
        base = self.config["rope_theta"] * factor
        slow = base ** (-2.0 * np.arange(half) / HEAD_WIDTH) / factor ** (2 / HEAD_WIDTH)
        z = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * np.arange(len(x))[:, None] * slow)[:, None]
        return np.concatenate([z.real, z.imag], axis=-1)


class Gte(SeparateGte):
    """Queries, keys and values in one tensor."""

    def add_linear(self, name, outputs, inputs, bias=False):
        if name.endswith(self.query):
            super().add_linear(name.replace("q_proj", "qkv_proj"), 3 * outputs, inputs, bias)
        elif not name.endswith((self.key, self.value)):
            super().add_linear(name, outputs, inputs, bias)

    def heads_of(self, names, x):
        fused = self.linear(names[0].replace("q_proj", "qkv_proj"), x)
        return [part.reshape(len(x), HEADS, HEAD_WIDTH) for part in np.split(fused, 3, axis=1)]


class T5(Model):
    """The encoder of a model that has a decoder too; one table of biases of offsets."""

    config = {
        "model_type": "t5",
        "d_model": WIDTH,
        "d_kv": 6,
        "num_heads": HEADS,
        "rms_norm_eps": 1e-3,
        "layer_norm_epsilon": 1e-3,
        "relative_attention_num_buckets": 8,
        "relative_attention_max_distance": 6,
    }
    layers, prefix, hidden = "block.", "encoder.", ["wi"]
    stacks, tables = ["encoder", "decoder"], 1

    def build(self):
        width = self.config["d_kv"] * HEADS
        self.tensor("shared.weight", [VOCABULARY, WIDTH], 1.0)
        for stack in self.stacks:
            parts = ["SelfAttention", "EncDecAttention"][: 1 if stack == "encoder" else 2]
            for layer in range(LAYERS):
                p = f"{stack}.block.{layer}.layer."
                for number, part in enumerate(parts):
                    for name in "qkv":
                        self.add_linear(f"{p}{number}.{part}.{name}", width, WIDTH)
                    self.add_linear(f"{p}{number}.{part}.o", WIDTH, width)
                    self.add_norm(f"{p}{number}.layer_norm")
                if layer < self.tables:
                    self.tensor(p + "0.SelfAttention.relative_attention_bias.weight", [8, HEADS], 1.0)
                number = len(parts)
                for name in self.hidden:
                    self.add_linear(f"{p}{number}.DenseReluDense.{name}", HIDDEN, WIDTH)
                self.add_linear(f"{p}{number}.DenseReluDense.wo", WIDTH, HIDDEN)
                self.add_norm(f"{p}{number}.layer_norm")
            self.add_norm(f"{stack}.final_layer_norm")

    def embedded(self, ids):
        return self.w["shared.weight"][ids]

    def active(self, p, x):
        return np.maximum(self.linear(p + "wi", x), 0)

    def block(self, p, x):
        layer = int(p.split("block.")[1].split(".")[0])
        a, m = p + "layer.0.", p + "layer.1."
        y = self.rms_norm(a + "layer_norm", x)
        q, k, v = (self.linear(f"{a}SelfAttention.{name}", y).reshape(len(x), HEADS, -1) for name in "qkv")
        table = self.w[f"encoder.block.{min(layer, self.tables - 1)}.layer.0.SelfAttention.relative_attention_bias.weight"]
        bias = in_buckets(table, len(x), self.config["relative_attention_max_distance"])
        x = x + self.linear(a + "SelfAttention.o", attend(q, k, v, 1.0, causal=False, bias=bias))
        hidden = self.active(m + "DenseReluDense.", self.rms_norm(m + "layer_norm", x))
        return x + self.linear(m + "DenseReluDense.wo", hidden)


class GatedT5(T5):
    """An encoder by itself; a gated MLP."""

    config = {**T5.config, "feed_forward_proj": "gated-gelu"}
    hidden, stacks = ["wi_0", "wi_1"], ["encoder"]

    def active(self, p, x):
        return gelu_tanh(self.linear(p + "wi_0", x)) * self.linear(p + "wi_1", x)


class Umt5(GatedT5):
    """Each layer has a table."""

    config = {**GatedT5.config, "model_type": "umt5"}
    tables = LAYERS


class EuroBert(PlainLlama):
    """LLaMA's layers, whose tokens see both sides."""

    bidirectional = {"use_bidirectional_attention": True}  # as read() asks, of a model that has no such key
    config = {**PlainLlama.config, "model_type": "eurobert", **bidirectional}

    def logits(self, x):
        return None

    def result(self):
        found = super().result()
        return {**found, "config": {key: found["config"][key] for key in found["config"] if key not in self.bidirectional}}


class DistilBert(Roberta):
    config = {"model_type": "distilbert", "n_heads": HEADS, "activation": "gelu"}
    prefix, layers, first, epsilon = "distilbert.", "transformer.layer.", 0, 1e-12
    query, key, value = (f"attention.{name}_lin" for name in "qkv")
    output, end = "attention.out_lin", "sa_layer_norm"
    up, down, last = "ffn.lin1", "ffn.lin2", "output_layer_norm"
    tables = [("word", VOCABULARY), ("position", 12)]


class Albert(Roberta):
    """Two groups of two layers with the same weights; embeddings of another width."""

    config = {
        **Roberta.config,
        "model_type": "albert",
        "hidden_act": "gelu_new",
        "num_hidden_layers": 4,
        "num_hidden_groups": 2,
        "inner_group_num": 1,
    }
    prefix, first, depth, embedding = "albert.", 0, 4, 6
    query, key, value = (f"attention.{name}" for name in ("query", "key", "value"))
    output, end = "attention.dense", "attention.LayerNorm"
    up, down, last = "ffn", "ffn_output", "full_layer_layer_norm"
    activation = staticmethod(gelu_tanh)

    def stored_prefix(self, layer):
        return f"albert.encoder.albert_layer_groups.{layer}.albert_layers.0."

    def layer_prefix(self, layer):
        return self.stored_prefix(layer // 2)

    def build(self):
        super().build()
        self.add_linear("albert.encoder.embedding_hidden_mapping_in", WIDTH, self.embedding, True)

    def embedded(self, ids):
        return self.linear("albert.encoder.embedding_hidden_mapping_in", super().embedded(ids))


class ModernBert(Model):
    """No biases; the first layer has no norm before its attention; windows on both sides in two of three layers,
    with a rotary base of their own."""

    config = {
        "model_type": "modernbert",
        "num_attention_heads": HEADS,
        "hidden_activation": "gelu",
        "norm_eps": 1e-3,
        "global_attn_every_n_layers": 3,
        "local_attention": 4,
        "global_rope_theta": 50.0,
        "local_rope_theta": 10.0,
    }
    layers, depth = "layers.", 4

    def build(self):
        self.tensor("model.embeddings.tok_embeddings.weight", [VOCABULARY, WIDTH], 1.0)
        self.add_norm("model.embeddings.norm")
        for layer in range(self.depth):
            p = self.layer_prefix(layer)
            if layer > 0:
                self.add_norm(p + "attn_norm")
            self.add_linear(p + "attn.Wqkv", 3 * WIDTH, WIDTH)
            self.add_linear(p + "attn.Wo", WIDTH, WIDTH)
            self.add_norm(p + "mlp_norm")
            self.add_linear(p + "mlp.Wi", 2 * HIDDEN, WIDTH)
            self.add_linear(p + "mlp.Wo", WIDTH, HIDDEN)
        self.add_norm("model.final_norm")

    def norm(self, name, x):
        return self.layer_norm(name, x, self.config["norm_eps"])

    def embedded(self, ids):
        return self.norm("model.embeddings.norm", self.w["model.embeddings.tok_embeddings.weight"][ids])

    def block(self, p, x):
        layer = layer_of(p)
        near = layer % self.config["global_attn_every_n_layers"] != 0
        y = self.norm(p + "attn_norm", x) if layer > 0 else x
        fused = self.linear(p + "attn.Wqkv", y).reshape(len(x), 3, HEADS, HEAD_WIDTH)
        base = self.config["local_rope_theta" if near else "global_rope_theta"]
        q, k = (rotated(fused[:, part], base, HEAD_WIDTH) for part in (0, 1))
        reach = self.config["local_attention"] // 2 if near else None
        read = attend(q, k, fused[:, 2], HEAD_WIDTH**-0.5, causal=False, reach=reach)
        x = x + self.linear(p + "attn.Wo", read)
        active, gate = np.split(self.linear(p + "mlp.Wi", self.norm(p + "mlp_norm", x)), 2, axis=1)
        return x + self.linear(p + "mlp.Wo", gelu(active) * gate)


class DeepseekOcr(MixtureOfExperts):
    """The text of a model with vision, whose heads have queries and keys of their own."""

    config = {
        **ROTARY,
        "hidden_act": "silu",
        "use_mla": False,
        "num_experts_per_tok": 3,
        "routed_scaling_factor": 2.0,
        "topk_method": "greedy",
        "tie_word_embeddings": False,
    }
    experts, shared = 8, Glm45.shared
    route = DeepseekV2Lite.route

    def has_window(self, layer):
        return False

    def result(self):
        found = super().result()
        return {**found, "config": {"model_type": "deepseek_vl_v2", "language_config": found["config"]}}


class Nomic(Model):
    """An encoder with rotary positions and gates, and norms after its branches."""

    config = {
        "model_type": "nomic_bert",
        "n_head": HEADS,
        "n_embd": WIDTH,
        "prenorm": False,
        "layer_norm_epsilon": 1e-3,
        "rotary_emb_base": 50,
        "rotary_emb_fraction": 1.0,
        "rotary_scaling_factor": None,
        "activation_function": "swiglu",
    }
    prefix, layers = "encoder.", "layers."

    def build(self):
        self.tensor("embeddings.word_embeddings.weight", [VOCABULARY, WIDTH], 1.0)
        self.tensor("embeddings.token_type_embeddings.weight", [2, WIDTH], 1.0)
        self.add_norm("emb_ln", bias=True)
        for layer in range(LAYERS):
            p = f"encoder.layers.{layer}."
            self.add_linear(p + "attn.Wqkv", 3 * WIDTH, WIDTH)
            self.add_linear(p + "attn.out_proj", WIDTH, WIDTH)
            self.add_linear(p + "mlp.fc11", HIDDEN, WIDTH)
            self.add_linear(p + "mlp.fc12", HIDDEN, WIDTH)
            self.add_linear(p + "mlp.fc2", WIDTH, HIDDEN)
            self.add_norm(p + "norm1", bias=True)
            self.add_norm(p + "norm2", bias=True)

    def norm(self, name, x):
        return self.layer_norm(name, x, self.config["layer_norm_epsilon"])

    def embedded(self, ids):
        types = self.w["embeddings.token_type_embeddings.weight"][0]
        return self.norm("emb_ln", self.w["embeddings.word_embeddings.weight"][ids] + types)

    def block(self, p, x):
        q, k, v = (part.reshape(len(x), HEADS, -1) for part in np.split(self.linear(p + "attn.Wqkv", x), 3, axis=1))
        q, k = (rotated(part, self.config["rotary_emb_base"], HEAD_WIDTH) for part in (q, k))
        read = self.linear(p + "attn.out_proj", attend(q, k, v, HEAD_WIDTH**-0.5, causal=False))
        x = self.norm(p + "norm1", x + read)
        hidden = self.linear(p + "mlp.fc11", x) * silu(self.linear(p + "mlp.fc12", x))
        return self.norm(p + "norm2", x + self.linear(p + "mlp.fc2", hidden))
class Ling(MixtureOfExperts):
    """With separate projections, as in GGUF."""

    config = {
        **ROTARY,
        "model_type": "bailing_moe",
        "hidden_act": "silu",
        "num_experts_per_tok": 3,
        "norm_topk_prob": True,
    }
    shared = Glm45.shared


class UseLite(Model):
    """The first layer reads narrower tokens: its heads are narrower too, and a linear map on its skip connection makes
    the tokens wider. Linear maps are inputs x outputs, as in the graph."""

    config = {"model_type": "use-lite", "num_attention_heads": [HEADS, HEADS]}
    prefix, layers = "", "layers."
    NARROW = 8

    def entering(self, p):
        return self.NARROW if p == self.layer_prefix(0) else WIDTH

    def add_linear(self, name, outputs, inputs, bias=True):
        self.tensor(name + ".weight", [inputs, outputs], 0.6)
        self.tensor(name + ".bias", [outputs], 0.4)

    def linear(self, name, x):
        return x @ self.w[name + ".weight"] + self.w[name + ".bias"]

    def build(self):
        self.tensor("embeddings.tokens.weight", [VOCABULARY, self.NARROW], 1.0)
        self.tensor("embeddings.positions.weight", [len(IDS), self.NARROW], 0.5)
        for layer in range(self.depth):
            p = self.layer_prefix(layer)
            width = self.entering(p)
            self.add_norm(p + "attention_norm", width, bias=True)
            self.add_linear(p + "attention.qkv", 3 * width, width)
            self.add_linear(p + "attention.output", WIDTH, width)
            if width != WIDTH:
                self.add_linear(p + "skip", WIDTH, width)
            self.add_norm(p + "mlp_norm", bias=True)
            self.add_linear(p + "mlp.up", HIDDEN, WIDTH)
            self.add_linear(p + "mlp.down", WIDTH, HIDDEN)

    def embedded(self, ids):
        return self.w["embeddings.tokens.weight"][ids] + self.w["embeddings.positions.weight"][: len(ids)]

    def block(self, p, x):
        width = self.entering(p)
        fused = self.linear(p + "attention.qkv", self.layer_norm(p + "attention_norm", x, 1e-6))
        q, k, v = (part.reshape(len(x), HEADS, -1) for part in np.split(fused, 3, axis=1))
        read = attend(q, k, v, (width // HEADS) ** -0.5, causal=False)
        skipped = x if width == WIDTH else self.linear(p + "skip", x)
        x = skipped + self.linear(p + "attention.output", read)
        hidden = np.maximum(self.linear(p + "mlp.up", self.layer_norm(p + "mlp_norm", x, 1e-6)), 0)
        return x + self.linear(p + "mlp.down", hidden)


def of_type(model_type, found, **keys):
    """The same by another model type."""
    return {**found, "config": {**found["config"], "model_type": model_type, **keys}}


def generate():
    selecting = {"index_topk": len(IDS)}  # of the keys all
    return {
        "LLaMA": [
            Llama().result(),
            PlainLlama().result(),
            SeedOss().result(),
            Mistral3().result(),
            of_type("mimo", Qwen2().result()),
            PanguEmbedded().result(),
            as_text_of("voxtral", PlainLlama().result(), ()),
            as_text_of("internvl_chat", Qwen2().result(), (), "llm_config"),
            Qwen2().result(),
        ],
        "Qwen 3": [beside_vision("internvl", Qwen3().result()), Qwen3().result()],
        "Qwen 2 VL": [
            Qwen25Vl().result(),
            in_thinker("qwen2_5_omni", of_type("qwen2_5_omni_text", Qwen25Vl().result())),
        ],
        "Qwen 3 VL": [Qwen3Vl().result()],
        "Apertus": [Apertus().result(), WholeApertus().result()],
        "OLMo": [Olmo().result(), ClippedOlmo().result()],
        "OLMo 2": [Olmo2().result()],
        "OLMo 3": [Olmo3().result()],
        "EXAONE 4": [
            beside_vision("exaone4_5", of_type("exaone4_5_text", Exaone4().result())),
            Exaone4().result(),
            ShortExaone4().result(),
        ],
        "EXAONE MoE": [ExaoneMoe().result()],
        "StarCoder2": [Starcoder2().result()],
        "Gemma": [Gemma().result()],
        "Gemma 2": [Gemma2().result()],
        "VaultGemma": [VaultGemma().result()],
        "Gemma 3": [Gemma3().result(), BidirectionalGemma3().result(), MultimodalGemma3().result()],
        "Gemma 4": [
            as_text_of("gemma4_unified", of_type("gemma4_unified_text", Gemma4().result()), ()),
            as_text_of("gemma4", Gemma4Moe().result(), ()),
            SmallGemma4().result(),
        ],
        "SmolLM3": [SmolLM3().result()],
        "Cohere": [Cohere().result(), CommandRPlus().result()],
        "Cohere 2": [Cohere2().result()],
        "GLM": [Glm().result()],
        "GLM-4": [Glm4().result()],
        "GLM-V": [Glm4v().result()],
        "ERNIE 4.5": [Ernie45().result(), Ernie45Moe().result()],
        "Hunyuan": [Hunyuan().result()],
        "StableLM": [StableLm().result()],
        "InternLM2": [InternLm2().result()],
        "Llama 4": [
            Llama4().result(),
            as_text_of("llama4", Llama4().result(), ()),
            SeparateLlama4().result(),
        ],
        "LFM2": [Lfm2().result(), beside_vision("lfm2_vl", Lfm2().result()), Lfm2Moe().result()],
        "Qwen 3.5": [
            Qwen35().result(),
            beside_vision("qwen3_5", Qwen35().result()),
            Qwen35Moe().result(),
            StackedQwen35().result(),
            Qwen3Next().result(),
        ],
        "EXAONE 3": [Exaone3().result()],
        "Falcon": [Falcon().result()],
        "Falcon 7B": [Falcon7b().result()],
        "BLOOM": [Bloom().result()],
        "MPT": [Mpt().result()],
        "GPT-BigCode": [BigCode().result(), MultiHeadBigCode().result()],
        "GPT-2 with linear layers": [LinearGpt2().result()],
        "GPT-J": [GptJ().result()],
        "GPT-Neo": [GptNeo().result()],
        "Ministral 3": [Ministral3().result()],
        "LLaVA": [Llava().result()],
        "Llama 3.2 Vision": [Mllama().result()],
        "gpt-oss": [GptOss().result()],
        "Granite": [Granite().result()],
        "Granite SWA": [GraniteSwa().result()],
        "HyperCLOVA X": [HyperClovaX().result(), PlainHyperClovaX().result()],
        "Granite MoE": [GraniteMoe().result()],
        "Granite MoE with a shared expert": [GraniteShared().result()],
        "Arcee": [Arcee().result()],
        "Llama Nemotron": [LlamaNemotron().result()],
        "Nemotron": [Nemotron().result()],
        "Jamba": [Jamba().result()],
        "Falcon-H1": [NormedFalconH1().result(), NormFirstFalconH1().result(), FalconH1().result()],
        "Nemotron-H": [NemotronHybrid().result(), Nemotron3().result(), Nemotron3Super().result()],
        "Granite 4": [Granite4().result(), DenseGranite4().result(), HybridGranite4().result()],
        "Latent attention": [
            DeepseekV3().result(),
            as_text_of("kimi_k25", of_type("kimi_k2", DeepseekV3().result()), ()),
            of_type("deepseek_v32", DeepseekV3().result(), **selecting),
            Youtu().result(),
            of_type("kimi_k2", DeepseekV3().result()),
        ],
        "GLM with latent attention": [
            of_type("glm_moe_dsa", Glm47Flash().result(), **selecting),
            Glm47Flash().result(),
        ],
        "Mistral Small 4": [as_text_of("mistral3", Mistral4().result(), ()), Mistral4().result()],
        "Latent keys": [DeepseekV2().result(), DeepseekV2Lite().result()],
        "DeepSeek without latents": [DeepseekOcr().result()],
        "Ling with separate projections": [Ling().result()],
        "MiniCPM3": [MiniCpm3().result()],
        "Mixtral": [Mixtral().result()],
        "Qwen 3 MoE": [Qwen3Moe().result()],
        "Qwen 3 Omni": [in_thinker("qwen3_omni_moe", of_type("qwen3_omni_moe_text", Qwen3Moe().result()))],
        "Qwen 3 VL MoE": [Qwen3VlMoe().result()],
        "Qwen 2 MoE": [Qwen2Moe().result()],
        "OLMoE": [Olmoe().result()],
        "MiniMax M2": [MinimaxM2().result()],
        "MiniMax M3": [as_text_of("minimax_m3_vl", MinimaxM3().result(), ())],
        "GLM-4.5": [Glm45v().result(), Glm45().result()],
        "Solar Open": [SolarOpen().result()],
        "Hy3": [Hy3().result()],
        "MiMo V2": [MimoV2().result()],
        "dots.llm1": [Dots1().result()],
        "Trinity": [Trinity().result()],
        "Phi": [Phi().result()],
        "Phi-3": [Phi3().result()],
        "GPT-NeoX": [NeoX().result(), SequentialNeoX().result()],
        "OPT": [Opt().result()],
        "RoBERTa": [Roberta().result(), XlmRoberta().result()],
        "DistilBERT": [DistilBert().result()],
        "ELECTRA": [Electra().result(), WideElectra().result()],
        "MPNet": [MpNet().result()],
        "DeBERTa": [DebertaV2().result(), DebertaV3().result()],
        "Jina embeddings 2": [Jina2().result()],
        "GTE": [of_type("gte", Gte().result()), Gte().result()],
        "GTE with separate projections": [SeparateGte().result()],
        "T5": [T5().result()],
        "T5 1.1": [GatedT5().result(), of_type("mt5", GatedT5().result()), Umt5().result()],
        "EuroBERT": [EuroBert().result()],
        "CLIP": [Clip().result()],
        "SigLIP": [Siglip().result()],
        "Qwen 1": [Qwen1().result()],
        "ALBERT": [Albert().result()],
        "Nomic": [Nomic().result()],
        "ModernBERT": [ModernBert().result()],
        "USE-lite": [UseLite().result()],
    }
