"""Intersection volumes by the booleans of manifold3d and MeshLib.

Usage: volume.py PEER A.bin B.bin; PEER is manifold3d or meshlib. Answers each line of standard input, the number of
repeats, with the median time of one boolean and its volume. Both bodies are constructed beforehand. Both libraries
run on one thread, as we do beside them: on one core, which must be chosen before they are loaded.
"""

import os
import statistics
import sys
import time

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np


def read(path):
    """Vertices and triangles as the tables write them."""
    with open(path, "rb") as f:
        vertices, triangles = np.fromfile(f, "<u4", 2)
        points = np.fromfile(f, "<f8", 3 * vertices).reshape(-1, 3)
        return points, np.fromfile(f, "<u4", 3 * triangles).reshape(-1, 3)


def with_manifold(a, b):
    import manifold3d

    bodies = [manifold3d.Manifold(manifold3d.Mesh64(v, t.astype(np.uint64))) for v, t in (a, b)]
    for body in bodies:
        assert body.status() == manifold3d.Error.NoError, body.status()
        body.num_tri()  # it is lazy
    return lambda: (bodies[0] ^ bodies[1]).volume()


def with_meshlib(a, b):
    from meshlib import mrmeshnumpy, mrmeshpy

    bodies = [mrmeshnumpy.meshFromFacesVerts(t.astype(np.int32), v.astype(np.float32)) for v, t in (a, b)]

    def volume():
        found = mrmeshpy.boolean(bodies[0], bodies[1], mrmeshpy.BooleanOperation.Intersection)
        if not found.valid():
            raise RuntimeError(found.errorString)
        return found.mesh.volume()

    return volume


def main():
    make = {"manifold3d": with_manifold, "meshlib": with_meshlib}[sys.argv[1]]
    volume = make(read(sys.argv[2]), read(sys.argv[3]))
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            answer, times = volume(), []
            for _ in range(int(line)):
                start = time.perf_counter_ns()
                answer = volume()
                times.append(time.perf_counter_ns() - start)
            print(f"ok {statistics.median(times)} {answer!r}", flush=True)
        except Exception as why:  # the table shows it
            print("error", repr(why).replace("\n", " "), flush=True)


main()
