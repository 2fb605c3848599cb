//! What there is to see of a scene at one moment: meshes in their places, lines and dots.

use std::sync::Arc;

use glam::DVec3;
use impinge::{Mesh, Pose};

/// A linear colour: red, green, blue, from 0 to 1.
pub type Colour = [f64; 3];

/// One placed mesh.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Its surface.
    pub mesh: Arc<Mesh>,
    /// Where it is.
    pub pose: Pose,
    /// Its colour.
    pub colour: Colour,
}

/// A moment of a scene.
#[derive(Debug, Clone, Default)]
pub struct Drawing {
    /// The bodies.
    pub figures: Vec<Figure>,
    /// Thin lines, hidden by what is before them.
    pub lines: Vec<([DVec3; 2], Colour)>,
    /// Contacts and closest features: a line between two points, seen through everything.
    pub contacts: Vec<[DVec3; 2]>,
    /// From where the scene is looked at, as a direction; `None` leaves it to who draws.
    pub view: Option<DVec3>,
}

impl Drawing {
    /// The twelve edges of a box.
    pub fn outline(&mut self, low: DVec3, high: DVec3, colour: Colour) {
        for axis in 0..3 {
            for side in 0..4 {
                let mut corner = low;
                let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
                corner[u] = if side % 2 == 0 { low[u] } else { high[u] };
                corner[v] = if side / 2 == 0 { low[v] } else { high[v] };
                let mut other = corner;
                other[axis] = high[axis];
                self.lines.push(([corner, other], colour));
            }
        }
    }
}
