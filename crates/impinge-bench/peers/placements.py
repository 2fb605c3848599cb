"""Makes placements.txt for bunny59k and dragon202k: the procedure and seed of the shared figures.

For each of 200 rows: two random orientations and a random direction from NumPy's default generator with
the seed 20251115. The dragon comes in from distance 2 in steps of 0.01 until the surfaces first meet;
thirty bisections find the place. Then it is set off along the direction: of five rows, two by a gap
10^U(-4, -0.5), two by as large an overlap, and one by 10^U(-5, -4), a gap in odd groups of five and an
overlap in even ones. A row is q(wxyz) t of the bunny, q t of the dragon, the gap, and whether they meet.

Usage: placements.py FOLDER, which holds bunny59k.obj and dragon202k.obj.
"""

import pathlib
import sys

import coal
import numpy as np

COUNT = 200
SEED = 20251115
START, STEP, BISECTIONS = 2.0, 0.01, 30


def read_model(path):
    vertices, triangles = [], []
    with open(path) as lines:
        for line in lines:
            kind, *numbers = line.split()
            if kind == "v":
                vertices.append([float(x) for x in numbers])
            elif kind == "f":
                triangles.append([int(x) - 1 for x in numbers])
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(vertices))
    model.addVertices(np.array(vertices))
    model.addTriangles(np.array(triangles, dtype=np.int32))
    model.endModel()
    return model


def rotation(q):
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def unit(vector):
    return vector / np.linalg.norm(vector)


def first_touch(meets):
    """The largest distance at which the surfaces meet, to the width of the last bisection."""
    near = START
    while near > 0 and not meets(near):
        near -= STEP
    far = near + STEP
    for _ in range(BISECTIONS):
        middle = (near + far) / 2
        near, far = (middle, far) if meets(middle) else (near, middle)
    return near


def gap(random, row):
    kind = row % 5
    if kind < 4:
        size = 10 ** random.uniform(-4, -0.5)
        return size if kind < 2 else -size
    size = 10 ** random.uniform(-5, -4)
    return size if row // 5 % 2 else -size


def main(folder):
    bunny, dragon = (read_model(folder / f"{name}.obj") for name in ("bunny59k", "dragon202k"))
    random = np.random.default_rng(SEED)
    request = coal.CollisionRequest()
    request.num_max_contacts = 1
    rows = []
    for row in range(COUNT):
        q_bunny, q_dragon, direction = (unit(random.normal(size=n)) for n in (4, 4, 3))
        at_bunny = coal.Transform3s(rotation(q_bunny), np.zeros(3))
        turn = rotation(q_dragon)

        def meets(distance):
            result = coal.CollisionResult()
            at_dragon = coal.Transform3s(turn, direction * distance)
            coal.collide(bunny, at_bunny, dragon, at_dragon, request, result)
            return result.isCollision()

        touch = first_touch(meets)
        off = gap(random, row)
        place = touch + off
        rows.append(np.concatenate([
            q_bunny, np.zeros(3), q_dragon, direction * place, [off, float(meets(place))]
        ]))
    np.savetxt(folder / "placements.txt", np.array(rows), fmt="%.17g")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
