//! The methods behind the seam that stand on the kernels beside this folder, one file each.

pub mod brute;
pub mod contact;
pub mod exact;
pub mod gjk;
pub mod voronoi;

/// The part of [`Detector`](super::method::Detector) that is the same for every method that decides each pair on
/// its own.
macro_rules! decides_each_pair {
    () => {
        fn detect(
            &self,
            batch: &crate::narrow::method::Batch<'_>,
            memory: &mut crate::narrow::method::Memory,
            budget: &mut crate::Budget,
            sink: &mut dyn crate::narrow::method::Sink,
        ) -> Result<(), crate::Error> {
            crate::narrow::method::each_pair(self, batch, memory, budget, sink)
        }

        fn pairwise(&self) -> Option<&dyn crate::narrow::method::PairKernel> {
            Some(self)
        }
    };
}
pub(crate) use decides_each_pair;
