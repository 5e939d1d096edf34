"""Early warning of failing runs, on runs with known answers: npm run test:analyses"""
import json
import math
import os
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "web/results/experiments"))
import early_warning
import publish

STEPS = list(range(0, 310, 10))


def results_of(runs):
    """Of (fault, seed, {curve: function of the step}, step at which the run breaks or None)."""
    cells = []
    for fault, seed, curves, breaks in runs:
        kept = [step for step in STEPS if breaks is None or step < breaks]
        curve = {"step": kept} | {name: [of(step) for step in kept] for name, of in curves.items()}
        cells.append(
            {
                **{"axes": {"fault": fault, "norm": "pre"}, "seed": seed, "initial": {}, "curve": curve},
                **{"failure": f"step {breaks}: NaN" if breaks else "", "final": {"loss": curve["loss"][-1]}},
            }
        )
    plan = {"final": ["loss"], "digits": 7, "curve": ["loss", *(name for name in runs[0][2] if name != "loss")]}
    columns = publish.columns_of(cells, plan, ["fault", "norm"])
    return publish.Results({}, columns, {})


def healthy(step):
    return 5 - step / 300


def rising(start):
    return lambda step: healthy(step) + max(0, step - start) / 50


class Fates(unittest.TestCase):
    def fate(self, loss, breaks=None):
        results = results_of([("none", 1, {"loss": healthy}, None), ("bad", 1, {"loss": loss}, breaks)])
        return early_warning.fates(results, "loss", "none", 0.5, 3).tolist()[1]

    def test_the_level_is_reached_for_good(self):
        # 25 steps after the start the loss is 0.5 above that of the healthy run.
        self.assertEqual(self.fate(rising(100)), 130)
        self.assertEqual(self.fate(lambda step: healthy(step) + (9 if step == 150 else 0)), math.inf)
        # Over the level once and back before it rises.
        self.assertEqual(self.fate(lambda step: rising(200)(step) + (9 if step == 50 else 0)), 230)

    def test_a_run_that_breaks_fails_at_its_first_missing_row(self):
        self.assertEqual(self.fate(healthy, breaks=200), 200)

    def test_without_a_healthy_run_no_fate_is_known(self):
        results = results_of([("bad", 1, {"loss": healthy}, None)])
        self.assertTrue(np.isnan(early_warning.fates(results, "loss", "none", 0.5, 3)).all())


class Curves(unittest.TestCase):
    def test_the_outcome_keeps_the_digits_of_its_z_scores(self):
        curve = {"step": [0, 10], "loss": [5, 2.123456789], "early": [0, 2.123456789]}
        cell = {"axes": {"fault": "none"}, "seed": 1, "failure": "", "initial": {}, "final": {"loss": 2}, "curve": curve}
        columns = publish.columns_of([cell], {"final": ["loss"], "digits": 3, "curve": ["loss", "early"]}, ["fault"])
        self.assertEqual(columns["curve"], {"step": [10], "loss": [[2.1234568]], "early": [[2.12]]})


class Alarms(unittest.TestCase):
    def test_threshold_has_few_false_alarms(self):
        largest = np.arange(40.0)
        threshold = early_warning.threshold_of(largest, 0.05)
        self.assertEqual((largest > threshold).sum(), 2)
        self.assertEqual(early_warning.threshold_of(largest[:10], 0.05), 9)

    def test_alarm_is_the_first_after_the_start(self):
        steps = np.array([10, 20, 30])
        values = np.array([[5.0, 1, 5], [1, 1, 1], [math.nan, 5, 5], [5, 5, 5]])
        found = early_warning.alarms(values, steps, np.array([0, 0, 25, 10]), 2)
        self.assertEqual(found.tolist(), [10, math.inf, 30, 20])
        self.assertEqual(early_warning.extremes(values, steps, 20).tolist(), [5, 1, 5, 5])

    def test_an_alarm_that_is_not_before_the_failure_has_no_lead(self):
        found = early_warning.leads(np.array([100, 150, 160, math.inf]), np.array([150.0, 150, 150, 150]))
        self.assertEqual(found.tolist(), [50, 0, 0, 0])

    def test_interval_over_seeds_keeps_the_runs_of_a_seed_together(self):
        values, seeds = np.array([0.0, 0, 0, 10, 10, 10]), np.array([1, 1, 1, 2, 2, 2])
        found = early_warning.seeds_interval(values, seeds, np.random.default_rng(1))
        self.assertEqual(found, (0, 10))
        self.assertEqual(early_warning.seeds_interval(values[:3], seeds[:3], np.random.default_rng(1)), (0, 0))

    def test_z_scores(self):
        of = json.loads((Path(__file__).parents[1] / "reference/z-score.json").read_text())
        scores = early_warning.z_scores(np.array([of["losses"]]))
        np.testing.assert_allclose(scores[0], np.array(of["scores"], float), 1e-9)


class EarlyWarning(unittest.TestCase):
    def rows(self, shift, held=(), healthy_alike=False, families=1):
        """Eight seeds of healthy and failing runs, the healthy ones with the failing ones' `early` if they are alike; the signal `early` rises 60 steps before the loss is at the level,
        `line` crosses 1 at 70 steps before it, `noise` knows nothing. A seed's failure is `shift` steps later than that
        of the one before."""
        random = np.random.default_rng(3)
        runs = []
        for seed in range(8):
            noise = {step: random.normal() for step in STEPS}
            start = 100 + shift * seed
            curves = {"loss": healthy, "early": lambda step, s=seed: 0.01 * s, "line": lambda step: 0.5}
            curves |= {"noise": lambda step, own=noise: own[step]}
            alike = {"early": lambda step, at=start: 1 if step >= at + 20 else 0} if healthy_alike else {}
            runs.append(("none", seed, curves | alike, None))
            faulty = curves | {
                "loss": rising(start + 45),
                "early": lambda step, at=start: 1 if step >= at + 20 else 0,
                "line": lambda step, at=start: 2.0 if step >= at + 10 else 0.5,
                "noise": lambda step, own=dict(zip(STEPS, random.normal(size=len(STEPS)))): own[step],
            }
            runs.append(("rate", seed, faulty, None))
        return early_warning.early_warning(
            results_of(runs),
            **{"outcome": "loss", "signals": [["early", 1], ["noise", 1]]},
            **{"lines": [["line", 1, 1]], "references": [["z score", 1], ["step", 1]], "healthy": "none", "starts": {"rate": 100}},
            **{"rates": {}, "groups": families * [{"all": {"fault": ["rate"]}}]},
            **{"held": {"fault": held}, "excess": 0.5, "last": 3, "first": 50, "share": 0.05, "horizons": [20, 50]},
        )

    def test_a_signal_is_as_early_as_it_was_made(self):
        rows = self.rows(shift=0)
        of = {row["signal"]: row for row in rows if row["of"] == "signal"}
        counts = {row["fault"]: (row["runs"], row["failing"], row["reached"]) for row in rows if row["of"] == "runs"}
        self.assertEqual(counts, {"none": (8, 0, None), "rate": (8, 8, 180)})
        early, line, noise = of["early"], of["line"], of["noise"]
        self.assertEqual((early["detected"], early["failing"], early["lead"]), (4, 4, 60))
        self.assertEqual((early["false_alarms"], early["healthy"], early["threshold"]), (1, 4, 0.06))
        self.assertEqual((line["detected"], line["lead"], line["false_alarms"]), (4, 70, 0))
        self.assertTrue(line["given"] and not early["given"])
        self.assertEqual((early["separation_20"], early["separation_50"]), (1, 1))
        self.assertLess(noise["separation_20"], 1)
        self.assertTrue(early["chosen"] and not noise["chosen"])
        advantages = [row for row in rows if row["of"] == "advantage"]
        self.assertEqual(
            [(row["signal"], row["against"], row.get("verdict")) for row in advantages],
            [
                *[("line", "z score", "confirmed"), ("line", "step", "confirmed")],
                *[("early", "z score", "confirmed"), ("early", "step", "confirmed")],
            ],
        )
        self.assertEqual([(row["runs"], row["steps"]) for row in advantages if row["against"] == "z score"], [(4, 40), (4, 30)])

    def test_a_family_of_groups_that_is_added_changes_no_row_before_it(self):
        one, two = self.rows(shift=7), self.rows(shift=7, families=2)
        self.assertEqual(repr(two[: len(one)]), repr(one))
        self.assertEqual(len(two) - len(one), sum(row["of"] in ("signal", "advantage") for row in one))

    def test_the_step_number_announces_nothing(self):
        [row] = [row for row in self.rows(shift=0) if row.get("signal") == "step"]
        self.assertEqual((row["false_alarms"], row["detected"], row["separation_20"]), (0, 0, 0.5))

    def test_trajectories_of_failing_and_healthy_runs_are_exchanged(self):
        of = {row["signal"]: row for row in self.rows(shift=0) if row["of"] == "signal"}
        # Four failing runs of eight of one learning rate: a draw has on average two of their trajectories, and one in 70
        # has all of them.
        self.assertEqual(of["line"]["mean_lead"], 70)
        self.assertAlmostEqual(of["line"]["null_lead"], 35, delta=1.5)
        self.assertAlmostEqual(of["line"]["null_p"], 1 / 70, delta=0.01)
        [alike] = [row for row in self.rows(shift=0, healthy_alike=True) if row.get("signal") == "early"]
        self.assertEqual((alike["mean_lead"], alike["null_lead"], alike["null_p"]), (0, 0, 1))

    def test_what_is_held_back_chooses_nothing(self):
        rows = [row for row in self.rows(shift=0, held=["rate"]) if row["of"] == "signal"]
        self.assertTrue(all(math.isnan(row["even_lead"]) for row in rows))
        # No choice was made on them: both parities of seeds are tested.
        self.assertEqual({row["failing"] for row in rows}, {8})

    def test_timing_is_that_of_the_run(self):
        same = {row["signal"]: row for row in self.rows(shift=0) if row["of"] == "signal"}
        self.assertTrue(math.isnan(same["early"]["timing"]))
        shifted = {row["signal"]: row for row in self.rows(shift=10) if row["of"] == "signal"}
        self.assertAlmostEqual(shifted["early"]["timing"], 1, 9)
        # Of the 24 orders of four alarms one has the correlation of the runs' own and one its opposite.
        self.assertAlmostEqual(shifted["early"]["timing_p"], 2 / 24, delta=0.03)

    def test_the_same_runs_give_the_same_numbers(self):
        # Also in another process, where strings have other hashes.
        script = "import early_warning_test as t; print(t.EarlyWarning().rows(shift=10))"
        printed = [
            subprocess.run(
                [sys.executable, "-B", "-c", script],
                **{"cwd": Path(__file__).parent, "env": {**os.environ, "PYTHONHASHSEED": seed}},
                **{"check": True, "capture_output": True},
            ).stdout
            for seed in ("1", "2")
        ]
        self.assertEqual(*printed)

    def test_timing_is_within_groups(self):
        alarm, reached = [10, 20, 110, 120], [30, 40, 40, 30]
        together, p = early_warning.timing(alarm, reached, ["a", "a", "b", "b"], np.random.default_rng(1))
        self.assertAlmostEqual(together, 0, 12)
        self.assertEqual(p, 1)


if __name__ == "__main__":
    unittest.main()
