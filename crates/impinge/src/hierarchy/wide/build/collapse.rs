//! From the binary tree to nodes of eight: the largest child is opened until there are eight.
//!
//! Dammertz, Hanika and Keller, "Shallow bounding volume hierarchies", 2008 (collapsing by surface area).

use glam::Vec3;

use super::{Binary, Bounds, Item, Plan};
use crate::hierarchy::wide::{Child, Node, TreeFrame, WIDTH, WideTree};
use crate::num::parallel;
use crate::simd::room_in_large_pages;

/// Subtrees of up to this many binary nodes are collapsed by one thread.
const SHARE: usize = 1024;

/// The binary nodes of a subtree: `size` of them from `at` on.
#[derive(Clone, Copy)]
struct Subtree {
    at: usize,
    size: usize,
}

/// A subtree that is collapsed by itself, and the lane of the node above that leads to it.
struct Share {
    subtree: Subtree,
    above: Option<(usize, usize)>,
}

/// The nodes above the bottom ones, in parts whose links count from their own first node.
struct Upper {
    /// The top, then the shares.
    parts: Vec<Vec<Node>>,
    /// Where each part begins.
    starts: Vec<usize>,
    /// Nodes in all.
    count: usize,
}

impl Plan {
    pub(super) fn collapse(&self, binary: &[Binary], items: &[Item], frame: TreeFrame) -> WideTree {
        let buckets = items.len().div_ceil(self.bucket);
        let Upper { parts, starts, count: upper } = self.upper(binary, buckets);
        // Searches read them here and there.
        let mut nodes = room_in_large_pages(upper + buckets);
        parallel::extend(&mut nodes, upper + buckets, |node| {
            if node < upper {
                let part = starts.partition_point(|&start| start <= node) - 1;
                return parts[part][node - starts[part]].settled(starts[part], upper);
            }
            let start = (node - upper) * self.bucket;
            self.bottom(start, &items[start..items.len().min(start + self.bucket)])
        });
        let order = parallel::map(items.len(), |slot| items[slot].triangle());
        let leaf_most = self.leaf_most;
        let (bounds, widest, cost, cost_at_build) = ([Vec3::ZERO; 2], 0.0, 0.0, 0.0);
        let mut tree =
            WideTree { nodes, order, upper, leaf_most, frame, bounds, widest, cost, cost_at_build };
        tree.measure();
        tree.cost_at_build = tree.cost;
        tree
    }

    /// The nodes above the bottom ones.
    fn upper(&self, binary: &[Binary], buckets: usize) -> Upper {
        if buckets == 1 {
            return Upper { parts: Vec::new(), starts: Vec::new(), count: 0 };
        }
        let whole = Subtree { at: 0, size: binary.len() };
        let mut top = Vec::new();
        let mut shares = Vec::new();
        if whole.size > SHARE {
            self.open(binary, whole, &mut top, Some(&mut shares));
        } else {
            shares.push(Share { subtree: whole, above: None });
        }
        let mut parts = parallel::map(shares.len(), |k| {
            let mut part = Vec::with_capacity(shares[k].subtree.size / 4);
            self.open(binary, shares[k].subtree, &mut part, None);
            part
        });
        let (mut starts, mut count) = (vec![0], top.len());
        for (share, part) in shares.iter().zip(&parts) {
            if let Some((node, lane)) = share.above {
                top[node].child[lane] = Child::node(count);
            }
            starts.push(count);
            count += part.len();
        }
        parts.insert(0, top);
        Upper { parts, starts, count }
    }

    /// Emits the wide nodes over a subtree and returns the first; with `shares`, small subtrees are left
    /// for later.
    fn open(
        &self,
        binary: &[Binary],
        whole: Subtree,
        out: &mut Vec<Node>,
        mut shares: Option<&mut Vec<Share>>,
    ) -> usize {
        let (children, used) = eight(binary, whole);
        let index = out.len();
        out.push(Node::EMPTY);
        for (lane, &subtree) in children[..used].iter().enumerate() {
            let node = &binary[subtree.at];
            out[index].set_box(lane, node.bounds);
            out[index].child[lane] = match &mut shares {
                _ if node.right == 0 => Child::pending(node.first as usize / self.bucket),
                Some(shares) if subtree.size <= SHARE => {
                    shares.push(Share { subtree, above: Some((index, lane)) });
                    Child::NONE
                }
                shares => Child::node(self.open(binary, subtree, out, shares.as_deref_mut())),
            };
        }
        index
    }

    /// A bottom node; longer leaves than one triangle take neighbours along the bucket's order.
    fn bottom(&self, start: usize, items: &[Item]) -> Node {
        let mut node = Node::EMPTY;
        for (lane, run) in items.chunks(self.leaf_most).enumerate() {
            let bounds = run.iter().fold(Bounds::EMPTY, |all, item| all.union(item.bounds()));
            let first = start + lane * self.leaf_most;
            node.set_box(lane, bounds);
            node.child[lane] = Child::leaf(first..first + run.len());
        }
        node
    }
}

/// The subtrees that become the children of one node, and how many there are.
fn eight(binary: &[Binary], whole: Subtree) -> ([Subtree; WIDTH], usize) {
    // Buckets are not opened.
    let area = |of: Subtree| if of.size == 1 { -1.0 } else { binary[of.at].bounds.half_area() };
    let mut children = [whole; WIDTH];
    let mut areas = [-1.0; WIDTH];
    areas[0] = area(whole);
    let mut used = 1;
    while used < WIDTH {
        let largest = (1..used).fold(0, |best, k| if areas[k] > areas[best] { k } else { best });
        let Subtree { at, size } = children[largest];
        if size == 1 {
            break;
        }
        let right = binary[at].right as usize;
        children[largest] = Subtree { at: at + 1, size: right - 1 };
        children[used] = Subtree { at: at + right, size: size - right };
        areas[largest] = area(children[largest]);
        areas[used] = area(children[used]);
        used += 1;
    }
    (children, used)
}

impl Node {
    /// The same in its place: nodes of its part begin at `start`, bottom nodes at `bottom`.
    fn settled(mut self, start: usize, bottom: usize) -> Node {
        for child in &mut self.child {
            if let Some(node) = child.as_node() {
                *child = Child::node(node + start);
            } else if *child != Child::NONE {
                *child = Child::node(bottom + child.bucket());
            }
        }
        self
    }
}

impl Child {
    /// A bucket whose place among the nodes is not known yet.
    fn pending(bucket: usize) -> Child {
        Child(Child::LEAF | 1 << Child::LENGTH_SHIFT | bucket as u32)
    }

    fn bucket(self) -> usize {
        self.slots().start
    }
}
