"""The numbers that answer an experiment's questions, from the columns of its results file (publish.py).

An analysis is a function of `results` and of its settings that returns rows, which publish.py rounds and writes
below its name into `analysis`. Runs that failed (`results.failed`) count in no mean."""
import math
from collections import defaultdict

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


def by_seed(results, cells, column):
    """The values of those of the cells that finished, by their seeds."""
    return {int(results.seed[i]): column[i] for i in finished(results, cells, column)}


def paired(own, other):
    """Differences of those seeds that both groups have a finite value of."""
    return np.array([own[s] - other[s] for s in own if s in other and math.isfinite(own[s] - other[s])])


def summary(results, measures, families):
    """For each combination of labels: runs, failures, and of each measure at the end mean and deviation; where the
    grid names a baseline, against its runs of the same seeds the mean difference with the paired t test. The tests of
    one of the measures `families` are a family: with 95% intervals, and p corrected by Holm's method."""
    groups = groups_of(results, results.axes)
    cells_of = {tuple(labels.items()): cells for labels, cells in groups}
    rows = []
    for labels, cells in groups:
        row = {"axes": labels, "runs": len(cells), "failures": int(results.failed[cells].sum())}
        baseline = cells_of.get(tuple({**labels, **results.grid.get("baseline", {})}.items()))
        for measure in measures:
            column = results.final[measure]
            values = column[finished(results, cells, column)]
            row[measure] = {"runs": len(values), "mean": stats.mean(values), "deviation": stats.deviation(values)}
            if "baseline" not in results.grid or baseline is None or baseline is cells:
                continue
            pairs = paired(*(by_seed(results, group, column) for group in (cells, baseline)))
            difference, p = stats.t_test(pairs)
            row[measure].update(pairs=len(pairs), difference=difference, p=p)
            if measure in families:
                row[measure].update(stats.interval(pairs))
        rows.append(row)
    for measure in families:
        tested = [row[measure] for row in rows if "p" in row[measure]]
        for own, p in zip(tested, stats.holm([own["p"] for own in tested])):
            own["holm"] = p
    return rows


def contrasts(results, tests, below=None, margin=None):
    """A family of comparisons by seed. Each test is a list of [weight, labels]: the outcomes of the runs with these
    labels, times the weight, add up for each seed that finished in all of them. Mean of the sums with its 95% interval,
    p by Student's t and corrected by Holm's method; with `margin` whether the interval lies within -margin and margin
    ("inside"), beyond one of them ("outside"), or over one ("open"). With `below` tests are of two terms: in how many
    seeds the outcome (infinite for a run that failed) is below in the first only and in the second only, the
    difference of the shares with its interval, the exact McNemar test (and Holm's), and Fisher's of unpaired runs;
    instead of a loss it may name a table of n-grams. A test without runs has no numbers, and counts in the family."""
    if isinstance(below, str):
        below = results.references[below]
    cells_of = {tuple(labels.items()): cells for labels, cells in groups_of(results, results.axes)}

    def outcomes(labels, failed):
        cells = cells_of.get(tuple((name, labels[name]) for name in results.axes), np.array([], int))
        done = set(finished(results, cells, results.outcome).tolist())
        return {
            int(results.seed[i]): results.outcome[i] if i in done else failed
            for i in cells
            if i in done or failed is not None
        }

    def columns(test, failed=None):
        terms = [outcomes(labels, failed) for _, labels in test]
        seeds = [seed for seed in terms[0] if all(seed in term for term in terms)]
        return np.array([[term[seed] for seed in seeds] for term in terms]).reshape(len(terms), -1)

    rows = []
    for test in tests:
        sums = np.array([weight for weight, _ in test]) @ columns(test)
        difference, p = stats.t_test(sums)
        row = {"pairs": len(sums), "difference": difference, **stats.interval(sums), "p": p}
        if margin is not None:
            low, high = row["low"], row["high"]
            inside, outside = low > -margin and high < margin, low > margin or high < -margin
            row["margin"] = "inside" if inside else "outside" if outside else "open"
        if below is not None and len(sums) > 0:
            first, second = columns(test, math.inf) < below
            both, only_first = int((first & second).sum()), int((first & ~second).sum())
            only_second = int((second & ~first).sum())
            row.update(only_first=only_first, only_second=only_second)
            row.update(share_difference=(only_first - only_second) / len(first))
            ends = stats.newcombe(both, only_first, only_second, len(first))
            row.update(zip(("share_low", "share_high"), ends))
            row["mcnemar"] = stats.mcnemar(only_first, only_second)
            row["fisher"] = stats.fisher(int(first.sum()), len(first), int(second.sum()), len(second))
        rows.append(row)
    for name in ["p"] + (["mcnemar"] if below is not None else []):
        for row, p in zip(rows, stats.holm([row.get(name, math.nan) for row in rows])):
            row["holm" if name == "p" else f"{name}_holm"] = p
    return rows


def mediation(results, axis, labels, at, mediator, step, draws):
    """Whether a measure at a logged step accounts for how the outcome goes with the labels of an axis, over the runs
    with labels `at` of the other axes: the paired t test of the measure between the last and the first label, the
    rank correlation of the label (a number) with the outcome, and the partial one given the measure, each with its
    95% interval by a bootstrap over seeds. No row without runs of every label."""
    if step not in results.steps:
        return []
    column = results.curve[mediator][:, results.steps.index(step)]
    known = finished(results, np.arange(results.size), results.outcome, column)
    rows = [
        (int(results.seed[i]), float(results.label(axis, i)), column[i], results.outcome[i])
        for i in known
        if results.label(axis, i) in labels
        and all(results.label(name, i) == label for name, label in at.items())
    ]
    by_label = [{row[0]: row[2] for row in rows if row[1] == float(label)} for label in labels]
    pairs = paired(by_label[-1], by_label[0])
    if not len(pairs):
        return []
    difference, p = stats.t_test(pairs)

    def correlations(chosen):
        _, label, measure, outcome = np.array(chosen).T
        return stats.rank_correlation(label, outcome), stats.partial_correlation(label, outcome, measure)

    of_seed = {seed: [row for row in rows if row[0] == seed] for seed in dict.fromkeys(row[0] for row in rows)}
    seeds, random = list(of_seed), np.random.default_rng(1)
    drawn = [
        correlations([row for k in random.integers(len(seeds), size=len(seeds)) for row in of_seed[seeds[k]]])
        for _ in range(draws)
    ]
    ends = np.nanquantile(np.array(drawn), [0.025, 0.975], axis=0)
    total, partial = correlations(rows)
    return [
        {
            **{"runs": len(rows), "pairs": len(pairs), "difference": difference, **stats.interval(pairs), "p": p},
            **{"total": total, "total_low": ends[0, 0], "total_high": ends[1, 0]},
            **{"partial": partial, "partial_low": ends[0, 1], "partial_high": ends[1, 1]},
        }
    ]


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
                reached.append({"level": level, "reached": len(below), "runs": len(own), "mean_step": mean_step})
            ends = {"mean": stats.mean(results.outcome[done]), "reached": reached}
            points.append({axis: at, "runs": len(own), "failures": len(own) - len(done), **ends})
        known = [point for point in points if math.isfinite(point["mean"])]
        best = min((point["mean"] for point in known), default=math.nan)
        stable = [it[axis] for it in known if it["failures"] == 0 and it["mean"] - best <= tolerance]
        row = {group: labels[group], "best": best, "values": len(points)}
        row["mean_excess"] = stats.mean([point["mean"] - best for point in known])
        rows.append({**row, "largest_stable": max(stable, default=math.nan), "points": points})
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


def combination_means(results, cells, *predictors):
    """Outcome and predictors of each combination of labels among the cells: means over its finished runs."""
    found = []
    for _, own in groups_of(results, results.axes):
        done = finished(results, np.intersect1d(own, cells), results.outcome, *predictors)
        if len(done):
            found.append([stats.mean(column[done]) for column in (results.outcome, *predictors)])
    return np.array(found).reshape(-1, 1 + len(predictors)).T


def prediction(outcome, predictor):
    """How well a predictor tells the outcome over cells: rank correlation, and the area under the ROC curve for an
    outcome below the median."""
    low = outcome < np.median(outcome)
    return {
        "cells": len(outcome),
        "rank_correlation": stats.rank_correlation(predictor, outcome),
        "area_under_curve": stats.area_under_curve(predictor[low], predictor[~low]),
    }


def predictors(results, by, names, within):
    """For each combination of the axes `by`: how well the axis `within`, whose labels are numbers, and each measure of
    the untrained model tell the outcome; of a measure also at equal labels of that axis, the mean over them of the rank
    correlation."""
    axis = np.array([float(results.label(within, i)) for i in range(results.size)])
    rows = []
    for labels, cells in groups_of(results, by):
        outcome, place = combination_means(results, cells, axis)
        rows.append({"axes": labels, "predictor": within, **prediction(outcome, place)})
        for name in names:
            outcome, measure, place = combination_means(results, cells, results.initial[name], axis)
            equal = [stats.rank_correlation(measure[place == at], outcome[place == at]) for at in np.unique(place)]
            row = {"axes": labels, "predictor": name, **prediction(outcome, measure)}
            rows.append({**row, "within": stats.mean([it for it in equal if math.isfinite(it)])})
    return rows


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
        alphas = sorted({float(results.label("alpha", i)) for i in cells})
        head_width = width // settings["heads"]
        scales = {at: freezing_scale(key_logit_variance(at, width, head_width, unlike), length) for at in alphas}
        predicted = np.full(results.size, math.nan)
        for i in cells:
            scale = scales[float(results.label("alpha", i))]
            predicted[i] = (float(results.label("init_scale", i)) / scale) ** 4
        outcome, predictor = combination_means(results, cells, predicted)
        beyond = predictor > 1
        row = {"axes": labels, "unlike": unlike}
        row["scales"] = [{"alpha": at, "init_scale": scale} for at, scale in scales.items()]
        row |= {"beyond": int(beyond.sum()), "mean_beyond": stats.mean(outcome[beyond])}
        row["mean_before"] = stats.mean(outcome[~beyond])
        rows.append(row | prediction(outcome, predictor))
    return rows


def plateau(results, below, drivers, by=(), at=None):
    """Over runs with the labels `at`: the rank correlation of a driver in the first logged row after step 0 with the
    step at which the outcome comes below (runs that never do rank last), for each combination of the axes `by`."""
    rows = []
    for labels, cells in groups_of(results, by):
        cells = cells[[all(results.label(axis, i) == label for axis, label in (at or {}).items()) for i in cells]]
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


def methods_by_seed(results, *columns):
    """{method: {seed: run}} of the runs with a result in these columns and the outcome; {method: its failed runs}."""
    runs, failed = defaultdict(dict), {}
    for labels, cells in groups_of(results, ["method"]):
        done = finished(results, cells, results.outcome, *columns)
        runs[labels["method"]] = {int(results.seed[i]): i for i in done}
        failed[labels["method"]] = int(results.failed[cells].sum())
    return runs, failed


def paths_at_deviation(results, paths, baseline, variance):
    """For each path (name: labels of `method` in order) and each seed whose baseline and all runs of the path have a
    result: the points (deviation over the baseline's, loss minus the baseline's), beginning with the baseline. The
    deviation is the root of the measure `variance`; runs that failed are left out."""
    column = results.final[variance]
    ended, _ = methods_by_seed(results, column)
    ran = {(results.label("method", i), int(results.seed[i])) for i in range(results.size)}
    found = {}
    for name, labels in paths.items():
        found[name] = {}
        for seed, start in sorted(ended[baseline].items()):
            if not all((label, seed) in ran for label in labels):
                continue
            own = [ended[label][seed] for label in labels if seed in ended[label]]
            found[name][seed] = [(1.0, 0.0)] + [
                (math.sqrt(column[i] / column[start]), results.outcome[i] - results.outcome[start]) for i in own
            ]
    return found


def cost_at(path, share):
    """The smallest loss at which a path of straight lines has this deviation; NaN where it never has."""
    costs = []
    for (a, first), (b, second) in zip(path, path[1:]):
        if min(a, b) <= share <= max(a, b):
            costs.append(min(first, second) if a == b else first + (second - first) * (share - a) / (b - a))
    return min(costs, default=math.nan)


def equal_deviation(results, paths, baseline, variance, shares, tests, tested, pilot=None):
    """Costs at equal deviation of the logits, without the seed `pilot`: for each path and each share of the baseline's
    deviation the mean over seeds of cost_at with its 95% interval; then for each pair of `tests` at the share `tested`
    the paired difference of the costs, with p corrected by Holm's method over the tests with at least two pairs."""
    costs = {
        name: {share: {seed: cost_at(path, share) for seed, path in own.items() if seed != pilot} for share in shares}
        for name, own in paths_at_deviation(results, paths, baseline, variance).items()
    }
    rows = []
    for name in paths:
        for share in shares:
            known = [cost for cost in costs[name][share].values() if math.isfinite(cost)]
            row = {"path": name, "share": share, "seeds": len(costs[name][share]), "reached": len(known)}
            rows.append({**row, "cost": stats.mean(known), **stats.interval(known)})
    compared = []
    for first, second in tests:
        pairs = paired(costs[first][tested], costs[second][tested])
        difference, p = stats.t_test(pairs)
        row = {"path": first, "against": second, "share": tested, "pairs": len(pairs)}
        compared.append({**row, "difference": difference, **stats.interval(pairs), "p": p})
    family = [row for row in compared if row["pairs"] > 1]
    for row, p in zip(family, stats.holm([row["p"] for row in family])):
        row["holm"] = p
    return rows + compared


def bias_shares(results, baseline, variance, part):
    """For each method: its runs with a result, the mean deviation of its logits over that of the baseline's run of the
    same seed, the mean loss minus the baseline's with its 95% interval, and mean and largest share that the measure
    `part` has of the measure `variance`."""
    column, own_part = results.final[variance], results.final[part]
    runs, failures = methods_by_seed(results, column)
    rows = []
    for method, own in runs.items():
        pairs = [(i, runs[baseline][seed]) for seed, i in own.items() if seed in runs[baseline]]
        cost = [results.outcome[i] - results.outcome[j] for i, j in pairs]
        shares = [own_part[i] / column[i] for i, _ in pairs if column[i] > 0]
        rows.append(
            {
                **{"method": method, "runs": len(pairs), "failures": failures[method]},
                "deviation": stats.mean([math.sqrt(column[i] / column[j]) for i, j in pairs]),
                **{"cost": stats.mean(cost), **stats.interval(cost)},
                **{"share": stats.mean(shares), "largest_share": max(shares, default=math.nan)},
            }
        )
    return rows


def verdict(confirmed, refuted):
    return "refuted" if refuted else "confirmed" if confirmed else "open"


def deviation_verdicts(results, family, part, path, strengths, rivals, least, limit):
    """The four hypotheses of the plan of causes/README.md on the penalty whose methods are PATH-STRENGTH, `strengths`
    in order; `family` are the settings of equal_deviation. Each with its verdict and the 95% intervals that decide:
    1. no run of the form (the path's name before its first dash) fails, and the deviation of the logits falls from each
       strength to the next;
    2. the measure `part` has less than `limit` of the logits' variance in every method whose mean deviation is at least
       `least` of the baseline's;
    3. the path costs less than each of `rivals` (p corrected);
    4. at some deviation it costs less than nothing."""
    column, parts = results.final[family["variance"]], results.final[part]
    ended, failures = methods_by_seed(results, column)
    start = ended[family["baseline"]]

    def check(what, values):
        return {"what": what, "runs": len(values), "value": stats.mean(values), **stats.interval(values)}

    methods = [f"{path}-{strength}" for strength in strengths]
    seeds = {method: [seed for seed in ended[method] if seed in start and seed != family["pilot"]] for method in methods}
    deviations = {
        method: {seed: math.sqrt(column[ended[method][seed]] / column[start[seed]]) for seed in seeds[method]}
        for method in methods
    }
    falls = [
        check(f"{after} − {before}", paired(deviations[after], deviations[before]))
        for before, after in zip(methods, methods[1:])
    ]
    form = path.split("-")[0] + "-"
    failed = sum(count for method, count in failures.items() if method.startswith(form))
    shares = [
        check(method, [parts[i] / column[i] for i in (ended[method][seed] for seed in seeds[method])])
        for method in methods
        if stats.mean(list(deviations[method].values())) >= least
    ]
    rows = [row for row in equal_deviation(results, **family) if row["path"] == path]
    tests = [row for row in rows if row.get("against") in rivals]
    costs = [row for row in rows if "against" not in row]
    counted = [row for row in tests if row.get("holm", 1.0) < 0.05]

    def checks(of, what, runs, value):
        """The same of rows of equal_deviation."""
        names = ("what", "runs", "value", "low", "high")
        return [dict(zip(names, (what(row), row[runs], row[value], row["low"], row["high"]))) for row in of]

    return [
        {
            **{"hypothesis": 1, "failed": failed, "checks": falls},
            "verdict": verdict(
                failed == 0 and all(row["high"] < 0 for row in falls),
                failed > 0 or any(row["low"] > 0 for row in falls),
            ),
        },
        {
            **{"hypothesis": 2, "checks": shares},
            "verdict": verdict(
                len(shares) > 0 and all(row["high"] < limit for row in shares),
                any(row["low"] > limit for row in shares),
            ),
        },
        {
            "hypothesis": 3,
            "checks": checks(tests, lambda row: f"{path} − {row['against']}", "pairs", "difference"),
            "verdict": verdict(
                len(counted) == len(rivals) and all(row["difference"] < 0 for row in counted),
                any(row["difference"] > 0 for row in counted),
            ),
        },
        {
            "hypothesis": 4,
            "checks": checks(costs, lambda row: f"at {row['share']}", "reached", "cost"),
            "verdict": verdict(any(row["high"] < 0 for row in costs), all(row["low"] > 0 for row in costs)),
        },
    ]


def tuned(results, labels, baseline):
    """For each seed that the baseline and all labels have, the loss minus the baseline's of the label of the lowest mean
    loss over the other seeds: its mean with the 95% interval."""
    runs, _ = methods_by_seed(results)
    losses = {label: {seed: results.outcome[i] for seed, i in runs[label].items()} for label in [*labels, baseline]}
    seeds = sorted(set.intersection(*(set(own) for own in losses.values())))
    if len(seeds) < 2:
        return []
    chosen = []
    for seed in seeds:
        others = [other for other in seeds if other != seed]
        best = min(labels, key=lambda label: stats.mean([losses[label][other] for other in others]))
        chosen.append(losses[best][seed] - losses[baseline][seed])
    return [{"seeds": len(seeds), "difference": stats.mean(chosen), **stats.interval(chosen)}]
