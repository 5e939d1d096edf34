"""head-ablation.json: outcomes of small models whose heads' outputs are set by hand.

A head that is switched off adds nothing (zero), the mean of the values that its query sees (mean), or the value of the
previous token, of its own at the first (previous). `off` are its places, [layer, head].
"""

import numpy as np
from family_forward import HEAD_WIDTH, IDS, WIDTH, Roberta, attend
from llama_forward import CONFIG
from llama_forward import HEAD_WIDTH as LLAMA_HEAD_WIDTH
from llama_forward import IDS as LLAMA_IDS
from llama_forward import KEY_HEADS, LAYERS
from llama_forward import HEADS as LLAMA_HEADS
from llama_forward import attend as llama_attend
from llama_forward import normed, tensors, wave

ABLATIONS = ("zero", "mean", "previous")
CASES = [[], [[0, 1]], [[1, 3]], [[0, 0], [0, 2], [1, 1]]]
MASKED = 4  # position of the masked token


def replaced(read, values, layer, off, ablation, width, causal):
    """What the heads read, tokens x heads * coordinates, with that of the heads in `off` replaced."""
    read = read.copy()
    for at, head in off:
        if at != layer:
            continue
        own = values[:, head]
        if ablation == "zero":
            output = np.zeros_like(own)
        elif ablation == "previous":
            output = np.concatenate([own[:1], own[:-1]])
        elif causal:
            output = np.array([own[: query + 1].mean(axis=0) for query in range(len(own))])
        else:
            output = np.repeat(own.mean(axis=0, keepdims=True), len(own), axis=0)
        read[:, head * width : (head + 1) * width] = output
    return read


def log_softmax(logits):
    logits = logits - logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def llama_outcome(w, off, ablation):
    x = w["model.embed_tokens.weight"][LLAMA_IDS]
    for layer in range(LAYERS):
        p = f"model.layers.{layer}."
        y = normed(x, w[p + "input_layernorm.weight"])
        _, read = llama_attend(w, p + "self_attn.", y)
        values = y @ w[p + "self_attn.v_proj.weight"].T + w[p + "self_attn.v_proj.bias"]
        values = values.reshape(len(x), KEY_HEADS, LLAMA_HEAD_WIDTH)
        values = np.repeat(values, LLAMA_HEADS // KEY_HEADS, axis=1)
        read = replaced(read, values, layer, off, ablation, LLAMA_HEAD_WIDTH, True)
        x = x + read @ w[p + "self_attn.o_proj.weight"].T
        y = normed(x, w[p + "post_attention_layernorm.weight"])
        gate, up = y @ w[p + "mlp.gate_proj.weight"].T, y @ w[p + "mlp.up_proj.weight"].T
        x = x + (gate / (1 + np.exp(-gate)) * up) @ w[p + "mlp.down_proj.weight"].T
    x = normed(x, w["model.norm.weight"])
    logs = log_softmax(x @ w["lm_head.weight"].T)
    loss = -np.mean([logs[t, token] for t, token in enumerate(LLAMA_IDS[1:])])
    return x.mean(axis=0), {"loss": loss, "log_probabilities": logs[-1]}


class MaskedRoberta(Roberta):
    """With the head that predicts masked tokens, whose output weights are the token embeddings."""

    off, ablation = [], "zero"

    def build(self):
        super().build()
        self.add_linear("lm_head.dense", WIDTH, WIDTH, True)
        self.add_norm("lm_head.layer_norm", bias=True)
        self.tensor("lm_head.bias", [len(self.w["roberta.embeddings.word_embeddings.weight"])], 0.4)

    def block(self, p, x):
        parts = self.heads_of([p + self.query, p + self.key, p + self.value], x)
        read = attend(*parts, HEAD_WIDTH**-0.5, causal=False)
        layer = int(p.split(".layer.")[1].split(".")[0])
        read = replaced(read, parts[2], layer, self.off, self.ablation, HEAD_WIDTH, False)
        x = self.layer_norm(p + self.end, x + self.linear(p + self.output, read), self.epsilon)
        y = self.linear(p + self.down, self.activation(self.linear(p + self.up, x)))
        return self.layer_norm(p + self.last, x + y, self.epsilon)

    def outcome(self, off, ablation):
        self.off, self.ablation = off, ablation
        x = self.embedded(np.array(IDS))
        for layer in range(self.depth):
            x = self.block(self.layer_prefix(layer), x)
        states = self.activation(self.linear("lm_head.dense", x[MASKED]))
        states = self.layer_norm("lm_head.layer_norm", states, self.epsilon)
        embeddings = self.w["roberta.embeddings.word_embeddings.weight"]
        logs = log_softmax(states @ embeddings.T + self.w["lm_head.bias"])
        return x.mean(axis=0), {"log_probabilities": logs}


def cases(outcome):
    """The outcome of each case and ablation, and 1 - cosine of the mean token with that of the model as trained."""
    trained, _ = outcome([], "zero")
    rows = []
    for off in CASES:
        for ablation in ABLATIONS if off else ABLATIONS[:1]:
            mean, found = outcome(off, ablation)
            cosine = mean @ trained / np.linalg.norm(mean) / np.linalg.norm(trained)
            rows.append({"off": off, "ablation": ablation, **found, "output_change": 1 - cosine})
    return rows


def generate():
    rows = tensors()
    w = {name: wave(k, *rest).astype(np.float32).astype(float) for k, (name, *rest) in enumerate(rows)}
    names = ("name", "shape", "scale", "mean")
    masked = MaskedRoberta()
    return {
        "next-token": {
            "config": CONFIG,
            "tensors": [dict(zip(names, row)) for row in rows],
            "ids": LLAMA_IDS,
            "cases": cases(lambda off, ablation: llama_outcome(w, off, ablation)),
        },
        "masked-token": {
            "config": masked.config,
            "tensors": masked.rows,
            "ids": IDS,
            "mask": IDS[MASKED],
            "cases": cases(masked.outcome),
        },
    }
