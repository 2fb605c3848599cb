//! The meshes of a batch, each loaded once, by whoever needs it first.
//!
//! Lines share what is built for a mesh, except those with a budget in work units: such a line gets a copy with nothing
//! built and pays for itself, so that its answer depends neither on the other lines nor on the threads.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use impinge::Shape;

use crate::error::Failure;
use crate::load;
use crate::settings::Limit;

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

/// The meshes as one line sees them.
#[derive(Debug)]
pub struct LineMeshes<'a> {
    shared: &'a Meshes,
    /// By name, those of a line that pays for itself; two bodies of one file share a mesh there too.
    own: Option<RefCell<HashMap<String, Shape>>>,
}

impl<'a> LineMeshes<'a> {
    /// The meshes for a line with this limit.
    pub fn new(shared: &'a Meshes, limit: Limit) -> LineMeshes<'a> {
        LineMeshes { shared, own: matches!(limit, Limit::Units(_)).then(RefCell::default) }
    }

    /// The mesh of the file.
    pub fn get(&self, name: &str) -> Result<Shape, Failure> {
        let shared = self.shared.get(name)?;
        Ok(match &self.own {
            None => shared,
            Some(own) => own.borrow_mut().entry(name.into()).or_insert_with(|| shared.unprepared()).clone(),
        })
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
