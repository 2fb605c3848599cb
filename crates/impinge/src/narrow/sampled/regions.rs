//! Contacts that hang together: pairs of facets that are the same or neighbours on both bodies.

use std::sync::Arc;

use glam::DVec3;

use super::front::Front;
use super::layers::Layers;
use super::self_pair::adjoin;
use crate::contact::{Contact, Region};

/// The regions of the contacts of a front, in the order of their first contacts.
pub(super) fn regions(layers: &[Arc<Layers>; 2], front: &Front, contacts: &[Contact]) -> Vec<Region> {
    let pairs: Vec<([u32; 2], [u8; 2])> =
        front.contacts().map(|(facets, levels, _)| (facets, levels)).collect();
    let mut group: Vec<usize> = (0..pairs.len()).collect();
    for i in 0..pairs.len() {
        for j in 0..i {
            let hang = (0..2).all(|k| {
                adjoin(&layers[k].shells, [pairs[i].0[k], pairs[j].0[k]], [pairs[i].1[k], pairs[j].1[k]])
            });
            if hang {
                let (x, y) = (find(&mut group, i), find(&mut group, j));
                group[x.max(y)] = x.min(y);
            }
        }
    }
    let mut found = Vec::new();
    for i in 0..pairs.len() {
        if find(&mut group, i) != i {
            continue;
        }
        let members: Vec<usize> = (i..pairs.len()).filter(|&j| find(&mut group, j) == i).collect();
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

fn region<'c>(contacts: impl Iterator<Item = &'c Contact> + Clone) -> Region {
    let count = contacts.clone().count().max(1) as f64;
    let centroid = contacts.clone().map(|c| c.point() / count).sum::<DVec3>();
    let normal = contacts.clone().map(|c| c.normal).sum::<DVec3>().normalize_or_zero();
    let area = contacts.clone().map(|c| c.area).sum();
    Region { centroid, normal, area, depth: contacts.map(|c| c.depth).fold(0.0, f64::max) }
}
