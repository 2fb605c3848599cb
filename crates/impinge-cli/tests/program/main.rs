//! The built program, run on files of a temporary folder.

mod check;
mod common;
mod decompose;
mod inspect;
mod moving;
mod particles;
mod query;
#[path = "../../../impinge/tests/common/shared.rs"]
mod shared;
mod shared_pairs;
mod shells;
mod simulate;
mod surface;
mod sweep;
mod volume;
