//! Monte-Carlo collision detection with layered shells (Guy and Debunne, INRIA RR-5136, 2004).

pub mod shells;
