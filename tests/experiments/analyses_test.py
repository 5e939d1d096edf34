"""Analyses of web/results/experiments, on runs with known answers: npm run test:analyses"""
import math
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "web/results/experiments"))
import analyses
import publish
import stats

NONE = math.nan


def results_of(cells, grid=None, **plan):
    """Of cells as `eigenscope collect` writes them."""
    plan = {"final": ["loss"], "digits": 6, **plan}
    axes = list(cells[0]["axes"]) if cells else ["method"]
    return publish.Results(grid or {}, publish.columns_of(cells, plan, axes), {"bigram": 3.5})


def cell(axes, loss=3.0, seed=1, failure="", initial=None, curve=None):
    """A run that is 1 above its last loss at step 50."""
    curve = curve or {"step": [0, 50, 100], "loss": [8, loss + 1, loss]}
    return {
        **{"axes": axes, "seed": seed, "failure": failure, "initial": initial or {}},
        **{"final": {"loss": loss}, "curve": curve},
    }


class Published(unittest.TestCase):
    def test_parts_of_a_grid(self):
        """New runs extend those that were published, and replace those of the same labels and seed."""
        plan = {"final": ["loss"], "digits": 6, "curve": ["loss"], "analyses": [(None, {"reach": [3.5]})]}

        def columns(*cells):
            return publish.columns_of(cells, plan, ["method"])

        short = {"step": [0, 50], "loss": [8, 4.5]}
        first = cell({"method": "b"}, 3.25, seed=7)
        rerun = cell({"method": "b"}, 3.75, seed=8)
        failed = cell({"method": "a"}, 4.5, seed=7, failure="step 50", curve=short)
        own = columns(first, cell({"method": "b"}, 9.0, seed=8))
        new = columns(failed, rerun)
        self.assertEqual(publish.extended(own, new), columns(first, rerun, failed))
        self.assertEqual(publish.extended(own, columns()), own)
        plan["curve"].append("entropy")
        curve = {"step": [0, 50, 100], "loss": [8, 4.75, 3.75], "entropy": [1, 0.5, 0.25]}
        later = publish.extended(own, columns(cell({"method": "b"}, 3.75, seed=8, curve=curve)))
        self.assertEqual(later["curve"]["entropy"], [[], [0.5, 0.25]])
        plan["curve"].pop()
        self.assertEqual(
            [publish.id_of(columns(first, failed), i) for i in range(2)], ["method=b,seed=7", "method=a,seed=7"]
        )


class Statistics(unittest.TestCase):
    def test_paired_t(self):
        # t = -13 with one degree of freedom, whose law is Cauchy's.
        difference, p = stats.t_test([4.4 - 5.0, 5.3 - 6.0])
        self.assertAlmostEqual(difference, -0.65, 12)
        self.assertAlmostEqual(p, 1 - 2 / math.pi * math.atan(13), 9)
        # With two, P(|t| > x) = 1 - x / sqrt(2 + x^2); quantiles of tables of Student's t.
        for t in (0.1, 1.5, 40):
            self.assertAlmostEqual(stats.student_two_sided(t, 2), 1 - t / math.sqrt(2 + t * t), 12)
        self.assertAlmostEqual(stats.student_two_sided(2.364624, 7), 0.05, 6)
        self.assertAlmostEqual(stats.student_two_sided(-2.093024, 19), 0.05, 6)
        self.assertEqual(stats.student_two_sided(0, 7), 1)
        self.assertTrue(math.isnan(stats.t_test([1, 1])[1]))

    def test_shares_and_areas(self):
        # Wilson, 1927, worked by hand for 8 of 10 and none of 20.
        np.testing.assert_allclose(stats.wilson(8, 10), (0.4901625, 0.9433178), atol=1e-6)
        np.testing.assert_allclose(stats.wilson(0, 20), (0, 0.1611252), atol=1e-6)
        self.assertEqual(stats.area_under_curve([1, 2], [3, 4]), 1)
        self.assertEqual(stats.area_under_curve([1, 4], [2, 4]), 0.625)
        self.assertTrue(math.isnan(stats.area_under_curve([], [1])))

    def test_intervals_and_families(self):
        # Quantiles of tables of Student's t.
        self.assertAlmostEqual(stats.student_quantile(7), 2.364624, 6)
        self.assertAlmostEqual(stats.student_quantile(19), 2.093024, 6)
        low, high = stats.interval([1, 2, 3]).values()
        self.assertAlmostEqual((low + high) / 2, 2, 12)
        self.assertAlmostEqual(high - low, 2 * 4.302653 / math.sqrt(3), 5)
        self.assertTrue(math.isnan(stats.interval([1])["low"]))
        # Holm, 1979: 0.01 * 4, 0.013 * 3 (not below the one before), 0.03 * 2, 0.04.
        corrected = stats.holm([0.03, 0.01, 0.04, 0.013])
        np.testing.assert_allclose(corrected, [0.06, 0.04, 0.06, 0.04], atol=1e-12)
        self.assertEqual(stats.holm([0.6, 0.7]), [1, 1])
        # A test without a p value is one of the family.
        found = stats.holm([0.02, NONE])
        self.assertAlmostEqual(found[0], 0.04, 12)
        self.assertTrue(math.isnan(found[1]))

    def test_exact_tests_of_shares(self):
        self.assertEqual(stats.mcnemar(6, 0), 2 / 64)
        self.assertEqual(stats.mcnemar(0, 6), 2 / 64)
        self.assertEqual(stats.mcnemar(3, 3), 1)
        self.assertEqual(stats.mcnemar(0, 0), 1)
        self.assertAlmostEqual(stats.mcnemar(9, 2), 2 * (1 + 11 + 55) / 2**11, 12)
        # Fisher's tea: 3 of 4 against 1 of 4, 34/70; all of 4 against none, 2/70.
        self.assertAlmostEqual(stats.fisher(3, 4, 1, 4), 34 / 70, 12)
        self.assertAlmostEqual(stats.fisher(4, 4, 0, 4), 2 / 70, 12)
        self.assertEqual(stats.fisher(2, 5, 2, 5), 1)
        # Margins that are not symmetric: tables of 6 successes of 3 + 9 runs.
        total = math.comb(12, 6)
        tails = math.comb(9, 6) + math.comb(9, 3)
        self.assertAlmostEqual(stats.fisher(3, 3, 3, 9), tails / total, 12)

        # Without correlation of the outcomes the distances to Wilson's ends add up as squares.
        low, high = stats.newcombe(4, 4, 4, 16)
        ends = stats.wilson(8, 16)
        self.assertAlmostEqual(high, math.hypot(ends[1] - 0.5, 0.5 - ends[0]), 12)
        self.assertAlmostEqual(low, -high, 12)
        # Newcombe, 1998, table II; exchanged outcomes exchange the ends.
        np.testing.assert_allclose(stats.newcombe(36, 12, 2, 50), (0.0569, 0.3404), atol=5e-5)
        np.testing.assert_allclose(stats.newcombe(36, 2, 12, 50), (-0.3404, -0.0569), atol=5e-5)

    def test_rank_correlation(self):
        self.assertEqual(stats.rank_correlation([1, 2, 30], [-1, 0, 5]), 1)
        # Ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4: sum of products of deviations 4.5 of sqrt(4.5 * 5).
        self.assertAlmostEqual(
            stats.rank_correlation([1, 2, 2, 9], [1, 3, 2, 4]), 4.5 / math.sqrt(22.5), 12
        )
        self.assertTrue(math.isnan(stats.rank_correlation([1, 1], [1, 2])))
        # Of correlations 0.8 (a, b), 0.4 (a, given), 0.2 (b, given) between ranks of five.
        a, b, given = [1, 2, 3, 4, 5], [2, 1, 4, 3, 5], [4, 1, 2, 3, 5]
        ab, ag, bg = (stats.rank_correlation(*pair) for pair in ((a, b), (a, given), (b, given)))
        wanted = (ab - ag * bg) / math.sqrt((1 - ag**2) * (1 - bg**2))
        self.assertAlmostEqual(stats.partial_correlation(a, b, given), wanted, 12)
        self.assertTrue(math.isnan(stats.partial_correlation(a, b, a)))


class Analyses(unittest.TestCase):
    LOSSES = {"0.01": 3.0, "0.1": 3.2, "1": 5.0}

    def rates(self):
        """Three learning rates with two seeds, of which one run at the highest failed."""
        cells = [
            cell(
                {"method": "all", "learning_rate": rate},
                loss,
                seed,
                "step 3: broke" if rate == "1" and seed == 2 else "",
                {"start": float(rate)},
                {
                    **{"step": [0, 50, 100], "loss": [8, loss + 1, loss]},
                    "driver": [None, float(rate), 0],
                },
            )
            for rate, loss in self.LOSSES.items()
            for seed in (1, 2)
        ]
        asked = [(None, {"reach": [3.5]})]
        return results_of(cells, analyses=asked, initial=["start"], curve=["driver"])

    def test_sensitivity(self):
        [row] = analyses.sensitivity(self.rates(), "learning_rate", "method", 0.25, [3.5])
        self.assertEqual((row["best"], row["largest_stable"], row["values"]), (3.0, 0.1, 3))
        self.assertAlmostEqual(row["mean_excess"], (0 + 0.2 + 2) / 3, 12)
        first, _, last = row["points"]
        self.assertEqual(first["reached"][0]["mean_step"], 100)
        self.assertEqual(last["failures"], 1)
        self.assertEqual(last["reached"][0]["reached"], 0)

    def test_share(self):
        rows = analyses.share(self.rates(), 3.1)
        self.assertEqual([row["share"] for row in rows], [1, 0, 0])

    def test_contrasts(self):
        losses = {"new": [1.0, 2.2, 1.4, 1.0], "old": [3.0, 4.1, 1.5, 3.2], "odd": [3.0, 4.0, 5.0, 6.0]}
        cells = [
            cell({"rate": rate, "method": method}, loss * (1 + (rate == "2")), seed)
            for rate in ("1", "2")
            for method, all_of in losses.items()
            for seed, loss in enumerate(all_of)
        ]
        pair = publish.pair
        results = results_of(cells)
        tests = [pair("method", "new", "old", rate="1"), pair("method", "old", "odd", rate="1")]
        first, second = analyses.contrasts(results, tests, below=2.5, margin=0.5)
        self.assertAlmostEqual(first["difference"], -1.55, 12)
        self.assertAlmostEqual(first["p"], stats.t_test(np.subtract(losses["new"], losses["old"]))[1], 12)
        self.assertEqual((first["only_first"], first["only_second"], first["mcnemar"]), (3, 0, 0.25))
        self.assertEqual(first["share_difference"], 0.75)
        self.assertTrue(first["share_low"] < 0.75 < first["share_high"])
        self.assertAlmostEqual(first["fisher"], stats.fisher(4, 4, 1, 4), 12)
        self.assertAlmostEqual(first["holm"], min(1, 2 * min(first["p"], second["p"])), 12)
        self.assertEqual(first["mcnemar_holm"], 0.5)
        self.assertEqual(first["margin"], "open")
        # A difference of differences: what the doubled losses add.
        [double] = analyses.contrasts(
            results, [pair("method", "new", "old", rate="2") + pair("method", "old", "new", rate="1")]
        )
        self.assertAlmostEqual(double["difference"], -1.55, 12)
        self.assertNotIn("fisher", double)
        for margin, verdict in ((4, "inside"), (0.1, "open")):
            self.assertEqual(analyses.contrasts(results, tests, margin=margin)[0]["margin"], verdict)
        shifted = results_of([*cells[:4], *(cell({"rate": "1", "method": "far"}, 9 + i / 9, i) for i in range(4))])
        named, level = (analyses.contrasts(results, tests[:1], below=it) for it in ("bigram", 3.5))
        self.assertEqual(str(named), str(level))
        [far] = analyses.contrasts(shifted, [pair("method", "far", "new", rate="1")], margin=1)
        self.assertEqual(far["margin"], "outside")

    def test_contrasts_with_failures(self):
        cells = [
            cell({"method": method}, loss, seed, failure)
            for method, runs in {
                "a": [(1.0, ""), (1.5, ""), (1.2, ""), (1.0, "")],
                "b": [(2.0, ""), (2.0, "step 3"), (2.4, ""), (2.9, "")],
            }.items()
            for seed, (loss, failure) in enumerate(runs)
        ]
        [row] = analyses.contrasts(results_of(cells), [publish.pair("method", "a", "b")], below=2.2)
        # The failed run has no part in the mean, and does not reach the level.
        self.assertEqual((row["pairs"], row["only_first"]), (3, 3))

    def test_contrasts_without_runs_count_in_the_family(self):
        losses = {"a": [1.0, 1.5, 1.2], "b": [2.0, 2.1, 2.4]}
        cells = [
            cell({"method": method}, loss, seed)
            for method, runs in losses.items()
            for seed, loss in enumerate(runs)
        ]
        tests = [publish.pair("method", "a", "b"), publish.pair("method", "a", "later")]
        row, missing = analyses.contrasts(results_of(cells), tests, below=1.7)
        self.assertAlmostEqual(row["holm"], 2 * row["p"], 12)
        self.assertEqual(row["mcnemar_holm"], min(1, 2 * row["mcnemar"]))
        self.assertEqual(missing["pairs"], 0)
        self.assertTrue(math.isnan(missing["p"]) and math.isnan(missing["mcnemar_holm"]))

    def test_mediation(self):
        random = np.random.default_rng(2)

        def runs(effect):
            """The label moves the measure by 1, and the loss by that of the measure or by itself."""
            for label in (-1, 1):
                for seed in range(30):
                    measure = label + random.normal()
                    loss = (measure if effect == "mediated" else 3 * label) + 0.3 * random.normal()
                    curve = {"step": [0, 50, 100], "loss": [8, 8, loss], "measure": [0, measure, 0]}
                    yield cell({"alpha": str(label), "steps": "1"}, loss, seed, curve=curve)

        def found(effect):
            results = results_of(list(runs(effect)), curve=["measure"])
            [row] = analyses.mediation(results, "alpha", ["-1", "1"], {"steps": "1"}, "measure", 50, 300)
            return row

        one_label = [own for own in runs("direct") if own["axes"]["alpha"] == "1"]
        asked = ("alpha", ["-1", "1"], {"steps": "1"}, "measure", 50, 300)
        self.assertEqual(analyses.mediation(results_of(one_label, curve=["measure"]), *asked), [])
        mediated, direct = found("mediated"), found("direct")
        self.assertEqual((mediated["runs"], mediated["pairs"]), (60, 30))
        self.assertAlmostEqual(mediated["difference"], 2, delta=1)
        self.assertGreater(mediated["total_low"], 0)
        self.assertTrue(mediated["partial_low"] < 0.1 and abs(mediated["partial"]) < 0.35)
        self.assertGreater(direct["partial_low"], 0.5)

    def test_predictors(self):
        rate, row = analyses.predictors(self.rates(), ["method"], ["start"], "learning_rate")
        self.assertEqual((row["cells"], row["area_under_curve"]), (3, 1))
        self.assertAlmostEqual(row["rank_correlation"], 1, 12)
        self.assertEqual((rate["predictor"], rate["cells"]), ("learning_rate", 3))
        self.assertTrue(math.isnan(row["within"]))  # one cell at each rate

        # The measure falls with the outcome at equal scales, and rises over all.
        cells = [
            cell(
                {"alpha": str(alpha), "scale": str(scale)},
                3 + scale - 0.1 * alpha,
                initial={"start": 9 * scale + alpha},
            )
            for scale in (1, 2)
            for alpha in (0, 0.5, 1)
        ]
        results = results_of(cells, initial=["start"])
        scale, start = analyses.predictors(results, [], ["start"], "scale")
        self.assertGreater(start["rank_correlation"], 0.5)
        self.assertAlmostEqual(start["within"], -1, 12)
        self.assertGreater(scale["rank_correlation"], 0.8)

    def test_plateau(self):
        [row] = analyses.plateau(self.rates(), 3.5, ["driver"])
        self.assertEqual((row["runs"], row["never"]), (5, 1))
        self.assertGreater(row["rank_correlation"], 0)
        parts = analyses.plateau(self.rates(), 3.5, ["driver"], ["learning_rate"])
        self.assertEqual([row["axes"]["learning_rate"] for row in parts], list(self.LOSSES))
        self.assertEqual([row["runs"] for row in parts], [2, 2, 1])
        [last] = analyses.plateau(self.rates(), 3.5, ["driver"], at={"learning_rate": "1"})
        self.assertEqual(last["runs"], 1)

    def test_relation(self):
        # Rising in one run, falling in the other, whose values of the first curve are the larger ones; the row of
        # step 0 and the failed run would change every number.
        curves = [
            ([99, 1, 2, 3], [-9, 2, 4, 6]),
            ([-99, 10, 20, 30], [-9, -2, -4, -6]),
            ([0, 1, 2, 3], [0, 7, 8, 9]),
        ]
        cells = [
            cell(
                {"rate": "1"},
                seed=i + 1,
                failure="step 3: broke" if i == 2 else "",
                curve={"step": [0, 1, 2, 3], "first": first, "second": second},
            )
            for i, (first, second) in enumerate(curves)
        ]
        [row] = analyses.relation(
            results_of(cells, curve=["first", "second"]), ["first", "second"]
        )
        self.assertEqual((row["runs"], row["rows"], row["mean_within_runs"]), (2, 6, 0))
        self.assertAlmostEqual(row["rank_correlation"], 1 - 6 * 62 / 210, 12)

    def test_summary_pairs_by_seed(self):
        losses = {("none", 1): 5, ("none", 2): 6, ("pull", 1): 4.4, ("pull", 2): 5.3}
        cells = [cell({"method": method}, loss, seed) for (method, seed), loss in losses.items()]
        cells += [cell({"method": "pull"}, 9, 3), cell({"method": "none"}, 9, 4, "step 7: broke")]
        none, pull = analyses.summary(
            results_of(cells, {"baseline": {"method": "none"}}), ["loss"], ["loss"]
        )
        self.assertEqual((none["runs"], none["failures"], none["loss"]["runs"]), (3, 1, 2))
        self.assertNotIn("p", none["loss"])
        self.assertEqual((pull["loss"]["runs"], pull["loss"]["pairs"]), (3, 2))
        self.assertAlmostEqual(pull["loss"]["difference"], -0.65, 12)
        self.assertEqual(pull["loss"]["holm"], pull["loss"]["p"])
        self.assertAlmostEqual((pull["loss"]["low"] + pull["loss"]["high"]) / 2, -0.65, 9)

    def test_summary_corrects_the_tests_of_a_family(self):
        losses = {"none": [5, 6.0, 7], "one": [4, 5.1, 6.2], "two": [4.5, 5.9, 6.1]}
        cells = [
            cell({"method": method}, loss, seed)
            for method, runs in losses.items()
            for seed, loss in enumerate(runs)
        ]
        results = results_of(cells, {"baseline": {"method": "none"}})
        _, one, two = (row["loss"] for row in analyses.summary(results, ["loss"], ["loss"]))
        self.assertAlmostEqual(one["holm"], 2 * one["p"], 12)
        self.assertEqual(two["holm"], max(two["p"], one["holm"]))
        _, alone, _ = (row["loss"] for row in analyses.summary(results, ["loss"], []))
        self.assertNotIn("holm", alone)

    def test_nothing_is_found_before_the_first_run(self):
        results = results_of([], {"baseline": {"method": "none"}}, curve=["driver"])
        self.assertEqual(analyses.summary(results, ["loss"], ["loss"]), [])
        self.assertEqual(analyses.share(results, 3), [])
        self.assertEqual(analyses.plateau(results, 3, ["driver"]), [])
        self.assertEqual(analyses.relation(results, ["driver", "driver"]), [])


class EqualDeviation(unittest.TestCase):
    def results(self):
        """Two seeds: a form whose deviation falls to half and a quarter, one that rises, and a run that failed."""
        cells = []
        for seed, more in ((1, 0.0), (2, 0.2)):
            for method, loss, deviation, bias, failure in (
                ("none", 2.0, 8, 6.4, ""),
                ("a-1", 2.1, 4, 8, ""),
                ("a-2", 2.5 + more, 2, 1, ""),
                ("b-1", 2.4, 16, 0, ""),
                ("b-2", 2.6, 4, 0, ""),
                ("c-1", 9.0, 1, 0, "step 5"),
            ):
                it = cell({"method": method}, loss, seed, failure)
                it["final"] |= {"variance": deviation**2, "bias": bias}
                cells.append(it)
        return results_of(cells, final=["loss", "variance", "bias"])

    def test_costs(self):
        rows = analyses.equal_deviation(
            self.results(),
            {"a": ["a-1", "a-2"], "b": ["b-1", "b-2"], "c": ["c-1"], "d": ["missing"]},
            **{"baseline": "none", "variance": "variance", "shares": [0.5, 0.375]},
            **{"tests": [["a", "b"], ["a", "c"]], "tested": 0.375},
        )
        of = {(row["path"], row["share"]): row for row in rows if "against" not in row}
        self.assertAlmostEqual(of["a", 0.5]["cost"], 0.1, 12)
        # Half of the way from 0.1 to 0.5 and to 0.7.
        self.assertAlmostEqual(of["a", 0.375]["cost"], (0.3 + 0.4) / 2, 12)
        half = stats.student_quantile(1) * 0.05
        self.assertAlmostEqual(of["a", 0.375]["high"], 0.35 + half, 6)
        # The path goes from 1 to 2, and back over 1 to 1/2.
        self.assertAlmostEqual(of["b", 0.5]["cost"], 0.6, 12)
        self.assertEqual((of["b", 0.375]["seeds"], of["b", 0.375]["reached"]), (2, 0))
        self.assertEqual((of["c", 0.5]["seeds"], of["c", 0.5]["reached"]), (2, 0))
        self.assertEqual(of["d", 0.5]["seeds"], 0)
        self.assertEqual([row["pairs"] for row in rows if "against" in row], [0, 0])
        self.assertTrue(all("holm" not in row for row in rows))

    def test_difference_of_costs(self):
        [*_, row] = analyses.equal_deviation(
            self.results(),
            {"a": ["a-1", "a-2"], "b": ["b-1", "b-2"]},
            **{"baseline": "none", "variance": "variance", "shares": [0.5], "tests": [["a", "b"]], "tested": 0.5},
        )
        self.assertEqual((row["path"], row["against"], row["pairs"]), ("a", "b", 2))
        self.assertAlmostEqual(row["difference"], -0.5, 12)
        [*_, row] = analyses.equal_deviation(
            self.results(),
            {"a": ["a-1", "a-2"], "b": ["b-1", "b-2"]},
            **{"baseline": "none", "variance": "variance", "shares": [0.5], "tests": [["a", "b"]], "tested": 0.5},
            pilot=1,
        )
        self.assertEqual(row["pairs"], 1)

    def verdicts(self, losses, deviations, share=0.05, failure=""):
        """Verdicts of form a at strengths 1 and 2 against b, of five seeds and a pilot that contradicts them."""
        cells = []
        for seed in range(6):
            jitter = 0.01 * (seed % 3)
            for method in ("none", "a-1", "a-2", "b-1", "b-2"):
                loss, deviation = (3, 1) if method == "none" else (3 + losses[method], deviations[method])
                it = cell({"method": method}, loss + (9 if seed == 0 else jitter * deviation), seed)
                it["failure"] = failure if (method, seed) == ("a-2", 3) else ""
                variance = (deviation + (0 if method == "none" else jitter)) ** 2
                it["final"] |= {"variance": variance, "bias": (share + jitter / 10) * variance}
                cells.append(it)
        family = {
            **{"paths": {"a": ["a-1", "a-2"], "b": ["b-1", "b-2"]}, "baseline": "none", "variance": "variance"},
            **{"shares": [0.5, 0.75], "tests": [["a", "b"]], "tested": 0.5, "pilot": 0},
        }
        rows = analyses.deviation_verdicts(
            results_of(cells, final=["loss", "variance", "bias"]),
            **{"family": family, "part": "bias", "path": "a", "strengths": ["1", "2"], "rivals": ["b"]},
            **{"least": 0.1, "limit": 0.1},
        )
        self.assertTrue(all(check["runs"] == (4 if failure else 5) for check in rows[0]["checks"]))
        return [row["verdict"] for row in rows]

    def test_verdicts(self):
        falling = {"a-1": 0.8, "a-2": 0.3, "b-1": 0.8, "b-2": 0.3}
        cheap = {"a-1": -0.2, "a-2": -0.1, "b-1": 0.1, "b-2": 0.3}
        self.assertEqual(self.verdicts(cheap, falling), ["confirmed"] * 4)
        dear = {"a-1": 0.2, "a-2": 0.5, "b-1": 0.1, "b-2": 0.3}
        self.assertEqual(
            self.verdicts(dear, falling, share=0.2), ["confirmed", "refuted", "refuted", "refuted"]
        )
        rising = falling | {"a-1": 0.3, "a-2": 0.8}
        self.assertEqual(self.verdicts(cheap, rising)[0], "refuted")
        self.assertEqual(self.verdicts(cheap, falling, failure="step 5")[0], "refuted")
        alike = falling | {"a-2": 0.8}
        self.assertEqual(self.verdicts(cheap, alike)[0], "open")
        equal = {"a-1": 0.1, "a-2": 0.3, "b-1": 0.1, "b-2": 0.3}
        self.assertEqual(self.verdicts(equal, falling)[2], "open")

    def test_cheapest_crossing(self):
        path = [(1, 0), (3, 0.2), (0.5, 0.7), (0.5, 0.1)]
        self.assertAlmostEqual(analyses.cost_at(path, 2), 0.1, 12)
        self.assertAlmostEqual(analyses.cost_at(path, 0.5), 0.1, 12)
        self.assertTrue(math.isnan(analyses.cost_at(path, 4)))

    def test_shares_of_biases(self):
        rows = {
            row["method"]: row
            for row in analyses.bias_shares(self.results(), baseline="none", variance="variance", part="bias")
        }
        self.assertAlmostEqual(rows["a-1"]["share"], 0.5, 12)
        self.assertAlmostEqual(rows["a-2"]["deviation"], 0.25, 12)
        self.assertAlmostEqual(rows["a-2"]["cost"], 0.6, 12)
        self.assertEqual((rows["c-1"]["runs"], rows["c-1"]["failures"]), (0, 2))

    def test_tuned_on_other_seeds(self):
        cells = []
        for seed, losses in ((1, (3, 2.9, 2.5)), (2, (3, 2.8, 2.7)), (3, (3, 2.2, 3.5))):
            cells += [cell({"method": name}, loss, seed) for name, loss in zip(("none", "x", "y"), losses)]
        # Seed 1 has x (2.5 against 3.1 on the others), seed 2 has x (2.55 against 3), seed 3 has y (2.6 against 2.85).
        [row] = analyses.tuned(results_of(cells), ["x", "y"], "none")
        self.assertAlmostEqual(row["difference"], ((2.9 - 3) + (2.8 - 3) + (3.5 - 3)) / 3, 12)
        self.assertEqual(analyses.tuned(results_of(cells[:3]), ["x", "y"], "none"), [])


class Freezing(unittest.TestCase):
    def test_variance_is_that_of_sampled_heads(self):
        random = np.random.default_rng(1)
        d, h, keys, draws = 32, 16, 64, 600
        for alpha in (-1.0, 0.0, 0.6, 1.0):
            for p in (0.0, 0.3):
                found = []
                for _ in range(draws):
                    a, c = random.normal(size=(2, h, d)) / math.sqrt(d)
                    common = math.sqrt(p) * random.normal(size=(d, 1))
                    tokens = common + math.sqrt(1 - p) * random.normal(size=(d, keys + 1))
                    queries = alpha * a + math.sqrt(1 - alpha * alpha) * c
                    logits = (a @ tokens[:, :-1]).T @ (queries @ tokens[:, -1]) / math.sqrt(h)
                    found.append(np.var(logits, ddof=1))
                error = np.std(found, ddof=1) / math.sqrt(draws)
                expected = analyses.key_logit_variance(alpha, d, h, 1 - p)
                self.assertLess(abs(np.mean(found) - expected), 4 * error, (alpha, p))

    def test_scale_is_that_of_giorlandino_and_goldt(self):
        variance = analyses.key_logit_variance(0, 512, 512, 0.25)
        beta = math.sqrt(2 / 0.25)
        self.assertAlmostEqual(
            analyses.freezing_scale(variance, 256) ** 4, beta**2 * math.log(256), 9
        )

    def test_parts_the_cells(self):
        settings = {"width": 16, "heads": 2, "length": 16}
        cells = [
            cell(
                {"init_scale": scale, "alpha": alpha},
                4.5 if scale == "2" else 4.0,
                initial={"residual": 0.9},
            )
            for scale in ("0.5", "1", "2")
            for alpha in ("0", "1")
        ]
        results = results_of(cells, {"settings": settings}, initial=["residual"])
        [row] = analyses.freezing(results, [])
        unlike = 0.81 * 16 / 15
        self.assertAlmostEqual(row["unlike"], unlike, 12)
        scale = (2 * math.log(16) / (unlike * (1 + 9 / 16))) ** 0.25
        self.assertAlmostEqual(row["scales"][1]["init_scale"], scale, 12)
        self.assertTrue(1 < scale < 2)
        self.assertEqual((row["cells"], row["beyond"]), (6, 2))
        self.assertEqual((row["mean_beyond"], row["mean_before"]), (4.5, 4.0))
        self.assertTrue(math.isnan(row["area_under_curve"]))  # no cell is below the median


if __name__ == "__main__":
    unittest.main()
