"""Collisions among the parts of an assembly by trimesh's manager over python-fcl.

Usage: clash.py FOLDER. Reads the folder's files in the order of their names and tells how long that took (ns). Answers
each line of standard input with the time of filling a manager and of asking it for all pairs, and the pairs.
"""

import sys
import time
from pathlib import Path

import trimesh


def pairs(meshes):
    """Fills a manager and asks it; the times of both, and the pairs of indices."""
    start = time.perf_counter_ns()
    manager = trimesh.collision.CollisionManager()
    for number, mesh in enumerate(meshes):
        manager.add_object(str(number), mesh)
    filled = time.perf_counter_ns()
    _, names = manager.in_collision_internal(return_names=True)
    return filled - start, time.perf_counter_ns() - filled, sorted(sorted(map(int, pair)) for pair in names)


def main():
    start = time.perf_counter_ns()
    meshes = [trimesh.load_mesh(file, process=False) for file in sorted(Path(sys.argv[1]).iterdir())]
    read = time.perf_counter_ns() - start
    print("ready", flush=True)
    for _ in sys.stdin:
        try:
            fill, ask, found = pairs(meshes)
            words = [str(number) for pair in found for number in pair]
            print("ok", fill + ask, read, fill, *words, flush=True)
        except Exception as why:  # the table shows it
            print("error", repr(why).replace("\n", " "), flush=True)


main()
