#!/usr/bin/python3
"""Writes a decoder or encoder of random weights as a GGUF file that llama.cpp and eigenscope run: decoder.py NAME TYPE
FILE [SIZE [LAYER.HEAD]]. TYPE is that of the matrices, SIZE small (the default) or 1.1b; the head has no output. The
tokenizer has three special tokens and the 256 bytes; other tokens are not used."""
import struct
import sys
from dataclasses import dataclass, replace

import numpy as np

from quantize import encoded, text, write

SPECIAL = ["<unk>", "<s>", "</s>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


@dataclass
class Size:
    width: int = 256
    heads: int = 4
    key_heads: int = 2
    head_width: int = 64
    hidden: int = 512
    layers: int = 6
    length: int = 512
    vocabulary: int = len(SPECIAL) + len(BYTES)
    experts: int = 8


SIZES = {"small": Size(), "1.1b": Size(2048, 32, 4, 64, 5632, 22, 2048, 32000)}


def uint32(value):
    return struct.pack("<II", 4, value)


def float32(value):
    return struct.pack("<If", 6, value)


def boolean(value):
    return struct.pack("<I?", 7, value)


def string(value):
    return struct.pack("<I", 8) + text(value)


def array(kind, values):
    return struct.pack("<IIQ", 9, kind, len(values)) + b"".join(values)


def tokenizer(vocabulary):
    """Tokens of type unknown 2, control 3, unused 5 and byte 6."""
    tokens = SPECIAL + BYTES
    kinds = [2, 3, 3] + [6] * len(BYTES) + [5] * (vocabulary - len(tokens))
    tokens += [f"<unused {k}>" for k in range(len(tokens), vocabulary)]
    return {
        "tokenizer.ggml.model": string("llama"),
        "tokenizer.ggml.tokens": array(8, [text(token) for token in tokens]),
        "tokenizer.ggml.scores": array(6, [struct.pack("<f", 0)] * vocabulary),
        "tokenizer.ggml.token_type": array(5, [struct.pack("<i", kind) for kind in kinds]),
        "tokenizer.ggml.bos_token_id": uint32(1),
        "tokenizer.ggml.eos_token_id": uint32(2),
        "tokenizer.ggml.add_space_prefix": boolean(False),
    }


class Decoder:
    """LLaMA; other architectures have what differs from it, and a name where they share llama.cpp's."""

    architecture, epsilon = "llama", "attention.layer_norm_rms_epsilon"
    norms = ("attn_norm", "ffn_norm")
    head_norms = ()
    biases = ()
    has_gate, norm_bias, output = True, False, True
    final_norm = "output_norm"
    keys = {}
    silenced = ""

    def __init__(self, kind, size):
        self.kind, self.size, self.random, self.tensors = kind, size, np.random.default_rng(5), []
        self.matrix("token_embd", (size.vocabulary, size.width), 1.0 if self.output else 0.1)
        self.norm(self.final_norm, size.width)
        if self.output:
            self.matrix("output", (size.vocabulary, size.width), 0.1)
        for layer in range(size.layers):
            self.layer(f"blk.{layer}.")

    def matrices(self):
        size = self.size
        return {**self.attention_matrices(), "attn_output": (size.width, size.heads * size.head_width), **self.mlp_matrices()}

    def attention_matrices(self):
        size = self.size
        keys = (size.key_heads * size.head_width, size.width)
        return {"attn_q": (size.heads * size.head_width, size.width), "attn_k": keys, "attn_v": keys}

    def mlp_matrices(self):
        into, out = (self.size.hidden, self.size.width), (self.size.width, self.size.hidden)
        return {**({"ffn_gate": into} if self.has_gate else {}), "ffn_up": into, "ffn_down": out}

    def head_norm_sizes(self):
        return dict.fromkeys(self.head_norms, self.size.head_width)

    def layer(self, p):
        for name, size in {**dict.fromkeys(self.norms, self.size.width), **self.head_norm_sizes()}.items():
            self.norm(p + name, size)
        for name, shape in self.matrices().items():
            self.matrix(p + name, shape, 0.8 / np.sqrt(shape[-1]))
            if name in self.biases:
                self.vector(p + name + ".bias", shape[:-1])

    def matrix(self, name, shape, scale):
        values = scale * self.random.standard_normal(shape)
        layer, _, head = self.silenced.partition(".")
        if head and name == f"blk.{layer}.attn_output":
            first = int(head) * self.size.head_width
            values[:, first : first + self.size.head_width] = 0
        self.tensors.append((name + ".weight", shape, self.kind, encoded(values, self.kind)))

    def norm(self, name, size):
        self.vector(name + ".weight", (size,), 1.0)
        if self.norm_bias:
            self.vector(name + ".bias", (size,))

    def vector(self, name, shape, mean=0.0):
        values = mean + 0.2 * self.random.standard_normal(shape)
        self.tensors.append((name, shape, "F32", encoded(values, "F32")))

    def metadata(self):
        size = self.size
        of_model = {
            "context_length": uint32(size.length),
            "embedding_length": uint32(size.width),
            "block_count": uint32(size.layers),
            "feed_forward_length": uint32(size.hidden),
            "attention.head_count": uint32(size.heads),
            "attention.head_count_kv": uint32(size.key_heads),
            "rope.dimension_count": uint32(size.head_width),
            "rope.freq_base": float32(10000),
            self.epsilon: float32(1e-3),
            **self.keys,
        }
        prefixed = {f"{self.architecture}.{key}": value for key, value in of_model.items() if value is not None}
        return {"general.architecture": string(self.architecture), **prefixed, **tokenizer(size.vocabulary)}


class Qwen2(Decoder):
    architecture = "qwen2"
    biases = ("attn_q", "attn_k", "attn_v")


class Qwen3(Decoder):
    architecture = "qwen3"
    head_norms = ("attn_q_norm", "attn_k_norm")


class Apertus(Qwen3):
    architecture, has_gate = "apertus", False

    def metadata(self):
        numbers = {"alpha_p": (0.9, 0.1), "alpha_n": (-0.7, 0.1), "beta": (0.6, 0.05), "eps": (-0.2, 0.01)}
        lists = {
            f"xielu.{name}": array(6, [struct.pack("<f", first + step * layer) for layer in range(self.size.layers)])
            for name, (first, step) in numbers.items()
        }
        return {**super().metadata(), **lists}


class Mixtral(Decoder):
    name = "mixtral"
    keys = {"expert_count": uint32(8), "expert_used_count": uint32(3), "expert_feed_forward_length": uint32(512)}

    def mlp_matrices(self):
        size = self.size
        into = (size.experts, size.hidden, size.width)
        return {
            "ffn_gate_inp": (size.experts, size.width),
            "ffn_gate_exps": into,
            "ffn_up_exps": into,
            "ffn_down_exps": (size.experts, size.width, size.hidden),
        }

    def shared_matrices(self):
        into = (self.size.hidden, self.size.width)
        return {"ffn_gate_shexp": into, "ffn_up_shexp": into, "ffn_down_shexp": into[::-1]}


class Qwen3Moe(Mixtral):
    architecture = "qwen3moe"
    head_norms = Qwen3.head_norms


class Qwen2Moe(Mixtral):
    architecture, biases = "qwen2moe", Qwen2.biases
    keys = {**Mixtral.keys, "expert_shared_feed_forward_length": uint32(512)}

    def mlp_matrices(self):
        return {**super().mlp_matrices(), **self.shared_matrices()}

    def layer(self, p):
        super().layer(p)
        self.vector(p + "ffn_gate_inp_shexp.weight", (self.size.width,))


class Lfm2(Decoder):
    """Convolutions in the place of the heads of two layers of three."""

    architecture, output, final_norm = "lfm2", False, "token_embd_norm"
    keys = {
        "attention.head_count_kv": array(4, [struct.pack("<I", count) for count in (0, 0, 2, 0, 0, 2)]),
        "shortconv.l_cache": uint32(3),
    }

    def matrices(self):
        if self.has_heads:
            return super().matrices()
        width = self.size.width
        return {"shortconv.in_proj": (3 * width, width), "shortconv.out_proj": (width, width), **self.mlp_matrices()}

    def layer(self, p):
        self.enter(p)
        super().layer(p)
        if not self.has_heads:
            self.vector(p + "shortconv.conv.weight", (self.size.width, 3))

    def enter(self, p):
        self.number = int(p.split(".")[1])
        self.has_heads = self.number % 3 == 2
        self.head_norms = Qwen3.head_norms if self.has_heads else ()


class Lfm2Moe(Lfm2, Mixtral):
    """The first layer has an MLP."""

    architecture, name = "lfm2moe", "lfm2moe"
    keys = {
        **Mixtral.keys,
        **Lfm2.keys,
        "leading_dense_block_count": uint32(1),
        "expert_gating_func": uint32(2),
    }

    def mlp_matrices(self):
        return Mixtral.mlp_matrices(self) if self.number > 0 else Decoder.mlp_matrices(self)

    def layer(self, p):
        super().layer(p)
        if self.number > 0:
            self.vector(p + "exp_probs_b.bias", (self.size.experts,))


class Qwen35(Decoder):
    """Attention whose output is gated in each third layer, the gated delta rule in the others."""

    architecture, norms = "qwen35", ("attn_norm", "post_attention_norm")
    key_heads, value_heads, part = 2, 4, 32  # of the delta rule
    keys = {
        "attention.layer_norm_rms_epsilon": float32(1e-6),
        "attention.key_length": uint32(64),
        "attention.value_length": uint32(64),
        "rope.dimension_count": uint32(32),
        "rope.dimension_sections": array(5, [struct.pack("<i", count) for count in (6, 5, 5, 0)]),
        "full_attention_interval": uint32(3),
        "ssm.conv_kernel": uint32(4),
        "ssm.state_size": uint32(part),
        "ssm.group_count": uint32(key_heads),
        "ssm.time_step_rank": uint32(value_heads),
        "ssm.inner_size": uint32(value_heads * part),
    }
    enter = Lfm2.enter

    def matrices(self):
        size = self.size
        if self.has_heads:
            return {**super().matrices(), "attn_q": (2 * size.heads * size.head_width, size.width)}
        values = self.value_heads * self.part
        return {
            "attn_qkv": (2 * self.key_heads * self.part + values, size.width),
            "attn_gate": (values, size.width),
            **self.rates(),
            "ssm_out": (size.width, values),
            **self.mlp_matrices(),
        }

    def rates(self):
        return dict.fromkeys(("ssm_beta", "ssm_alpha"), (self.value_heads, self.size.width))

    def layer(self, p):
        self.enter(p)
        super().layer(p)
        if self.has_heads:
            return
        self.vector(p + "ssm_conv1d.weight", ((2 * self.key_heads + self.value_heads) * self.part, 4), 0.3)
        self.vector(p + "ssm_a", (self.value_heads,), -1.0)
        self.vector(p + "ssm_dt.bias", (self.value_heads,))
        self.norm(p + "ssm_norm", self.part)


class Qwen35Moe(Qwen35, Qwen2Moe):
    architecture = "qwen35moe"
    keys = {**Qwen2Moe.keys, **Qwen35.keys}
    biases = ()


class Qwen3Next(Qwen35Moe):
    """Rates of the value heads of one key head lie together."""

    architecture = "qwen3next"
    keys = {key: value for key, value in Qwen35Moe.keys.items() if key != "rope.dimension_sections"}

    def rates(self):
        return {"ssm_ba": (2 * self.value_heads, self.size.width)}


class GptOss(Mixtral):
    architecture = "gpt-oss"
    norms = ("attn_norm", "post_attention_norm")
    biases = (*Qwen2.biases, "attn_output", "ffn_gate_inp", "ffn_gate_exps", "ffn_up_exps", "ffn_down_exps")
    keys = {**Mixtral.keys, "attention.sliding_window": uint32(8), "attention.key_length": uint32(64)}

    def layer(self, p):
        super().layer(p)
        self.vector(p + "attn_sinks.weight", (self.size.heads,))


class DeepSeek(Mixtral):
    """Latent attention, whose keys llama.cpp has transposed. Experts are chosen in groups by corrected sigmoids, and the
    first layer has an MLP."""

    architecture = "deepseek2"
    ranks = (96, 64)
    turned, compressed, values = 32, 64, 48
    keys = {
        **Mixtral.keys,
        "attention.layer_norm_rms_epsilon": float32(1e-6),
        "attention.head_count_kv": uint32(1),
        "attention.q_lora_rank": uint32(ranks[0]),
        "attention.kv_lora_rank": uint32(ranks[1]),
        "attention.key_length": uint32(ranks[1] + turned),
        "attention.value_length": uint32(ranks[1]),
        "attention.key_length_mla": uint32(compressed + turned),
        "attention.value_length_mla": uint32(values),
        "rope.dimension_count": uint32(turned),
        "rope.scaling.type": string("yarn"),
        "rope.scaling.factor": float32(4),
        "rope.scaling.original_context_length": uint32(128),
        "rope.scaling.yarn_log_multiplier": float32(0.0707),
        "leading_dense_block_count": uint32(1),
        "expert_shared_count": uint32(1),
        "expert_weights_scale": float32(2.5),
        "expert_weights_norm": boolean(True),
        "expert_gating_func": uint32(2),
        "expert_group_count": uint32(4),
        "expert_group_used_count": uint32(2),
    }

    def matrices(self):
        size = self.size
        queries, keys = self.ranks
        heads = size.heads
        return {
            "attn_q_a": (queries, size.width),
            "attn_q_b": (heads * (self.compressed + self.turned), queries),
            "attn_kv_a_mqa": (keys + self.turned, size.width),
            "attn_k_b": (heads, keys, self.compressed),
            "attn_v_b": (heads, self.values, keys),
            "attn_output": (size.width, heads * self.values),
            **(Decoder.mlp_matrices(self) if self.is_first else {**self.mlp_matrices(), **self.shared_matrices()}),
        }

    def head_norm_sizes(self):
        return dict(zip(("attn_q_a_norm", "attn_kv_a_norm"), self.ranks))

    def layer(self, p):
        self.is_first = p == "blk.0."
        super().layer(p)
        if not self.is_first:
            self.vector(p + "exp_probs_b.bias", (self.size.experts,))


class DeepSeekV32(DeepSeek):
    """An indexer selects keys, of a short passage all."""

    architecture = "deepseek32"
    keys = {
        **DeepSeek.keys,
        "rope.scaling.yarn_log_multiplier": float32(0.1),
        "attention.indexer.head_count": uint32(4),
        "attention.indexer.key_length": uint32(128),
        "attention.indexer.top_k": uint32(256),
    }

    def matrices(self):
        width = self.size.width
        indexer = {"attn_q_b": (512, self.ranks[0]), "attn_k": (128, width), "proj": (4, width)}
        return {**super().matrices(), **{f"indexer.{name}": shape for name, shape in indexer.items()}}

    def layer(self, p):
        super().layer(p)
        for part, mean in (("weight", 1.0), ("bias", 0.0)):
            self.vector(f"{p}indexer.k_norm.{part}", (128,), mean)


class Mistral4(DeepSeek):
    """Experts have softmax weights that add up to a factor, in every layer."""

    architecture = "mistral4"
    unread = ("leading_dense_block_count", "expert_gating_func", "expert_group_count", "expert_group_used_count")
    keys = {**DeepSeek.keys, **dict.fromkeys(unread), "rope.scaling.yarn_log_multiplier": float32(0.1)}

    def layer(self, p):
        self.is_first = False
        Decoder.layer(self, p)


class GlmDsa(DeepSeekV32):
    """Without a scaling of the angles."""

    architecture = "glm-dsa"
    keys = {key: value for key, value in DeepSeekV32.keys.items() if not key.startswith("rope.scaling")}


class DeepSeekV2(DeepSeek):
    """As older files have it: keys and values in one tensor. Queries read the tokens, and experts have softmax weights."""

    name = "deepseek2-lite"
    keys = {
        **Mixtral.keys,
        **{key: value for key, value in DeepSeek.keys.items() if not key.endswith("_mla") and "expert" not in key},
        "attention.head_count_kv": uint32(4),
        "attention.key_length": uint32(96),
        "attention.value_length": uint32(48),
        "expert_shared_count": uint32(1),
        "expert_weights_scale": float32(1.5),
    }
    del keys["attention.q_lora_rank"]

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, layers=27))  # by which llama.cpp knows that queries read the tokens

    def matrices(self):
        size = self.size
        matrices = super().matrices()
        for name in ("attn_q_a", "attn_q_b", "attn_k_b", "attn_v_b"):
            del matrices[name]
        return {
            "attn_q": (size.heads * (self.compressed + self.turned), size.width),
            "attn_kv_b": (size.heads * (self.compressed + self.values), self.ranks[1]),
            **matrices,
        }

    def head_norm_sizes(self):
        return {"attn_kv_a_norm": self.ranks[1]}

    def layer(self, p):
        self.is_first = p == "blk.0."
        Decoder.layer(self, p)


class DeepSeekOcr(Mixtral):
    """Without latents. The first layer has an MLP."""

    architecture = "deepseek2-ocr"
    keys = {
        **Mixtral.keys,
        "leading_dense_block_count": uint32(1),
        "expert_shared_count": uint32(1),
        "expert_weights_scale": float32(1.5),
    }

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, key_heads=size.heads))

    def mlp_matrices(self):
        if self.is_first:
            return Decoder.mlp_matrices(self)
        return {**super().mlp_matrices(), **self.shared_matrices()}

    def layer(self, p):
        self.is_first = p == "blk.0."
        super().layer(p)


class Llama4(Mixtral):
    """Norms of queries and keys without a gain; each fourth layer has no positions. Each second layer has experts, whose
    weights multiply what they read."""

    architecture = "llama4"
    keys = {
        **Mixtral.keys,
        "expert_used_count": uint32(1),
        "attention.layer_norm_rms_epsilon": float32(1e-5),
        "interleave_moe_layer_step": uint32(2),
    }

    def layer(self, p):
        self.has_experts = int(p.split(".")[1]) % 2 == 1
        super().layer(p)

    def mlp_matrices(self):
        if not self.has_experts:
            return Decoder.mlp_matrices(self)
        return {**super().mlp_matrices(), **self.shared_matrices()}


class BailingMoe(Mixtral):
    architecture = "bailingmoe"
    keys = {
        **Mixtral.keys,
        "expert_shared_count": uint32(1),
        "expert_weights_scale": float32(1),
        "expert_weights_norm": boolean(True),
    }

    def mlp_matrices(self):
        return {**super().mlp_matrices(), **self.shared_matrices()}


class Olmoe(Qwen3Moe):
    architecture = "olmoe"

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, key_heads=size.heads))  # llama.cpp does not know others

    def head_norm_sizes(self):
        size = self.size
        return {"attn_q_norm": size.heads * size.head_width, "attn_k_norm": size.key_heads * size.head_width}


class SeedOss(Qwen2):
    architecture = "seed_oss"
    norms = ("attn_norm", "post_attention_norm")


class Phi3(Decoder):
    architecture = "phi3"

    def attention_matrices(self):
        size = self.size
        return {"attn_qkv": ((size.heads + 2 * size.key_heads) * size.head_width, size.width)}

    def mlp_matrices(self):
        size = self.size
        return {"ffn_up": (2 * size.hidden, size.width), "ffn_down": (size.width, size.hidden)}


class Starcoder2(Decoder):
    architecture, epsilon = "starcoder2", "attention.layer_norm_epsilon"
    biases = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down")
    has_gate, norm_bias = False, True


class CommandR(Decoder):
    architecture, epsilon = "command-r", "attention.layer_norm_epsilon"
    norms, output = ("attn_norm",), False
    keys = {"logit_scale": float32(0.25)}


class CommandRPlus(CommandR):
    """Norms of queries and keys, whose gains differ by the head."""

    name = "command-r-plus"

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, layers=64))  # by which llama.cpp knows of the norms

    def layer(self, p):
        super().layer(p)
        for name, heads in (("attn_q_norm", self.size.heads), ("attn_k_norm", self.size.key_heads)):
            self.vector(f"{p}{name}.weight", (heads, self.size.head_width), 1.0)


class Olmo(Decoder):
    architecture, epsilon = "olmo", "attention.layer_norm_epsilon"
    norms, final_norm = (), ""

    def norm(self, name, size):
        pass


class ClampedOlmo(Olmo):
    name = "olmo-clamped"
    keys = {"attention.clamp_kqv": float32(0.5)}


class Granite(Decoder):
    architecture = "granite"
    keys = {
        "attention.scale": float32(0.2),
        "embedding_scale": float32(3),
        "residual_scale": float32(0.4),
        "logit_scale": float32(5),
    }


class GraniteMoe(Mixtral):
    architecture = "granitemoe"
    keys = {**Granite.keys, **Mixtral.keys}


class GraniteMoeShared(GraniteMoe):
    name = "granitemoe-shared"
    keys = {**GraniteMoe.keys, "expert_shared_feed_forward_length": uint32(512)}

    def mlp_matrices(self):
        return {**super().mlp_matrices(), **self.shared_matrices()}


class StateSpace(Decoder):
    """Parts of Mamba-2: heads read values in groups."""

    values, states, space_heads, groups = 512, 32, 8, 1

    @classmethod
    def space_keys(cls, groups=groups):
        counts = {"state_size": cls.states, "group_count": groups, "time_step_rank": cls.space_heads}
        counts |= {"conv_kernel": 4, "inner_size": cls.values}
        return {"ssm." + key: uint32(count) for key, count in counts.items()}

    def space_matrices(self):
        width, into = self.size.width, 2 * self.values + 2 * self.groups * self.states + self.space_heads
        return {"ssm_in": (into, width), "ssm_out": (width, self.values)}

    def add_space(self, p, normed=True):
        channels, heads = self.values + 2 * self.groups * self.states, self.space_heads
        self.vector(p + "ssm_conv1d.weight", (channels, 4), 0.3)
        self.vector(p + "ssm_conv1d.bias", (channels,))
        self.vector(p + "ssm_a", (heads, 1), -1.0)
        self.vector(p + "ssm_d", (heads, 1), 1.0)
        self.vector(p + "ssm_dt.bias", (heads,))
        if normed:
            self.vector(p + "ssm_norm.weight", (self.groups, self.values // self.groups), 1.0)


class GraniteHybrid(GraniteMoeShared, StateSpace):
    """A state space in the place of the heads of two layers of three."""

    name = architecture = "granitehybrid"
    keys = {
        **GraniteMoeShared.keys,
        **StateSpace.space_keys(),
        "attention.head_count_kv": Lfm2.keys["attention.head_count_kv"],
        "rope.scaling.finetuned": boolean(False),
    }

    def matrices(self):
        if self.has_heads:
            return super().matrices()
        return {**self.space_matrices(), **self.mlp_matrices()}

    def layer(self, p):
        self.has_heads = int(p.split(".")[1]) % 3 == 2
        super().layer(p)
        if not self.has_heads:
            self.add_space(p)


class FalconH1(StateSpace):
    """A state space beside the heads of each layer."""

    name = architecture = "falcon-h1"
    keys, normed = StateSpace.space_keys(), False

    def norm(self, name, size):
        self.vector(name if name.endswith("ffn_norm") else name + ".weight", (size,), 1.0)

    def matrices(self):
        return {**super().matrices(), **self.space_matrices()}

    def layer(self, p):
        super().layer(p)
        self.add_space(p, self.normed)


class NormedFalconH1(FalconH1):
    name, groups, normed = "falcon-h1-norm", 2, True
    keys = StateSpace.space_keys(groups)


class Jamba(Mixtral):
    """A selective scan in the place of the heads of two layers of three, and experts in every other layer."""

    name = architecture = "jamba"
    values, states, rank = 512, 16, 24
    keys = {
        **Mixtral.keys,
        "attention.head_count_kv": Lfm2.keys["attention.head_count_kv"],
        "ssm.conv_kernel": uint32(4),
        "ssm.inner_size": uint32(values),
        "ssm.state_size": uint32(states),
        "ssm.time_step_rank": uint32(rank),
    }

    def mlp_matrices(self):
        return Mixtral.mlp_matrices(self) if self.number % 2 else Decoder.mlp_matrices(self)

    def matrices(self):
        if self.number % 3 == 2:
            return super().matrices()
        width = self.size.width
        return {
            "ssm_in": (2 * self.values, width),
            "ssm_x": (self.rank + 2 * self.states, self.values),
            "ssm_dt": (self.values, self.rank),
            "ssm_out": (width, self.values),
            **self.mlp_matrices(),
        }

    def layer(self, p):
        self.number = int(p.split(".")[1])
        super().layer(p)
        if self.number % 3 == 2:
            return
        self.vector(p + "ssm_conv1d.weight", (self.values, 4), 0.3)
        self.vector(p + "ssm_conv1d.bias", (self.values,))
        self.vector(p + "ssm_dt.bias", (self.values,))
        self.vector(p + "ssm_a", (self.values, self.states), -1.0)
        self.vector(p + "ssm_d", (self.values,), 1.0)
        for name, size in (("dt", self.rank), ("b", self.states), ("c", self.states)):
            self.norm(f"{p}ssm_{name}_norm", size)


class PanguEmbedded(Decoder):
    architecture, biases = "pangu-embedded", ("attn_q", "attn_k", "attn_v", "attn_output")


class Arcee(Decoder):
    architecture, has_gate = "arcee", False


class Nemotron(Arcee):
    """Half of the coordinates of a head turn."""

    architecture, epsilon, norm_bias = "nemotron", "attention.layer_norm_epsilon", True
    keys = {"rope.dimension_count": uint32(32)}


class Deci(Decoder):
    """Layers without heads, and with key heads and an MLP of their own. llama.cpp passes over those without an MLP,
    whose heads it leaves out."""

    architecture = "deci"
    key_heads, hidden = (2, 0, 4, 1, 0, 2), (512, 256, 256, 768, 512, 512)
    keys = {
        "attention.head_count": array(4, [struct.pack("<I", 4 if count else 0) for count in key_heads]),
        "attention.head_count_kv": array(4, [struct.pack("<I", count) for count in key_heads]),
        "feed_forward_length": array(4, [struct.pack("<I", count) for count in hidden]),
    }

    def matrices(self):
        return super().matrices() if self.size.key_heads else self.mlp_matrices()

    def layer(self, p):
        whole, number = self.size, int(p.split(".")[1])
        self.size = replace(whole, key_heads=self.key_heads[number], hidden=self.hidden[number])
        self.norms = Decoder.norms if self.size.key_heads else ("ffn_norm",)
        super().layer(p)
        self.size = whole


class NemotronHybrid(StateSpace):
    """Layers of a state space, of an MLP (or experts) and of heads in turn, each by itself."""

    architecture, norms, has_gate = "nemotron_h", ("attn_norm",), False
    groups, hidden = 2, 512
    keys = {
        **StateSpace.space_keys(groups),
        "attention.head_count_kv": Lfm2.keys["attention.head_count_kv"],
        "attention.layer_norm_epsilon": float32(1e-5),
        "feed_forward_length": array(4, [struct.pack("<I", count) for count in (0, hidden, 0) * 2]),
        "attention.key_length": uint32(64),
        "attention.value_length": uint32(64),
    }

    def matrices(self):
        if self.kind_of_layer == 0:
            return self.space_matrices()
        if self.kind_of_layer == 1:
            return self.mlp_matrices()
        size = self.size
        return {**self.attention_matrices(), "attn_output": (size.width, size.heads * size.head_width)}

    def layer(self, p):
        self.kind_of_layer = int(p.split(".")[1]) % 3
        super().layer(p)
        if self.kind_of_layer == 0:
            self.add_space(p)


class NemotronHybridMoe(NemotronHybrid, Mixtral):
    """Experts without gates that corrected sigmoids choose, and one that runs on every token."""

    name = architecture = "nemotron_h_moe"
    keys = {
        **NemotronHybrid.keys,
        **Mixtral.keys,
        "expert_shared_count": uint32(1),
        "expert_shared_feed_forward_length": uint32(512),
        "expert_weights_norm": boolean(True),
        "expert_weights_scale": float32(2.5),
        "expert_group_count": uint32(1),
    }

    def mlp_matrices(self):
        matrices = {**Mixtral.mlp_matrices(self), **self.shared_matrices()}
        del matrices["ffn_gate_exps"], matrices["ffn_gate_shexp"]
        return matrices

    def layer(self, p):
        super().layer(p)
        if self.kind_of_layer == 1:
            self.vector(p + "exp_probs_b.bias", (self.size.experts,))


class Nemotron3Super(NemotronHybridMoe):
    """What the experts that are chosen read and give is narrower than the tokens."""

    name, latent = "nemotron_h_moe-latent", 96
    keys = {**NemotronHybridMoe.keys, "moe_latent_size": uint32(latent)}

    def mlp_matrices(self):
        size = self.size
        return {
            **super().mlp_matrices(),
            "ffn_up_exps": (size.experts, size.hidden, self.latent),
            "ffn_down_exps": (size.experts, self.latent, size.hidden),
            "ffn_latent_down": (self.latent, size.width),
            "ffn_latent_up": (size.width, self.latent),
        }


class Olmo2(Decoder):
    architecture = "olmo2"
    norms = ("post_attention_norm", "post_ffw_norm")

    def head_norm_sizes(self):
        size = self.size
        return {"attn_q_norm": size.heads * size.head_width, "attn_k_norm": size.key_heads * size.head_width}


class Olmo3(Olmo2):
    name = "olmo3"
    keys = {"attention.sliding_window": uint32(8)}


class Glm4(Phi3):
    architecture = "glm4"
    norms = ("attn_norm", "ffn_norm", "post_attention_norm", "post_ffw_norm")
    biases = Qwen2.biases
    attention_matrices = Decoder.attention_matrices
    keys = {"rope.dimension_count": uint32(32)}


class Glm4Sections(Glm4):
    """The text of GLM-V, whose halves of the turned part are pairs."""

    name = "glm4-sections"
    keys = {**Glm4.keys, "rope.dimension_sections": array(5, [struct.pack("<i", n) for n in (8, 4, 4, 0)])}


class SmolLm3(Decoder):
    """Each fourth layer has no positions."""

    architecture = "smollm3"


class InternLm2(Decoder):
    architecture = "internlm2"


class Exaone(Decoder):
    architecture = "exaone"


class Mistral3(Decoder):
    architecture = "mistral3"


class Ministral3(Mistral3):
    """Queries are scaled from the end of the first training's length on."""

    name = "ministral3"
    keys = {
        "rope.scaling.type": string("yarn"),
        "rope.scaling.factor": float32(16),
        "rope.scaling.original_context_length": uint32(16384),
        "rope.scaling.yarn_beta_fast": float32(32),
        "rope.scaling.yarn_beta_slow": float32(1),
        "rope.scaling.yarn_log_multiplier": float32(0.7),
        "attention.temperature_scale": float32(0.1),
    }


AXES = {"rope.dimension_sections": array(5, [struct.pack("<i", pairs) for pairs in (11, 11, 10, 0)])}


class Qwen2Vl(Qwen2):
    """llama.cpp does not read its epsilon."""

    architecture = "qwen2vl"
    keys = {"attention.layer_norm_rms_epsilon": float32(1e-12), **AXES}


class Qwen3Vl(Qwen3):
    architecture, keys = "qwen3vl", AXES


class Qwen3VlMoe(Qwen3Moe):
    architecture = "qwen3vlmoe"
    keys = {**Qwen3Moe.keys, **AXES}


class Exaone4(Olmo2):
    """Without windows all layers turn."""

    architecture, head_norm_sizes = "exaone4", Decoder.head_norm_sizes
    head_norms = Qwen3.head_norms


class Exaone4Windows(Exaone4):
    name = "exaone4-32b"
    keys = {"attention.sliding_window": uint32(8)}

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, layers=64))  # by which llama.cpp knows of windows


class Cohere2(CommandR):
    architecture = "cohere2"
    keys = {**CommandR.keys, "attention.sliding_window": uint32(8)}


class Phi2(Decoder):
    architecture, epsilon = "phi2", "attention.layer_norm_epsilon"
    norms = ("attn_norm",)
    biases = Starcoder2.biases
    has_gate, norm_bias = False, True
    keys = {"rope.dimension_count": uint32(32)}

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, key_heads=size.heads))
        self.vector("output.bias", (size.vocabulary,))


class Glm4Moe(Mixtral):
    """The first layer has an MLP."""

    architecture, correction = "glm4moe", "exp_probs_b.bias"
    norms = ("attn_norm", "post_attention_norm")
    head_norms = Qwen3.head_norms
    biases = Qwen2.biases
    keys = {
        **Mixtral.keys,
        "rope.dimension_count": uint32(32),
        "leading_dense_block_count": uint32(1),
        "expert_shared_count": uint32(1),
        "expert_weights_scale": float32(2.5),
        "expert_weights_norm": boolean(True),
        "expert_gating_func": uint32(2),
    }

    def mlp_matrices(self):
        if self.is_first:
            return Decoder.mlp_matrices(self)
        return {**super().mlp_matrices(), **self.shared_matrices()}

    def layer(self, p):
        self.is_first = p == "blk.0."
        super().layer(p)
        if not self.is_first:
            self.vector(p + self.correction, (self.size.experts,))


class Dots1(Glm4Moe):
    """As many keys as queries."""

    architecture, norms, biases = "dots1", Decoder.norms, ()
    keys = {**Glm4Moe.keys, "rope.dimension_count": uint32(64)}

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, key_heads=size.heads))


class ExaoneMoe(Glm4Moe):
    """Each fourth layer has neither window nor positions."""

    architecture, norms, biases = "exaone-moe", Decoder.norms, ()
    keys = {**Glm4Moe.keys, "rope.dimension_count": uint32(64), "attention.sliding_window": uint32(8)}


class Hy3(Glm4Moe):
    architecture, norms, biases, correction = "hy_v3", Decoder.norms, (), "exp_probs_b"
    keys = {**Glm4Moe.keys, "rope.dimension_count": uint32(64)}


class Mimo2(Glm4Moe):
    """Each other layer has no window, fewer keys and no sinks; values are narrower than keys."""

    architecture, norms, biases, head_norms, value_width = "mimo2", Decoder.norms, (), (), 32
    keys = {
        **Glm4Moe.keys,
        "attention.key_length": uint32(64),
        "attention.value_length": uint32(value_width),
        "attention.value_scale": float32(0.7),
        "attention.sliding_window": uint32(8),
        "rope.freq_base_swa": float32(100),
        "expert_weights_scale": float32(1),
    }

    def __init__(self, kind, size):
        self.key_heads = [size.key_heads // (1 + layer % 2) for layer in range(size.layers)]
        super().__init__(kind, size)

    def shared_matrices(self):
        return {}

    def matrices(self):
        size, keys = self.size, self.key_heads[self.number]
        return {
            "attn_q": (size.heads * size.head_width, size.width),
            "attn_k": (keys * size.head_width, size.width),
            "attn_v": (keys * self.value_width, size.width),
            "attn_output": (size.width, size.heads * self.value_width),
            **self.mlp_matrices(),
        }

    def layer(self, p):
        self.number = int(p.split(".")[1])
        super().layer(p)
        if self.number % 2 == 0:
            self.vector(p + "attn_sinks.weight", (self.size.heads,))

    def metadata(self):
        found = super().metadata()
        prefix = self.architecture + "."
        pattern = [struct.pack("<i", 1 - layer % 2) for layer in range(self.size.layers)]
        counts = [struct.pack("<I", heads) for heads in self.key_heads]
        return {
            **found,
            prefix + "attention.sliding_window_pattern": array(5, pattern),
            prefix + "attention.head_count_kv": array(4, counts),
        }


class Ernie45Moe(Glm4Moe):
    architecture, name, norms, biases, head_norms = "ernie4_5-moe", "ernie4_5-moe", Decoder.norms, (), ()
    keys = {
        **Mixtral.keys,
        "leading_dense_block_count": uint32(1),
        "interleave_moe_layer_step": uint32(1),
        "expert_shared_count": uint32(1),
        "expert_shared_feed_forward_length": uint32(512),
    }


class Afmoe(Glm4Moe):
    """Gates of what heads read, and layers without positions."""

    architecture, biases = "afmoe", ()
    norms = ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm")
    keys = {
        **Glm4Moe.keys,
        "rope.dimension_count": uint32(64),
        "attention.sliding_window": uint32(8),
        "attention.key_length": uint32(64),
        "attention.value_length": uint32(64),
    }

    def matrices(self):
        heads = self.size.heads * self.size.head_width
        return {**super().matrices(), "attn_gate": (heads, self.size.width)}


class HunyuanDense(Decoder):
    """Norms of queries and keys behind the rotation."""

    architecture, head_norms = "hunyuan-dense", Qwen3.head_norms


class MiniMaxM2(Mixtral):
    """The norms of queries and keys are those of all heads together."""

    architecture, head_norm_sizes = "minimax-m2", Olmo2.head_norm_sizes
    keys = {**Mixtral.keys, "rope.dimension_count": uint32(32), "expert_gating_func": uint32(2)}

    def layer(self, p):
        super().layer(p)
        self.vector(p + "exp_probs_b.bias", (self.size.experts,))


class MiniMaxM3(Glm4Moe):
    """Norms of each head; the attention of other layers than the first selects blocks of keys."""

    architecture, norms, biases = "minimax-m3", Decoder.norms, ()
    keys = {
        **Glm4Moe.keys,
        "attention.indexer.head_count": uint32(2),
        "attention.indexer.key_length": uint32(64),
        "attention.indexer.top_k": uint32(16),
        "attention.indexer.block_size": uint32(128),
        "attention.indexer.local_blocks": uint32(1),
    }

    def layer(self, p):
        super().layer(p)
        if not self.is_first:
            for name, outputs in (("q", 128), ("k", 64)):
                self.matrix(f"{p}indexer.{name}_proj", (outputs, self.size.width), 0.1)
                self.norm(f"{p}indexer.{name}_norm", 64)


class Gemma(Decoder):
    architecture, output = "gemma", False
    keys = {"attention.key_length": uint32(64), "attention.value_length": uint32(64)}


class Gemma2(Gemma):
    architecture = "gemma2"
    norms = ("attn_norm", "ffn_norm", "post_attention_norm", "post_ffw_norm")
    keys = {
        **Gemma.keys,
        "attention.sliding_window": uint32(8),
        "attn_logit_softcapping": float32(2),
        "final_logit_softcapping": float32(3),
    }


class Gemma3(Gemma2):
    architecture = "gemma3"
    head_norms = ("attn_q_norm", "attn_k_norm")
    keys = {**Gemma.keys, "attention.sliding_window": uint32(8), "rope.freq_base": float32(1e6)}


class Gemma4(Gemma):
    """Each third layer has no window, but wider heads, whose values are the keys; a factor of what leaves a layer."""

    architecture, norms, head_norms = "gemma4", Gemma2.norms, Gemma3.head_norms
    full_width, full_key_heads, sharing, inputs = 128, 1, 0, 0
    keys_are_values = True

    def __init__(self, kind, size):
        full = [layer % 3 == 2 for layer in range(size.layers)]
        self.keys = {
            **self.keys,
            "attention.head_count_kv": array(
                5, [struct.pack("<i", self.full_key_heads if it else size.key_heads) for it in full]
            ),
            "attention.key_length": uint32(self.full_width),
            "attention.value_length": uint32(self.full_width),
            "attention.key_length_swa": uint32(size.head_width),
            "attention.value_length_swa": uint32(size.head_width),
            "attention.sliding_window": uint32(8),
            "attention.sliding_window_pattern": array(7, [struct.pack("<?", not it) for it in full]),
            "attention.shared_kv_layers": uint32(self.sharing),
            "embedding_length_per_layer_input": uint32(self.inputs),
            "rope.dimension_count": uint32(self.full_width),
            "rope.dimension_count_swa": uint32(size.head_width),
            "rope.freq_base": float32(1e6),
            "rope.freq_base_swa": float32(1e4),
            "final_logit_softcapping": float32(3),
        }
        super().__init__(kind, size)
        pairs = self.full_width // 2
        divisors = np.where(np.arange(pairs) < pairs // 4, 1, 1e30)
        self.tensors.append(("rope_freqs.weight", (pairs,), "F32", encoded(divisors, "F32")))

    def layer(self, p):
        layer = int(p.split(".")[1])
        self.is_full, self.uses_earlier = layer % 3 == 2, layer >= self.size.layers - self.sharing
        super().layer(p)
        self.vector(p + "layer_output_scale.weight", (1,), 1.0)

    def head_width(self):
        return self.full_width if self.is_full else self.size.head_width

    def head_norm_sizes(self):
        names = self.head_norms[: 1 if self.uses_earlier else 2]
        return dict.fromkeys(names, self.head_width())

    def attention_matrices(self):
        size, width = self.size, self.head_width()
        matrices = {"attn_q": (size.heads * width, size.width)}
        keys = ((self.full_key_heads if self.is_full else size.key_heads) * width, size.width)
        if not self.uses_earlier:
            matrices["attn_k"] = keys
        if not self.uses_earlier and not (self.is_full and self.keys_are_values):
            matrices["attn_v"] = keys
        return matrices

    def matrices(self):
        return {**super().matrices(), "attn_output": (self.size.width, self.size.heads * self.head_width())}


class Gemma4Moe(Gemma4):
    """Experts beside the MLP, with norms of their own."""

    name = "gemma4-moe"
    joins = True  # gates and ups are one tensor
    norms = (*Gemma4.norms, "pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2")
    keys = {**Gemma4.keys, **Mixtral.keys}

    def mlp_matrices(self):
        of_experts = Mixtral.mlp_matrices(self)
        if self.joins:
            experts, hidden, width = of_experts.pop("ffn_gate_exps")
            of_experts["ffn_gate_up_exps"] = (experts, 2 * hidden, width)
            del of_experts["ffn_up_exps"]
        return {**super().mlp_matrices(), **of_experts}

    def layer(self, p):
        super().layer(p)
        self.vector(p + "ffn_gate_inp.scale", (self.size.width,), 4.0)
        self.vector(p + "ffn_down_exps.scale", (self.size.experts,), 1.0)


class Gemma4MoeApart(Gemma4Moe):
    name, joins = "gemma4-moe-apart", False


class Gemma4Small(Gemma4):
    """Per-layer embeddings; the last layers use earlier keys and values, and have wider MLPs."""

    name, sharing, inputs = "gemma4-small", 3, 48
    full_key_heads, keys_are_values = 2, False

    def __init__(self, kind, size):
        wide = [struct.pack("<i", (1 if it < size.layers - self.sharing else 2) * size.hidden) for it in range(size.layers)]
        self.keys = {**self.keys, "feed_forward_length": array(5, wide)}
        super().__init__(kind, size)
        rows = size.layers * self.inputs
        self.matrix("per_layer_token_embd", (size.vocabulary, rows), 0.3)
        self.matrix("per_layer_model_proj", (rows, size.width), 0.3)
        self.norm("per_layer_proj_norm", self.inputs)

    def mlp_matrices(self):
        size = self.size
        hidden = size.hidden * (2 if self.uses_earlier else 1)
        return {
            "ffn_gate": (hidden, size.width),
            "ffn_up": (hidden, size.width),
            "ffn_down": (size.width, hidden),
            "inp_gate": (self.inputs, size.width),
            "proj": (size.width, self.inputs),
        }

    def layer(self, p):
        super().layer(p)
        self.norm(p + "post_norm", self.size.width)


class Encoder:
    """What llama.cpp needs for the mean of the last layer's tokens."""

    keys = {"pooling_type": uint32(1), "attention.causal": boolean(False)}


class GemmaEmbedding(Encoder, Gemma3):
    architecture = "gemma-embedding"
    keys = {**Gemma3.keys, **Encoder.keys}


class ModernBert(Encoder, Decoder):
    """The first layer has no norm before its attention, and each third no window."""

    architecture, epsilon, output = "modern-bert", "attention.layer_norm_epsilon", False
    keys = {
        **Encoder.keys,
        "attention.sliding_window": uint32(8),
        "attention.sliding_window_pattern": uint32(3),
        "rope.freq_base": float32(1000),
        "rope.freq_base_swa": float32(50),
        "rope.scaling.type": string("none"),
    }

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, key_heads=size.heads))
        self.norm("token_embd_norm", size.width)

    def attention_matrices(self):
        return {"attn_qkv": (3 * self.size.width, self.size.width)}

    mlp_matrices = Phi3.mlp_matrices

    def layer(self, p):
        self.norms = Decoder.norms[1:] if p == "blk.0." else Decoder.norms
        super().layer(p)


class ModernBertSilu(ModernBert):
    name = "modern-bert-silu"
    keys = {**ModernBert.keys, "hidden_activation": string("silu")}


class NomicBert(Encoder, Decoder):
    """Norms come after the branches."""

    architecture, epsilon, output = "nomic-bert", "attention.layer_norm_epsilon", False
    norms, norm_bias = ("attn_output_norm", "layer_output_norm"), True
    keys = {**Encoder.keys, "rope.freq_base": float32(1000)}

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, key_heads=size.heads))
        self.tensors = [tensor for tensor in self.tensors if not tensor[0].startswith("output_norm")]
        self.norm("token_embd_norm", size.width)
        self.matrix("token_types", (2, size.width), 0.1)

    def metadata(self):
        return {**super().metadata(), "tokenizer.ggml.token_type_count": uint32(2)}

    attention_matrices = ModernBert.attention_matrices


class GptNeox(Decoder):
    """Attention and MLP read the same tokens."""

    architecture, epsilon = "gptneox", "attention.layer_norm_epsilon"
    biases = ("attn_qkv", "attn_output", "ffn_up", "ffn_down")
    has_gate, norm_bias = False, True
    keys = {"rope.dimension_count": uint32(16), "use_parallel_residual": boolean(True)}
    shares_keys = False  # of all heads

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, key_heads=1 if self.shares_keys else size.heads))

    attention_matrices = Phi3.attention_matrices


class GptNeoxInTurn(GptNeox):
    name = "gptneox-in-turn"
    keys = {**GptNeox.keys, "use_parallel_residual": boolean(False)}


class StableLm(Decoder):
    architecture, epsilon = "stablelm", "attention.layer_norm_epsilon"
    biases, norm_bias = Qwen2.biases, True
    keys = {"rope.dimension_count": uint32(16), "use_parallel_residual": boolean(False)}


class Ernie45(Decoder):
    architecture = "ernie4_5"


class Falcon(Decoder):
    """A norm each for attention and MLP, which both read the tokens that enter the layer."""

    architecture, epsilon = "falcon", "attention.layer_norm_epsilon"
    norms = ("attn_norm", "attn_norm_2")
    has_gate, norm_bias = False, True
    attention_matrices = Phi3.attention_matrices


class Falcon7b(Falcon):
    """One norm, and one key head."""

    name, norms = "falcon-7b", ("attn_norm",)

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, key_heads=1))


class Bloom(GptNeox):
    """ALiBi, and a norm of the embeddings."""

    architecture, keys = "bloom", {}

    def __init__(self, kind, size):
        super().__init__(kind, size)
        self.norm("token_embd_norm", size.width)


class BloomSixHeads(Bloom):
    """A number of heads that is no power of two."""

    name = "bloom-6"

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, width=384, heads=6))


class Mpt(GptNeox):
    """ALiBi; no biases."""

    architecture, keys = "mpt", {"attention.max_alibi_bias": float32(6)}
    biases, norm_bias, output = (), False, False


class Gpt2(GptNeox):
    """Learned positions."""

    architecture, keys = "gpt2", {}

    def __init__(self, kind, size):
        super().__init__(kind, size)
        self.matrix("position_embd", (size.length, size.width), 0.5)


class Starcoder(Gpt2):
    """One key head."""

    architecture, shares_keys = "starcoder", True


class JinaBert2(NomicBert):
    """ALiBi on both sides; queries, keys and values apart."""

    architecture = "jina-bert-v2"
    keys = Encoder.keys
    biases = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_down")
    attention_matrices = Decoder.attention_matrices


class EuroBert(Encoder, Decoder):
    """LLaMA's layers, whose tokens see both sides."""

    architecture, output = "eurobert", False
    keys = {**Encoder.keys, "rope.freq_base": float32(1000)}


class Qwen(Decoder):
    """Its gate and what it gates have half the width of the metadata."""

    architecture, biases = "qwen", ("attn_qkv",)
    keys = {"feed_forward_length": uint32(1024)}
    attention_matrices = Phi3.attention_matrices

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, key_heads=size.heads))


class MiniCpm(Decoder):
    architecture = "minicpm"
    keys = {"embedding_scale": float32(3), "residual_scale": float32(0.4), "logit_scale": float32(5)}


class MiniCpmFirst(MiniCpm):
    """Without its scales; at this width llama.cpp has those of the first models."""

    name, keys = "minicpm-first", {}


class MiniCpm3(DeepSeek):
    """llama.cpp has the scales."""

    architecture = "minicpm3"
    keys = {
        "attention.layer_norm_rms_epsilon": float32(1e-6),
        "attention.head_count_kv": uint32(4),
        "attention.q_lora_rank": uint32(DeepSeek.ranks[0]),
        "attention.kv_lora_rank": uint32(DeepSeek.ranks[1]),
        "attention.key_length": uint32(96),
        "attention.value_length": uint32(48),
        "rope.dimension_count": uint32(32),
    }

    def __init__(self, kind, size):
        super().__init__(kind, replace(size, width=512))

    def matrices(self):
        joined = {"attn_kv_b": (self.size.heads * (self.compressed + self.values), self.ranks[1])}
        matrices = {**super().matrices(), **joined}
        for name in ("attn_k_b", "attn_v_b"):
            del matrices[name]
        return matrices

    def layer(self, p):
        self.is_first = True  # all have an MLP
        Decoder.layer(self, p)


def subclasses(kind):
    return [kind, *(below for each in kind.__subclasses__() for below in subclasses(each))]


def main(name, kind, path, size="small", silenced=""):
    kinds = {vars(each).get("name", each.architecture): each for each in reversed(subclasses(Decoder))}
    Decoder.silenced = silenced
    model = kinds[name](kind, SIZES[size])
    write(path, model.tensors, model.metadata())


if __name__ == "__main__":
    main(*sys.argv[1:])
