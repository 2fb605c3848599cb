//! The tables about Monte-Carlo detection with layered shells (Guy and Debunne 2004) on the recorded motions.

pub mod frames;
mod players;
pub mod recall;
pub mod self_contact;
pub mod sound;
pub mod table_one;
