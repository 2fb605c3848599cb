//! An assembly whose clashes are known: cells of a ring, a pin through it, a ball beside it and a plate above, in a grid.
//!
//! In every twelfth cell one part is out of place, each time in the next of six ways. Whatever the number of cells, they
//! are equally dense. Lengths across the parts are such that everything else is clear by more than 0.05.

use anyhow::Result;
use glam::DVec3;
use impinge::{ClashKind, Mesh, Pose, procedural};

/// Parts of a cell.
pub const CELL: usize = 4;

/// From cell to cell (a length).
const SPACING: f64 = 2.5;

/// Cells from one clash to the next.
const EVERY: usize = 12;

/// Parts in the order of their cells, and the clashes among them.
pub struct Assembly {
    pub parts: Vec<Mesh>,
    pub clashes: Vec<([usize; 2], ClashKind)>,
}

/// What is wrong in a cell.
#[derive(Debug, Clone, Copy)]
enum Fault {
    None,
    PinOffCentre,
    PlateTooLow,
    BallInPin,
    RingTwice,
    PlateOnPin,
    BallInRing,
}

const FAULTS: [Fault; 6] = [
    Fault::PinOffCentre,
    Fault::PlateTooLow,
    Fault::BallInPin,
    Fault::RingTwice,
    Fault::PlateOnPin,
    Fault::BallInRing,
];

impl Assembly {
    /// So many parts, a multiple of four.
    ///
    /// # Errors
    /// A body cannot be made.
    pub fn of(parts: usize) -> Result<Assembly> {
        let cells = parts / CELL;
        let across = (1..).find(|n| n * n * n >= cells).unwrap_or(1);
        // Lengths of pin and plate along z are exact in binary, so that they can touch.
        let bodies = [
            procedural::torus(0.8, 0.2, 20, 5)?,
            procedural::cylinder(0.5, 0.875, 50)?,
            procedural::uv_sphere(0.3, 8, 14)?,
            procedural::cuboid([1.125, 1.125, 0.0625], [6, 6, 1])?,
        ];
        let mut assembly = Assembly { parts: Vec::new(), clashes: Vec::new() };
        for cell in 0..cells {
            let at = [cell % across, cell / across % across, cell / (across * across)];
            let at = DVec3::from(at.map(|i| i as f64)) * SPACING;
            let fault = match cell % EVERY {
                0 => FAULTS[cell / EVERY % FAULTS.len()],
                _ => Fault::None,
            };
            assembly.add(&bodies, at, cell, fault)?;
        }
        Ok(assembly)
    }

    fn add(
        &mut self,
        [ring, pin, ball, plate]: &[Mesh; CELL],
        at: DVec3,
        cell: usize,
        fault: Fault,
    ) -> Result<()> {
        let first = self.parts.len();
        let (mut pin_at, mut ball_at, mut plate_at) =
            (DVec3::ZERO, DVec3::new(1.1, 1.1, 0.4), DVec3::new(0.0, 0.0, 1.0625));
        let mut third = ball;
        let clash = match fault {
            Fault::None => None,
            Fault::PinOffCentre => {
                pin_at.x = 0.25;
                Some(([0, 1], ClashKind::Hard))
            }
            Fault::PlateTooLow => {
                plate_at.z = 0.875;
                Some(([1, 3], ClashKind::Hard))
            }
            Fault::BallInPin => {
                ball_at = DVec3::new(0.0, 0.0, 0.1);
                Some(([1, 2], ClashKind::Inside))
            }
            Fault::RingTwice => {
                (third, ball_at) = (ring, DVec3::ZERO);
                Some(([0, 2], ClashKind::Duplicate))
            }
            Fault::PlateOnPin => {
                plate_at.z = 0.9375;
                Some(([1, 3], ClashKind::Touching))
            }
            Fault::BallInRing => {
                ball_at = DVec3::new(0.9, 0.0, 0.3);
                Some(([0, 2], ClashKind::Hard))
            }
        };
        // A turn of its own for each cell, about the axis of ring and pin.
        let turn = 0.1 + cell as f64 * 0.7;
        let turned = |mesh: &Mesh, by: DVec3| moved(mesh, at + by, turn);
        self.parts.push(turned(ring, DVec3::ZERO)?);
        self.parts.push(turned(pin, pin_at)?);
        self.parts.push(turned(third, ball_at)?);
        self.parts.push(moved(plate, at + plate_at, 0.0)?);
        self.clashes.extend(clash.map(|(pair, kind)| (pair.map(|k| first + k), kind)));
        Ok(())
    }
}

/// Turned about z, then moved.
fn moved(mesh: &Mesh, by: DVec3, turn: f64) -> Result<Mesh> {
    let (sin, cos) = (0.5 * turn).sin_cos();
    let pose = Pose::new(by.to_array(), [0.0, 0.0, sin, cos])?;
    let vertices = mesh.vertices().iter().map(|&p| pose.apply(p)).collect();
    Ok(Mesh::from_points(vertices, mesh.triangles().to_vec())?)
}

#[cfg(test)]
mod tests {
    use impinge::{ClashOptions, Part, clash};

    use super::*;

    #[test]
    fn the_clashes_are_those_that_were_made() {
        let Assembly { parts, clashes } = Assembly::of(CELL * EVERY * FAULTS.len()).unwrap();
        let triangles: usize = parts.iter().map(|mesh| mesh.triangles().len()).sum();
        assert!((199 * parts.len()..=200 * parts.len()).contains(&triangles), "{triangles}");
        let parts: Vec<Part> = parts.into_iter().map(|mesh| Part::new("", mesh)).collect();
        let mut options = ClashOptions { clearance: 0.05, only_kinds: true, ..ClashOptions::default() };
        let found = clash(&parts, &mut options).unwrap();
        let found: Vec<_> = found.clashes.iter().map(|clash| (clash.parts, clash.kind)).collect();
        assert_eq!(found, clashes);
        assert_eq!(clashes.len(), FAULTS.len());
    }
}
