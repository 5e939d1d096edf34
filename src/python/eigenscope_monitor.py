"""Eigenspectra of attention heads while a model trains: the fields of `eigenscope heads` as Python dictionaries.

One file to copy beside a training script. It needs torch, or numpy where torch is absent.

    head_spectra(model)                        {"0.3": {"mean": ..., "spectral_norm": ..., ...}, ...}
    AttentionProbe(model)                      largest logit, entropy and sink on a sample of rows
    write_snapshot("snapshots", step, model)   queries and keys alone, which `eigenscope heads snapshots` opens
    Alarms()                                   which signals passed a published threshold, and at which step
    Monitor(every=100)                         all of these every 100 steps, for any training loop
    trainer_callback, lightning_callback       the same for the Hugging Face Trainer and for Lightning

A head is named "LAYER.HEAD", or "STACK.LAYER.HEAD" in a model with several stacks. W = W_Q W_K^T is d x d and has the
gains of the norms before the projections, the scale of the logits beside 1/sqrt(d_h), and rotary positions at offset
0, as `eigenscope heads` has it. Every refused value is a ValueError: what must hold, and what was found.
"""

import ctypes
import json
import math
import os
import re
import struct
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

try:
    import torch
except ImportError:
    torch = None
try:
    import numpy
except ImportError:
    numpy = None

COMPONENTS_SHARE = 0.9  # of the sum of squares that `components` singular values hold
SNAPSHOT_FORMAT = "eigenscope snapshot 1"  # in the metadata of a snapshot, by which `eigenscope heads` reads its step
MOST_STEPS = 10_000_000  # that the command reads


# --- Conventions of model types ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attention:
    """Names and conventions of the attention in one stack of layers; "{n}" stands for the number of a layer.

    Any prefix that ends with "." may come before the names. A bias has "bias" for the final "weight" of its weight and
    need not be there; every other named tensor must be there.
    """

    query: str  # weight of the queries, or of all projections where they are fused
    layout: str  # one of LAYOUTS, whose first four are those of --map-layout of `eigenscope heads`
    gains: str  # a gain g is stored as g ("plain") or as g - 1 ("plus_one"); "none": no gain is folded
    key: str = ""  # weight of the keys; empty where it is fused
    gain: str = ""  # of the norm that queries and keys read
    key_gain: str = ""  # where keys read another norm
    query_norm: str = ""  # gain of a norm of the queries: of each head, or of all together
    key_norm: str = ""
    # Latent attention: projections that compress tokens to queries (none: queries read the tokens), and to keys with,
    # in the last rows, a rotary key of all heads; and the gains of the norms of the compressed tokens.
    query_latent: str = ""
    query_latent_gain: str = ""
    key_latent: str = ""
    key_latent_gain: str = ""
    # Gain of the norm at the end of layer n, for post-norm models: only in the bound; the first of these that is there.
    input_norm: tuple = ()
    first_input_norm: str = ""  # the same before layer 0
    sinks: str = ""  # learned logits of the softmax, one a head
    sinks_in: str = ""  # "window": layers without a sliding window have none
    embeddings: str = "embed_tokens.weight"  # of the stack that is read of several with these names
    parts: tuple = ()  # types of the text in a model of several parts
    layers: str = "num_hidden_layers"  # key of the configuration: layers beyond that number are left out; empty: none
    stack: str = ""
    config: str = ""  # object of the configuration with the keys of this stack
    heads: str = "num_attention_heads"  # key of the configuration
    key_heads: str = ""
    single_keys: str = ""  # key of a switch, on where it is left out: all heads share one key
    head_width: str = "head_dim"
    full: tuple = ()  # keys in place of these two in layers without a sliding window, where the configuration has them
    full_switch: str = ""  # key of a switch: false leaves the first of them out
    local: tuple = ()  # keys of heads, key heads and head width in layers with a sliding window, likewise
    last_full: bool = False  # the last layer has no window, whatever its type
    shared_keys: str = ""  # key of the number of last layers that use the keys of the last layer of their kind before them
    width: str = "hidden_size"
    default_heads: int = 0  # where the configuration has no count
    scale: str = ""  # key of the configuration with the scale of the logits itself
    query_scalar: int = 0  # where the configuration has no such scale, nor `scalar`; 0: the head width
    scalar: str = ""  # key of the number that takes the place of the head width in 1/sqrt(d_h)
    terms: str = ""  # key of a list, or a text like "c2p|p2c", of further terms of the logits: n divide them by sqrt(1 + n)
    input_factor: str = ""  # keys of factors of what queries and keys read, and of the keys
    key_factor: str = ""
    yarn_scales: bool = False  # "mscale_all_dim" of the rotary scaling also multiplies all logits
    rotary: float = 0.0  # part of a head's coordinates that positions turn, unless the configuration has it; 0: none
    rotary_key: str = "partial_rotary_factor"
    rotary_width: str = ""  # key of the number of turned coordinates, which precedes the part
    rotary_if: tuple = ()  # a key and the value that it has where positions turn
    rotary_every: int = 0  # each so many-eth layer turns nothing, unless `no_rope_layers` lists them
    rotary_bases: str = ""  # key of a list with the base of each layer, of which 0 turns nothing
    windows: bool = False  # layers with a sliding window have other angles
    window: int = 0  # size of sliding windows where the configuration has no `sliding_window`; 0: none
    windows_every: str = "sliding_window_pattern"  # key of the number
    windows_list: str = ""  # key of a list with 1 for each layer that has a sliding window
    window_every: int = 0  # each so many-eth layer has no sliding window, unless `layer_types` lists them
    rotary_in: str = ""  # "window": where layers have sliding windows, others turn nothing
    without_window: str = ""  # "all" or "none" of the layers of these turn where `sliding_window` is null
    scaled_in: str = ""  # "full": the angles of layers with a sliding window are not scaled
    bare_first: bool = False  # layer 0 has no norm before its attention
    norm_first: str = ""  # key of a switch: false for a model whose norms come after, with nothing to fold
    norms_switch: str = ""  # key of a switch: query_norm and key_norm are there only where it is true
    normalizes: str = ""  # key of a switch, true without it: queries and keys are normalized without gains
    usual: tuple = ()  # pairs of a key and its value: another value changes the logits in a way that is not known
    marks: tuple = ()  # names by which `eigenscope heads` tells the family from others with the same names


def _llama(**changes):
    return Attention(
        query="layers.{n}.self_attn.q_proj.weight",
        key="layers.{n}.self_attn.k_proj.weight",
        layout="separate",
        gain="layers.{n}.input_layernorm.weight",
        key_heads="num_key_value_heads",
        rotary=1.0,
        **{"gains": "plain", **changes},
    )


def _bert(layer="encoder.layer.{n}.", inner="attention.self.", end="output.LayerNorm.weight", **changes):
    return Attention(
        query=layer + inner + changes.pop("query", "query.weight"),
        key=layer + inner + changes.pop("key", "key.weight"),
        layout="separate",
        gains="none",
        input_norm=(layer + end, layer + "mlp.layernorm.weight"),  # the latter in Jina embeddings 2
        first_input_norm="embeddings.LayerNorm.weight",
        **changes,
    )


def _vit(gain, **changes):
    layer = "encoder.layer.{n}."
    return Attention(
        query=layer + "attention.attention.query.weight",
        key=layer + "attention.attention.key.weight",
        layout="separate",
        gain=layer + gain,
        gains="plain",
        **changes,
    )


def _clip(stack, default_heads):
    layer = f"{stack}_model.encoder.layers.{{n}}."
    return Attention(
        query=layer + "self_attn.q_proj.weight",
        key=layer + "self_attn.k_proj.weight",
        layout="separate",
        gain=layer + "layer_norm1.weight",
        gains="plain",
        stack=stack,
        config=f"{stack}_config",
        default_heads=default_heads,
    )


def _encoder_decoder(norms, key_heads, marks, **changes):
    """Three stacks; `norms` are those before self-attention and before cross-attention."""

    def stack(name, side, attention, norm, **more):
        layer = f"{side}.layers.{{n}}."
        return Attention(
            query=f"{layer}{attention}.q_proj.weight",
            key=f"{layer}{attention}.k_proj.weight",
            layout="separate",
            gain=f"{layer}{norm}.weight",
            gains="plain",
            stack=name,
            heads=heads_key.format(side),
            key_heads=key_heads.format(side),
            layers="",
            marks=marks,
            **more,
        )

    heads_key = changes.pop("heads")
    return (
        stack("encoder", "encoder", "self_attn", norms[0], **changes),
        stack("decoder", "decoder", "self_attn", norms[0], **changes),
        stack("cross", "decoder", "encoder_attn", norms[1], key_gain="encoder.layer_norm.weight"),
    )


def _latent(**changes):
    """Latent attention (DeepSeek-AI, 2024, arXiv:2405.04434), with compressed queries or without."""
    layer = "layers.{n}.self_attn."
    query = {
        "query": layer + "q_b_proj.weight",
        "query_latent": layer + "q_a_proj.weight",
        "query_latent_gain": layer + "q_a_layernorm.weight",
    }
    rest = {
        "key": layer + "kv_b_proj.weight",
        "key_latent": layer + "kv_a_proj_with_mqa.weight",
        "key_latent_gain": layer + "kv_a_layernorm.weight",
        "layout": "latent",
        "key_heads": "",
        "head_width": "qk_head_dim",
        "yarn_scales": True,
        **changes,
    }
    return replace(_llama(), **rest, **query), replace(_llama(), **rest)


def _t5():
    """Three stacks, whose logits are not divided by sqrt(d_h)."""

    def stack(name, side, part, **more):
        layer = f"{side}.block.{{n}}.layer.{part}."
        return Attention(
            query=layer + "q.weight",
            key=layer + "k.weight",
            layout="separate",
            gain=f"{side}.block.{{n}}.layer.{part[0]}.layer_norm.weight",
            gains="plain",
            stack=name,
            heads="num_heads",
            head_width="d_kv",
            width="d_model",
            query_scalar=1,
            layers="",
            **more,
        )

    return (
        stack("encoder", "encoder", "0.SelfAttention"),
        stack("decoder", "decoder", "0.SelfAttention"),
        stack("cross", "decoder", "1.EncDecAttention", key_gain="encoder.final_layer_norm.weight"),
    )


_NORMS = {
    "query_norm": "layers.{n}.self_attn.q_norm.weight",
    "key_norm": "layers.{n}.self_attn.k_norm.weight",
}
_GTE = Attention(
    query="encoder.layer.{n}.attention.q_proj.weight",
    key="encoder.layer.{n}.attention.k_proj.weight",
    layout="separate",
    gains="none",
    input_norm=("encoder.layer.{n}.mlp_ln.weight",),
    first_input_norm="embeddings.LayerNorm.weight",
    rotary=1.0,
    rotary_if=("position_embedding_type", "rope"),
)
_GPT2 = Attention(
    query="h.{n}.attn.c_attn.weight",
    layout="conv1d",
    gain="h.{n}.ln_1.weight",
    gains="plain",
    heads="n_head",
    width="n_embd",
    usual=(
        ("scale_attn_weights", True),
        ("scale_attn_by_inverse_layer_idx", False),
        ("layer_norm", "pre"),
        ("positions", "learned"),
    ),
)

_GPT_NEO = Attention(
    query="h.{n}.attn.attention.q_proj.weight",
    key="h.{n}.attn.attention.k_proj.weight",
    layout="separate",
    gain="h.{n}.ln_1.weight",
    gains="plain",
    layers="num_layers",
)

_OLMO2 = replace(_llama(gains="none", **_NORMS), gain="")
_EXAONE4 = replace(_OLMO2, window=4096, window_every=4, rotary_in="window", without_window="all")
_LLAMA4 = _llama(rotary_every=4, normalizes="use_qk_norm")
_LFM2 = replace(
    _llama(),
    gain="layers.{n}.operator_norm.weight",
    query_norm="layers.{n}.self_attn.q_layernorm.weight",
    key_norm="layers.{n}.self_attn.k_layernorm.weight",
)
_QWEN35 = replace(
    _llama(gains="plus_one", usual=(("attn_output_gate", True),), **_NORMS), layout="gated", rotary=0.25
)
# Logits are not divided by sqrt(d_h).
_GEMMA4 = _llama(
    query_scalar=1,
    windows=True,
    window=512,
    window_every=6,
    full=("num_global_key_value_heads", "global_head_dim"),
    full_switch="attention_k_eq_v",
    last_full=True,
    shared_keys="num_kv_shared_layers",
    **_NORMS,
)
_GRANITE = _llama(query_scalar=1, scale="attention_multiplier")  # logits are not divided by sqrt(d_h)

# Types of config.json whose conventions are known. Another one is refused, whatever the names of its tensors.
TYPES = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "camembert"), (_bert(),)),
    "distilbert": (
        _bert(
            layer="transformer.layer.{n}.",
            inner="attention.",
            query="q_lin.weight",
            key="k_lin.weight",
            end="output_layer_norm.weight",
            heads="n_heads",
            width="dim",
        ),
    ),
    # A layer of the file is that of a group of layers, behind others each time: no norm is known to come before it.
    "albert": (
        replace(
            _bert(layer="encoder.albert_layer_groups.{n}.albert_layers.0.", inner="attention."),
            input_norm=(),
            first_input_norm="",
        ),
    ),
    # Embeddings may be mapped behind their norm.
    "electra": (replace(_bert(), input_norm=(), first_input_norm=""),),
    "mpnet": (_bert(inner="attention.attn.", query="q.weight", key="k.weight"),),
    "deberta-v2": (_bert(query="query_proj.weight", key="key_proj.weight", terms="pos_att_type"),),
    **dict.fromkeys(("t5", "mt5", "umt5"), _t5()),
    **dict.fromkeys(
        ("new", "gte"),
        (replace(_GTE, query="encoder.layer.{n}.attention.qkv_proj.weight", key="", layout="fused"), _GTE),
    ),
    "modernbert": (
        Attention(
            query="layers.{n}.attn.Wqkv.weight",
            layout="fused",
            gain="layers.{n}.attn_norm.weight",
            gains="plain",
            rotary=1.0,
            windows=True,
            bare_first=True,
        ),
    ),
    "gpt2": (_GPT2,),
    "qwen": (
        replace(
            _GPT2,
            layout="fused",
            heads="num_attention_heads",
            width="hidden_size",
            rotary=1.0,
            rotary_key="rotary_pct",
            usual=(("scale_attn_weights", True),),
        ),
    ),
    "gpt_bigcode": (
        replace(_GPT2, layout="interleaved", single_keys="multi_query", usual=(("scale_attn_weights", True),)),
    ),
    "bloom": (
        Attention(
            query="h.{n}.self_attention.query_key_value.weight",
            layout="interleaved",
            gain="h.{n}.input_layernorm.weight",
            gains="plain",
            heads="n_head",
        ),
    ),
    "mpt": (
        Attention(
            query="blocks.{n}.attn.Wqkv.weight",
            layout="fused",
            gain="blocks.{n}.norm_1.weight",
            gains="plain",
            heads="n_heads",
            width="d_model",
        ),
    ),
    "gpt_neox": (
        Attention(
            query="layers.{n}.attention.query_key_value.weight",
            layout="interleaved",
            gain="layers.{n}.input_layernorm.weight",
            gains="plain",
            rotary=0.25,
            rotary_key="rotary_pct",
        ),
    ),
    "gptj": (
        Attention(
            query="h.{n}.attn.q_proj.weight",
            key="h.{n}.attn.k_proj.weight",
            layout="separate",
            gain="h.{n}.ln_1.weight",
            gains="plain",
            layers="n_layer",
            heads="n_head",
            width="n_embd",
            rotary=1.0,
            rotary_width="rotary_dim",
        ),
    ),
    "gpt_neo": (replace(_GPT_NEO, heads="num_heads", query_scalar=1),),  # logits are not divided by sqrt(d_h)
    "exaone": (replace(_GPT_NEO, key_heads="num_key_value_heads", rotary=1.0),),
    "nomic_bert": (
        Attention(
            query="encoder.layers.{n}.attn.Wqkv.weight",
            layout="fused",
            gains="none",
            input_norm=("encoder.layers.{n}.norm2.weight",),
            first_input_norm="emb_ln.weight",
            layers="n_layer",
            heads="n_head",
            width="n_embd",
            rotary=1.0,
            rotary_key="rotary_emb_fraction",
            usual=(("prenorm", False),),
        ),
    ),
    **dict.fromkeys(
        "llama mistral qwen2 seed_oss mimo PanguEmbedded mixtral starcoder2 qwen2_moe ernie4_5 ernie4_5_moe arcee "
        "nemotron-nas eurobert solar_open".split(),
        (_llama(),),
    ),
    "nemotron": (replace(_llama(gains="plus_one"), rotary=0.5),),
    **dict.fromkeys(("lfm2", "lfm2_moe"), (_LFM2,)),
    "lfm2_vl": (replace(_LFM2, parts=("lfm2",)),),
    **dict.fromkeys(("qwen3_5_text", "qwen3_next"), (_QWEN35,)),
    **dict.fromkeys(("qwen3_5", "qwen3_5_moe"), (replace(_QWEN35, parts=("qwen3_5_text", "qwen3_5_moe_text")),)),
    "internlm2": (
        replace(
            _llama(),
            query="layers.{n}.attention.wqkv.weight",
            key="",
            layout="interleaved",
            gain="layers.{n}.attention_norm.weight",
        ),
    ),
    "stablelm": (replace(_llama(usual=(("qk_layernorm", False),)), rotary=0.25),),
    **dict.fromkeys(("qwen3", "qwen3_moe", "olmoe", "dots1", "hy_v3"), (_llama(**_NORMS),)),
    "afmoe": (
        replace(
            _llama(**_NORMS), window=1024, window_every=4, windows_every="global_attn_every_n_layers", rotary_in="window"
        ),
    ),
    "apertus": (replace(_llama(**_NORMS), gain="layers.{n}.attention_layernorm.weight"),),
    "olmo": (replace(_llama(gains="none"), gain=""),),
    "olmo2": (_OLMO2,),
    "olmo3": (replace(_OLMO2, window=4096, window_every=4, scaled_in="full"),),
    "exaone4": (_EXAONE4,),
    "exaone4_5": (replace(_EXAONE4, parts=("exaone4", "exaone4_5_text")),),
    "exaone_moe": (replace(_EXAONE4, gain=_llama().gain, gains="plain"),),
    "gemma": (_llama(gains="plus_one"),),
    **dict.fromkeys(
        ("gemma2", "vaultgemma"),
        (_llama(gains="plus_one", query_scalar=256, scalar="query_pre_attn_scalar"),),
    ),
    **dict.fromkeys(
        ("gemma3_text", "gemma3"),
        (
            _llama(
                gains="plus_one",
                query_scalar=256,
                scalar="query_pre_attn_scalar",
                windows=True,
                default_heads=8,
                parts=("gemma3_text",),
                **_NORMS,
            ),
        ),
    ),
    "gemma4_text": (_GEMMA4,),
    "gemma4": (replace(_GEMMA4, parts=("gemma4_text",)),),
    "gemma4_unified": (replace(_GEMMA4, parts=("gemma4_unified_text",)),),
    "mllama": (_llama(parts=("mllama_text_model",)),),
    "llava": (_llama(default_heads=32, parts=("llama", "mistral", "qwen2")),),
    "mistral3": (_llama(parts=("mistral", "ministral3")), _latent(parts=("mistral4",))[0]),
    "qwen2_5_vl": (_llama(parts=("qwen2_5_vl_text",)),),
    "qwen3_vl": (_llama(parts=("qwen3_vl_text",), **_NORMS),),
    "qwen3_vl_moe": (_llama(parts=("qwen3_vl_moe_text",), **_NORMS),),
    "qwen2_5_omni": (_llama(parts=("qwen2_5_omni_text",)),),
    "qwen3_omni_moe": (_llama(parts=("qwen3_omni_moe_text",), **_NORMS),),
    **dict.fromkeys(("granite", "granitemoe", "granitemoeshared"), (_GRANITE,)),
    "granite_swa": (replace(_GRANITE, rotary_bases="layer_rope_theta", sinks="layers.{n}.self_attn.sinks"),),
    "hyperclovax": (replace(_GRANITE, query_scalar=0),),
    "granitemoehybrid": (replace(_GRANITE, rotary_if=("position_embedding_type", "rope")),),
    **dict.fromkeys(("glm", "glm4"), (replace(_llama(), rotary=0.5),)),
    "glm4v": (_llama(parts=("glm4v_text",)),),
    "glm4_moe": (replace(_llama(norms_switch="use_qk_norm", **_NORMS), rotary=0.5),),
    "glm4v_moe": (replace(_llama(parts=("glm4v_moe_text",)), rotary=0.5),),
    "mimo_v2_flash": (
        _llama(
            windows=True,
            windows_list="hybrid_layer_pattern",
            local=("swa_num_attention_heads", "swa_num_key_value_heads", "swa_head_dim"),
            sinks="layers.{n}.self_attn.attention_sink_bias",
            sinks_in="window",
        ),
    ),
    "minimax_m2": (_llama(rotary_width="rotary_dim", **_NORMS),),
    "minimax_m3_vl": (_llama(gains="plus_one", rotary_width="rotary_dim", parts=("minimax_m3_vl_text",), **_NORMS),),
    **dict.fromkeys(
        ("deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "youtu", "glm4_moe_lite", "glm_moe_dsa"),
        _latent(),
    ),
    "kimi_k25": _latent(parts=("kimi_k2",)),
    "mistral4": _latent()[:1],
    "minicpm3": _latent(yarn_scales=False)[:1],
    "deepseek_vl_v2": (_llama(config="language_config"),),
    "smollm3": (_llama(rotary_every=4),),
    "llama4_text": (_LLAMA4,),
    "llama4": (replace(_LLAMA4, parts=("llama4_text",)),),
    "gpt_oss": (_llama(sinks="layers.{n}.self_attn.sinks"),),
    "cohere": (_llama(norms_switch="use_qk_norm", **_NORMS),),
    "cohere2": (_llama(window=4096, window_every=4, rotary_in="window", without_window="none"),),
    "jamba": (replace(_llama(), rotary=0.0),),
    "falcon_h1": (_llama(input_factor="attention_in_multiplier", key_factor="key_multiplier"),),
    "nemotron_h": (
        replace(
            _llama(),
            query="layers.{n}.mixer.q_proj.weight",
            key="layers.{n}.mixer.k_proj.weight",
            gain="layers.{n}.norm.weight",
            rotary=0.0,
        ),
    ),
    "phi": (
        replace(
            _llama(norms_switch="qk_layernorm", marks=("layers.{n}.self_attn.dense.weight",)),
            rotary=0.5,
            query_norm="layers.{n}.self_attn.q_layernorm.weight",
            key_norm="layers.{n}.self_attn.k_layernorm.weight",
        ),
    ),
    "phi3": (replace(_llama(), query="layers.{n}.self_attn.qkv_proj.weight", key="", layout="fused"),),
    "opt": (
        Attention(
            query="decoder.layers.{n}.self_attn.q_proj.weight",
            key="decoder.layers.{n}.self_attn.k_proj.weight",
            layout="separate",
            gain="decoder.layers.{n}.self_attn_layer_norm.weight",
            gains="plain",
            norm_first="do_layer_norm_before",
        ),
    ),
    **dict.fromkeys(("vit", "deit"), (_vit("layernorm_before.weight"),)),
    "dinov2": (_vit("norm1.weight", marks=("encoder.layer.{n}.layer_scale1.lambda1",)),),
    "clip": (_clip("text", 8), _clip("vision", 12)),
    "siglip": (_clip("text", 12), _clip("vision", 12)),
    "whisper": _encoder_decoder(
        ("self_attn_layer_norm", "encoder_attn_layer_norm"),
        key_heads="",
        heads="{}_attention_heads",
        width="d_model",
        marks=("encoder.conv1.weight",),
    ),
    "moonshine": _encoder_decoder(
        ("input_layernorm", "post_attention_layernorm"),
        key_heads="{}_num_key_value_heads",
        heads="{}_num_attention_heads",
        rotary=0.9,
        marks=("encoder.conv1.weight", "encoder.groupnorm.weight"),
    ),
}

LAYOUTS = ("separate", "conv1d", "fused", "interleaved", "latent", "gated")
GAINS = ("plain", "plus_one", "none")


def _quoted(names):
    return ", ".join(f"'{name}'" for name in names)


def _check_attention(attention):
    for field, allowed in (("layout", LAYOUTS), ("gains", GAINS)):
        value = getattr(attention, field)
        if value not in allowed:
            raise ValueError(f"{field} must be one of {_quoted(allowed)}: found {value!r}")
    if (attention.layout in ("separate", "latent")) != bool(attention.key):
        raise ValueError(
            f"key must be named for the layouts 'separate' and 'latent' and for no other: found {attention.key!r} "
            f"for '{attention.layout}'"
        )
    if (attention.layout == "latent") != bool(attention.key_latent):
        raise ValueError(
            f"key_latent must be named for the layout 'latent' and for no other: found {attention.key_latent!r} "
            f"for '{attention.layout}'"
        )
    if "{n}" not in attention.query:
        raise ValueError(f"query must have {{n}} for the number of a layer: found {attention.query!r}")
    if attention.gain and attention.gains == "none":
        raise ValueError(f"gains must be 'plain' or 'plus_one' for the gain {attention.gain!r}: found 'none'")


# Models of several parts, whose text has the conventions of the model type of its part.
_TEXT_ALONE = (
    "aya_vision",
    "idefics3",
    "internvl",
    "internvl_chat",
    "llava_next",
    "llava_onevision",
    "qwen2_audio",
    "smolvlm",
    "voxtral",
)


def _text_of(config):
    """The object of the configuration with the keys of the text; empty in a model of one part."""
    config = config.get("thinker_config") or config
    return config.get("text_config") or config.get("llm_config") or {}


def _attentions(config, like, gains, fold_gains):
    """The stacks of a model. Refuses what neither the table nor the caller declares."""
    if isinstance(like, Attention):
        like = (like,)
    if like is not None and not isinstance(like, str):
        if gains is not None:
            raise ValueError(f"gains must be declared in the Attention alone: found gains={gains!r}")
        for attention in like:
            _check_attention(attention)
        return tuple(like)
    if gains not in (None, "plain", "plus_one"):
        raise ValueError(f"gains must be 'plain', 'plus_one' or None: found {gains!r}")
    model_type = config.get("model_type")
    if model_type in _TEXT_ALONE:
        model_type = _text_of(config).get("model_type")
    if model_type in TYPES:
        if like not in (None, model_type):
            raise ValueError(f"like must be omitted for the known model_type '{model_type}': found {like!r}")
        part = _text_of(config).get("model_type")
        parts = [it for row in TYPES[model_type] for it in row.parts]
        if parts and part not in (None, *parts):
            raise ValueError(f"'text_config.model_type' must be {_quoted(parts)} in '{model_type}': found {part!r}")
        rows = tuple(row for row in TYPES[model_type] if part is None or not row.parts or part in row.parts)
        known = {it.gains for it in rows} - {"none"}
        if gains is not None and gains not in known:
            raise ValueError(f"gains must be omitted or {_quoted(known) or 'None'} for '{model_type}': found {gains!r}")
        return rows
    if like not in TYPES:
        raise ValueError(
            f"model_type must be one of {_quoted(TYPES)}: found {model_type!r}, of which the layout of queries and keys, "
            "the place of the norms, the form of their gains (g or g - 1), rotary positions and the scale of the logits "
            "are unknown; declare them by like='TYPE' with gains='plain' or 'plus_one', or by like=Attention(...)"
            + ("" if like is None else f": found like={like!r}")
        )
    if gains is None and fold_gains and any(it.gain or it.query_norm for it in TYPES[like]):
        raise ValueError(
            f"gains must be 'plain' or 'plus_one' for the unknown model_type {model_type!r}, since tensor names do not "
            "tell whether a gain g is stored as g or g - 1: found None"
        )
    return tuple(it if it.gains == "none" or gains is None else replace(it, gains=gains) for it in TYPES[like])


class _Keys:
    """Values of a configuration for one stack; None counts as absent."""

    def __init__(self, config, attention):
        inner = (config.get(attention.config) or {}) if attention.config else _text_of(config)
        self.parts = (inner, config)

    def get(self, key, default=None):
        for part in self.parts:
            if part.get(key) is not None:
                return part[key]
        return default

    def is_null(self, key):
        """Whether a part has the key as None, and none has a value."""
        return self.get(key) is None and any(key in part for part in self.parts)

    def number(self, key, default=None):
        value = self.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"'{key}' must be a number in the configuration: found {value!r}")
        return value

    def count(self, key, layer, default=0):
        """A number of heads: the same in every layer, or from a list of one for each layer."""
        value = self.get(key) if key else None
        if isinstance(value, (list, tuple)):
            value = value[layer] if layer < len(value) else None
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"'{key}' must be a positive integer in the configuration: found {value!r}")
        return value


# --- Tensors ----------------------------------------------------------------------------------------------------------


def _module_of(array):
    return torch if torch is not None and isinstance(array, torch.Tensor) else numpy


def _double(array):
    """In double precision, on the tensor's device where that has it."""
    if _module_of(array) is numpy:
        return numpy.asarray(array, dtype=numpy.float64)
    array = array.detach()
    return (array.cpu() if array.device.type == "mps" else array).to(torch.float64)


def _weights_of(model):
    """The tensors by name: those of a module's state dict, or the mapping itself."""
    weights = model.state_dict() if hasattr(model, "state_dict") else model
    if not hasattr(weights, "items"):
        raise ValueError(f"model_or_state_dict must be a module or a mapping of tensors: found {type(weights).__name__}")
    return weights


def _config_of(model, config):
    """The configuration as a dictionary; by default that of the module."""
    config = getattr(model, "config", None) if config is None else config
    if hasattr(config, "to_dict"):
        config = config.to_dict()
    if not hasattr(config, "get"):
        raise ValueError(f"config must be a mapping or have to_dict(): found {type(config).__name__}")
    return config


def _bias_of(weight):
    return weight[: -len("weight")] + "bias" if weight.endswith("weight") else ""


@dataclass
class _Layer:
    """One layer: whole names of its tensors, and its heads. An empty name: there is no such tensor."""

    attention: Attention
    layer: int
    prefix: str
    names: dict
    width: int
    heads: int
    key_heads: int
    head_width: int
    scale: float  # of the logits, beside 1/sqrt(d_h)
    turned: int  # first coordinates of a head that positions turn
    turned_scale: float  # of their part of the logits
    rotary: bool
    normed: bool  # whether queries and keys are projections of a norm's output, without a norm behind them

    def at(self, head):
        return ".".join(filter(None, (self.attention.stack, str(self.layer), str(head))))

    def place(self):
        return f"{self.attention.stack} layer {self.layer}".strip()


def _find_layers(weights, attention, keys):
    """Prefix and numbers of the layers that have the queries of a stack."""
    before, after = attention.query.split("{n}")
    pattern = re.compile(r"(?P<prefix>(?:.*\.)?)" + re.escape(before) + r"(?P<n>0|[1-9]\d*)" + re.escape(after))
    matches = [match for match in map(pattern.fullmatch, weights) if match]
    prefixes = sorted({match["prefix"] for match in matches})
    if len(prefixes) > 1:
        with_text = [it for it in prefixes if it + attention.embeddings in weights]
        if len(with_text) != 1:
            raise ValueError(f"there must be one stack of '{attention.query}': found the prefixes {_quoted(prefixes)}")
        prefixes = with_text
    most = keys.get(attention.layers, math.inf) if attention.layers else math.inf
    layers = sorted(int(match["n"]) for match in matches if match["prefix"] in prefixes)
    return (prefixes[0] if prefixes else ""), [layer for layer in layers if layer < most]


def _names_in(weights, attention, prefix, layer, keys):
    """Whole names of a layer's tensors. Refuses one that is missing."""

    def whole(pattern, number=layer):
        return prefix + pattern.replace("{n}", str(number)) if pattern else ""

    def needed(pattern, number=layer):
        name = whole(pattern, number)
        if name and name not in weights:
            raise ValueError(f"'{name}' must be among the tensors, beside '{whole(attention.query)}': found none")
        return name

    key_layer = _key_layer(attention, keys, layer)
    is_bare = attention.bare_first and layer == 0
    after = attention.norm_first and keys.get(attention.norm_first) is False
    gain = "" if is_bare else needed(attention.gain)
    has_norms = not attention.norms_switch or keys.get(attention.norms_switch) is True
    if not has_norms and whole(attention.query_norm) in weights:
        raise ValueError(f"'{attention.norms_switch}' must be true in the configuration beside '{whole(attention.query_norm)}'")
    # Post-norm: the projections read the norm at the end of the layer before.
    before = (attention.first_input_norm,) if layer == 0 else attention.input_norm
    input_norms = [whole(norm, layer - 1) for norm in before]
    return {
        "query": needed(attention.query),
        "key": needed(attention.key or attention.query, key_layer),
        "gain": "" if after else gain,
        "key_gain": "" if after else needed(attention.key_gain) or gain and needed(attention.gain, key_layer),
        "query_norm": needed(attention.query_norm) if has_norms else "",
        "key_norm": needed(attention.key_norm, key_layer) if has_norms else "",
        "query_latent": needed(attention.query_latent),
        "query_latent_gain": needed(attention.query_latent_gain),
        "key_latent": needed(attention.key_latent),
        "key_latent_gain": needed(attention.key_latent_gain),
        "input_norm": next((norm for norm in input_norms if norm in weights), ""),
        "sinks": needed(attention.sinks),
    }


def _shape_of(weights, name):
    return tuple(int(side) for side in weights[name].shape)


def _sides(weights, name, attention):
    """Outputs and inputs of a projection."""
    shape = _shape_of(weights, name)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(
            f"'{name}' must be a matrix (gather the parameters where they are sharded): found the shape {shape}"
        )
    return shape[::-1] if attention.layout == "conv1d" else shape


def _scale_of_turned(attention, keys, layer, head_width):
    """Coordinates of a head that positions turn, and the factor of their part of the logits: that of yarn and longrope.
    Other scalings of the angles change nothing at offset 0."""
    unused = (0, 1.0, False)
    if attention.rotary == 0:
        return unused
    if attention.rotary_if and keys.get(attention.rotary_if[0]) != attention.rotary_if[1]:
        return unused
    has_window = _has_window(attention, keys, layer)
    if attention.without_window and keys.is_null("sliding_window"):
        if attention.without_window == "none":
            return unused
    elif attention.rotary_in == "window" and has_window is False:
        return unused
    if attention.rotary_every:
        listed = keys.get("no_rope_layers") or []
        used = listed[layer] != 0 if layer < len(listed) else (layer + 1) % attention.rotary_every != 0
        if not used:
            return unused
    bases = (keys.get(attention.rotary_bases) or []) if attention.rotary_bases else []
    if layer < len(bases) and bases[layer] == 0:
        return unused
    parameters, scaling = keys.get("rope_parameters") or {}, keys.get("rope_scaling")
    scaling = scaling or parameters
    share = next(
        (
            part.get(key)
            for part in (parameters, *keys.parts)
            for key in (attention.rotary_key, "partial_rotary_factor")
            if part.get(key) is not None
        ),
        attention.rotary,
    )
    width = keys.get(attention.rotary_width) if attention.rotary_width else None
    turned = 2 * (int(share * head_width if width is None else width) // 2)
    if attention.scaled_in == "full" and has_window:
        return turned, 1.0, True
    kinds = [scaling] if not any(isinstance(it, dict) for it in scaling.values()) else list(scaling.values())
    types = {(it.get("rope_type") or it.get("type") or "default") for it in kinds if isinstance(it, dict)}
    if types <= {"default", "mrope", "dynamic", "linear", "llama3", "proportional", "ntk"}:
        return turned, 1.0, True
    [kind, *others] = sorted(types)
    if others or attention.windows or kind not in ("yarn", "longrope", "su"):
        raise ValueError(
            "the rotary scaling must be default, mrope, dynamic, linear, llama3, proportional, ntk, or, in layers that are "
            f"all alike, yarn or longrope, since others may multiply the logits: found {_quoted(sorted(types))}"
        )
    return turned, _logit_factor(kind, scaling, keys), True


def _has_window(attention, keys, layer):
    """Whether a layer has a sliding window; None in a model without any."""
    if not attention.window and keys.get("sliding_window") is None:
        return None
    if attention.last_full and layer + 1 == keys.get(attention.layers):
        return False
    types = keys.get("layer_types") or []
    if layer < len(types):
        return types[layer] == "sliding_attention"
    listed = (keys.get(attention.windows_list) or []) if attention.windows_list else []
    if layer < len(listed):
        return listed[layer] == 1
    before = keys.get("max_window_layers")
    if before is not None:
        return layer >= before
    every = keys.get(attention.windows_every, attention.window_every)
    return (layer + 1) % every != 0 if every else None


def _key_layer(attention, keys, layer):
    """The layer whose keys a layer uses."""
    shared = keys.get(attention.shared_keys) if attention.shared_keys else None
    first = keys.number(attention.layers) - shared if shared else layer + 1
    if layer < first:
        return layer
    kind = _has_window(attention, keys, layer)
    for earlier in reversed(range(first)):
        if _has_window(attention, keys, earlier) == kind:
            return earlier
    raise ValueError(
        f"'{attention.shared_keys}' must leave a layer of the kind of layer {layer} before the shared ones: found {shared}"
    )


def _of_layer(attention, keys, layer):
    """With the keys of the configuration for its kind of attention."""
    if _has_window(attention, keys, layer):
        names = dict(zip(("heads", "key_heads", "head_width"), attention.local))
    else:
        names = dict(zip(("key_heads", "head_width"), attention.full))
        if attention.sinks_in == "window":
            attention = replace(attention, sinks="")
        if attention.full_switch and keys.get(attention.full_switch) is False:
            del names["key_heads"]
    return replace(attention, **{field: key for field, key in names.items() if keys.get(key) is not None})


def _logit_factor(kind, scaling, keys):
    """Queries and keys are both multiplied by the attention factor of the scaling."""
    length = scaling.get("original_max_position_embeddings") or keys.get("original_max_position_embeddings")
    length = length or keys.number("max_position_embeddings")
    stretch = scaling.get("factor")
    if stretch is None:
        stretch = max(1.0, keys.number("max_position_embeddings") / length)
    if scaling.get("attention_factor") is not None:
        factor = scaling["attention_factor"]
    elif kind == "yarn":
        whole, part = scaling.get("mscale_all_dim"), scaling.get("mscale")
        factor = 0.1 * math.log(stretch) + 1
        if whole and part:  # of 0 the original sees no more than of one that is left out
            factor = (0.1 * part * math.log(stretch) + 1) / (0.1 * whole * math.log(stretch) + 1)
    else:
        factor = math.sqrt(1 + math.log(stretch) / math.log(length))
    return factor * factor


def _logit_scale(keys, attention, head_width):
    """What the model multiplies its logits by, over 1/sqrt(d_h)."""
    for key in ("attention_multiplier", "query_pre_attn_scalar"):
        if key not in (attention.scale, attention.scalar) and keys.get(key) is not None:
            raise ValueError(f"'{key}' must be left out of the configuration for this model type, which does not read it")
    if attention.scale and keys.get(attention.scale) is not None:
        return keys.number(attention.scale) * math.sqrt(head_width)
    if attention.query_scalar:
        told = keys.number(attention.scalar, attention.query_scalar) if attention.scalar else attention.query_scalar
        return math.sqrt(head_width / told)
    if attention.terms:
        terms = keys.get(attention.terms) or ()
        words = [it.strip() for it in terms.lower().split("|")] if isinstance(terms, str) else terms
        return 1 / math.sqrt(1 + len(set(words) - {""}))
    if attention.input_factor:
        return keys.number(attention.input_factor, 1) ** 2 * keys.number(attention.key_factor, 1)
    scaling = keys.get("rope_scaling") or keys.get("rope_parameters") or {}
    if attention.yarn_scales and scaling.get("mscale_all_dim") is not None and scaling.get("factor") is not None:
        return (0.1 * scaling["mscale_all_dim"] * math.log(scaling["factor"]) + 1) ** 2
    return 1.0


def _head_width_of(weights, attention, prefix, layers, keys):
    """Of all layers: from the configuration, or from the widest layer and its count of heads."""
    told = keys.get(attention.head_width)
    if told is not None or isinstance(keys.get(attention.heads), (list, tuple)):
        return told
    widest = max(
        (_sides(weights, prefix + attention.query.replace("{n}", str(it)), attention)[0], -it) for it in layers
    )
    return _divided(widest[0], attention, keys, -widest[1], prefix)


def _divided(outputs, attention, keys, layer, prefix):
    heads, key_heads = _counts(attention, keys, layer)
    parts = 2 * heads if attention.layout == "gated" else heads + (0 if attention.key else 2 * key_heads)
    if outputs % parts:
        raise ValueError(
            f"the outputs of '{prefix}{attention.query}' must divide into {heads} heads"
            + (f" and {key_heads} each of keys and values" if not attention.key else "")
            + (" and as many gates" if attention.layout == "gated" else "")
            + f": found {outputs}"
        )
    return outputs // parts


def _counts(attention, keys, layer):
    heads = keys.count(attention.heads, layer, attention.default_heads)
    if heads == 0:
        raise ValueError(f"'{attention.heads}' must be in the configuration: found none")
    is_single = attention.single_keys and keys.get(attention.single_keys) is not False
    return heads, 1 if is_single else keys.count(attention.key_heads, layer) or heads


def _plan_layer(weights, attention, prefix, layer, keys, common):
    names = _names_in(weights, attention, prefix, layer, keys)
    outputs, inputs = _sides(weights, names["query"], attention)
    turning = None  # coordinates of a head of latent attention that positions turn
    head_width = common or _divided(outputs, attention, keys, layer, prefix)
    heads, key_heads = _counts(attention, keys, layer)
    reader = names["query_latent"] or names["query"]
    compressed, width = _sides(weights, reader, attention)
    told = keys.get(attention.width) if attention.width else None
    if told is not None and told != width:
        raise ValueError(f"the inputs of '{reader}' must be '{attention.width}', {told}: found {width}")
    if attention.layout == "latent":
        key_outputs, rank = _sides(weights, names["key"], attention)
        latents, key_width = _sides(weights, names["key_latent"], attention)
        key_heads, turning = heads, latents - rank
        fits = outputs == heads * head_width and 0 < turning < head_width and key_width == width
        fits = fits and key_outputs % heads == 0 and key_outputs // heads >= head_width - turning
        fits = fits and (reader == names["query"] or compressed == inputs)
    elif attention.layout in ("separate", "gated"):
        if attention.layout == "gated":
            outputs //= 2
        # Other layers may have lost heads to pruning.
        key_outputs, key_width = _sides(weights, names["key"], attention)
        whole = heads
        heads, key_heads = outputs // head_width, key_outputs // head_width
        told_keys = keys.count(attention.key_heads, layer)
        fits = heads * head_width == outputs and key_heads * head_width == key_outputs and key_width == width
        fits = fits and key_heads > 0 and heads % key_heads == 0 and heads <= whole
        fits = fits and (heads != whole or not told_keys or key_heads == told_keys)
    else:
        fits = outputs == (heads + 2 * key_heads) * head_width and heads % key_heads == 0
    if not fits:
        raise ValueError(
            f"'{names['query']}' and '{names['key']}' must have {heads} heads of width {head_width} in equal groups "
            f"for {key_heads} key heads: found the shapes {_shape_of(weights, names['query'])} and "
            f"{_shape_of(weights, names['key'])}"
        )
    turned, turned_scale, rotary = _scale_of_turned(attention, keys, layer, turning or head_width)
    scale = _logit_scale(keys, attention, head_width)
    normalizes = attention.normalizes and keys.get(attention.normalizes, True) is not False
    normed = not (normalizes or names["query_norm"] or names["key_norm"])
    sizes = (heads, key_heads, head_width)
    return _Layer(attention, layer, prefix, names, width, *sizes, scale, turned, turned_scale, rotary, normed)


def _plan(weights, config, attentions):
    """The layers of all stacks, in the order of the table."""
    plan = []
    for attention in attentions:
        keys = _Keys(config, attention)
        for key, value in attention.usual:
            if keys.get(key, value) != value:
                raise ValueError(f"'{key}' must be {value!r} in the configuration: found {keys.get(key)!r}")
        prefix, layers = _find_layers(weights, attention, keys)
        if not layers:
            continue
        kinds = {layer: _of_layer(attention, keys, layer) for layer in layers}
        common = {kind: _head_width_of(weights, kind, prefix, layers, keys) for kind in set(kinds.values())}
        plan += [_plan_layer(weights, kind, prefix, layer, keys, common[kind]) for layer, kind in kinds.items()]
    if not plan:
        names = sorted(weights)
        shown = _quoted(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        patterns = _quoted(it.query for it in attentions)
        raise ValueError(f"the tensors must have {patterns}: found {shown or 'none'}")
    return plan


# --- Spectra ----------------------------------------------------------------------------------------------------------


def _swap(matrices):
    return matrices.swapaxes(-1, -2)


def _trace(matrices):
    return matrices.diagonal(0, -2, -1).sum(-1)


def _norm(arrays, axes):
    return (arrays * arrays).sum(axes) ** 0.5


def _parts(array, layer):
    """The rows of queries and of keys of a projection's weight (outputs x inputs) or bias, by head."""
    h, g, w = layer.heads, layer.key_heads, layer.head_width
    rest = tuple(array.shape[1:])
    if layer.attention.layout == "interleaved":
        groups = array.reshape((g, h // g + 2, w) + rest)
        return groups[:, : h // g].reshape((h, w) + rest), groups[:, h // g]
    return array[: h * w].reshape((h, w) + rest), array[h * w : (h + g) * w].reshape((g, w) + rest)


def _together(arrays, axis):
    return torch.cat(arrays, axis) if _module_of(arrays[0]) is torch else numpy.concatenate(arrays, axis)


class _Latents:
    """Queries and keys of latent attention as maps of the compressions, heads x d_h x r with the gains of their norms; the
    turned coordinates of a head come last in its queries."""

    def __init__(self, weights, layer, fold_gains):
        names = layer.names
        for name in ("query", "query_latent", "key", "key_latent"):
            if _bias_of(names[name]) in weights:
                raise ValueError(f"latent attention must have no bias: found '{_bias_of(names[name])}'")
        query, key = _double(weights[names["query"]]), _double(weights[names["key"]])
        self.query_input = _double(weights[names["query_latent"]]) if names["query_latent"] else None
        inputs = _double(weights[names["key_latent"]])
        rank = key.shape[1]
        self.key_input, self.rotary = inputs[:rank], inputs[rank:]
        self.compressed = layer.head_width - len(self.rotary)
        self.query = query.reshape((layer.heads, layer.head_width, query.shape[1]))
        self.key = key.reshape((layer.heads, -1, rank))[:, : self.compressed]
        if fold_gains:
            self.key = self.key * _vector(weights, names["key_latent_gain"], [rank])
            if names["query_latent"]:
                self.query = self.query * _vector(weights, names["query_latent_gain"], [query.shape[1]])

    def projections(self):
        """Heads x d_h x d, the turned coordinates first."""
        query = self.query if self.query_input is None else self.query @ self.query_input
        query = _together([query[:, self.compressed :], query[:, : self.compressed]], 1)
        keys = self.key @ self.key_input
        shape = (len(keys),) + tuple(self.rotary.shape)
        return query, _together([_module_of(keys).broadcast_to(self.rotary, shape), keys], 1)

    def bounds(self, layer, gain):
        """(sqrt(r_q r_k) sigma_max(A^T B) + sqrt(r_q d) sigma_max(C^T W_kr N)) / sqrt(d_h), see docs/checkpoints.md, Latent
        attention."""
        query = self.query if self.query_input is not None else self.query * gain
        rotary = (self.rotary * gain)[None]

        def largest(left, right):
            return _singular_values(left @ _swap(left), right @ _swap(right))[:, 0]

        r_q, r_k, d = query.shape[2], self.key.shape[2], rotary.shape[2]
        compressed = math.sqrt(r_q * r_k) * largest(query[:, : self.compressed], self.key)
        turned = math.sqrt(r_q * d) * largest(query[:, self.compressed :], rotary)
        return layer.scale * (compressed + layer.turned_scale * turned) / math.sqrt(layer.head_width)


def _projections(weights, layer, kind):
    """Queries and keys by head, `kind` "weight" or "bias"; None for a bias that is not there."""
    query, key = layer.names["query"], layer.names["key"]
    if kind == "bias":
        query, key = _bias_of(query), _bias_of(key)
    h, g, w = layer.heads, layer.key_heads, layer.head_width

    def read(name):
        array = weights[name]
        return _swap(array) if layer.attention.layout == "conv1d" and kind == "weight" else array

    if layer.attention.layout not in ("separate", "gated"):
        return tuple(map(_double, _parts(read(query), layer))) if query in weights else (None, None)

    def by_head(name, count):
        # A head's gates, if it has some, come after its queries.
        array = weights[name]
        return _double(array.reshape((count, -1) + tuple(array.shape[1:]))[:, :w])

    return tuple(by_head(name, count) if name in weights else None for name, count in ((query, h), (key, g)))


def _vector(weights, name, sizes, rows=0):
    """A vector of one of the `sizes`; it may be stored as a matrix of `rows` rows."""
    array = _double(weights[name])
    if rows and len(array.shape) == 2 and array.shape[0] == rows:
        array = array.reshape(-1)
    if tuple(array.shape) not in [(size,) for size in sizes]:
        raise ValueError(f"'{name}' must have the length {' or '.join(map(str, sizes))}: found {tuple(array.shape)}")
    return array


class _Heads:
    """Factors of the heads of one layer: query and key are heads x d x d_h."""

    def __init__(self, weights, layer, fold_gains):
        names, plus = layer.names, 1.0 if layer.attention.gains == "plus_one" else 0.0
        latents = _Latents(weights, layer, fold_gains) if layer.attention.layout == "latent" else None
        raw = latents.projections() if latents else _projections(weights, layer, "weight")
        raw = dict(zip(("query", "key"), raw))
        biases = dict(zip(("query", "key"), (None, None) if latents else _projections(weights, layer, "bias")))
        gains = {"query": names["gain"] if fold_gains else "", "key": names["key_gain"] if fold_gains else ""}
        counts = {"query": layer.heads, "key": layer.key_heads}
        self.normed = layer.normed and bool((gains["query"] and gains["key"]) or names["input_norm"])
        self.latent_bounds = None
        if latents and self.normed:
            self.latent_bounds = latents.bounds(layer, _vector(weights, gains["query"], [layer.width]) + plus)
        self.input_gain = _vector(weights, names["input_norm"], [layer.width]) if names["input_norm"] else None
        self.factors, self.shifts, self.biases = {}, {}, {}
        for side in ("query", "key"):
            factor, bias = _swap(raw[side]), biases[side]
            if self.normed:
                before = _bias_of(gains[side] or names["input_norm"])
                shift = factor[:, 0] * 0.0
                if before in weights:
                    shift = (_vector(weights, before, [layer.width])[:, None] * factor).sum(1)
                self.shifts[side] = shift if bias is None else shift + bias
            if gains[side]:
                factor = factor * (_vector(weights, gains[side], [layer.width]) + plus)[:, None]
            self.biases[side] = None if bias is None else _norm(bias, -1) / _norm(factor, (-1, -2))
            norm = names[side + "_norm"] if fold_gains else ""
            if norm:
                sizes = [layer.head_width, counts[side] * layer.head_width]
                gain = _vector(weights, norm, sizes, counts[side]) + plus
                factor = factor * gain.reshape((-1, 1, layer.head_width))
            self.factors[side] = factor
        # Factor of the logits by coordinate at offset 0, without rotation.
        turned = [layer.scale * (layer.turned_scale if i < layer.turned else 1.0) for i in range(layer.head_width)]
        if set(turned) != {1.0}:
            factors = _like(turned, self.factors["query"])
            self.factors["query"] = self.factors["query"] * factors
            if self.normed:
                self.shifts["query"] = self.shifts["query"] * factors
        folded = [gains["query"], gains["key"]]
        folded += [names[it] for it in ("query_latent_gain", "key_latent_gain", "query_norm", "key_norm")]
        folded = [it for it in (folded if fold_gains else []) if it]
        folded = [it for at, it in enumerate(folded) if at == 0 or folded[at - 1] != it]
        self.folded = " ".join((it.rsplit(".", 1)[0] if "." in it else it).rsplit(".", 1)[-1] for it in folded)
        group = layer.heads // layer.key_heads
        shared = [head // group for head in range(layer.heads)]
        for of in (self.factors, self.shifts, self.biases):
            if of.get("key") is not None:
                of["key"] = of["key"][shared]
        self.sinks = _vector(weights, names["sinks"], [layer.heads]) if names["sinks"] else None
        xp = _module_of(self.factors["query"])
        finite = [xp.isfinite(it.reshape((layer.heads, -1))).all(-1).tolist() for it in self.factors.values()]
        self.finite = [head for head, both in enumerate(zip(*finite)) if all(both)]


def _like(values, array):
    """Numbers as an array of the kind of another one."""
    if _module_of(array) is numpy:
        return numpy.asarray(values)
    return torch.tensor(values, dtype=array.dtype, device=array.device)


def _eigenvalues(matrices):
    """Real and imaginary parts; on the CPU, where LAPACK has the general problem."""
    if _module_of(matrices) is torch:
        eigenvalues = torch.linalg.eigvals(matrices.cpu())
        return eigenvalues.real.to(matrices.device), eigenvalues.imag.to(matrices.device)
    eigenvalues = numpy.linalg.eigvals(matrices)
    return eigenvalues.real, eigenvalues.imag


def _singular_values(query_gram, key_gram):
    """Those of C^(1/2) W C^(1/2), decreasing, from query^T C query and key^T C key: no d x d matrix is formed. Off by
    1e-8 of the largest."""
    xp = _module_of(query_gram)
    values, vectors = xp.linalg.eigh(key_gram)
    root = vectors * (values.clip(0) ** 0.5)[:, None, :]
    squares = xp.linalg.eigvalsh(_swap(root) @ query_gram @ root)
    return xp.flip(squares, (-1,)).clip(0) ** 0.5


def _components(singular_values):
    """As WeightedSpectrum::components of the library."""
    squares = singular_values * singular_values
    enough = COMPONENTS_SHARE * squares.sum(-1) * (1 - 1e-12)
    before = squares.cumsum(-1) - squares
    return (before < enough[:, None]).sum(-1)


def _excess(norms):
    count = norms.shape[-1]
    mean = norms.mean(-1)[:, None]
    deviation = (((norms - mean) ** 2).sum(-1)[:, None] / (count - 1)) ** 0.5
    return (norms - (mean + 2 * deviation)).clip(0).sum(-1)


def _directionality(query, key):
    """Norms of the rows of W are the lengths of the rows of query in the metric of key^T key, and reversed."""
    if query.shape[1] < 2:
        return [None] * query.shape[0]

    def row_norms(left, right):
        return (left * (left @ (_swap(right) @ right))).sum(-1).clip(0) ** 0.5

    rows, columns = _excess(row_norms(query, key)), _excess(row_norms(key, query))
    return [
        (column - row) / (column + row) if column + row else 0.0 for row, column in zip(rows.tolist(), columns.tolist())
    ]


def _logit_bounds(heads, query, key, kept, spectral_norm):
    """d sigma_max + sqrt(d) (|A b| + |B a|) + |a . b| over sqrt(d_h), see docs/checkpoints.md, Largest logits."""
    d, width = query.shape[1], query.shape[2]
    if heads.latent_bounds is not None:
        return heads.latent_bounds[kept].tolist()
    a, b = heads.shifts["query"][kept], heads.shifts["key"][kept]
    if heads.input_gain is not None:
        query, key = query * heads.input_gain[:, None], key * heads.input_gain[:, None]
        spectral_norm = None
    if spectral_norm is None:
        spectral_norm = _singular_values(_swap(query) @ query, _swap(key) @ key)[:, 0]
    mixed = _norm((query @ b[:, :, None])[:, :, 0], -1) + _norm((key @ a[:, :, None])[:, :, 0], -1)
    return ((d * spectral_norm + math.sqrt(d) * mixed + abs((a * b).sum(-1))) / math.sqrt(width)).tolist()


def _layer_fields(heads, kept, covariance, traces):
    """Columns of numbers of the heads `kept`."""
    query, key = heads.factors["query"][kept], heads.factors["key"][kept]
    d, width = query.shape[1], query.shape[2]
    seen_query, seen_key = (query, key) if covariance is None else (covariance @ query, covariance @ key)
    core = _swap(key) @ seen_query
    query_gram, key_gram = _swap(query) @ seen_query, _swap(key) @ seen_key
    square, gram = core @ core, query_gram @ key_gram
    xi, eta_s, eta_f = (_trace(it) for it in (core, square, gram))
    mean = xi / d
    columns = {
        "xi": xi,
        "eta_s": eta_s,
        "eta_f": eta_f,
        "mean": mean,
        "variance": eta_s / d - mean**2,
        "variance_frobenius": eta_f / d - mean**2,
        "fourth_moment": (square * _swap(square)).sum((-1, -2)) / _not_zero(eta_s**2),
        "fourth_moment_frobenius": (gram * _swap(gram)).sum((-1, -2)) / _not_zero(eta_f**2),
        "symmetric_share": 0.5 * (1 + eta_s / _not_zero(eta_f)),
        "rank_floor": mean**2 * (d / width - 1),
    }
    columns = {name: values.tolist() for name, values in columns.items()}
    for name in ("variance_modulus", "components", "spectral_norm", "directionality", "logit_bound"):
        columns[name] = [None] * len(kept)
    if traces:
        return columns
    real, imaginary = _eigenvalues(core)
    columns["variance_modulus"] = ((real**2 + imaginary**2).sum(-1) / d - (real.sum(-1) / d) ** 2).tolist()
    singular_values = _singular_values(query_gram, key_gram)
    columns["components"] = _components(singular_values).tolist()
    columns["spectral_norm"] = singular_values[:, 0].tolist()
    columns["directionality"] = _directionality(query, key)
    if heads.normed:
        bare = singular_values[:, 0] if covariance is None else None
        columns["logit_bound"] = _logit_bounds(heads, query, key, kept, bare)
    return columns


def _not_zero(values):
    """NaN in place of 0, by which a quotient does not exist."""
    xp = _module_of(values)
    return xp.where(values == 0, values * math.nan, values)


def _covariance_of(covariance, layer, like):
    """That of a layer, checked, as an array of the kind of `like`; None for the identity."""
    if isinstance(covariance, dict):
        places = (f"{layer.attention.stack}.{layer.layer}", layer.layer, str(layer.layer))
        covariance = next((covariance[it] for it in places if it in covariance), None)
        if covariance is None:
            raise ValueError(f"covariance must have an entry for {layer.place()}: found none")
    if covariance is None:
        return None
    matrix = _double(covariance)
    if tuple(matrix.shape) != (layer.width, layer.width):
        raise ValueError(
            f"covariance must be {layer.width} x {layer.width} for {layer.place()}: found {tuple(matrix.shape)}"
        )
    symmetric = float(abs(matrix - _swap(matrix)).max()) <= 1e-6 * float(abs(matrix).max())
    if not symmetric:  # nor where an entry is not finite
        raise ValueError(f"covariance must be finite and symmetric for {layer.place()}: found a matrix that is not")
    if _module_of(like) is torch and _module_of(matrix) is numpy:
        return torch.from_numpy(matrix).to(like.device)
    if _module_of(like) is numpy and _module_of(matrix) is not numpy:
        return matrix.cpu().numpy()
    return matrix if _module_of(like) is numpy else matrix.to(like.device)


def head_spectra(
    model_or_state_dict,
    config=None,
    covariance=None,
    *,
    like=None,
    gains=None,
    fold_gains=True,
    traces=False,
    qk_clip=None,
):
    """The fields of `eigenscope heads` of every head, by their names: {name: {field: value}}.

    `model_or_state_dict` is a module or a mapping of tensors or numpy arrays; computed in double precision on the
    device of the tensors. `config` is config.json as a mapping or an object with to_dict(); without it the module's.
    `covariance` (d x d, or a dictionary of one by layer number) is that of the tokens: traces, variances, components
    and spectral_norm are then of W in its metric, C^(1/2) W C^(1/2).
    `like` declares the conventions of a model_type that is not in TYPES: one that is, or an Attention; `gains`, with a
    type, the form of the norms' gains: "plain" (g) or "plus_one" (stored as g - 1). `fold_gains` False leaves them out.
    `traces` True omits what needs eigenvalues, for wide heads; `qk_clip` is the limit tau on the logits for `headroom`.
    A field is None where it does not exist, by the rules of the command. Heads with NaN or infinite weights are left
    out with a warning that names them. Raises ValueError for what is unknown, missing or of another shape.
    """
    weights = _weights_of(model_or_state_dict)
    config = _config_of(model_or_state_dict, config)
    plan = _plan(weights, config, _attentions(config, like, gains, fold_gains))
    spectra = {}
    for layer in plan:
        heads = _Heads(weights, layer, fold_gains)
        for head in sorted(set(range(layer.heads)) - set(heads.finite)):
            warnings.warn(f"left out {layer.place()} head {head}: it has NaN or infinite weights", stacklevel=2)
        if not heads.finite:
            continue
        matrix = _covariance_of(covariance, layer, heads.factors["query"])
        columns = _layer_fields(heads, heads.finite, matrix, traces)
        for side in ("query", "key"):
            norms = heads.biases[side]
            columns[f"bias_{side}"] = [None] * len(heads.finite) if norms is None else norms[heads.finite].tolist()
        columns["sink_logit"] = [None] * len(heads.finite) if heads.sinks is None else heads.sinks[heads.finite].tolist()
        for at, head in enumerate(heads.finite):
            numbers = {name: values[at] for name, values in columns.items()}
            numbers = {name: value if value is None or math.isfinite(value) else None for name, value in numbers.items()}
            bound = numbers["logit_bound"]
            spectra[layer.at(head)] = {
                "stack": layer.attention.stack,
                "layer": layer.layer,
                "head": head,
                "width": layer.width,
                "head_width": layer.head_width,
                **numbers,
                "folded": heads.folded,
                "rotary": layer.rotary,
                "headroom": qk_clip / bound if qk_clip and bound else None,
            }
    return spectra


# --- Attention on a sample of rows ------------------------------------------------------------------------------------


def _check_probing():
    if torch is None or not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        version = "none" if torch is None else torch.__version__
        raise ValueError(f"torch must have scaled_dot_product_attention, as 2.0 and later have: found {version}")


class AttentionProbe:
    """Measures attention in the forward passes within its `with` block, on `rows` rows (query positions) of each call.

    The attention modules must call torch.nn.functional.scaled_dot_product_attention (torch 2.0 and later; in Hugging
    Face models attn_implementation="sdpa"). The rows are drawn by a separate generator, so that training draws the
    same random numbers as without the probe. Rows of padding cannot be told from others. `model`, `config` and `like` as
    for head_spectra.
    """

    def __init__(self, model, config=None, *, rows=32, seed=0, like=None):
        if not isinstance(rows, int) or rows < 1:
            raise ValueError(f"rows must be a positive integer: found {rows!r}")
        _check_probing()
        config = _config_of(model, config)
        plan = _plan(_weights_of(model), config, _attentions(config, like, None, fold_gains=False))
        self._modules = [(layer, _attention_module(model, layer.names["query"])) for layer in plan]
        self._rows, self._generator = rows, torch.Generator().manual_seed(seed)
        self._layer, self._hooks, self._original, self._sums = None, [], None, {}

    def __enter__(self):
        functional = torch.nn.functional
        for layer, module in self._modules:
            self._hooks.append(module.register_forward_pre_hook(lambda *_, layer=layer: self._enter(layer)))
            self._hooks.append(module.register_forward_hook(lambda *_: self._enter(None)))
        original = self._original = functional.scaled_dot_product_attention

        def observed(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, **more):
            if self._layer is not None:
                with torch.no_grad():
                    self._measure(query, key, attn_mask, is_causal, more.get("scale"))
            return original(query, key, value, attn_mask, dropout_p, is_causal, **more)

        functional.scaled_dot_product_attention = observed
        return self

    def __exit__(self, *_):
        torch.nn.functional.scaled_dot_product_attention = self._original
        for hook in self._hooks:
            hook.remove()
        self._hooks, self._layer = [], None

    def measures(self):
        """{name: {field: value}} over all rows so far: `largest_logit`, the largest |logit| over the keys that a row
        sees, after the scale and additive masks; `entropy`, the mean over rows of the entropy over the log of the
        number of these keys; `sink`, the mean weight on the first key of the sequence; `rows`, the rows with at least
        two keys. Raises ValueError where no call was seen."""
        if not self._sums:
            raise ValueError(
                "the attention modules must call torch.nn.functional.scaled_dot_product_attention (in Hugging Face "
                'models attn_implementation="sdpa"; not in a module that torch.compile replaced): found no call'
            )
        measures = {}
        for layer, _ in self._modules:
            if layer.at(0) not in self._sums:
                continue
            largest, entropy, sink, rows = (values.tolist() for values in self._sums[layer.at(0)])
            for head in range(layer.heads):
                count = rows[head]
                measures[layer.at(head)] = {
                    "largest_logit": largest[head],
                    "entropy": entropy[head] / count if count else None,
                    "sink": sink[head] / count if count else None,
                    "rows": int(count),
                }
        return measures

    def _enter(self, layer):
        self._layer = layer

    def _measure(self, query, key, mask, is_causal, scale):
        heads, length, width = query.shape[-3:]
        keys = key.shape[-2]
        if mask is not None:
            mask = mask.expand(query.shape[:-1] + (keys,)).reshape((-1, heads, length, keys))
        query, key = query.reshape((-1, heads, length, width)), key.reshape((-1,) + tuple(key.shape[-3:]))
        texts, at = (torch.randint(most, (self._rows,), generator=self._generator) for most in (len(query), length))
        texts, at = texts.to(query.device), at.to(query.device)
        rows = query[texts, :, at].float()
        seen_keys = key[texts].float().repeat_interleave(heads // key.shape[1], 1)
        logits = (seen_keys @ rows[..., None])[..., 0] * (width**-0.5 if scale is None else scale)
        seen = torch.ones_like(logits, dtype=torch.bool)
        if is_causal:
            seen &= torch.arange(keys, device=at.device) <= at[:, None, None]
        if mask is not None:
            part = mask[texts, :, at]
            if part.dtype == torch.bool:
                seen &= part
            else:
                seen &= part > torch.finfo(part.dtype).min / 2
                logits = logits + part
        count = seen.sum(-1)
        valid = (count >= 2).float()
        weights = torch.softmax(logits.masked_fill(~seen, -math.inf), -1).nan_to_num(0.0)
        entropy = torch.special.entr(weights).sum(-1) / count.clamp(min=2).log()
        new = [
            logits.abs().masked_fill(~seen, 0.0).amax((0, -1)),
            (entropy * valid).sum(0),
            (weights[..., 0] * valid).sum(0),
            valid.sum(0),
        ]
        place = self._layer.at(0)
        if place in self._sums:
            old = self._sums[place]
            new = [torch.maximum(old[0], new[0])] + [a + b for a, b in zip(old[1:], new[1:])]
        self._sums[place] = new


def _attention_module(model, query):
    """The module whose forward pass holds the projection of the queries."""
    path = query.rsplit(".", 2 if query.endswith(".weight") else 1)[0]
    return model.get_submodule(path)


# --- Snapshots --------------------------------------------------------------------------------------------------------

_TYPES_OF_FILE = {"F64": ("float64", 8), "F32": ("float32", 4), "F16": ("float16", 2), "BF16": ("bfloat16", 2)}


def _type_of(name, array):
    dtype = str(array.dtype).rpartition(".")[2]
    for code, (kind, size) in _TYPES_OF_FILE.items():
        if kind == dtype:
            return code, size
    raise ValueError(f"'{name}' must be of the type {', '.join(k for k, _ in _TYPES_OF_FILE.values())}: found {dtype}")


def _bytes_of(array):
    if _module_of(array) is numpy:
        return numpy.ascontiguousarray(array).tobytes()
    array = array.detach().cpu().contiguous()
    return ctypes.string_at(array.data_ptr(), array.numel() * array.element_size())  # also without numpy


def _snapshot_tensors(weights, plan):
    """Names of what the heads are computed from. Fused projections are kept whole, with their values."""
    kept = {}
    for layer in plan:
        for kind, name in layer.names.items():
            for each in (name, "" if kind in ("query_norm", "key_norm", "sinks") else _bias_of(name)):
                if each and each in weights:
                    kept[each] = weights[each]
    return kept


def _marks(plan):
    """Names without numbers, by which the command tells a family from others with the same names."""
    return {layer.prefix + mark.replace("{n}", str(layer.layer)) for layer in plan for mark in layer.attention.marks}


def write_snapshot(folder, step, model_or_state_dict, config=None, *, like=None, gains=None):
    """Writes FOLDER/stepNNNNNNNN/model.safetensors with the tensors that heads are computed from, in their types,
    and config.json. `eigenscope heads FOLDER` opens all of them, with the column `step`; the page opens the folder.

    Other arguments as for head_spectra; a model_type that `like` declares is written as that type, an Attention needs
    --map-query and its relatives. Returns the folder of the snapshot. Raises FileExistsError for one that exists.
    """
    if not isinstance(step, int) or not 0 <= step <= MOST_STEPS:
        raise ValueError(f"step must be an integer from 0 to {MOST_STEPS}: found {step!r}")
    weights = _weights_of(model_or_state_dict)
    config = dict(_config_of(model_or_state_dict, config))
    attentions = _attentions(config, like, gains, fold_gains=True)
    if isinstance(like, str):
        if attentions != TYPES[like]:
            raise ValueError(f"gains must be those of '{like}' for a snapshot, which is read as that type: found {gains!r}")
        config["model_type"] = like
    plan = _plan(weights, config, attentions)
    tensors = _snapshot_tensors(weights, plan)
    snapshot = Path(folder) / f"step{step:08d}"
    file = snapshot / "model.safetensors"
    if file.exists():
        raise FileExistsError(f"{file} must not exist")
    snapshot.mkdir(parents=True, exist_ok=True)
    header, offset = {"__metadata__": {"format": SNAPSHOT_FORMAT, "step": str(step)}}, 0
    for name, array in tensors.items():
        code, size = _type_of(name, array)
        shape = _shape_of(tensors, name)
        end = offset + size * math.prod(shape)
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [offset, end]}
        offset = end
    for name in sorted(_marks(plan) - set(tensors)):
        header[name] = {"dtype": "F32", "shape": [0], "data_offsets": [offset, offset]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    draft = snapshot / f"draft.{os.getpid()}"
    with open(draft, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            stream.write(_bytes_of(array))
    (snapshot / "config.json").write_text(json.dumps(config, default=str) + "\n")
    os.replace(draft, file)  # the weights are there as a whole or not at all
    return snapshot


def read_safetensors(path):
    """{name: tensor} of a .safetensors file; numpy arrays where torch is absent, BF16 in single precision then."""
    data = bytearray(Path(path).read_bytes())
    [length] = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length].decode())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] not in _TYPES_OF_FILE:
            continue  # positions and other integers are no weights
        kind, size = _TYPES_OF_FILE[entry["dtype"]]
        first, end = entry["data_offsets"]
        place = {"count": (end - first) // size, "offset": 8 + length + first}
        if first == end:
            array = torch.zeros(0) if torch else numpy.zeros(0)
        elif torch:
            array = torch.frombuffer(data, dtype=getattr(torch, kind), **place)
        elif kind == "bfloat16":
            array = (numpy.frombuffer(data, "<u2", **place).astype("<u4") << 16).view("<f4")
        else:
            array = numpy.frombuffer(data, kind, **place)
        tensors[name] = array.reshape(entry["shape"])
    return tensors


# --- Training loops ---------------------------------------------------------------------------------------------------

# Fields that a monitor reports for each head by default.
FIELDS = (
    "mean",
    "variance_frobenius",
    "spectral_norm",
    "components",
    "logit_bound",
    "largest_logit",
    "entropy",
    "sink",
)


def flat(spectra, fields=FIELDS, prefix="heads/"):
    """{"heads/0.3/mean": value}: numbers alone, for wandb.log, trackio.log or a TensorBoard writer."""
    return {
        f"{prefix}{name}/{field}": head[field]
        for name, head in spectra.items()
        for field in fields
        if head.get(field) is not None
    }


def extremes(spectra, fields=FIELDS, prefix="heads/"):
    """{"heads/min/mean": value, "heads/max/mean": value}: of each field over all heads."""
    metrics = {}
    for field in fields:
        values = [head[field] for head in spectra.values() if head.get(field) is not None]
        if values:
            metrics.update({f"{prefix}min/{field}": min(values), f"{prefix}max/{field}": max(values)})
    return metrics


# Thresholds of the experiment on early warning, written by `npm run experiments`: signal, direction, threshold.
ALARMS = (
    ("spread.largest", 1, 19.4),
    ("eta_f.largest", 1, 4860),
    ("sigma_max.largest", 1, 68.3),
    ("mean.smallest", -1, -0.822),
    ("entropy.smallest", -1, 0.0346),
    ("entropy.largest", 1, 1),
    ("sink.largest", 1, 0.227),
    ("stable_rank.smallest", -1, 1),
    ("z score", 1, 13.32803),
    ("gradient_norm", 1, 5.29),
    ("train_loss", 1, 6.17),
    ("bits_per_byte", 1, 4.385081),
)

Z_SCORE_ROWS = 10  # number of preceding rows over which the z score of a loss is taken


def alarm_signals(spectra, in_metric=False):
    """The signals of heads that alarms may watch, {"eta_f.largest": value}, from head_spectra with fold_gains=False
    and, for `entropy` and `sink`, the measures of an AttentionProbe. `in_metric`: the spectra are in the metric of what
    the projections read, and give `spread`, the deviation of the logits of independent tokens, in place of those of W."""
    of_heads = {}
    for head in spectra.values():
        if in_metric:
            values = {"spread": math.sqrt(head["eta_f"] / head["head_width"])}
        else:
            norm = head["spectral_norm"]
            values = {"eta_f": head["eta_f"], "sigma_max": norm, "mean": head["mean"]}
            values |= {"stable_rank": head["eta_f"] / norm**2 if norm else None}
        values |= {name: head.get(name) for name in ("entropy", "sink")}
        for name, value in values.items():
            if value is not None:
                of_heads.setdefault(name, []).append(value)
    return {
        f"{name}.{which}": extreme(values)
        for name, values in of_heads.items()
        for which, extreme in (("largest", max), ("smallest", min))
    }


class Alarms:
    """The first step at which each signal is beyond its threshold: {signal: step} in `rang`.

        alarms = Alarms()
        alarms.check(step, alarm_signals(spectra), gradient_norm=norm, bits_per_byte=loss)  # {signal: value} of new ones

    `thresholds` are tuples (signal, direction, threshold): an alarm rings above the threshold for the direction 1, below
    it for -1, after the step `after`. The published ones, ALARMS, are those of one small model; derive others from runs
    that did not fail. `z score` is that of `bits_per_byte`, any loss that is logged at equal distances, over the ten
    values before it. Signals that are not passed do not ring; one that is not finite rings.
    """

    def __init__(self, thresholds=ALARMS, after=0):
        for entry in thresholds:
            if len(entry) != 3 or entry[1] not in (1, -1) or not math.isfinite(entry[2]):
                raise ValueError(f"thresholds must be (signal, 1 or -1, finite number): found {entry!r}")
        self.thresholds, self.after, self.rang = tuple(thresholds), after, {}
        self._losses = []

    def check(self, step, signals=None, **values):
        """Rings what the signals of this step ring; returns those that ring for the first time."""
        values = {**(signals or {}), **values}
        if "bits_per_byte" in values:
            values["z score"] = self._z_score(values["bits_per_byte"])
        fresh = {}
        for signal, direction, threshold in self.thresholds:
            value = values.get(signal)
            if value is None or signal in self.rang or step <= self.after:
                continue
            if not math.isfinite(value) or direction * (value - threshold) > 0:
                self.rang[signal], fresh[signal] = step, value
        return fresh

    def _z_score(self, loss):
        past, self._losses = self._losses, [*self._losses[1 - Z_SCORE_ROWS :], loss]
        if len(past) < Z_SCORE_ROWS:
            return None
        mean = sum(past) / len(past)
        variance = sum((value - mean) ** 2 for value in past) / (len(past) - 1)
        return (loss - mean) / math.sqrt(variance) if variance > 0 else None


class Monitor:
    """Spectra of all heads every so many steps, attention on `rows` rows, snapshots in a folder.

        monitor = Monitor(every=100, rows=32, snapshots="snapshots")
        for step, batch in enumerate(batches, start=1):
            monitor.begin(step, model)
            ...                                  # forward and backward passes, step of the optimizer
            wandb.log(monitor.end(step, model))  # empty unless the step is due

    `rows` 0 measures no attention, `snapshots` None writes nothing. `per_head` False reports extremes over the heads
    alone. `alarms` rings by what is measured, and by what `end` is passed (gradient_norm, train_loss, bits_per_byte);
    `end` then reports {"alarms/mean.smallest": value} once. It needs fold_gains=False. `options` are those of
    head_spectra: covariance, like, gains, fold_gains, traces, qk_clip.
    """

    def __init__(
        self, config=None, *, every=100, rows=0, snapshots=None, fields=FIELDS, per_head=True, alarms=None, **options
    ):
        if alarms is not None and options.get("fold_gains", True) is not False:
            raise ValueError(f"fold_gains must be False with alarms: found {options.get('fold_gains', True)!r}")
        if not isinstance(every, int) or every < 1:
            raise ValueError(f"every must be a positive integer: found {every!r}")
        if rows:
            _check_probing()
        self.config, self.every, self.rows, self.snapshots = config, every, rows, snapshots
        self.fields, self.per_head, self.alarms, self.options = tuple(fields), per_head, alarms, options
        self.spectra = {}  # of the last step that was due
        self._done, self._probe = None, None

    def begin(self, step, model):
        """Before the forward passes of step `step` (counted from 1). May be called for each of several passes."""
        if self._done is None:
            self._done = step - 1
        if self.rows and self._probe is None and self._is_due(step):
            self._probe = AttentionProbe(model, self.config, rows=self.rows, like=self.options.get("like"))
            self._probe.__enter__()

    def end(self, step, model, write=True, **values):
        """After the optimizer's step. Numbers by name; none unless the step is due. `write` False: no snapshot, for
        processes beside the first. `values` are further signals of the alarms."""
        if self._done is None:
            self._done = step - 1
        if not self._is_due(step):
            return {}
        self._done = step
        self.spectra = head_spectra(model, self.config, **self.options)
        if self._probe is not None:
            self._take_measures()
        if self.snapshots is not None and write:
            self._write(step, model)
        heads = flat(self.spectra, self.fields) if self.per_head else {}
        rang = {}
        if self.alarms is not None:
            in_metric = self.options.get("covariance") is not None
            rang = self.alarms.check(step, alarm_signals(self.spectra, in_metric), **values)
        return {**heads, **extremes(self.spectra, self.fields), **{f"alarms/{name}": rang[name] for name in rang}}

    def _is_due(self, step):
        return step // self.every > self._done // self.every

    def _take_measures(self):
        self._probe.__exit__()
        probe, self._probe = self._probe, None
        try:
            measures = probe.measures()
        except ValueError as error:  # training goes on without them
            warnings.warn(str(error), stacklevel=3)
            return
        for name, head in self.spectra.items():
            head.update(measures.get(name, {}))

    def _write(self, step, model):
        declared = {name: self.options[name] for name in ("like", "gains") if name in self.options}
        try:
            write_snapshot(self.snapshots, step, model, self.config, **declared)
        except FileExistsError as error:  # of the run that is resumed
            warnings.warn(f"kept the snapshot of step {step}: {error}", stacklevel=3)


def trainer_callback(monitor, log):
    """A TrainerCallback for the Hugging Face Trainer: trainer.add_callback(trainer_callback(monitor, trainer.log))."""
    from transformers import TrainerCallback

    class HeadSpectra(TrainerCallback):
        def on_step_begin(self, args, state, control, model=None, **_):
            monitor.begin(state.global_step + 1, model)

        def on_step_end(self, args, state, control, model=None, **_):
            metrics = monitor.end(state.global_step, model, write=state.is_world_process_zero)
            if metrics:
                log(metrics)

    return HeadSpectra()


def lightning_callback(monitor):
    """A Callback for Lightning, which reports to all loggers of its Trainer: Trainer(callbacks=[...])."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    class HeadSpectra(Callback):
        def on_train_batch_start(self, trainer, pl_module, batch, batch_idx, *_):
            monitor.begin(trainer.global_step + 1, pl_module)

        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, *_):
            metrics = monitor.end(trainer.global_step, pl_module, write=trainer.is_global_zero)
            for logger in trainer.loggers if metrics else []:
                logger.log_metrics(metrics, step=trainer.global_step)

    return HeadSpectra()
