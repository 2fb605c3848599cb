//! Scenes to run and to watch, each the same for the same numbers.

pub mod bounce;
pub mod clusters;
pub mod crowd;
pub mod hand;
pub mod kitchen;
pub mod manipulate;
pub mod merge;
pub mod multibody;
pub mod press;
pub mod tunnel;
pub mod walkthrough;

use impinge::scene::{Frame, Scene};
use impinge::{Budget, Error};

use crate::drawing::Drawing;

pub use bounce::Bounce;
pub use clusters::Clusters;
pub use crowd::Crowd;
pub use hand::Hand;
pub use manipulate::Manipulate;
pub use merge::Merge;
pub use multibody::Multibody;
pub use press::Press;
pub use tunnel::Tunnel;
pub use walkthrough::Walkthrough;

/// A scene that goes on frame by frame.
pub trait Scenario {
    /// One frame.
    ///
    /// # Errors
    /// A body that has left the range of coordinates.
    fn advance(&mut self, budget: &mut Budget) -> Result<Frame<'_>, Error>;

    /// The bodies and what the last frame told.
    fn scene(&self) -> &Scene;

    /// How many convex polytopes there are in all bodies; none where meshes are swept.
    fn polytopes(&self) -> usize {
        0
    }

    /// Figures of its own, such as the drift of the energy: name and value.
    fn measures(&self) -> Vec<(&'static str, f64)>;

    /// What is wrong with the scene itself; what the contacts should be is [`verify`]'s to say.
    ///
    /// # Errors
    /// The sentence that names it.
    fn check(&self) -> Result<(), String>;

    /// Whether brute force finds what the last frame told; a scene without polytopes tells no closest features
    /// and has nothing to compare.
    ///
    /// # Errors
    /// The first difference.
    fn verify(&self) -> Result<(), String> {
        if self.polytopes() == 0 { Ok(()) } else { verify(self.scene()) }
    }

    /// What [`Scenario::check`] and [`Scenario::verify`] have found when they found nothing wrong.
    fn promise(&self) -> &'static str {
        "every frame agrees with brute force, and what must be conserved is"
    }

    /// What there is to see.
    fn drawing(&self) -> Drawing;
}

/// The scenes by their names.
pub const NAMES: [&str; 8] =
    ["multibody", "walkthrough", "hand", "bounce", "tunnel", "manipulate", "press", "merge"];

/// A scene by its name; `bodies` is how many, where that can be chosen.
///
/// # Errors
/// A name that is not in [`NAMES`], or a number of bodies that the scene refuses.
pub fn by_name(name: &str, bodies: Option<usize>, seed: u64) -> Result<Box<dyn Scenario>, Error> {
    let fixed = |what: &str| match bodies {
        None => Ok(()),
        Some(_) => {
            Err(Error::Argument { name: "bodies", reason: format!("{what} has its own number of bodies") })
        }
    };
    match name {
        "multibody" => Ok(Box::new(Multibody::new(bodies.unwrap_or(multibody::BODIES), seed)?)),
        "bounce" => match bodies {
            None | Some(1) => Ok(Box::new(Bounce::new(seed)?)),
            Some(many) => Ok(Box::new(Crowd::new(many, seed)?)),
        },
        "walkthrough" => {
            fixed(name).and_then(|()| Ok(Box::new(Walkthrough::new(seed)?) as Box<dyn Scenario>))
        }
        "tunnel" => fixed(name).and_then(|()| Ok(Box::new(Tunnel::new(seed)?) as Box<dyn Scenario>)),
        "manipulate" => fixed(name).and_then(|()| Ok(Box::new(Manipulate::new()?) as Box<dyn Scenario>)),
        "merge" => fixed(name).and_then(|()| Ok(Box::new(Merge::new()?) as Box<dyn Scenario>)),
        "press" => fixed(name).and_then(|()| Ok(Box::new(Press::new()?) as Box<dyn Scenario>)),
        "hand" => fixed(name).and_then(|()| Ok(Box::new(Hand::new()?) as Box<dyn Scenario>)),
        _ => {
            let reason = format!("there is no scene {name:?}; there are {}", NAMES.join(", "));
            Err(Error::Argument { name: "scene", reason })
        }
    }
}

/// Compares the contacts of the last frame with those that brute force finds.
///
/// # Errors
/// The first difference.
pub fn verify(scene: &Scene) -> Result<(), String> {
    let (told, truth) = (scene.last(), scene.brute());
    if !told.undecided.is_empty() {
        return Err(format!("{} pairs are open, so nothing can be compared", told.undecided.len()));
    }
    if told.contacts.len() != truth.len() {
        return Err(format!("{} contacts, but brute force finds {}", told.contacts.len(), truth.len()));
    }
    for (one, other) in told.contacts.iter().zip(&truth) {
        let [d, e] = [-one.contact.depth, -other.contact.depth];
        // A walk from other features may round differently: by a few units of the scene's coordinates.
        let size = one.contact.points[0].abs().max_element().max(1.0);
        if (one.bodies, one.parts) != (other.bodies, other.parts) || (d - e).abs() > 1e-11 * size {
            return Err(format!(
                "a contact of {:?} at {d:?}, but brute force finds {:?} at {e:?}",
                one.bodies, other.bodies
            ));
        }
    }
    Ok(())
}
