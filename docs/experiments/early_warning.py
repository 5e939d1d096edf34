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
    """The first step from `start` (one a run) on at which the value is above the threshold; infinite for none."""
    above = (values > threshold) & (steps[None, :] >= start[:, None])
    return np.where(above.any(axis=1), steps[above.argmax(axis=1)], math.inf)


def median_interval(values, random):
    """The median with its 95% bootstrap interval over runs."""
    if len(values) == 0:
        return math.nan, math.nan, math.nan
    draws = np.median(random.choice(values, (DRAWS, len(values))), axis=1)
    return float(np.median(values)), *(float(end) for end in np.quantile(draws, (0.025, 0.975)))


def separation(values, steps, failing, healthy, reached, starts, horizon, key):
    """Probability that a failing run's value `horizon` steps before it reaches the level is above that of a healthy run
    of the same `key` at the same step; mean over failing runs, NaN for none that has such a step."""
    areas = []
    for i in failing:
        at = np.flatnonzero(steps == reached[i] - horizon)
        if len(at) == 0 or steps[at[0]] < starts[i] or not math.isfinite(values[i, at[0]]):
            continue
        others = values[[j for j in healthy if key[j] == key[i]], at[0]]
        areas.append(stats.area_under_curve(others[np.isfinite(others)], values[i, at]))
    return stats.mean([area for area in areas if math.isfinite(area)])


def timing(alarm, reached, group, random):
    """Within groups, how the step of the alarm goes with that of the failure: the correlation of both without the means
    of their group, and the two-sided p by permuting the alarms within groups. NaN where either has no spread."""

    def within(values):
        centred = np.array(values, float)
        for label in set(group):
            own = np.array([other == label for other in group])
            centred[own] -= centred[own].mean()
        return centred

    a, b = within(alarm), within(reached)
    scale = math.sqrt(float(a @ a) * float(b @ b))
    if not scale > 0:
        return math.nan, math.nan
    places = [np.flatnonzero([other == label for other in group]) for label in set(group)]
    reached_by_chance = 0
    for _ in range(DRAWS):
        drawn = a.copy()
        for own in places:
            drawn[own] = random.permutation(a[own])
        reached_by_chance += abs(float(drawn @ b)) >= abs(float(a @ b)) - 1e-12
    return float(a @ b) / scale, (1 + reached_by_chance) / (1 + DRAWS)


def early_warning(results, outcome, signals, lines, healthy, starts, groups, held, excess, last, first, share, horizons):
    """Three kinds of rows. `runs`: of each fault, its runs and those that fail. `signal`: thresholds at which at most
    `share` of the runs of even seeds that do not fail have an alarm from the step `first` on, or the given one of
    `lines` ([name, direction, threshold]); the share of false alarms among those of odd seeds; and for each of `groups`
    ({axis: labels}), over failing runs of odd seeds: how many had an alarm between the fault (`starts`, 0 for others) and the
    failure, the lead of the alarm in steps (0 without one; median with bootstrap interval), `timing` over those with an
    alarm, within a fault, and at each horizon the separation from healthy runs.
    `advantage`: how many steps earlier each line's alarm is than that of `outcome`'s z score, over runs of the first
    group, and the verdict of the plan. Runs `held` back ({axis: labels}) are in no threshold and choice; the signal with
    the largest mean lead on even seeds is `chosen`."""
    steps = np.array(results.steps)
    reached = fates(results, outcome, healthy, excess, last)
    faults = np.array([results.label("fault", i) for i in range(results.size)])
    others = [axis for axis in results.axes if axis != "fault"]
    key = [tuple(results.label(axis, i) for axis in others) for i in range(results.size)]
    start = np.maximum(first, np.array([starts.get(fault, 0) for fault in faults]))
    even = results.seed % 2 == 0
    known = ~np.isnan(reached)
    fails = known & np.isfinite(reached)

    def has(wanted):
        """Runs whose label is wanted on every axis, and those with a wanted label on any axis."""
        of = [np.isin([results.label(axis, i) for i in range(results.size)], labels) for axis, labels in wanted.items()]
        return np.all(of, axis=0), np.any(of, axis=0)

    _, apart = has(held)
    quiet = known & ~fails & ~apart
    random = np.random.default_rng(1)
    rows = [
        {
            **{"of": "runs", "fault": str(fault), "runs": int((faults == fault).sum())},
            **{"failing": int((fails & (faults == fault)).sum())},
            "reached": float(np.median(reached[fails & (faults == fault)])) if (fails & (faults == fault)).any() else None,
        }
        for fault in dict.fromkeys(faults.tolist())
    ]

    def values_of(name):
        return z_scores(results.curve[outcome]) if name == "z score" else results.curve[name]

    def leads(of, runs):
        ahead = reached[runs] - of[runs]
        return np.where(ahead >= 0, ahead, 0.0), of[runs] <= reached[runs]

    made = [(name, direction, None) for name, direction in signals] + [tuple(line) for line in lines]
    of = {}
    for name, direction, given in made:
        values = direction * values_of(name)
        threshold = given * direction if given is not None else threshold_of(
            extremes(values[quiet & even], steps, first), share
        )
        of[name, given] = alarms(values, steps, start, threshold)
        tested = quiet & ~even
        wrong = int((extremes(values[tested], steps, first) > threshold).sum())
        low, high = stats.wilson(wrong, int(tested.sum())) if tested.any() else (math.nan, math.nan)
        row = {
            **{"of": "signal", "signal": name, "direction": direction, "threshold": threshold * direction},
            **{"given": given is not None, "healthy": int(tested.sum()), "false_alarms": wrong},
            **{"false_low": low, "false_high": high},
        }
        learned, _ = leads(of[name, given], fails & even & ~apart)
        row["even_lead"] = stats.mean(learned)
        for group, members in groups.items():
            runs = fails & ~even & has(members)[0]
            ahead, detected = leads(of[name, given], runs)
            median, lead_low, lead_high = median_interval(ahead, random)
            places = np.flatnonzero(runs)
            warned = places[detected]
            together, by_chance = timing(
                of[name, given][warned], reached[warned], [(faults[i], key[i]) for i in warned], random
            )
            rows.append(
                {
                    **row,
                    **{"group": group, "failing": len(places), "detected": int(detected.sum())},
                    **{"lead": median, "lead_low": lead_low, "lead_high": lead_high},
                    **{"timing": together, "timing_p": by_chance},
                    **{
                        f"separation_{horizon}": separation(
                            values, steps, places, np.flatnonzero(tested), reached, start, horizon, key
                        )
                        for horizon in horizons
                    },
                }
            )
    least_false = [row for row in rows if row["of"] == "signal" and not row["given"]]
    if least_false:
        best = max(least_false, key=lambda row: (row["even_lead"] if math.isfinite(row["even_lead"]) else -1))["signal"]
        for row in rows:
            if row["of"] == "signal":
                row["chosen"] = row["signal"] == best and not row["given"]
    compared = next(iter(groups))
    runs = fails & ~even & has(groups[compared])[0]
    reference, _ = leads(of["z score", None], runs)
    for name, _, given in lines:
        ahead, _ = leads(of[name, given], runs)
        median, low, high = median_interval(ahead - reference, random)
        [false] = [row for row in rows if row.get("signal") == name and row["given"] and row["group"] == compared]
        wrong = false["false_alarms"] / false["healthy"] if false["healthy"] else math.nan
        rows.append(
            {
                **{"of": "advantage", "signal": name, "against": "z score", "group": compared, "runs": len(ahead)},
                **{"steps": median, "low": low, "high": high},
                "verdict": analyses.verdict(low > 0 and wrong <= share, high < 0 or false["false_low"] > share),
            }
        )
    return rows
