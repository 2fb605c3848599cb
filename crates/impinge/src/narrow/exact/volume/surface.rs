//! One of the two surfaces: its cut triangles, the winding number of the other body at its vertices, and the patches
//! of it that lie inside.
//!
//! The winding number at one corner of a cut triangle comes from a segment to a point outside of the other body;
//! along edges it changes at the crossings alone. From the cut triangles it spreads over their vertices, and from
//! those inside over the groups of vertices that nothing crosses, so that only what is inside or crossed is ever
//! visited, and vertices one by one near the crossings alone.

use std::ops::ControlFlow;
use std::sync::Arc;

use glam::DVec3;

use super::clusters::Clusters;
use super::cut::Cut;
use super::perturbed_crossing::{Body, Face, pass};
use crate::model::Model;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::shape::Topology;
use crate::{Budget, Pose};

/// Stands for a triangle that is not cut, a vertex in no patch.
pub const NONE: u32 = u32::MAX;

/// A winding number that is not known yet.
const UNKNOWN: i32 = i32::MIN;

/// A placed surface between the other body's inside and outside.
pub struct Surface<'m> {
    pub body: Body,
    pub placed: PlacedMesh<'m>,
    topology: &'m Topology,
    /// Whether its triangles face inwards, so that two corners are exchanged.
    inverted: bool,
    pub cuts: Vec<Cut>,
    /// The cut of each triangle.
    cut_of: Vec<u32>,
    /// The other body's winding number at each welded vertex.
    winding: Vec<i32>,
    /// The patch of each welded vertex that is inside and in a crossed group.
    patch_of: Vec<u32>,
    /// The other body's winding number on each patch.
    pub patches: Vec<i32>,
    pub clusters: Arc<Clusters>,
    /// The patch of each group that is inside and not crossed.
    cluster_patch: Vec<u32>,
    /// Whether a vertex of a group is a corner of a cut triangle.
    is_crossed: Vec<bool>,
    /// Whether a welded vertex is one.
    at_cut: Vec<bool>,
}

/// What a patch still spreads from.
#[derive(Debug, Clone, Copy)]
enum Reached {
    Vertex(u32),
    Cluster(u32),
}

impl<'m> Surface<'m> {
    /// `None` when the budget ends before what it needs is found.
    pub fn new(body: Body, model: &'m Model, pose: &'m Pose, budget: &mut Budget) -> Option<Surface<'m>> {
        let topology = model.topology();
        let clusters = Clusters::of(model, budget)?;
        Some(Surface {
            body,
            placed: PlacedMesh::new(model, pose),
            topology,
            inverted: is_inverted(model, budget)?,
            cuts: Vec::new(),
            cut_of: vec![NONE; topology.triangles().len()],
            winding: vec![UNKNOWN; topology.weld().count()],
            patch_of: vec![NONE; topology.weld().count()],
            patches: Vec::new(),
            cluster_patch: vec![NONE; clusters.len()],
            is_crossed: vec![false; clusters.len()],
            clusters,
            at_cut: vec![false; topology.weld().count()],
        })
    }

    /// The corners of a triangle in the world, facing outwards.
    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.outwards(self.placed.corners(triangle))
    }

    /// The welded corners of a triangle, facing outwards.
    pub fn welded(&self, triangle: u32) -> [u32; 3] {
        self.outwards(self.topology.triangles()[triangle as usize])
    }

    /// The vertices of a triangle, facing outwards.
    pub fn vertices(&self, triangle: u32) -> [u32; 3] {
        self.outwards(self.placed.model.mesh().triangles()[triangle as usize])
    }

    /// Two corners exchanged where the triangles face inwards; the same call leads back.
    pub fn outwards<T>(&self, [a, b, c]: [T; 3]) -> [T; 3] {
        if self.inverted { [a, c, b] } else { [a, b, c] }
    }

    /// A winding number with the sign that area vectors of the mesh as it is need to face outwards.
    pub fn facing(&self, winding: i32) -> i32 {
        if self.inverted { -winding } else { winding }
    }

    /// How many welded vertices there are.
    pub fn len(&self) -> usize {
        self.winding.len()
    }

    /// Where a welded vertex is in the world.
    pub fn position(&self, welded: u32) -> DVec3 {
        let first = self.topology.weld().first(welded);
        self.placed.pose.apply(self.placed.model.mesh().vertices()[first as usize])
    }

    /// The cut of a triangle, made when it is first asked for.
    pub fn cut(&mut self, triangle: u32) -> usize {
        let cut = &mut self.cut_of[triangle as usize];
        if *cut == NONE {
            *cut = self.cuts.len() as u32;
            for corner in self.topology.triangles()[triangle as usize] {
                self.at_cut[corner as usize] = true;
                self.is_crossed[self.clusters.of_vertex(corner) as usize] = true;
            }
            let face = Face::new(self.outwards(self.placed.corners(triangle)));
            self.cuts.push(Cut::new(triangle, face));
        }
        self.cut_of[triangle as usize] as usize
    }

    /// The winding number of the other body at a vertex; only asked where it is known.
    pub fn winding(&self, welded: u32) -> i32 {
        self.winding[welded as usize]
    }

    /// The patch of a vertex that is inside.
    pub fn patch(&self, welded: u32) -> Option<u32> {
        let cluster = self.clusters.of_vertex(welded) as usize;
        let patch = if self.is_crossed[cluster] {
            self.patch_of[welded as usize]
        } else {
            self.cluster_patch[cluster]
        };
        Some(patch).filter(|&patch| patch != NONE)
    }

    /// Whether a triangle is cut by the other surface.
    pub fn is_cut(&self, triangle: u32) -> bool {
        self.cut_of[triangle as usize] != NONE
    }

    /// The groups and single vertices inside.
    pub fn visited(&self) -> usize {
        self.whole_clusters().count() + self.single_vertices().count()
    }

    /// The groups that lie inside as a whole, with their patches.
    pub fn whole_clusters(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..)
            .zip(&self.cluster_patch)
            .filter(|(_, patch)| **patch != NONE)
            .map(|(cluster, patch)| (cluster, *patch))
    }

    /// The vertices inside of groups that are crossed, with their patches.
    pub fn single_vertices(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let crossed = (0..).zip(&self.is_crossed).filter(|(_, crossed)| **crossed);
        let vertices = crossed.flat_map(|(cluster, _)| self.clusters.members(cluster));
        vertices.map(|&v| (v, self.patch_of[v as usize])).filter(|(_, patch)| *patch != NONE)
    }

    /// The vertices of the mesh inside, of groups that are crossed, with a third of the area vectors at each in its own
    /// frame, and their patches.
    pub fn crossed_vertices(&self) -> impl Iterator<Item = (u32, DVec3, u32)> + '_ {
        let crossed = (0..).zip(&self.is_crossed).filter(|(_, crossed)| **crossed);
        let vertices = crossed.flat_map(|(cluster, _)| self.clusters.vertices(cluster));
        let patch = |v: u32| self.patch_of[self.topology.weld().welded(v) as usize];
        vertices.map(move |(v, area)| (v, area, patch(v))).filter(|(_, _, patch)| *patch != NONE)
    }

    /// The triangles inside that nothing crosses and whose first corner is one of [`Surface::single_vertices`], with
    /// their patches.
    pub fn single_triangles(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let crossed = (0..).zip(&self.is_crossed).filter(|(_, crossed)| **crossed);
        let triangles = crossed.flat_map(|(cluster, _)| self.clusters.triangles(cluster));
        let patch = |t: u32| self.patch_of[self.topology.triangles()[t as usize][0] as usize];
        triangles.map(move |&t| (t, patch(t))).filter(|&(t, patch)| patch != NONE && !self.is_cut(t))
    }

    /// The triangles inside that nothing crosses, with their patches.
    pub fn whole(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let in_clusters = self.whole_clusters().flat_map(|(cluster, patch)| {
            self.clusters.triangles(cluster).iter().map(move |&triangle| (triangle, patch))
        });
        in_clusters.chain(self.single_triangles())
    }

    /// Finds the winding numbers at all corners of cut triangles and all vertices inside, and the patches.
    pub fn spread(&mut self, other: &Surface<'_>) {
        let bounds = other.placed.bounds();
        for cut in 0..self.cuts.len() {
            let corner = self.welded(self.cuts[cut].triangle)[0];
            if self.winding[corner as usize] == UNKNOWN {
                self.winding[corner as usize] = self.winding_from(other, corner, bounds);
                self.spread_over_cuts(corner);
            }
        }
        // Components that nothing crosses are inside or outside as a whole.
        let topology = self.topology;
        let mut is_cut = vec![false; topology.components().len()];
        for cut in &self.cuts {
            is_cut[topology.component_of()[cut.triangle as usize] as usize] = true;
        }
        for (component, _) in topology.components().iter().zip(is_cut).filter(|(_, is_cut)| !is_cut) {
            let corner = self.welded(component.first_triangle)[0];
            self.winding[corner as usize] = self.winding_from(other, corner, bounds);
            self.flood(corner);
        }
        for cut in 0..self.cuts.len() {
            for v in self.welded(self.cuts[cut].triangle) {
                self.flood(v);
            }
        }
    }

    /// From a vertex over cut triangles to all corners that they connect.
    fn spread_over_cuts(&mut self, start: u32) {
        let mut stack = vec![start];
        while let Some(v) = stack.pop() {
            for &triangle in self.topology.around(v) {
                let cut = self.cut_of[triangle as usize];
                if cut == NONE {
                    continue;
                }
                let corners = self.welded(triangle);
                let jumps = self.cuts[cut as usize].jumps;
                let Some(k) = corners.iter().position(|&corner| corner == v) else { continue };
                let mut winding = self.winding[v as usize];
                for step in 0..2 {
                    winding += jumps[(k + step) % 3];
                    let next = corners[(k + step + 1) % 3];
                    if self.winding[next as usize] == UNKNOWN {
                        self.winding[next as usize] = winding;
                        stack.push(next);
                    }
                }
            }
        }
    }

    /// From a vertex, if it is known to be inside, over all edges that nothing crosses.
    fn flood(&mut self, start: u32) {
        let winding = self.winding[start as usize];
        if winding == UNKNOWN || winding == 0 || self.patch(start).is_some() {
            return;
        }
        let patch = self.patches.len() as u32;
        self.patches.push(winding);
        let clusters = Arc::clone(&self.clusters);
        let mut stack = Vec::new();
        self.reach(start, winding, patch, &mut stack);
        while let Some(reached) = stack.pop() {
            let v = match reached {
                Reached::Cluster(cluster) => {
                    for &next in clusters.beside(cluster) {
                        self.reach(next, winding, patch, &mut stack);
                    }
                    continue;
                }
                Reached::Vertex(v) => v,
            };
            for &triangle in self.topology.around(v) {
                let corners = self.welded(triangle);
                let cut = self.cut_of[triangle as usize];
                let Some(k) = corners.iter().position(|&corner| corner == v) else { continue };
                let passes = if cut == NONE { [0; 3] } else { self.cuts[cut as usize].passes };
                for (side, next) in [(k, corners[(k + 1) % 3]), ((k + 2) % 3, corners[(k + 2) % 3])] {
                    if passes[side] == 0 {
                        self.reach(next, winding, patch, &mut stack);
                    }
                }
            }
        }
    }

    #[inline]
    fn reach(&mut self, welded: u32, winding: i32, patch: u32, stack: &mut Vec<Reached>) {
        let cluster = self.clusters.of_vertex(welded);
        if !self.is_crossed[cluster as usize] {
            if self.cluster_patch[cluster as usize] == NONE {
                self.cluster_patch[cluster as usize] = patch;
                stack.push(Reached::Cluster(cluster));
            }
        } else if self.patch_of[welded as usize] == NONE {
            (self.patch_of[welded as usize], self.winding[welded as usize]) = (patch, winding);
            stack.push(Reached::Vertex(welded));
        }
    }

    /// The winding number of the other body at a vertex, by a segment to a point outside of its box.
    fn winding_from(&self, other: &Surface<'_>, welded: u32, [low, high]: [DVec3; 2]) -> i32 {
        let p = self.position(welded);
        if (p.cmplt(low) | p.cmpgt(high)).any() {
            return 0;
        }
        // The shortest way out, to a point as far outside again.
        let (below, above) = ((p - low).to_array(), (high - p).to_array());
        let size = (high - low).max_element();
        let ways = (0..3).flat_map(|k| [(below[k], k, -1.0), (above[k], k, 1.0)]);
        let Some((length, axis, way)) = ways.min_by(|x, y| x.0.total_cmp(&y.0)) else { return 0 };
        let mut q = p;
        q[axis] += way * (2.0 * length + 0.01 * size);
        let mut growth = 0;
        other.placed.in_region(p.min(q), p.max(q), |triangle| {
            let face = Face::new(other.corners(triangle));
            if face.has_area() {
                let sides = [p, q].map(|x| face.side(x, self.body));
                growth += pass([p, q], sides, &face, self.body).map_or(0, |pass| pass.inward);
            }
            ControlFlow::Continue(())
        });
        -growth
    }
}

/// The triangles of a mesh face inwards.
struct Inverted(bool);

/// Whether the triangles of a closed mesh face inwards; found once. `None` when the budget ends first.
pub(crate) fn is_inverted(model: &Model, budget: &mut Budget) -> Option<bool> {
    let build = |model: &Model| {
        let mesh = model.mesh();
        let from = mesh.vertices().first().copied().unwrap_or_default();
        let six_volumes: f64 = (0..mesh.triangles().len() as u32)
            .map(|t| mesh.corners(t).map(|p| p - from))
            .map(|[a, b, c]| a.dot(b.cross(c)))
            .sum();
        Inverted(six_volumes < 0.0)
    };
    let units = model.mesh().triangles().len() as u64;
    model.attached(units, budget, build).map(|inverted| inverted.0)
}
