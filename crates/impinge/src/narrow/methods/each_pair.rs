//! What is the same for every method that decides each pair on its own.

/// The part of [`Detector`](crate::narrow::detector::Detector) that is the same for every method that decides each
/// pair on its own.
macro_rules! decides_each_pair {
    () => {
        fn detect(
            &self,
            batch: &crate::narrow::detector::Batch<'_>,
            memory: &mut crate::narrow::detector::Memory,
            budget: &mut crate::Budget,
            sink: &mut dyn crate::narrow::detector::Sink,
        ) -> Result<(), crate::narrow::detector::Refused> {
            crate::narrow::detector::each_pair(self, batch, memory, budget, sink)
        }

        fn pairwise(&self) -> Option<&dyn crate::narrow::detector::PairKernel> {
            Some(self)
        }
    };
}
pub(crate) use decides_each_pair;
