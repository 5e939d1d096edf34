"""Which signal of a training run's log announces that the run will fail, from the columns of a results file.

Runs of even seeds choose thresholds and the best signal; runs of odd seeds test them. A signal is a curve with the
direction that is to be feared: [name, 1 or -1]."""
import math

import numpy as np

import analyses
import stats

DRAWS = 2000


def z_scores(rows, window=10):
    """Of each value against the mean and deviation of the `window` before it; NaN where there are fewer."""
    scores = np.full(rows.shape, math.nan)
    for t in range(window, rows.shape[1]):
        past = rows[:, t - window : t]
        spread = past.std(axis=1, ddof=1)
        known = spread > 0
        scores[known, t] = ((rows[:, t] - past.mean(axis=1)) / np.where(known, spread, 1))[known]
    return scores


def fates(results, outcome, healthy, excess, last):
    """The step at which each run reaches the failure level, infinite for runs that do not fail. The level is `excess`
    above the run of the same seed and labels but with the fault `healthy`; a run fails that is above it in the mean of
    its `last` rows, or that has no finite loss there, and it reaches the level where it is above it for good."""
    steps, curve = np.array(results.steps), results.curve[outcome]
    others = [axis for axis in results.axes if axis != "fault"]

    def key(i, fault):
        return (*(results.label(axis, i) for axis in others), int(results.seed[i]), fault)

    runs = {key(i, results.label("fault", i)): i for i in range(results.size)}
    reached = np.full(results.size, math.inf)
    for i in range(results.size):
        compared = runs.get(key(i, healthy))
        if compared is None:
            reached[i] = math.nan
            continue
        above = curve[i] - curve[compared]
        over = ~(above <= excess)  # no finite loss is above any level
        if not (results.failed[i] or over[-last:].all() or not above[-last:].mean() <= excess):
            continue
        below = np.flatnonzero(~over)
        reached[i] = steps[min(below[-1] + 1 if len(below) else 0, len(steps) - 1)]
    return reached


def extremes(values, steps, first):
    """The largest value of each run from the step `first` on; -inf for none."""
    seen = np.where(np.isfinite(values) & (steps >= first), values, -math.inf)
    return seen.max(axis=1)


def threshold_of(largest, share):
    """The least of the runs' largest values that at most this share of the runs exceeds."""
    return float(np.sort(largest)[::-1][int(share * len(largest))])


def alarms(values, steps, start, threshold):
    """The first step after `start` (one a run) at which the value is above the threshold; infinite for none. The row of
    the step at which a fault starts is measured before the fault acts."""
    above = (values > threshold) & (steps[None, :] > start[:, None])
    return np.where(above.any(axis=1), steps[above.argmax(axis=1)], math.inf)


def leads(alarm, reached):
    """Steps from the alarm to the failure; 0 without an alarm before it."""
    return np.where(alarm < reached, reached - np.where(np.isfinite(alarm), alarm, 0), 0.0)


def median_interval(values, random):
    """The median with its 95% bootstrap interval over runs."""
    if len(values) == 0:
        return math.nan, math.nan, math.nan
    draws = np.median(random.choice(values, (DRAWS, len(values))), axis=1)
    return float(np.median(values)), *(float(end) for end in np.quantile(draws, (0.025, 0.975)))


def seeds_interval(values, seeds, random):
    """The 95% interval of the median by a bootstrap over seeds, all runs of a drawn seed together: those of one seed
    have the same initial weights and batches."""
    places = [np.flatnonzero(seeds == seed) for seed in np.unique(seeds)]
    if not places:
        return math.nan, math.nan
    drawn = np.sort(random.integers(len(places), size=(DRAWS, len(places))), axis=1)
    distinct, times = np.unique(drawn, axis=0, return_counts=True)
    medians = [np.median(values[np.concatenate([places[k] for k in seeds])]) for seeds in distinct]
    return tuple(float(end) for end in np.quantile(np.repeat(medians, times), (0.025, 0.975)))


def separation(values, steps, failing, healthy, reached, starts, horizon, key):
    """Probability that a failing run's value `horizon` steps before it reaches the level is above that of a healthy run
    of the same `key` at the same step; mean over failing runs, NaN for none that has such a step."""
    areas = []
    for i in failing:
        at = np.flatnonzero(steps == reached[i] - horizon)
        if len(at) == 0 or steps[at[0]] <= starts[i] or not math.isfinite(values[i, at[0]]):
            continue
        others = values[[j for j in healthy if key[j] == key[i]], at[0]]
        areas.append(stats.area_under_curve(others[np.isfinite(others)], values[i, at]))
    return stats.mean([area for area in areas if math.isfinite(area)])


def timing(alarm, reached, group, random):
    """Within groups, how the step of the alarm goes with that of the failure: the correlation of both without the means
    of their group, and the two-sided p by permuting the alarms within groups. NaN where either has no spread."""

    def within(values):
        centred = np.array(values, float)
        for label in dict.fromkeys(group):
            own = np.array([other == label for other in group])
            centred[own] -= centred[own].mean()
        return centred

    a, b = within(alarm), within(reached)
    scale = math.sqrt(float(a @ a) * float(b @ b))
    if not scale > 0:
        return math.nan, math.nan
    places = [np.flatnonzero([other == label for other in group]) for label in dict.fromkeys(group)]
    reached_by_chance = 0
    for _ in range(DRAWS):
        drawn = a.copy()
        for own in places:
            drawn[own] = random.permutation(a[own])
        reached_by_chance += abs(float(drawn @ b)) >= abs(float(a @ b)) - 1e-12
    return float(a @ b) / scale, (1 + reached_by_chance) / (1 + DRAWS)


def exchanged(values, steps, threshold, start, reached, runs, donors, stratum, random):
    """The mean lead of `runs`; its mean if their trajectories are those of runs drawn without replacement from the
    `donors` of the same stratum, which have the same learning rate; and the share of draws with at least that lead."""
    observed, total = 0.0, np.zeros(DRAWS)
    for label in dict.fromkeys(stratum[i] for i in runs):
        own = [i for i in runs if stratum[i] == label]
        pool = [i for i in donors if stratum[i] == label]
        ahead = np.array([leads(alarms(values[pool], steps, np.full(len(pool), start[i]), threshold), reached[i]) for i in own])
        observed += sum(ahead[k, pool.index(i)] for k, i in enumerate(own))
        drawn = random.random((DRAWS, len(pool))).argsort(axis=1)[:, : len(own)]
        total += ahead[np.arange(len(own)), drawn].sum(axis=1)
    if not len(runs):
        return math.nan, math.nan, math.nan
    by_chance = (1 + int((total >= observed - 1e-9).sum())) / (1 + DRAWS)
    return observed / len(runs), float(total.mean()) / len(runs), by_chance


def early_warning(
    results, outcome, signals, lines, references, healthy, starts, rates, groups, held, excess, last, first, share, horizons
):
    """Four kinds of rows. `fates`: the step at which each run reaches the failure level, infinite for those that do not
    fail. `runs`: of each fault and model, its runs and those that fail. `signal`: thresholds at which at most
    `share` of the runs of even seeds that do not fail have an alarm after the step `first`, or the given one of
    `lines` ([name, direction, threshold]); and for each group ({axis: labels} by its name; `groups` is a list of
    families of them, so that a family that is added leaves the draws of those before it) the share of false alarms among
    the runs of its models that do not fail, and among those of its own faults; over its failing runs how many had an
    alarm after the fault (`starts`, 0 for others) and before the failure, the lead of the alarm in steps (0 without
    one; median with bootstrap interval), and at each horizon the separation from the runs that do not fail; for the
    first two groups of a family also `exchanged` within a model and learning rate (`rates`, one for faults that are not named) and
    `timing` over the failing runs with an alarm, within a fault. `advantage`: how many steps earlier the alarm of each
    line and of the chosen signal is than those of `references` ([name, direction], signals too), over the failing runs
    of these two groups, with the plan's verdict in the first. Runs `held` back ({axis: labels}) are in no threshold
    and choice, and are tested with all seeds, others with odd ones; the signal that is no reference with the largest
    positive mean lead on even seeds is `chosen`."""
    steps = np.array(results.steps)
    reached = fates(results, outcome, healthy, excess, last)
    labels = {axis: np.array([results.label(axis, i) for i in range(results.size)]) for axis in results.axes}
    faults = labels["fault"]
    others = [axis for axis in results.axes if axis != "fault"]
    key = [tuple(labels[axis][i] for axis in others) for i in range(results.size)]
    stratum = [(*key[i], rates.get(faults[i], "schedule")) for i in range(results.size)]
    start = np.maximum(first, np.array([starts.get(fault, 0) for fault in faults]))
    known = ~np.isnan(reached)
    fails = known & np.isfinite(reached)
    quiet = known & ~fails
    apart = np.any([np.isin(labels[axis], wanted) for axis, wanted in held.items()], axis=0)
    even = results.seed % 2 == 0
    learned, tested = known & even & ~apart, known & (~even | apart)
    random = np.random.default_rng(1)
    if not (quiet & learned).any():
        return []  # no run yet that could give a threshold

    def members(group, axes=results.axes):
        """Tested runs of the group, by these axes; those with a fault that is held back only if the group names it."""
        unnamed = [fault for fault in held.get("fault", []) if fault not in group.get("fault", [])]
        wanted = [np.isin(labels[axis], group[axis]) for axis in axes if axis in group]
        return np.all([tested, ~np.isin(faults, unnamed), *wanted], axis=0)

    rows = [{"of": "fates", "reached": reached.tolist()}]
    rows += [
        {
            **{"of": "runs", "fault": str(fault), "model": str(model), "runs": int(of.sum())},
            **{"failing": int((fails & of).sum())},
            "reached": float(np.median(reached[fails & of])) if (fails & of).any() else None,
        }
        for fault in dict.fromkeys(faults.tolist())
        for model in dict.fromkeys(" ".join(labels) for labels in key)
        for of in [(faults == fault) & np.array([" ".join(labels) == model for labels in key])]
    ]

    def values_of(name):
        if name == "z score":
            return z_scores(results.curve[outcome])
        if name == "step":
            return np.tile(steps.astype(float), (results.size, 1))
        return results.curve[name]

    signals_of = []
    for name, direction, given in [*((*signal, None) for signal in [*signals, *references]), *lines]:
        values = direction * values_of(name)
        largest = extremes(values, steps, first + 1)
        threshold = given * direction if given is not None else threshold_of(largest[quiet & learned], share)
        alarm = alarms(values, steps, start, threshold)
        row = {
            **{"of": "signal", "signal": name, "direction": direction, "threshold": threshold * direction},
            **{"given": given is not None, "even_lead": stats.mean(leads(alarm, reached)[fails & learned])},
        }
        signals_of.append((row, values, largest, threshold, alarm))
    referred = [name for name, _ in references]
    leading = [
        row
        for row, *_ in signals_of
        if not row["given"] and row["signal"] not in referred and row["even_lead"] > 0
    ]
    chosen = max(leading, key=lambda row: row["even_lead"], default=None)
    for family in groups:
        compared, found = [group for group in list(family)[:2] if members(family[group]).any()], {}
        for row, values, largest, threshold, alarm in signals_of:
            ahead_of_all = leads(alarm, reached)
            for group, wanted in family.items():
                if not members(wanted).any():
                    continue  # no run yet
                places = np.flatnonzero(fails & members(wanted))
                spared = quiet & members(wanted, others)
                if len(places) and not np.isfinite(values[places]).any():
                    continue  # the signal is not defined for these models
                wrong, count = int((largest[spared] > threshold).sum()), int(spared.sum())
                low, high = stats.wilson(wrong, count) if count else (math.nan, math.nan)
                own = quiet & members(wanted)
                median, lead_low, lead_high = median_interval(ahead_of_all[places], random)
                warned = places[ahead_of_all[places] > 0]
                nulls = {}
                if group in compared:
                    within = [(faults[i], key[i]) for i in warned]
                    nulls["timing"], nulls["timing_p"] = timing(alarm[warned], reached[warned], within, random)
                    donors = np.flatnonzero(members(wanted, others))
                    nulls["mean_lead"], nulls["null_lead"], nulls["null_p"] = exchanged(
                        values, steps, threshold, start, reached, places, donors, stratum, random
                    )
                found[row["signal"], row["given"], group] = {
                    **row,
                    **nulls,
                    **{"group": group, "healthy": count, "false_alarms": wrong, "false_low": low, "false_high": high},
                    **{"own_healthy": int(own.sum()), "own_alarms": int((largest[own] > threshold).sum())},
                    **{"failing": len(places), "detected": len(warned)},
                    **{"lead": median, "lead_low": lead_low, "lead_high": lead_high},
                    **{
                        f"separation_{horizon}": separation(
                            values, steps, places, np.flatnonzero(spared), reached, start, horizon, key
                        )
                        for horizon in horizons
                    },
                    "chosen": row is chosen,
                }
        rows += found.values()
        ahead_by = {(row["signal"], row["given"]): leads(alarm, reached) for row, *_, alarm in signals_of}
        tests = [(name, given) for name, _, given in lines] + ([(chosen["signal"], None)] if chosen else [])
        for group in compared:
            runs = fails & members(family[group])
            for name, given in tests:
                own = found[name, given is not None, group]
                wrong = own["false_alarms"] / own["healthy"] if own["healthy"] else math.nan
                for reference in referred:
                    ahead = ahead_by[name, given is not None][runs] - ahead_by[reference, False][runs]
                    median, low, high = median_interval(ahead, random)
                    seeds_low, seeds_high = seeds_interval(ahead, results.seed[runs], random)
                    early = low > 0 and (wrong <= share if given is not None else own["false_low"] <= share)
                    late = high < 0 or own["false_low"] > share
                    rows.append(
                        {
                            **{"of": "advantage", "signal": name, "given": given is not None, "threshold": given},
                            **{"against": reference, "group": group, "runs": len(ahead), "steps": median},
                            **{"low": low, "high": high, "seeds_low": seeds_low, "seeds_high": seeds_high},
                            "verdict": analyses.verdict(early, late) if group == next(iter(family)) else None,
                        }
                    )
    return rows
