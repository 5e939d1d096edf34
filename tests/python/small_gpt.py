"""A GPT in torch that calls scaled_dot_product_attention, with GPT-2's names but torch's linear layers; or, `split`, with
OPT's names for its attention."""

import math
from dataclasses import replace

import torch
from eigenscope_monitor import TYPES
from torch import nn
from torch.nn import functional

# What its names and its configuration do not tell: GPT-2's conventions but for the layout of the weights.
GPT = replace(TYPES["gpt2"][0], layout="fused", usual=())


def plain_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    """For torch before 2.0, which lacks torch.nn.functional.scaled_dot_product_attention."""
    logits = query @ key.transpose(-1, -2) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        hidden = torch.ones(logits.shape[-2:], dtype=torch.bool).triu(1)
        logits = logits.masked_fill(hidden, -math.inf)
    if attn_mask is not None:
        is_bool = attn_mask.dtype == torch.bool
        logits = logits.masked_fill(~attn_mask, -math.inf) if is_bool else logits + attn_mask
    return torch.softmax(logits, -1) @ value


if not hasattr(functional, "scaled_dot_product_attention"):
    functional.scaled_dot_product_attention = plain_attention


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.mask, self.is_causal, self.seen = heads, None, True, None
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def projections(self, x):
        return self.c_attn(x).chunk(3, -1)

    def forward(self, x):
        batch, length, width = x.shape
        parts = (it.view(batch, length, self.heads, -1).transpose(1, 2) for it in self.projections(x))
        query, key, value = parts
        self.seen = query.detach(), key.detach()
        y = functional.scaled_dot_product_attention(query, key, value, self.mask, is_causal=self.is_causal)
        return self.c_proj(y.transpose(1, 2).reshape(batch, length, width))


class SplitAttention(Attention):
    def __init__(self, width, heads):
        super().__init__(width, heads)
        del self.c_attn
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, width) for _ in range(3))

    def projections(self, x):
        return self.q_proj(x), self.k_proj(x), self.v_proj(x)


class Block(nn.Module):
    norm, attention, kind = "ln_1", "attn", Attention

    def __init__(self, width, heads):
        super().__init__()
        self.add_module(self.norm, nn.LayerNorm(width))
        self.add_module(self.attention, self.kind(width, heads))
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + getattr(self, self.attention)(getattr(self, self.norm)(x))
        return x + self.mlp(self.ln_2(x))


class SplitBlock(Block):
    norm, attention, kind = "self_attn_layer_norm", "self_attn", SplitAttention


class Gpt(nn.Module):
    def __init__(self, vocabulary=256, width=32, heads=4, depth=2, length=16, split=False):
        super().__init__()
        self.config = {"n_head": heads, "n_embd": width}
        if split:
            self.config = {"model_type": "opt", "num_attention_heads": heads, "hidden_size": width}
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.h = nn.ModuleList((SplitBlock if split else Block)(width, heads) for _ in range(depth))
        if split:
            self.decoder = nn.ModuleDict({"layers": self.h})
        self.ln_f = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T


def step_of(model, optimizer, ids):
    """One step of training on next tokens; the loss."""
    logits = model(ids[:, :-1])
    loss = functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
