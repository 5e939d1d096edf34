"""What eigenscope_monitor.py adds to a training step: writes the table of docs/monitor.md. npm run bench:monitor

A ratio is the time of what the monitor does in a step over that of the rest of the same step. Times are those of the
processor, on one thread, so that other programs on the machine matter less.
"""

import datetime
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src/python"), str(ROOT / "tests/python")]
import small_gpt  # noqa: E402
import torch  # noqa: E402
from eigenscope_monitor import AttentionProbe, Monitor  # noqa: E402

STEPS, EVERY = 7, 100
SHAPE = {"width": 128, "heads": 4, "depth": 2, "length": 128}
BATCH = 8


class Clock:
    """Adds up the time of calls."""

    def __init__(self):
        self.seconds = 0.0

    def timed(self, act):
        def call(*words, **options):
            start = time.process_time()
            try:
                return act(*words, **options)
            finally:
                self.seconds += time.process_time() - start

        return call


def measure(options):
    """Ratios of the time that a monitor takes in a step over that of the rest of the step."""
    torch.manual_seed(1)
    model = small_gpt.Gpt(**SHAPE)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    monitor = Monitor(every=1, like=small_gpt.GPT, **options)
    own_measure = AttentionProbe._measure
    ratios = []
    for step in range(1, STEPS + 3):
        ids = torch.randint(256, (BATCH, SHAPE["length"] + 1))
        around, inside, whole = Clock(), Clock(), Clock()
        AttentionProbe._measure = inside.timed(own_measure)
        around.timed(monitor.begin)(step, model)
        whole.timed(small_gpt.step_of)(model, optimizer, ids)
        around.timed(monitor.end)(step, model)
        if step > 2:  # the first ones fill caches
            ratios.append((around.seconds + inside.seconds) / (whole.seconds - inside.seconds))
    AttentionProbe._measure = own_measure
    return ratios


def row(title, ratios):
    middle = statistics.median(ratios)
    low, _, high = statistics.quantiles(ratios, n=4)
    return f"| {title} | {middle:.2f} | {low:.2f} to {high:.2f} | {100 * middle / EVERY:.2f}% |"


def main():
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            row("`traces=True`", measure({"traces": True})),
            row("all fields", measure({})),
            row("all fields, 32 rows of attention", measure({"rows": 32})),
            row("all fields, 32 rows, snapshot", measure({"rows": 32, "snapshots": folder})),
        ]
    shape = f"{SHAPE['depth']} layers, width {SHAPE['width']}, {SHAPE['heads']} heads, length {SHAPE['length']}"
    table = [
        f"Written by `npm run bench:monitor` on {datetime.date.today()}: {shape}, batch {BATCH}, bytes, AdamW; "
        f"one thread, torch {torch.__version__}; median and quartiles of {STEPS} steps.",
        "",
        f"| measurement | over a training step | quartiles | share of a run, every {EVERY} steps |",
        "| --- | --- | --- | --- |",
        *rows,
    ]
    print("\n".join(table))
    page = ROOT / "docs/monitor.md"
    text = page.read_text()
    made = "<!--cost-->\n\n" + "\n".join(table) + "\n\n<!--/cost-->"
    page.write_text(re.sub(r"<!--cost-->.*?<!--/cost-->", lambda _: made, text, flags=re.DOTALL))


if __name__ == "__main__":
    main()
