//! Decompositions of shared meshes end by themselves.

use impinge::io::load;
use impinge::{DecomposeEnd, DecomposeOptions, decompose};

use crate::common::shared;

/// A thin bar whose coordinates have six digits, so that it is convex but for rounding.
#[test]
fn issue_015_a_bar_that_is_nearly_convex() {
    let Some(file) = shared("data/meshes/parry_bar.obj") else { return };
    let bar = load(file).unwrap();
    let options = DecomposeOptions { most_parts: 4, ..DecomposeOptions::DEFAULT };
    let found = decompose(&bar, &options).unwrap();
    assert!(
        (1..=4).contains(&found.parts.len()) && found.ended == DecomposeEnd::MostParts,
        "{:?}",
        found.ended
    );
    assert!(found.excess < 1e-5 * found.volume, "{} of {}", found.excess, found.volume);
    let enough = DecomposeOptions { tolerance: 1e-4, ..DecomposeOptions::DEFAULT };
    let found = decompose(&bar, &enough).unwrap();
    assert_eq!((found.parts.len(), found.ended), (1, DecomposeEnd::Tolerance));
}
