"""minilm-labs.json: attention sinks and attention as an explanation, of MiniLM on passages of one text.

Passages have T tokens, [CLS], content and [SEP]. Sinks: the first two give the directions, the next two are measured.
Explanation: the first is measured.
"""

import numpy as np

from minilm import MiniLM, softmax

TEXT = (
    "The old whale swam slowly under the dark ship, and the captain watched it from the deck. "
    "He cursed the white beast loudly while his men lowered three boats into the cold and quiet sea."
)
CONTENT = 9
HEADS = 72


def run(model, ids, edit=None, dropped=None, seen=None):
    """Tokens after the last layer. `edit(layer, parts)` changes {"query", "key", "value"} (h x T x d_h)."""
    states = model.embed(ids)
    for layer in range(model.layers):
        parts = {kind: model.project(layer, kind, states) for kind in ("query", "key", "value")}
        if edit:
            edit(layer, parts)
        logits = parts["query"] @ parts["key"].transpose(0, 2, 1) / np.sqrt(model.head_width)
        if dropped is not None:
            others = np.arange(len(ids)) != dropped
            logits[:, others, dropped] = -np.inf
        weights = softmax(logits)
        context = weights @ parts["value"]
        if seen:
            seen(layer, weights, parts, context)
        states = model.finish(layer, states, context)
    return states


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def ranks(values):
    return np.argsort(np.argsort(values))


def rank_correlation(a, b):
    return np.corrcoef(ranks(a), ranks(b))[0, 1]


def received(weights, key):
    """Mean attention of the other tokens, by head."""
    return np.delete(weights[:, :, key], key, axis=1).mean(axis=1)


def projection(model, layer, head):
    columns = slice(head * model.head_width, (head + 1) * model.head_width)
    return model.at(layer, "attention.output.dense.weight")[:, columns].T


def head_numbers(model, layer, weights, parts, context):
    """What every head of a layer writes on a passage."""
    rows = []
    for head in range(model.heads):
        out = projection(model, layer, head)
        values, written = parts["value"][head] @ out, (context[head] @ out)[1:]
        tag, content = values[0], values[1:-1]
        centred = written - written.mean(axis=0)

        def share(direction):
            along = centred @ (direction / np.linalg.norm(direction))
            return np.sum(along**2) / np.sum(centred**2)

        order = np.argsort(weights[head, 1:, 0])
        half = len(order) // 2
        caught = written[order[-half:]].sum(axis=0) - written[order[:half]].sum(axis=0)
        entropy = -np.sum(weights[head, 1:] * np.log(weights[head, 1:]), axis=1)
        rows.append(
            {
                "sink": received(weights, 0)[head],
                "entropy": entropy.mean() / np.log(len(weights[head])),
                "value_norm": np.linalg.norm(tag) / np.linalg.norm(content, axis=1).mean(),
                "tag_share": share(tag),
                "other_share": np.mean([share(value) for value in content]),
                "tag_cosine": cosine(caught, tag),
                "missing_cosine": cosine(caught, -content.mean(axis=0)),
            }
        )
    return rows


def sinks(model, directions, measured):
    middle = 1 + CONTENT // 2
    lines = np.zeros((model.layers, model.heads, model.head_width))

    def add_keys(layer, _, parts, __):
        key = parts["key"]
        lines[layer] += key[:, 0] - key[:, 1:-1].mean(axis=1)

    for ids in directions:
        run(model, ids, seen=add_keys)
    lines /= np.linalg.norm(lines, axis=-1, keepdims=True)

    def remove(layer, parts):
        line = lines[layer][:, None, :]
        parts["key"] -= np.sum(parts["key"] * line, axis=-1, keepdims=True) * line

    def value(key, average):
        def change(_, parts):
            own = parts["value"]
            own[:, key] = own[:, 1:-1].mean(axis=1) if average else 0

        return change

    changes = {
        "none": {},
        "direction": {"edit": remove},
        "dropped": {"dropped": 0},
        "dropped-other": {"dropped": middle},
        "zero-value": {"edit": value(0, False)},
        "mean-value": {"edit": value(0, True)},
        "zero-other": {"edit": value(middle, False)},
    }
    moved = [swapped(ids, 0, middle) for ids in measured]
    heads, rows, attention = [], [], {}
    for name, change in {**changes, "moved": {}}.items():
        outputs, places = [], np.zeros((2, model.layers, model.heads))
        passages = moved if name == "moved" else measured
        for ids in passages:

            def seen(layer, weights, parts, context):
                for place, key in enumerate((0, middle)):
                    places[place, layer] += received(weights, key) / len(passages)
                if name == "none":
                    heads.extend(head_numbers(model, layer, weights, parts, context))

            outputs.append(run(model, ids, seen=seen, **change).mean(axis=0))
        attention[name] = places
        if name == "none":
            before = outputs
        if name != "moved":
            moves = [1 - cosine(a, b) for a, b in zip(before, outputs)]
            sink = places[0].ravel()
            row = {"change": name, "sink": sink.mean(), "sinks": int(np.sum(sink > 0.1))}
            rows.append(row if name == "none" else {**row, "output_change": np.mean(moves)})
    means = [
        {name: np.mean([heads[place + passage * HEADS][name] for passage in range(len(measured))]) for name in heads[0]}
        for place in range(HEADS)
    ]
    layers = [
        {
            "first_at_start": attention["none"][0, layer].mean(),
            "first_in_middle": attention["moved"][1, layer].mean(),
            "other_at_start": attention["moved"][0, layer].mean(),
            "other_in_middle": attention["none"][1, layer].mean(),
        }
        for layer in range(model.layers)
    ]
    return {"rows": rows, "heads": means, "layers": layers}


def swapped(ids, a, b):
    ids = list(ids)
    ids[a], ids[b] = ids[b], ids[a]
    return ids


def explanation(model, ids):
    """Attention to each content token, the same times norm, and what dropping or masking the token changes."""
    attention, norm = [], []

    def seen(layer, weights, parts, _):
        for head in range(model.heads):
            length = np.linalg.norm(parts["value"][head] @ projection(model, layer, head), axis=1)
            own = np.array([received(weights, key)[head] for key in range(1, 1 + CONTENT)])
            attention.append(own)
            norm.append(own * length[1:-1])

    before = run(model, ids, seen=seen)

    def change(key, after):
        mean, other = (np.delete(tokens, key, axis=0).mean(axis=0) for tokens in (before, after))
        return np.linalg.norm(other - mean) / np.linalg.norm(mean)

    mask = model.tokenizer.ids["[MASK]"]
    keys = range(1, 1 + CONTENT)
    dropped = [change(key, run(model, ids, dropped=key)) for key in keys]
    masked = [change(key, run(model, [*ids[:key], mask, *ids[key + 1 :]])) for key in keys]
    return {
        "change_dropped": np.mean(dropped),
        "change_masked": np.mean(masked),
        "agreement": rank_correlation(dropped, masked),
        "attention_dropped": [rank_correlation(row, dropped) for row in attention],
        "norm_dropped": [rank_correlation(row, dropped) for row in norm],
        "norm_masked": [rank_correlation(row, masked) for row in norm],
        "last_layer_norm": rank_correlation(np.mean(norm[-model.heads :], axis=0), dropped),
        "all": rank_correlation(np.mean(attention, axis=0), dropped),
    }


def generate():
    model = MiniLM()
    first, *content, last = model.tokenizer.encode(TEXT)
    passages = [[first, *content[at : at + CONTENT], last] for at in range(0, 4 * CONTENT, CONTENT)]
    return {
        "text": TEXT,
        "length": CONTENT + 2,
        "passages": passages,
        "sinks": sinks(model, passages[:2], passages[2:]),
        "explanation": explanation(model, passages[0]),
    }
