//! Where the bytes of a glTF file are: the chunks of a GLB, base64 in the document, files beside it.

use std::path::{Component, Path};

use super::json::Buffer;
use super::refuse;
use crate::Error;
use crate::io::bytes::Bytes;
use crate::io::text::quote;

pub(super) const MAGIC: &[u8] = b"glTF";
const JSON: u32 = u32::from_le_bytes(*b"JSON");
const BIN: u32 = u32::from_le_bytes(*b"BIN\0");

/// Reads a file named by the document, at most so many bytes.
pub(in crate::io) type Fetch<'f> = &'f dyn Fn(&str, usize) -> Result<Vec<u8>, String>;

/// The document and the binary chunk of a GLB; a plain document has none.
pub(super) fn split(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), Error> {
    if !bytes.starts_with(MAGIC) {
        return Ok((bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), None));
    }
    let mut data = Bytes::new(bytes, MAGIC.len(), "GLB");
    let version = u32::from_le_bytes(data.array("the version")?);
    if version != 2 {
        return Err(data.error(format!("version {version}: only 2 is supported")));
    }
    let length = u32::from_le_bytes(data.array("the length")?) as usize;
    if length > bytes.len() {
        return Err(data.error(format!("the file should have {length} bytes and has {}", bytes.len())));
    }
    let document =
        chunk(&mut data, JSON)?.ok_or_else(|| data.error("the first chunk should be the JSON document"))?;
    let binary = if data.remaining() >= 8 { chunk(&mut data, BIN)? } else { None };
    Ok((document, binary))
}

/// The next chunk if it is of this kind.
fn chunk<'a>(data: &mut Bytes<'a>, kind: u32) -> Result<Option<&'a [u8]>, Error> {
    let length = u32::from_le_bytes(data.array("a chunk")?) as usize;
    let found = u32::from_le_bytes(data.array("a chunk")?);
    let content = data.take(length, "a chunk")?;
    Ok((found == kind).then_some(content))
}

/// The bytes of one buffer, at least as many as it promises.
pub(super) fn load(
    number: usize,
    buffer: &Buffer,
    binary: Option<&[u8]>,
    fetch: Fetch<'_>,
) -> Result<Vec<u8>, Error> {
    let name = || format!("buffer {number}");
    let mut content = match (&buffer.uri, binary) {
        (Some(uri), _) => match uri.strip_prefix("data:") {
            Some(data) => decode_data(data).map_err(|reason| refuse(name(), reason))?,
            None => fetch_file(uri, buffer.byte_length, fetch).map_err(|reason| refuse(name(), reason))?,
        },
        (None, Some(binary)) if number == 0 => binary.to_vec(),
        (None, _) => return Err(refuse(name(), "it has neither a uri nor a binary chunk")),
    };
    if content.len() < buffer.byte_length {
        let reason = format!("{} bytes are promised, {} are there", buffer.byte_length, content.len());
        return Err(refuse(name(), reason));
    }
    content.truncate(buffer.byte_length);
    Ok(content)
}

fn fetch_file(uri: &str, length: usize, fetch: Fetch<'_>) -> Result<Vec<u8>, String> {
    let outside = || format!("{} is not a file beside the document", quote(uri.as_bytes()));
    if uri.contains(':') || uri.starts_with(['/', '\\']) {
        return Err(outside());
    }
    let name = decode_percent(uri).ok_or_else(|| format!("{} is no file name", quote(uri.as_bytes())))?;
    let inside = within_folder(&name).ok_or_else(outside)?;
    fetch(&inside, length).map_err(|reason| format!("{}: {reason}", quote(name.as_bytes())))
}

/// The name without steps up and down again; `None` where it leaves the folder.
fn within_folder(name: &str) -> Option<String> {
    let mut steps: Vec<&str> = Vec::new();
    for step in Path::new(name).components() {
        match step {
            Component::Normal(step) => steps.push(step.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => {
                steps.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(steps.join("/"))
}

/// The content of a data URI behind `data:`.
fn decode_data(data: &str) -> Result<Vec<u8>, String> {
    let (kind, content) = data.split_once(',').ok_or("a data URI without a comma")?;
    if !kind.ends_with(";base64") {
        return Err("a data URI that is not base64".into());
    }
    decode_base64(content.as_bytes()).ok_or_else(|| "broken base64".into())
}

pub(in crate::io) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_suffix(b"=").unwrap_or(text);
    let text = text.strip_suffix(b"=").unwrap_or(text);
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0u32;
        for &symbol in group {
            bits = bits << 6 | sextet(symbol)?;
        }
        match group.len() {
            4 => decoded.extend_from_slice(&bits.to_be_bytes()[1..]),
            3 => decoded.extend_from_slice(&(bits >> 2).to_be_bytes()[2..]),
            2 => decoded.push((bits >> 4) as u8),
            _ => return None,
        }
    }
    Some(decoded)
}

fn sextet(symbol: u8) -> Option<u32> {
    Some(u32::from(match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    }))
}

/// `%20` and the like become the bytes they stand for.
fn decode_percent(uri: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            decoded.push(*first);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        let value = |digit: u8| char::from(digit).to_digit(16);
        decoded.push((value(digits[0])? * 16 + value(digits[1])?) as u8);
        rest = tail;
    }
    String::from_utf8(decoded).ok()
}
