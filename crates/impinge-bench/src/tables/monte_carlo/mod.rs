//! The tables about Monte-Carlo detection with layered shells (Guy and Debunne 2004) on the recorded motions.

mod players;
pub mod table_one;
