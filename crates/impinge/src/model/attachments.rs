//! What a method builds once for a mesh and keeps with it.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// One structure and its type.
type Kept = (TypeId, Arc<dyn Any + Send + Sync>);

/// Structures of methods, one of each type; a copy shares them.
#[derive(Clone, Default)]
pub(super) struct Attachments {
    kept: Arc<Mutex<Vec<Kept>>>,
}

impl Attachments {
    /// The structure of this type, if it was built.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, known) = kept.iter().find(|(of, _)| *of == TypeId::of::<T>())?;
        known.clone().downcast().ok()
    }

    /// The structure of this type; built at the first call and kept. Others wait while it is built.
    pub fn get_or_build<T: Any + Send + Sync>(&self, build: impl FnOnce() -> T) -> Arc<T> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().find(|(of, _)| *of == TypeId::of::<T>()).map(|(_, known)| known.clone());
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            return known;
        }
        let built = Arc::new(build());
        kept.push((TypeId::of::<T>(), built.clone()));
        built
    }
}

impl fmt::Debug for Attachments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Attachments")
    }
}
