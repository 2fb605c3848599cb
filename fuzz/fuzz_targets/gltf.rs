#![no_main]

use impinge::io::{self, Format};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = io::read_as(bytes, Format::Gltf);
});
