//! Vertex against face, face against vertex, edge against edge, one of them carried by a screw.
//!
//! Redon, Kheddar and Coquillart, "An algebraic solution to the problem of collision detection for rigid
//! polyhedral objects", 2000: the four points lie in one plane at the roots of a cubic in w ([`RationalScrew`]). Two
//! things are done otherwise. The origin need not lie on the axis: what an axis far away adds is written out, so
//! that nothing large cancels. And the roots are not Cardano's but bands that hold them for certain
//! ([`Cubic::bands`]); within a band the features are followed by directed conservative advancement, one step unless
//! they slide in their common plane.

use glam::DVec3;

use crate::geom::point_triangle::{closest_point, norm};
use crate::geom::segment_segment::closest_points;
use crate::motion::RationalScrew;
use crate::narrow::continuous::triangle_pair::first_root;
use crate::num::cubic::Cubic;
use crate::num::tolerance::COPLANAR_ROUNDING;

/// Two features at the moment in which they touch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
    /// The screw's parameter.
    pub w: f64,
    /// One point on each, the moving one's first.
    pub points: [DVec3; 2],
}

/// What the tests of one part of a motion share.
#[derive(Debug, Clone, Copy)]
pub struct Elementary<'s> {
    /// The motion.
    pub screw: &'s RationalScrew,
    /// Features nearer than this touch.
    pub slack: f64,
    /// How far the moving points may be from where the screw puts them.
    pub drift: f64,
}

impl Elementary<'_> {
    /// A moving vertex, by its place from the origin, and a resting face; touches up to the parameter `end`.
    pub fn vertex_face(&self, r: DVec3, face: &[DVec3; 3], end: f64) -> Option<Touch> {
        let RationalScrew { axis: k, tangent: u, origin, travel: v, chord, .. } = *self.screw;
        let [e, f] = [face[1] - face[0], face[2] - face[0]];
        let n = e.cross(f);
        let height = n.dot(origin - face[0]);
        let cubic = Cubic([
            height + n.dot(r),
            n.dot(v) + n.dot(chord) + 2.0 * u * n.dot(k.cross(r)),
            u * n.dot(k.cross(chord)) + u * u * (height - n.dot(r) + 2.0 * k.dot(r) * n.dot(k)),
            u * u * n.dot(v),
        ]);
        let sides = e.length() * f.length();
        let scale = sides * (self.size(r) + (origin - face[0]).length());
        self.follow(&cubic, [scale, sides], &[r], end, |w| {
            let p = self.screw.place(r, w);
            [p, closest_point(p, face).point]
        })
    }

    /// A moving face, by the places of its corners from the origin, and a resting vertex.
    pub fn face_vertex(&self, face: &[DVec3; 3], p: DVec3, end: f64) -> Option<Touch> {
        let RationalScrew { axis: k, tangent: u, origin, travel: v, .. } = *self.screw;
        let far = self.screw.far();
        let [e, f] = [face[1] - face[0], face[2] - face[0]];
        let n = e.cross(f);
        let d = p - origin;
        let cubic = Cubic([
            n.dot(d) - n.dot(face[0]),
            -n.dot(v) - 2.0 * u * n.dot(k.cross(d)) - 2.0 * n.dot(k.cross(far)),
            u * u * (2.0 * n.dot(k) * k.dot(d) - n.dot(d) - n.dot(face[0])) - 2.0 * u * n.dot(far),
            -u * u * n.dot(v),
        ]);
        let sides = e.length() * f.length();
        let scale = sides * (self.size(face[0]) + d.length());
        self.follow(&cubic, [scale, sides], face, end, |w| {
            let moved = face.map(|r| self.screw.place(r, w));
            [closest_point(p, &moved).point, p]
        })
    }

    /// A moving edge, by the places of its ends from the origin, and a resting one.
    pub fn edge_edge(&self, moving: &[DVec3; 2], resting: &[DVec3; 2], end: f64) -> Option<Touch> {
        let RationalScrew { axis: k, tangent: u, origin, travel: v, .. } = *self.screw;
        let far = self.screw.far();
        let (r, e) = (moving[0], moving[1] - moving[0]);
        let f = resting[1] - resting[0];
        let m = r.cross(e);
        let [start, drift] = [f.cross(origin - resting[0]), f.cross(v)];
        let [x1, x2] = [2.0 * k.cross(e), 2.0 * k.dot(e) * k - e];
        let cubic = Cubic([
            f.dot(m) + e.dot(start),
            2.0 * u * f.dot(k.cross(m))
                + e.dot(drift)
                + u * x1.dot(start)
                + 2.0 * f.dot(far * k.dot(e) - k * far.dot(e)),
            u * u * (2.0 * k.dot(m) * f.dot(k) - f.dot(m))
                + u * x1.dot(drift)
                + u * u * x2.dot(start)
                + 2.0 * u * (f.dot(k) * k.dot(far.cross(e)) - f.dot(far.cross(k)) * k.dot(e)),
            u * u * x2.dot(drift),
        ]);
        let sides = e.length() * f.length();
        let scale = sides * (self.size(r) + (origin - resting[0]).length());
        self.follow(&cubic, [scale, sides], moving, end, |w| {
            closest_points(&moving.map(|r| self.screw.place(r, w)), resting).points
        })
    }

    /// The lengths of which the coefficients are made, the largest place's rounding included.
    fn size(&self, r: DVec3) -> f64 {
        let RationalScrew { tangent: u, origin, travel, chord, .. } = *self.screw;
        (r.length() + travel.length() + chord.length() + origin.length()) * (1.0 + u * u)
    }

    /// The first parameter in the bands of a cubic at which the features come together; `sides` is the product of the
    /// lengths that span their plane, `corners` are those of the moving one.
    fn follow(
        &self,
        cubic: &Cubic,
        [scale, sides]: [f64; 2],
        corners: &[DVec3],
        end: f64,
        nearest: impl Fn(f64) -> [DVec3; 2],
    ) -> Option<Touch> {
        // Features that touch are nearer than the drift, as the screw sees them: in one plane up to that.
        let error = scale * COPLANAR_ROUNDING + sides * self.drift * (1.0 + self.screw.tangent.powi(2));
        if cubic.keeps_away(end, error) {
            return None;
        }
        for [first, last] in cubic.bands(end, error) {
            let mut w = first;
            loop {
                let points = nearest(w);
                let gap = norm(points[1] - points[0]);
                if gap <= self.slack + self.drift {
                    return Some(Touch { w, points });
                }
                // They cannot meet sooner; at least one step of rounding on.
                w = (w + self.apart_for(corners, w, points, gap)).max(w.next_up());
                if w > last || w.is_nan() {
                    break;
                }
            }
        }
        None
    }

    /// How long, by the parameter, features stay farther apart than the drift whose nearest points are these: the
    /// line between them separates them, and along it a corner moves by its velocity and at most the bound of its
    /// acceleration.
    fn apart_for(&self, corners: &[DVec3], w: f64, [moving, resting]: [DVec3; 2], gap: f64) -> f64 {
        let normal = (moving - resting) / gap;
        let along = |&r: &DVec3| {
            let height = normal.dot(self.screw.place(r, w) - resting).min(gap) - self.drift;
            first_root(height, normal.dot(self.screw.velocity(r, w)), self.screw.acceleration(r))
        };
        let directed = corners.iter().map(along).fold(f64::INFINITY, f64::min);
        let speed = corners.iter().map(|&r| self.screw.speed(r)).fold(0.0, f64::max);
        directed.max((gap - self.drift) / speed)
    }
}
