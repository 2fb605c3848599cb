//! How a closed mesh bounds its solid, which is where its winding number is not 0; found once for a mesh.
//!
//! Where the winding number is 0 and 1 alone (or 0 and −1), it tells the points of the solid, and integrals with it are
//! those over the solid. Parts that are turned inside out, nested the same way or there twice give other numbers. As
//! long as the surface does not pass through itself, both sides of each of its pieces have one winding number, and the
//! piece bounds the solid outwards, inwards or not at all. Then the pieces that do, all turned outwards, are a surface
//! of the same solid which winds around it once.
//!
//! A piece is what hangs together over edges of two triangles, copies of a triangle taken as one. Triangles that meet
//! others of the mesh, as the self-intersections list them, are pieces of their own and are looked at cell by cell:
//! parts that only touch wind around no place twice. Where cells of one triangle differ, no surface of these triangles
//! bounds the solid once.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use super::cell_classification::corner_set;
use super::outward::{corner_place, windings_beside};
use super::perturbed_point::PerturbedPoint;
use super::placed_mesh::PlacedMesh;
use super::self_intersection::{self_intersections, self_intersections_within};
use super::triangle_arrangement::for_each_cell;
use crate::contact::Volume;
use crate::model::{Fact, Model};
use crate::num::disjoint_sets::DisjointSets;
use crate::num::parallel::once;
use crate::shape::Topology;
use crate::shape::topology::Side;
use crate::{Budget, Mesh, Pose};

/// Why the exact volume refuses a mesh.
pub(crate) const OVERLAPS: &str = "the mesh overlaps itself: its surface passes through itself and winds around some \
     places more than once or both ways, so no part of it bounds the solid; the method image measures such volumes";

/// Triangles at an edge that are told by their numbers.
const TOLD: usize = 6;

/// Why a mesh that is not closed bounds no solid: an edge whose triangles do not cancel, by the numbers of the mesh.
pub(crate) fn why_not_closed(model: &Model) -> String {
    let (mesh, topology) = (model.mesh(), model.topology());
    let unbalanced = topology.census().unbalanced_edges;
    let Some(edge) = topology.boundary_edges().chain(topology.unbalanced_edges()).next() else {
        return String::new();
    };
    let sides = topology.sides(edge);
    let Side { triangle: first, corner } = sides[0];
    let corner_of = |k: usize| mesh.triangles()[first as usize][(usize::from(corner) + k) % 3];
    let edge = format!("its edge between vertices {} and {}", corner_of(0), corner_of(1));
    let others = match unbalanced.saturating_sub(1) {
        0 => String::new(),
        1 => " (and 1 more edge is wrong)".into(),
        others => format!(" (and {others} more edges are wrong)"),
    };
    if sides.len() == 1 {
        return format!("the mesh is open and bounds no solid: {edge} has one triangle, {first}{others}");
    }
    let told = &sides[..sides.len().min(TOLD)];
    let names: Vec<String> = told.iter().map(|side| side.triangle.to_string()).collect();
    let more = if told.len() < sides.len() { " and others" } else { "" };
    let forward = sides.iter().filter(|&&side| topology.ends(side) == topology.ends(sides[0])).count();
    let corners = |side: &Side| corner_set(topology, side.triangle);
    let pairs = (0..told.len()).flat_map(|j| (0..j).map(move |i| [i, j].map(|n| &told[n])));
    let copy = pairs.into_iter().find(|[one, other]| corners(one) == corners(other));
    let copy = copy
        .map_or(String::new(), |[one, other]| format!("; {} is a copy of {}", other.triangle, one.triangle));
    format!(
        "the mesh is not closed and bounds no solid: {edge} has {} triangles, {}{more}, of which {forward} run along it one way \
         and {} the other{copy}{others}",
        sides.len(),
        names.join(", "),
        sides.len() - forward,
    )
}

/// How a closed mesh bounds its solid.
#[derive(Debug)]
pub(crate) enum SolidSurface {
    /// Its winding number is 0 and 1, or 0 and −1.
    Simple,
    /// Other triangles on its vertices bound the same solid once.
    Cleaned(Box<Cleaned>),
    /// It overlaps itself: no triangles on its vertices are known to bound the solid once.
    Overlapping,
}

/// A surface on the vertices of a mesh that bounds the same solid once, all triangles facing outwards.
#[derive(Debug)]
pub(crate) struct Cleaned {
    model: Model,
    /// The triangle of the mesh that each of these is, and whether it is turned over.
    origins: Vec<(u32, bool)>,
}

/// What was found out, kept with the model.
#[derive(Default)]
struct Known(OnceLock<Arc<SolidSurface>>);

impl SolidSurface {
    /// That of a closed mesh, found at the first call; `None` when the budget ends first.
    pub fn of(model: &Model, budget: &mut Budget) -> Option<Arc<SolidSurface>> {
        let known = model.attached(0, &mut Budget::UNLIMITED.clone(), |_| Known::default())?;
        if let Some(found) = known.0.get() {
            return Some(found.clone());
        }
        if budget.is_unlimited() {
            // An unlimited budget does not end.
            let find =
                || Arc::new(find(model, &mut Budget::UNLIMITED.clone()).unwrap_or(SolidSurface::Overlapping));
            return Some(once(&known.0, find).clone());
        }
        if budget.is_trial() {
            return None;
        }
        let found = Arc::new(find(model, budget)?);
        Some(known.0.get_or_init(|| found).clone())
    }

    /// Whether a mesh is known to overlap itself.
    pub fn is_known_to_overlap(model: &Model) -> bool {
        let known = model.known::<Known>();
        known.is_some_and(|known| matches!(known.0.get().map(Arc::as_ref), Some(SolidSurface::Overlapping)))
    }

    /// The mesh to integrate over in place of this one, ready for it as far as the budget goes: outer `None` when it
    /// ends, inner `None` where the mesh will do itself.
    pub fn instead(&self, budget: &mut Budget) -> Option<Option<&Model>> {
        let SolidSurface::Cleaned(cleaned) = self else { return Some(None) };
        let ready =
            [Fact::Topology, Fact::DiscBounds].iter().all(|&fact| cleaned.model.prepare(fact, budget));
        ready.then_some(Some(&cleaned.model))
    }

    /// Names the triangles of body k in a volume as the mesh itself does.
    pub fn rename(&self, k: usize, volume: &mut Volume) {
        let SolidSurface::Cleaned(cleaned) = self else { return };
        for sample in volume.samples.iter_mut().filter(|sample| sample.body == k) {
            let origin = sample.triangle.and_then(|t| cleaned.origins.get(t as usize));
            if let Some((triangle, turned)) = origin {
                sample.triangle = Some(*triangle);
                if *turned {
                    sample.barycentric.swap(1, 2);
                }
            }
        }
    }
}

/// Finds out; `None` when the budget ends first.
fn find(model: &Model, budget: &mut Budget) -> Option<SolidSurface> {
    let mut pieces = Pieces::examined(model, budget)?;
    if pieces.seen.is_simple() {
        return Some(SolidSurface::Simple);
    }
    if pieces.is_mixed {
        return Some(SolidSurface::Overlapping);
    }
    let triangles = model.mesh().triangles().len() as u64;
    if !budget.charge_all(Fact::Topology.units_per_triangle() * triangles) {
        return None;
    }
    let Some(cleaned) = pieces.cleaned(model.mesh()) else { return Some(SolidSurface::Overlapping) };
    // Two triangles that overlap in one plane both bound what only one of them should.
    let is_once =
        !pieces.is_met.contains(&true) || Pieces::examined(&cleaned.model, budget)?.seen.is_simple();
    Some(if is_once { SolidSurface::Cleaned(Box::new(cleaned)) } else { SolidSurface::Overlapping })
}

/// Which winding numbers there are.
#[derive(Debug, Clone, Copy, Default)]
struct Windings {
    positive: bool,
    negative: bool,
    /// Beyond 1 or −1.
    several: bool,
}

impl Windings {
    fn note(&mut self, winding: i32) {
        self.positive |= winding > 0;
        self.negative |= winding < 0;
        self.several |= winding.abs() > 1;
    }

    /// Whether they are 0 and 1, or 0 and −1.
    fn is_simple(&self) -> bool {
        !(self.several || self.positive && self.negative)
    }
}

/// The pieces of a surface.
struct Pieces {
    sets: DisjointSets,
    /// The first of the triangles with the same corners.
    first: Vec<u32>,
    /// How often a first triangle is there its own way round, less how often the other way.
    times: Vec<i32>,
    /// Whether a first triangle meets others beyond what neighbours share.
    is_met: Vec<bool>,
    /// What each piece is to the solid, at its smallest triangle; `None` before a triangle with an area was seen.
    bounds: Vec<Option<i32>>,
    /// Whether cells of one triangle differ in what they are to the solid.
    is_mixed: bool,
    /// The winding numbers of all places looked at.
    seen: Windings,
}

impl Pieces {
    /// Those of a mesh with all their windings, or enough of them to know that it overlaps itself; `None` when the
    /// budget ends first.
    fn examined(model: &Model, budget: &mut Budget) -> Option<Pieces> {
        if ![Fact::Tree, Fact::Topology].iter().all(|&fact| model.prepare(fact, budget)) {
            return None;
        }
        let meetings = if budget.is_unlimited() {
            self_intersections(model).0
        } else {
            budget.silently(|budget| self_intersections_within(model, budget)).value?
        };
        let triangles = model.mesh().triangles().len() as u32;
        if !budget.charge_all(triangles.into()) {
            return None;
        }
        let mut pieces = Pieces::of(model.topology(), &meetings);
        let body = PlacedMesh::new(model, &Pose::IDENTITY);
        for t in 0..triangles {
            if !pieces.look(&body, t, budget)? {
                break;
            }
        }
        Some(pieces)
    }

    fn of(topology: &Topology, meetings: &[[u32; 2]]) -> Pieces {
        let corners = topology.triangles();
        let count = corners.len();
        let (mut first, mut times): (Vec<u32>, _) = ((0..count as u32).collect(), vec![1; count]);
        if topology.census().duplicate_triangles > 0 {
            let mut sorted: Vec<([u32; 3], u32)> =
                (0..count as u32).map(|t| (corner_set(topology, t), t)).collect();
            sorted.sort_unstable();
            for copies in sorted.chunk_by(|x, y| x.0 == y.0).filter(|copies| copies.len() > 1) {
                let own = copies[0].1;
                let turns = |t: u32| is_same_way(corners[own as usize], corners[t as usize]);
                times[own as usize] = copies.iter().map(|&(_, t)| if turns(t) { 1 } else { -1 }).sum();
                copies.iter().for_each(|&(_, t)| first[t as usize] = own);
            }
        }
        let mut is_met = vec![false; count];
        for &t in meetings.iter().flatten() {
            is_met[first[t as usize] as usize] = true;
        }
        let mut sets = DisjointSets::new(count);
        for edge in 0..topology.edges().len() as u32 {
            let sides = topology.sides(edge);
            let own = |k: usize| first[sides[k].triangle as usize];
            let [one, other] = [own(0), (1..sides.len()).map(own).find(|t| *t != own(0)).unwrap_or(own(0))];
            let are_two = (0..sides.len()).all(|k| own(k) == one || own(k) == other);
            if are_two && !is_met[one as usize] && !is_met[other as usize] {
                sets.join(one as usize, other as usize);
            }
        }
        Pieces {
            sets,
            first,
            times,
            is_met,
            bounds: vec![None; count],
            is_mixed: false,
            seen: Windings::default(),
        }
    }

    /// Looks at the windings on both sides of a triangle whose piece was not seen yet. False where the mesh is known to
    /// overlap itself, `None` when the budget ends.
    fn look(&mut self, body: &PlacedMesh<'_>, t: u32, budget: &mut Budget) -> Option<bool> {
        let at = t as usize;
        let root = self.sets.root(at);
        if self.first[at] != t || self.bounds[root].is_some() {
            return Some(true);
        }
        let face = body.corners(t);
        let Some(place) = corner_place(&face) else { return Some(true) };
        let way = self.times[at].signum();
        let mut is_within = true;
        let mut visit = |place: &PerturbedPoint| {
            let (windings, tests) = windings_beside(body, &face, place);
            is_within = budget.charge_all(tests);
            windings.into_iter().for_each(|winding| self.seen.note(winding));
            let [front, back] = windings.map(|winding| i32::from(winding != 0));
            // Of one copy as it is: of all of them together, once.
            let own = way * (back - front);
            self.is_mixed |= self.bounds[root].replace(own).is_some_and(|before| before != own);
            let is_lost = self.is_mixed && !self.seen.is_simple();
            if is_within && !is_lost { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let flow = if self.is_met[at] {
            let mut cutters = Vec::new();
            body.for_each_meeting(t, &face, |other| cutters.push(other));
            for_each_cell(&face, &cutters, visit)
        } else {
            visit(&place)
        };
        is_within.then_some(flow.is_continue())
    }

    /// The triangles that bound the solid, facing outwards; `None` where they are not closed, which triangles without
    /// area may bring about.
    fn cleaned(&mut self, mesh: &Mesh) -> Option<Cleaned> {
        let (mut triangles, mut origins) = (Vec::new(), Vec::new());
        for (t, &[a, b, c]) in mesh.triangles().iter().enumerate() {
            if self.first[t] as usize != t {
                continue;
            }
            let own = self.times[t].signum() * self.bounds[self.sets.root(t)].unwrap_or(0);
            if own != 0 {
                triangles.push(if own > 0 { [a, b, c] } else { [a, c, b] });
                origins.push((t as u32, own < 0));
            }
        }
        let model = Model::from(Mesh::from_points(mesh.vertices().to_vec(), triangles).ok()?);
        model.topology().is_closed().then_some(Cleaned { model, origins })
    }
}

/// Whether two orders of the same three corners go round the same way.
fn is_same_way([a, b, c]: [u32; 3], other: [u32; 3]) -> bool {
    [[a, b, c], [b, c, a], [c, a, b]].contains(&other)
}
