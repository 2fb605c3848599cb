//! What a frame brings, and what is asked of its triangles.

use super::super::front::Frame;
use super::super::layers::Layers;
use super::super::meter::Meter;
use super::super::triangle_pair::crossing_margin;
use super::cluster_pair::{Approach, Decided, Near};
use super::clusters::{Block, Cluster, LANES, smaller};
use super::patches::Patch;
use crate::geom::triangle_triangle::meet;
use crate::num::each::Each;

/// What is looked at, and with what.
pub(super) struct Look<'l, 'f, 'b> {
    pub layers: [&'l Layers; 2],
    pub frame: &'l mut Frame<'f>,
    pub meter: &'l mut Meter<'b>,
}

/// Which pairs of two clusters' triangles meet (bit 8·i + j), and how deeply.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct MeetingPairs {
    pub pairs: u64,
    depths: [[f32; LANES]; LANES],
}

impl MeetingPairs {
    /// The deepest of some pairs.
    pub fn deepest(&self, mut of: u64) -> Option<usize> {
        let mut best = None;
        let mut most = -1.0;
        while of != 0 {
            let bit = of.trailing_zeros() as usize;
            of &= of - 1;
            let depth = self.depths[bit / LANES][bit % LANES];
            if depth > most || best.is_none() {
                (best, most) = (Some(bit), depth);
            }
        }
        best
    }
}

impl<'l> Look<'l, '_, '_> {
    #[inline]
    pub fn patch(&self, body: usize, patch: u32) -> &'l Patch {
        &self.layers[body].patches().tree[patch as usize]
    }

    #[inline]
    pub fn own(&self, clusters: [u32; 2]) -> [&'l Cluster; 2] {
        [0, 1].each(|k| &self.layers[k].patches().clusters[clusters[k] as usize])
    }

    /// By how much points may move until two triangles no longer meet; `None` where they do not.
    pub fn margin(&mut self, [t, u]: [u32; 2]) -> Option<f64> {
        self.frame.work.primitive_tests += 1;
        let (a, b) = (self.frame.bodies[0].triangle(t), self.frame.bodies[1].triangle(u));
        let margin = crossing_margin(&a, &b, self.frame.pad);
        (margin > 0.0 || meet(&a.corners, &b.corners)).then_some(margin)
    }

    /// The pairs that meet of those that no plane separates; the time that edges separate the others is entered.
    pub fn decide(
        &mut self,
        approach: &Approach,
        blocks: [&Block; 2],
        own: [&Cluster; 2],
        near: &mut Near,
    ) -> MeetingPairs {
        let mut met = MeetingPairs::default();
        let mut left = near.pairs;
        self.frame.work.primitive_tests += u64::from(left.count_ones());
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            let lanes = [bit / LANES, bit % LANES];
            let decided = approach.decide(blocks, lanes).unwrap_or_else(|| {
                let [p, q] =
                    [0, 1].map(|k| self.frame.bodies[k].triangle(own[k].triangles[lanes[k]]).corners);
                if meet(&p, &q) { Decided::Meet(0.0) } else { Decided::Apart(0.0) }
            });
            match decided {
                Decided::Meet(depth) => {
                    met.pairs |= 1 << bit;
                    met.depths[lanes[0]][lanes[1]] = depth;
                }
                Decided::Apart(frames) => {
                    near.lasts[lanes[0]][lanes[1]] = frames;
                    near.frames = smaller(near.frames, frames);
                }
            }
        }
        met
    }

    /// The clusters of two patches of which each is one.
    #[inline]
    pub fn clusters(&self, pair: [u32; 2]) -> Option<[u32; 2]> {
        Some([self.patch(0, pair[0]).cluster()?, self.patch(1, pair[1]).cluster()?])
    }
}
