"""picture-forward.json: the forward pass of a small checkpoint of each family that reads pictures.

As family_forward.py, from the pixels on: the convolution is written out patch by patch.
"""

import numpy as np
from family_forward import HEAD_WIDTH, HEADS, HIDDEN, LAYERS, WIDTH, Model, attend, gelu, gelu_tanh

PATCH, SIDE = 2, 3
PIXELS = PATCH * SIDE
MEAN, DEVIATION = [0.5, 0.25, 0.75], [0.5, 0.25, 1.0]

# Another byte for each place, 3 x height x width.
BYTES = (np.arange(3 * PIXELS * PIXELS) * 89 % 256).reshape(3, PIXELS, PIXELS)


class Vit(Model):
    """Norms before attention and MLP, a class token, learned positions."""

    config = {
        "model_type": "vit",
        "num_attention_heads": HEADS,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-3,
    }
    prefix, layers, epsilon = "vit.", "encoder.layer.", 1e-3
    patch, class_token, positions = (
        "embeddings.patch_embeddings.projection",
        "embeddings.cls_token",
        "embeddings.position_embeddings",
    )
    distillation_token = None
    class_shape, position_shape, patch_bias = [1, 1, WIDTH], [1], True
    projections = [f"attention.attention.{name}" for name in ("query", "key", "value")]
    output, up, down = "attention.output.dense", "intermediate.dense", "output.dense"
    norms, embedding_norm = ["layernorm_before", "layernorm_after"], None
    scales = None
    activation = staticmethod(gelu)

    def build(self):
        p = self.prefix
        self.tensor(p + self.patch + ".weight", [WIDTH, 3, PATCH, PATCH], 0.6)
        if self.patch_bias:
            self.tensor(p + self.patch + ".bias", [WIDTH], 0.4)
        for name in self.leading_tokens():
            self.tensor(p + name, self.class_shape, 1.0)
        tokens = SIDE * SIDE + len(self.leading_tokens())
        self.tensor(p + self.positions, [*self.position_shape, tokens, WIDTH], 1.0)
        if self.embedding_norm:
            self.add_norm(p + self.embedding_norm, bias=True)
        for layer in range(LAYERS):
            p = self.layer_prefix(layer)
            self.build_projections(p)
            self.add_linear(p + self.output, WIDTH, WIDTH, True)
            self.add_linear(p + self.up, HIDDEN, WIDTH, True)
            self.add_linear(p + self.down, WIDTH, HIDDEN, True)
            for name in self.norms:
                self.add_norm(p + name, bias=True)
            for name in self.scales or []:
                self.tensor(p + name, [WIDTH], 0.5, 0.5)

    def leading_tokens(self):
        return [name for name in (self.class_token, self.distillation_token) if name]

    def build_projections(self, p):
        for name in self.projections:
            self.add_linear(p + name, WIDTH, WIDTH, True)

    def projected(self, p, x):
        return [self.linear(p + name, x) for name in self.projections]

    def embedded(self, pixels):
        """pixels: 3 x height x width, normalized; tokens x coordinates."""
        p = self.prefix
        weight, bias = self.w[p + self.patch + ".weight"], self.w.get(p + self.patch + ".bias", 0.0)
        tokens = [self.w[p + name].reshape(WIDTH) for name in self.leading_tokens()]
        for row in range(SIDE):
            for column in range(SIDE):
                top, left = row * PATCH, column * PATCH
                part = pixels[:, top : top + PATCH, left : left + PATCH]
                tokens.append(np.einsum("dcij,cij->d", weight, part) + bias)
        x = np.array(tokens) + self.w[p + self.positions].reshape(-1, WIDTH)
        return self.layer_norm(p + self.embedding_norm, x, self.epsilon) if self.embedding_norm else x

    def block(self, p, x):
        before, after = self.norms
        q, k, v = (
            y.reshape(len(x), HEADS, HEAD_WIDTH)
            for y in self.projected(p, self.layer_norm(p + before, x, self.epsilon))
        )
        first, second = (self.w[p + name] for name in self.scales) if self.scales else (1.0, 1.0)
        read = attend(q, k, v, HEAD_WIDTH**-0.5, causal=False)
        x = x + first * self.linear(p + self.output, read)
        y = self.linear(p + self.up, self.layer_norm(p + after, x, self.epsilon))
        return x + second * self.linear(p + self.down, self.activation(y))

    def result(self):
        channels = (slice(None), None, None)
        pixels = (BYTES / 255 - np.array(MEAN)[channels]) / np.array(DEVIATION)[channels]
        x = self.embedded(pixels)
        embedded, layers = x, []
        for layer in range(self.depth):
            x = self.block(self.layer_prefix(layer), x)
            layers.append(x)
        return {
            "config": self.config,
            "preprocessor": {"image_mean": MEAN, "image_std": DEVIATION},
            "tensors": self.rows,
            "rgb": BYTES.transpose(1, 2, 0).reshape(-1),
            "patch": PATCH,
            "embedded": embedded,
            "layers": layers,
        }


class Deit(Vit):
    """Distilled: a second token before the patches."""

    config = {**Vit.config, "model_type": "deit"}
    prefix, distillation_token = "deit.", "embeddings.distillation_token"


class Dinov2(Vit):
    """LayerScale: factors of the coordinates of each branch's output."""

    config = {**Vit.config, "model_type": "dinov2", "use_swiglu_ffn": False}
    prefix, up, down, norms = "dinov2.", "mlp.fc1", "mlp.fc2", ["norm1", "norm2"]
    scales = ["layer_scale1.lambda1", "layer_scale2.lambda1"]


class TimmVit(Vit):
    """Fused projections; no names of Hugging Face."""

    config = {"architecture": "vit_tiny_patch2", "num_heads": HEADS, "num_features": WIDTH}
    prefix, layers, epsilon = "", "blocks.", 1e-6
    patch, class_token, positions = "patch_embed.proj", "cls_token", "pos_embed"
    output, up, down, norms = "attn.proj", "mlp.fc1", "mlp.fc2", ["norm1", "norm2"]

    def build_projections(self, p):
        self.add_linear(p + "attn.qkv", 3 * WIDTH, WIDTH, True)

    def projected(self, p, x):
        return np.split(self.linear(p + "attn.qkv", x), 3, axis=1)


class TimmDeit(TimmVit):
    """Distilled, and with LayerScale."""

    distillation_token, scales = "dist_token", ["ls1.gamma", "ls2.gamma"]


class ClipVision(Vit):
    """The vision of CLIP: a norm before the first layer, no bias of the convolution, the fast GELU."""

    vision = {
        "model_type": "clip_vision_model",
        "num_attention_heads": HEADS,
        "hidden_act": "quick_gelu",
        "layer_norm_eps": 1e-3,
    }
    config = {"model_type": "clip", "vision_config": vision}
    prefix, layers = "vision_model.", "encoder.layers."
    patch, class_token, positions = (
        "embeddings.patch_embedding",
        "embeddings.class_embedding",
        "embeddings.position_embedding.weight",
    )
    class_shape, position_shape, patch_bias = [WIDTH], [], False
    projections = [f"self_attn.{name}_proj" for name in "qkv"]
    output, up, down = "self_attn.out_proj", "mlp.fc1", "mlp.fc2"
    norms, embedding_norm = ["layer_norm1", "layer_norm2"], "pre_layrnorm"

    @staticmethod
    def activation(x):
        return x / (1 + np.exp(-1.702 * x))


class SiglipVision(ClipVision):
    """The vision of SigLIP: no class token, no norm before the first layer."""

    config = {
        "model_type": "siglip",
        "vision_config": {"model_type": "siglip_vision_model", "num_attention_heads": HEADS},
    }
    class_token, embedding_norm, patch_bias, epsilon = None, None, True, 1e-6
    activation = staticmethod(gelu_tanh)


def generate():
    return {
        "ViT": [Deit().result(), Vit().result()],
        "DINOv2": [Dinov2().result()],
        "ViT (timm)": [TimmDeit().result(), TimmVit().result()],
        "CLIP": [ClipVision().result()],
        "SigLIP": [SiglipVision().result()],
    }
