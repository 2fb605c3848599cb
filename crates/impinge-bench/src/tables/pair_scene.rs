//! What the tables on bunny59k and dragon202k share: the scene, its peers, rows of statistics.

use anyhow::Result;
use impinge::model::Model;
use impinge::{Mesh, Pose, Shape, relation};

use super::Effort;
use crate::peers::programs::{PROGRAMS, Program};
use crate::scenes::{self, Placement};
use crate::table::{Table, microseconds};
use crate::timing::Track;

/// The header that [`add_rows`] fills; the last column says what the answers are compared with.
pub const fn header(compared: &str) -> [&str; 7] {
    ["contestant", "median us", "mean us", "p99 us", "max us", "answer", compared]
}

/// Two meshes and where they stand.
pub struct PairScene {
    /// bunny59k.
    pub a: Mesh,
    /// dragon202k.
    pub b: Mesh,
    /// The placements.
    pub placements: Vec<Placement>,
}

impl PairScene {
    /// Loads the scene; a quick one has every tenth placement.
    ///
    /// # Errors
    /// Neither `../shared` nor set-up provides it.
    pub fn load(effort: Effort) -> Result<PairScene> {
        let step = effort.pick(1, 11);
        let placements = scenes::placements()?.into_iter().step_by(step).collect();
        Ok(PairScene { a: scenes::mesh("bunny59k")?, b: scenes::mesh("dragon202k")?, placements })
    }

    /// Both meshes with our trees.
    pub fn models(&self) -> [Model; 2] {
        [Model::from(self.a.clone()), Model::from(self.b.clone())]
    }

    /// Both meshes as shapes whose trees are built.
    pub fn shapes(&self) -> [Shape; 2] {
        let shapes = [Shape::from(self.a.clone()), Shape::from(self.b.clone())];
        relation(&shapes[0], &shapes[1]);
        shapes
    }

    /// The poses of a and b in each placement.
    ///
    /// # Errors
    /// A placement is not rigid.
    pub fn poses(&self) -> Result<Vec<[Pose; 2]>> {
        self.placements.iter().map(Placement::poses).collect()
    }

    /// The programs that are built, with their names in tables; the table says which are not.
    ///
    /// # Errors
    /// The scene cannot be written for them.
    pub fn programs(&self, table: &mut Table) -> Result<Vec<(&'static str, Program)>> {
        let mut running = Vec::new();
        for (program, name) in PROGRAMS {
            let started = Program::start(program, &self.a, &self.b, &self.placements, table)?;
            running.extend(started.map(|p| (name, p)));
        }
        Ok(running)
    }
}

/// One row for each track; `judge` gives the answer as a whole and the verdict on it.
pub fn add_rows<A>(table: &mut Table, tracks: &[Track<A>], judge: impl Fn(&[A]) -> [String; 2]) {
    for track in tracks {
        let s = track.statistics();
        let [answer, verdict] = judge(&track.answers);
        let times = [s.median, s.mean, s.p99, s.most].map(microseconds);
        table.row([track.name.to_string()].into_iter().chain(times).chain([answer, verdict]));
        if let Some(why) = &track.failure {
            table.missing(format!("{} from here on: {why}", track.name));
        }
    }
}

/// "agrees", or how many of the answers differ from what they are compared with.
pub fn verdict(differing: usize, of: usize) -> String {
    if differing == 0 { "agrees".into() } else { format!("{differing} of {of} DIFFER") }
}
