"""Tight-Inclusion and Additive CCD of the IPC Toolkit on single queries and on whole steps.

Usage: ipctk_ccd.py QUERIES.bin [STEPS-FOLDER]; answers questions on standard input:

  query METHOD KIND LOW HIGH STRIDE   every STRIDE-th query of KIND (vf, ee) from scenes LOW..HIGH; the time of
                                      one query, then for each its time of contact or "-"
  step METHOD NAME                    the collision-free step of NAME_t0.ply to NAME_t1.ply: candidates and
                                      narrow phase; the step and the number of candidates

METHOD is ti or accd. A call from Python costs about as much as a short query. So rounds of queries take turns
with the same calls of the library's box test, which does next to nothing with the same arguments, and the
difference of the fastest rounds is what is reported.
"""

import sys
import time

import ipctk
import numpy as np

RECORD = np.dtype([("kind", "u1"), ("truth", "u1"), ("scene", "<u2"), ("index", "<u4"),
                   ("at", "<f8", (2, 4, 3)), ("toi", "<f8")])
MOST_ROUNDS, MOST_SECONDS = 7, 1.0
METHODS = {"ti": ipctk.TightInclusionCCD(), "accd": ipctk.AdditiveCCD()}


def round_of(function, calls, extra):
    start = time.perf_counter_ns()
    answers = [function(*call, *extra) for call in calls]
    return (time.perf_counter_ns() - start) / max(1, len(calls)), answers


def query(records, method, kind, low, high, stride):
    chosen = (records["kind"] == (kind == "ee")) & (records["scene"] >= int(low)) & (records["scene"] < int(high))
    calls = [[np.ascontiguousarray(p) for p in r["at"].reshape(8, 3)] for r in records[chosen][::int(stride)]]
    ccd = METHODS[method]
    function, empty = ((ccd.point_triangle_ccd, ipctk.point_triangle_aabb_ccd) if kind == "vf"
                       else (ccd.edge_edge_ccd, ipctk.edge_edge_aabb_ccd))
    spent = overhead = float("inf")
    begin, rounds = time.perf_counter(), 0
    while rounds < MOST_ROUNDS and (rounds == 0 or time.perf_counter() - begin < MOST_SECONDS):
        overhead = min(overhead, round_of(empty, calls, (0.0,))[0])
        once, answers = round_of(function, calls, ())
        spent, rounds = min(spent, once), rounds + 1
    overhead = min(overhead, round_of(empty, calls, (0.0,))[0])
    times = " ".join(repr(float(t)) if hit else "-" for hit, t in answers)
    return f"ok {spent - overhead} {times}"


def read_ply(path):
    """Vertices and triangles of a binary PLY file."""
    with open(path, "rb") as f:
        header = []
        while not header or header[-1] != "end_header":
            header.append(f.readline().decode().strip())
        order = "<" if any("little" in line for line in header) else ">"
        names = {"float": "f4", "float32": "f4", "double": "f8", "float64": "f8"}
        counts = {line.split()[1]: int(line.split()[2]) for line in header if line.startswith("element")}
        kinds = [order + names[line.split()[1]] for line in header
                 if line.startswith("property") and line.split()[-1] in ("x", "y", "z")]
        points = np.fromfile(f, np.dtype([(axis, kind) for axis, kind in zip("xyz", kinds)]), counts["vertex"])
        faces = np.fromfile(f, np.dtype([("n", "u1"), ("v", order + "i4", 3)]), counts["face"])
    return np.stack([points[axis].astype(float) for axis in "xyz"], axis=1), faces["v"].astype(np.int32)


def step(folder, method, name):
    (start, faces), (end, _) = [read_ply(f"{folder}/{name}_t{k}.ply") for k in (0, 1)]
    edges = ipctk.edges(faces)
    mesh = ipctk.CollisionMesh(start, edges, faces)
    begin = time.perf_counter_ns()
    candidates = ipctk.Candidates()
    candidates.build(mesh, start, end)
    free = candidates.compute_collision_free_stepsize(mesh, start, end, narrow_phase_ccd=METHODS[method])
    spent = time.perf_counter_ns() - begin
    return f"ok {spent} {float(free)!r} {len(candidates)}"


def main():
    ipctk.set_logger_level(ipctk.LoggerLevel.off)
    ipctk.set_num_threads(1)
    records = np.fromfile(sys.argv[1], RECORD)
    print("ready", flush=True)
    for line in sys.stdin:
        word, *rest = line.split()
        try:
            print(query(records, *rest) if word == "query" else step(sys.argv[2], *rest), flush=True)
        except Exception as why:  # the table shows it
            print("error", repr(why).replace("\n", " "), flush=True)


main()
