"""The points of the table neighbours: those that the peers' figures were measured with.

Usage: points.py FOLDER. Writes NAME-COUNT.bin, three little-endian doubles a point, for 64,000 and 1,000,000 points,
uniform and clustered. NumPy's generator has to make the draws that came before them, for hulls, motions and boxes.
"""

import pathlib
import sys

import numpy as np


def earlier_draws(rng):
    for n in (20, 100, 1000):
        for _ in range(2):
            rng.normal(size=(n, 3))
    for _ in range(50):
        for n in (4, 4, 3, 3):
            rng.normal(size=n)
        for _ in range(2):
            rng.normal(size=3)
            rng.uniform(0.2, 1.0)
        rng.uniform(0, 0.9)
    for n in (10_000, 100_000, 1_000_000):
        for _ in range(3):
            rng.uniform(0, 1, (n, 3))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    earlier_draws(rng)
    for n in (64_000, 1_000_000):
        side = n ** (1 / 3)
        rng.uniform(0, side, (n, 3)).astype("<f8").tofile(folder / f"uniform-{n}.bin")
        centres = rng.uniform(0, side, (n // 1000, 3))
        near = centres[rng.integers(0, n // 1000, n // 2)] + rng.normal(size=(n // 2, 3)) * 2.0
        points = np.vstack([near, rng.uniform(0, side, (n - n // 2, 3))])
        rng.shuffle(points)
        points.astype("<f8").tofile(folder / f"clustered-{n}.bin")


main()
