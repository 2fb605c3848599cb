//! Many workers, one order: runs of lines are answered in parallel and written as they were asked.
//!
//! A worker takes a run of lines under one lock, answers it without any, and hands the bytes to the
//! outlet, which writes them, and then what is to be said about them, when their turn has come. Finished runs wait in a bounded window, so the
//! memory does not grow with the batch. A run never waits for input that has not arrived: a program
//! that asks one line at a time over a pipe gets each answer at once.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::lines;

/// Most lines in a run: enough to make the locks cheap, few enough to share heavy lines out.
const RUN_LINES: usize = 16;

/// Bytes of finished answers that may wait for their turn.
const WINDOW: usize = 64 << 20;

/// One line of the input.
#[derive(Debug)]
pub struct Asked {
    /// Its number in the input, from 1.
    pub number: u64,
    /// Its bytes; `None` when it was longer than [`lines::LONGEST`].
    pub bytes: Option<Vec<u8>>,
}

/// What a run of lines leaves.
#[derive(Debug, Default)]
pub struct Written {
    /// The answers.
    pub answers: Vec<u8>,
    /// What is said about them.
    pub notes: Vec<u8>,
}

/// Answers every line with `answer`, which appends to the buffers it is given, on the threads of the
/// current rayon pool; `consumed` is told how many bytes of input have been taken.
pub fn answer_all(
    input: impl Read + Send,
    output: impl Write + Send,
    notes: impl Write + Send,
    answer: impl Fn(Asked, &mut Written) + Sync,
    consumed: impl Fn(u64) + Sync,
) -> io::Result<()> {
    let intake = Mutex::new(Intake { input: BufReader::new(input), runs: 0, lines: 0, ended: Ok(false) });
    let outlet = Outlet::new(output, notes);
    rayon::broadcast(|_| {
        // Taken through a function: in the head of the loop the guard would live as long as its body.
        let take = || lock(&intake).take_run(&consumed);
        while let Some((turn, run)) = take() {
            let mut written = Written::default();
            for asked in run {
                answer(asked, &mut written);
            }
            if !outlet.deliver(turn, written) {
                lock(&intake).ended = Ok(true);
            }
        }
    });
    outlet.close()?;
    intake.into_inner().unwrap_or_else(PoisonError::into_inner).ended.map(|_| ())
}

struct Intake<R> {
    input: BufReader<R>,
    runs: u64,
    lines: u64,
    ended: io::Result<bool>,
}

impl<R: Read> Intake<R> {
    /// The next lines, with their turn in the output; `None` at the end.
    fn take_run(&mut self, consumed: &impl Fn(u64)) -> Option<(u64, Vec<Asked>)> {
        let mut run = Vec::new();
        while matches!(self.ended, Ok(false)) && run.len() < RUN_LINES {
            if !run.is_empty() && !self.input.buffer().contains(&b'\n') {
                break;
            }
            let mut line = Vec::new();
            let found = lines::next(&mut self.input, &mut line, lines::LONGEST);
            self.lines += 1;
            match found {
                Err(e) => self.ended = Err(e),
                Ok((lines::Read::End, _)) => self.ended = Ok(true),
                Ok((read, taken)) => {
                    consumed(taken);
                    let bytes = (read == lines::Read::Line).then_some(line);
                    run.push(Asked { number: self.lines, bytes });
                }
            }
        }
        if run.is_empty() {
            return None;
        }
        self.runs += 1;
        Some((self.runs - 1, run))
    }
}

struct Outlet<W, N> {
    state: Mutex<Queue<W, N>>,
    moved: Condvar,
}

struct Queue<W, N> {
    output: W,
    notes: N,
    next: u64,
    waiting: BTreeMap<u64, Written>,
    waiting_bytes: usize,
    failed: Option<io::Error>,
}

impl<W: Write, N: Write> Outlet<W, N> {
    fn new(output: W, notes: N) -> Outlet<W, N> {
        let queue =
            Queue { output, notes, next: 0, waiting: BTreeMap::new(), waiting_bytes: 0, failed: None };
        Outlet { state: Mutex::new(queue), moved: Condvar::new() }
    }

    /// Writes the bytes when their turn has come; false when the output is broken.
    fn deliver(&self, turn: u64, written: Written) -> bool {
        let mut queue = lock(&self.state);
        // The run whose turn it is never waits, so the window always empties.
        while turn != queue.next && queue.waiting_bytes > WINDOW && queue.failed.is_none() {
            queue = self.moved.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue.waiting_bytes += written.size();
        queue.waiting.insert(turn, written);
        queue.write_ready();
        self.moved.notify_all();
        queue.failed.is_none()
    }

    fn close(self) -> io::Result<()> {
        let queue = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        queue.failed.map_or(Ok(()), Err)
    }
}

impl Written {
    fn size(&self) -> usize {
        self.answers.len() + self.notes.len()
    }
}

impl<W: Write, N: Write> Queue<W, N> {
    fn write_ready(&mut self) {
        while self.failed.is_none()
            && let Some(written) = self.waiting.remove(&self.next)
        {
            self.next += 1;
            self.waiting_bytes -= written.size();
            self.failed = self.output.write_all(&written.answers).and_then(|()| self.output.flush()).err();
            // A closed stderr leaves nobody to tell.
            let _ = self.notes.write_all(&written.notes);
        }
    }
}

/// The data behind the lock; a worker that panicked left nothing half done in it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(asked: Asked, out: &mut Written) {
        let bytes = asked.bytes.unwrap();
        // Uneven work, so that runs end out of order.
        std::thread::sleep(std::time::Duration::from_micros(bytes.len() as u64 % 7 * 50));
        writeln!(out.answers, "{} {}", asked.number, String::from_utf8(bytes).unwrap()).unwrap();
        writeln!(out.notes, "{}", asked.number).unwrap();
    }

    #[test]
    fn the_order_is_kept_at_any_thread_count() {
        let input: String = (0..2000).map(|i| format!("{}\n", "x".repeat(i * i % 23))).collect();
        let want: String = input.lines().enumerate().map(|(i, l)| format!("{} {l}\n", i + 1)).collect();
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (mut out, mut notes) = (Vec::new(), Vec::new());
            let mut seen = Mutex::new(0);
            let consumed = |n| *seen.lock().unwrap() += n;
            pool.install(|| answer_all(input.as_bytes(), &mut out, &mut notes, echo, consumed)).unwrap();
            let numbers: String = (1..=2000).map(|n| format!("{n}\n")).collect();
            assert!(String::from_utf8(notes).unwrap() == numbers, "{threads} threads");
            assert!(String::from_utf8(out).unwrap() == want, "{threads} threads");
            assert_eq!(*seen.get_mut().unwrap(), input.len() as u64);
        }
    }

    #[test]
    fn a_broken_output_ends_the_batch() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let endless = io::repeat(b'\n');
        let ended = answer_all(endless, Broken, io::sink(), |_, out| out.answers.push(b'\n'), |_| ());
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
