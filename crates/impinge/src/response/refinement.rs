//! The link from contacts to a multiresolution deformable model: where it is to be fine (Guy and Debunne 2004,
//! section 5.2).
//!
//! The paper lets the switches of its shells drive the model. Here the link is a list of regions that any source of
//! contacts and near pairs yields, so that a model needs to know neither the shells nor their levels. As with the
//! shells, what is fine enough follows from the gap: details much smaller than it cannot touch yet.

use std::f64::consts::PI;

use glam::DVec3;

use crate::Contact;

/// A part of space in which a deformable model is to be fine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FineRegion {
    /// The middle of a ball, in the world.
    pub centre: DVec3,
    /// Its radius.
    pub radius: f64,
    /// The wanted length of an edge there.
    pub resolution: f64,
}

/// A deformable model that can be told where to be fine.
///
/// What it shows must not change by being told: a vertex that begins or ends to be simulated stays where it is.
pub trait Refinable {
    /// Is fine in these regions, given in every step, and may be coarse elsewhere. Returns how many vertices began and
    /// how many ended to be simulated on their own.
    fn refine(&mut self, regions: &[FineRegion]) -> [usize; 2];
}

impl FineRegion {
    /// The regions for one side (0 for a, 1 for b) of contacts and near pairs at most `reach` apart.
    ///
    /// Each is a ball of radius `reach` around the patch of the contact. The wanted resolution is the gap, but not
    /// below `finest`. Contacts without numbers, and a side that is neither, want nothing.
    pub fn around<'c>(
        contacts: impl IntoIterator<Item = &'c Contact>,
        side: usize,
        reach: f64,
        finest: f64,
    ) -> Vec<FineRegion> {
        let region = |contact: &Contact| {
            let centre = *contact.points.get(side)?;
            let gap = (-contact.depth).max(0.0);
            let radius = reach + (contact.area / PI).sqrt();
            let wanted = contact.depth >= -reach && centre.is_finite() && radius.is_finite();
            wanted.then_some(FineRegion { centre, radius, resolution: gap.max(finest) })
        };
        contacts.into_iter().filter_map(region).collect()
    }
}
