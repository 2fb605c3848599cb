//! Where a point is seen from the surface of a union: a compound of convex parts or a cloud of balls.
//!
//! Outside, the nearest point of the union is that of its nearest part. Inside, the surface is no nearer than that of the
//! part in which the point is deepest; where that part's nearest surface point lies in no other part, it is the answer.
//! Otherwise other parts cover it. The nearest surface point of a union of balls is then the foot on one ball, or the
//! nearest point of the circle of two, or a corner of three, that no other ball covers: all are tried. Of other parts the
//! surface is found along rays, as near as a search over directions finds it, and the gap to the lower bound is stated.

use glam::DVec3;
use smallvec::SmallVec;

use super::convex::relation::counted_point_in;
use super::exact::ray_cast::{Ray, RayHit};
use super::shape_ray::ShapeRays;
use crate::bound::Aabb;
use crate::contact::{Counters, Feature};
use crate::model::{Cloud, Compound, CompoundChild, Geometry};
use crate::num::tolerance::{PLACED_BOX_ROUNDING, STRETCH, TOUCH_DOUBT};
use crate::shape::{Convex, Primitive};
use crate::{Pose, Separation};

/// Balls near a point among which all corners of three are tried; more are searched along rays.
const MOST_BALLS: usize = 160;

/// Directions from which a search along rays goes on.
const STARTS: usize = 4;

/// How far a search turns at first (radians), and how far it turns at last.
const TURNS: [f64; 2] = [0.4, 1e-9];

/// Where a point is seen from the surface of a union.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct UnionFoot {
    /// To the surface; negative inside a solid.
    pub distance: f64,
    /// Whether the point lies in a solid of the union.
    pub inside: bool,
    /// The nearest point of the surface that was found.
    pub point: DVec3,
    /// What it lies on; a particle is a vertex.
    pub feature: Feature,
    /// How much nearer the surface may be.
    pub tolerance: f64,
}

/// A union at a pose.
pub(crate) struct UnionSurface<'s> {
    geometry: &'s Geometry,
    pose: &'s Pose,
}

/// One of its parts, by its number, and where the point is seen from it.
#[derive(Debug, Clone, Copy)]
struct Seen {
    part: u32,
    distance: f64,
    inside: bool,
    point: DVec3,
    feature: Feature,
}

/// A ball of the world, and its number.
#[derive(Debug, Clone, Copy)]
struct Ball {
    centre: DVec3,
    radius: f64,
    particle: u32,
}

impl<'s> UnionSurface<'s> {
    /// A compound or a cloud; `None` for what is no union.
    pub fn new(geometry: &'s Geometry, pose: &'s Pose) -> Option<UnionSurface<'s>> {
        let is_union = matches!(geometry, Geometry::Compound(_) | Geometry::Particles(_));
        is_union.then_some(UnionSurface { geometry, pose })
    }

    /// Whether a point lies in a solid of the union, decided exactly.
    pub fn contains(&self, p: DVec3, work: &mut Counters) -> bool {
        let mut inside = false;
        self.each_within(p, &mut 0.0, work, &mut |seen, _| {
            inside |= seen.inside;
            !inside
        });
        inside
    }

    /// Whether [`UnionSurface::foot`] ends without a search: no part covers the surface of that in which the point is
    /// deepest.
    pub fn is_bare(&self, p: DVec3) -> bool {
        let mut work = Counters::default();
        match self.extremes(p, &mut work) {
            [_, Some(deepest)] => !self.is_covered(p, &deepest, &mut work),
            [_, None] => true,
        }
    }

    /// The smallest signed distance from a part: outside that of the union, inside the depth in the part in which the point
    /// is deepest.
    pub fn nearest_part(&self, p: DVec3, work: &mut Counters) -> f64 {
        let [nearest, deepest] = self.extremes(p, work);
        deepest.or(nearest).map_or(f64::INFINITY, |seen| seen.distance)
    }

    /// A part near a point in which it does not lie, the nearest if it lies in none, and the part in which it is deepest.
    fn extremes(&self, p: DVec3, work: &mut Counters) -> [Option<Seen>; 2] {
        let mut nearest: Option<Seen> = None;
        let mut deepest: Option<Seen> = None;
        let mut limit = f64::INFINITY;
        self.each_within(p, &mut limit, work, &mut |seen, limit| {
            let best = if seen.inside { &mut deepest } else { &mut nearest };
            // Equally good ones by their numbers, whatever the order in which they are met.
            let key = |one: &Seen| (one.distance, one.part);
            if best.is_none_or(|best| key(&seen) < key(&best)) {
                *best = Some(seen);
            }
            *limit = limit.min(seen.distance.max(0.0));
            true
        });
        [nearest, deepest]
    }

    /// Where a point is.
    pub fn foot(&self, p: DVec3, work: &mut Counters) -> UnionFoot {
        let [nearest, deepest] = self.extremes(p, work);
        let Some(deepest) = deepest else { return outside(p, nearest) };
        let foot = UnionFoot {
            distance: deepest.distance.min(0.0),
            inside: true,
            point: deepest.point,
            feature: deepest.feature,
            tolerance: 0.0,
        };
        if !self.is_covered(p, &deepest, work) {
            return foot;
        }
        match self.geometry {
            Geometry::Particles(cloud) => self.among_balls(cloud, p, &foot, work),
            _ => self.along_rays(p, &foot, TURNS[1], work),
        }
    }

    /// Whether the way out of a part leads into another one.
    fn is_covered(&self, p: DVec3, deepest: &Seen, work: &mut Counters) -> bool {
        let out = (deepest.point - p).normalize_or_zero();
        let beyond = deepest.point + out * self.doubt(p);
        let mut covered = false;
        self.each_within(beyond, &mut 0.0, work, &mut |seen, _| {
            covered |= seen.inside && seen.part != deepest.part;
            !covered
        });
        covered
    }

    /// Points nearer than this are one.
    fn doubt(&self, p: DVec3) -> f64 {
        let bounds = match self.geometry {
            Geometry::Compound(compound) => compound.nodes()[0].bounds,
            Geometry::Particles(cloud) => {
                let root = &cloud.tree().nodes()[0];
                let reach = DVec3::splat(root.reach + root.largest);
                Aabb { low: root.centre - reach, high: root.centre + reach }
            }
            _ => Aabb::around_points(&[p]),
        };
        let own = bounds.low.abs().max(bounds.high.abs()).max_element();
        TOUCH_DOUBT * (own + p.abs().max_element() + self.pose.translation().abs().max_element())
    }

    /// Sees every part that may be at most `limit` from a point, which `see` may lower, until it has seen enough.
    fn each_within(
        &self,
        p: DVec3,
        limit: &mut f64,
        work: &mut Counters,
        see: &mut impl FnMut(Seen, &mut f64) -> bool,
    ) {
        match self.geometry {
            Geometry::Compound(compound) => self.each_part(compound, p, limit, work, see),
            Geometry::Particles(cloud) => self.each_particle(cloud, p, limit, work, see),
            _ => {}
        }
    }

    fn each_part(
        &self,
        compound: &Compound,
        p: DVec3,
        limit: &mut f64,
        work: &mut Counters,
        see: &mut impl FnMut(Seen, &mut f64) -> bool,
    ) {
        let q = self.pose.inverse().apply(p);
        let pad = PLACED_BOX_ROUNDING * (p.abs().max_element() + self.pose.translation().abs().max_element());
        let gap = |at: u32| {
            let bounds = &compound.nodes()[at as usize].bounds;
            let size = bounds.low.abs().max(bounds.high.abs()).max_element();
            let away = (bounds.low - q).max(q - bounds.high).max(DVec3::ZERO).length();
            (away / STRETCH - pad - PLACED_BOX_ROUNDING * size).max(0.0)
        };
        let mut open: SmallVec<[(u32, f64); 32]> = SmallVec::from_slice(&[(0, gap(0))]);
        while let Some((at, away)) = open.pop() {
            work.volume_tests += 1;
            if away > *limit {
                continue;
            }
            match compound.nodes()[at as usize].below {
                CompoundChild::Two(right) => {
                    let mut two = [(at + 1, gap(at + 1)), (right, gap(right))];
                    if two[0].1 < two[1].1 {
                        two.swap(0, 1);
                    }
                    // The nearer one is looked at first.
                    open.extend(two);
                }
                CompoundChild::Part(part) => {
                    let own = &compound.parts()[part as usize];
                    let Geometry::Convex(convex) = &own.shape else { continue };
                    let (found, inside, tests) = counted_point_in(convex, &self.pose.compose(&own.pose), p);
                    work.primitive_tests += tests;
                    if !see(Seen::of(part, &found, inside), limit) {
                        return;
                    }
                }
            }
        }
    }

    fn each_particle(
        &self,
        cloud: &Cloud,
        p: DVec3,
        limit: &mut f64,
        work: &mut Counters,
        see: &mut impl FnMut(Seen, &mut f64) -> bool,
    ) {
        let tree = cloud.tree();
        let pad = PLACED_BOX_ROUNDING * (p.abs().max_element() + self.pose.translation().abs().max_element());
        let gap = |at: u32| {
            let node = &tree.nodes()[at as usize];
            let size = node.centre.abs().max_element() + node.reach;
            let reach = node.reach * STRETCH + node.largest + pad + PLACED_BOX_ROUNDING * size;
            (self.pose.apply(node.centre).distance(p) - reach).max(0.0)
        };
        let mut open: SmallVec<[(u32, f64); 32]> = SmallVec::from_slice(&[(0, gap(0))]);
        while let Some((at, away)) = open.pop() {
            work.volume_tests += 1;
            if away > *limit {
                continue;
            }
            if let Some(two) = tree.children(at) {
                let mut two = two.map(|at| (at, gap(at)));
                if two[0].1 < two[1].1 {
                    two.swap(0, 1);
                }
                open.extend(two);
                continue;
            }
            for slot in tree.nodes()[at as usize].slots() {
                work.primitive_tests += 1;
                let ball = Ball {
                    centre: self.pose.apply(tree.points()[slot]),
                    radius: tree.radii()[slot],
                    particle: tree.particle(slot),
                };
                if !see(ball.seen_from(p), limit) {
                    return;
                }
            }
        }
    }

    /// The nearest point of a union of balls that lies in none of them: a foot, a point of a circle, or a corner.
    fn among_balls(&self, cloud: &Cloud, p: DVec3, lowest: &UnionFoot, work: &mut Counters) -> UnionFoot {
        let found = self.along_rays(p, lowest, TURNS[0], work);
        if found.tolerance == 0.0 {
            return found;
        }
        let mut balls: Vec<Ball> = Vec::new();
        let mut limit = -found.distance;
        self.each_within(p, &mut limit, work, &mut |seen, _| {
            let particle = seen.part as usize;
            let (centre, radius) = (self.pose.apply(cloud.points()[particle]), cloud.radius(particle));
            if radius > 0.0 {
                balls.push(Ball { centre, radius, particle: seen.part });
            }
            true
        });
        if balls.len() > MOST_BALLS {
            return self.along_rays(p, lowest, TURNS[1], work);
        }
        balls.sort_unstable_by_key(|ball| ball.particle);
        let doubt = self.doubt(p);
        let mut best = (-found.distance, found.point, found.feature);
        // Whether it is nearer than the best, and so may be what else lies on the same surfaces.
        let mut candidate = |x: DVec3, own: &[usize]| {
            work.primitive_tests += 1;
            let away = x.distance(p);
            if away >= best.0 {
                return false;
            }
            let covers = |(k, ball): (usize, &Ball)| {
                !own.contains(&k) && x.distance(ball.centre) < ball.radius - doubt
            };
            if !balls.iter().enumerate().any(covers) {
                best = (away, x, Feature::Vertex(balls[own[0]].particle));
            }
            true
        };
        for (i, a) in balls.iter().enumerate() {
            if !candidate(a.foot(p), &[i]) {
                continue;
            }
            for (j, b) in balls.iter().enumerate().skip(i + 1) {
                let Some(circle) = Circle::of(a, b) else { continue };
                if !candidate(circle.nearest(p), &[i, j]) {
                    continue;
                }
                for (k, c) in balls.iter().enumerate().skip(j + 1) {
                    for corner in circle.on(c).into_iter().flatten() {
                        candidate(corner, &[i, j, k]);
                    }
                }
            }
        }
        let (away, point, feature) = best;
        UnionFoot { distance: -away, point, feature, tolerance: 0.0, ..*lowest }
    }

    /// The nearest surface point that a search over directions finds, which turns as little as by `last` (radians); it is
    /// no nearer than `lowest` says.
    fn along_rays(&self, p: DVec3, lowest: &UnionFoot, last: f64, work: &mut Counters) -> UnionFoot {
        let rays = ShapeRays::new(self.geometry, self.pose);
        let doubt = self.doubt(p);
        let mut cast = |direction: DVec3| {
            let ray = Ray { origin: p, direction, reach: f64::INFINITY };
            let (hits, more) = rays.all(&ray);
            *work += more;
            // Rounding shows slits where parts only touch.
            let is_border = |hit: &RayHit| !self.contains(hit.point + direction * doubt, work);
            hits.into_iter().find(is_border).map(|hit| (hit.t, hit))
        };
        let least = -lowest.distance;
        let grid = (0..27).map(|k| DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)));
        let own = (lowest.point - p).normalize_or_zero();
        let starts = grid.map(|at| (at - DVec3::ONE).normalize_or_zero()).chain([own]);
        let mut found: Vec<_> = starts
            .filter(|direction| *direction != DVec3::ZERO)
            .filter_map(|direction| cast(direction).map(|(t, hit)| (t, direction, hit)))
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.truncate(STARTS);
        for best in &mut found {
            let mut turn = TURNS[0];
            while turn > last && best.0 > least {
                let (u, v) = best.1.any_orthonormal_pair();
                let ways = [u, -u, v, -v, u + v, u - v, v - u, -u - v];
                let turned = ways.into_iter().filter_map(|way| {
                    let direction = (best.1 + way * turn).normalize();
                    cast(direction).map(|(t, hit)| (t, direction, hit))
                });
                let nearer = turned.filter(|one| one.0 < best.0).min_by(|a, b| a.0.total_cmp(&b.0));
                match nearer {
                    Some(nearer) => *best = nearer,
                    None => turn *= 0.5,
                }
            }
        }
        match found.iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((t, _, hit)) => {
                let away = t.max(least);
                let (point, feature) = (hit.point, hit.feature);
                UnionFoot { distance: -away, point, feature, tolerance: away - least, ..*lowest }
            }
            // A solid without a border in sight: rounding hides it.
            None => *lowest,
        }
    }
}

/// A point that is in no solid.
fn outside(p: DVec3, nearest: Option<Seen>) -> UnionFoot {
    let nothing =
        Seen { part: 0, distance: f64::INFINITY, inside: false, point: p, feature: Feature::Surface };
    let Seen { distance, point, feature, .. } = nearest.unwrap_or(nothing);
    UnionFoot { distance: distance.max(0.0), inside: false, point, feature, tolerance: 0.0 }
}

impl Seen {
    fn of(part: u32, found: &Separation, inside: bool) -> Seen {
        Seen { part, distance: found.distance, inside, point: found.points[1], feature: found.features[1] }
    }
}

impl Ball {
    fn seen_from(&self, p: DVec3) -> Seen {
        let away = p.distance(self.centre);
        let distance = away - self.radius;
        let noise = TOUCH_DOUBT * (p.abs().max(self.centre.abs()).max_element() + self.radius);
        let inside = if distance.abs() > noise || self.radius == 0.0 {
            distance < 0.0
        } else {
            let ball = Convex::Primitive(Primitive::Sphere { radius: self.radius });
            counted_point_in(&ball, &Pose::shift(self.centre), p).1
        };
        let (part, feature) = (self.particle, Feature::Vertex(self.particle));
        Seen { part, distance, inside, point: self.foot(p), feature }
    }

    /// The nearest point of its surface.
    fn foot(&self, p: DVec3) -> DVec3 {
        let out = (p - self.centre).normalize_or_zero();
        // From the middle every direction is as good.
        self.centre + if out == DVec3::ZERO { DVec3::X } else { out } * self.radius
    }
}

/// Where two spheres meet.
struct Circle {
    centre: DVec3,
    radius: f64,
    axis: DVec3,
}

impl Circle {
    fn of(a: &Ball, b: &Ball) -> Option<Circle> {
        let between = b.centre - a.centre;
        let away = between.length();
        // How far along the way from a to b the plane of the circle is.
        let along = 0.5 * (away + (a.radius - b.radius) * (a.radius + b.radius) / away);
        let square = (a.radius - along) * (a.radius + along);
        if !(away > 0.0 && square >= 0.0) {
            return None;
        }
        let axis = between / away;
        Some(Circle { centre: a.centre + axis * along, radius: square.sqrt(), axis })
    }

    fn nearest(&self, p: DVec3) -> DVec3 {
        let off = p - self.centre;
        let flat = (off - self.axis * off.dot(self.axis)).normalize_or_zero();
        // From the axis every point of it is as near, and where it is covered begin corners that are, too.
        let flat = if flat == DVec3::ZERO { self.axis.any_orthonormal_vector() } else { flat };
        self.centre + flat * self.radius
    }

    /// Its points on the surface of a ball.
    fn on(&self, ball: &Ball) -> [Option<DVec3>; 2] {
        let off = ball.centre - self.centre;
        let flat = off - self.axis * off.dot(self.axis);
        let away = flat.length();
        if away == 0.0 {
            return [None; 2];
        }
        let u = flat / away;
        // |x − c|² = r² for x = centre + ρ (u cos + v sin).
        let rest = ball.radius * ball.radius - off.length_squared() - self.radius * self.radius;
        let cosine = -rest / (2.0 * away * self.radius);
        let square = (1.0 - cosine) * (1.0 + cosine);
        if !(square >= 0.0) {
            return [None; 2];
        }
        let (at, side) = (u * cosine, self.axis.cross(u) * square.sqrt());
        [at + side, at - side].map(|way| Some(self.centre + way * self.radius))
    }
}

#[cfg(test)]
#[path = "union_point_tests.rs"]
mod tests;
