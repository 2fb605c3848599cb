//! The health of a mesh: every count of its topology, its mass, its self-intersections, and what is wrong
//! with it in words.

use glam::DVec3;

use crate::contact::{Finish, Outcome, Verdict};
use crate::geom::triangle_triangle::has_area;
use crate::model::{Fact, Model};
use crate::narrow::exact::self_intersection::{SelfCount, SelfIntersectionSearch, count_self_intersections};
use crate::num::parallel;
use crate::shape::Topology;
use crate::shape::mass::{Mass, Solid};
use crate::{Budget, Mesh};

/// Triangles that one thread takes at a time.
const CHUNK: usize = 1 << 14;

/// What is known of a mesh at rest; counts are of the welded surface unless they name the file.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Inspection {
    /// Vertices of the file.
    pub vertices: usize,
    /// Distinct positions among them.
    pub welded_vertices: usize,
    /// Distinct positions that a triangle uses.
    pub used_vertices: usize,
    /// Triangles of the file.
    pub triangles: usize,
    /// Parts that hang together through shared corners.
    pub components: usize,
    /// Whether every edge is used as often in one direction as in the other: there is an inside.
    pub closed: bool,
    /// Whether every edge has exactly two triangles, in opposite directions.
    pub watertight: bool,
    /// Edges of one triangle.
    pub boundary_edges: usize,
    /// Edges of more than two triangles.
    pub nonmanifold_edges: usize,
    /// Vertices whose triangles are not one fan or disk.
    pub nonmanifold_vertices: usize,
    /// Edges of two triangles that both use it in the same direction.
    pub misoriented_edges: usize,
    /// Triangles whose area is exactly zero.
    pub degenerate_triangles: usize,
    /// Surplus copies of triangles, whatever their orientation.
    pub duplicate_triangles: usize,
    /// Pairs of triangles in which the surface meets itself; those found so far if the budget ended.
    pub self_intersections: u64,
    /// Vertices − edges + triangles.
    pub euler: i64,
    /// The area of all triangles.
    pub area: f64,
    /// The signed volume; for an open surface that of the cone over it from the mean of its vertices.
    pub volume: f64,
    /// Centre of mass and inertia of a closed surface.
    pub solid: Option<Solid>,
    /// The smallest and largest coordinates of all triangles.
    pub bounds: [DVec3; 2],
    /// What is wrong, in sentences; empty for a sound solid.
    pub problems: Vec<String>,
    /// Certainty, end and cost.
    pub outcome: Outcome,
}

/// Looks at everything, with a budget for the self-intersections; all else is always complete.
pub fn inspect(model: &Model, budget: &mut Budget) -> Inspection {
    let meetings = if budget.is_unlimited() {
        count_self_intersections(model)
    } else {
        SelfIntersectionSearch::counting(model).advance(budget)
    };
    gather(model, meetings)
}

/// Units for each triangle that is looked at but for self-intersections.
const UNITS_PER_TRIANGLE: u64 = 8;

/// Looks at everything as far as the budget goes; what it found so far lacks none but self-intersections.
pub fn inspect_within(model: &Model, budget: &mut Budget) -> Verdict<Inspection> {
    let facts = [Fact::Topology, Fact::Tree];
    let units = UNITS_PER_TRIANGLE * model.mesh().triangles().len() as u64;
    if !facts.iter().all(|&fact| model.prepare(fact, budget)) || !budget.charge_all(units) {
        return Verdict::out_of_budget();
    }
    let mut search = SelfIntersectionSearch::counting(model);
    let mut meetings = search.advance(&mut Budget::units(0));
    let mut seen = gather(model, meetings);
    loop {
        meetings = search.advance(budget);
        seen = gather_again(seen, model, meetings);
        let told = || Verdict::by_finish(seen.clone(), seen.outcome);
        if meetings.outcome.finish != Finish::OutOfBudget || !budget.rest(told) {
            return told();
        }
    }
}

/// The same with other self-intersections.
fn gather_again(seen: Inspection, model: &Model, meetings: SelfCount) -> Inspection {
    let known = seen.outcome.work == meetings.outcome.work && seen.outcome.finish == meetings.outcome.finish;
    if known || seen.self_intersections == 0 && meetings.count == 0 {
        return Inspection { outcome: meetings.outcome, ..seen };
    }
    let mut seen = Inspection { self_intersections: meetings.count, outcome: meetings.outcome, ..seen };
    let degenerate =
        if seen.degenerate_triangles > 0 { degenerate_triangles(model.mesh()) } else { Vec::new() };
    seen.problems = problems(&seen, model.topology(), &degenerate, &meetings);
    seen
}

fn gather(model: &Model, meetings: SelfCount) -> Inspection {
    let (mesh, topology) = (model.mesh(), model.topology());
    let census = topology.census();
    let mass = Mass::of(mesh, topology);
    let degenerate = degenerate_triangles(mesh);
    let mut inspection = Inspection {
        vertices: mesh.vertices().len(),
        welded_vertices: topology.weld().count(),
        used_vertices: (0..topology.weld().count() as u32)
            .filter(|&v| !topology.around(v).is_empty())
            .count(),
        triangles: mesh.triangles().len(),
        components: topology.components().len(),
        closed: topology.is_closed(),
        watertight: topology.is_watertight(),
        boundary_edges: census.boundary_edges,
        nonmanifold_edges: census.nonmanifold_edges,
        nonmanifold_vertices: census.nonmanifold_vertices,
        misoriented_edges: census.misoriented_edges,
        degenerate_triangles: degenerate.len(),
        duplicate_triangles: census.duplicate_triangles,
        self_intersections: meetings.count,
        euler: topology.euler(),
        area: mass.area,
        volume: mass.volume,
        solid: mass.solid,
        bounds: bounds(mesh),
        problems: Vec::new(),
        outcome: meetings.outcome,
    };
    inspection.problems = problems(&inspection, topology, &degenerate, &meetings);
    inspection
}

fn degenerate_triangles(mesh: &Mesh) -> Vec<u32> {
    let numbers: Vec<u32> = (0..mesh.triangles().len() as u32).collect();
    parallel::reduce_chunks(
        &numbers,
        CHUNK,
        |chunk| chunk.iter().copied().filter(|&t| !has_area(&mesh.corners(t))).collect::<Vec<u32>>(),
        |all, more| [all, more].concat(),
    )
}

fn bounds(mesh: &Mesh) -> [DVec3; 2] {
    let corners = mesh.triangles().as_flattened().iter().map(|&v| mesh.vertices()[v as usize]);
    corners.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], p| [low.min(p), high.max(p)])
}

/// One sentence for each thing that is wrong, naming the first culprit by the file's indices.
fn problems(seen: &Inspection, topology: &Topology, degenerate: &[u32], meetings: &SelfCount) -> Vec<String> {
    let ends = |edge: Option<u32>| {
        let [a, b] = edge.map_or([0; 2], |e| topology.edges()[e as usize].map(|v| topology.weld().first(v)));
        format!("the first between vertices {} and {}", a.min(b), a.max(b))
    };
    let mut said = Vec::new();
    let mut say = |count: usize, one: &str, many: &str, rest: String| {
        if count > 0 {
            said.push(format!("{count} {}{rest}", if count == 1 { one } else { many }));
        }
    };
    say(
        seen.boundary_edges,
        "edge belongs to one triangle only",
        "edges belong to one triangle only",
        format!(", {}: the surface has a border.", ends(topology.boundary_edges().next())),
    );
    say(
        seen.nonmanifold_edges,
        "edge has more than two triangles",
        "edges have more than two triangles",
        format!(", {}.", ends(topology.nonmanifold_edges().next())),
    );
    say(
        seen.misoriented_edges,
        "edge is used in the same direction by both its triangles",
        "edges are used in the same direction by both their triangles",
        format!(", {}: neighbours face opposite ways.", ends(topology.misoriented_edges().next())),
    );
    say(
        seen.nonmanifold_vertices,
        "vertex joins parts that share no edge there, or an edge of too many triangles.",
        "vertices join parts that share no edge there, or an edge of too many triangles.",
        String::new(),
    );
    say(
        degenerate.len(),
        "triangle has no area",
        "triangles have no area",
        format!(", the first is {}.", degenerate.first().unwrap_or(&0)),
    );
    say(
        seen.duplicate_triangles,
        "triangle repeats the corners of an earlier one.",
        "triangles repeat the corners of earlier ones.",
        String::new(),
    );
    let [i, j] = meetings.first.unwrap_or_default();
    let so_far = if meetings.outcome.finish == Finish::Complete { "" } else { " were found so far" };
    say(
        usize::try_from(meetings.count).unwrap_or(usize::MAX),
        "pair of triangles intersects",
        "pairs of triangles intersect",
        format!("{so_far}, the first is {i} and {j}."),
    );
    say(
        seen.welded_vertices - seen.used_vertices,
        "position is used by no triangle.",
        "positions are used by no triangle.",
        String::new(),
    );
    if seen.closed && seen.volume < 0.0 {
        said.push("The volume is negative: the triangles face inward.".into());
    }
    if !seen.closed {
        let open = topology.open_components();
        said.push(if open < seen.components {
            format!(
                "The surface is not closed, so it has no inside: {open} of {} connected parts open, and a mesh is \
                 a solid only as a whole.",
                seen.components
            )
        } else {
            "The surface is not closed, so it has no inside.".into()
        });
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    fn whole(mesh: Mesh) -> Inspection {
        inspect(&Model::from(mesh), &mut Budget::UNLIMITED.clone())
    }

    #[test]
    fn a_sound_solid_has_no_problems() {
        let seen = whole(procedural::torus(2.0, 0.5, 40, 20).unwrap());
        assert_eq!(seen.problems, [""; 0]);
        assert!(seen.watertight && seen.closed);
        assert_eq!((seen.euler, seen.components, seen.triangles), (0, 1, 1600));
        assert_eq!(seen.bounds[1].z, 0.5);
    }

    #[test]
    fn every_problem_is_said_with_its_culprit() {
        // An open corner with a copy, a needle, a far vertex and a triangle through it all.
        let points = vec![
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [9.0, 9.0, 9.0],
            [-1.0, -1.0, 0.2],
            [1.0, -1.0, 0.2],
            [0.2, 1.0, 0.2],
        ];
        let triangles = vec![[0, 1, 3], [0, 3, 2], [3, 0, 1], [1, 1, 2], [5, 6, 7]];
        let mesh = Mesh::new(points, triangles).unwrap();
        let seen = whole(mesh);
        let all = seen.problems.join("\n");
        for part in [
            "edges belong to one triangle only, the first between vertices 0 and 2",
            "1 edge has more than two triangles, the first between vertices 0 and 3.",
            "1 triangle has no area, the first is 3.",
            "1 triangle repeats",
            "pairs of triangles intersect, the first is 0 and 4.",
            "1 position is used by no triangle.",
            "not closed",
        ] {
            assert!(all.contains(part), "{part:?} is not in:\n{all}");
        }
    }

    #[test]
    fn inward_and_flipped_are_told_apart() {
        let ball = procedural::octahedron(1.0).unwrap();
        let turned = |which: std::ops::Range<usize>| {
            let mut triangles = ball.triangles().to_vec();
            triangles[which].iter_mut().for_each(|t| t.swap(0, 1));
            whole(Mesh::from_points(ball.vertices().to_vec(), triangles).unwrap()).problems
        };
        assert_eq!(turned(0..8), ["The volume is negative: the triangles face inward."]);
        let flipped = turned(0..1).join(" ");
        assert!(flipped.contains("3 edges are used in the same direction"), "{flipped}");
    }

    #[test]
    fn a_budget_leaves_a_lower_bound() {
        let rings =
            [procedural::torus(1.0, 0.3, 40, 20).unwrap(), procedural::torus(1.1, 0.25, 40, 20).unwrap()];
        let model = Model::from(procedural::join(&rings).unwrap());
        let [all, some] =
            [Budget::UNLIMITED, Budget::units(40_000)].map(|mut budget| inspect(&model, &mut budget));
        assert_eq!(some.outcome.finish, Finish::OutOfBudget);
        assert!(some.self_intersections < all.self_intersections);
        assert_eq!(inspect(&model, &mut Budget::units(u64::MAX / 2)).problems, all.problems);
    }
}
