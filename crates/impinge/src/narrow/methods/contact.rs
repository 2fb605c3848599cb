//! Method `contact`: CONTACT (Redon, Kheddar and Coquillart 2001) for sweeps of two meshes.

use super::decides_each_pair;
use super::exact::meshes;
use crate::contact::{Counters, Verdict};
use crate::model::{Fact, Geometry, ShapeKind};
use crate::narrow::continuous::contact::{Covered, sweep_within};
use crate::narrow::continuous::{Sweep, SweepOptions};
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::unfinished::{Kernel, ask};
use crate::narrow::detector::{Detector, PairKernel, Question};
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::narrow::solid_sweep;
use crate::{Budget, Error, Motion};

/// Sphere covers, cubics under a screw, labels.
#[derive(Debug, Clone, Copy)]
pub struct Contact;

impl Detector for Contact {
    fn name(&self) -> &'static str {
        "contact"
    }

    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        matches!(question, Question::Sweep(_)) && kinds.iter().all(|kind| kind.is_mesh())
    }

    fn expect(&self, _: &Question, pair: &ShapePair<'_>) -> Counters {
        let [m, n] = pair.shapes.map(Geometry::primitives);
        // There are about as many spheres as triangles; they are built once.
        let laid = |shape: &Geometry| shape.model().is_some_and(|model| model.knows(Fact::SphereCover));
        let updates = pair.shapes.iter().filter(|shape| !laid(shape)).map(|shape| shape.primitives()).sum();
        Counters { volume_tests: m + n, primitive_tests: 1, updates }
    }

    decides_each_pair!();
}

impl PairKernel for Contact {
    fn sweep(
        &self,
        pair: &ShapePair<'_>,
        options: &SweepOptions,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Result<Verdict<Sweep>, Error> {
        let kernel: Kernel<Sweep> = |pair, question, memory, budget| {
            let (Some([a, b]), Question::Sweep(options)) = (meshes(pair), question) else {
                return Ok(Verdict::refused());
            };
            let still = pair.poses.map(|pose| Motion::Still(*pose));
            let motions = pair.motions.unwrap_or([&still[0], &still[1]]);
            let bodies = [
                Covered { model: a, spheres: a.sphere_cover()? },
                Covered { model: b, spheres: b.sphere_cover()? },
            ];
            let surfaces = |options: &SweepOptions, _: &mut KernelMemory, budget: &mut Budget| {
                sweep_within(bodies, motions, options, budget)
            };
            let memory = &mut memory.kernel;
            Ok(solid_sweep::with_surfaces(pair.shapes, motions, options, memory, budget, surfaces)?.into())
        };
        ask("contact", &Question::Sweep(*options), pair, memory, budget, kernel)
    }
}
