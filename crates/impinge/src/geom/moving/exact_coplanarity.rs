//! Contact of moving features in exact arithmetic: the answer where floats cannot tell.
//!
//! Four points meet as vertex and face or as edge and edge only while they are coplanar, which is a cubic in
//! time. At each of its roots, in order, the planar question is put with exact signs. Where the four points
//! stay coplanar all the time, the first contact is at the start or when a point comes onto a segment, which
//! are quadratics.

use glam::DVec3;

use super::FeaturePairKind;
use crate::num::dyadic::Dyadic;
use crate::num::polynomial::Polynomial;
use crate::num::predicate::Sign;
use crate::num::real_root::RealRoot;

/// A vector that depends on time.
type Path = [Polynomial; 3];

/// The time of first contact in 0..1, rounded down by at most `tolerance`; `None` without contact.
pub(super) fn first_contact(
    kind: FeaturePairKind,
    t0: &[DVec3; 4],
    t1: &[DVec3; 4],
    tolerance: f64,
) -> Option<f64> {
    let points: [Path; 4] = std::array::from_fn(|i| path(t0[i], t1[i]));
    let pair = MovingPair::new(kind, points);
    let coplanar = dot(&pair.normal, &pair.between);
    let contact = |mut root: RealRoot| pair.meets(&mut root).then(|| root.lower_bound(tolerance));
    if !coplanar.is_zero() {
        return RealRoot::in_unit_interval(&coplanar).into_iter().find_map(contact);
    }
    if let start @ Some(_) = contact(RealRoot::exactly(0.0)) {
        return start;
    }
    let firsts = pair.boundary().into_iter().filter_map(|[p, a, b]| {
        let events = pair.arrivals(p, a, b);
        RealRoot::in_unit_interval(&events).into_iter().find_map(contact)
    });
    firsts.min_by(f64::total_cmp)
}

/// Two features as paths, with what every question needs.
struct MovingPair {
    kind: FeaturePairKind,
    points: [Path; 4],
    /// u and v span the plane: the sides of the triangle, or the directions of the edges.
    sides: [Path; 2],
    /// w, from the first feature's origin to the other's.
    between: Path,
    /// u × v.
    normal: Path,
}

impl MovingPair {
    fn new(kind: FeaturePairKind, points: [Path; 4]) -> MovingPair {
        let [from, to] = [0, 1].map(|end| kind.frame().map(|ends| ends[end]));
        let [u, v, w] = std::array::from_fn(|i| minus(&points[to[i]], &points[from[i]]));
        let normal = cross(&u, &v);
        MovingPair { kind, points, sides: [u, v], between: w, normal }
    }

    /// Whether the features meet at this time, at which the four points are coplanar.
    fn meets(&self, time: &mut RealRoot) -> bool {
        let [u, v] = &self.sides;
        for axis in 0..3 {
            let side = time.sign(&self.normal[axis]);
            if side.is_zero() {
                continue;
            }
            let along_u = cross_along(&self.between, v, axis);
            let along_v = cross_along(u, &self.between, axis);
            let n = &self.normal[axis];
            let limits = match self.kind {
                FeaturePairKind::VertexFace => vec![&(n - &along_u) - &along_v, along_u, along_v],
                FeaturePairKind::EdgeEdge => {
                    let minus_v = &Polynomial::new([]) - &along_v;
                    vec![n - &along_u, n - &minus_v, along_u, minus_v]
                }
            };
            return limits.iter().all(|limit| time.sign(limit) != side.flip());
        }
        // Everything is on one line, or the edges are parallel.
        self.boundary().into_iter().any(|[p, a, b]| self.is_on_segment(p, a, b, time))
    }

    /// The points and segments of which one pair must meet when the plane does not help.
    fn boundary(&self) -> Vec<[usize; 3]> {
        match self.kind {
            FeaturePairKind::VertexFace => vec![[0, 1, 2], [0, 2, 3], [0, 3, 1]],
            FeaturePairKind::EdgeEdge => vec![[0, 2, 3], [1, 2, 3], [2, 0, 1], [3, 0, 1]],
        }
    }

    fn is_on_segment(&self, p: usize, a: usize, b: usize, time: &mut RealRoot) -> bool {
        let [to_a, to_b] = [a, b].map(|end| minus(&self.points[end], &self.points[p]));
        cross(&to_a, &to_b).iter().all(|c| time.sign(c).is_zero())
            && time.sign(&dot(&to_a, &to_b)) != Sign::Positive
    }

    /// A polynomial that vanishes when p comes onto the segment from a to b, if it was not there before.
    fn arrivals(&self, p: usize, a: usize, b: usize) -> Polynomial {
        let [to_a, to_b] = [a, b].map(|end| minus(&self.points[end], &self.points[p]));
        let off_line = cross(&to_a, &to_b).into_iter().find(|c| !c.is_zero());
        off_line.unwrap_or_else(|| dot(&to_a, &to_b))
    }
}

fn path(start: DVec3, end: DVec3) -> Path {
    std::array::from_fn(|axis| {
        let [from, to] = [start[axis], end[axis]].map(Dyadic::from);
        let speed = &to - &from;
        Polynomial::new([from, speed])
    })
}

fn minus(a: &Path, b: &Path) -> Path {
    std::array::from_fn(|i| &a[i] - &b[i])
}

fn dot(a: &Path, b: &Path) -> Polynomial {
    &(&(&a[0] * &b[0]) + &(&a[1] * &b[1])) + &(&a[2] * &b[2])
}

fn cross(a: &Path, b: &Path) -> Path {
    std::array::from_fn(|axis| cross_along(a, b, axis))
}

fn cross_along(a: &Path, b: &Path, axis: usize) -> Polynomial {
    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
    &(&a[j] * &b[k]) - &(&a[k] * &b[j])
}
