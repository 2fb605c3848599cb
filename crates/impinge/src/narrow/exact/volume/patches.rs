//! The patches of a surface that lie inside of the other body, and its winding number on each.
//!
//! Along edges the winding number changes at the crossings alone. From the corners of cut triangles it spreads over
//! their groups of vertices, as pieces of each that hang together by edges that nothing crosses; from those inside over
//! the groups that nothing crosses, as wholes. So only what is inside or crossed is ever visited, and vertices one by
//! one, as bits, near the crossings alone.

use std::sync::Arc;

use glam::DVec3;

use super::clusters::{Clusters, Lanes, MOST, group_of};
use super::crossings::Edge;
use super::cut::{Cut, PassedSides};
use super::surface::{AHEAD, AtVertex, CrossedCluster, NONE, Solid, Surface, UNKNOWN};

/// What spreading over a surface found.
pub struct Patches {
    /// The other body's winding number on each patch.
    pub windings: Vec<i32>,
    /// How many groups and single vertices lie inside.
    pub visited: usize,
}

/// Vertices of a crossed group that hang together within it.
#[derive(Debug, Clone, Copy)]
struct Piece {
    slot: u32,
    lanes: Lanes,
    /// Unknown where none of them is a corner of a cut.
    winding: i32,
    patch: u32,
}

/// What a patch still spreads from.
#[derive(Debug, Clone, Copy)]
enum Reached {
    Piece(u32),
    Cluster(u32),
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

impl Patches {
    /// Finds the winding numbers at all corners of cut triangles and all vertices inside, and the patches.
    pub fn spread(surface: &mut Surface<'_>, other: &Solid<'_>) -> Patches {
        let bounds = other.bounds();
        let recrossed = spread_over_cuts(surface, other, bounds);
        let clusters = Arc::clone(&surface.clusters);
        let pieces = pieces(surface, &clusters, &recrossed);
        let found = Patches { windings: Vec::new(), visited: 0 };
        let mut flood =
            Flood { surface, clusters: &clusters, recrossed: &recrossed, pieces, reached: Vec::new(), found };
        flood.uncut_components(other, bounds);
        for piece in 0..flood.pieces.len() as u32 {
            let Piece { winding, patch, .. } = flood.pieces[piece as usize];
            if winding != UNKNOWN && patch == NONE {
                flood.spread(Reached::Piece(piece), winding);
            }
        }
        flood.finish()
    }
}

/// The winding numbers at the corners of cuts: along the sides of each they differ by what crosses them, and one
/// corner of all that hang together tells the rest. Edges between corners that are crossed although the winding number
/// is the same at both ends, as places in ascending order.
fn spread_over_cuts(surface: &mut Surface<'_>, other: &Solid<'_>, bounds: [DVec3; 2]) -> Vec<[u32; 2]> {
    let places = surface.crossed.at.len();
    let mut differences = Differences::new(places);
    for (Cut { corners: [a, b, c], .. }, PassedSides { jumps, .. }) in
        surface.cuts.iter().zip(&surface.passed)
    {
        differences.set([*a, *b], jumps[0]);
        differences.set([*b, *c], jumps[1]);
    }
    let mut known = vec![UNKNOWN; places];
    for slot in 0..surface.crossed.all.len() {
        for lane in lanes(surface.crossed.all[slot].corners) {
            let place = slot * MOST + lane;
            let (root, difference) = differences.root_of(place as u32);
            if known[root as usize] == UNKNOWN {
                known[root as usize] = surface.winding_from(other, surface.crossed.vertex(root), bounds);
            }
            surface.crossed.at[place].winding = known[root as usize] + difference;
        }
    }
    let mut recrossed = Vec::new();
    for (cut, passed) in surface.cuts.iter().zip(&surface.passed) {
        for side in (0..3).filter(|&side| passed.passes[side] != 0) {
            let (Edge { ends: [from, to], .. }, _) = cut.edge(side);
            if surface.winding(from) == surface.winding(to) {
                recrossed.push([from, to]);
            }
        }
    }
    recrossed.sort_unstable();
    recrossed
}

/// The pieces of all crossed groups that are inside or whose winding number is not known; each vertex of theirs is told
/// its piece in place of a patch.
fn pieces(surface: &mut Surface<'_>, clusters: &Clusters, recrossed: &[[u32; 2]]) -> Vec<Piece> {
    let mut found = Vec::with_capacity(surface.crossed.all.len());
    for (slot, &CrossedCluster { cluster, corners }) in surface.crossed.all.iter().enumerate() {
        if let Some(later) = surface.crossed.all.get(slot + AHEAD) {
            clusters.expect(later.cluster);
        }
        let at = &mut surface.crossed.at[slot * MOST..][..MOST];
        let within = clusters.within(cluster);
        let mut left = members(clusters, cluster);
        let free = left & !corners;
        // Those with a corner of a cut come first, for it tells the winding number.
        while left != 0 {
            let known = left & corners;
            let start = if known != 0 { known } else { left }.trailing_zeros() as usize;
            let winding = at[start].winding;
            let alike = lanes(known).filter(|&lane| at[lane].winding == winding);
            let allowed = left & (free | as_set(alike));
            let passable = |from: usize, to: Lanes| {
                if recrossed.is_empty() || corners >> from & 1 == 0 {
                    return to;
                }
                let place = |lane: usize| (slot * MOST + lane) as u32;
                let closed =
                    lanes(to & corners).filter(|&to| is_recrossed(recrossed, [place(from), place(to)]));
                to & !as_set(closed)
            };
            let own = connected(start, allowed, within, passable);
            left &= !own;
            if winding != 0 {
                lanes(own).for_each(|lane| at[lane].patch = found.len() as u32);
                found.push(Piece { slot: slot as u32, lanes: own, winding, patch: NONE });
            }
        }
    }
    found
}

/// The lanes that hang together with one, among those that are allowed.
#[inline]
fn connected(
    start: usize,
    allowed: Lanes,
    within: &[Lanes; MOST],
    passable: impl Fn(usize, Lanes) -> Lanes,
) -> Lanes {
    let mut own: Lanes = 1 << start;
    let mut open = own;
    while open != 0 {
        let lane = open.trailing_zeros() as usize;
        let next = passable(lane, within[lane] & allowed & !own);
        own |= next;
        open = open & (open - 1) | next;
    }
    own
}

/// A patch that spreads.
struct Flood<'f, 'm> {
    surface: &'f mut Surface<'m>,
    clusters: &'f Clusters,
    recrossed: &'f [[u32; 2]],
    pieces: Vec<Piece>,
    /// The oldest first, so that it is known early where to go.
    reached: Vec<Reached>,
    found: Patches,
}

impl Flood<'_, '_> {
    /// Components that nothing crosses are inside or outside as a whole.
    fn uncut_components(&mut self, other: &Solid<'_>, bounds: [DVec3; 2]) {
        let topology = self.surface.topology;
        if topology.components().len() == 1 && !self.surface.cuts.is_empty() {
            return;
        }
        let mut is_cut = vec![false; topology.components().len()];
        for cut in self.surface.cuts.iter() {
            is_cut[topology.component_of()[cut.triangle as usize] as usize] = true;
        }
        for (component, _) in topology.components().iter().zip(is_cut).filter(|(_, is_cut)| !is_cut) {
            let corner = self.surface.numbered(component.first_triangle)[0];
            let winding = self.surface.winding_from(other, corner, bounds);
            if winding != 0 {
                self.spread(Reached::Cluster(group_of(corner)), winding);
            }
        }
    }

    /// A new patch from somewhere inside, over all edges that nothing crosses.
    fn spread(&mut self, start: Reached, winding: i32) {
        let patch = self.found.windings.len() as u32;
        self.found.windings.push(winding);
        match start {
            Reached::Piece(piece) => self.reach_piece(piece, patch),
            Reached::Cluster(cluster) => self.reach_cluster(cluster, patch),
        }
        let mut at = 0;
        while at < self.reached.len() {
            match self.reached.get(at + AHEAD / 2) {
                Some(Reached::Cluster(later)) => self.clusters.expect_beside(*later),
                Some(Reached::Piece(later)) => {
                    let slot = self.pieces[*later as usize].slot;
                    self.clusters.expect_links(self.surface.crossed.all[slot as usize].cluster);
                }
                None => {}
            }
            let reached = self.reached[at];
            at += 1;
            match reached {
                Reached::Piece(piece) => self.spread_from_piece(piece, winding, patch),
                Reached::Cluster(cluster) => {
                    for (next, vertices) in self.clusters.beside(cluster) {
                        if !self.surface.crossed.has(next) {
                            self.reach_cluster(next, patch);
                            continue;
                        }
                        for &v in vertices {
                            if let Some(next) = self.piece_at(v) {
                                self.reach_piece(next, patch);
                            }
                        }
                    }
                }
            }
        }
        self.reached.clear();
    }

    fn spread_from_piece(&mut self, piece: u32, winding: i32, patch: u32) {
        let Piece { slot, lanes, .. } = self.pieces[piece as usize];
        for link in self.clusters.links(self.surface.crossed.all[slot as usize].cluster) {
            if lanes >> link.lane & 1 == 0 {
                continue;
            }
            let Some(to) = self.surface.crossed.place(link.to) else {
                self.reach_cluster(group_of(link.to), patch);
                continue;
            };
            let next = self.surface.crossed.at[to as usize].patch;
            if next == NONE {
                continue;
            }
            // Only edges between corners of cuts may be crossed.
            let known = self.pieces[next as usize].winding;
            if known == UNKNOWN || known == winding && self.is_open([slot * MOST as u32 + link.lane, to]) {
                self.reach_piece(next, patch);
            }
        }
    }

    /// Whether nothing crosses the edge between two places with the same winding number.
    #[inline]
    fn is_open(&self, ends: [u32; 2]) -> bool {
        self.recrossed.is_empty()
            || !ends.iter().all(|&end| self.surface.crossed.is_corner(end))
            || !is_recrossed(self.recrossed, ends)
    }

    /// The piece that a vertex of a crossed group belongs to.
    #[inline]
    fn piece_at(&self, vertex: u32) -> Option<u32> {
        let place = self.surface.crossed.place(vertex)?;
        Some(self.surface.crossed.at[place as usize].patch).filter(|&piece| piece != NONE)
    }

    #[inline]
    fn reach_cluster(&mut self, cluster: u32, patch: u32) {
        let own = &mut self.surface.cluster_patch[cluster as usize];
        if *own == NONE {
            *own = patch;
            self.found.visited += 1;
            self.clusters.expect(cluster);
            self.reached.push(Reached::Cluster(cluster));
        }
    }

    #[inline]
    fn reach_piece(&mut self, piece: u32, patch: u32) {
        let own = &mut self.pieces[piece as usize];
        if own.patch == NONE {
            own.patch = patch;
            self.found.visited += own.lanes.count_ones() as usize;
            self.reached.push(Reached::Piece(piece));
        }
    }

    /// Tells the vertices of the pieces their patches; those that nothing reached lie outside.
    fn finish(self) -> Patches {
        for Piece { slot, lanes: own, patch, .. } in &self.pieces {
            let winding = self.found.windings.get(*patch as usize).copied().unwrap_or(0);
            for lane in lanes(*own) {
                self.surface.crossed.at[*slot as usize * MOST + lane] = AtVertex { winding, patch: *patch };
            }
        }
        self.found
    }
}

/// The vertices that a group has.
fn members(clusters: &Clusters, cluster: u32) -> Lanes {
    Lanes::MAX >> (MOST - clusters.members(cluster).len())
}

/// Whether something crosses the edge between two corners of cuts with the same winding number.
#[inline]
fn is_recrossed(recrossed: &[[u32; 2]], [from, to]: [u32; 2]) -> bool {
    recrossed.binary_search(&[from.min(to), from.max(to)]).is_ok()
}

/// Lanes as a set.
#[inline]
fn as_set(lanes: impl Iterator<Item = usize>) -> Lanes {
    lanes.fold(0, |set, lane| set | 1 << lane)
}

/// The lanes that are set, ascending.
#[inline]
fn lanes(mut set: Lanes) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lane < Lanes::BITS).then_some(lane as usize)
    })
}
