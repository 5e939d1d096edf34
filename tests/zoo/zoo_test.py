"""Models by their configurations and tensors: what `heads` makes of each.

models.json has, for each model, its config.json, its tensors cut to a few layers, the rows that hold numbers, and either
the moments of some heads, computed from the formulas of the original's code, or that `heads` refuses the model and a text
of its message. names.json has small models with all tensors and keys of a published one of their kind, at offsets at
which `heads` must read them; `attend` must run those whose text is read, but where "text" is false.
Run with the standard library alone:
/usr/bin/python3 -B tests/zoo/zoo_test.py [--write] [NAME...]
`--write` also writes what came out into the table of docs/published-models.md.
"""

import array
import csv
import io
import json
import math
import os
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DOCS = os.path.join(ROOT, "docs", "published-models.md")
PEERS = os.path.join(ROOT, "tests", "gguf", "probabilities.ts")
CONVERSIONS = os.path.join(ROOT, "src", "checkpoint", "gguf_names.cpp")
FAMILIES = os.path.join(ROOT, "docs", "checkpoints.md")
REFERENCES = [os.path.join(ROOT, "tests", "reference", name + "-forward.json") for name in ("family", "llama")]
COMMAND = os.environ.get("EIGENSCOPE", os.path.join(ROOT, "build", "native", "eigenscope"))
TOLERANCE = 2e-5  # of a standard deviation of the spectrum; weights and single-precision products of BF16
BITS = {"BF16": 16, "F16": 16, "F32": 32, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "U8": 8, "I8": 8, "I32": 32}
BITS |= {"U32": 32, "I64": 64, "BOOL": 8}
QUANTILES = [statistics.NormalDist().inv_cdf((k + 0.5) / 64) for k in range(64)]


def numbers_of(text):
    """0, 1, 2 and 5 of "0-2,5"."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def of_layers(rows):
    """Each entry of a table by name: a name with {n} stands for one in each of its layers."""
    for name, layers, *entry in rows:
        for layer in numbers_of(layers) if layers else [None]:
            yield name.replace("{n}", str(layer)), entry


def code_of(value):
    """BF16, cut off."""
    return struct.unpack("<I", struct.pack("<f", value))[0] >> 16


def codes_drawn(seed, spread, around, count):
    codes = [code_of(around + spread * x) for x in QUANTILES]
    return array.array("H", random.Random(seed).choices(codes, k=count))


def stored(codes, kind):
    if kind == "BF16":
        return codes.tobytes()
    return b"".join(struct.pack("<I", code << 16) for code in codes)


def write_model(model, folder):
    """A sparse model.safetensors, in which all other numbers are 0, and config.json."""
    tensors = {name: entry for name, entry in of_layers(model["tensors"])}
    header, end = {}, 0
    for name, (kind, shape) in tensors.items():
        begin, end = end, end + math.prod(shape) * BITS[kind] // 8
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(model["config"], file)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        data = file.tell()

        def put(name, row, codes):
            kind, shape = tensors[name]
            width = shape[-1] * BITS[kind] // 8
            file.seek(data + header[name]["data_offsets"][0] + row * width)
            file.write(stored(codes, kind))

        for name, (around, spread) in of_layers(model["vectors"]):
            put(name, 0, codes_drawn(f"{model['seed']} {name}", spread, around, math.prod(tensors[name][1])))
        for name, (first, count, spread, around) in of_layers(model["rows"]):
            for row in range(first, first + count):
                width = tensors[name][1][-1]
                put(name, row, codes_drawn(f"{model['seed']} {name} {row}", spread, around, width))
        file.truncate(data + end)


def heads(folder, offset, *options):
    done = subprocess.run(
        [COMMAND, "heads", folder, "--traces", "--csv", "--offset", str(offset), *options],
        capture_output=True,
        text=True,
        timeout=600,
    )
    return done.returncode, list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def reason_of(message, folder):
    """What a refusal says, without the path of the file and advice."""
    text = message.strip().splitlines()[-1].removeprefix("eigenscope: ").replace(folder + "/", "").replace(folder + ": ", "")
    return text.removeprefix("model.safetensors: ").partition("; ")[0].replace("|", "\\|")


# A tokenizer of letters.
LETTERS = {
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {
        "type": "WordPiece",
        "unk_token": "?",
        "continuing_subword_prefix": "",
        "max_input_chars_per_word": 1,
        "vocab": {token: number for number, token in enumerate("?abc")},
    },
}
RESULTS = {}


class ZooTest(unittest.TestCase):
    def check_right(self, name, model, folder):
        for offset in sorted({row[3] for row in model["truth"]}) or [0]:
            code, found, message = heads(folder, offset)
            self.assertEqual((code, bool(found)), (0, True), message)
            by_place = {(row["layer"], row["head"]): row for row in found if not row["stack"]}
            by_place |= {(row["stack"], row["layer"], row["head"]): row for row in found}
            for stack, layer, head, at, mean, variance in model["truth"]:
                if at != offset:
                    continue
                place = (str(layer), str(head))
                row = by_place[(stack, *place)] if (stack, *place) in by_place else by_place.get(place)
                if row is None:  # the only stack with such a layer, which a model of several parts names
                    (row,) = [own for own in found if (own["layer"], own["head"]) == place]
                scale = max(abs(mean), math.sqrt(variance))
                self.assertAlmostEqual(float(row["mean"]) / scale, mean / scale, delta=TOLERANCE)
                self.assertAlmostEqual(float(row["variance_frobenius"]) / variance, 1, delta=TOLERANCE)
        right = len({tuple(row[:3]) for row in model["truth"]})
        RESULTS[name] = ("yes", f"{right} of {right}" if right else "without formula")

    def check_refused(self, name, model, folder):
        code, found, message = heads(folder, 0)
        self.assertNotEqual(code, 0)
        self.assertEqual(found, [])
        self.assertIn(model["refused"], message)
        self.assertGreater(len(message), 20)
        RESULTS[name] = ("no: " + reason_of(message, folder), "")


class NamesTest(unittest.TestCase):
    def test_no_tensor_or_key_of_a_published_model_is_refused(self):
        for name, model in read("names.json").items():
            with self.subTest(name=name), tempfile.TemporaryDirectory() as folder:
                write_model({**model, "vectors": [], "rows": []}, folder)
                for offset in model["offsets"]:
                    code, found, message = heads(folder, offset)
                    self.assertEqual((code, bool(found)), (0, True), message)

    def test_text_is_run_where_the_docs_say_so(self):
        """But for the models of a type that are refused by name, whose "text" is false."""
        references = types_of_references()
        for name, model in read("names.json").items():
            if not text_of(model["config"], references):
                continue
            with self.subTest(name=name), tempfile.TemporaryDirectory() as folder:
                write_model({**model, "vectors": [], "rows": []}, folder)
                with open(os.path.join(folder, "tokenizer.json"), "w") as file:
                    json.dump(LETTERS, file)
                done = subprocess.run(
                    [COMMAND, "attend", folder, "--text", "a b c", "--outcome"], capture_output=True, text=True, timeout=60
                )
                self.assertEqual(done.returncode == 0, model.get("text", True), done.stderr)


def listed_types():
    """The model types in the table of families."""
    with open(FAMILIES) as file:
        rows = [line.split("|")[2] for line in file if line.startswith("| ") and line.count("|") == 7]
    return {word.strip(" `") for row in rows for word in row.split(",")}


def types_of(config):
    """Those of a model and of its part of text."""
    inner = config.get("thinker_config", config)
    part = next((inner[key] for key in ("text_config", "llm_config", "language_config") if key in inner), {})
    return [own for own in (config.get("model_type"), part.get("model_type")) if own]


def types_of_references():
    """Model types whose forward pass is compared with an independent one."""
    found = []
    for path in REFERENCES:
        with open(path) as file:
            read = json.load(file)
        for models in read.values() if "config" not in read else [[read]]:
            found += [types_of(model["config"]) for model in models]
    return found


# Model types whose GGUF files are of an architecture that is read as another type.
ARCHITECTURES = {
    "exaone": "exaone",
    "glm_moe_dsa": "glm-dsa",
    "internlm2": "internlm2",
    "kimi_k2": "deepseek2",
    "kimi_k25": "deepseek2",
}


def types_of_peers():
    """Model types of which a GGUF file is compared with llama.cpp."""
    with open(PEERS) as file:
        compared = re.findall(r"^  '?([\w-]+)'?: [A-Z_]+,$", file.read(), re.MULTILINE)
    with open(CONVERSIONS) as file:
        pairs = re.findall(r'\.name = "([\w-]+)",[^{}]*?\.model_type = "([\w-]+)"', file.read())
    types = {type for name, type in pairs if name in compared}
    assert types, "the table of GGUF's architectures must be found in " + CONVERSIONS
    return types | {type for type, name in ARCHITECTURES.items() if name in compared}


def text_of(config, references):
    """Jina's are not run, nor Ling but from GGUF, where its projections are separate."""
    refused = config.get("model_type") == "bailing_moe"
    refused |= config.get("model_type") == "xlm-roberta" and config.get("position_embedding_type") == "rotary"
    return "yes" if not refused and types_of(config) in [known for known in references if known] else ""


def write_table(models):
    """Models that were not run keep their results."""
    references = types_of_references()
    peers = types_of_peers()
    rows = [
        "| model | model type | recognized | heads right | text equal to numpy | text equal to llama.cpp |",
        "|---|---|---|---|---|---|",
    ]
    with open(DOCS) as file:
        before, _, rest = file.read().partition("<!--zoo-->\n")
    table, _, after = rest.partition("<!--/zoo-->")
    cells = [line[2:-2].split(" | ") for line in table.splitlines()[2:]]
    results = {name: (recognized, right) for name, _, recognized, right, *_ in cells if name in models} | RESULTS
    for name, (recognized, right) in sorted(results.items()):
        config = models[name]["config"]
        text = text_of(config, references) if recognized == "yes" else ""
        peer = "yes" if text and not peers.isdisjoint(types_of(config)) else ""
        rows.append(f"| {name} | {config.get('model_type', '')} | {recognized} | {right} | {text} | {peer} |")
    with open(DOCS, "w") as file:
        file.write(before + "<!--zoo-->\n" + "\n".join(rows) + "\n<!--/zoo-->" + after)


class DocsTest(unittest.TestCase):
    def test_families_that_are_listed_are_not_refused(self):
        """Unless for the type of their weights, or a key."""
        listed = listed_types()
        self.assertIn("qwen3", listed)
        for name, model in MODELS.items():
            if "architecture" in model.get("refused", ""):
                self.assertNotIn(model["config"].get("model_type"), listed, name)


def read(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name)) as file:
        return json.load(file)


def add_tests(names):
    models = read("models.json")
    for name in names or models:
        model = models[name]

        def test(self, name=name, model=model):
            with tempfile.TemporaryDirectory() as folder:
                write_model(model, folder)
                (self.check_refused if "refused" in model else self.check_right)(name, model, folder)

        setattr(ZooTest, f"test_{name}", test)
    return models


MODELS = add_tests([name for name in sys.argv[1:] if not name.startswith("-")])
if __name__ == "__main__":
    options = [name for name in sys.argv[1:] if name.startswith("-") and name != "--write"]
    done = unittest.main(argv=[sys.argv[0], *options], exit=False).result
    if "--write" in sys.argv and done.wasSuccessful():
        write_table(MODELS)
    sys.exit(not done.wasSuccessful())
