//! A volume of intersection as a function of what the bodies do: its gradient as one row of a Jacobian, and the points
//! at which the bodies slide on each other.
//!
//! Everything comes from the samples of the volume's border. A point of a body's surface that moves by u changes the
//! volume by u·s, with s its area vector out of the body; so the derivative by a rigid body's translation is Σ s, by
//! its rotation Σ arm × s, and by a vertex Σ s times the vertex's share of the point.

use std::collections::BTreeMap;

use glam::DVec3;

use super::receiver::{Nodes, Receiver, Side, in_range};
use crate::num::compact_sort::sort_rarely;
use crate::{Error, SurfaceSample, Volume};

/// A volume between two bodies of a call, and how it changes.
#[derive(Debug)]
pub(super) struct VolumeRow {
    pub volume: f64,
    /// The derivative by translation and rotation of each node that has one.
    gradient: Vec<(usize, [DVec3; 2])>,
    /// How fast the volume grows by what the bodies did before.
    pub rate: f64,
    /// Half of the border's area: that of the contact where two surfaces face each other.
    pub area: f64,
    /// Where the bodies slide on each other.
    pub points: Vec<FrictionPoint>,
}

/// A place where two surfaces slide on each other.
#[derive(Debug)]
pub(super) struct FrictionPoint {
    /// The surface there, and what faces it.
    pub sides: [Side; 2],
    pub normal: DVec3,
    /// Half of its area, for the surface that faces it counts too.
    pub area: f64,
}

impl VolumeRow {
    /// The row of a volume between two bodies, or of one with itself. `None` where nothing can answer: no overlap, or
    /// a rigid body with itself.
    pub fn new(
        bodies: [usize; 2],
        found: &Volume,
        receivers: &[Receiver<'_>],
        with_friction: bool,
        nodes: &mut Nodes,
    ) -> Result<Option<VolumeRow>, Error> {
        let [a, b] = bodies;
        if found.volume == 0.0 || (a == b && matches!(receivers[a], Receiver::Rigid { .. })) {
            return Ok(None);
        }
        let mut gradient: BTreeMap<usize, [DVec3; 2]> = BTreeMap::new();
        let (mut rate, mut area) = (0.0, 0.0);
        let mut sides = Vec::with_capacity(found.samples.len());
        for sample in &found.samples {
            let body = bodies[sample.body];
            let side = Side::of_sample(sample, (body, &receivers[body]), nodes)?;
            for (node, [force, torque]) in side.spread(sample.area) {
                let sum = gradient.entry(node).or_default();
                *sum = [sum[0] + force, sum[1] + torque];
            }
            rate += sample.area.dot(side.way);
            area += 0.5 * sample.area.length();
            sides.push(side);
        }
        let points = match with_friction {
            true => friction_points(bodies, &found.samples, &sides, receivers, nodes),
            false => Vec::new(),
        };
        Ok(Some(VolumeRow {
            volume: found.volume,
            gradient: gradient.into_iter().collect(),
            rate,
            area,
            points,
        }))
    }

    /// How much the volume grows, given translation and rotation of each node.
    pub fn growth(&self, of: impl Fn(usize) -> [DVec3; 2]) -> f64 {
        let dot = |&(node, [g, t]): &(usize, [DVec3; 2])| {
            let [way, turn] = of(node);
            g.dot(way) + t.dot(turn)
        };
        self.gradient.iter().map(dot).sum()
    }

    /// How much the volume shrinks under a unit pressure.
    pub fn compliance(&self, nodes: &Nodes) -> f64 {
        let load: BTreeMap<usize, [DVec3; 2]> = self.gradient.iter().copied().collect();
        self.growth(|node| nodes.response(node, load[&node]))
    }

    /// Displaces the nodes as a pressure that shrinks the volume would.
    pub fn press(&self, pressure: f64, nodes: &mut Nodes) {
        self.load(pressure, |node, load| nodes.push_node(node, load));
    }

    /// The force and torque of a pressure on each node.
    pub fn load(&self, pressure: f64, mut add: impl FnMut(usize, [DVec3; 2])) {
        for &(node, [force, torque]) in &self.gradient {
            add(node, [force * -pressure, torque * -pressure]);
        }
    }
}

impl FrictionPoint {
    /// A relative way, along the surface.
    pub fn along(&self, way: DVec3) -> DVec3 {
        way - self.normal * self.normal.dot(way)
    }

    /// How the surface slides on what faces it, by what the bodies did before.
    pub fn slip(&self) -> DVec3 {
        self.along(self.sides[0].way - self.sides[1].way)
    }

    /// The same for given translations and rotations of each node.
    pub fn slip_by(&self, values: &[[DVec3; 2]]) -> DVec3 {
        self.along(self.sides[0].moved_by(values) - self.sides[1].moved_by(values))
    }

    /// The loads of a force on the surface and its opposite on what faces it.
    pub fn load(&self, force: DVec3, mut add: impl FnMut(usize, [DVec3; 2])) {
        self.sides[0]
            .spread(force)
            .chain(self.sides[1].spread(-force))
            .for_each(|(node, load)| add(node, load));
    }
}

/// A point for each sample: what faces it is the other body there, if it is rigid, and otherwise the nearest sample of
/// the other surface.
///
/// Samples of an image have area vectors along its axis. The surface's normal is that of the sum over a triangle, and
/// the share of an area vector along it is what the three images together count once.
fn friction_points(
    bodies: [usize; 2],
    samples: &[SurfaceSample],
    sides: &[Side],
    receivers: &[Receiver<'_>],
    nodes: &mut Nodes,
) -> Vec<FrictionPoint> {
    let mut areas: BTreeMap<(usize, u32), DVec3> = BTreeMap::new();
    for sample in samples {
        if let Some(triangle) = sample.triangle {
            *areas.entry((sample.body, triangle)).or_default() += sample.area;
        }
    }
    let normal = |s: &SurfaceSample| {
        let area = s.triangle.and_then(|triangle| areas.get(&(s.body, triangle))).copied();
        area.unwrap_or(s.area).normalize_or_zero()
    };
    let normals: Vec<DVec3> = samples.iter().map(normal).collect();
    let index = SortedSamples::new(samples);
    let mut points = Vec::with_capacity(samples.len());
    for (i, sample) in samples.iter().enumerate() {
        let own = bodies[sample.body];
        let other = if bodies[0] == bodies[1] { own } else { bodies[1 - sample.body] };
        let facing = match &receivers[other] {
            Receiver::Deformable { .. } => {
                let faces = |j: usize| match own == other {
                    true => normals[i].dot(normals[j]) < 0.0,
                    false => samples[j].body != sample.body,
                };
                index.nearest(sample.point, faces).map(|j| sides[j].clone())
            }
            rigid => Some(Side::of_point(sample.point, (other, rigid), nodes)),
        };
        let (normal, area) = (normals[i], 0.5 * sample.area.dot(normals[i]).abs());
        if let Some(facing) = facing.filter(|_| area > 0.0) {
            points.push(FrictionPoint { sides: [sides[i].clone(), facing], normal, area });
        }
    }
    points
}

/// Samples by their place along x, for the search of the nearest one.
struct SortedSamples<'s> {
    samples: &'s [SurfaceSample],
    order: Vec<usize>,
}

impl<'s> SortedSamples<'s> {
    fn new(samples: &'s [SurfaceSample]) -> SortedSamples<'s> {
        let mut order: Vec<usize> = (0..samples.len()).collect();
        sort_rarely(&mut order, |&i, &j| samples[i].point.x.total_cmp(&samples[j].point.x));
        SortedSamples { samples, order }
    }

    /// The nearest sample to a point among those wanted; the first of equally near ones in the order along x.
    fn nearest(&self, point: DVec3, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let middle = self.order.partition_point(|&i| self.samples[i].point.x < point.x);
        let mut best: Option<(f64, usize)> = None;
        // Away from the point on both sides, until x alone is farther than the best.
        for side in [
            &mut self.order[middle..].iter() as &mut dyn Iterator<Item = &usize>,
            &mut self.order[..middle].iter().rev(),
        ] {
            for &i in side {
                let offset = self.samples[i].point - point;
                if best.is_some_and(|(far_sq, _)| offset.x * offset.x >= far_sq) {
                    break;
                }
                let far_sq = offset.length_squared();
                if best.is_none_or(|(nearest, _)| far_sq < nearest) && is_wanted(i) {
                    best = Some((far_sq, i));
                }
            }
        }
        best.map(|(_, i)| i)
    }
}

/// Refuses volumes that no response could trust.
pub(super) fn check(overlaps: &[([usize; 2], &Volume)], count: usize) -> Result<(), Error> {
    for (index, (bodies, found)) in overlaps.iter().enumerate() {
        let sound = |s: &SurfaceSample| {
            let shares = s.barycentric.iter().all(|share| share.is_finite());
            s.body < 2 && in_range(s.point) && s.area.is_finite() && shares
        };
        let what = if bodies.iter().any(|&body| body >= count) {
            format!("is between bodies {bodies:?}, but there are {count}")
        } else if !(0.0..f64::INFINITY).contains(&found.volume) {
            format!("is {}", found.volume)
        } else if found.volume > 0.0 && found.samples.is_empty() {
            "was asked for without samples".into()
        } else if !found.samples.iter().all(sound) {
            "has a sample that is not finite".into()
        } else {
            continue;
        };
        return Err(Error::Argument { name: "overlaps", reason: format!("volume {index} {what}") });
    }
    Ok(())
}
