//! Where two shapes overlap or come near, with normal and depth, and the translation that takes them apart.
//!
//! Two convex shapes have the patch of their penetration depth (`convex_pair`, `contact_patch`), a convex shape on a
//! mesh the contacts of features whose Voronoi regions hold the normal (`convex_on_mesh`), two meshes those of each
//! region of their intersection (`solids`). Compounds are asked part by part by those who call this.

pub(crate) mod contact_patch;
mod convex_mesh_hull;
mod convex_on_mesh;
mod convex_pair;
mod curved_on_mesh;
mod interval;
mod local_surface;
mod lower_part;
mod part_translation;
mod payment;
mod polytope_on_mesh;
mod region_depth;
mod rescaled;
mod round_on_mesh;
mod separate;
mod solids;
mod translation;

#[cfg(test)]
mod overlap_tests;
#[cfg(test)]
mod tests;

pub use separate::{SeparatingTranslation, separate};
pub(crate) use separate::{separate_by_guesses, way_beside};

use super::kernel_memory::KernelMemory;
use super::shape_pair::ShapePair;
use crate::Budget;
use crate::contact::{Contact, Counters, Finish, Outcome, Verdict};
use crate::model::Geometry;
use convex_on_mesh::OnMesh;
use rescaled::Rescaled;

/// Which contacts are wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    /// Contacts are told up to this distance (a length).
    pub margin: f64,
    /// Whether an open mesh pushes along the normals of its triangles only.
    pub one_sided: bool,
    /// Whether a shape whose middle has sunk into a solid is told how to get out, which takes a search.
    pub deep: bool,
}

/// The contacts of two shapes that are no compounds, not farther apart than the margin.
pub fn contacts(
    pair: &ShapePair<'_>,
    wanted: Wanted,
    memory: &mut KernelMemory,
    budget: &mut Budget,
) -> Verdict<Vec<Contact>> {
    match Rescaled::of(pair, budget) {
        Some(None) => {}
        Some(Some(rescaled)) => return rescaled.contacts(wanted, budget),
        None => return Verdict::out_of_budget(),
    }
    in_this_unit(pair, wanted, memory, budget)
}

/// The contacts of two shapes whose lengths are neither tiny nor huge.
fn in_this_unit(
    pair: &ShapePair<'_>,
    wanted: Wanted,
    memory: &mut KernelMemory,
    budget: &mut Budget,
) -> Verdict<Vec<Contact>> {
    let [pose_a, pose_b] = pair.poses;
    let (mut found, mut work) = (Vec::new(), Counters::default());
    let certainty = match pair.shapes {
        [Geometry::Convex(a), Geometry::Convex(b)] => {
            if !budget.draw_or_rest(1) {
                return Verdict::out_of_budget();
            }
            work.primitive_tests += 1;
            Some(convex_pair::contacts([a, b], pair.poses, wanted.margin, memory, &mut found))
        }
        [Geometry::Mesh(a), Geometry::Mesh(b)] => {
            solids::contacts([a, b], pair.poses, wanted, memory, budget, &mut work, &mut found)
        }
        [Geometry::Mesh(mesh), shape @ Geometry::Convex(convex)] => {
            let (mesh_pose, pose) = (pose_a, pose_b);
            let asked = OnMesh { mesh, mesh_pose, shape, convex, pose, wanted };
            convex_on_mesh::contacts(&asked, memory, budget, &mut work, &mut found)
        }
        [Geometry::Convex(_), Geometry::Mesh(_)] => {
            let swapped = in_this_unit(&pair.swapped(), wanted, memory, budget);
            return swapped.map(|found| found.into_iter().map(Contact::swapped).collect());
        }
        // Compounds go part by part, clouds to their own method.
        [Geometry::Compound(_) | Geometry::Particles(_), _]
        | [_, Geometry::Compound(_) | Geometry::Particles(_)] => {
            return Verdict::refused();
        }
    };
    match certainty {
        Some(certainty) => Verdict::new(Some(found), Outcome { certainty, finish: Finish::Complete, work }),
        None => Verdict::out_of_budget(),
    }
}
