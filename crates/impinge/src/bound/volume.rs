//! The kinds of volume, what every one of them can do, and a volume of any kind.

use std::mem::size_of;

use glam::DVec3;

use super::{Aabb, Dop, Hull, Obb, Relative, Shell, Sphere};
use crate::num::tolerance::ROUND_UP;

/// The kinds of volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Volume {
    /// [`Sphere`].
    Sphere,
    /// [`Aabb`].
    #[default]
    Aabb,
    /// [`Obb`].
    Obb,
    /// [`Dop`] with three slabs: a box too, but tested by its slabs alone.
    Dop6,
    /// [`Dop`] with seven slabs.
    Dop14,
    /// [`Dop`] with nine slabs.
    Dop18,
    /// [`Dop`] with thirteen slabs.
    Dop26,
    /// [`Shell`].
    Shell,
    /// [`Hull`].
    Hull,
}

impl Volume {
    /// All kinds.
    pub const ALL: [Volume; 9] = [
        Volume::Sphere,
        Volume::Aabb,
        Volume::Obb,
        Volume::Dop6,
        Volume::Dop14,
        Volume::Dop18,
        Volume::Dop26,
        Volume::Shell,
        Volume::Hull,
    ];

    /// A short name, such as `18-dop`.
    pub const fn name(self) -> &'static str {
        match self {
            Volume::Sphere => "sphere",
            Volume::Aabb => "aabb",
            Volume::Obb => "obb",
            Volume::Dop6 => "6-dop",
            Volume::Dop14 => "14-dop",
            Volume::Dop18 => "18-dop",
            Volume::Dop26 => "26-dop",
            Volume::Shell => "shell",
            Volume::Hull => "hull",
        }
    }

    /// Whether bounding children gives the same volume as bounding what they hold (k-DOPs and boxes).
    pub const fn layers_are_wrapped(self) -> bool {
        matches!(self, Volume::Aabb | Volume::Dop6 | Volume::Dop14 | Volume::Dop18 | Volume::Dop26)
    }
}

/// What every volume can do. Points and directions are in the volume's own frame.
pub trait Bounding: Sized {
    /// A volume around triangles; there must be one at least.
    fn enclose(triangles: &[[DVec3; 3]]) -> Self;

    /// A volume around two.
    fn merge(&self, other: &Self) -> Self;

    /// A volume around others of any kind; there must be one at least.
    fn around(parts: &[BoundRef<'_>]) -> Self;

    /// False only when nothing that the two hold can meet.
    fn overlaps(&self, other: &Self, relative: &Relative) -> bool;

    /// Where x·d lies for the x of the volume, rounded outward; d need not be a unit vector.
    fn interval(&self, d: DVec3) -> [f64; 2];

    /// A sphere around the volume.
    fn ball(&self) -> Sphere;

    /// At least the distance of any point of the volume from p.
    fn farthest(&self, p: DVec3) -> f64;

    /// Whether p is in the volume, in floats: true for every point it was made around.
    fn contains(&self, p: DVec3) -> bool;

    /// The directions along which the volume separates best from others.
    fn normals(&self, visit: &mut dyn FnMut(DVec3));

    /// Grows the volume so that it also holds what lies within `by` of it.
    fn inflate(&mut self, by: f64);

    /// The area of its surface.
    fn surface(&self) -> f64;

    /// Its volume.
    fn volume(&self) -> f64;

    /// Memory it takes.
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

/// A volume of any kind.
// Volumes are made one by one and then stored by kind, so the largest may set the size here.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// A sphere.
    Sphere(Sphere),
    /// An axis-aligned box.
    Aabb(Aabb),
    /// An oriented box.
    Obb(Obb),
    /// A 6-DOP.
    Dop6(Dop<3>),
    /// A 14-DOP.
    Dop14(Dop<7>),
    /// An 18-DOP.
    Dop18(Dop<9>),
    /// A 26-DOP.
    Dop26(Dop<13>),
    /// A spherical shell.
    Shell(Shell),
    /// A convex hull.
    Hull(Hull),
}

impl Bound {
    /// A volume of this kind around triangles; there must be one at least.
    pub fn enclose(kind: Volume, triangles: &[[DVec3; 3]]) -> Bound {
        match kind {
            Volume::Sphere => Bound::Sphere(Bounding::enclose(triangles)),
            Volume::Aabb => Bound::Aabb(Bounding::enclose(triangles)),
            Volume::Obb => Bound::Obb(Bounding::enclose(triangles)),
            Volume::Dop6 => Bound::Dop6(Bounding::enclose(triangles)),
            Volume::Dop14 => Bound::Dop14(Bounding::enclose(triangles)),
            Volume::Dop18 => Bound::Dop18(Bounding::enclose(triangles)),
            Volume::Dop26 => Bound::Dop26(Bounding::enclose(triangles)),
            Volume::Shell => Bound::Shell(Bounding::enclose(triangles)),
            Volume::Hull => Bound::Hull(Bounding::enclose(triangles)),
        }
    }

    /// A volume of this kind around others; there must be one at least.
    pub fn around(kind: Volume, parts: &[BoundRef<'_>]) -> Bound {
        match kind {
            Volume::Sphere => Bound::Sphere(Bounding::around(parts)),
            Volume::Aabb => Bound::Aabb(Bounding::around(parts)),
            Volume::Obb => Bound::Obb(Bounding::around(parts)),
            Volume::Dop6 => Bound::Dop6(Bounding::around(parts)),
            Volume::Dop14 => Bound::Dop14(Bounding::around(parts)),
            Volume::Dop18 => Bound::Dop18(Bounding::around(parts)),
            Volume::Dop26 => Bound::Dop26(Bounding::around(parts)),
            Volume::Shell => Bound::Shell(Bounding::around(parts)),
            Volume::Hull => Bound::Hull(Bounding::around(parts)),
        }
    }

    /// See [`Bounding::inflate`].
    pub fn inflate(&mut self, by: f64) {
        match self {
            Bound::Sphere(b) => b.inflate(by),
            Bound::Aabb(b) => b.inflate(by),
            Bound::Obb(b) => b.inflate(by),
            Bound::Dop6(b) => b.inflate(by),
            Bound::Dop14(b) => b.inflate(by),
            Bound::Dop18(b) => b.inflate(by),
            Bound::Dop26(b) => b.inflate(by),
            Bound::Shell(b) => b.inflate(by),
            Bound::Hull(b) => b.inflate(by),
        }
    }

    /// The same, borrowed.
    pub fn as_ref(&self) -> BoundRef<'_> {
        match self {
            Bound::Sphere(b) => BoundRef::Sphere(b),
            Bound::Aabb(b) => BoundRef::Aabb(b),
            Bound::Obb(b) => BoundRef::Obb(b),
            Bound::Dop6(b) => BoundRef::Dop6(b),
            Bound::Dop14(b) => BoundRef::Dop14(b),
            Bound::Dop18(b) => BoundRef::Dop18(b),
            Bound::Dop26(b) => BoundRef::Dop26(b),
            Bound::Shell(b) => BoundRef::Shell(b),
            Bound::Hull(b) => BoundRef::Hull(b),
        }
    }
}

/// A volume of any kind, borrowed.
#[derive(Debug, Clone, Copy)]
pub enum BoundRef<'a> {
    /// A sphere.
    Sphere(&'a Sphere),
    /// An axis-aligned box.
    Aabb(&'a Aabb),
    /// An oriented box.
    Obb(&'a Obb),
    /// A 6-DOP.
    Dop6(&'a Dop<3>),
    /// A 14-DOP.
    Dop14(&'a Dop<7>),
    /// An 18-DOP.
    Dop18(&'a Dop<9>),
    /// A 26-DOP.
    Dop26(&'a Dop<13>),
    /// A spherical shell.
    Shell(&'a Shell),
    /// A convex hull.
    Hull(&'a Hull),
}

/// Runs one expression for whatever kind a [`BoundRef`] is.
macro_rules! for_kind {
    ($bound:expr, $b:ident => $do:expr) => {
        match $bound {
            BoundRef::Sphere($b) => $do,
            BoundRef::Aabb($b) => $do,
            BoundRef::Obb($b) => $do,
            BoundRef::Dop6($b) => $do,
            BoundRef::Dop14($b) => $do,
            BoundRef::Dop18($b) => $do,
            BoundRef::Dop26($b) => $do,
            BoundRef::Shell($b) => $do,
            BoundRef::Hull($b) => $do,
        }
    };
}

impl BoundRef<'_> {
    /// False only when nothing that the two hold can meet; kinds may differ.
    #[inline]
    pub fn overlaps(&self, other: &BoundRef<'_>, relative: &Relative) -> bool {
        match (self, other) {
            (BoundRef::Aabb(a), BoundRef::Aabb(b)) => a.overlaps(b, relative),
            (BoundRef::Sphere(a), BoundRef::Sphere(b)) => a.overlaps(b, relative),
            (BoundRef::Obb(a), BoundRef::Obb(b)) => a.overlaps(b, relative),
            (BoundRef::Dop6(a), BoundRef::Dop6(b)) => a.overlaps(b, relative),
            (BoundRef::Dop14(a), BoundRef::Dop14(b)) => a.overlaps(b, relative),
            (BoundRef::Dop18(a), BoundRef::Dop18(b)) => a.overlaps(b, relative),
            (BoundRef::Dop26(a), BoundRef::Dop26(b)) => a.overlaps(b, relative),
            (BoundRef::Shell(a), BoundRef::Shell(b)) => a.overlaps(b, relative),
            (BoundRef::Hull(a), BoundRef::Hull(b)) => a.overlaps(b, relative),
            _ => !(self.best_gap(other, relative) > 0.0),
        }
    }

    /// At most the world distance between anything in the one and anything in the other.
    pub fn distance_below(&self, other: &BoundRef<'_>, relative: &Relative) -> f64 {
        let gap = match (self, other) {
            (BoundRef::Hull(a), BoundRef::Hull(b)) => a.gap(b, relative, false),
            _ => self.best_gap(other, relative),
        };
        (gap * relative.shrink / ROUND_UP).max(0.0)
    }

    /// The largest gap along the normals of both and the line of their centres.
    fn best_gap(&self, other: &BoundRef<'_>, relative: &Relative) -> f64 {
        let mut best = f64::NEG_INFINITY;
        let mut try_ = |d: DVec3| {
            let length = d.length();
            if length > 0.0 {
                let d = d / length;
                let gap = for_kind!(*self, a => for_kind!(*other, b => relative.gap_along(a, b, d)));
                best = best.max(gap);
            }
        };
        let (a, b) = (self.ball(), other.ball());
        try_(relative.point(b.centre) - a.centre);
        for_kind!(*self, a => a.normals(&mut try_));
        for_kind!(*other, b => b.normals(&mut |n| try_(relative.direction_to_a(n))));
        best
    }

    /// See [`Bounding::interval`].
    pub fn interval(&self, d: DVec3) -> [f64; 2] {
        for_kind!(*self, b => b.interval(d))
    }

    /// See [`Bounding::ball`].
    pub fn ball(&self) -> Sphere {
        for_kind!(*self, b => b.ball())
    }

    /// See [`Bounding::farthest`].
    pub fn farthest(&self, p: DVec3) -> f64 {
        for_kind!(*self, b => b.farthest(p))
    }

    /// See [`Bounding::contains`].
    pub fn contains(&self, p: DVec3) -> bool {
        for_kind!(*self, b => b.contains(p))
    }

    /// See [`Bounding::surface`].
    pub fn surface(&self) -> f64 {
        for_kind!(*self, b => b.surface())
    }

    /// See [`Bounding::volume`].
    pub fn volume(&self) -> f64 {
        for_kind!(*self, b => b.volume())
    }

    /// See [`Bounding::bytes`].
    pub fn bytes(&self) -> usize {
        for_kind!(*self, b => b.bytes())
    }

    pub(super) fn as_dop<const H: usize>(&self) -> Option<Dop<H>> {
        fn same<const H: usize, const G: usize>(dop: &Dop<G>) -> Option<Dop<H>> {
            (H == G).then(|| Dop {
                low: std::array::from_fn(|i| dop.low[i]),
                high: std::array::from_fn(|i| dop.high[i]),
            })
        }
        match self {
            BoundRef::Dop6(d) => same(d),
            BoundRef::Dop14(d) => same(d),
            BoundRef::Dop18(d) => same(d),
            BoundRef::Dop26(d) => same(d),
            _ => None,
        }
    }
}

impl From<BoundRef<'_>> for Bound {
    fn from(bound: BoundRef<'_>) -> Bound {
        match bound {
            BoundRef::Sphere(b) => Bound::Sphere(*b),
            BoundRef::Aabb(b) => Bound::Aabb(*b),
            BoundRef::Obb(b) => Bound::Obb(*b),
            BoundRef::Dop6(b) => Bound::Dop6(*b),
            BoundRef::Dop14(b) => Bound::Dop14(*b),
            BoundRef::Dop18(b) => Bound::Dop18(*b),
            BoundRef::Dop26(b) => Bound::Dop26(*b),
            BoundRef::Shell(b) => Bound::Shell(*b),
            BoundRef::Hull(b) => Bound::Hull(b.clone()),
        }
    }
}

/// At least the rounding error of x·d for a d whose entries are at most one.
pub(super) fn project_error(p: DVec3) -> f64 {
    4.0 * f64::EPSILON * p.abs().element_sum()
}

/// Where points lie along d, rounded outward.
pub(super) fn span(points: &[DVec3], d: DVec3) -> [f64; 2] {
    let (mut low, mut high, mut error) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
    for &p in points {
        let x = p.dot(d);
        (low, high) = (low.min(x), high.max(x));
        error = error.max(project_error(p));
    }
    let error = error * d.abs().max_element();
    [low - error, high + error]
}
