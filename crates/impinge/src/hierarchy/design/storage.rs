//! The tree in arrays: nodes with their parents before them, links to children, volumes by kind.

use std::mem::size_of;

use glam::DVec3;

use super::Options;
use crate::bound::{Aabb, Bound, BoundRef, Dop, Hull, Obb, Shell, Sphere, Volume};

/// One node; a leaf has no links.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Node {
    /// Radius of a ball around the volume.
    pub(super) radius: f64,
    /// First triangle slot below this node, where it stands in the tree it was built in.
    pub(super) first: u32,
    /// Number of triangles below it.
    pub(super) count: u32,
    /// First of its links.
    pub(super) links: u32,
    /// Place of its volume among those of its kind.
    pub(super) bound: u32,
    /// Number of links.
    pub(super) degree: u8,
    /// Kind of its volume.
    pub(super) kind: Volume,
}

/// The way to a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) node: u32,
    /// First slot of the child, counted from the parent's first.
    pub(super) offset: u32,
}

/// A tree, or a DAG, over the triangles of one mesh.
///
/// It does not hold the mesh: a query takes both, and a moved mesh is answered for after an update.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    pub(super) options: Options,
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
    /// Where each link's child lies, seen from where it was built; empty when nothing is shared.
    pub(super) shifts: Vec<DVec3>,
    pub(super) bounds: Bounds,
    /// Triangle indices, by slot.
    pub(super) order: Vec<u32>,
    /// Largest distance of a vertex from the origin, rounded up.
    pub(super) reach: f64,
    /// What [`Tree::cost`] was after the build.
    pub(super) built_cost: f64,
}

impl Tree {
    /// How it was designed.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Nodes stored.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Whether some subtree stands for several places.
    pub fn is_shared(&self) -> bool {
        !self.shifts.is_empty()
    }

    /// Memory of nodes, links, volumes and slots; the vertices not counted.
    pub fn bytes(&self) -> usize {
        size_of::<Tree>()
            + self.nodes.len() * size_of::<Node>()
            + self.links.len() * size_of::<Link>()
            + self.shifts.len() * size_of::<DVec3>()
            + self.order.len() * size_of::<u32>()
            + self.nodes.iter().map(|n| self.bound(n).bytes()).sum::<usize>()
    }

    /// The volume of the root.
    pub fn root(&self) -> BoundRef<'_> {
        self.bound(&self.nodes[0])
    }

    #[inline]
    pub(super) fn bound(&self, node: &Node) -> BoundRef<'_> {
        self.bounds.get(node.kind, node.bound as usize)
    }

    #[inline]
    pub(super) fn links_of(&self, node: &Node) -> std::ops::Range<usize> {
        node.links as usize..node.links as usize + usize::from(node.degree)
    }

    /// The kinds of volume that occur.
    pub(super) fn kinds(&self) -> Vec<Volume> {
        Volume::ALL.into_iter().filter(|&k| self.nodes.iter().any(|n| n.kind == k)).collect()
    }
}

/// Volumes, those of one kind side by side.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Bounds {
    pub(super) sphere: Vec<Sphere>,
    pub(super) aabb: Vec<Aabb>,
    pub(super) obb: Vec<Obb>,
    pub(super) dop6: Vec<Dop<3>>,
    pub(super) dop14: Vec<Dop<7>>,
    pub(super) dop18: Vec<Dop<9>>,
    pub(super) dop26: Vec<Dop<13>>,
    pub(super) shell: Vec<Shell>,
    pub(super) hull: Vec<Hull>,
}

impl Bounds {
    #[inline]
    pub(super) fn get(&self, kind: Volume, i: usize) -> BoundRef<'_> {
        match kind {
            Volume::Sphere => BoundRef::Sphere(&self.sphere[i]),
            Volume::Aabb => BoundRef::Aabb(&self.aabb[i]),
            Volume::Obb => BoundRef::Obb(&self.obb[i]),
            Volume::Dop6 => BoundRef::Dop6(&self.dop6[i]),
            Volume::Dop14 => BoundRef::Dop14(&self.dop14[i]),
            Volume::Dop18 => BoundRef::Dop18(&self.dop18[i]),
            Volume::Dop26 => BoundRef::Dop26(&self.dop26[i]),
            Volume::Shell => BoundRef::Shell(&self.shell[i]),
            Volume::Hull => BoundRef::Hull(&self.hull[i]),
        }
    }

    /// Writes a volume at a place, which may be the first free one.
    pub(super) fn set(&mut self, i: usize, bound: Bound) {
        fn put<V>(all: &mut Vec<V>, i: usize, v: V) {
            debug_assert!(i <= all.len());
            match all.get_mut(i) {
                Some(place) => *place = v,
                None => all.push(v),
            }
        }
        match bound {
            Bound::Sphere(b) => put(&mut self.sphere, i, b),
            Bound::Aabb(b) => put(&mut self.aabb, i, b),
            Bound::Obb(b) => put(&mut self.obb, i, b),
            Bound::Dop6(b) => put(&mut self.dop6, i, b),
            Bound::Dop14(b) => put(&mut self.dop14, i, b),
            Bound::Dop18(b) => put(&mut self.dop18, i, b),
            Bound::Dop26(b) => put(&mut self.dop26, i, b),
            Bound::Shell(b) => put(&mut self.shell, i, b),
            Bound::Hull(b) => put(&mut self.hull, i, b),
        }
    }

    /// How many volumes of a kind there are.
    pub(super) fn len(&self, kind: Volume) -> usize {
        match kind {
            Volume::Sphere => self.sphere.len(),
            Volume::Aabb => self.aabb.len(),
            Volume::Obb => self.obb.len(),
            Volume::Dop6 => self.dop6.len(),
            Volume::Dop14 => self.dop14.len(),
            Volume::Dop18 => self.dop18.len(),
            Volume::Dop26 => self.dop26.len(),
            Volume::Shell => self.shell.len(),
            Volume::Hull => self.hull.len(),
        }
    }
}
