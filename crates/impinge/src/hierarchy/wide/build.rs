//! Building the tree: a binary tree by the surface-area heuristic, collapsed to eight children a node.
//!
//! Wald, "On fast construction of SAH-based bounding volume hierarchies", 2007 (binning, and the whole
//! triangle carried through the passes instead of an index). We leave it in two points. Every split lies
//! at a multiple of the number of triangles of a bottom node, so all bottom nodes but one are full, the
//! memory is known beforehand, and each subtree knows its place in the arrays before it is built: threads
//! therefore change nothing in the result. And the passes are cheap where nothing is lost: the largest
//! ranges find several levels of planes in a sample and deal out their triangles once ([`coarse`]), ranges
//! of some hundreds are binned ([`binned`]), small ones sort once for all their splits ([`sorted`]).

mod binned;
mod border;
mod coarse;
mod collapse;
mod sorted;

use glam::Vec4;

use super::{Bounds, LEAF_MOST, TreeFrame, WIDTH, WideTree, mesh_bounds};
use crate::Mesh;
use crate::num::parallel;

/// How the triangles are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Least surface area, found by binning: the fast queries.
    SurfaceArea,
    /// Halves along the longest axis: the fast build.
    Median,
}

/// Choices of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildOptions {
    /// How the triangles are grouped.
    pub strategy: Strategy,
    /// Triangles in a leaf, 1 to [`LEAF_MOST`]; other values are taken as the nearest of these.
    pub leaf_most: usize,
}

impl BuildOptions {
    /// For many queries: surface area, one triangle a leaf.
    pub const DEFAULT: BuildOptions = BuildOptions { strategy: Strategy::SurfaceArea, leaf_most: 1 };
    /// For few queries of a mesh that changes often: medians, small memory.
    pub const FAST: BuildOptions = BuildOptions { strategy: Strategy::Median, leaf_most: 4 };
}

impl Default for BuildOptions {
    fn default() -> BuildOptions {
        BuildOptions::DEFAULT
    }
}

/// Deeper than this the splits are medians, so that no input makes the recursion deep.
const SAH_DEPTH: usize = 48;
/// Ranges from this size on are treated by several threads.
const PARALLEL_FROM: usize = 2048;

/// A triangle on its way into the tree: its box, and its index in the bits of the fourth number of `low`.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Item {
    low: [f32; 4],
    high: [f32; 4],
}

impl Item {
    const BLANK: Item = Item { low: [0.0; 4], high: [0.0; 4] };
    /// Makes every index an ordinary number: arithmetic on subnormal ones would be slow.
    const ORDINARY: u32 = 1 << 30;

    fn new(triangle: u32, bounds: Bounds) -> Item {
        let index = f32::from_bits(triangle | Item::ORDINARY);
        Item { low: bounds.low.with_w(index).to_array(), high: bounds.high.with_w(0.0).to_array() }
    }

    #[inline]
    fn triangle(&self) -> u32 {
        self.low[3].to_bits() & !Item::ORDINARY
    }

    #[inline]
    fn bounds(&self) -> Bounds {
        Bounds { low: Vec4::from_array(self.low), high: Vec4::from_array(self.high) }
    }

    /// Twice the centre of the box.
    #[inline]
    fn middle(&self) -> Vec4 {
        Vec4::from_array(self.low) + Vec4::from_array(self.high)
    }

    /// One number of [`Item::middle`].
    #[inline]
    fn along(&self, axis: usize) -> f32 {
        self.low[axis] + self.high[axis]
    }
}

/// A node of the binary tree, in preorder: the left child follows its parent.
#[derive(Clone, Copy)]
struct Binary {
    bounds: Bounds,
    /// The right child's distance from its parent in the array; 0 for a bucket.
    right: u32,
    /// The slot of the first triangle.
    first: u32,
}

impl Binary {
    const BLANK: Binary = Binary { bounds: Bounds::EMPTY, right: 0, first: 0 };
}

/// What all stages of one build share.
struct Plan {
    strategy: Strategy,
    leaf_most: usize,
    /// Triangles of a full bottom node.
    bucket: usize,
}

impl Plan {
    /// Nodes of the binary tree over so many triangles.
    fn nodes(&self, count: usize) -> usize {
        2 * count.div_ceil(self.bucket) - 1
    }

    /// The multiple of a bucket nearest to `at` that leaves something on both sides.
    fn aligned(&self, at: usize, count: usize) -> usize {
        let last = (count - 1) / self.bucket;
        ((at + self.bucket / 2) / self.bucket).clamp(1, last) * self.bucket
    }
}

impl WideTree {
    /// Builds the tree; equal meshes and options give equal trees on any number of threads.
    pub fn build_with(mesh: &Mesh, options: &BuildOptions) -> WideTree {
        let leaf_most = options.leaf_most.clamp(1, LEAF_MOST);
        let plan = Plan { strategy: options.strategy, leaf_most, bucket: WIDTH * leaf_most };
        let [low, high] = mesh_bounds(mesh);
        let frame = TreeFrame::around(low, high);
        // A vertex stands in about six triangles: it is rounded once.
        let points = parallel::map(mesh.vertices().len(), |v| frame.nearest(mesh.vertices()[v]));
        let item = |t: usize| {
            let corners = mesh.triangles()[t].map(|v| points[v as usize]);
            Item::new(t as u32, Bounds::around(corners))
        };
        let (items, binary) = plan.grow_all(mesh.triangles().len(), &item);
        let tree = plan.collapse(&binary, &items, frame);
        #[cfg(debug_assertions)]
        tree.assert_sound(mesh);
        tree
    }
}

/// A range of triangles and where its subtree goes.
struct BuildRange<'a> {
    items: &'a mut [Item],
    /// Room for as many; or none, then it is found where it is needed.
    spare: &'a mut [Item],
    /// Whether the triangles shall end in `items`; otherwise in `spare`.
    home: bool,
    /// The slot of the first triangle.
    first: usize,
    depth: usize,
    out: &'a mut [Binary],
}

impl Plan {
    /// The triangles in leaf order and the binary tree over them.
    ///
    /// A large mesh is dealt out as it is read: its triangles are computed twice, which costs less than a
    /// second array of them in memory that nobody touched before.
    fn grow_all(
        &self,
        count: usize,
        item: &(impl Fn(usize) -> Item + Sync + Send),
    ) -> (Vec<Item>, Vec<Binary>) {
        let coarse = self.strategy == Strategy::SurfaceArea && count >= coarse::FROM;
        // One thread finds the planes while the other makes the room.
        let (planes, (mut items, mut binary)) = parallel::join_if(
            coarse,
            || if coarse { coarse::Planes::of(count, item) } else { None },
            || (parallel::map(count, |_| Item::BLANK), parallel::map(self.nodes(count), |_| Binary::BLANK)),
        );
        if planes.is_none() {
            parallel::for_each_chunk(&mut items, PARALLEL_FROM, |first, chunk| {
                for (k, place) in chunk.iter_mut().enumerate() {
                    *place = item(first + k);
                }
            });
        }
        let dealt = planes.map(|planes| (coarse::deal(&planes, item, &mut items), planes));
        let (items_of, out) = (&mut items, &mut binary);
        let whole = BuildRange { items: items_of, spare: &mut [], home: true, first: 0, depth: 0, out };
        match dealt {
            Some((starts, planes)) => self.grow_dealt(&planes, starts, whole),
            None => self.grow(whole),
        }
        (items, binary)
    }

    /// Fills the binary tree over a part and brings its triangles into leaf order.
    fn grow(&self, part: BuildRange) {
        let BuildRange { mut items, mut spare, mut home, first, depth, out } = part;
        let count = items.len();
        if count <= self.bucket {
            arrange(items, self.leaf_most);
            let bounds = items.iter().fold(Bounds::EMPTY, |all, item| all.union(item.bounds()));
            out[0] = Binary { bounds, right: 0, first: first as u32 };
            if !home {
                spare.copy_from_slice(items);
            }
            return;
        }
        let by_area = self.strategy == Strategy::SurfaceArea && depth < SAH_DEPTH;
        if by_area && count <= sorted::MOST {
            let home = if home { items } else { copied(items, spare) };
            return self.grow_sorted(home, first, out);
        }
        let mut room = Vec::new();
        if spare.is_empty() {
            room.resize(count, Item::BLANK);
            spare = &mut room;
        }
        if by_area
            && count >= coarse::FROM
            && let Some(planes) = coarse::Planes::of(count, &|k| items[k])
        {
            let starts = coarse::deal(&planes, &|k| items[k], spare);
            let dealt = BuildRange { items: spare, spare: items, home: !home, first, depth, out };
            return self.grow_dealt(&planes, starts, dealt);
        }
        let plane = if by_area { binned::best_plane(items) } else { None };
        let at = if let Some(plane) = plane {
            let at = binned::partition(items, spare, plane);
            (items, spare, home) = (spare, items, !home);
            let wanted = self.aligned(at, count);
            border::shift(items, at, wanted, plane);
            wanted
        } else {
            let wanted = self.aligned(count / 2, count);
            let (low, high) = middles(&*items);
            select(items, wanted, (high - low).truncate().max_position());
            wanted
        };
        let part = BuildRange { items, spare, home, first, depth, out };
        self.fork(part, at, |left| self.grow(left), |right| self.grow(right));
    }

    /// Grows both sides of a border and the node above.
    fn fork(
        &self,
        part: BuildRange,
        at: usize,
        grow_left: impl FnOnce(BuildRange) + Send,
        grow_right: impl FnOnce(BuildRange) + Send,
    ) {
        let BuildRange { items, spare, home, first, depth, out } = part;
        let worth = items.len() >= PARALLEL_FROM;
        let (items, other_items) = items.split_at_mut(at);
        let (spare, other_spare) = spare.split_at_mut(at.min(spare.len()));
        let (head, out) = out.split_at_mut(1);
        let (out, other_out) = out.split_at_mut(self.nodes(at));
        let left = BuildRange { items, spare, home, first, depth: depth + 1, out: &mut *out };
        let (items, spare, out_right) = (other_items, other_spare, &mut *other_out);
        let right = BuildRange { items, spare, home, first: first + at, depth: depth + 1, out: out_right };
        parallel::join_if(worth, || grow_left(left), || grow_right(right));
        let bounds = out[0].bounds.union(other_out[0].bounds);
        head[0] = Binary { bounds, right: out.len() as u32 + 1, first: first as u32 };
    }
}

fn copied<'a>(items: &[Item], to: &'a mut [Item]) -> &'a mut [Item] {
    to.copy_from_slice(items);
    to
}

/// Orders a bucket so that each run of `leaf_most` items lies close together.
fn arrange(items: &mut [Item], leaf_most: usize) {
    if leaf_most == 1 || items.len() <= leaf_most {
        return;
    }
    let (low, high) = middles(&*items);
    let at = items.len().div_ceil(leaf_most).div_ceil(2) * leaf_most;
    if at < items.len() {
        select(items, at, (high - low).truncate().max_position());
    }
    let (left, right) = items.split_at_mut(at.min(items.len()));
    arrange(left, leaf_most);
    arrange(right, leaf_most);
}

/// The box of the doubled centres.
#[inline]
fn middles<'a>(items: impl IntoIterator<Item = &'a Item>) -> (Vec4, Vec4) {
    items.into_iter().fold((Vec4::INFINITY, Vec4::NEG_INFINITY), |(low, high), item| {
        let middle = item.middle();
        (low.min(middle), high.max(middle))
    })
}

/// Puts the `at` items with the smallest centres on an axis first.
fn select(items: &mut [Item], at: usize, axis: usize) {
    parallel::select(items, at, |a, b| {
        a.along(axis).total_cmp(&b.along(axis)).then(a.triangle().cmp(&b.triangle()))
    });
}
