//! Files packed with gzip.

use std::io::Read;

use flate2::bufread::MultiGzDecoder;

use crate::Error;

/// Unpacked bytes per packed byte beyond which a file is refused. Mesh texts reach about 30; a file
/// made to exhaust memory reaches 1000.
const MOST_GROWTH: u64 = 200;

pub(super) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let refuse = |reason: String| Error::Format { format: "gzip", place: "packed data".into(), reason };
    let most = (bytes.len() as u64).saturating_mul(MOST_GROWTH);
    let mut unpacked = Vec::new();
    let mut limited = MultiGzDecoder::new(bytes).take(most + 1);
    limited.read_to_end(&mut unpacked).map_err(|error| refuse(error.to_string()))?;
    if unpacked.len() as u64 > most {
        return Err(refuse(format!("it unpacks to more than {MOST_GROWTH} times its size")));
    }
    Ok(unpacked)
}
