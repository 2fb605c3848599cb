//! What a method builds once for a mesh and keeps with it.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::num::parallel::once;

/// The place of one structure; empty while it is being built.
type Cell = Arc<OnceLock<Arc<dyn Any + Send + Sync>>>;

/// Structures of methods, one of each type; a copy shares them.
#[derive(Clone, Default)]
pub(super) struct Attachments {
    cells: Arc<Mutex<Vec<(TypeId, Cell)>>>,
}

impl Attachments {
    /// The structure of this type, if it was built; does not wait for one that is being built.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.cell::<T>().get()?.clone().downcast().ok()
    }

    /// The structure of this type; built at the first call and kept. Others that build it wait meanwhile.
    pub fn get_or_build<T: Any + Send + Sync>(&self, build: impl FnOnce() -> T) -> Arc<T> {
        let cell = self.cell::<T>();
        match once(&cell, || Arc::new(build())).clone().downcast() {
            Ok(kept) => kept,
            Err(_) => unreachable!("a cell holds what its type names"),
        }
    }

    /// The lock is never held while something is built: a caller with a deadline looks here too.
    fn cell<T: Any>(&self) -> Cell {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        match cells.iter().find(|(of, _)| *of == TypeId::of::<T>()) {
            Some((_, cell)) => cell.clone(),
            None => {
                let cell = Cell::default();
                cells.push((TypeId::of::<T>(), cell.clone()));
                cell
            }
        }
    }
}

impl fmt::Debug for Attachments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Attachments")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn nobody_waits_who_only_looks() {
        let (attachments, (begun, wait), (go, told)) = (Attachments::default(), channel(), channel());
        let own = attachments.clone();
        let build = move || {
            begun.send(()).unwrap();
            told.recv_timeout(Duration::from_secs(60)).unwrap_or(0_u32)
        };
        let building = std::thread::spawn(move || *own.get_or_build(build));
        wait.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(attachments.get::<u32>().is_none());
        // Another structure is built beside it.
        assert_eq!(*attachments.get_or_build(|| 7_i64), 7);
        go.send(5_u32).unwrap();
        assert_eq!(building.join().unwrap(), 5);
        assert_eq!((attachments.get::<u32>().as_deref(), *attachments.get_or_build(|| 9_u32)), (Some(&5), 5));
    }
}
