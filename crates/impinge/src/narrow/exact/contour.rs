//! The curves along which two placed surfaces cross, as polylines.
//!
//! Each pair of triangles that cross contributes a segment. Its ends are named by the open cells of both
//! surfaces that they lie on (a vertex, an edge or a face of each), which exact predicates decide; equal
//! names are equal points, so segments are chained without comparing coordinates. For closed surfaces in
//! general position every name is shared by two segments and the curves are closed loops. Where a surface
//! ends, or more than two segments share a point, a curve ends too.
//!
//! Coplanar pairs have a common area instead of a segment; the curve around it comes from the triangles
//! beside it.

use std::collections::HashMap;
use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::SmallVec;

use super::collide::{Candidate, Posed, SurfaceSearch};
use crate::contact::Verdict;
use crate::geom::crossing::{End, crossing};
use crate::geom::point_triangle::TriangleFeature;
use crate::model::Model;
use crate::shape::Topology;
use crate::shape::topology::Side;
use crate::{Budget, Certainty, Finish, Outcome, Pose};

/// A curve of straight segments in the world frame.
///
/// It runs along n_a × n_b: seen from outside a, with b's inside on its left.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Polyline {
    /// The points in order; a closed curve does not repeat its first.
    pub points: Vec<DVec3>,
    /// Whether the last point joins the first.
    pub closed: bool,
    /// The triangles of a and b that cross in each segment, the first from point 0 to point 1; as many as
    /// points for a closed curve, one less for an open one.
    pub pairs: Vec<[u32; 2]>,
}

impl Polyline {
    /// The length of all segments.
    pub fn length(&self) -> f64 {
        let next = self.points.iter().cycle().skip(1);
        self.points.iter().zip(next).take(self.pairs.len()).map(|(p, q)| p.distance(*q)).sum()
    }
}

/// The curves along which the surfaces cross; nothing is told of them before the search is complete.
pub fn contour(
    a: &Model,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    budget: &mut Budget,
) -> Verdict<Vec<Polyline>> {
    let mut segments = Vec::new();
    let mut search = SurfaceSearch::new(Posed::new(a, *pose_a), Posed::new(b, *pose_b));
    let mut finish = Finish::OutOfBudget;
    while finish == Finish::OutOfBudget {
        finish = search.advance(budget, |candidate| {
            segments.extend(Segment::of([a.topology(), b.topology()], candidate));
            ControlFlow::Continue(())
        });
        if finish == Finish::OutOfBudget && !budget.rest_silently() {
            break;
        }
    }
    let outcome = Outcome { certainty: Certainty::Exact, finish, work: search.work() };
    if finish == Finish::OutOfBudget {
        return Verdict::new(None, outcome);
    }
    // The order of the search means nothing.
    segments.sort_unstable_by_key(|segment| segment.pair);
    Verdict::new(Some(Net::of(&segments).chains()), outcome)
}

/// An open cell of a surface, by welded vertex, edge or triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Cell {
    Vertex(u32),
    Edge(u32),
    Face(u32),
}

impl Cell {
    fn of(topology: &Topology, triangle: u32, part: TriangleFeature) -> Cell {
        match part {
            TriangleFeature::Corner(k) => {
                Cell::Vertex(topology.triangles()[triangle as usize][usize::from(k)])
            }
            // A triangle with an area has three edges.
            TriangleFeature::Side(corner) => {
                topology.edge(Side { triangle, corner }).map_or(Cell::Face(triangle), Cell::Edge)
            }
            TriangleFeature::Inside => Cell::Face(triangle),
        }
    }
}

/// A crossing of two triangles, its ends named by their cells.
struct Segment {
    pair: [u32; 2],
    ends: [([Cell; 2], DVec3); 2],
}

impl Segment {
    fn of(topologies: [&Topology; 2], candidate: &Candidate) -> Option<Segment> {
        let pair = candidate.triangles;
        let [a, b] = candidate.corners();
        let ends = crossing(&a, &b)?;
        let cell = |end: &End, k: usize| Cell::of(topologies[k], pair[k], end.on[k]);
        Some(Segment { pair, ends: ends.map(|end| ([cell(&end, 0), cell(&end, 1)], end.point)) })
    }
}

/// Points and the segments between them.
struct Net {
    points: Vec<DVec3>,
    /// From point to point, along n_a × n_b.
    links: Vec<Link>,
    /// The links at each point.
    at: Vec<SmallVec<[u32; 2]>>,
}

struct Link {
    ends: [u32; 2],
    pair: [u32; 2],
}

impl Net {
    /// Numbers the points by name; a segment along an edge is found by several pairs and kept once.
    fn of(segments: &[Segment]) -> Net {
        let mut net = Net { points: Vec::new(), links: Vec::new(), at: Vec::new() };
        let mut number: HashMap<[Cell; 2], u32> = HashMap::with_capacity(segments.len());
        for segment in segments {
            let ends = segment.ends.map(|(name, point)| {
                *number.entry(name).or_insert_with(|| {
                    net.points.push(point);
                    net.at.push(SmallVec::new());
                    net.points.len() as u32 - 1
                })
            });
            let joined = |&link: &u32| net.links[link as usize].ends.contains(&ends[1]);
            if net.at[ends[0] as usize].iter().any(joined) {
                continue;
            }
            for end in ends {
                net.at[end as usize].push(net.links.len() as u32);
            }
            net.links.push(Link { ends, pair: segment.pair });
        }
        net
    }

    /// Open chains first, from every point that has not two segments; then the loops.
    fn chains(&self) -> Vec<Polyline> {
        let mut used = vec![false; self.links.len()];
        let mut curves = Vec::new();
        for (point, links) in (0..).zip(&self.at).filter(|(_, links)| links.len() != 2) {
            for &link in links {
                if !used[link as usize] {
                    curves.push(self.walk(point, link, &mut used));
                }
            }
        }
        for link in 0..self.links.len() as u32 {
            if !used[link as usize] {
                curves.push(self.walk(self.links[link as usize].ends[0], link, &mut used));
            }
        }
        curves
    }

    /// Follows the links from a point until one ends.
    fn walk(&self, from: u32, first: u32, used: &mut [bool]) -> Polyline {
        let mut points = vec![from];
        let mut pairs = Vec::new();
        let (mut point, mut next) = (from, Some(first));
        while let Some(link) = next {
            used[link as usize] = true;
            let Link { ends, pair } = &self.links[link as usize];
            point = if ends[0] == point { ends[1] } else { ends[0] };
            points.push(point);
            pairs.push(*pair);
            let here = &self.at[point as usize];
            next = here.iter().copied().find(|&link| here.len() == 2 && !used[link as usize]);
        }
        let closed = point == from;
        if closed {
            points.pop();
        }
        // The first segment gives the direction.
        if self.links[first as usize].ends[0] != from {
            points[usize::from(closed)..].reverse();
            pairs.reverse();
        }
        Polyline { points: points.into_iter().map(|p| self.points[p as usize]).collect(), closed, pairs }
    }
}

#[cfg(test)]
#[path = "contour_tests.rs"]
mod tests;
