"""picture-forward.json: the forward pass of a small checkpoint of each family that reads pictures.

As family_forward.py, from the pixels on: the convolution is written out patch by patch.
"""

import numpy as np
from family_forward import HEAD_WIDTH, HEADS, HIDDEN, LAYERS, WIDTH, Model, attend, gelu

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
    class_shape, position_shape, patch_bias = [1, 1, WIDTH], [1], True
    projections = [f"attention.attention.{name}" for name in ("query", "key", "value")]
    output, up, down = "attention.output.dense", "intermediate.dense", "output.dense"
    norms = ["layernorm_before", "layernorm_after"]
    activation = staticmethod(gelu)

    def build(self):
        p = self.prefix
        self.tensor(p + self.patch + ".weight", [WIDTH, 3, PATCH, PATCH], 0.6)
        if self.patch_bias:
            self.tensor(p + self.patch + ".bias", [WIDTH], 0.4)
        if self.class_token:
            self.tensor(p + self.class_token, self.class_shape, 1.0)
        tokens = SIDE * SIDE + (1 if self.class_token else 0)
        self.tensor(p + self.positions, [*self.position_shape, tokens, WIDTH], 1.0)
        self.build_rest()
        for layer in range(LAYERS):
            p = self.layer_prefix(layer)
            self.build_projections(p)
            self.add_linear(p + self.output, WIDTH, WIDTH, True)
            self.add_linear(p + self.up, HIDDEN, WIDTH, True)
            self.add_linear(p + self.down, WIDTH, HIDDEN, True)
            for name in self.norms:
                self.add_norm(p + name, bias=True)

    def build_rest(self):
        pass

    def build_projections(self, p):
        for name in self.projections:
            self.add_linear(p + name, WIDTH, WIDTH, True)

    def projected(self, p, x):
        return [self.linear(p + name, x) for name in self.projections]

    def embedded(self, pixels):
        """pixels: 3 x height x width, normalized; tokens x coordinates."""
        p = self.prefix
        weight, bias = self.w[p + self.patch + ".weight"], self.w.get(p + self.patch + ".bias", 0.0)
        tokens = []
        if self.class_token:
            tokens.append(self.w[p + self.class_token].reshape(WIDTH))
        for row in range(SIDE):
            for column in range(SIDE):
                top, left = row * PATCH, column * PATCH
                part = pixels[:, top : top + PATCH, left : left + PATCH]
                tokens.append(np.einsum("dcij,cij->d", weight, part) + bias)
        return np.array(tokens) + self.w[p + self.positions].reshape(-1, WIDTH)

    def block(self, p, x):
        before, after = self.norms
        q, k, v = (
            y.reshape(len(x), HEADS, HEAD_WIDTH)
            for y in self.projected(p, self.layer_norm(p + before, x, self.epsilon))
        )
        x = x + self.linear(p + self.output, attend(q, k, v, HEAD_WIDTH**-0.5, causal=False))
        y = self.linear(p + self.up, self.layer_norm(p + after, x, self.epsilon))
        return x + self.linear(p + self.down, self.activation(y))

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


def generate():
    return {"ViT": [Vit().result()]}
