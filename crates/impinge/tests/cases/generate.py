#!/usr/bin/env python3
"""Writes the cases of this folder. Every expected answer is a closed form that stands in the case, or computed here
in exact rational arithmetic on the doubles; nothing comes from the library. Run it in this folder:

    python3 generate.py

Cases that come from bug reports are written by hand into issues.json, which this program does not touch.
"""
import itertools
import json
from fractions import Fraction

SMALL, LARGE = 2.0**-20, 2.0**20  # About 1e-6 and 1e6; sums with small integers stay exact.


# --- exact rational arithmetic on triangles ---------------------------------------------------------------------
def sub(p, q):
    return [x - y for x, y in zip(p, q)]


def dot(p, q):
    return sum(x * y for x, y in zip(p, q))


def cross(p, q):
    return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]


def point_on_segment(p, a, b):
    ab, ap = sub(b, a), sub(p, a)
    if not any(ab):
        return not any(ap)
    return not any(cross(ab, ap)) and 0 <= dot(ap, ab) <= dot(ab, ab)


def point_in_triangle(p, t):
    """Whether p lies on the closed triangle; a triangle without area is its longest side."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    if not any(n):
        return any(point_on_segment(p, t[i], t[(i + 1) % 3]) for i in range(3))
    if dot(n, sub(p, t[0])) != 0:
        return False
    return all(dot(cross(sub(t[(i + 1) % 3], t[i]), sub(p, t[i])), n) >= 0 for i in range(3))


def segments_meet(a, b, c, d):
    """Two segments that lie in one plane or do not meet."""
    if any(point_on_segment(p, *s) for p, s in [(a, (c, d)), (b, (c, d)), (c, (a, b)), (d, (a, b))]):
        return True
    u, v, w = sub(b, a), sub(d, c), sub(c, a)
    n = cross(u, v)
    if not any(n) or dot(w, n) != 0:
        return False
    s, t = dot(cross(w, v), n), dot(cross(w, u), n)
    return 0 <= s <= dot(n, n) and 0 <= t <= dot(n, n)


def segment_meets_triangle(a, b, t):
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    if any(n):
        x, y = dot(n, sub(a, t[0])), dot(n, sub(b, t[0]))
        if x * y > 0:
            return False
        if x != y:
            s = x / (x - y)
            return point_in_triangle([p + s * (q - p) for p, q in zip(a, b)], t)
    if point_in_triangle(a, t) or point_in_triangle(b, t):
        return True
    return any(segments_meet(a, b, t[i], t[(i + 1) % 3]) for i in range(3))


def triangles_meet(s, t):
    edges = lambda u: [(u[i], u[(i + 1) % 3]) for i in range(3)]
    return any(segment_meets_triangle(a, b, t) for a, b in edges(s)) or any(
        segment_meets_triangle(a, b, s) for a, b in edges(t)
    )


def placed_triangles(body):
    """The corners of a translated mesh, by the f64 addition of the contract."""
    at = body.get("pose", {}).get("position", [0.0, 0.0, 0.0])
    mesh = SHAPES[body["shape"]]
    points = [[Fraction(x + t) for x, t in zip(p, at)] for p in mesh["vertices"]]
    return [[points[v] for v in triangle] for triangle in mesh["triangles"]]


def meeting_pairs(a, b):
    s, t = placed_triangles(a), placed_triangles(b)
    return [[i, j] for i, j in itertools.product(range(len(s)), range(len(t))) if triangles_meet(s[i], t[j])]


# --- shapes -----------------------------------------------------------------------------------------------------
def cuboid(x, y, z, inward=False):
    vertices = [[x * i, y * j, z * k] for k in (-1.0, 1.0) for j in (-1.0, 1.0) for i in (-1.0, 1.0)]
    quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    triangles = [t for a, b, c, d in quads for t in ([a, b, c], [a, c, d])]
    return {"vertices": vertices, "triangles": [t[::-1] for t in triangles] if inward else triangles}


def joined(*meshes):
    vertices, triangles = [], []
    for mesh in meshes:
        triangles += [[v + len(vertices) for v in t] for t in mesh["triangles"]]
        vertices += mesh["vertices"]
    return {"vertices": vertices, "triangles": triangles}


def shifted(mesh, by):
    return {**mesh, "vertices": [[x + t for x, t in zip(p, by)] for p in mesh["vertices"]]}


def one(*corners):
    return {"vertices": [list(map(float, c)) for c in corners], "triangles": [[0, 1, 2]]}


TIPS = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
OCTAHEDRON = {
    "vertices": TIPS,
    "triangles": [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]],
}
CUBE = cuboid(1.0, 1.0, 1.0)
# The side z = +1 is missing.
OPEN_BOX = {**CUBE, "triangles": [t for k, t in enumerate(CUBE["triangles"]) if k not in (2, 3)]}
SHAPES = {
    "cube": CUBE,
    "cube_of_2": cuboid(2.0, 2.0, 2.0),
    "cube_of_half": cuboid(0.5, 0.5, 0.5),
    "cube_of_1e-6": cuboid(SMALL, SMALL, SMALL),
    "cube_of_1e6": cuboid(LARGE, LARGE, LARGE),
    "cube_of_1e-150": cuboid(2.0**-498, 2.0**-498, 2.0**-498),
    "cube_inward": cuboid(1.0, 1.0, 1.0, inward=True),
    "cube_other_order": {"vertices": CUBE["vertices"][::-1], "triangles": [[7 - v for v in t[1:] + t[:1]] for t in CUBE["triangles"][::-1]]},
    "cube_twice": joined(CUBE, CUBE),
    "cube_of_2_with_cavity": joined(cuboid(2.0, 2.0, 2.0), cuboid(1.0, 1.0, 1.0, inward=True)),
    "cubes_at_0_and_9": joined(cuboid(0.5, 0.5, 0.5), shifted(cuboid(0.5, 0.5, 0.5), [9.0, 0.0, 0.0])),
    "open_box": OPEN_BOX,
    "octahedron": OCTAHEDRON,
    "sheet": {"vertices": [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]], "triangles": [[0, 1, 2], [0, 2, 3]]},
    "sheet_of_4": {"vertices": [[-4.0, -4.0, 0.0], [4.0, -4.0, 0.0], [4.0, 4.0, 0.0], [-4.0, 4.0, 0.0]], "triangles": [[0, 1, 2], [0, 2, 3]]},
    "triangle_xy": one([0, 0, 0], [4, 0, 0], [0, 4, 0]),
    "triangle_xz": one([1, 1, -1], [1, 1, 1], [3, 1, 0]),
    "triangle_below": one([-1, -1, -3], [1, -1, -3], [0, 0, 0]),
    "triangle_yz": one([0, -1, 1], [0, 1, 1], [0, 0, 3]),
    "point": one([0, 0, 0], [0, 0, 0], [0, 0, 0]),
    "needle_y": one([0, 0, 0], [0, 0, 0], [0, 2, 0]),
    # Every kind with its extreme points along x at (±1, 0, 0) or on a flat that holds them.
    "mesh": OCTAHEDRON,
    "tetmesh": {"vertices": [[1.0, 0.0, 0.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, -1.0], [-1.0, 0.0, 1.0]], "tetrahedra": [[0, 1, 2, 3]]},
    "hull": {"hull": TIPS},
    "sphere": {"sphere": 1.0},
    "box": {"box": [1.0, 0.5, 0.75]},
    "capsule": {"capsule": {"radius": 1.0, "half_height": 0.5}},
    "cylinder": {"cylinder": {"radius": 1.0, "half_height": 0.5}},
    "cone": {"cone": {"radius": 1.0, "half_height": 0.5}},
    "ellipsoid": {"ellipsoid": [1.0, 0.5, 0.75]},
    "halfspace": {"halfspace": {"normal": [1.0, 0.0, 0.0], "offset": 1.0}},
    "halfspace_back": {"halfspace": {"normal": [-1.0, 0.0, 0.0], "offset": 1.0}},
    "triangle": {"triangle": [[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]]},
    "segment": {"segment": [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]},
    "compound": {"compound": [{"box": [0.5, 0.5, 0.5], "pose": {"position": [0.5, 0.0, 0.0]}}, {"sphere": 0.5, "pose": {"position": [-0.5, 0.0, 0.0]}}]},
    "particles": {"particles": [[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]], "radius": 0.5},
    # Others.
    "sphere_of_2": {"sphere": 2.0},
    "sphere_of_3": {"sphere": 3.0},
    "sphere_of_7": {"sphere": 7.0},
    "sphere_of_half": {"sphere": 0.5},
    "sphere_of_1e-6": {"sphere": SMALL},
    "sphere_of_1e6": {"sphere": LARGE},
    "box_2_3_6": {"box": [2.0, 3.0, 6.0]},
    "box_of_1": {"box": [1.0, 1.0, 1.0]},
    "box_of_2": {"box": [2.0, 2.0, 2.0]},
    "hull_cube": {"hull": CUBE["vertices"]},
    "hull_cube_of_half": {"hull": cuboid(0.5, 0.5, 0.5)["vertices"]},
    "hull_flat": {"hull": [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]},
    "ground": {"halfspace": {"normal": [0.0, 0.0, 1.0], "offset": 0.0}},
    "wall_y": {"halfspace": {"normal": [0.0, -1.0, 0.0], "offset": -0.5}},
    "spoke": {"segment": [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]},
    "spoke_mesh": one([0, 0, 0], [1, 0, 0], [0, 0, 1]),
    "wall_mesh": {"vertices": [[-4.0, 0.5, -4.0], [4.0, 0.5, -4.0], [4.0, 0.5, 4.0], [-4.0, 0.5, 4.0]], "triangles": [[0, 1, 2], [0, 2, 3]]},
    "thin_wall": cuboid(2.0**-10, 4.0, 4.0),
    "dust": {"particles": [[0.0, 0.0, 0.5], [0.0, 0.0, 9.0]], "radii": [0.25, 0.125]},
    "points": {"particles": [[0.0, 0.0, 0.5], [0.25, 0.0, 0.0]], "radius": 0.0},
}


def body(shape, at=None, to=None, turn=None, turn_to=None):
    found = {"shape": shape}
    pose = lambda p, q: {"position": [float(x) for x in p], **({"rotation": q} if q else {})}
    if at or turn:
        found["pose"] = pose(at or [0, 0, 0], turn)
    if to or turn_to:
        found["to"] = pose(to or at or [0, 0, 0], turn_to)
    return found


FILES = {}


def case(file, name, source, a, b, **expect):
    FILES.setdefault(file, []).append({"name": name, "source": source, "a": a, "b": b, "expect": expect})


def meshes(file, name, source, a, b, **expect):
    """Two meshes: the pairs of triangles that meet are computed."""
    expect["pairs"] = meeting_pairs(a, b)
    case(file, name, f"{source}; the pairs in rational arithmetic", a, b, **expect)


ULP = 2.0**-52

# --- every pair of kinds ----------------------------------------------------------------------------------------
KINDS = ["mesh", "tetmesh", "hull", "sphere", "box", "capsule", "cylinder", "cone", "ellipsoid", "halfspace", "triangle", "segment", "compound", "particles"]
FLAT = {"triangle", "segment"}
FACETED = {"mesh", "tetmesh", "hull", "box"}
for i, j in itertools.combinations_with_replacement(range(len(KINDS)), 2):
    a, b = KINDS[i], KINDS[j]
    # The base of a cone is lifted to z = 0, where its rim has the extreme points.
    lift = lambda kind: 0.5 if kind == "cone" else 0.0
    other = "halfspace_back" if b == "halfspace" else b
    first = body(a, [0, 0, lift(a)]) if lift(a) else body(a)
    at = lambda x: [x, 0, lift(b)]
    form = "closed form: extreme points at x = 1 and x = {} on the same line"
    file = "kinds"
    empty = {"volume": 0.0} if {a, b} <= FACETED else {}
    case(file, f"{a} and {b}, a half apart and meeting halfway", form.format(1.5), first, body(other, at(2.5), at(1.5)), relation="separated", distance=0.5, sweep=0.5, **empty)
    touch = "intersecting" if {a, b} & FLAT else "touching"
    case(file, f"{a} and {b}, touching", form.format(1), first, body(other, at(2)), relation=touch, gap=0.0, **empty)
    case(file, f"{a} and {b}, overlapping by a half", form.format(0.5), first, body(other, at(1.5)), relation="intersecting")

# --- touching ---------------------------------------------------------------------------------------------------
F, form = "touching", "closed form"
for solid in ["cube", "hull_cube", "box_of_1"]:
    add = meshes if solid == "cube" else case
    for name, at in [("faces", [2, 0, 0]), ("parts of faces", [2, 1, 0.5]), ("edges", [2, 2, 0]), ("corners", [2, 2, 2])]:
        add(F, f"{solid}: {name} touch", form, body(solid), body(solid, at), relation="touching", distance=0.0, volume=0.0)
    for name, at in [("one ulp apart", 2 + 2 * ULP), ("one part in a thousand apart", 2 + 2.0**-10)]:
        add(F, f"{solid}: {name}", form, body(solid), body(solid, [at, 0, 0]), relation="separated", distance=at - 2, volume=0.0)
    add(F, f"{solid}: overlapping by one ulp", form, body(solid), body(solid, [2 - 2 * ULP, 0, 0]), relation="intersecting")
meshes(F, "the tip of an octahedron on a face of a cube", form, body("cube"), body("octahedron", [0, 0, 2]), relation="touching", distance=0.0, volume=0.0)
meshes(F, "the tip of an octahedron on an edge of a cube", form, body("cube"), body("octahedron", [1, 0, 2]), relation="touching", distance=0.0, volume=0.0)
meshes(F, "the tip of an octahedron on a corner of a cube", form, body("cube"), body("octahedron", [1, 1, 2]), relation="touching", distance=0.0, volume=0.0)
meshes(F, "the tip of an octahedron one ulp into a cube", form, body("cube"), body("octahedron", [0, 0, 2 - 2 * ULP]), relation="intersecting", distance=0.0)
pythagoras = "closed form: 3² + 4² = 5²"
case(F, "spheres of 2 and 3 with centres 5 apart", pythagoras, body("sphere_of_2"), body("sphere_of_3", [3, 4, 0]), relation="touching", distance=0.0)
case(F, "spheres of 2 and 3 one ulp too far apart", form, body("sphere_of_2"), body("sphere_of_3", [5 + 4 * ULP, 0, 0]), relation="separated")
case(F, "spheres of 2 and 3 one ulp too near", form, body("sphere_of_2"), body("sphere_of_3", [5 - 4 * ULP, 0, 0]), relation="intersecting")
case(F, "a sphere of 3 at the edge of a box", "closed form: the edge is at (2, 2, z), the centre at (2 + 3·3/5, …) is rounded, so: at (5, 2, 0) on the face's border", body("box_of_2"), body("sphere_of_3", [5, 2, 0]), relation="touching", distance=0.0)
case(F, "a sphere of 7 at the corner of a box", "closed form: 2² + 3² + 6² = 7²", body("box_of_1"), body("sphere_of_7", [3, 4, 7]), relation="touching", distance=0.0)
case(F, "a sphere of 7 at the corner of a mesh", "closed form: 2² + 3² + 6² = 7²", body("cube"), body("sphere_of_7", [3, 4, 7]), relation="touching", distance=0.0)
case(F, "a sphere of 7 at the corner of a hull", "closed form: 2² + 3² + 6² = 7²", body("hull_cube"), body("sphere_of_7", [3, 4, 7]), relation="touching", distance=0.0)
for solid in ["cube", "hull_cube", "box_of_1", "sphere"]:
    case(F, f"{solid} on the ground", form, body("ground"), body(solid, [0, 0, 1]), relation="touching", distance=0.0)
    case(F, f"{solid} one ulp above the ground", form, body("ground"), body(solid, [0, 0, 1 + ULP]), relation="separated", gap=ULP)

# --- overlapping convex shapes: the depth -----------------------------------------------------------------------
F = "depth"
case(F, "spheres of 2 and 3 with centres 4 apart", form, body("sphere_of_2"), body("sphere_of_3", [0, 4, 0]), relation="intersecting", distance=-1.0)
case(F, "boxes that overlap least along y", form, body("box_of_1"), body("box_of_1", [0.5, 1.75, 0.25]), relation="intersecting", distance=-0.25, volume=1.5 * 0.25 * 1.75)
case(F, "hulls that overlap least along z", form, body("hull_cube"), body("hull_cube", [0.5, 0.25, -1.5]), relation="intersecting", distance=-0.5, volume=1.5 * 1.75 * 0.5)
case(F, "a sphere in the ground", form, body("ground"), body("sphere", [3, 4, 0.25]), relation="intersecting", distance=-0.75)
case(F, "a box in the ground", form, body("ground"), body("box", [3, 4, 0.25]), relation="intersecting", distance=-0.5)
case(F, "a hull in the ground", form, body("ground"), body("hull", [3, 4, 0.25]), relation="intersecting", distance=-0.75)
case(F, "a sphere in a box", form, body("box_of_2"), body("sphere_of_half", [0, 1, 0]), relation="b_inside_a", distance=-1.5)
case(F, "a sphere through the face of a box", form, body("box_of_2"), body("sphere", [2.5, 0, 0]), relation="intersecting", distance=-0.5)
for solid in ["cube", "hull_cube", "box_of_1"]:
    case(F, f"a particle in {solid}, another outside", "closed form: the nearest face is at z = 1, and the radius", body("dust"), body(solid), relation="intersecting", distance=-0.75)
    case(F, f"points in {solid}", "closed form: the nearest face of (1/4, 0, 0) is at x = 1", body("points"), body(solid), relation="a_inside_b", distance=-0.75)

# --- coplanar ---------------------------------------------------------------------------------------------------
F = "coplanar"
meshes(F, "coplanar triangles that overlap", form, body("triangle_xy"), body("triangle_xy", [1, 1, 0]), relation="intersecting", distance=0.0)
meshes(F, "coplanar triangles that share a corner", form, body("triangle_xy"), body("triangle_xy", [4, 0, 0]), relation="intersecting", distance=0.0)
meshes(F, "coplanar triangles, corner on side", form, body("triangle_xy"), body("triangle_xy", [2, 2, 0]), relation="intersecting", distance=0.0)
meshes(F, "coplanar triangles apart", "closed form: √(2² + 0²), corner to corner", body("triangle_xy"), body("triangle_xy", [6, 0, 0]), relation="separated", distance=2.0)
meshes(F, "coplanar triangles, one in the other", form, body("triangle_xy"), body("triangle_xy", [0, 0, 0]), relation="intersecting", distance=0.0)
meshes(F, "cubes that overlap with four coplanar sides", form, body("cube"), body("cube", [1, 0, 0]), relation="intersecting", distance=0.0, volume=4.0)
meshes(F, "a small cube on the face of a large one", form, body("cube_of_2"), body("cube", [3, 0, 0]), relation="touching", distance=0.0, volume=0.0)
meshes(F, "a small cube on the face of a large one, sides flush", form, body("cube_of_2"), body("cube", [3, 1, 1]), relation="touching", distance=0.0, volume=0.0)
meshes(F, "a sheet in the face of a cube", "closed form: the closed solid holds the sheet", body("sheet", [0, 0, 1]), body("cube"), relation="a_inside_b", distance=0.0)
meshes(F, "a sheet wider than the face of a cube it lies on", "closed form: an open surface that shares a point", body("sheet_of_4", [0, 0, 1]), body("cube"), relation="intersecting", distance=0.0)
meshes(F, "two sheets on each other, shifted", form, body("sheet"), body("sheet", [1, 1, 0]), relation="intersecting", distance=0.0)
case(F, "a flat hull on the face of a cube", "closed form: the closed solid holds it", body("hull_flat", [0, 0, 1]), body("cube"), relation="a_inside_b", distance=0.0)
case(F, "flat hulls in one plane, apart", form, body("hull_flat"), body("hull_flat", [3, 0, 0]), relation="separated", distance=1.0)

# --- nested -----------------------------------------------------------------------------------------------------
F = "nested"
for small, large in itertools.product(["cube_of_half", "hull_cube_of_half", "sphere_of_half"], ["cube", "hull_cube", "box_of_1", "sphere_of_2"]):
    surfaces = {"distance": 0.5} if (small.startswith("cube") or large == "cube") and large != "sphere_of_2" else {}
    measured = {} if "sphere" in small + large else {"volume": 1.0}
    # A sweep does not yet tell a start inside of a mesh; what is inside of a convex shape it does.
    start = {} if large == "cube" else {"sweep": 0.0}
    case(F, f"{small} in {large}", form, body(small), body(large), relation="a_inside_b", **start, **surfaces, **measured)
    if large != "sphere_of_2":
        case(F, f"{small} in {large}, touching it from within", form, body(large), body(small, [0, 0.5, 0]), relation="b_inside_a", **measured)
case(F, "a box whose corners lie on a sphere", "closed form: 2² + 3² + 6² = 7²", body("box_2_3_6"), body("sphere_of_7"), relation="a_inside_b")
case(F, "a sphere in the ground's half-space", form, body("sphere", [0, 0, -1.5]), body("ground"), relation="a_inside_b")
case(F, "a sphere under the ground, touching its surface", form, body("sphere", [0, 0, -1]), body("ground"), relation="a_inside_b")
meshes(F, "a cube in the cavity of another", form, body("cube_of_half"), body("cube_of_2_with_cavity"), relation="separated", distance=0.5, volume=0.0)
meshes(F, "a cube that fills the cavity of another", form, body("cube"), body("cube_of_2_with_cavity"), relation="touching", distance=0.0, volume=0.0)
meshes(F, "a cube across the wall of a cavity", form, body("cube_of_half", [1, 0, 0]), body("cube_of_2_with_cavity"), relation="intersecting", distance=0.0, volume=0.5)
meshes(F, "a cube in the wall of a cavity", "closed form: from within on both sides of the wall", body("cube_of_half", [1.5, 0, 0]), body("cube_of_2_with_cavity"), relation="a_inside_b", distance=0.0, volume=1.0)
meshes(F, "a cube in one whose triangles face inward", form, body("cube_of_half"), body("cube_inward"), relation="a_inside_b", distance=0.5, volume=1.0)
meshes(F, "one component inside, one outside", form, body("cubes_at_0_and_9"), body("cube_of_2"), relation="intersecting", distance=1.5, volume=1.0)
meshes(F, "a cube in an open box", "closed form: an open surface is around nothing", body("cube_of_half"), body("open_box"), relation="separated", distance=0.5)
meshes(F, "an open box in a cube", form, body("open_box"), body("cube_of_2"), relation="a_inside_b", distance=1.0)

# --- duplicated -------------------------------------------------------------------------------------------------
F = "duplicated"
meshes(F, "the same cube twice", "contract: identical surfaces intersect", body("cube"), body("cube"), relation="intersecting", distance=0.0, volume=8.0)
meshes(F, "the same cube with its arrays in another order", "contract: identical surfaces intersect", body("cube"), body("cube_other_order"), relation="intersecting", distance=0.0, volume=8.0)
meshes(F, "a cube and the same facing inward", "contract: identical surfaces intersect", body("cube"), body("cube_inward"), relation="intersecting", distance=0.0, volume=8.0)
meshes(F, "a cube in one that is there twice", "closed form: the winding number is 2", body("cube_of_half"), body("cube_twice"), relation="a_inside_b", distance=0.5)
meshes(F, "a cube beside one that is there twice", form, body("cube", [3, 0, 0]), body("cube_twice"), relation="separated", distance=1.0, volume=0.0)
meshes(F, "the same sheet twice", "contract: identical surfaces intersect", body("sheet"), body("sheet"), relation="intersecting", distance=0.0)
case(F, "the same hull twice", "contract: identical surfaces intersect", body("hull_cube"), body("hull_cube"), relation="intersecting", distance=-2.0, volume=8.0)

# --- without area -----------------------------------------------------------------------------------------------
F = "zero_area"
meshes(F, "a point on the end of a needle", "closed form; their welded edges cancel, so both are closed", body("point"), body("needle_y"), relation="touching", distance=0.0)
meshes(F, "a point on the middle of a needle", "closed form; their welded edges cancel, so both are closed", body("point", [0, 1, 0]), body("needle_y"), relation="touching", distance=0.0)
meshes(F, "a point beside a needle", form, body("point", [3, 1, 0]), body("needle_y"), relation="separated", distance=3.0)
meshes(F, "a point beyond the end of a needle", "closed form: 3² + 4² = 5²", body("point", [3, 6, 0]), body("needle_y"), relation="separated", distance=5.0)
meshes(F, "a point in a cube", form, body("point"), body("cube"), relation="a_inside_b", distance=1.0)
meshes(F, "a point on the face of a cube", form, body("point", [1, 0, 0]), body("cube"), relation="a_inside_b", distance=0.0)
meshes(F, "a point one ulp outside of a cube", form, body("point", [1 + ULP, 0, 0]), body("cube"), relation="separated", gap=ULP)
meshes(F, "a point on an open triangle", "contract: an open surface that shares a point", body("point", [1, 1, 0]), body("triangle_xy"), relation="intersecting", distance=0.0)
meshes(F, "a needle in a cube", form, body("needle_y", [0, -1, 0]), body("cube_of_2"), relation="a_inside_b", distance=1.0)
meshes(F, "a needle beside a cube", form, body("needle_y", [2, -1, 0]), body("cube"), relation="separated", distance=1.0)
meshes(F, "two points, the same", "contract: identical surfaces intersect", body("point"), body("point"), relation="intersecting", distance=0.0)
meshes(F, "two points apart", "closed form: 2² + 3² + 6² = 7²", body("point"), body("point", [2, 3, 6]), relation="separated", distance=7.0)

# --- large and small --------------------------------------------------------------------------------------------
F = "scales"
for name, size in [("cube_of_1e-6", SMALL), ("cube_of_1e6", LARGE), ("cube_of_1e-150", 2.0**-498)]:
    meshes(F, f"{name}: faces touch", form, body(name), body(name, [2 * size, 0, 0]), relation="touching", distance=0.0, volume=0.0)
    meshes(F, f"{name}: one ulp apart", form, body(name), body(name, [2 * size * (1 + ULP), 0, 0]), relation="separated")
    # Cubed, the smallest size is below all doubles.
    measured = {} if size**3 == 0 else {"volume": size**3}
    meshes(F, f"{name}: overlapping", form, body(name), body(name, [size, size, size]), relation="intersecting", distance=0.0, **measured)
    meshes(F, f"{name}: half a size apart", form, body(name), body(name, [2.5 * size, 0, 0]), relation="separated", distance=0.5 * size)
meshes(F, "a small cube on a large one", form, body("cube_of_1e6"), body("cube_of_1e-6", [LARGE + SMALL, 0, 0]), relation="touching", distance=0.0)
meshes(F, "a small cube in a large one", form, body("cube_of_1e6"), body("cube_of_1e-6"), relation="b_inside_a", distance=LARGE - SMALL)
meshes(F, "cubes far from the origin, touching", form, body("cube", [LARGE, LARGE, LARGE]), body("cube", [LARGE + 2, LARGE, LARGE]), relation="touching", distance=0.0)
case(F, "a small sphere on a large one", form, body("sphere_of_1e6"), body("sphere_of_1e-6", [0, LARGE + SMALL, 0]), relation="touching", distance=0.0)
case(F, "a small sphere above a large one", form, body("sphere_of_1e6"), body("sphere_of_1e-6", [0, LARGE + 2 * SMALL, 0]), relation="separated", gap=SMALL)
case(F, "a small sphere in a large cube", form, body("cube_of_1e6"), body("sphere_of_1e-6"), relation="b_inside_a")

# --- open surfaces and single triangles -------------------------------------------------------------------------
F = "open"
meshes(F, "a sheet above a cube", form, body("sheet", [0, 0, 3]), body("cube"), relation="separated", distance=2.0)
meshes(F, "a sheet through a cube", form, body("sheet_of_4"), body("cube"), relation="intersecting", distance=0.0)
meshes(F, "a sheet in a cube", form, body("sheet"), body("cube_of_2"), relation="a_inside_b", distance=1.0)
meshes(F, "triangles that cross", form, body("triangle_xy"), body("triangle_xz"), relation="intersecting", distance=0.0)
meshes(F, "the tip of a triangle in another", form, body("triangle_xy"), body("triangle_below", [1, 1, 0]), relation="intersecting", distance=0.0)
meshes(F, "the tip of a triangle below another", form, body("triangle_xy"), body("triangle_below", [1, 1, -2]), relation="separated", distance=2.0)
meshes(F, "parallel triangles", form, body("triangle_xy"), body("triangle_xy", [0, 0, 5]), relation="separated", distance=5.0)
meshes(F, "crossing sides of two triangles", "closed form: the side y = 0, z = 0 and the side x = 2, z = 1", body("triangle_xy"), body("triangle_yz", [2, 0, 0]), relation="separated", distance=1.0)
meshes(F, "corner to corner", "closed form: 4² + 3² + 12² = 13²", body("triangle_xy"), body("triangle_xy", [8, 3, 12]), relation="separated", distance=13.0)

# --- sweeps -----------------------------------------------------------------------------------------------------
F = "sweeps"
for solid in ["cube", "hull_cube", "box_of_1"]:
    case(F, f"{solid}: flat on flat", "closed form: a gap of 2 at 8 a step", body(solid), body(solid, [4, 0, 0], [-4, 0, 0]), sweep=0.25)
    case(F, f"{solid}: passing by", "closed form: 2.5 apart across the way", body(solid), body(solid, [8, 2.5, 0], [-8, 2.5, 0]), sweep=None)
    case(F, f"{solid}: going away", form, body(solid), body(solid, [3, 0, 0], [9, 0, 0]), sweep=None)
    case(F, f"{solid}: touching at the start, going away", "contract: a contact at the start", body(solid), body(solid, [2, 0, 0], [9, 0, 0]), sweep=0.0)
    case(F, f"{solid}: overlapping at the start", "contract: a contact at the start", body(solid), body(solid, [1, 0, 0], [9, 0, 0]), sweep=0.0)
    case(F, f"{solid}: both move", "closed form: a gap of 2 closes at 8 a step", body(solid, [0, 0, 0], [4, 0, 0]), body(solid, [4, 0, 0], [0, 0, 0]), sweep=0.25)
case(F, "spheres that meet off the centre", "closed form: 4² + 3² = 5² at x = −4 of −10 … 10", body("sphere_of_2"), body("sphere_of_3", [-10, 3, 0], [10, 3, 0]), sweep=0.3)
case(F, "spheres that pass by", form, body("sphere_of_2"), body("sphere_of_3", [-10, 5.5, 0], [10, 5.5, 0]), sweep=None)
case(F, "a sphere through a thin wall", "closed form: at x = −1 − 1/1024 of −9 … 7", body("thin_wall"), body("sphere", [-9, 0, 0], [7, 0, 0]), sweep=(8 - 2.0**-10) / 16)
case(F, "a cube through a thin wall", "closed form: at x = −1 − 1/1024 of −9 … 7", body("thin_wall"), body("cube", [-9, 0, 0], [7, 0, 0]), sweep=(8 - 2.0**-10) / 16)
case(F, "a sphere falls to the ground", form, body("ground"), body("sphere", [0, 0, 5], [0, 0, -3]), sweep=0.5)
case(F, "a cube falls to the ground", form, body("ground"), body("cube", [0, 0, 5], [0, 0, -3]), sweep=0.5)
case(F, "a small cube falls on a large one", form, body("cube_of_1e6"), body("cube_of_1e-6", [0, 0, 2 * LARGE], [0, 0, 0]), sweep=0.5 - 0.5 * SMALL / LARGE)
quarter = [0.0, 0.0, 0.5**0.5, 0.5**0.5]
case(F, "a spoke turns against a wall", "closed form: sin(30°) = 1/2, a third of a quarter turn", body("wall_y"), body("spoke", turn_to=quarter), sweep=1 / 3)
case(F, "a triangle turns against a mesh", "closed form: sin(30°) = 1/2, a third of a quarter turn", body("wall_mesh"), body("spoke_mesh", turn_to=quarter), sweep=1 / 3)
case(F, "the tip of an octahedron meets a face", form, body("cube"), body("octahedron", [0, 0, 6], [0, 0, -2]), sweep=0.5)

for file, cases in FILES.items():
    used = {c[k]["shape"] for c in cases for k in "ab"}
    shapes = ",\n".join(f"    {json.dumps(n)}: {json.dumps(s)}" for n, s in SHAPES.items() if n in used)
    lines = ",\n".join(f"    {json.dumps(c, ensure_ascii=False)}" for c in cases)
    with open(f"{file}.json", "w") as out:
        out.write('{\n  "shapes": {\n' + shapes + '\n  },\n  "cases": [\n' + lines + "\n  ]\n}\n")
print(sum(map(len, FILES.values())), "cases in", len(FILES), "files")
