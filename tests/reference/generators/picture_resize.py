"""picture-resize.json: pictures that Pillow resizes, as the image processors of Hugging Face's models call it."""

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 23, 17
FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}
# Width and height: smaller, larger, both, and one side kept.
SIZES = [(8, 8), (40, 31), (5, 26), (23, 6)]


def picture():
    """Smooth waves with steps between them, height x width x 3."""
    y, x, c = np.meshgrid(np.arange(HEIGHT), np.arange(WIDTH), np.arange(3), indexing="ij")
    waves = 127.5 + 127.5 * np.sin(0.9 * x + 0.6 * y + 2.1 * c)
    return np.where((x // 6 + y // 5) % 2 == 0, waves, 255 - waves / 2).astype(np.uint8)


def generate():
    original = picture()
    resized = []
    for name, kind in FILTERS.items():
        for size in SIZES:
            rgb = np.asarray(Image.fromarray(original, "RGB").resize(size, resample=kind)).reshape(-1)
            resized.append({"filter": name, "width": size[0], "height": size[1], "rgb": rgb})
    return {"width": WIDTH, "height": HEIGHT, "rgb": original.reshape(-1), "resized": resized}
