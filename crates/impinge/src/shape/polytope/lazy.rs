//! A polytope whose features are found when they are first asked for.
//!
//! A feature graph takes some 500 bytes for each triangle of the surface. Convex parts of a decomposition are often only
//! counted, drawn or passed on, so that many of them stay the points they are the hull of.

use std::fmt;
use std::ops::Deref;
use std::panic::UnwindSafe;
use std::sync::{Arc, LazyLock};

use super::Polytope;

/// Makes the polytope, at most once.
type Make = Box<dyn FnOnce() -> Arc<Polytope> + Send + UnwindSafe>;

/// A polytope that is there, or will be at its first use.
pub struct LazyPolytope(LazyLock<Arc<Polytope>, Make>);

impl LazyPolytope {
    /// One that is made at its first use, in which nothing must ask for it.
    pub(crate) fn new(make: impl FnOnce() -> Polytope + Send + UnwindSafe + 'static) -> LazyPolytope {
        LazyPolytope(LazyLock::new(Box::new(|| Arc::new(make()))))
    }
}

impl From<Arc<Polytope>> for LazyPolytope {
    fn from(polytope: Arc<Polytope>) -> LazyPolytope {
        let ready = LazyPolytope(LazyLock::new(Box::new(|| polytope)));
        LazyLock::force(&ready.0);
        ready
    }
}

impl Deref for LazyPolytope {
    type Target = Polytope;

    #[inline]
    fn deref(&self) -> &Polytope {
        &self.0
    }
}

impl fmt::Debug for LazyPolytope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyPolytope").field(&**self).finish()
    }
}
