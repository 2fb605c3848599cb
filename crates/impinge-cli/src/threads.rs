//! The one pool of worker threads.

/// Starts the pool with this many threads (all cores by default), or as many as the system allows.
pub fn start(wanted: Option<u16>) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut count = wanted.map_or(cores, usize::from);
    // A tight limit on processes or address space may refuse a thread; fewer give the same answers.
    while rayon::ThreadPoolBuilder::new().num_threads(count).build_global().is_err() && count > 1 {
        count /= 2;
    }
}
