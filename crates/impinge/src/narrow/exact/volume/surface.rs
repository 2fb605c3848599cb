//! One of the two surfaces: its cut triangles, the winding number of the other body at its vertices, and the patches
//! of it that lie inside.
//!
//! The winding number at one corner of a cut triangle comes from a segment to a point outside of the other body;
//! along edges it changes at the crossings alone (`patches`). Only groups of vertices with a corner of a cut triangle
//! know something of each vertex.

use std::ops::ControlFlow;
use std::sync::Arc;

use glam::DVec3;

use super::clusters::{Clusters, Lanes, MOST, Triangle, group_of, lane_of};
use super::cut::{Cut, PassedSides};
use super::edge_passes::EdgePass;
use super::numbered_set::NumberedSet;
use super::patches::Patches;
use super::perturbed_crossing::{Body, Face, pass};
use crate::model::Model;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::shape::Topology;
use crate::simd::prefetch;
use crate::{Budget, Pose};

/// Stands for a triangle that is not cut, a vertex in no patch, a group that is not crossed.
pub const NONE: u32 = u32::MAX;

/// A winding number that is not known yet.
pub const UNKNOWN: i32 = i32::MIN;

/// How many steps ahead memory is asked for that is read here and there.
pub const AHEAD: usize = 8;

/// A placed surface between the other body's inside and outside.
pub struct Surface<'m> {
    pub body: Body,
    pub placed: PlacedMesh<'m>,
    pub topology: &'m Topology,
    /// Whether its triangles face inwards, so that two corners are exchanged.
    inverted: bool,
    /// By the places of their triangles among those by group.
    pub cuts: Arc<Vec<Cut>>,
    /// What passes along the sides of each.
    pub passed: Vec<PassedSides>,
    /// Which triangles are cut, by the same places.
    is_cut: NumberedSet,
    pub crossed: CrossedClusters,
    /// The other body's winding number on each patch.
    pub patches: Vec<i32>,
    pub clusters: Arc<Clusters>,
    /// The patch of each group that is inside and not crossed.
    pub cluster_patch: Vec<u32>,
    /// How many groups and single vertices lie inside.
    visited: usize,
}

/// The groups with a corner of a cut triangle, and what is known at each of their vertices. A vertex of them has a place:
/// the number of its group among them times `MOST`, plus its lane.
pub struct CrossedClusters {
    /// The number of each group among them.
    slot_of: Vec<u32>,
    pub all: Vec<CrossedCluster>,
    /// By place.
    pub at: Vec<AtVertex>,
}

/// A group with a corner of a cut triangle.
#[derive(Debug, Clone, Copy)]
pub struct CrossedCluster {
    pub cluster: u32,
    /// The corners of cuts.
    pub corners: Lanes,
}

/// What is known at a vertex of a crossed group.
#[derive(Debug, Clone, Copy)]
pub struct AtVertex {
    /// The other body's winding number, where it is known.
    pub winding: i32,
    /// The patch of a vertex that is inside.
    pub patch: u32,
}

impl CrossedClusters {
    /// Whether a group is crossed.
    #[inline]
    pub fn has(&self, cluster: u32) -> bool {
        self.slot_of[cluster as usize] != NONE
    }

    /// The place of a vertex, if its group is crossed.
    #[inline]
    pub fn place(&self, vertex: u32) -> Option<u32> {
        let slot = self.slot_of[group_of(vertex) as usize];
        (slot != NONE).then(|| slot * MOST as u32 + lane_of(vertex))
    }

    /// The place of a corner of a cut triangle; its group is crossed from now on.
    #[inline]
    fn place_corner(&mut self, vertex: u32) -> u32 {
        let (cluster, lane) = (group_of(vertex), lane_of(vertex));
        let slot = &mut self.slot_of[cluster as usize];
        if *slot == NONE {
            *slot = self.all.len() as u32;
            self.all.push(CrossedCluster { cluster, corners: 0 });
            self.at.extend([AtVertex { winding: UNKNOWN, patch: NONE }; MOST]);
        }
        self.all[*slot as usize].corners |= 1 << lane;
        *slot * MOST as u32 + lane
    }

    /// The vertex at a place.
    #[inline]
    pub fn vertex(&self, place: u32) -> u32 {
        self.all[group_of(place) as usize].cluster * MOST as u32 + lane_of(place)
    }

    /// Whether a corner of a cut triangle is at a place.
    #[inline]
    pub fn is_corner(&self, place: u32) -> bool {
        self.all[group_of(place) as usize].corners >> lane_of(place) & 1 != 0
    }

    /// The places of the vertices inside of a crossed group, with their patches.
    pub fn inside(&self, slot: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let first = slot * MOST;
        let places = (first as u32..).zip(&self.at[first..first + MOST]);
        places.map(|(place, at)| (place, at.patch)).filter(|(_, patch)| *patch != NONE)
    }
}

/// A placed body as the other one sees it.
#[derive(Debug, Clone, Copy)]
pub struct Solid<'m> {
    placed: PlacedMesh<'m>,
    inverted: bool,
}

impl Solid<'_> {
    /// A box around it.
    pub fn bounds(&self) -> [DVec3; 2] {
        self.placed.bounds()
    }

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
        let crossed =
            CrossedClusters { slot_of: vec![NONE; clusters.len()], all: Vec::new(), at: Vec::new() };
        Surface {
            body,
            placed: PlacedMesh::new(model, pose),
            topology,
            inverted,
            cuts: Arc::default(),
            passed: Vec::new(),
            is_cut: NumberedSet::new(topology.triangles().len()),
            crossed,
            patches: Vec::new(),
            cluster_patch: vec![NONE; clusters.len()],
            clusters,
            visited: 0,
        }
    }

    /// Cuts triangles, which may be named several times; the cut of each.
    pub fn cut_all(&mut self, triangles: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut cuts: Vec<u32> = triangles.map(|triangle| self.clusters.rank_of(triangle)).collect();
        let mut is_cut = std::mem::take(&mut self.is_cut);
        cuts.iter().for_each(|&rank| is_cut.insert(rank));
        let mut ranks = Vec::with_capacity(is_cut.count());
        ranks.extend(is_cut.members());
        let mut found = Vec::with_capacity(ranks.len());
        for (n, &rank) in ranks.iter().enumerate() {
            // The corners are known when the triangle is there.
            if let Some(&later) = ranks.get(n + AHEAD) {
                self.clusters.expect_triangle(later);
            }
            if let Some(&next) = ranks.get(n + AHEAD / 2) {
                let corners = self.clusters.triangle(next).corners;
                corners.into_iter().for_each(|v| self.clusters.expect_position(v));
            }
            found.push(self.cut(rank));
        }
        self.cuts = Arc::new(found);
        cuts.iter_mut().for_each(|cut| *cut = is_cut.rank(*cut));
        self.is_cut = is_cut;
        cuts
    }

    /// Sides of its cuts pass through triangles of the other surface.
    pub fn pass_all(&mut self, meetings: &[[u32; 2]], passes: &[EdgePass]) {
        let k = self.body as usize;
        self.passed = vec![PassedSides::default(); self.cuts.len()];
        for pass in passes {
            self.passed[meetings[pass.pair as usize][k] as usize].pass(pass.side(), pass.inward());
        }
    }

    /// The vertices of a triangle by their numbers, facing outwards.
    #[inline]
    pub fn numbered(&self, triangle: u32) -> [u32; 3] {
        self.outwards(self.clusters.triangle(self.clusters.rank_of(triangle)).corners)
    }

    /// The corners of a triangle in the world, facing outwards.
    #[inline]
    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.numbered(triangle).map(|v| self.position(v))
    }

    /// The vertices of a triangle in the mesh, facing outwards.
    #[inline]
    pub fn vertices(&self, triangle: u32) -> [u32; 3] {
        self.outwards(self.placed.model.mesh().triangles()[triangle as usize])
    }

    /// The vertices of a triangle in the mesh are read soon.
    #[inline]
    pub fn expect_vertices(&self, triangle: u32) {
        prefetch(&self.placed.model.mesh().triangles()[triangle as usize]);
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

    /// Where a vertex is in the world, by its number.
    #[inline]
    pub fn position(&self, vertex: u32) -> DVec3 {
        self.placed.pose.apply(self.clusters.position(vertex))
    }

    /// Cuts the triangle at a place among those by group.
    fn cut(&mut self, rank: u32) -> Cut {
        let Triangle { corners, edges: [x, y, z], index } = *self.clusters.triangle(rank);
        let corners = self.outwards(corners);
        // Where two corners are exchanged, the sides come in the opposite order.
        let edges = if self.inverted { [z, y, x] } else { [x, y, z] };
        let face = Face::new(corners.map(|v| self.position(v)));
        let places = corners.map(|v| self.crossed.place_corner(v));
        Cut::new(index, places, edges, face)
    }

    /// The winding number of the other body at the place of a corner of a cut.
    #[inline]
    pub fn winding(&self, place: u32) -> i32 {
        self.crossed.at[place as usize].winding
    }

    /// The patch at a place, if it is inside.
    #[inline]
    pub fn patch(&self, place: u32) -> Option<u32> {
        Some(self.crossed.at[place as usize].patch).filter(|&patch| patch != NONE)
    }

    /// The patch of a vertex that is inside.
    pub fn patch_of_vertex(&self, vertex: u32) -> Option<u32> {
        let patch = match self.crossed.place(vertex) {
            Some(place) => self.crossed.at[place as usize].patch,
            None => self.cluster_patch[group_of(vertex) as usize],
        };
        Some(patch).filter(|&patch| patch != NONE)
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

    /// The other body's winding number at every vertex, by number, in the sign that areas of the mesh as it is need to
    /// face outwards; zero outside.
    pub fn windings(&self) -> Vec<i32> {
        let mut windings = vec![0; self.clusters.len() * MOST];
        let winding = |patch: u32| self.facing(self.patches[patch as usize]);
        for (cluster, patch) in self.whole_clusters() {
            windings[cluster as usize * MOST..][..MOST].fill(winding(patch));
        }
        for (slot, crossed) in self.crossed.all.iter().enumerate() {
            let first = crossed.cluster * MOST as u32;
            for (place, patch) in self.crossed.inside(slot) {
                windings[(first + lane_of(place)) as usize] = winding(patch);
            }
        }
        windings
    }

    /// Calls `each` with every vertex of the mesh that is inside, and the other body's winding number there in the sign of
    /// [`Surface::windings`].
    pub fn for_each_vertex_inside(&self, mut each: impl FnMut(u32, i32)) {
        let winding = |patch: u32| self.facing(self.patches[patch as usize]);
        for (cluster, patch) in self.whole_clusters() {
            let winding = winding(patch);
            self.clusters.vertices(cluster).iter().for_each(|&v| each(v, winding));
        }
        for (slot, crossed) in self.crossed.all.iter().enumerate() {
            let at = &self.crossed.at[slot * MOST..][..MOST];
            for &v in self.clusters.vertices(crossed.cluster) {
                let patch = at[lane_of(self.clusters.areas()[v as usize].number) as usize].patch;
                if patch != NONE {
                    each(v, winding(patch));
                }
            }
        }
    }

    /// The triangles inside that nothing crosses and whose first corner is in a crossed group, with
    /// their patches.
    pub fn single_triangles(&self, slot: usize) -> impl Iterator<Item = (&Triangle, u32)> + '_ {
        let at = &self.crossed.at[slot * MOST..][..MOST];
        self.clusters.triangles(self.crossed.all[slot].cluster).filter_map(move |rank| {
            let triangle = self.clusters.triangle(rank);
            let patch = at[lane_of(triangle.corners[0]) as usize].patch;
            (patch != NONE && !self.is_cut.contains(rank)).then_some((triangle, patch))
        })
    }

    /// The triangles inside that nothing crosses, with their patches.
    pub fn whole(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let in_clusters = self.whole_clusters().flat_map(move |(cluster, patch)| {
            self.clusters.triangles(cluster).map(move |rank| (self.clusters.triangle(rank).index, patch))
        });
        let single = (0..self.crossed.all.len()).flat_map(|slot| self.single_triangles(slot));
        in_clusters.chain(single.map(|(triangle, patch)| (triangle.index, patch)))
    }

    /// Finds the winding numbers at all corners of cut triangles and all vertices inside, and the patches.
    pub fn spread(&mut self, other: &Solid<'_>) {
        let Patches { windings, visited } = Patches::spread(self, other);
        (self.patches, self.visited) = (windings, visited);
    }

    /// The winding number of the other body at a vertex, by a segment to a point outside of its box.
    pub fn winding_from(&self, other: &Solid<'_>, vertex: u32, [low, high]: [DVec3; 2]) -> i32 {
        let p = self.position(vertex);
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
