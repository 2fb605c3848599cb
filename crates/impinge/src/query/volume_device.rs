//! Volumes by images on the graphics processor.

use super::plain::value;
use super::{Query, check_volume};
use crate::Error;
use crate::contact::{Volume, VolumeOptions};
use crate::model::Placed;
use crate::narrow::image::gpu::{self, Device};
use crate::narrow::methods::Method;
use crate::narrow::shape_pair::ShapePair;

/// A graphics processor that measures volumes as [`Method::Image`] does, and the processor where there is none.
///
/// ```
/// use impinge::{Pose, Shape, VolumeDevice, VolumeOptions, procedural};
///
/// let device = VolumeDevice::new();
/// let ball = Shape::from(procedural::ico_sphere(1.0, 3)?);
/// let options = VolumeOptions { gradient: true, resolution: Some(64), ..VolumeOptions::default() };
/// let found = device.volume(&ball, ball.at(Pose::from_translation([1.0, 0.2, 0.1])?), options)?;
/// println!("{} ± {}, {}", found.volume, found.error, device.note());
/// # Ok::<(), impinge::Error>(())
/// ```
#[derive(Debug)]
pub struct VolumeDevice {
    device: Option<Device>,
    note: String,
}

impl VolumeDevice {
    /// The best graphics processor there is. Finding it takes a while: keep it.
    #[must_use]
    pub fn new() -> VolumeDevice {
        match Device::find() {
            Ok(device) => {
                let note = format!("on the graphics processor {}", device.name());
                VolumeDevice { device: Some(device), note }
            }
            Err(reason) => {
                let note = format!("on the processor, for there is no graphics processor: {reason}");
                VolumeDevice { device: None, note }
            }
        }
    }

    /// Whether there is a graphics processor.
    pub fn has_gpu(&self) -> bool {
        self.device.is_some()
    }

    /// Where volumes are measured, and why.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// How much two solids overlap, with the derivative by every vertex if the options ask for it; see
    /// [`Query::volume`].
    ///
    /// The graphics processor gives volume, error and gradient, and does not tell regions apart. Samples, open meshes,
    /// a wanted error and what is too large for it are left to the processor.
    ///
    /// # Errors
    /// As [`Query::volume`] by [`Method::Image`].
    pub fn volume<'s>(
        &self,
        a: impl Into<Placed<'s>>,
        b: impl Into<Placed<'s>>,
        options: VolumeOptions,
    ) -> Result<Volume, Error> {
        let (a, b) = (a.into(), b.into());
        let options = check_volume(options)?;
        let poses = [a.pose(), b.pose()];
        let pair = ShapePair::of([&a, &b], &poses);
        if !Method::Image.accepts(&crate::Question::Volume(options), pair.kinds()) {
            return Err(Method::Image.refusal(&crate::Question::Volume(options), pair.kinds()));
        }
        if let Some(device) = &self.device
            && let Some(found) = gpu::volume(device, &pair, &options)?
        {
            return Ok(found);
        }
        value(Query { method: Method::Image, ..Query::default() }.volume(a, b, options))
    }
}

impl Default for VolumeDevice {
    fn default() -> VolumeDevice {
        VolumeDevice::new()
    }
}
