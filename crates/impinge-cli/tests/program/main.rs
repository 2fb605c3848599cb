//! The built program, run on files of a temporary folder.

mod check;
mod clash;
mod common;
mod contacts;
mod decompose;
mod inspect;
mod moving;
mod particles;
mod pictures;
mod query;
mod rays;
#[path = "../../../impinge/tests/common/shared.rs"]
mod shared;
mod shared_pairs;
mod shells;
mod simulate;
mod surface;
mod sweep;
mod volume;
