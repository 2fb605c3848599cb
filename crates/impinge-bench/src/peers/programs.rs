//! FCL and Coal: where their programs lie, and how they are asked.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use impinge::Mesh;

use super::{PairSet, wanted};
use crate::outside::Outside;
use crate::scenes::{self, Placement};
use crate::table::Table;
use crate::timing::Timed;

/// Long enough for a build of the largest mesh with FCL, five times over.
const PATIENCE: Duration = Duration::from_secs(120);

/// Programs that set-up builds, with the name they have in tables.
pub const PROGRAMS: [(&str, &str); 2] = [("fcl", "fcl-obbrss"), ("coal", "coal-obbrss")];

/// A running program on one pair of meshes.
pub struct Program(Outside);

impl Program {
    /// Starts `program` on a scene; where it is not built, the table says so and nothing is returned.
    ///
    /// # Errors
    /// The scene cannot be written, or the program is there but does not start.
    pub fn start(
        program: &str,
        a: &Mesh,
        b: &Mesh,
        placements: &[Placement],
        table: &mut Table,
    ) -> Result<Option<Program>> {
        if !wanted(program) {
            return Ok(None);
        }
        let file = scenes::peers_folder().join("bin").join(program);
        if !file.is_file() {
            table.missing(format!(
                "{program}: not built; `cargo run --release -p impinge-bench -- setup` gets it"
            ));
            return Ok(None);
        }
        let scene = scenes::export(a, b, placements)?;
        match Outside::start(program, Command::new(file).args(scene), PATIENCE) {
            Ok(outside) => Ok(Some(Program(outside))),
            Err(why) => {
                table.missing(format!("{why:#}; run setup again"));
                Ok(None)
            }
        }
    }

    /// Whether the surfaces meet.
    ///
    /// # Errors
    /// The program failed.
    pub fn relation(&mut self, case: usize, repeats: usize) -> Result<Timed<bool>> {
        let Timed { nanoseconds, answer: PairSet { count, .. } } =
            self.contacts("relation", case, repeats)?;
        Ok(Timed { nanoseconds, answer: count > 0 })
    }

    /// Every pair of triangles that meets.
    ///
    /// # Errors
    /// The program failed.
    pub fn pairs(&mut self, case: usize, repeats: usize) -> Result<Timed<PairSet>> {
        self.contacts("pairs", case, repeats)
    }

    /// The smallest distance.
    ///
    /// # Errors
    /// The program failed.
    pub fn distance(&mut self, case: usize, repeats: usize) -> Result<Timed<f64>> {
        self.number("distance", case, repeats)
    }

    /// Builds the tree of mesh `which` (0 or 1); the answer is the bytes for each triangle.
    ///
    /// # Errors
    /// The program failed.
    pub fn build(&mut self, volume: &str, which: usize, repeats: usize) -> Result<Timed<f64>> {
        self.number(&format!("build-{volume}"), which, repeats)
    }

    fn contacts(&mut self, word: &str, case: usize, repeats: usize) -> Result<Timed<PairSet>> {
        let Timed { nanoseconds, answer } = self.0.ask(&format!("{word} {case} {repeats}"))?;
        let number = |at: usize| answer.get(at).and_then(|w| w.parse().ok());
        let set = number(0).zip(number(1)).map(|(count, digest)| PairSet { count, digest });
        Ok(Timed { nanoseconds, answer: set.with_context(|| format!("{word}: no count in {answer:?}"))? })
    }

    fn number(&mut self, word: &str, case: usize, repeats: usize) -> Result<Timed<f64>> {
        let Timed { nanoseconds, answer } = self.0.ask(&format!("{word} {case} {repeats}"))?;
        let number = answer.first().and_then(|w| w.parse().ok());
        Ok(Timed { nanoseconds, answer: number.with_context(|| format!("{word}: no number in {answer:?}"))? })
    }
}
