//! Method `contact`: CONTACT (Redon, Kheddar and Coquillart 2001) for sweeps of two meshes.

use super::decides_each_pair;
use super::exact::{first_contact, meshes};
use crate::contact::{Counters, Verdict};
use crate::model::{Geometry, ShapeKind};
use crate::narrow::continuous::contact::{Covered, SphereCover, sweep_within};
use crate::narrow::continuous::{Sweep, SweepOptions};
use crate::narrow::method::{Detector, PairKernel, Question};
use crate::narrow::pair_memory::PairMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::{Budget, Error, Motion};

/// Sphere covers, cubics under a screw, labels.
#[derive(Debug, Clone, Copy)]
pub struct Contact;

impl Detector for Contact {
    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        matches!(question, Question::Sweep(_)) && kinds.iter().all(|kind| kind.is_mesh())
    }

    fn expect(&self, _: &Question, pair: &ShapePair<'_>) -> Counters {
        let [m, n] = pair.shapes.map(Geometry::primitives);
        // The spheres are about as many as the triangles, and are laid anew for each question.
        Counters { volume_tests: m + n, primitive_tests: 1, updates: m + n }
    }

    decides_each_pair!();
}

impl PairKernel for Contact {
    fn sweep(
        &self,
        pair: &ShapePair<'_>,
        options: &SweepOptions,
        _: &mut PairMemory,
        budget: &mut Budget,
    ) -> Result<Verdict<Sweep>, Error> {
        let Some([a, b]) = meshes(pair) else { return Ok(Verdict::refused()) };
        let still = pair.poses.map(|pose| Motion::Still(*pose));
        let motions = pair.motions.unwrap_or([&still[0], &still[1]]);
        let [over_a, over_b] = [SphereCover::automatic(a.mesh())?, SphereCover::automatic(b.mesh())?];
        let bodies = [Covered { model: a, spheres: &over_a }, Covered { model: b, spheres: &over_b }];
        Ok(first_contact(sweep_within(bodies, motions, options, budget)?))
    }
}
