//! The derivative of the volume by every vertex: the integral of its barycentric coordinate times the normal over what
//! lies inside of its triangles.
//!
//! A vertex inside whose triangles nothing crosses has a third of their area vectors, which are known beforehand
//! (`clusters`) and only turned. At the cuts what lies outside is taken away.

use glam::{DMat3, DVec3};

use super::clusters::{Turn, VertexArea};
use super::cut::Moments;
use super::surface::{AHEAD, Surface};
use crate::simd::prefetch;

/// Where fewer than one in so many groups are inside or crossed, their vertices are gone through one by one, else all.
const FEW: usize = 4;

/// The derivatives by the vertices of a surface as if no triangle at those inside were cut.
pub fn uncut_gradient(surface: &Surface<'_>) -> Vec<DVec3> {
    let clusters = &surface.clusters;
    let turn = Turn::new(surface.placed.pose, DVec3::ZERO).cofactors;
    // Many bodies are not turned at all.
    let is_turned = turn != DMat3::IDENTITY;
    let slope = |own: &VertexArea, winding: i32| {
        let slope = own.area * f64::from(winding);
        if is_turned { turn * slope } else { slope }
    };
    let touched = surface.crossed.all.len() + surface.whole_clusters().count();
    if touched * FEW > clusters.len() {
        let windings = surface.windings();
        let areas = clusters.areas();
        let each = |(n, own): (usize, &VertexArea)| {
            if let Some(later) = areas.get(n + 2 * AHEAD) {
                prefetch(later);
            }
            slope(own, windings[own.number as usize])
        };
        return areas.iter().enumerate().map(each).collect();
    }
    let mut gradient = vec![DVec3::ZERO; clusters.areas().len()];
    surface.for_each_vertex_inside(|v, winding| {
        gradient[v as usize] = slope(&clusters.areas()[v as usize], winding);
    });
    gradient
}

/// At the cuts the derivatives are those of what is left of each triangle, not of the whole, given the integrals over what
/// lies inside of each.
pub fn add_cut_gradient(surface: &Surface<'_>, inside: &[Moments], gradient: &mut [DVec3]) {
    for (n, (cut, inside)) in surface.cuts.iter().zip(inside).enumerate() {
        // The vertices are known when the triangle is there.
        if let Some(later) = surface.cuts.get(n + 2 * AHEAD) {
            surface.expect_vertices(later.triangle);
        }
        if let Some(next) = surface.cuts.get(n + AHEAD) {
            surface.vertices(next.triangle).into_iter().for_each(|v| prefetch(&gradient[v as usize]));
        }
        let (normal, shares) = (cut.face.normal(), cut.shares(inside));
        for (corner, v) in surface.vertices(cut.triangle).into_iter().enumerate() {
            let slope = &mut gradient[v as usize];
            // The winding number is known at every corner of a cut triangle.
            *slope -= normal * (f64::from(surface.winding(cut.corners[corner])) / 6.0);
            if shares[corner].is_finite() {
                *slope += cut.normal * shares[corner];
            }
        }
    }
}
