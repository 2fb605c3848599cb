//! What all makers share: checked arguments and rectangular grids of vertices, wrapped or not.

use glam::DVec3;

use crate::{Error, Mesh};

/// Vertices and triangles under construction.
#[derive(Default)]
pub(super) struct Grid {
    pub vertices: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Grid {
    /// Adds a vertex and returns its index.
    pub fn vertex(&mut self, p: DVec3) -> u32 {
        self.vertices.push(p);
        self.vertices.len() as u32 - 1
    }

    /// Two triangles, counter-clockwise seen from outside.
    pub fn quad(&mut self, a: u32, b: u32, c: u32, d: u32) {
        self.triangles.extend([[a, b, c], [a, c, d]]);
    }

    /// A band between two closed rings of equally many vertices. With `upper` after `lower` seen from
    /// outside, and both counter-clockwise seen from the end of the axis, its normals point outward.
    pub fn band(&mut self, lower: u32, upper: u32, around: u32) {
        for j in 0..around {
            let next = (j + 1) % around;
            self.quad(lower + j, lower + next, upper + next, upper + j);
        }
    }

    /// A cap from a ring to a centre; `above` when the centre comes after the ring.
    pub fn fan(&mut self, ring: u32, around: u32, centre: u32, above: bool) {
        for j in 0..around {
            let [a, b] = [ring + j, ring + (j + 1) % around];
            self.triangles.push(if above { [a, b, centre] } else { [b, a, centre] });
        }
    }

    /// The finished mesh.
    pub fn mesh(self) -> Result<Mesh, Error> {
        Mesh::from_points(self.vertices, self.triangles)
    }
}

/// Refuses lengths that are not positive and finite.
pub(super) fn positive(name: &'static str, value: f64) -> Result<(), Error> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::Argument { name, reason: format!("{value} is not a positive length") })
}

/// Refuses fewer than `least` of something.
pub(super) fn at_least(name: &'static str, least: u32, value: u32) -> Result<(), Error> {
    if value >= least {
        return Ok(());
    }
    Err(Error::Argument { name, reason: format!("{value} is less than {least}") })
}

/// Refuses more triangles than a mesh may have, before any memory is taken.
pub(super) fn affordable(factors: &[u64]) -> Result<(), Error> {
    let most = crate::shape::MOST_TRIANGLES as u64;
    let count = factors.iter().fold(1_u64, |all, &factor| all.saturating_mul(factor));
    if count <= most {
        return Ok(());
    }
    Err(Error::TooMany { what: "triangles", count: count as usize, most: most as usize })
}
