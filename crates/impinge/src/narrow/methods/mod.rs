//! The methods of collision detection: one line each in the list below, one file or folder each beside it. Names,
//! `--method`, refusals, scenes and the automatic choice all come from this list; docs/METHODS.md has a row for each.

pub mod brute;
pub mod contact;
mod each_pair;
pub mod exact;
pub mod gjk;
pub mod image;
pub mod particles;
pub mod sampled;
pub mod sphere_tree;
pub mod voronoi;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

pub(crate) use each_pair::decides_each_pair;

use super::detector::{Detector, Question};
use crate::Error;
#[cfg(feature = "unstable")]
use crate::contact::Counters;
use crate::model::ShapeKind;
#[cfg(feature = "unstable")]
use crate::narrow::shape_pair::ShapePair;

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $detector:expr;)*) => {
        /// How a question is answered: by a method of this list, or by the one that is expected to be fastest.
        ///
        /// docs/METHODS.md tells what each answers and how sure its answers are.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        #[non_exhaustive]
        pub enum Method {
            /// The method that is expected to be fastest of those whose answers are exact.
            #[default]
            Auto,
            $($(#[$doc])* $variant,)*
        }

        impl Method {
            /// Every registered method, without `Auto`.
            pub const ALL: &'static [Method] = &[$(Method::$variant),*];

            /// The name it is called by.
            pub const fn name(self) -> &'static str {
                match self {
                    Method::Auto => "auto",
                    $(Method::$variant => $name,)*
                }
            }

            /// What answers; `None` for `Auto`.
            pub(crate) fn detector(self) -> Option<&'static dyn Detector> {
                match self {
                    Method::Auto => None,
                    $(Method::$variant => Some(&$detector),)*
                }
            }
        }
    };
}

methods! {
    /// Trees, closed forms and exact predicates: answers every question about every pair of kinds without particles.
    Exact, "exact", exact::Exact;
    /// Every triangle against every other, by the same exact predicates.
    Brute, "brute", brute::Brute;
    /// The walk between Voronoi regions of two hulls (I-COLLIDE).
    Voronoi, "voronoi", voronoi::Voronoi;
    /// GJK and EPA for two convex shapes.
    Gjk, "gjk", gjk::Gjk;
    /// CONTACT's sphere covers, cubics and labels for sweeps of two meshes (Redon, Kheddar and Coquillart 2001).
    Contact, "contact", contact::Contact;
    /// Bounding spheres alone for two meshes, conservative: the bracket of the distance is stated (Quinlan 1994).
    SphereTree, "sphere_tree", sphere_tree::SphereTrees;
    /// Layered shells looked at in random order within a budget, for relations and contacts of two meshes (Guy and
    /// Debunne 2004).
    Sampled, "sampled", sampled::Sampled;
    /// Layered depth images, for volumes and contacts of any solids (Faure, Allard, Falipou and Barbier 2008).
    Image, "image", image::Image;
    /// A tree over the particles of a cloud, and the signed distance of the other body.
    Particles, "particles", particles::Particles;
}

impl Method {
    /// Whether it answers this question about these kinds, a before b.
    ///
    /// A method that decides each pair on its own answers contacts wherever it answers distances, and those of
    /// compounds wherever it does so for all kinds of parts.
    pub fn accepts(self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        match self.detector() {
            Some(detector) if detector.accepts(question, kinds) => true,
            Some(detector) if matches!(question, Question::Contacts(_)) => {
                let [parts_a, parts_b] = [part_kinds(&kinds[0]), part_kinds(&kinds[1])];
                let measures = |a, b| detector.accepts(&Question::Distance, [a, b]);
                detector.pairwise().is_some()
                    && parts_a.iter().all(|&a| parts_b.iter().all(|&b| measures(a, b)))
            }
            Some(_) => false,
            None => Method::ALL.iter().any(|method| method.accepts(question, kinds)),
        }
    }

    /// The counts that it expects for a pair.
    #[cfg(feature = "unstable")]
    pub fn expect(self, question: &Question, pair: &ShapePair<'_>) -> Counters {
        self.detector().map(|detector| detector.expect(question, pair)).unwrap_or_default()
    }

    /// The refusal of a question that the method does not answer; it names those that would.
    pub(crate) fn refusal(self, question: &Question, kinds: [ShapeKind; 2]) -> Error {
        let would = Method::ALL.iter().filter(|method| method.accepts(question, kinds));
        Error::Unanswered {
            method: self.name(),
            question: question.name(),
            kinds: kinds.map(ShapeKind::name),
            methods: would.map(|method| method.name()).collect(),
        }
    }
}

/// The kinds that a part of a body can be of.
fn part_kinds(kind: &ShapeKind) -> &[ShapeKind] {
    match kind {
        ShapeKind::Compound => &[
            ShapeKind::Hull,
            ShapeKind::Sphere,
            ShapeKind::Box,
            ShapeKind::Capsule,
            ShapeKind::Cylinder,
            ShapeKind::Cone,
            ShapeKind::Ellipsoid,
            ShapeKind::Triangle,
            ShapeKind::Segment,
        ],
        other => std::slice::from_ref(other),
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Method {
    /// By its name.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Method {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Method, D::Error> {
        <String as serde::Deserialize>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(name: &str) -> Result<Method, Error> {
        let known = || [Method::Auto].into_iter().chain(Method::ALL.iter().copied());
        known().find(|method| method.name() == name).ok_or_else(|| {
            let names: Vec<_> = known().map(Method::name).collect();
            let reason = format!("there is no method {name:?}; known are {}", names.join(", "));
            Error::Argument { name: "method", reason }
        })
    }
}
