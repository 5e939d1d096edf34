"""The numbers that answer an experiment's questions, from the columns of its results file (publish.py).

An analysis is a function of `results` and of its settings that returns rows, which publish.py rounds and writes
below its name into `analysis`. Runs that failed (`results.failed`) count in no mean."""
import math

import numpy as np

import stats


def groups_of(results, axes):
    """(labels, indices of cells) of each combination of labels, in the order in which they come."""
    groups = {}
    for i in range(results.size):
        labels = tuple((axis, results.label(axis, i)) for axis in axes)
        groups.setdefault(labels, []).append(i)
    return [(dict(labels), np.array(cells)) for labels, cells in groups.items()]


def finished(results, cells, *columns):
    """Those of the cells whose run did not fail and that have a number in each column."""
    kept = ~results.failed[cells]
    for column in columns:
        kept &= np.isfinite(column[cells])
    return cells[kept]


def paired(results, measure, cells, others):
    """Values of the measure of those seeds that both groups have, in one order."""
    column = results.final[measure]
    own, other = (
        {int(results.seed[i]): column[i] for i in finished(results, group, column)}
        for group in (cells, others)
    )
    seeds = [seed for seed in own if seed in other]
    return [own[seed] for seed in seeds], [other[seed] for seed in seeds]


def summary(results, measures):
    """For each combination of labels: runs, failures, and of each measure at the end mean and deviation; where the
    grid names a baseline, against its runs of the same seeds the mean difference with the paired t test."""
    groups = groups_of(results, results.axes)
    cells_of = {tuple(labels.items()): cells for labels, cells in groups}
    rows = []
    for labels, cells in groups:
        row = {"axes": labels, "runs": len(cells), "failures": int(results.failed[cells].sum())}
        baseline = cells_of.get(tuple({**labels, **results.grid.get("baseline", {})}.items()))
        for measure in measures:
            column = results.final[measure]
            values = column[finished(results, cells, column)]
            row[measure] = {
                "runs": len(values),
                "mean": stats.mean(values),
                "deviation": stats.deviation(values),
            }
            if "baseline" not in results.grid or baseline is None or baseline is cells:
                continue
            pairs = paired(results, measure, cells, baseline)
            difference, p = stats.paired_t(*pairs)
            low, high = stats.paired_interval(*pairs)
            row[measure].update(pairs=len(pairs[0]), difference=difference, low=low, high=high, p=p)
        rows.append(row)
    for measure in measures:
        tested = [row[measure] for row in rows if "p" in row[measure]]
        for own, p in zip(tested, stats.holm([own["p"] for own in tested])):
            own["holm"] = p
    return rows


def contrasts(results, axis, at, pairs, below=None):
    """Direct comparisons of two labels of an axis at labels of the others, a family: mean paired difference of the
    outcome with its 95% interval, p by Student's t and corrected by Holm's method. With `below` also the runs whose
    outcome is below in one label only, with the exact McNemar test (and Holm's), and Fisher's of unpaired runs."""
    cells_of = {tuple(labels.items()): cells for labels, cells in groups_of(results, results.axes)}

    def cells(label):
        return cells_of[tuple((name, label if name == axis else at[name]) for name in results.axes)]

    rows = []
    for first, second in pairs:
        own, other = paired(results, results.outcome_name, cells(first), cells(second))
        difference, p = stats.paired_t(own, other)
        low, high = stats.paired_interval(own, other)
        row = {"of": first, "against": second, "pairs": len(own)}
        row.update(difference=difference, low=low, high=high, p=p)
        if below is not None:
            a, b = np.array(own) < below, np.array(other) < below
            only = int((a & ~b).sum()), int((b & ~a).sum())
            row.update(only_of=only[0], only_against=only[1], mcnemar=stats.mcnemar(*only))
            row["fisher"] = stats.fisher(int(a.sum()), len(a), int(b.sum()), len(b))
        rows.append(row)
    for name in ["p"] + (["mcnemar"] if below is not None else []):
        for row, p in zip(rows, stats.holm([row[name] for row in rows])):
            row["holm" if name == "p" else f"{name}_holm"] = p
    return rows


def sensitivity(results, axis, group, tolerance, reach):
    """For each label of the group over the axis: mean outcome, its excess over the label's own best (mean over
    values with runs), the largest value without failure and within the tolerance of the best, and how many runs
    came below the losses of `reach`, after how many steps on average."""
    rows = []
    for labels, cells in groups_of(results, [group]):
        values = np.array([float(results.label(axis, i)) for i in cells])
        points = []
        for at in sorted(set(values)):
            own = cells[values == at]
            done = finished(results, own, results.outcome)
            reached = []
            for level in reach:
                steps = results.below[level]
                below = finished(results, own, steps)
                mean_step = stats.mean(steps[below])
                reached.append(
                    {"level": level, "reached": len(below), "runs": len(own), "mean_step": mean_step}
                )
            points.append(
                {
                    axis: at,
                    "runs": len(own),
                    "failures": len(own) - len(done),
                    "mean": stats.mean(results.outcome[done]),
                    "reached": reached,
                }
            )
        known = [point for point in points if math.isfinite(point["mean"])]
        best = min((point["mean"] for point in known), default=math.nan)
        stable = [
            point[axis]
            for point in known
            if point["failures"] == 0 and point["mean"] - best <= tolerance
        ]
        rows.append(
            {
                group: labels[group],
                "best": best,
                "values": len(points),
                "mean_excess": stats.mean([point["mean"] - best for point in known]),
                "largest_stable": max(stable, default=math.nan),
                "points": points,
            }
        )
    return rows


def share(results, below):
    """For each combination of labels the share of runs whose outcome is below, with Wilson's 95% interval."""
    rows = []
    for labels, cells in groups_of(results, results.axes):
        done = finished(results, cells, results.outcome)
        count, runs = int((results.outcome[done] < below).sum()), len(cells)
        low, high = stats.wilson(count, runs)
        found = {"runs": runs, "below": count, "share": count / runs, "low": low, "high": high}
        rows.append({"axes": labels, **found})
    return rows


def combination_means(results, cells, predictor):
    """Outcome and predictor of each combination of labels among the cells: means over its finished runs."""
    found = []
    for _, own in groups_of(results, results.axes):
        done = finished(results, np.intersect1d(own, cells), results.outcome, predictor)
        if len(done):
            found.append((stats.mean(results.outcome[done]), stats.mean(predictor[done])))
    return np.array(found).reshape(-1, 2).T


def prediction(outcome, predictor):
    """How well a predictor tells the outcome over cells: rank correlation, and the area under the ROC curve for an
    outcome below the median."""
    low = outcome < np.median(outcome)
    return {
        "cells": len(outcome),
        "rank_correlation": stats.rank_correlation(predictor, outcome),
        "area_under_curve": stats.area_under_curve(predictor[low], predictor[~low]),
    }


def predictors(results, by, names):
    """For each combination of the axes `by` and each measure of the untrained model: how well it tells the outcome."""
    return [
        {
            "axes": labels,
            "predictor": name,
            **prediction(*combination_means(results, cells, results.initial[name])),
        }
        for labels, cells in groups_of(results, by)
        for name in names
    ]


def key_logit_variance(alpha, width, head_width, unlike):
    """Variance over keys of the logits of one query, for W_K = A, W_Q = alpha A + sqrt(1 - alpha^2) C with entries of A
    and C (d_h x d) N(0, 1/d) and tokens of squared norm d and mean cosine 1 - `unlike`; the query's own token is left
    out. Of E ||A^T (alpha A + sqrt(1 - alpha^2) C) x||^2 / d_h for ||x||^2 = d: E A^T A A^T A =
    (d_h/d^2) (d + d_h + 1) I, E C^T A A^T C = (d_h/d) I, and the mixed terms vanish."""
    return unlike * (1 + alpha * alpha * (head_width + 1) / width)


def freezing_scale(variance, keys):
    """The s from which on a row over `keys` keys is frozen: where s^4 times the variance of its logits reaches 2 log T.
    For independent W_Q and W_K the critical point of Giorlandino and Goldt (arXiv:2505.24333), s^4 = beta^2 log T with
    beta = sqrt(2/(1 - p))."""
    return (2 * math.log(keys) / variance) ** 0.25


def freezing(results, by):
    """For an experiment with the axes alpha and init_scale, for each combination of the axes `by`: 1 minus the mean
    cosine of the untrained models' tokens (a residual r of T tokens of one norm has r^2 = (1 - p)(1 - 1/T)), the
    freezing scale of each alpha, how many cells lie beyond it, the mean outcome on either side, and how well the
    predicted variance over 2 log T tells the outcome."""
    settings = results.grid["settings"]
    width, length = settings["width"], settings["length"]
    rows = []
    for labels, cells in groups_of(results, by):
        residual = results.initial["residual"][cells]
        unlike = min(1.0, stats.mean(residual**2 / (1 - 1 / length)))
        scales = {
            alpha: freezing_scale(
                key_logit_variance(alpha, width, width // settings["heads"], unlike), length
            )
            for alpha in sorted({float(results.label("alpha", i)) for i in cells})
        }
        predicted = np.full(results.size, math.nan)
        for i in cells:
            scale = scales[float(results.label("alpha", i))]
            predicted[i] = (float(results.label("init_scale", i)) / scale) ** 4
        outcome, predictor = combination_means(results, cells, predicted)
        beyond = predictor > 1
        rows.append(
            {
                "axes": labels,
                "unlike": unlike,
                "scales": [{"alpha": at, "init_scale": scale} for at, scale in scales.items()],
                "beyond": int(beyond.sum()),
                "mean_beyond": stats.mean(outcome[beyond]),
                "mean_before": stats.mean(outcome[~beyond]),
                **prediction(outcome, predictor),
            }
        )
    return rows


def plateau(results, below, drivers, by=()):
    """Over runs: the rank correlation of a driver in the first logged row after step 0 with the step at which the
    outcome comes below (runs that never do rank last), for each combination of the axes `by`."""
    rows = []
    for labels, cells in groups_of(results, by):
        for driver in drivers:
            values = results.curve[driver][:, 0]
            done = finished(results, cells, values)
            steps = results.below[below][done]
            found = stats.rank_correlation(values[done], np.where(np.isnan(steps), np.inf, steps))
            never = int(np.isnan(steps).sum())
            row = {"driver": driver, "runs": len(done), "never": never, "rank_correlation": found}
            rows.append(({"axes": labels} if by else {}) | row)
    return rows


def relation(results, of, by=()):
    """How two curves go together over the logged rows after step 0 of the same runs: their rank correlation over the
    rows of all runs, and the mean over runs of that within a run."""
    first, second = (results.curve[name] for name in of)
    rows = []
    for labels, cells in groups_of(results, by):
        pairs, within = [], []
        for i in finished(results, cells):
            known = np.isfinite(first[i]) & np.isfinite(second[i])
            own = np.stack([first[i][known], second[i][known]])
            found = stats.rank_correlation(*own)
            if math.isfinite(found):
                pairs.append(own)
                within.append(found)
        both = np.concatenate(pairs, axis=1) if pairs else np.empty((2, 0))
        row = {
            "runs": len(within),
            "rows": both.shape[1],
            "rank_correlation": stats.rank_correlation(*both),
            "mean_within_runs": stats.mean(within),
        }
        rows.append(({"axes": labels} if by else {}) | row)
    return rows
