//! Which format a file has: its content decides, its name only where the content leaves it open.

use std::path::Path;

use super::{gltf, medit, obj, off, stl, text};

/// A mesh file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Wavefront OBJ.
    Obj,
    /// STL, text or binary.
    Stl,
    /// PLY, text or binary.
    Ply,
    /// OFF and its variants.
    Off,
    /// glTF 2.0, as a document or as a GLB.
    Gltf,
    /// MEDIT `.mesh`.
    Medit,
}

impl Format {
    /// Every format, in the order of the table in [`io`](crate::io).
    pub const ALL: [Format; 6] =
        [Format::Obj, Format::Stl, Format::Ply, Format::Off, Format::Gltf, Format::Medit];

    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Obj => "OBJ",
            Format::Stl => "STL",
            Format::Ply => "PLY",
            Format::Off => "OFF",
            Format::Gltf => "glTF",
            Format::Medit => "MEDIT",
        }
    }

    /// The format that a file name's extension stands for, without its dot and in any case.
    pub fn from_extension(extension: &str) -> Option<Format> {
        Some(match extension.to_ascii_lowercase().as_str() {
            "obj" => Format::Obj,
            "stl" | "stla" | "stlb" => Format::Stl,
            "ply" => Format::Ply,
            "off" | "coff" | "noff" | "cnoff" | "stoff" => Format::Off,
            "gltf" | "glb" => Format::Gltf,
            "mesh" | "meshb" => Format::Medit,
            _ => return None,
        })
    }

    /// The format that a file's name stands for, with or without `.gz` behind it.
    pub fn from_path(path: impl AsRef<Path>) -> Option<Format> {
        let path = path.as_ref();
        let extension = path.extension()?.to_str()?;
        if extension.eq_ignore_ascii_case("gz") {
            return Format::from_extension(Path::new(path.file_stem()?).extension()?.to_str()?);
        }
        Format::from_extension(extension)
    }

    /// The format that the bytes themselves show, if they do.
    pub fn from_content(bytes: &[u8]) -> Option<Format> {
        if gltf::is_binary(bytes) {
            return Some(Format::Gltf);
        }
        if stl::is_binary_by_size(bytes) {
            return Some(Format::Stl);
        }
        let mut words = text::Text::new(bytes, obj::DIALECT);
        let first = words.word_ahead()?;
        match first {
            b"ply" => Some(Format::Ply),
            [b'{', ..] => Some(Format::Gltf),
            _ if first.eq_ignore_ascii_case(medit::FIRST_WORD) => Some(Format::Medit),
            _ if off::variant(first).is_some() => Some(Format::Off),
            _ if stl::is_text(bytes) => Some(Format::Stl),
            _ if obj::is_statement(first) => Some(Format::Obj),
            _ => None,
        }
    }
}
