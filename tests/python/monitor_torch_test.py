"""eigenscope_monitor.py with torch: npm run test:monitor"""

import contextlib
import io
import math
import os
import re
import sys
import tempfile
import types
import unittest
import warnings
from pathlib import Path

import torch  # before monitor_test, which runs without it otherwise
from torch.nn import functional

import monitor_test
import small_gpt
import fixtures
import eigenscope_monitor as monitor

GPT = small_gpt.GPT


def as_torch(arrays):
    return {name: torch.tensor(array) for name, array in arrays.items()}


class Families(monitor_test.Families):
    def tensors(self, arrays):
        return as_torch(arrays)


class Covariance(monitor_test.Covariance):
    def tensors(self, arrays):
        return as_torch(arrays)


class Snapshots(monitor_test.Snapshots):
    def tensors(self, arrays):
        return as_torch(arrays)

    def test_bfloat16(self):
        """The command's products of BF16 factors are sums of floats."""
        [(config, arrays)] = [it[1:] for it in fixtures.written_here() if it[0] == "llama-f64"]
        short = {name: torch.tensor(array).bfloat16() for name, array in arrays.items()}
        with tempfile.TemporaryDirectory() as folder:
            own = monitor.write_snapshot(folder, 7, short, config)
            heads = fixtures.command("heads", folder)["heads"]
            found = monitor.head_spectra(monitor.read_safetensors(own / "model.safetensors"), config)
        self.assertEqual(found, monitor.head_spectra(short, config))
        for head in heads:
            self.assertTrue(math.isclose(found[monitor_test.name_of(head)]["eta_f"], head["eta_f"], rel_tol=1e-5))


class Modules(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.model = small_gpt.Gpt()

    def test_a_model_of_ones_own(self):
        """The same as the command with its mapping; a wrapper's prefix changes nothing."""
        with self.assertRaisesRegex(ValueError, "model_type must be one of"):
            monitor.head_spectra(self.model)
        found = monitor.head_spectra(self.model, like=GPT)
        with tempfile.TemporaryDirectory() as folder:
            own = monitor.write_snapshot(folder, 3, self.model, like=GPT)
            mapping = {"query": GPT.query, "layout": GPT.layout, "gain": GPT.gain}
            words = [word for name, value in mapping.items() for word in (f"--map-{name}", value)]
            heads = fixtures.command("heads", own, *words, "--heads", 4)["heads"]
        for head in heads:
            self.assertEqual(head["step"], 3)
            self.assertEqual(monitor_test.differences(found[monitor_test.name_of(head)], head), {})
        self.assertEqual(len(heads), len(found))
        wrapped = torch.nn.ModuleDict({"module": self.model})
        self.assertEqual(monitor.head_spectra(wrapped, self.model.config, like=GPT), found)

    def test_gpt2_names_with_linear_layers_are_not_read_as_conv1d(self):
        with self.assertRaisesRegex(ValueError, "must divide into 4 heads and 4 each of keys and values: found 32"):
            monitor.head_spectra(self.model, {**self.model.config, "model_type": "gpt2"})

    def test_training_goes_on_as_without_a_monitor(self):
        losses = []
        for rows in (None, 8):
            torch.manual_seed(2)
            model = small_gpt.Gpt()
            optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
            own = monitor.Monitor(every=2, rows=rows or 0, like=GPT) if rows else None
            losses.append([])
            for step in range(1, 6):
                ids = torch.randint(256, (4, 17))
                if own:
                    own.begin(step, model)
                losses[-1].append(small_gpt.step_of(model, optimizer, ids))
                if own:
                    metrics = own.end(step, model)
                    self.assertEqual(bool(metrics), step % 2 == 0)
                    self.assertEqual({"heads/0.0/sink", "heads/max/mean"} <= set(metrics), step % 2 == 0)
        self.assertEqual(*losses)


class Rows(unittest.TestCase):
    """Every row of every text is drawn when there are many draws: the sample's extremes are those of all rows."""

    def setUp(self):
        torch.manual_seed(3)
        self.model = small_gpt.Gpt(length=6)
        self.ids = torch.randint(256, (2, 6))

    def measured(self, rows):
        before = functional.scaled_dot_product_attention
        with monitor.AttentionProbe(self.model, rows=rows, like=GPT) as probe:
            self.model(self.ids)
        self.assertIs(functional.scaled_dot_product_attention, before)
        return probe.measures()

    def expected(self, layer, seen):
        """Largest |logit|, and for each row with two keys entropy and weight on the first key, heads last."""
        query, key = self.model.h[layer].attn.seen
        logits = (query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])).double()
        weights = torch.softmax(logits.masked_fill(~seen, -math.inf), -1)
        count = seen.sum(-1)
        entropy = torch.special.entr(weights).sum(-1) / count.clamp(min=2).log()
        valid = (count >= 2).expand(entropy.shape)
        rows = [torch.stack([it[:, head][valid[:, head]] for head in range(4)]) for it in (entropy, weights[..., 0])]
        return logits.abs().masked_fill(~seen, 0).amax((0, 2, 3)), *rows

    def check(self, seen):
        found = self.measured(5000)
        for layer in range(2):
            largest, entropy, sink = self.expected(layer, seen)
            for head in range(4):
                own = found[f"{layer}.{head}"]
                self.assertAlmostEqual(own["largest_logit"], largest[head].item(), 5)
                for field, values in (("entropy", entropy[head]), ("sink", sink[head])):
                    error = values.std().item() / math.sqrt(own["rows"])
                    self.assertLess(abs(own[field] - values.mean().item()), 5 * error + 1e-6)
        return found

    def test_causal_attention(self):
        found = self.check(torch.ones(6, 6, dtype=torch.bool).tril().expand(2, 4, 6, 6))
        self.assertEqual({found[f"0.{head}"]["rows"] for head in range(4)}, {found["0.0"]["rows"]})
        self.assertAlmostEqual(found["0.0"]["rows"] / 5000, 5 / 6, 1)  # the first row has one key

    def test_masks(self):
        seen = torch.rand(2, 1, 6, 6) < 0.7
        seen[..., 0] = True
        for mask in (seen, torch.where(seen, 0.0, torch.finfo(torch.float32).min)):
            for block in self.model.h:
                block.attn.is_causal, block.attn.mask = False, mask
            self.check(seen.expand(2, 4, 6, 6))

    def test_a_small_sample_is_below_the_largest(self):
        whole, part = self.measured(5000), self.measured(2)
        self.assertEqual({head["rows"] <= 2 for head in part.values()}, {True})
        for name, head in part.items():
            self.assertLessEqual(head["largest_logit"], whole[name]["largest_logit"])

    def test_attention_that_is_not_seen(self):
        for block in self.model.h:
            block.attn.forward = lambda x: x
        with self.assertRaisesRegex(ValueError, "must call torch.nn.functional.scaled_dot_product_attention"):
            self.measured(4)
        own = monitor.Monitor(every=1, rows=4, like=GPT)
        own.begin(1, self.model)
        self.model(self.ids)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertIn("heads/0.0/mean", own.end(1, self.model))
        self.assertEqual(len(caught), 1)
        with self.assertRaisesRegex(ValueError, "rows must be a positive integer: found 0"):
            monitor.AttentionProbe(self.model, rows=0, like=GPT)


def stand_in(path, **names):
    """A module in the place of a library that is not installed here."""
    module = types.ModuleType(path)
    vars(module).update(names)
    sys.modules[path] = module


class Loops(unittest.TestCase):
    """The events of both trainers in their order, on stand-ins for their base classes."""

    def setUp(self):
        torch.manual_seed(4)
        self.model = small_gpt.Gpt()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def monitor(self):
        return monitor.Monitor(self.model.config, every=2, rows=4, snapshots=self.folder.name, like=GPT)

    def steps(self):
        return sorted(path.name for path in Path(self.folder.name).iterdir())

    def test_trainer(self):
        stand_in("transformers", TrainerCallback=type("TrainerCallback", (), {}))
        self.addCleanup(sys.modules.pop, "transformers")
        logged = []
        callback = monitor.trainer_callback(self.monitor(), logged.append)
        self.assertIsInstance(callback, sys.modules["transformers"].TrainerCallback)
        state = types.SimpleNamespace(global_step=0, is_world_process_zero=True)
        for step in range(1, 6):
            callback.on_step_begin(None, state, None, model=self.model, optimizer=None)
            for _ in range(2):  # accumulated gradients
                self.model(torch.randint(256, (2, 16)))
            state.global_step = step
            state.is_world_process_zero = step < 4
            callback.on_step_end(None, state, None, model=self.model, optimizer=None)
        self.assertEqual([sorted(it) for it in logged], [sorted(logged[0])] * 2)
        self.assertIn("heads/1.3/entropy", logged[0])
        self.assertEqual(self.steps(), ["step00000002"])

    def test_lightning(self):
        stand_in("lightning")
        stand_in("lightning.pytorch", Callback=type("Callback", (), {}))
        for name in ("lightning", "lightning.pytorch"):
            self.addCleanup(sys.modules.pop, name)
        logged = []
        logger = types.SimpleNamespace(log_metrics=lambda metrics, step: logged.append((step, sorted(metrics))))
        trainer = types.SimpleNamespace(global_step=0, is_global_zero=True, loggers=[logger])
        callback = monitor.lightning_callback(self.monitor())
        for batch in range(10):  # two batches a step
            callback.on_train_batch_start(trainer, self.model, None, batch)
            self.model(torch.randint(256, (2, 16)))
            trainer.global_step = (batch + 1) // 2
            callback.on_train_batch_end(trainer, self.model, None, None, batch)
        self.assertEqual([step for step, _ in logged], [2, 4])
        self.assertIn("heads/1.3/entropy", logged[0][1])
        self.assertEqual(self.steps(), ["step00000002", "step00000004"])

    def test_a_resumed_run_keeps_its_snapshots(self):
        for _ in range(2):
            own = self.monitor()
            own.begin(2, self.model)
            self.model(torch.randint(256, (2, 16)))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                own.end(2, self.model)
        self.assertIn("kept the snapshot of step 2", str(caught[0].message))
        self.assertEqual(self.steps(), ["step00000002"])


class TrainerStandIn:
    """Calls the events of a run of 100 steps."""

    def __init__(self, model, args, train_dataset):
        self.model, self.callbacks, self.logged = model, [], []

    def add_callback(self, callback):
        self.callbacks.append(callback)

    def log(self, logs):
        self.logged.append(logs)

    def train(self):
        state = types.SimpleNamespace(global_step=0, is_world_process_zero=True)
        for step in range(1, 101):
            for callback in self.callbacks:
                callback.on_step_begin(None, state, None, model=self.model)
            self.model(torch.randint(256, (2, 16)))
            state.global_step = step
            for callback in self.callbacks:
                callback.on_step_end(None, state, None, model=self.model)


class Examples(unittest.TestCase):
    def test_those_of_the_page_run_as_written(self):
        page = (fixtures.ROOT / "docs/monitor.md").read_text()
        examples = re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
        self.assertEqual(len(examples), 4)
        stand_in("transformers", TrainerCallback=type("TrainerCallback", (), {}), Trainer=TrainerStandIn)
        self.addCleanup(sys.modules.pop, "transformers")
        model = small_gpt.Gpt(split=True)
        names = {"model": model, "arguments": None, "dataset": None}
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            printed = []
            for example in examples:
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(example, dict(names))
                printed.append(out.getvalue().splitlines())
            heads = fixtures.command("heads", f"{folder}/snapshots", "--qk-clip", 100)["heads"]
            os.chdir(before)
        self.assertTrue(any(line.startswith("10 heads/1.3/logit_bound ") for line in printed[0]))
        self.assertEqual({head["step"] for head in heads}, {100})
        self.assertEqual([line.split()[0] for line in printed[2]], [monitor_test.name_of(head) for head in heads])
        self.assertIn("'gradient_norm': 4", printed[3][0])
        for line, head in zip(printed[2], heads):
            self.assertTrue(math.isclose(float(line.split()[3]), head["headroom"], rel_tol=1e-6))


if __name__ == "__main__":
    unittest.main()
