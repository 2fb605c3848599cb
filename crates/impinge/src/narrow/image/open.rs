//! Open surfaces: as the border of a half-infinite solid, or with their holes thought to be covered.
//!
//! Half-infinite (the paper's extension for ground and bags): everything behind the surface is inside. In a column with
//! layers the winding number before the first is as large as it must be to stay positive. A column along the surface has
//! no layers; there the image along the axis that sees most of the surface tells on which side the column runs.
//!
//! Covered: the points around which the surface winds at least half (Jacobson, Kavan and Sorkine-Hornung 2013). Between
//! layers the winding number changes smoothly, so an end without a layer, on the cover of a hole, is found by halving.

use glam::DVec3;

use super::body::OnLattice;
use super::lattice::{Axis, Lattice};
use super::layer::{Face, Inside, Interval, Layer, Sorting};
use crate::contact::OpenSurface;
use crate::model::Model;
use crate::narrow::exact::generalized_winding::SolidAngles;
use crate::num::tolerance::INTERVAL_NUDGE;
use crate::{Mesh, Pose};

/// Halvings of the way between two layers: its ends are then as good as rounding.
const HALVINGS: usize = 40;

/// What is known about the open bodies of a drawing.
#[derive(Debug, Default)]
pub struct OpenBodies<'m> {
    of: [Option<OpenBody<'m>>; 2],
}

#[derive(Debug)]
enum OpenBody<'m> {
    HalfSpace(Ground),
    Winding(SolidAngles<'m>, Pose),
}

/// The image along the axis that sees most of an open surface: the layers of each column.
#[derive(Debug)]
struct Ground {
    axis: Axis,
    starts: Vec<u32>,
    layers: Vec<Layer>,
}

impl<'m> OpenBodies<'m> {
    /// Adds a body that is open.
    pub fn add(
        &mut self,
        body: usize,
        open: OpenSurface,
        (model, pose): (&'m Model, &Pose),
        on: &OnLattice<'_, '_>,
        lattice: &Lattice,
    ) {
        self.of[body] = Some(match open {
            OpenSurface::HalfSpace => OpenBody::HalfSpace(Ground::new(body, model.mesh(), pose, on, lattice)),
            OpenSurface::Winding => OpenBody::Winding(SolidAngles::new(model), *pose),
        });
    }

    pub fn is_empty(&self) -> bool {
        self.of.iter().all(Option::is_none)
    }

    /// The bodies without whose layers a column holds nothing, as bits.
    pub fn needed(&self) -> u32 {
        (0..2).filter(|&k| self.of[k].is_none()).fold(0, |bits, k| bits | 1 << k)
    }

    /// Appends the parts of a column that lie in both bodies.
    pub fn intervals(
        &self,
        lattice: &Lattice,
        axis: Axis,
        column: u32,
        layers: &[Layer],
        found: &mut Vec<Interval>,
    ) {
        let [along, across] = lattice.sample(column % lattice.pixels, column / lattice.pixels);
        let along = lattice.coordinate(axis.along, along);
        let across = lattice.coordinate(axis.across, across);
        let at = |depth: f64| axis.point(along, across, depth);
        let [low, high] = [lattice.bounds.low, lattice.bounds.high].map(|p| p[axis.depth]);
        let mut winding = [0, 1].map(|body| match &self.of[body] {
            Some(OpenBody::HalfSpace(ground)) => {
                least_winding(layers.iter().filter(|layer| layer.face.body() == body))
                    .unwrap_or_else(|| ground.winding(lattice, at(low.midpoint(high))))
            }
            _ => 0,
        });
        let rounding = lattice.rounding();
        let mut begun: Option<(f64, Face)> = None;
        let finish = |begun: Option<(f64, Face)>, depth: f64, face: Face, found: &mut Vec<Interval>| {
            if let Some((from, first)) = begun.filter(|(from, _)| depth - from > rounding) {
                let (depth, face) = ([from, depth], [first, face]);
                found.push(Interval { column, depth, face, shared: [Face::NONE; 2] });
            }
        };
        // The pieces between layers, from the box's lower end to its upper.
        let ends = layers.iter().map(|layer| (layer.depth, Some(layer))).chain([(high, None)]);
        let mut from = low;
        for (depth, layer) in ends {
            let to = depth.clamp(low, high);
            if to - from > rounding {
                let inside = |t: f64| {
                    (0..2).all(|body| match &self.of[body] {
                        Some(OpenBody::Winding(angles, pose)) => angles.is_enclosed(pose, at(t)),
                        _ => winding[body] != 0,
                    })
                };
                let counts = (0..2)
                    .all(|body| matches!(self.of[body], Some(OpenBody::Winding(..))) || winding[body] != 0);
                let nudge = INTERVAL_NUDGE * (to - from);
                let [first, last] = match counts {
                    true => [inside(from + nudge), inside(to - nudge)],
                    false => [false; 2],
                };
                if !first {
                    begun = None;
                }
                if first != last {
                    let middle = halved(from, to, |t| inside(t) == first);
                    let cover = self.cover();
                    if first {
                        finish(begun.take().or(Some((from, cover))), middle, cover, found);
                    } else {
                        begun = Some((middle, cover));
                    }
                } else if first && begun.is_none() {
                    begun = Some((from, self.cover()));
                }
            }
            let Some(layer) = layer else {
                finish(begun.take(), high, self.cover(), found);
                break;
            };
            let body = layer.face.body();
            winding[body] += layer.face.winds();
            finish(begun.take(), to, layer.face, found);
            begun = Some((to, layer.face));
            from = to;
        }
    }

    /// The cover of a hole of the open body.
    fn cover(&self) -> Face {
        Face::cover(usize::from(self.of[0].is_none()))
    }
}

/// The least winding number before the layers of one body with which none is negative; `None` without layers.
fn least_winding<'l>(layers: impl Iterator<Item = &'l Layer>) -> Option<i32> {
    let (mut sum, mut least, mut any) = (0, 0, false);
    for layer in layers {
        sum += layer.face.winds();
        (least, any) = (least.min(sum), true);
    }
    any.then_some(-least)
}

/// Where something stops to hold between two depths.
fn halved(mut from: f64, mut to: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..HALVINGS {
        let middle = from.midpoint(to);
        if holds(middle) { from = middle } else { to = middle }
    }
    from.midpoint(to)
}

impl Ground {
    fn new(body: usize, mesh: &Mesh, pose: &Pose, on: &OnLattice<'_, '_>, lattice: &Lattice) -> Ground {
        let turn = pose.matrix();
        let shadows = (0..mesh.triangles().len() as u32).map(|t| {
            let [a, b, c] = mesh.corners(t);
            (turn * (b - a).cross(c - a)).abs()
        });
        let shadow: DVec3 = shadows.sum();
        let axis = Axis::ALL[shadow.max_position()];
        let mut all = vec![Vec::new()];
        on.draw(lattice, axis, body, [0, lattice.pixels], None, &mut all[0]);
        let columns = lattice.pixels * lattice.pixels;
        let mut starts = vec![0; columns as usize + 1];
        let mut layers = Vec::new();
        let mut sorting = Sorting::default();
        sorting.columns(lattice, [0, lattice.pixels], &all, 1 << body, |column, own| {
            starts[column as usize + 1] = own.len() as u32;
            layers.extend_from_slice(own);
        });
        for column in 0..columns as usize {
            starts[column + 1] += starts[column];
        }
        Ground { axis, starts, layers }
    }

    /// The winding number at a point; 0 where the image does not see the surface.
    fn winding(&self, lattice: &Lattice, p: DVec3) -> i32 {
        let Some([column, row]) = lattice.nearest(self.axis, p) else { return 0 };
        let column = (row * lattice.pixels + column) as usize;
        let own = &self.layers[self.starts[column] as usize..self.starts[column + 1] as usize];
        let before = own.iter().filter(|layer| layer.depth < p[self.axis.depth]);
        least_winding(own.iter())
            .map_or(0, |least| least + before.map(|layer| layer.face.winds()).sum::<i32>())
    }
}

impl Inside {
    /// The bodies without whose layers a column holds nothing, as bits.
    pub fn needed(self) -> u32 {
        match self {
            Inside::Both => 3,
            Inside::Twice => 1,
        }
    }
}
