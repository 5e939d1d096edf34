"""eigenscope_monitor.py without torch, against the command line: python3 -B tests/python/monitor_test.py"""

import copy
import json
import math
import sys
import tempfile
import unittest
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

if "torch" not in sys.modules:
    sys.modules["torch"] = None  # also where it is installed
import fixtures  # noqa: E402
import eigenscope_monitor as monitor  # noqa: E402

TOLERANCE = 1e-6  # of the larger magnitude, beside 1e-9 for what cancels
# The command predicts these from a token process, or names the file or what a trainer wrote beside it.
OF_THE_COMMAND = {"model", "step", "loss", "eval_loss", "offset", "localization", "outside_theory", "rho_mean", "regime", "signal"}
# Model types of the fixtures that are not in the table: they are read by what the caller declares.
DECLARED = {
    "use-lite": monitor.Attention(
        query="layers.{n}.attention.qkv.weight",
        layout="conv1d",
        gain="layers.{n}.attention_norm.weight",
        gains="plain",
        width="",
    ),
    "falcon": monitor.Attention(
        query="h.{n}.self_attention.query_key_value.weight",
        layout="interleaved",
        gain="h.{n}.ln_attn.weight",
        gains="plain",
        key_heads="num_kv_heads",
        rotary=1.0,
    ),
    "gpt2-linear": replace(monitor.TYPES["gpt2"][0], layout="fused"),  # as GGUF files have it
    "bailing_moe": monitor.TYPES["llama"][0],  # as GGUF files have it
    None: monitor.Attention(
        query="blocks.{n}.attn.qkv.weight",
        layout="fused",
        gain="blocks.{n}.norm1.weight",
        gains="plain",
        heads="num_heads",
    ),
}

def differences(found, expected):
    """Fields of a head that differ from those of the command."""
    wrong = {}
    for field, value in expected.items():
        own = found.get(field, "absent")
        if isinstance(value, float) and isinstance(own, (int, float)):
            if not math.isclose(own, value, rel_tol=TOLERANCE, abs_tol=1e-9):
                wrong[field] = (own, value)
        elif field not in OF_THE_COMMAND and own != value:
            wrong[field] = (own, value)
    return wrong


def name_of(head):
    return ".".join(filter(None, (head["stack"], str(head["layer"]), str(head["head"]))))


class Families(unittest.TestCase):
    def tensors(self, arrays):
        return arrays

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.models = {}
        for name, config, tensors in [*fixtures.published(), *fixtures.written_here()]:
            path = Path(cls.folder.name) / name
            fixtures.write_checkpoint(path, config, tensors)
            cls.models[str(path)] = (config, tensors)

    def compare(self, words, models=None, **options):
        """All heads of all models."""
        models, expected = models or self.models, {}
        for head in fixtures.command("heads", *models, *words)["heads"]:
            expected.setdefault(head["model"], {})[name_of(head)] = head
        for path, (config, arrays) in models.items():
            with self.subTest(model=Path(path).name):
                kept = options
                if config.get("model_type") in DECLARED:
                    like = DECLARED[config.get("model_type")]
                    if config.get("parallel_attn") and not config["new_decoder_architecture"]:
                        like = replace(like, gain="h.{n}.input_layernorm.weight")  # Falcon 7B
                    kept = {**options, "like": like}
                found = monitor.head_spectra(self.tensors(arrays), config, **kept)
                self.assertEqual(list(found), list(expected[path]))
                for name, head in found.items():
                    self.assertEqual(differences(head, expected[path][name]), {}, name)
        return len(expected)

    def test_equal_to_the_command(self):
        count = self.compare(["--qk-clip", 50], qk_clip=50)
        self.assertEqual(count, len(self.models))
        self.assertGreater(count, 40)

    def test_a_trained_model(self):
        folder = fixtures.ROOT / fixtures.MINILM
        arrays = monitor.read_safetensors(folder / "model.fp16.safetensors")
        config = json.loads((folder / "config.json").read_text())
        self.compare([], {str(folder): (config, {name: np.asarray(array) for name, array in arrays.items()})})

    def test_without_gains(self):
        self.compare(["--fold-gains", "no"], fold_gains=False)

    def test_traces_alone(self):
        self.compare(["--traces"], traces=True)

    def test_the_text_of_a_model_of_several_parts(self):
        config, arrays = fixtures.with_vision()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            fixtures.write_checkpoint(path, config, arrays)
            expected = fixtures.command("heads", path, "--stack", "language_model.model")["heads"]
        found = monitor.head_spectra(self.tensors(arrays), config)
        self.assertEqual(list(found), [name_of(head) for head in expected])
        for head in expected:
            self.assertEqual(differences(found[name_of(head)], head), {})
        config["text_config"]["model_type"] = "gemma2"
        with self.assertRaisesRegex(ValueError, "'text_config.model_type' must be .*: found 'gemma2'"):
            monitor.head_spectra(self.tensors(arrays), config)

    def test_every_type_of_the_table_has_a_fixture(self):
        types = {config.get("model_type") for config, _ in self.models.values()}
        self.assertEqual(set(monitor.TYPES) - types, {"camembert"})  # whose row is that of roberta


class Covariance(unittest.TestCase):
    def tensors(self, arrays):
        return arrays

    def test_metric_of_the_token_embeddings(self):
        [(config, arrays)] = [it[1:] for it in fixtures.written_here() if it[0] == "gpt2"]
        rows = arrays["transformer.wte.weight"].astype(float)
        covariance = np.cov(rows.T)
        covariance *= len(covariance) / np.trace(covariance)
        with tempfile.TemporaryDirectory() as folder:
            fixtures.write_checkpoint(Path(folder) / "gpt2", config, arrays)
            expected = fixtures.command("heads", Path(folder) / "gpt2", "--frame", "embeddings")["heads"]
        for given in (covariance, {0: covariance, 1: covariance}):
            found = monitor.head_spectra(self.tensors(arrays), config, given)
            for head in expected:
                self.assertEqual(differences(found[name_of(head)], head), {})
        for wrong, message in (
            (covariance[:3], "must be 16 x 16 for layer 0"),
            (np.triu(covariance), "must be finite and symmetric"),
            (covariance * math.nan, "must be finite and symmetric"),
            ({0: covariance}, "must have an entry for layer 1"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                monitor.head_spectra(self.tensors(arrays), config, wrong)


class Refusals(unittest.TestCase):
    def setUp(self):
        self.models = {name: (config, arrays) for name, config, arrays in fixtures.written_here()}
        self.config, self.arrays = self.models["llama-f64"]

    def refused(self, message, config=None, arrays=None, **options):
        with self.assertRaisesRegex(ValueError, message):
            monitor.head_spectra(arrays or self.arrays, {**self.config, **(config or {})}, **options)

    def test_an_unknown_type_with_known_names(self):
        """Names alone decide no convention: what is unknown is named, and may be declared."""
        for config in ({"model_type": "new-one"}, {"model_type": None}):
            self.refused("model_type must be one of .*form of their gains.*declare them", config)
            self.refused("gains must be 'plain' or 'plus_one' for the unknown model_type", config, like="llama")
            declared = monitor.head_spectra(self.arrays, {**self.config, **config}, like="llama", gains="plain")
            self.assertEqual(declared, monitor.head_spectra(self.arrays, self.config))
            shifted = {name: array - ("norm" in name) for name, array in self.arrays.items()}
            other = monitor.head_spectra(shifted, {**self.config, **config}, like="llama", gains="plus_one")
            for name, head in declared.items():
                self.assertAlmostEqual(other[name]["eta_f"], head["eta_f"], 9)
            open_gains = monitor.head_spectra(self.arrays, {**self.config, **config}, like="llama", fold_gains=False)
            self.assertEqual(open_gains, monitor.head_spectra(self.arrays, self.config, fold_gains=False))
        self.refused("model_type must be .* found like='newer'", {"model_type": "x"}, like="newer", gains="plain")

    def test_the_own_keys_of_a_part_precede_those_of_the_whole(self):
        whole = {"num_attention_heads": 1, "text_config": {"num_attention_heads": self.config["num_attention_heads"]}}
        found = monitor.head_spectra(self.arrays, {**self.config, **whole})
        self.assertEqual(found, monitor.head_spectra(self.arrays, self.config))

    def test_what_contradicts_the_table(self):
        self.refused("gains must be omitted or 'plain' for 'llama': found 'plus_one'", gains="plus_one")
        self.refused("gains must be omitted or 'plus_one' for 'gemma'", {"model_type": "gemma"}, gains="plain")
        self.refused("like must be omitted for the known model_type 'llama'", like="gemma")
        self.refused("gains must be 'plain', 'plus_one' or None: found 'g'", gains="g")
        self.refused("model_type must be one of", {"model_type": "gemma3n"})

    def test_declarations(self):
        base = dict(query="q.{n}.weight", key="k.{n}.weight", layout="separate", gains="none")
        for change, message in (
            ({"layout": "mixed"}, "layout must be one of 'separate'"),
            ({"gains": "g"}, "gains must be one of 'plain'"),
            ({"layout": "fused"}, "key must be named for the layouts 'separate' and 'latent' and for no other"),
            ({"layout": "latent"}, "key_latent must be named for the layout 'latent' and for no other"),
            ({"query": "q.weight"}, "query must have {n}"),
            ({"gain": "norm.{n}.weight"}, "gains must be 'plain' or 'plus_one' for the gain"),
        ):
            self.refused(message, like=monitor.Attention(**{**base, **change}))
        self.refused("gains must be declared in the Attention", like=monitor.Attention(**base), gains="plain")

    def test_tensors(self):
        def without(part):
            return {name: array for name, array in self.arrays.items() if part not in name}

        self.refused("'model.layers.1.input_layernorm.weight' must be among", arrays=without("1.input"))
        self.refused("'model.layers.0.self_attn.k_proj.weight' must be among", arrays=without("0.self_attn.k"))
        self.refused("the tensors must have 'layers.{n}.self_attn.q_proj.weight': found", arrays=without("q_proj"))
        flat = {name: array.reshape(-1) for name, array in self.arrays.items()}
        self.refused("must be a matrix .gather the parameters where they are sharded.", arrays=flat)
        twice = {**self.arrays, **{f"b.{name}": array for name, array in self.arrays.items()}}
        self.refused("there must be one stack .* 'b.model.', 'model.'", arrays=twice)

    def test_configuration(self):
        self.refused("outputs of .* must divide into 5 heads: found 16", {"num_attention_heads": 5})
        self.refused("'num_attention_heads' must be in the configuration", {"num_attention_heads": None})
        self.refused("'num_attention_heads' must be a positive integer", {"num_attention_heads": 2.5})
        self.refused("in equal groups for 2 key heads", {"num_key_value_heads": 4})
        self.refused("must be 'hidden_size', 12: found 16", {"hidden_size": 12})
        self.refused("rotary scaling must be .*'spiral'", {"rope_scaling": {"rope_type": "spiral"}})
        config, arrays = self.models["latent-yarn"]
        name = "model.layers.0.self_attn.kv_b_proj"
        self.refused("must have 4 heads of width 7", config, {**arrays, f"{name}.weight": np.ones((22, 5))})
        self.refused(f"latent attention must have no bias: found '{name}.bias'", config, {**arrays, f"{name}.bias": np.ones(20)})
        config, arrays = self.models["glm4-norms"]
        self.refused("'use_qk_norm' must be true .* beside '.*q_norm.weight'", {**config, "use_qk_norm": None}, arrays)
        config, arrays = self.models["gpt2"]
        for key, value in (("scale_attn_weights", False), ("scale_attn_by_inverse_layer_idx", True)):
            self.refused(f"'{key}' must be {not value}", {**config, key: value}, arrays)

    def test_a_head_that_is_not_finite_is_left_out_by_name(self):
        arrays = copy.deepcopy(self.arrays)
        arrays["model.layers.1.self_attn.q_proj.weight"][5, 3] = math.inf  # head 1 has rows 4 to 7
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = monitor.head_spectra(arrays, self.config)
        self.assertEqual([str(it.message) for it in caught], ["left out layer 1 head 1: it has NaN or infinite weights"])
        whole = monitor.head_spectra(self.arrays, self.config)
        self.assertEqual(found, {name: head for name, head in whole.items() if name != "1.1"})

    def test_logits_of_normalized_queries_have_no_bound(self):
        config, arrays = self.models["llama4"]
        for switch, has_bound in ((False, True), (True, False), (None, False)):
            heads = monitor.head_spectra(arrays, {**config, "use_qk_norm": switch})
            self.assertEqual({it["logit_bound"] is not None for it in heads.values()}, {has_bound})


class Snapshots(unittest.TestCase):
    def tensors(self, arrays):
        return arrays

    def test_the_command_opens_them_as_steps(self):
        for model in ("llama-f16", "gpt2", "moonshine", "opt-True", "latent-yarn"):
            config, arrays = {it[0]: it[1:] for it in fixtures.written_here()}[model]
            arrays["other.weight"] = np.ones((128, 128), np.float32)
            steps = {100: arrays, 2000: {name: array * np.float16(1.5) for name, array in arrays.items()}}
            with self.subTest(model=model), tempfile.TemporaryDirectory() as folder:
                for step, of_step in steps.items():
                    own = monitor.write_snapshot(folder, step, self.tensors(of_step), config)
                    self.assertLess((own / "model.safetensors").stat().st_size, 40_000)
                heads = fixtures.command("heads", folder)["heads"]
                for step, of_step in steps.items():
                    found = monitor.head_spectra(of_step, config)
                    read = {name_of(head): head for head in heads if head["step"] == step}
                    self.assertEqual(list(read), list(found))
                    for name, head in read.items():
                        self.assertEqual(differences(found[name], head), {}, name)
                again = monitor.read_safetensors(own / "model.safetensors")
                self.assertEqual(monitor.head_spectra(again, config), monitor.head_spectra(self.tensors(of_step), config))
                with self.assertRaises(FileExistsError):
                    monitor.write_snapshot(folder, 100, arrays, config)
                with self.assertRaisesRegex(ValueError, "step must be an integer from 0 to 10000000: found 10000001"):
                    monitor.write_snapshot(folder, 10_000_001, arrays, config)

    def test_a_declared_type_is_written_as_that_type(self):
        config, arrays = {it[0]: it[1:] for it in fixtures.written_here()}["llama-f64"]
        config = {**config, "model_type": "new-one"}
        with tempfile.TemporaryDirectory() as folder:
            own = monitor.write_snapshot(folder, 1, arrays, config, like="llama", gains="plain")
            self.assertEqual(json.loads((own / "config.json").read_text())["model_type"], "llama")
            with self.assertRaisesRegex(ValueError, "gains must be those of 'llama' for a snapshot"):
                monitor.write_snapshot(folder, 2, arrays, config, like="llama", gains="plus_one")


class Reports(unittest.TestCase):
    SPECTRA = {"0.0": {"mean": 1.0, "sink": None}, "0.1": {"mean": -2.0, "sink": 0.5}}

    def test_alarms_ring_once_beyond_their_threshold(self):
        alarms = monitor.Alarms((("mean.smallest", -1, -2.0), ("gradient_norm", 1, 3.0), ("z score", 1, 4.0)), after=1)
        self.assertEqual(alarms.check(1, {"mean.smallest": -9.0}), {})  # not after the step `after`
        self.assertEqual(alarms.check(2, {"mean.smallest": -2.0}, gradient_norm=3.0), {})
        self.assertEqual(alarms.check(3, {"mean.smallest": -2.5}), {"mean.smallest": -2.5})
        self.assertEqual(alarms.check(4, {"mean.smallest": -3.0}, gradient_norm=math.inf), {"gradient_norm": math.inf})
        for step, loss in enumerate([4.0, 4.2, 4.1, 3.9, 4.0, 4.1, 3.9, 4.0, 4.2, 4.1, 5.0], start=5):
            alarms.check(step, bits_per_byte=loss)
        self.assertEqual(alarms.rang, {"mean.smallest": 3, "gradient_norm": 4, "z score": 15})

    def test_z_scores_are_those_of_the_experiment(self):
        of = json.loads((Path(__file__).parents[1] / "reference/z-score.json").read_text())
        for at, expected in enumerate(of["scores"]):
            below = 0 if expected is None else expected - 1e-9
            for threshold, rings in ((below, expected is not None), (below + 2e-9, False)):
                alarms = monitor.Alarms((("z score", 1, threshold),), after=at - 1)
                made = [alarms.check(step, bits_per_byte=loss) for step, loss in enumerate(of["losses"][: at + 1])]
                self.assertEqual("z score" in made[-1], rings, at)

    def test_alarms_of_a_monitor_are_those_of_the_heads(self):
        weights = {"0.query.weight": np.diag([2.0, 1.0]), "0.key.weight": np.diag([3.0, 1.0])}
        names = {"query": "{n}.query.weight", "key": "{n}.key.weight"}
        declared = monitor.Attention(**names, layout="separate", gains="none")
        config = {"num_attention_heads": 1, "hidden_size": 2}
        spectra = monitor.head_spectra(weights, config, like=declared, fold_gains=False)
        # W = diag(6, 1): the squares of its singular values are 36 and 1.
        signals = monitor.alarm_signals(spectra)
        expected = {"eta_f.largest": 37, "sigma_max.largest": 6, "mean.smallest": 3.5, "stable_rank.smallest": 37 / 36}
        for name, value in expected.items():
            self.assertAlmostEqual(signals[name], value, 9, name)
        metric = monitor.head_spectra(weights, config, 4 * np.eye(2), like=declared, fold_gains=False)
        # C^(1/2) W C^(1/2) = 4 W, over the square root of a head width of 2.
        spread = monitor.alarm_signals(metric, in_metric=True)["spread.largest"]
        self.assertAlmostEqual(spread, 4 * math.sqrt(37 / 2), 9)
        alarms = monitor.Alarms((("sigma_max.largest", 1, 5.0), ("gradient_norm", 1, 1.0)))
        made = monitor.Monitor(config, every=1, like=declared, fold_gains=False, alarms=alarms)
        reported = made.end(1, weights, gradient_norm=2.0)
        rang = {name: value for name, value in reported.items() if name.startswith("alarms/")}
        self.assertEqual(set(rang), {"alarms/sigma_max.largest", "alarms/gradient_norm"})
        self.assertEqual(alarms.rang, {"sigma_max.largest": 1, "gradient_norm": 1})
        with self.assertRaisesRegex(ValueError, "fold_gains must be False with alarms"):
            monitor.Monitor(config, alarms=alarms)
        with self.assertRaisesRegex(ValueError, "thresholds must be"):
            monitor.Alarms((("mean.smallest", 0, 1.0),))

    def test_published_thresholds(self):
        head = {"eta_f": 4.0, "spectral_norm": 2.0, "mean": 0.5, "head_width": 1, "entropy": 0.5, "sink": 0.1}
        known = {"train_loss", "bits_per_byte", "gradient_norm", "z score"}
        for in_metric in (False, True):
            known |= set(monitor.alarm_signals({"0.0": head}, in_metric))
        self.assertLessEqual({signal for signal, _, _ in monitor.ALARMS}, known)
        self.assertGreater(len(monitor.ALARMS), 0)
        monitor.Alarms()

    def test_flat_dictionaries(self):
        self.assertEqual(
            monitor.flat(self.SPECTRA), {"heads/0.0/mean": 1.0, "heads/0.1/mean": -2.0, "heads/0.1/sink": 0.5}
        )
        self.assertEqual(monitor.extremes(self.SPECTRA, ["mean"]), {"heads/min/mean": -2.0, "heads/max/mean": 1.0})


if __name__ == "__main__":
    unittest.main()
