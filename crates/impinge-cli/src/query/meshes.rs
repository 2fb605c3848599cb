//! The meshes of a batch, each loaded once, by whoever needs it first.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use impinge::Shape;

use crate::error::Failure;
use crate::load;

type Slot = Arc<OnceLock<Result<Shape, Failure>>>;

/// Meshes by name and by place, so that two names of one file share one shape.
#[derive(Debug)]
pub struct Meshes {
    folder: PathBuf,
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    by_name: HashMap<String, Slot>,
    by_place: HashMap<PathBuf, Slot>,
}

impl Meshes {
    /// No meshes yet; relative names start at `folder`.
    pub fn new(folder: PathBuf) -> Meshes {
        Meshes { folder, slots: Mutex::default() }
    }

    /// The mesh of the file, loaded at the first call.
    pub fn get(&self, name: &str) -> Result<Shape, Failure> {
        // The map is held only to find the slot: different files load at the same time.
        let slot = self.slots.lock().unwrap_or_else(PoisonError::into_inner).find(&self.folder, name);
        slot.get_or_init(|| load::shape(&self.folder.join(name))).clone()
    }

    /// How many files were loaded or refused.
    pub fn count(&self) -> usize {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).by_place.len()
    }
}

impl Slots {
    fn find(&mut self, folder: &Path, name: &str) -> Slot {
        if let Some(slot) = self.by_name.get(name) {
            return slot.clone();
        }
        let path = folder.join(name);
        let place = path.canonicalize().unwrap_or(path);
        let slot = self.by_place.entry(place).or_default().clone();
        self.by_name.insert(name.to_string(), slot.clone());
        slot
    }
}
