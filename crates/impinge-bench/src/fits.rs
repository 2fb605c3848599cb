//! Tight fits: ring in ring, peg in hole, nut on bolt, spur gears, as `peers/fits/make_fits.py` of the shared data makes
//! them. All stay free along their motion; a burr makes them hit.

use std::f64::consts::{PI, TAU};

use anyhow::Result;
use glam::DVec3;
use impinge::{Mesh, Motion, Pose};

/// Two parts that fit tightly, and how they move; a stays at the origin, both turn about their own.
pub struct Fit {
    /// Its name in tables.
    pub name: String,
    /// The parts.
    pub meshes: [Mesh; 2],
    /// The angular velocity of a, and the place, the velocity and the angular velocity of b.
    spin_a: DVec3,
    place_b: DVec3,
    velocity_b: DVec3,
    spin_b: DVec3,
}

impl Fit {
    /// The motions of both.
    ///
    /// # Errors
    /// A velocity is not finite, which none of these is.
    pub fn motions(&self) -> Result<[Motion; 2]> {
        let start = Pose::from_translation(self.place_b.to_array())?;
        Ok([
            Motion::velocity(&Pose::IDENTITY, DVec3::ZERO, self.spin_a)?,
            Motion::velocity(&start, self.velocity_b, self.spin_b)?,
        ])
    }

    /// The motion as a row of the outside peer (see `sweeps`).
    pub fn row(&self) -> crate::sweeps::Row {
        let mut row = [0.0; 20];
        (row[0], row[7]) = (1.0, 1.0);
        for (at, vector) in [(4, self.spin_a), (11, self.place_b), (14, self.velocity_b), (17, self.spin_b)] {
            row[at..at + 3].copy_from_slice(&vector.to_array());
        }
        row
    }

    /// A way out of b at one of its triangles, so long.
    pub fn outward(&self, triangle: usize, length: f64) -> DVec3 {
        let [a, b, c] = self.meshes[1].corners(triangle as u32);
        (b - a).cross(c - a).normalize_or_zero() * length
    }

    /// The same with a burr on b: a corner of it drawn out along `way` from the middle of a triangle.
    ///
    /// # Errors
    /// The burr makes no mesh.
    pub fn with_burr(&self, triangle: usize, way: DVec3) -> Result<Fit> {
        let [a, b] = &self.meshes;
        let corners = b.triangles()[triangle];
        let middle = corners.iter().map(|&v| b.vertices()[v as usize]).sum::<DVec3>() / 3.0;
        let mut vertices: Vec<[f64; 3]> = b.vertices().iter().map(|v| v.to_array()).collect();
        let tip = vertices.len() as u32;
        vertices.push((middle + way).to_array());
        let mut triangles = b.triangles().to_vec();
        // A fin on the triangle: closed it need not be, it is a burr.
        triangles.push([corners[0], corners[1], tip]);
        let meshes = [a.clone(), Mesh::new(vertices, triangles)?];
        Ok(Fit { name: format!("{}, burr", self.name), meshes, ..*self })
    }
}

/// A ring in a ring, turning by a radian; 900, 3,600 and 10,000 triangles each.
///
/// # Errors
/// A mesh is none.
pub fn ring(around: u32, along: u32) -> Result<Fit> {
    let open = 1.01 / (PI / f64::from(around)).cos();
    Ok(Fit {
        name: format!("ring-{}", 4 * around * (along + 1)),
        meshes: [tube([open, 1.4], 0.5, [around, along])?, tube([0.7, 1.0], 0.5, [around, along])?],
        spin_a: DVec3::ZERO,
        place_b: DVec3::ZERO,
        velocity_b: DVec3::ZERO,
        spin_b: DVec3::Z,
    })
}

/// A peg that is put through a hole with this clearance.
///
/// # Errors
/// A mesh is none.
pub fn peg(clearance: f64) -> Result<Fit> {
    Ok(Fit {
        name: format!("peg-{clearance:e}"),
        meshes: [tube([1.0 + clearance, 2.0], 4.0, [64, 7])?, cylinder(1.0, 4.0, [64, 15])?],
        spin_a: DVec3::ZERO,
        place_b: DVec3::Z * 5.0,
        velocity_b: DVec3::Z * -8.0,
        spin_b: DVec3::ZERO,
    })
}

/// Two spur gears of 20 teeth that turn by a tooth.
///
/// # Errors
/// A mesh is none.
pub fn gears() -> Result<Fit> {
    Ok(Fit {
        name: "gears".into(),
        meshes: [gear(2.0, 0.0)?, gear(1.9, PI + PI / TEETH)?],
        spin_a: DVec3::Z * (-PI / 10.0),
        place_b: DVec3::X * 20.0,
        velocity_b: DVec3::ZERO,
        spin_b: DVec3::Z * (PI / 10.0),
    })
}

/// A nut that is turned once on its bolt; `tessellation` corners around, 128 in the table.
///
/// # Errors
/// A mesh is none.
pub fn nut(tessellation: u32) -> Result<Fit> {
    const CLEARANCE: f64 = 0.01;
    let (heights, radii) = profile(4.0, 0.0);
    let bolt = thread(10, tessellation, &heights, &radii, None)?;
    let (heights, radii) = profile(4.0, CLEARANCE);
    // Both crests are centred on the same helix: a profile starts at its own crest's edge.
    let half = |c: f64| 1.0 / 16.0 + c / (PI / 6.0).cos() - c * (PI / 6.0).tan();
    let shift = half(0.0) - half(CLEARANCE);
    let heights: Vec<f64> = heights.iter().map(|z| z + shift).collect();
    let radii: Vec<f64> = radii.iter().map(|r| r / (PI / f64::from(tessellation)).cos()).collect();
    let nut = thread(5, tessellation, &heights, &radii, Some(6.0))?;
    let raised = nut.vertices().iter().map(|v| [v.x, v.y, v.z + 2.0]).collect();
    let nut = Mesh::new(raised, nut.triangles().to_vec())?;
    Ok(Fit {
        name: "nut".into(),
        meshes: [bolt, nut],
        spin_a: DVec3::ZERO,
        place_b: DVec3::ZERO,
        velocity_b: DVec3::Z,
        spin_b: DVec3::Z * TAU,
    })
}

/// A ring of corners about z.
fn circle(radius: f64, height: f64, n: u32) -> impl Iterator<Item = [f64; 3]> {
    (0..n).map(move |i| {
        let angle = TAU * f64::from(i) / f64::from(n);
        [radius * angle.cos(), radius * angle.sin(), height]
    })
}

/// Rings of corners from bottom to top.
fn wall(radius: f64, height: f64, [n, m]: [u32; 2]) -> impl Iterator<Item = [f64; 3]> {
    (0..=m).flat_map(move |k| circle(radius, height * (f64::from(k) / f64::from(m) - 0.5), n))
}

/// The quadrangles of such a wall, by corners counted from its first.
fn quads([n, m]: [u32; 2]) -> impl Iterator<Item = [u32; 4]> {
    (0..m * n).map(move |at| {
        let (k, i) = (at / n, at % n);
        let j = (i + 1) % n;
        [k * n + i, k * n + j, (k + 1) * n + j, (k + 1) * n + i]
    })
}

/// A ring about z of 4·n·(m + 1) triangles; the radii are those of the corners.
fn tube([inner, outer]: [f64; 2], height: f64, grid: [u32; 2]) -> Result<Mesh> {
    let [n, m] = grid;
    let vertices = wall(outer, height, grid).chain(wall(inner, height, grid)).collect();
    let (o, t) = (n * (m + 1), m * n);
    let mut triangles = Vec::new();
    for [p, q, r, s] in quads(grid) {
        triangles.extend([[p, q, r], [p, r, s], [o + p, o + r, o + q], [o + p, o + s, o + r]]);
    }
    for i in 0..n {
        let j = (i + 1) % n;
        triangles.extend([[i, o + j, j], [i, o + i, o + j]]);
        triangles.extend([[t + i, t + j, o + t + j], [t + i, o + t + j, o + t + i]]);
    }
    Ok(Mesh::new(vertices, triangles)?)
}

fn cylinder(radius: f64, height: f64, grid: [u32; 2]) -> Result<Mesh> {
    let vertices: Vec<[f64; 3]> = wall(radius, height, grid).collect();
    prism(vertices, height, grid)
}

/// A prism from its rings of corners, closed by a fan at both ends.
fn prism(mut vertices: Vec<[f64; 3]>, height: f64, grid: [u32; 2]) -> Result<Mesh> {
    let [n, m] = grid;
    let b = n * (m + 1);
    vertices.extend([[0.0, 0.0, -height / 2.0], [0.0, 0.0, height / 2.0]]);
    let mut triangles: Vec<[u32; 3]> = quads(grid).flat_map(|[p, q, r, s]| [[p, q, r], [p, r, s]]).collect();
    for i in 0..n {
        let j = (i + 1) % n;
        triangles.extend([[b, j, i], [b + 1, m * n + i, m * n + j]]);
    }
    Ok(Mesh::new(vertices, triangles)?)
}

/// Teeth of a gear.
const TEETH: f64 = 20.0;

/// A spur gear of module 1 with involute flanks, a backlash of π/100 and four layers.
fn gear(thickness: f64, phase: f64) -> Result<Mesh> {
    const FLANK: u32 = 10;
    const LAYERS: u32 = 4;
    let (pitch, pressure) = (TEETH / 2.0, 20.0_f64.to_radians());
    let (base, tip, root) = (pitch * pressure.cos(), pitch + 1.0, pitch - 1.25);
    let involute = |a: f64| a.tan() - a;
    let half = (PI / 2.0 - 0.01 * PI / 2.0) / pitch / 2.0;
    let at = |k: u32| {
        let r = base + (tip - base) * f64::from(k) / f64::from(FLANK);
        (r, half + involute(pressure) - involute((base / r).min(1.0).acos()))
    };
    let mut side: Vec<(f64, f64)> = vec![(root, at(0).1 + 1e-4)];
    side.extend((0..=FLANK).map(at));
    let mut outline: Vec<(f64, f64)> = Vec::new();
    for k in 0..TEETH as u32 {
        let middle = phase + TAU * f64::from(k) / TEETH;
        outline.extend(side.iter().map(|&(r, a)| (r, middle - a)));
        outline.extend(side.iter().rev().map(|&(r, a)| (r, middle + a)));
        outline.push((root, middle + PI / TEETH));
    }
    let n = outline.len() as u32;
    let layer = |k: u32| thickness * (f64::from(k) / f64::from(LAYERS) - 0.5);
    let corner = |z: f64| outline.iter().map(move |&(r, a)| [r * a.cos(), r * a.sin(), z]);
    prism((0..=LAYERS).flat_map(|k| corner(layer(k))).collect(), thickness, [n, LAYERS])
}

/// Segments of a flank of a thread.
const FLANK: usize = 3;

/// One pitch of an ISO-like profile (60 degrees, crest P/8, root P/4) moved outwards by c: heights in pitches, and
/// radii.
fn profile(radius: f64, c: f64) -> (Vec<f64>, Vec<f64>) {
    let (tan, cos) = ((PI / 6.0).tan(), (PI / 6.0).cos());
    let depth = 0.625 / 2.0 / tan;
    let (top, bottom) = (radius + c, radius - depth + c);
    let crest = 1.0 / 16.0;
    let at_top = if c == 0.0 { crest } else { crest + c / cos - c * tan };
    let at_bottom = crest + c / cos + (depth - c) * tan;
    let up = |k: usize| k as f64 / FLANK as f64;
    let (mut z, mut r) = (vec![-at_top], vec![top]);
    for k in 0..=FLANK {
        z.push(at_top + (at_bottom - at_top) * up(k));
        r.push(top + (bottom - top) * up(k));
    }
    for k in 0..FLANK {
        z.push((1.0 - at_bottom) + (at_bottom - at_top) * up(k));
        r.push(bottom + (top - bottom) * up(k));
    }
    (z.iter().map(|z| z + at_top).collect(), r)
}

/// A helical strip of pitch 1: corner (i, j) at the angle 2πi/n, the height zⱼ + i/n and the radius rⱼ; (i, J) is
/// (i + n, 0). Closed by a point on the axis at both ends, or by a wall.
fn thread(turns: u32, n: u32, heights: &[f64], radii: &[f64], outer: Option<f64>) -> Result<Mesh> {
    let (rows, steps) = (heights.len() as u32, turns * n);
    let corner = |i: u32, j: u32, radius: f64| {
        let angle = TAU * f64::from(i % n) / f64::from(n);
        [radius * angle.cos(), radius * angle.sin(), heights[j as usize] + f64::from(i) / f64::from(n)]
    };
    // All j for i up to `steps`, then j = 0 alone for another turn.
    let used = (0..=steps)
        .flat_map(|i| (0..rows).map(move |j| (i, j)))
        .chain((steps + 1..=steps + n).map(|i| (i, 0)));
    let used: Vec<(u32, u32)> = used.collect();
    let number = |i: u32, j: u32| if i <= steps { i * rows + j } else { (steps + 1) * rows + i - steps - 1 };
    let at = |i: u32, j: u32| if j < rows { number(i, j) } else { number(i + n, 0) };
    let mut vertices: Vec<[f64; 3]> = used.iter().map(|&(i, j)| corner(i, j, radii[j as usize])).collect();
    let strip = (0..steps).flat_map(|i| (0..rows).map(move |j| (i, j))).flat_map(|(i, j)| {
        let [p, q, r, s] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[p, q, r], [p, r, s]]
    });
    let strip: Vec<[u32; 3]> = strip.collect();
    let rim = |from: u32| -> Vec<u32> {
        (0..=n).map(|i| at(from + i, 0)).chain((1..rows).rev().map(|j| at(from, j))).collect()
    };
    let (low, high) = (rim(0), rim(steps));
    let around = |rim: &[u32]| -> Vec<[u32; 2]> {
        (0..rim.len()).map(|k| [rim[k], rim[(k + 1) % rim.len()]]).collect()
    };
    let (low, high) = (around(&low), around(&high));
    let c = vertices.len() as u32;
    let Some(outer) = outer else {
        vertices.extend([[0.0, 0.0, -1.0], [0.0, 0.0, f64::from(turns) + 2.0]]);
        let caps = low.iter().map(|[k, l]| [*l, *k, c]).chain(high.iter().map(|[k, l]| [*k, *l, c + 1]));
        return Ok(Mesh::new(vertices, strip.iter().copied().chain(caps).collect())?);
    };
    vertices.extend(used.iter().map(|&(i, j)| corner(i, j, outer)));
    let mut triangles: Vec<[u32; 3]> = strip.iter().map(|&[p, q, r]| [p, r, q]).collect();
    triangles.extend(strip.iter().map(|t| t.map(|v| v + c)));
    triangles.extend(low.iter().flat_map(|&[k, l]| [[k, l, l + c], [k, l + c, k + c]]));
    triangles.extend(high.iter().flat_map(|&[k, l]| [[l, k, k + c], [l, k + c, l + c]]));
    Ok(Mesh::new(vertices, triangles)?)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Each edge has two triangles, and the counts are those that the shared script prints of its meshes.
    #[test]
    fn the_parts_are_closed_and_have_as_many_triangles_as_the_shared_ones() {
        let all = [ring(45, 4), ring(125, 19), peg(1e-2), gears(), nut(128)].map(Result::unwrap);
        let counts = all.each_ref().map(|fit| fit.meshes.each_ref().map(|mesh| mesh.triangles().len()));
        assert_eq!(counts, [[900; 2], [10_000; 2], [2048, 2048], [5000; 2], [20_752, 21_024]]);
        for mesh in all.iter().flat_map(|fit| &fit.meshes) {
            let mut edges: HashMap<[u32; 2], i32> = HashMap::new();
            for t in mesh.triangles() {
                for [p, q] in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]] {
                    *edges.entry([p.min(q), p.max(q)]).or_default() += 1;
                }
            }
            assert!(edges.values().all(|&count| count == 2));
        }
    }
}
