//! Typed numbers in the buffers of a glTF file.

use super::json::{Accessor, Document};
use super::refuse;
use crate::Error;

/// The component types of the format, by their OpenGL numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Component {
    I8 = 5120,
    U8 = 5121,
    I16 = 5122,
    U16 = 5123,
    U32 = 5125,
    F32 = 5126,
}

impl Component {
    fn numbered(number: u32) -> Option<Component> {
        use Component::{F32, I8, I16, U8, U16, U32};
        [I8, U8, I16, U16, U32, F32].into_iter().find(|&component| component as u32 == number)
    }

    fn size(self) -> usize {
        match self {
            Component::I8 | Component::U8 => 1,
            Component::I16 | Component::U16 => 2,
            Component::U32 | Component::F32 => 4,
        }
    }

    /// The number in `bytes`, which has the size of this type.
    #[inline]
    fn value(self, bytes: &[u8], normalized: bool) -> f64 {
        let four = || [bytes[0], bytes[1], bytes[2], bytes[3]];
        let two = || [bytes[0], bytes[1]];
        let (value, largest) = match self {
            Component::F32 => return f32::from_le_bytes(four()).into(),
            Component::U32 => return u32::from_le_bytes(four()).into(),
            Component::I8 => (f64::from(bytes[0] as i8), 127.0),
            Component::U8 => (f64::from(bytes[0]), 255.0),
            Component::I16 => (f64::from(i16::from_le_bytes(two())), 32767.0),
            Component::U16 => (f64::from(u16::from_le_bytes(two())), 65535.0),
        };
        // The lowest signed number stands for −1 as well.
        if normalized { f64::max(value / largest, -1.0) } else { value }
    }
}

/// An accessor whose place in its buffer has been checked.
pub(super) struct AccessorView<'d> {
    bytes: &'d [u8],
    stride: usize,
    component: Component,
    normalized: bool,
    count: usize,
}

/// How many elements accessor `number` has, as far as the document says.
pub(super) fn promised(document: &Document, number: usize) -> Result<usize, Error> {
    find(document, number).map(|accessor| accessor.count)
}

/// The buffer that accessor `number` lies in.
pub(super) fn buffer_of(document: &Document, number: usize) -> Result<usize, Error> {
    let accessor = find(document, number)?;
    let refuse = |reason: String| refuse(format!("accessor {number}"), reason);
    if accessor.sparse.is_some() {
        return Err(refuse("sparse accessors are not supported".into()));
    }
    let Some(view) = accessor.buffer_view else {
        return Err(refuse("it has no buffer view".into()));
    };
    match document.buffer_views.get(view) {
        Some(view) => Ok(view.buffer),
        None => Err(refuse(format!("there is no buffer view {view}"))),
    }
}

fn find(document: &Document, number: usize) -> Result<&Accessor, Error> {
    let missing = || refuse(format!("accessor {number}"), "there is no such accessor");
    document.accessors.get(number).ok_or_else(missing)
}

/// The elements of accessor `number`, `width` components each, in the bytes of its buffer.
pub(super) fn view<'d>(
    document: &Document,
    number: usize,
    shape: &str,
    width: usize,
    buffer: &'d [u8],
) -> Result<AccessorView<'d>, Error> {
    let refuse = |reason: String| refuse(format!("accessor {number}"), reason);
    let accessor = find(document, number)?;
    if accessor.shape != shape {
        return Err(refuse(format!("{shape} is expected, not {}", accessor.shape)));
    }
    let component = Component::numbered(accessor.component_type)
        .ok_or_else(|| refuse(format!("unknown component type {}", accessor.component_type)))?;
    let Some(view) = accessor.buffer_view.and_then(|view| document.buffer_views.get(view)) else {
        return Err(refuse("it has no buffer view".into()));
    };
    let size = component.size() * width;
    // A stride of 0 is not allowed by the format, but exporters mean "packed" by it.
    let stride = view.byte_stride.filter(|&stride| stride > 0).unwrap_or(size);
    if stride < size {
        return Err(refuse(format!("a stride of {stride} bytes for elements of {size}")));
    }
    let inside = |bytes: &'d [u8], from: usize, length: usize| bytes.get(from..from.checked_add(length)?);
    let length = match accessor.count {
        0 => Some(0),
        count => (count - 1).checked_mul(stride).and_then(|last| last.checked_add(size)),
    };
    let bytes = inside(buffer, view.byte_offset, view.byte_length)
        .and_then(|bytes| inside(bytes, accessor.byte_offset, length?))
        .ok_or_else(|| refuse(format!("{} elements reach beyond the buffer", accessor.count)))?;
    Ok(AccessorView { bytes, stride, component, normalized: accessor.normalized, count: accessor.count })
}

impl AccessorView<'_> {
    pub fn count(&self) -> usize {
        self.count
    }

    pub fn component(&self) -> Component {
        self.component
    }

    /// Component `lane` of `element`, both in range.
    #[inline]
    pub fn value(&self, element: usize, lane: usize) -> f64 {
        let size = self.component.size();
        let at = element * self.stride + lane * size;
        self.component.value(&self.bytes[at..at + size], self.normalized)
    }
}
