//! The processor time of this thread, which waiting for others does not lengthen.

/// Nanoseconds of processor time that this thread has had.
#[cfg(unix)]
pub fn nanoseconds() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds since the first call: elsewhere the clock on the wall has to do.
#[cfg(not(unix))]
pub fn nanoseconds() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_and_sleep_takes_next_to_none() {
        let (start, wall) = (nanoseconds(), std::time::Instant::now());
        std::thread::sleep(std::time::Duration::from_millis(40));
        let (slept, asleep) = (nanoseconds() - start, wall.elapsed().as_nanos() as u64);
        let mut x = 1_u64;
        while nanoseconds() - start - slept < 2_000_000 {
            x = std::hint::black_box(x.wrapping_mul(6364136223846793005));
        }
        assert!(cfg!(not(unix)) || slept < asleep / 2, "{slept} of {asleep} ns of sleep");
    }
}
