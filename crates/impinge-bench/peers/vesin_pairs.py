"""All pairs of points within a cutoff by vesin, a half list on one thread.

Usage: vesin_pairs.py CUTOFF FILE…; a file holds three little-endian doubles a point. Answers each line of standard
input, the number of a file, with the time of one search, the number of pairs and a digest of the set. An open set may
be given without a cell or in one that holds it; the faster way counts.
"""

import sys
import time

import numpy as np
import vesin


def digest(i, j):
    """The sum of the scrambled pairs, as in the tables."""
    i, j = np.minimum(i, j).astype(np.uint64), np.maximum(i, j).astype(np.uint64)
    x = (i << np.uint64(32) | j) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return int((x ^ x >> np.uint64(31)).sum(dtype=np.uint64))


def main():
    cutoff = float(sys.argv[1])
    sets = [np.fromfile(path, "<f8").reshape(-1, 3) for path in sys.argv[2:]]
    lists = vesin.NeighborList(cutoff=cutoff, full_list=False, n_threads=1)
    faster = {}

    def search(points, bounded):
        low = points.min(0)
        cell = np.diag(points.max(0) - low + 1e-3) if bounded else np.zeros((3, 3))
        points = points - low if bounded else points
        start = time.perf_counter_ns()
        (pairs,) = lists.compute(points, cell, False, "P", copy=False)
        return time.perf_counter_ns() - start, pairs

    print("ready", flush=True)
    for line in sys.stdin:
        try:
            number = int(line)
            points = sets[number]
            if number not in faster:
                times = [search(points, bounded)[0] for bounded in (False, True, False, True)]
                faster[number] = min(times[1::2]) < min(times[::2])
            spent, pairs = search(points, faster[number])
            print(f"ok {spent} {len(pairs)} {digest(pairs[:, 0], pairs[:, 1])}", flush=True)
        except Exception as why:  # the table shows it
            print("error", repr(why).replace("\n", " "), flush=True)


main()
