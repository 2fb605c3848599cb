//! From the binary tree to nodes of eight: the largest child is opened until there are eight.
//!
//! Dammertz, Hanika and Keller, "Shallow bounding volume hierarchies", 2008 (collapsing by surface area).

use super::{Binary, Bounds, Item, Plan};
use crate::hierarchy::wide::{Child, Frame, Node, WIDTH, WideTree};
use crate::num::parallel;

impl Plan {
    pub(super) fn collapse(&self, binary: &[Binary], items: &[Item], frame: Frame) -> WideTree {
        let mut upper = Vec::with_capacity(binary.len() / 4);
        if binary.len() > 1 {
            self.open(binary, 0, &mut upper);
        }
        let first_bottom = upper.len();
        for node in &mut upper {
            for child in &mut node.child {
                // Buckets were entered as leaves of no triangles; now their place is known.
                if child.is_leaf() && *child != Child::NONE {
                    *child = Child::node(first_bottom + child.bucket());
                }
            }
        }
        let buckets = items.len().div_ceil(self.bucket);
        let mut nodes = Vec::with_capacity(upper.len() + buckets);
        nodes.append(&mut upper);
        parallel::extend(&mut nodes, buckets, |bucket| {
            let start = bucket * self.bucket;
            self.bottom(start, &items[start..items.len().min(start + self.bucket)])
        });
        let order = parallel::map(items.len(), |slot| items[slot].triangle());
        let mut tree = WideTree {
            nodes,
            order,
            upper: first_bottom,
            leaf_most: self.leaf_most,
            frame,
            widest: 0.0,
            cost: 0.0,
            cost_at_build: 0.0,
        };
        tree.measure();
        tree.cost_at_build = tree.cost;
        tree
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

    /// Emits the wide node over a binary one.
    fn open(&self, binary: &[Binary], at: usize, out: &mut Vec<Node>) -> usize {
        let mut children = [at; WIDTH];
        // Buckets are not opened.
        let area = |at: usize| if binary[at].right == 0 { -1.0 } else { binary[at].bounds.half_area() };
        let mut areas = [-1.0; WIDTH];
        areas[0] = area(at);
        let mut used = 1;
        while used < WIDTH {
            let largest = (1..used).fold(0, |best, k| if areas[k] > areas[best] { k } else { best });
            let parent = children[largest];
            if binary[parent].right == 0 {
                break;
            }
            children[largest] = parent + 1;
            children[used] = parent + binary[parent].right as usize;
            areas[largest] = area(children[largest]);
            areas[used] = area(children[used]);
            used += 1;
        }
        let index = out.len();
        out.push(Node::EMPTY);
        for (lane, &child) in children[..used].iter().enumerate() {
            let node = &binary[child];
            let link = if node.right == 0 {
                Child::pending(node.first as usize / self.bucket)
            } else {
                Child::node(self.open(binary, child, out))
            };
            out[index].set_box(lane, node.bounds);
            out[index].child[lane] = link;
        }
        index
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
