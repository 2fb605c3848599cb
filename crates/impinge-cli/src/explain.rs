//! `--explain`: which method, why, what it counted and how long it took, on stderr.

use std::io::{Write, stderr};
use std::time::Instant;

use impinge::{Counters, Shape};

use crate::json_answer::Answer;

/// Says things on stderr when asked to.
#[derive(Debug)]
pub struct Explain {
    on: bool,
    since: Instant,
}

impl Explain {
    /// Silent unless `on`; the clock starts here.
    pub fn new(on: bool) -> Explain {
        Explain { on, since: Instant::now() }
    }

    /// One line under a short heading.
    pub fn say(&self, heading: &str, text: impl FnOnce() -> String) {
        if self.on {
            // A closed stderr leaves nobody to tell.
            let _ = writeln!(stderr(), "{heading:<8} {}", text());
        }
    }

    /// How long it has been since the last lap, and what that was spent on.
    pub fn lap(&mut self, what: &str) {
        self.say("time", || format!("{what} {:.3} ms", self.since.elapsed().as_secs_f64() * 1e3));
        self.since = Instant::now();
    }

    /// A mesh.
    pub fn mesh(&self, name: &str, shape: &Shape) {
        if let Some(mesh) = shape.as_mesh() {
            self.say(name, || {
                format!("{} vertices, {} triangles", mesh.vertices().len(), mesh.triangles().len())
            });
        }
    }

    /// Who answered, why, and at what cost.
    pub fn answer(&self, answer: &Answer) {
        self.say("method", || format!("{}, {}", answer.method, answer.reason));
        self.work(&answer.work);
    }

    /// The cost model's counters.
    pub fn work(&self, work: &Counters) {
        self.say("work", || {
            format!(
                "Nv {} volume tests, Np {} primitive tests, Nu {} updates",
                work.volume_tests, work.primitive_tests, work.updates
            )
        });
    }
}
