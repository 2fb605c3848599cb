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

use super::clusters::{Clusters, VertexArea};
use super::crossings::Edge;
use super::cut::Cut;
use super::edge_passes::EdgePass;
use super::perturbed_crossing::{Body, Face, pass};
use crate::model::Model;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::shape::Topology;
use crate::shape::topology::Side;
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
    /// The welded vertices that are corners of cuts.
    corners: Vec<u32>,
    /// What is known at each welded vertex.
    at: Vec<AtVertex>,
    /// The other body's winding number on each patch.
    pub patches: Vec<i32>,
    pub clusters: Arc<Clusters>,
    /// The patch of each group that is inside and not crossed.
    cluster_patch: Vec<u32>,
    /// Whether a vertex of a group is a corner of a cut triangle.
    is_crossed: Vec<bool>,
    /// Edges between corners of cuts that are crossed although the winding number is the same at both ends, which are in
    /// ascending order.
    recrossed: Vec<[u32; 2]>,
    /// How many groups and single vertices lie inside.
    visited: usize,
}

/// A placed body as the other one sees it.
#[derive(Debug, Clone, Copy)]
pub struct Solid<'m> {
    placed: PlacedMesh<'m>,
    inverted: bool,
}

impl Solid<'_> {
    /// The corners of a triangle in the world, facing outwards.
    fn corners(&self, triangle: u32) -> [DVec3; 3] {
        outwards(self.inverted, self.placed.corners(triangle))
    }
}

/// Two corners exchanged where triangles face inwards.
#[inline]
fn outwards<T>(inverted: bool, [a, b, c]: [T; 3]) -> [T; 3] {
    if inverted { [a, c, b] } else { [a, b, c] }
}

/// What is known at a welded vertex.
#[derive(Debug, Clone, Copy)]
struct AtVertex {
    /// The other body's winding number; before it is found, the vertex among the corners of cuts.
    winding: i32,
    /// The patch of a vertex that is inside and in a crossed group.
    patch: u32,
}

/// Numbers of which some differences are known: a forest with the difference of each to its parent, with path halving.
struct Differences {
    parent: Vec<u32>,
    to_parent: Vec<i32>,
}

impl Differences {
    fn new(count: usize) -> Differences {
        Differences { parent: (0..count as u32).collect(), to_parent: vec![0; count] }
    }

    /// The root that a number hangs on, and how much larger than the root's it is.
    #[inline]
    fn root_of(&mut self, mut at: u32) -> (u32, i32) {
        let mut difference = 0;
        loop {
            let parent = self.parent[at as usize];
            if parent == at {
                return (at, difference);
            }
            self.to_parent[at as usize] += self.to_parent[parent as usize];
            self.parent[at as usize] = self.parent[parent as usize];
            difference += self.to_parent[at as usize];
            at = self.parent[at as usize];
        }
    }

    /// The second is so much larger than the first.
    #[inline]
    fn set(&mut self, [first, second]: [u32; 2], difference: i32) {
        let ((root, of_first), (other, of_second)) = (self.root_of(first), self.root_of(second));
        if root != other {
            self.parent[other as usize] = root;
            self.to_parent[other as usize] = of_first + difference - of_second;
        }
    }
}

/// What a patch still spreads from.
#[derive(Debug, Clone, Copy)]
enum Reached {
    Vertex(u32),
    Cluster(u32),
}

/// What of a mesh is the same at every pose.
pub struct Facts<'m> {
    topology: &'m Topology,
    clusters: Arc<Clusters>,
    inverted: bool,
}

impl<'m> Facts<'m> {
    /// `None` when the budget ends before they are found.
    pub fn of(model: &'m Model, budget: &mut Budget) -> Option<Facts<'m>> {
        let topology = model.topology();
        let clusters = Clusters::of(model, budget)?;
        Some(Facts { topology, clusters, inverted: is_inverted(model, budget)? })
    }
}

impl<'m> Surface<'m> {
    /// A surface that nothing is known to cross yet.
    pub fn new(body: Body, model: &'m Model, pose: &'m Pose, facts: Facts<'m>) -> Surface<'m> {
        let Facts { topology, clusters, inverted } = facts;
        Surface {
            body,
            placed: PlacedMesh::new(model, pose),
            topology,
            inverted,
            cuts: Vec::new(),
            cut_of: vec![NONE; topology.triangles().len()],
            corners: Vec::new(),
            at: vec![AtVertex { winding: UNKNOWN, patch: NONE }; topology.weld().count()],
            patches: Vec::new(),
            cluster_patch: vec![NONE; clusters.len()],
            is_crossed: vec![false; clusters.len()],
            recrossed: Vec::new(),
            clusters,
            visited: 0,
        }
    }

    /// Cuts triangles, which may be named several times; the cut of each.
    pub fn cut_all(&mut self, triangles: impl ExactSizeIterator<Item = u32>) -> Vec<u32> {
        // As a rule a triangle meets two others.
        self.cuts.reserve(triangles.len() / 2);
        triangles.map(|triangle| self.cut(triangle)).collect()
    }

    /// Its sides pass through triangles of the other surface.
    pub fn pass_all(&mut self, cut_of_pair: &[u32], passes: &[EdgePass]) {
        for pass in passes {
            self.cuts[cut_of_pair[pass.pair as usize] as usize].pass(pass.side(), pass.inward());
        }
    }

    /// The corners of a triangle in the world, facing outwards.
    #[inline]
    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.outwards(self.placed.corners(triangle))
    }

    /// The welded corners of a triangle, facing outwards.
    #[inline]
    pub fn welded(&self, triangle: u32) -> [u32; 3] {
        self.outwards(self.topology.triangles()[triangle as usize])
    }

    /// The vertices of a triangle, facing outwards.
    #[inline]
    pub fn vertices(&self, triangle: u32) -> [u32; 3] {
        self.outwards(self.placed.model.mesh().triangles()[triangle as usize])
    }

    /// Two corners exchanged where the triangles face inwards; the same call leads back.
    #[inline]
    pub fn outwards<T>(&self, corners: [T; 3]) -> [T; 3] {
        outwards(self.inverted, corners)
    }

    /// What the other surface needs to know.
    pub fn solid(&self) -> Solid<'m> {
        Solid { placed: self.placed, inverted: self.inverted }
    }

    /// A winding number with the sign that area vectors of the mesh as it is need to face outwards.
    #[inline]
    pub fn facing(&self, winding: i32) -> i32 {
        if self.inverted { -winding } else { winding }
    }

    /// How many welded vertices there are.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Where a welded vertex is in the world.
    #[inline]
    pub fn position(&self, welded: u32) -> DVec3 {
        let first = self.topology.weld().first(welded);
        self.placed.pose.apply(self.placed.model.mesh().vertices()[first as usize])
    }

    /// The cut of a triangle, made when it is first asked for.
    fn cut(&mut self, triangle: u32) -> u32 {
        let cut = self.cut_of[triangle as usize];
        if cut != NONE {
            return cut;
        }
        let welded = self.welded(triangle);
        let corners = welded.map(|v| {
            let own = &mut self.at[v as usize].winding;
            if *own == UNKNOWN {
                *own = self.corners.len() as i32;
                self.corners.push(v);
                self.is_crossed[self.clusters.of_vertex(v) as usize] = true;
            }
            *own as u32
        });
        let edge = |corner: u8| self.topology.edge(Side { triangle, corner }).unwrap_or(NONE);
        // Two corners are exchanged, so the sides come in the opposite order.
        let edges = if self.inverted { [2, 1, 0] } else { [0, 1, 2] }.map(edge);
        let face = Face::new(self.corners(triangle));
        let number = self.cuts.len() as u32;
        self.cut_of[triangle as usize] = number;
        self.cuts.push(Cut::new(triangle, corners, edges, face));
        number
    }

    /// The welded corners of a cut.
    #[inline]
    pub fn welded_corners(&self, cut: &Cut) -> [u32; 3] {
        cut.corners.map(|corner| self.corners[corner as usize])
    }

    /// The winding number of the other body at a vertex; only asked where it is known.
    #[inline]
    pub fn winding(&self, welded: u32) -> i32 {
        self.at[welded as usize].winding
    }

    /// The edge at a side of a cut, whose ends are two vertices, and whether the side runs from its smaller end.
    #[inline]
    pub fn edge(&self, cut: &Cut, side: usize) -> (Edge, bool) {
        let [from, to] = [side, (side + 1) % 3].map(|corner| self.corners[cut.corners[corner] as usize]);
        (Edge { number: cut.edges[side], ends: [from.min(to), from.max(to)] }, from < to)
    }

    /// The patch of a vertex that is inside.
    #[inline]
    pub fn patch(&self, welded: u32) -> Option<u32> {
        let cluster = self.clusters.of_vertex(welded) as usize;
        let patch = if self.is_crossed[cluster] {
            self.at[welded as usize].patch
        } else {
            self.cluster_patch[cluster]
        };
        Some(patch).filter(|&patch| patch != NONE)
    }

    /// Whether a triangle is cut by the other surface.
    #[inline]
    pub fn is_cut(&self, triangle: u32) -> bool {
        self.cut_of[triangle as usize] != NONE
    }

    /// How many groups and single vertices lie inside.
    pub fn visited(&self) -> usize {
        self.visited
    }

    /// The groups that lie inside as a whole, with their patches.
    pub fn whole_clusters(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..)
            .zip(&self.cluster_patch)
            .filter(|(_, patch)| **patch != NONE)
            .map(|(cluster, patch)| (cluster, *patch))
    }

    /// The groups that are crossed.
    pub fn crossed_clusters(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.is_crossed).filter(|(_, crossed)| **crossed).map(|(cluster, _)| cluster)
    }

    /// The vertices inside of a crossed group, with their patches.
    pub fn single_vertices(&self, cluster: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let members = self.clusters.members(cluster).iter();
        members.map(|&v| (v, self.at[v as usize].patch)).filter(|(_, patch)| *patch != NONE)
    }

    /// Calls `each` with the area at every vertex of the mesh that is inside, and the other body's winding number there in
    /// the sign that the area needs to face outwards.
    pub fn for_each_area(&self, mut each: impl FnMut(i32, &VertexArea)) {
        let winding = |patch: u32| self.facing(self.patches[patch as usize]);
        for (cluster, patch) in self.whole_clusters() {
            let winding = winding(patch);
            self.clusters.areas(cluster).iter().for_each(|own| each(winding, own));
        }
        let weld = self.topology.weld();
        for cluster in self.crossed_clusters() {
            for own in self.clusters.areas(cluster) {
                let patch = self.at[weld.welded(own.vertex) as usize].patch;
                if patch != NONE {
                    each(winding(patch), own);
                }
            }
        }
    }

    /// The triangles inside that nothing crosses and whose first corner is in a crossed group, with
    /// their patches.
    pub fn single_triangles(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let triangles = self.crossed_clusters().flat_map(|cluster| self.clusters.triangles(cluster));
        let patch = |t: u32| self.at[self.topology.triangles()[t as usize][0] as usize].patch;
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
    pub fn spread(&mut self, other: &Solid<'_>) {
        let bounds = other.placed.bounds();
        self.spread_over_cuts(other, bounds);
        // Components that nothing crosses are inside or outside as a whole.
        let topology = self.topology;
        let mut is_cut = vec![false; topology.components().len()];
        for cut in &self.cuts {
            is_cut[topology.component_of()[cut.triangle as usize] as usize] = true;
        }
        for (component, _) in topology.components().iter().zip(is_cut).filter(|(_, is_cut)| !is_cut) {
            let corner = self.welded(component.first_triangle)[0];
            self.at[corner as usize].winding = self.winding_from(other, corner, bounds);
            self.flood(corner);
        }
        for corner in 0..self.corners.len() {
            self.flood(self.corners[corner]);
        }
    }

    /// The winding numbers at the corners of cuts: along the sides of each they differ by what crosses them, and one
    /// corner of all that hang together tells the rest.
    fn spread_over_cuts(&mut self, other: &Solid<'_>, bounds: [DVec3; 2]) {
        let mut differences = Differences::new(self.corners.len());
        for Cut { corners: [a, b, c], jumps, .. } in &self.cuts {
            differences.set([*a, *b], jumps[0]);
            differences.set([*b, *c], jumps[1]);
        }
        let mut known = vec![UNKNOWN; self.corners.len()];
        for corner in 0..self.corners.len() {
            let (root, difference) = differences.root_of(corner as u32);
            if known[root as usize] == UNKNOWN {
                known[root as usize] = self.winding_from(other, self.corners[root as usize], bounds);
            }
            self.at[self.corners[corner] as usize].winding = known[root as usize] + difference;
        }
        for cut in &self.cuts {
            for side in (0..3).filter(|&side| cut.passes[side] != 0) {
                let (Edge { ends: [from, to], .. }, _) = self.edge(cut, side);
                if self.winding(from) == self.winding(to) {
                    self.recrossed.push([from, to]);
                }
            }
        }
        self.recrossed.sort_unstable();
    }

    /// From a vertex, if it is known to be inside, over all edges that nothing crosses.
    fn flood(&mut self, start: u32) {
        let winding = self.at[start as usize].winding;
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
                    for (next, vertices) in clusters.beside(cluster) {
                        if self.is_crossed[next as usize] {
                            vertices.iter().for_each(|&v| self.reach_vertex(v, winding, patch, &mut stack));
                        } else {
                            self.reach_cluster(next, patch, &mut stack);
                        }
                    }
                    continue;
                }
                Reached::Vertex(v) => v,
            };
            for &next in clusters.links(v) {
                let AtVertex { winding: known, patch: own } = self.at[next as usize];
                // Only edges between corners of cuts may be crossed.
                let may_reach = known == UNKNOWN || known == winding && !self.is_recrossed([v, next]);
                if own == NONE && may_reach {
                    self.reach(next, winding, patch, &mut stack);
                }
            }
        }
    }

    /// Whether something crosses the edge between two corners of cuts with the same winding number.
    #[inline]
    fn is_recrossed(&self, [from, to]: [u32; 2]) -> bool {
        !self.recrossed.is_empty() && self.recrossed.binary_search(&[from.min(to), from.max(to)]).is_ok()
    }

    #[inline]
    fn reach(&mut self, welded: u32, winding: i32, patch: u32, stack: &mut Vec<Reached>) {
        let cluster = self.clusters.of_vertex(welded);
        if self.is_crossed[cluster as usize] {
            self.reach_vertex(welded, winding, patch, stack);
        } else {
            self.reach_cluster(cluster, patch, stack);
        }
    }

    #[inline]
    fn reach_cluster(&mut self, cluster: u32, patch: u32, stack: &mut Vec<Reached>) {
        let own = &mut self.cluster_patch[cluster as usize];
        if *own == NONE {
            *own = patch;
            self.visited += 1;
            stack.push(Reached::Cluster(cluster));
        }
    }

    #[inline]
    fn reach_vertex(&mut self, welded: u32, winding: i32, patch: u32, stack: &mut Vec<Reached>) {
        let own = &mut self.at[welded as usize];
        if own.patch == NONE {
            *own = AtVertex { winding, patch };
            self.visited += 1;
            stack.push(Reached::Vertex(welded));
        }
    }

    /// The winding number of the other body at a vertex, by a segment to a point outside of its box.
    fn winding_from(&self, other: &Solid<'_>, welded: u32, [low, high]: [DVec3; 2]) -> i32 {
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
