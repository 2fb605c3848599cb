//! What is known of a shape, said for people and programs.

pub mod inspect;
