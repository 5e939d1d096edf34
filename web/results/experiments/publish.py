#!/usr/bin/python3
"""Writes NAME.results.json, what docs and page show, and the monitor's alarms: publish.py [--cells FOLDER] [--check]

The runs are those of the results file itself, so that an analysis can be added without a run. With --cells those in
FOLDER/NAME, merged by `eigenscope collect`, replace and extend them in each experiment that has such a folder: a grid
of many hours may be run in parts (`eigenscope train --grid NAME.grid.json --missing NAME.results.json`). With --check
nothing is written; the exit status is 1 where a file is not as it would be written.

A results file has one entry for each run in each of its columns, rounded to the digits that are needed:
  labels, axes   the labels of each axis, and the place of each run's label among them
  seed           of each run
  failures       {place of a run: at which step it stopped, and why}
  initial, final {measure: values before and after training}
  below          {loss in the unit of the outcome: first logged step below it, or null}
  curve          {step: logged steps after 0, measure: a list of values for each run}
and `summary` and `analysis`, which are computed from the columns (analyses.py), `references`, the losses of tables of
n-grams on the text that the runs are scored on, in the unit of the outcome, and `missing`, the ids of runs of the grid
without a result."""
import argparse
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import analyses
import early_warning

ROOT = Path(__file__).resolve().parents[3]
PLANS = ROOT / "docs/experiments"
RESULTS = ROOT / "web/results/experiments"
MONITOR = ROOT / "src/python/eigenscope_monitor.py"

BY_MODEL = ["layer_norm", "depth"]
DRIVERS = ["sensitivity", "gradient_query_key"]
PREDICTORS = [
    "entropy",
    "last_residual",
    "self_mass",
    "localization",
    "logit_variance",
    "mean",
    "variance",
    "variance_frobenius",
    "sensitivity",
]


def pair(axis, first, second, **at):
    """The test of one label of an axis against another, at labels of the other axes (analyses.contrasts)."""
    return [[1, {axis: first, **at}], [-1, {axis: second, **at}]]


def call(analysis, **settings):
    """An analysis of an experiment, with its settings."""
    return analysis, settings


def signs(**at):
    return [pair("alpha", *labels, **at) for labels in (("1", "-1"), ("1", "0"), ("-1", "0"))]


# Of the plan in controls/README.md.
AT_002, AT_0003 = {"learning_rate": "0.02", "steps": "1600"}, {"learning_rate": "0.003", "steps": "1600"}
LATER = {**AT_0003, "steps": "6400"}
FORMS = {"locater": ["0.001"], "frobenius": ["0.001", "0.1"], "effective": ["0.001", "0.1"]}
PAPER = [
    pair("method", f"{form}-m{target}-{weight}", "none", query_key_bias=biases)
    for form, weights in FORMS.items()
    for weight in weights
    for target in ("0", "0.5", "1")
    for biases in (("with",) if form == "effective" else ("with", "without"))
]

# The paths of the plan in causes/README.md: the strengths of each form and target, and the temperatures.
TEMPERATURES = ["temperature-2", "temperature-4", "temperature-8", "temperature-32"]
STRENGTHS = ["1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "1e-1", "1"]
PATHS = {
    path: [f"{path}-{strength}" for strength in STRENGTHS]
    for path in [
        *(f"{form}-k{k}" for form in ("plain", "frobenius", "effective", "metric") for k in (0, 2, 4)),
        "random-k2",
    ]
} | {"temperature": TEMPERATURES}

EQUAL_DEVIATION = {
    "paths": PATHS,
    "baseline": "none",
    "variance": "logit_variance",
    "shares": [0.25, 0.5, 0.75],
    "tests": [
        ["metric-k2", other] for other in ("plain-k2", "frobenius-k2", "effective-k2", "metric-k0", "temperature")
    ],
    "tested": 0.75,
    "pilot": 201,
}

# Of the plan of early warnings: signals and references with the direction that is to be feared, and the line where the
# logits of a row of 64 keys freeze. Faults that begin at step 100.
SIGNALS = [
    *(["spread.largest", 1], ["self_excess.largest", 1], ["eta_f.largest", 1], ["sigma_max.largest", 1]),
    *(["mean.smallest", -1], ["largest_logit.largest", 1], ["entropy_bound.smallest", -1]),
    *(["entropy.smallest", -1], ["entropy.largest", 1], ["sink.largest", 1], ["stable_rank.smallest", -1]),
    *(["update_entropy.smallest", -1], ["update_ratio.largest", 1], ["last_residual", -1]),
]
REFERENCES = [["z score", 1], ["gradient_norm", 1], ["train_loss", 1], ["bits_per_byte", 1], ["step", 1]]
FEARED = ["rate-4", "rate-8", "rate-16", "rate-32", "scale-4", "scale-16"]
FREEZING = math.sqrt(2 * math.log(64))
INJECTED = [
    *("spike-5", "random-5", "rate-4", "rate-8", "rate-16", "rate-32", "spike-20", "bits-8", "bits-4"),
    *("repeated-40", "random-40", "scale-4", "scale-16"),
]
# Faults that change the learning rate, for the null: trajectories are exchanged among runs of one rate.
RATES = ["rate-4", "rate-8", "rate-16", "rate-32", "spike-5", "spike-20", "no-warmup-8"]
BOTH_NORMS = ["pre", "post"]
RAMPS = ["ramp-16", "ramp-32", "ramp-48", "ramp-64", "ramp-96"]


# The faults by which the ramps were extended.
LEFT_OUT = ["rate-2", "beta2-0.9", "reversed", "reversed-40"]


def each(faults, *models):
    """A group of runs for each fault, by its name."""
    return {fault: {"fault": [fault], "model": [*models]} for fault in faults}


def ramps(model, held_model):
    """The ramps of a model that is tested and of one that is held back, by the names of their groups."""
    tested = {"hypothesis": [model], "hypothesis-llama": [held_model]}
    return {name: {"fault": RAMPS, "model": models} for name, models in tested.items()} | each(
        ["none", "spike-5", "random-5", "ramp-8", *RAMPS], model
    )


def early_warnings(*analysed, **settings):
    """What both experiments on early warning have in common, with an analysis of these settings for each of `analysed`,
    which adds its own."""
    common = {
        "outcome": "bits_per_byte",
        "signals": SIGNALS,
        "lines": [["spread.largest", 1, FREEZING]],
        "references": REFERENCES,
        "healthy": "none",
        **{"excess": 0.5, "last": 3, "first": 50, "share": 0.05},
    }
    return {
        "digits": 3,
        "final": ["bits_per_byte"],
        "curve": [name for name, _ in [*SIGNALS, *REFERENCES] if name not in ("z score", "step")],
        "analyses": [call(early_warning.early_warning, **{**common, **settings, **own}) for own in analysed],
    }


# Every measure that is kept of the tuned runs is also compared.
TUNED = ["bits_per_byte", "entropy", "mean", "variance", "variance_frobenius", "localization", "residual"]

# By the name of an experiment: the measures that are kept of its runs, the first of `final` being the outcome, and
# its analyses; `summary` names those that are compared over runs, `families` those of them whose tests are corrected
# together (all of them without it).
EXPERIMENTS = {
    "regularizers": {"digits": 6, "final": TUNED, "summary": TUNED},
    "learning-rate": {
        "digits": 4,
        "final": ["bits_per_byte", "entropy", "self_mass", "variance_frobenius", "mean"],
        "summary": ["bits_per_byte", "entropy"],
        "families": ["bits_per_byte"],
        "curve": DRIVERS,
        "analyses": [
            call(analyses.sensitivity, axis="learning_rate", group="method", tolerance=0.25, reach=[4.5, 4, 3.75]),
            call(
                analyses.contrasts,
                tests=[
                    pair("method", "frobenius-m1", "frobenius-m0", learning_rate="0.02"),
                    pair("method", "frobenius-m1", "random-m1", learning_rate="0.02"),
                    pair("method", "frobenius-m-1", "frobenius-m0", learning_rate="0.02"),
                    pair("method", "initial-m1", "frobenius-m1", learning_rate="0.02"),
                ],
            ),
            # The methods that were added after the first results.
            call(
                analyses.contrasts,
                tests=[
                    pair("method", method, "none", learning_rate=rate)
                    for method in ("frobenius-m1-half", "frobenius-m1-early", "initial-m1-half", "initial-m1-one")
                    for rate in ("0.02", "0.003")
                ],
            ),
            call(
                analyses.contrasts,
                tests=[pair("method", "warmup-clip-initial-m1-half", "warmup-clip", learning_rate="0.02")],
            ),
            call(analyses.plateau, below=4.5, drivers=DRIVERS),
            call(analyses.relation, of=DRIVERS),
        ],
    },
    "rank-escape": {
        "digits": 8,
        "final": ["bits_per_byte", "last_residual"],
        "summary": ["bits_per_byte", "last_residual"],
        "initial": ["mean"],
        "curve": [*DRIVERS, "last_residual"],
        "analyses": [
            call(analyses.share, below=4.2),
            call(analyses.contrasts, tests=signs(depth="8", init_scale="2"), below=4.2),
            call(analyses.plateau, below=4.5, drivers=DRIVERS, by=["depth"]),
            call(analyses.relation, of=DRIVERS, by=["depth"]),
            call(
                analyses.plateau,
                **{"below": 4.5, "drivers": [*DRIVERS, "last_residual"], "at": {"depth": "8", "init_scale": "2"}},
            ),
        ],
    },
    "paper-setting": {
        "digits": 7,
        "final": ["perplexity", "entropy", "variance", "variance_frobenius", "logit_variance", "bias_part"],
        "summary": ["perplexity", "entropy", "variance_frobenius", "logit_variance", "bias_part"],
        "families": ["perplexity", "entropy"],
    },
    "trainability-map": {
        "digits": 7,
        "final": ["bits_per_byte"],
        "initial": [*PREDICTORS, "residual"],
        "analyses": [
            call(analyses.predictors, by=BY_MODEL, names=PREDICTORS, within="init_scale"),
            call(analyses.freezing, by=BY_MODEL),
        ],
    },
    "controls/out-of-the-way": {
        "digits": 6,
        "initial": ["self_mass"],
        "final": ["bits_per_byte", "bits_per_byte_error", "entropy", "self_mass", "mean", "variance_frobenius"],
        "summary": ["bits_per_byte", "entropy", "self_mass"],
        "analyses": [
            call(
                analyses.contrasts,
                tests=[
                    pair("method", "no-attention", "none", **AT_002),
                    pair("method", "initial-m1", "none", **AT_002),
                    pair("method", "initial-m1", "initial-m0", **AT_002),
                    pair("method", "initial-m1", "none", **AT_0003),
                    pair("method", "initial-m1-half", "none", **AT_0003),
                    [*pair("method", "initial-m1", "none", **LATER), *pair("method", "none", "initial-m1", **AT_0003)],
                ],
            ),
            call(
                analyses.contrasts,
                tests=[
                    pair("method", "initial-m1", "initial-m10", **AT_002),
                    pair("method", "initial-m1", "no-attention", **AT_002),
                    pair("method", "initial-m10", "no-attention", **AT_002),
                ],
                margin=0.02,
            ),
        ],
    },
    "controls/sign-post-norm": {
        "digits": 8,
        "final": ["bits_per_byte", "bits_per_byte_error", "last_residual", "entropy", "mean"],
        "summary": ["bits_per_byte", "last_residual"],
        "curve": ["last_residual"],
        "analyses": [
            call(analyses.share, below=4.2),
            call(analyses.contrasts, tests=signs(steps="400"), below=4.2),
            call(
                analyses.mediation,
                **{"axis": "alpha", "labels": ["-1", "1"], "at": {"steps": "400"}},
                **{"mediator": "last_residual", "step": 50, "draws": 2000},
            ),
            call(analyses.contrasts, tests=signs(steps="1600"), below=4.2),
            call(analyses.contrasts, tests=signs(steps="400"), below="bigram"),
        ],
    },
    "causes/equal-deviation": {
        "digits": 7,
        "final": [
            *("loss", "bits_per_byte_error", "entropy", "mean", "variance_frobenius"),
            *("logit_variance", "bias_part", "self_excess"),
        ],
        "summary": ["loss", "entropy", "logit_variance", "self_excess"],
        "families": ["loss"],
        "analyses": [
            call(analyses.equal_deviation, **EQUAL_DEVIATION),
            call(
                analyses.deviation_verdicts,
                **{"family": EQUAL_DEVIATION, "part": "bias_part", "path": "metric-k2", "strengths": STRENGTHS},
                **{"rivals": ["plain-k2", "frobenius-k2", "effective-k2"], "least": 0.1, "limit": 0.1},
            ),
            call(analyses.bias_shares, baseline="none", variance="logit_variance", part="bias_part"),
            call(analyses.tuned, labels=TEMPERATURES, baseline="none"),
        ],
    },
    "causes/early-warning": early_warnings(
        {
            "groups": [
                {
                    "hypothesis": {"fault": FEARED, "model": BOTH_NORMS},
                    "hypothesis-llama": {"fault": FEARED, "model": ["llama"]},
                    **each(["none", *INJECTED, "no-warmup-8", "beta2-0.9999", "epsilon"], *BOTH_NORMS),
                }
            ],
            "held": {"fault": ["epsilon"], "model": ["llama"]},
        },
        starts=dict.fromkeys(INJECTED, 100),
        rates={fault: fault for fault in RATES},
        horizons=[20, 50, 100],
    ),
    "causes/early-warning-ramp": early_warnings(
        {
            "groups": [
                ramps("pre", "llama"),
                {
                    "transfer": {"fault": RAMPS, "model": ["pre-8"]},
                    "transfer-llama": {"fault": RAMPS, "model": ["llama-8"]},
                    **each(LEFT_OUT, "pre", "pre-8"),
                },
            ],
            "held": {"fault": LEFT_OUT, "model": ["llama", "pre-8", "llama-8"]},
        },
        {"groups": [ramps("pre-8", "llama-8")], "held": {"fault": LEFT_OUT, "model": ["llama", "pre", "llama-8"]}},
        starts=dict.fromkeys(["spike-5", "random-5", "rate-2", "reversed", "reversed-40"], 100),
        rates={fault: fault for fault in ["ramp-8", *RAMPS, "spike-5", "rate-2"]},
        horizons=[20, 48, 100],
    ),
    "controls/paper-mean": {
        "digits": 7,
        "final": [
            *("loss", "bits_per_byte_error", "entropy", "mean"),
            *("variance_frobenius", "logit_variance", "bias_part"),
        ],
        "summary": ["loss", "entropy", "mean"],
        "analyses": [
            call(analyses.contrasts, tests=[pair("method", "no-attention", "none", query_key_bias="with")]),
            call(analyses.contrasts, tests=PAPER),
        ],
    },
}

# The settings of a grid that decide which tokens are scored.
SCORED = ("length", "batch", "eval_batches")

# Significant digits of the outcome, whose differences are tested, and of analyses; those of other measures are the
# plan's: as many as the ranks of runs that hardly differ need.
OUTCOME_DIGITS, ANALYSIS_DIGITS = 8, 7


def rounded(value, digits):
    """To so many significant digits; None for what is not finite."""
    if isinstance(value, dict):
        return {key: rounded(part, digits) for key, part in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [rounded(part, digits) for part in value]
    if value is None or isinstance(value, (str, bool)):
        return value
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short


def first_below(curve, outcome, level):
    for step, value in zip(curve["step"], curve[outcome]):
        if value is not None and value < level:
            return step
    return None


def columns_of(cells, plan, names):
    """The columns of a results file from the cells that `eigenscope collect` writes, and the names of the axes."""
    outcome = plan["final"][0]
    labels = {name: list(dict.fromkeys(cell["axes"][name] for cell in cells)) for name in names}

    def measures(row, wanted):
        values = {name: [(cell[row] or {}).get(name) for cell in cells] for name in wanted}
        return {
            name: rounded(column, OUTCOME_DIGITS if name == outcome else plan["digits"])
            for name, column in values.items()
        }

    columns = {
        "labels": labels,
        "axes": {name: [labels[name].index(cell["axes"][name]) for cell in cells] for name in names},
        "seed": [cell["seed"] for cell in cells],
        "failures": {str(i): cell["failure"] for i, cell in enumerate(cells) if cell["failure"]},
        "initial": measures("initial", plan.get("initial", [])),
        "final": measures("final", plan["final"]),
    }
    levels = set()
    for _, settings in plan.get("analyses", []):
        levels.update(settings.get("reach", []))
        if "drivers" in settings:
            levels.add(settings["below"])
    columns["below"] = {
        str(level): [first_below(cell["curve"], outcome, level) for cell in cells]
        for level in sorted(levels)
    }
    columns["curve"] = {}
    if plan.get("curve"):
        steps = max((cell["curve"]["step"] for cell in cells), key=len, default=[])
        columns["curve"] = {"step": steps[1:]} | {
            name: [rounded(cell["curve"][name][1:], OUTCOME_DIGITS if name == outcome else plan["digits"]) for cell in cells]
            for name in plan["curve"]
        }
    return columns


def extended(own, new):
    """The columns of published runs with those of new ones, which replace runs of the same labels and seed. The
    logged steps of one begin with those of the other. A published run has no number of a measure that only the new
    ones have."""
    names = list(new["labels"])
    kept = {}
    for source in (own, new):
        for i, seed in enumerate(source["seed"]):
            labels = tuple(source["labels"][name][source["axes"][name][i]] for name in names)
            kept[labels, seed] = (source, i)
    runs = list(kept.values())
    labels = {name: list(dict.fromkeys(key[0][at] for key in kept)) for at, name in enumerate(names)}
    failures = [source["failures"].get(str(i)) for source, i in runs]

    def rows(part):
        absent = [] if part == "curve" else None
        return {
            name: [source[part][name][i] if name in source[part] else absent for source, i in runs]
            for name in new[part]
            if name != "step"
        }

    steps = max((source["curve"].get("step", []) for source in (own, new)), key=len)
    return {
        "labels": labels,
        "axes": {name: [labels[name].index(key[0][at]) for key in kept] for at, name in enumerate(names)},
        "seed": [seed for _, seed in kept],
        "failures": {str(i): failure for i, failure in enumerate(failures) if failure},
        **{part: rows(part) for part in ("initial", "final", "below")},
        "curve": {"step": steps} | rows("curve") if new["curve"] else {},
    }


def id_of(columns, i):
    """Of a run, as `eigenscope collect` names it."""
    labels = [f"{name}={columns['labels'][name][places[i]]}" for name, places in columns["axes"].items()]
    return ",".join([*labels, f"seed={columns['seed'][i]}"])


class Results:
    """The columns as arrays, NaN where a run has no number."""

    def __init__(self, grid, columns, references):
        self.grid, self.labels, self._places = grid, columns["labels"], columns["axes"]
        self.references = references
        self.axes = list(self.labels)
        self.seed = np.array(columns["seed"])
        self.size = len(self.seed)
        self.failed = np.array([str(i) in columns["failures"] for i in range(self.size)], bool)
        self.initial, self.final = (
            {name: np.array(column, float) for name, column in columns[row].items()}
            for row in ("initial", "final")
        )
        self.outcome_name, self.outcome = next(iter(self.final.items()))
        self.below = {float(level): np.array(column, float) for level, column in columns["below"].items()}
        self.steps = columns["curve"].get("step", [])
        steps = len(self.steps)
        self.curve = {
            name: np.array([row + [None] * (steps - len(row)) for row in rows], float)
            for name, rows in columns["curve"].items()
            if name != "step"
        }

    def label(self, axis, cell):
        return self.labels[axis][self._places[axis][cell]]


def references(grid, outcome):
    """Losses of tables of n-grams of the training text on the text that the runs are scored on, in the unit of the
    outcome: of a run without layers and steps with their settings, which logs them."""
    shared = {name: grid[name] for name in ("text", "validation", "tokenizer", "min_count") if name in grid}
    scored = {name: grid["settings"][name] for name in SCORED if name in grid["settings"]}
    asked = {**shared, **scored, "depth": 0, "steps": 0}
    if grid["settings"].get("final_evaluation") == "whole":
        asked["eval_batches"] = 0
    options = [str(part) for name, value in asked.items() for part in (f"--{name.replace('_', '-')}", value)]
    command = [ROOT / "build/native/eigenscope", "train", *options]
    ran = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    [row] = json.loads(ran.stdout)["runs"][0]["rows"]
    in_unit = {
        "bits_per_byte": lambda loss: loss * row["bits_per_byte"] / row["loss"],
        "perplexity": math.exp,
        "loss": lambda loss: loss,
    }[outcome]
    return {name: in_unit(row[f"{name}_loss"]) for name in ("unigram", "bigram", "trigram")}


def published(name, grid, columns, missing):
    plan = EXPERIMENTS[name]
    losses = rounded(references(grid, plan["final"][0]), OUTCOME_DIGITS)
    results = Results(grid, columns, losses)
    measures = plan.get("summary", [])
    summary = analyses.summary(results, measures, plan.get("families", measures)) if measures else []
    found = [
        {"kind": of.__name__, **settings, "rows": rounded(of(results, **settings), ANALYSIS_DIGITS)}
        for of, settings in plan.get("analyses", [])
    ]
    return {
        "experiment": name,
        "missing": missing,
        "references": losses,
        "summary": rounded(summary, ANALYSIS_DIGITS),
        "analysis": found,
        "columns": columns,
    }


def written(results):
    """A line for each column and each row of the summary and of analyses: small changes are small differences."""

    def block(value, depth=0):
        rows = isinstance(value, list) and value and isinstance(value[0], dict)
        if depth < 3 and rows:
            parts = [block(part, depth + 1) if "kind" in part else compact(part) for part in value]
        elif depth < 4 and isinstance(value, dict) and value:
            parts = [f"{compact(key)}: {block(part, depth + 1)}" for key, part in value.items()]
        else:
            return compact(value)
        ends = "[]" if rows else "{}"
        return ends[0] + "\n" + ",\n".join(parts) + "\n" + ends[1]

    return block(results) + "\n"


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def collected(name, cells):
    command = [ROOT / "build/native/eigenscope", "collect", PLANS / f"{name}.grid.json", "--cells", cells]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def alarmed(script, analysed):
    """The script of the monitor with the thresholds of an analysis of early warnings, of the signals that it can make:
    those of heads, and the references but the step number, which it is passed."""
    sys.path.insert(0, str(MONITOR.parent))
    import eigenscope_monitor as monitor

    head = dict.fromkeys(("eta_f", "spectral_norm", "mean", "head_width", "entropy", "sink"), 1.0)
    made = {name for name, _ in REFERENCES if name != "step"}
    made.update(*(monitor.alarm_signals({"0.0": head}, in_metric) for in_metric in (False, True)))
    lines = [
        f"    ({compact(row['signal'])}, {row['direction']}, {compact(row['threshold'])}),\n"
        for row in analysed["rows"]
        if row.get("group") == "hypothesis" and row["of"] == "signal" and not row["given"] and row["signal"] in made
    ]
    return re.sub(r"^ALARMS = \((?:\n    \(.*\),)*\n\)$", f"ALARMS = (\n{''.join(lines)})", script, flags=re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=Path, help="folder of folders of cells, named after experiments")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    asked = parser.parse_args()
    folder, texts, stale = asked.cells, {}, []
    for name in EXPERIMENTS:
        grid = json.loads((PLANS / f"{name}.grid.json").read_text())
        file = RESULTS / f"{name}.results.json"
        own = json.loads(file.read_text()) if file.exists() else None
        if folder and (folder / name).is_dir():
            full = collected(name, (folder / name).resolve())
            columns = columns_of(full["cells"], EXPERIMENTS[name], grid["axes"])
            if own:
                parts = ("initial", "final", "below", "curve")
                if dropped := [name for part in parts for name in own["columns"][part] if name not in columns[part]]:
                    sys.exit(f"{file.name} has measures that EXPERIMENTS lacks: {', '.join(dropped)}")
                columns = extended(own["columns"], columns)
            known = {id_of(columns, i) for i in range(len(columns["seed"]))}
            missing = [run for run in full["missing"] if run not in known]
        elif own:
            columns, missing = own["columns"], own["missing"]
        else:
            continue
        results = published(name, grid, columns, missing)
        texts[file] = written(results)
        if name == "causes/early-warning-ramp":
            texts[MONITOR] = alarmed(MONITOR.read_text(), results["analysis"][0])
    for file, text in texts.items():
        if not asked.check:
            file.write_text(text)
        elif file.read_text() != text:
            stale.append(file.name)
    if stale:
        sys.exit(f"not as npm run experiments writes it: {', '.join(stale)}")


if __name__ == "__main__":
    main()
