//! A closed surface whose vertices are particles, and which merges and splits where parts of it meet.
//!
//! Duan and Qin (2004; with Yang and Samaras, ECCV 2004) let a deformable surface change its topology where vertices
//! that are no neighbours collide: the facets of the colliding neighbourhoods are taken out and the borders that are
//! left are connected. Here the collisions come from any [`NeighbourSearch`], and the facets of all vertices that
//! collide at one place are taken out together ([`region`]), so that two surfaces that meet along an area grow one
//! bridge, not many. What is taken out tells what happens: two disks become a tube (merging), a ring around a neck two
//! caps (splitting), a ring around a hole two caps or a wider tube, whichever has the smaller area.
//!
//! A change is made only if the surface stays closed, manifold and oriented, without a triangle of no area; otherwise
//! the surface is left as it was there. Thin sheets are not pierced.

mod collisions;
mod region;

#[cfg(test)]
mod tests;

use glam::DVec3;

use crate::broad::neighbours::NeighbourSearch;
use crate::geom::triangle_triangle::has_area;
use crate::model::Model;
use crate::num::tolerance::LARGEST_COORDINATE;
use crate::shape::Topology;
use crate::shape::hole_filling::Patchwork;
use crate::{Error, Mesh};
use collisions::collisions;

/// Changes of one call at most: one that goes on without end would be a fault of the surface's motion.
const MOST_CHANGES: usize = 256;

/// A surface after its collisions.
#[derive(Debug, Clone)]
pub struct TopologyChange {
    /// Closed, manifold and oriented as before.
    pub mesh: Mesh,
    /// The vertex of the surface before that each vertex was; `None` for new ones. What hangs on vertices goes along.
    pub source: Vec<Option<u32>>,
    /// What happened, in order.
    pub events: Vec<SurfaceEvent>,
}

/// A change of the topology, and where.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum SurfaceEvent {
    /// Two places were joined by a tube: two components became one, or the genus grew by one.
    Merged(DVec3),
    /// A neck was cut and closed by two caps: one component became two, or the genus fell by one.
    Split(DVec3),
    /// A hole through the surface was closed by two caps: the genus fell by one.
    Closed(DVec3),
    /// A tube between two places became wider; the topology stays.
    Widened(DVec3),
}

/// Merges and splits a closed surface where vertices that are no neighbours come within a distance.
///
/// The distance is best about the length of an edge, and a step of the surface's motion should be shorter. Two vertices
/// are neighbours when an edge or two lead from one to the other, or where the surface faces the same way.
///
/// ```
/// use impinge::broad::neighbours::Technique;
/// use impinge::procedural;
/// use impinge::response::change_topology;
///
/// let ball = procedural::ico_sphere(1.0, 3)?;
/// let found = change_topology(&ball, 0.1, &mut *Technique::Brute.start())?;
/// assert!(found.events.is_empty() && found.mesh == ball);
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// # Errors
/// A surface that is not closed, manifold and oriented, or a distance that is not positive and finite.
pub fn change_topology(
    mesh: &Mesh,
    distance: f64,
    search: &mut dyn NeighbourSearch,
) -> Result<TopologyChange, Error> {
    if !(distance > 0.0 && distance <= LARGEST_COORDINATE) {
        let reason = format!("{distance} is not a positive finite length");
        return Err(Error::Argument { name: "distance", reason });
    }
    if let Some(reason) = fault(mesh) {
        return Err(Error::Argument { name: "mesh", reason });
    }
    let (mut surface, mut mesh) = (Patchwork::from(mesh), mesh.clone());
    let mut events = Vec::new();
    while events.len() < MOST_CHANGES {
        let model = Model::from(mesh.clone());
        let clusters = collisions(&model, distance, search)?;
        let changed = clusters.iter().find_map(|cluster| region::resolve(&surface, &model, cluster));
        let Some((next, after, event)) = changed else { break };
        (surface, mesh) = (next, after);
        events.push(event);
    }
    debug_assert!(fault(&mesh).is_none(), "a change of topology broke the surface");
    Ok(TopologyChange { mesh, source: surface.source, events })
}

/// What is wrong with a surface that is to be closed, manifold and oriented.
fn fault(mesh: &Mesh) -> Option<String> {
    let topology = Topology::of(mesh);
    let census = topology.census();
    let counts = [
        (census.boundary_edges, "edges of one triangle"),
        (census.nonmanifold_edges, "edges of more than two triangles"),
        (census.misoriented_edges, "edges whose triangles face different ways"),
        (census.nonmanifold_vertices, "vertices at which several surfaces meet"),
        (census.collapsed_triangles, "triangles with two equal corners"),
        (census.duplicate_triangles, "triangles that are there twice"),
        (mesh.vertices().len() - topology.weld().count(), "vertices at the place of another"),
    ];
    if let Some((count, what)) = counts.into_iter().find(|(count, _)| *count > 0) {
        return Some(format!("the surface is not closed and manifold: it has {count} {what}"));
    }
    let flat = (0..mesh.triangles().len() as u32).find(|&t| !has_area(&mesh.corners(t)));
    flat.map(|t| format!("triangle {t} has no area"))
}
