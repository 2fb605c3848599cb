//! Contacts that hang together.

use std::sync::Arc;

use glam::DVec3;

use super::front::Front;
use super::layers::Layers;
use super::posed::Posed;
use crate::contact::{Contact, Region};

/// The regions of the contacts of a front, in the order of their first contacts: contacts whose patches overlap on
/// both bodies belong together.
pub(super) fn regions(
    layers: &[Arc<Layers>; 2],
    bodies: &[Posed<'_>; 2],
    front: &Front,
    contacts: &[Contact],
) -> Vec<Region> {
    let ball = |groups: [u32; 2]| [0, 1].map(|k| layers[k].groups.ball(&bodies[k], groups[k]));
    let balls: Vec<_> = front.contacts().map(|touch| ball(touch.groups)).collect();
    let mut group: Vec<usize> = (0..balls.len()).collect();
    for i in 0..balls.len() {
        for j in 0..i {
            if (0..2).all(|k| balls[i][k].0.distance(balls[j][k].0) <= balls[i][k].1 + balls[j][k].1) {
                let (x, y) = (find(&mut group, i), find(&mut group, j));
                group[x.max(y)] = x.min(y);
            }
        }
    }
    let mut found = Vec::new();
    for i in 0..balls.len() {
        if find(&mut group, i) != i {
            continue;
        }
        let members: Vec<usize> = (i..balls.len()).filter(|&j| find(&mut group, j) == i).collect();
        found.push(region(members.iter().map(|&j| &contacts[j])));
    }
    found
}

fn find(group: &mut [usize], mut i: usize) -> usize {
    while group[i] != i {
        group[i] = group[group[i]];
        i = group[i];
    }
    i
}

/// Contacts as one region.
pub(super) fn region<'c>(contacts: impl Iterator<Item = &'c Contact> + Clone) -> Region {
    let count = contacts.clone().count().max(1) as f64;
    let centroid = contacts.clone().map(|c| c.point() / count).sum::<DVec3>();
    let normal = contacts.clone().map(|c| c.normal).sum::<DVec3>().normalize_or_zero();
    let area = contacts.clone().map(|c| c.area).sum();
    Region { centroid, normal, area, depth: contacts.map(|c| c.depth).fold(0.0, f64::max) }
}
