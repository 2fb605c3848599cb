//! Pairs of facets of one body: self-collision with the same algorithm (Guy and Debunne 2004, section 5).
//!
//! Facets that share a part of their border touch always. The paper says nothing about them; here a patch whose
//! normals all lie within a cone of less than a right angle counts as free of self-collisions (Volino and
//! Magnenat-Thalmann 1994), without their test of its contour. The cones are those of rest, moved with the facets
//! one level below, so this is an estimate: answers about one body are never called proved.

use super::facet_pair::{self, Gap};
use super::posed::Posed;
use super::shells::{Facet, Shells};

/// The largest angle between a facet's normal and those below it at rest (radians), by level and facet.
pub(super) type Cones = Vec<Vec<f32>>;

/// Sum of angles above which a patch may meet itself (radians): somewhat below a right angle.
const FLAT: f64 = 1.4;

/// Share of a facet's radius by which vertices move when its normals turn by a radian (no unit): how long a patch
/// counts as flat after it was looked at.
const TURN: f64 = 0.25;

/// How far two patches of one body are apart; for patches that share a border, how far they may move before they
/// could meet, by the angles of their normals; 0 or less where that is not known.
pub(super) fn gap(
    body: &Posed<'_>,
    cones: &Cones,
    facets: [u32; 2],
    levels: [u8; 2],
    placed: &[Facet; 2],
    pad: f64,
) -> Gap {
    let same = (facets[0], levels[0]) == (facets[1], levels[1]);
    if !same {
        let gap = facet_pair::gap(&placed[0], &placed[1]);
        let gap = Gap { width: gap.width - pad, ..gap };
        if gap.width > 0.0 || !adjoin(body.shells, facets, levels) {
            return gap;
        }
    }
    let spread = |k: usize| spread(body, cones, facets[k], levels[k], &placed[k]);
    let between = if same { 0.0 } else { angle(&placed[0], &placed[1]) };
    let slack = FLAT - spread(0) - spread(1) - between;
    Gap { width: slack * TURN * placed[0].radius.min(placed[1].radius), direction: glam::DVec3::ZERO }
}

/// The largest angle between the normal of a facet and those below it, as far as its children tell.
fn spread(body: &Posed<'_>, cones: &Cones, facet: u32, level: u8, placed: &Facet) -> f64 {
    if level == 0 {
        return 0.0;
    }
    let below = |&child: &u32| {
        let own = body.facet(level - 1, child);
        angle(placed, &own) + f64::from(cones[usize::from(level) - 1][child as usize])
    };
    body.shells.levels[usize::from(level)].children.of(facet).iter().map(below).fold(0.0, f64::max)
}

fn angle(a: &Facet, b: &Facet) -> f64 {
    a.normal.dot(b.normal).clamp(-1.0, 1.0).acos()
}

/// Whether two facets, perhaps of different levels, are the same or neighbours.
pub(super) fn adjoin(shells: &Shells, facets: [u32; 2], levels: [u8; 2]) -> bool {
    let [mut a, mut b] = facets;
    let coarser = levels[0].max(levels[1]);
    for level in levels[0]..coarser {
        a = shells.levels[usize::from(level)].parent[a as usize];
    }
    for level in levels[1]..coarser {
        b = shells.levels[usize::from(level)].parent[b as usize];
    }
    a == b || shells.levels[usize::from(coarser)].neighbours.of(a).contains(&b)
}

/// The cones of normals of all facets at rest, each no narrower than it is.
pub(super) fn cones(shells: &Shells) -> Cones {
    let mut cones: Cones = vec![vec![0.0; shells.levels[0].corners.len()]];
    for level in 1..shells.levels.len() {
        let (own, below) = (&shells.levels[level], &shells.levels[level - 1]);
        let spread = |i: u32| {
            let wide = |&c: &u32| {
                angle(&own.facets[i as usize], &below.facets[c as usize]) as f32
                    + cones[level - 1][c as usize]
            };
            own.children.of(i).iter().map(wide).fold(0.0, f32::max)
        };
        let found = (0..own.corners.len() as u32).map(spread).collect();
        cones.push(found);
    }
    cones
}
