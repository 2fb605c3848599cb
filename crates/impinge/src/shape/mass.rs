//! Area, volume, centre and inertia of the solid that a closed surface bounds.
//!
//! Each triangle spans a signed tetrahedron with the middle of the mesh's box; volume and moments are sums
//! over them by the divergence theorem, with the closed form of Blow and Binstock (2004) for the second
//! moments: det/120 · (s·sᵀ + a·aᵀ + b·bᵀ + c·cᵀ), s = a + b + c. Two things are added: the mesh is scaled
//! to about unit size by a power of two, so that neither large nor tiny coordinates overflow or underflow
//! in a product, and every sum is compensated (Neumaier 1974).

use glam::{DMat3, DVec3};

use super::topology::Topology;
use crate::Mesh;

/// Mass properties for the density 1.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mass {
    /// The area of all triangles.
    pub area: f64,
    /// The signed volume: positive when the triangles face outward. For an open surface it is the volume
    /// of the cone over it from the mean of its distinct vertices, which no translation changes.
    pub volume: f64,
    /// The area-weighted centre of the surface; the middle of the box where the area is 0.
    pub surface_centre: DVec3,
    /// The solid's own properties; only a closed surface with a volume has them.
    pub solid: Option<Solid>,
}

/// Centre and inertia of a solid of density 1.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Solid {
    /// The centre of mass.
    pub centre: DVec3,
    /// The inertia tensor about the centre of mass, for the mass |volume|.
    pub inertia: DMat3,
}

impl Mass {
    /// Sums over the triangles of a mesh whose topology is known.
    pub(crate) fn of(mesh: &Mesh, topology: &Topology) -> Mass {
        let [low, high] = bounds(mesh);
        // Halves first: the sum of two coordinates may not overflow, but it may round away from both.
        let middle = 0.5 * low + 0.5 * high;
        let scale = power_of_two((high - middle).max_element());
        let sums = Sums::over(mesh, middle, scale);
        let local = Local::from(&sums);
        let cubed = |x: f64| x * scale * scale * scale;
        let shift = if topology.is_closed() {
            0.0
        } else {
            // Moves the apex of the cones from the middle, which matters only for open surfaces.
            local.area_vector.dot(apex(mesh, topology, middle, scale)) / 3.0
        };
        let whole = topology.is_closed() && local.volume != 0.0;
        let solid = whole.then(|| Solid {
            centre: middle + scale * local.centre,
            inertia: local.inertia * cubed(1.0) * scale * scale,
        });
        Mass {
            area: local.area * scale * scale,
            volume: cubed(local.volume - shift),
            surface_centre: middle + scale * local.surface_centre,
            solid,
        }
    }
}

/// What the sums amount to in the scaled frame.
struct Local {
    area: f64,
    area_vector: DVec3,
    volume: f64,
    centre: DVec3,
    surface_centre: DVec3,
    inertia: DMat3,
}

impl From<&Sums> for Local {
    fn from(sums: &Sums) -> Local {
        let area = sums.area.value() / 2.0;
        let volume = sums.volume.value() / 6.0;
        let vector = |all: &[Sum; 3]| DVec3::from_array(all.each_ref().map(Sum::value));
        let centre = vector(&sums.first) / 24.0 / volume;
        let second = [0, 3, 6].map(|k| {
            let column: [f64; 3] = std::array::from_fn(|i| sums.second[k + i].value());
            DVec3::from_array(column) / 120.0
        });
        let second = DMat3::from_cols(second[0], second[1], second[2]);
        // About the centre: the second moments less those of the whole mass at the centre.
        let about =
            second - DMat3::from_cols(centre * centre.x, centre * centre.y, centre * centre.z) * volume;
        let trace = about.x_axis.x + about.y_axis.y + about.z_axis.z;
        let inertia = (DMat3::from_diagonal(DVec3::splat(trace)) - about) * volume.signum();
        let surface_centre = if area > 0.0 { vector(&sums.surface) / (6.0 * area) } else { DVec3::ZERO };
        Local { area, area_vector: vector(&sums.area_vector) / 2.0, volume, centre, surface_centre, inertia }
    }
}

#[derive(Default)]
struct Sums {
    area: Sum,
    area_vector: [Sum; 3],
    volume: Sum,
    first: [Sum; 3],
    surface: [Sum; 3],
    /// Column by column.
    second: [Sum; 9],
}

impl Sums {
    fn over(mesh: &Mesh, middle: DVec3, scale: f64) -> Sums {
        let mut sums = Sums::default();
        for t in 0..mesh.triangles().len() as u32 {
            let [a, b, c] = mesh.corners(t).map(|p| (p - middle) / scale);
            let normal = (b - a).cross(c - a);
            let length = normal.length();
            let det = a.dot(b.cross(c));
            let s = a + b + c;
            sums.area.add(length);
            sums.volume.add(det);
            for i in 0..3 {
                sums.area_vector[i].add(normal[i]);
                sums.first[i].add(det * s[i]);
                sums.surface[i].add(length * s[i]);
                for j in 0..3 {
                    let product = s[i] * s[j] + a[i] * a[j] + b[i] * b[j] + c[i] * c[j];
                    sums.second[3 * j + i].add(det * product);
                }
            }
        }
        sums
    }
}

/// A sum that carries what rounding has dropped.
#[derive(Default)]
struct Sum {
    sum: f64,
    dropped: f64,
}

impl Sum {
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        let [large, small] = if self.sum.abs() >= x.abs() { [self.sum, x] } else { [x, self.sum] };
        self.dropped += (large - sum) + small;
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        self.sum + self.dropped
    }
}

/// The mean of the distinct vertices in the scaled frame.
fn apex(mesh: &Mesh, topology: &Topology, middle: DVec3, scale: f64) -> DVec3 {
    let weld = topology.weld();
    let mut sums: [Sum; 3] = Default::default();
    for v in 0..weld.count() as u32 {
        let p = (mesh.vertices()[weld.first(v) as usize] - middle) / scale;
        (0..3).for_each(|i| sums[i].add(p[i]));
    }
    DVec3::from_array(sums.each_ref().map(Sum::value)) / weld.count() as f64
}

fn bounds(mesh: &Mesh) -> [DVec3; 2] {
    let corners = (0..mesh.triangles().len() as u32).flat_map(|t| mesh.corners(t));
    corners.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], p| [low.min(p), high.max(p)])
}

/// The largest power of two not above `x`; 1 for zero, and never so small that dividing by it overflows.
fn power_of_two(x: f64) -> f64 {
    if x < f64::MIN_POSITIVE {
        return 1.0;
    }
    // Without its significand a double is a power of two.
    f64::from_bits(x.to_bits() & !((1 << 52) - 1))
}

#[cfg(test)]
#[path = "mass_tests.rs"]
mod tests;
