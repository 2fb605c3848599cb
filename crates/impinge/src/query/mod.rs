//! The questions: one call shape, one options value, one answer type.
//!
//! The functions at the crate's root are the ordinary case: unlimited, exact where an exact method exists. A
//! [`Query`] carries method, budget, memory and tolerances, and gives an [`Answer`](crate::Answer).

mod beside;
mod bracket;
mod openness;
mod pair;
mod plain;
mod point;
mod self_contact;
#[cfg(feature = "gpu")]
mod volume_device;
mod whole_mesh;

pub use plain::{
    closest_point, closest_point_batch, contacts, contacts_batch, contains, contains_batch, contour,
    contour_batch, distance, distance_batch, pairs, pairs_batch, pairs_within, pairs_within_batch, ray_cast,
    ray_cast_all, ray_cast_all_batch, ray_cast_any, ray_cast_any_batch, ray_cast_batch, relation,
    relation_batch, self_intersections, self_intersections_batch, separate, separate_batch, signed_distance,
    signed_distance_batch, sweep, sweep_batch, volume, volume_batch,
};
pub use point::{PointDistance, winding_number};
#[cfg(feature = "gpu")]
pub use volume_device::VolumeDevice;
pub use whole_mesh::{decompose, inspect, mass};

use crate::contact::VolumeOptions;
use crate::narrow::continuous::SweepOptions;
use crate::narrow::detector::{ContactOptions, Contacts, Memory};
use crate::narrow::image::MOST_PIXELS;
use crate::narrow::methods::Method;
use crate::num::tolerance::SWEEP_TOLERANCE;
use crate::{Budget, Error};

/// How a question is to be answered: by which method, within which budget, with which memory and to which tolerances.
///
/// The budget is drawn down by every question asked through the same value.
///
/// ```
/// use impinge::{Budget, Memory, Method, Pose, Query, Shape};
///
/// let cube = Shape::cuboid([1.0, 1.0, 1.0])?;
/// let ball = Shape::sphere(0.5)?;
/// let mut memory = Memory::default();
/// for step in 0..3 {
///     let above = Pose::from_translation([0.0, 0.0, 2.0 - 0.25 * f64::from(step)])?;
///     let mut query = Query {
///         method: Method::Gjk,
///         budget: Budget::units(1000),
///         memory: Some(&mut memory),
///         ..Query::default()
///     };
///     let answer = query.distance(&cube, ball.at(above))?;
///     assert_eq!(answer.value.unwrap().distance, 0.5 - 0.25 * f64::from(step));
///     assert_eq!(answer.method, Method::Gjk);
/// }
/// # Ok::<(), impinge::Error>(())
/// ```
#[derive(Debug)]
pub struct Query<'m> {
    /// Which method answers; `Auto` chooses the one that is expected to be fastest and says why.
    pub method: Method,
    /// How much work or time the questions may take.
    pub budget: Budget,
    /// What earlier questions about the same bodies left; `None` remembers nothing.
    pub memory: Option<&'m mut Memory>,
    /// What the random choices of a method follow from (`sampled`): the same seed gives the same answer, at any number
    /// of threads. Another seed than that of the last call begins anew. A search without a memory begins with what is nearest, whatever the seed.
    pub seed: u64,
    /// How much before the true first contact the time of an impact may lie (sweeps; in units of the step).
    pub tolerance: f64,
    /// How near surfaces may come without a contact and still be called an impact (sweeps; a length); `None`
    /// takes a billionth of the bodies' size.
    pub slack: Option<f64>,
    /// Whether closed meshes, boxes and hulls count as surfaces without an inside, so that a body may begin within one
    /// (sweeps); a body inside a curved shape or a compound is refused then.
    pub surfaces: bool,
    /// Whether open meshes push other bodies along the normals of their triangles only (contacts); else to the side
    /// on which the other body's middle lies.
    pub one_sided: bool,
    /// Whether [`Answer::relation`](crate::Answer) is found too, out of the same budget: after a distance, where one body
    /// is a solid and the distance of the surfaces alone does not tell whether they are apart, and before lists of pairs.
    pub with_relation: bool,
}

impl Default for Query<'_> {
    fn default() -> Self {
        Query {
            method: Method::Auto,
            budget: Budget::UNLIMITED,
            memory: None,
            seed: 0,
            tolerance: SWEEP_TOLERANCE,
            slack: None,
            surfaces: false,
            one_sided: false,
            with_relation: false,
        }
    }
}

impl Query<'_> {
    /// The tolerances of a sweep.
    fn sweep_options(&self) -> Result<SweepOptions, Error> {
        for (name, value) in [("tolerance", Some(self.tolerance)), ("slack", self.slack)] {
            // Negated, so that NaN is refused.
            if let Some(x) = value.filter(|x| !(*x > 0.0 && x.is_finite())) {
                return Err(Error::Argument { name, reason: format!("{x} is not positive and finite") });
            }
        }
        Ok(SweepOptions {
            tolerance: self.tolerance,
            slack: self.slack,
            surfaces: self.surfaces,
            ..SweepOptions::DEFAULT
        })
    }
}

impl Query<'_> {
    /// What is asked about contacts up to a margin.
    fn contact_options(&self, margin: f64) -> Result<ContactOptions, Error> {
        let margin = check_margin(margin)?;
        let (told, one_sided) = (Contacts::Manifold, self.one_sided);
        Ok(ContactOptions { margin, touch: 0.0, told, one_sided, asks_touch: false })
    }
}

/// The refusal of one of many questions.
fn member(what: &'static str, index: usize, error: Error) -> Error {
    Error::Member { what, index, error: Box::new(error) }
}

/// Refuses a margin that is no length.
fn check_margin(margin: f64) -> Result<f64, Error> {
    // Negated, so that NaN is refused.
    if !(margin >= 0.0 && margin.is_finite()) {
        let reason = format!("{margin} is negative or not finite");
        return Err(Error::Argument { name: "margin", reason });
    }
    Ok(margin)
}

/// Refuses sizes of images and errors that are none.
fn check_volume(options: VolumeOptions) -> Result<VolumeOptions, Error> {
    if let Some(pixels) = options.resolution.filter(|pixels| !(1..=MOST_PIXELS).contains(pixels)) {
        let reason = format!("{pixels} is not from 1 to {MOST_PIXELS}");
        return Err(Error::Argument { name: "resolution", reason });
    }
    // Negated, so that NaN is refused.
    if let Some(error) = options.error.filter(|x| !(*x > 0.0 && x.is_finite())) {
        return Err(Error::Argument { name: "error", reason: format!("{error} is not positive and finite") });
    }
    if !options.frame.is_normalized() {
        return Err(Error::Argument { name: "frame", reason: format!("{} is no rotation", options.frame) });
    }
    Ok(options)
}
