"""rotary-circuits.json: W_QK of a small rotary head over the distance, from turned queries and keys.

The d x d matrix is built entry by entry: W[i, j] is the product of the query of unit token i at position 40
with the key of unit token j at position 40 - D, each turned by its own position. LAPACK gives its eigenvalues.
"""

import numpy as np

WIDTH, HEAD_WIDTH, BASE, DISTANCES = 12, 8, 50.0, 6
POSITION = 40


def waves(seed):
    """d x d_h numbers that any program can make."""
    places = np.arange(WIDTH * HEAD_WIDTH).reshape(WIDTH, HEAD_WIDTH)
    return np.sin(1.3 * places + seed)


def pairs_of(kind, turned):
    half = turned // 2
    return [(p, p + half) if kind == "halves" else (2 * p, 2 * p + 1) for p in range(half)]


def turned_by(position, vector, pairs, angles):
    out = vector.copy()
    for (a, b), angle in zip(pairs, angles):
        turn = np.exp(1j * angle * position) * (vector[a] + 1j * vector[b])
        out[a], out[b] = turn.real, turn.imag
    return out


def circuit(kind, turned):
    query, key = waves(1), waves(2)
    pairs = pairs_of(kind, turned)
    angles = [BASE ** (-2 * p / turned) for p in range(turned // 2)]
    curves = {name: [] for name in ("mean", "variance", "variance_frobenius", "logit")}
    spread = []
    for distance in range(DISTANCES):
        at = [turned_by(POSITION, row, pairs, angles) for row in query]
        seen = [turned_by(POSITION - distance, row, pairs, angles) for row in key]
        w = np.array([[q @ k for k in seen] for q in at])
        values = np.linalg.eigvals(w)
        mean = values.mean().real
        curves["mean"].append(mean)
        curves["variance"].append(np.mean(values**2).real - mean**2)
        curves["variance_frobenius"].append(np.sum(w**2) / WIDTH - mean**2)
        curves["logit"].append(np.trace(w) / np.sqrt(HEAD_WIDTH))
        spread.append(np.linalg.norm(w) / np.sqrt(HEAD_WIDTH))
    logit = np.array(curves["logit"])
    previous = (logit[1] - np.delete(logit, 1).mean()) / np.mean(spread)
    energy = {
        name: [np.sum(weight[:, list(pair)] ** 2) / np.sum(weight**2) for pair in pairs]
        for name, weight in (("query_energy", query), ("key_energy", key))
    }
    return {"pairs": kind, "turned": turned, **curves, "angle": angles, **energy, "previous_token": previous}


def generate():
    return {
        "width": WIDTH,
        "head_width": HEAD_WIDTH,
        "base": BASE,
        "distances": DISTANCES,
        "cases": [circuit("halves", 8), circuit("neighbours", 8), circuit("halves", 4)],
    }
