"""picture-files.json: the pixels of the files in tests/pictures, decoded by Pillow, upright, transparent ones over white."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

FOLDER = Path(__file__).parents[2] / "pictures"


def decoded(path):
    picture = ImageOps.exif_transpose(Image.open(path)).convert("RGBA")
    white = Image.new("RGBA", picture.size, "white")
    rgb = np.asarray(Image.alpha_composite(white, picture).convert("RGB"))
    return {"width": picture.width, "height": picture.height, "rgb": rgb.reshape(-1)}


def generate():
    return {path.name: decoded(path) for path in sorted(FOLDER.iterdir())}
