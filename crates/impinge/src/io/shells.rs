//! Files of layered shells, which are precomputed.
//!
//! A file holds what cannot be found again quickly: the simplified triangles and the links between levels.
//! All else, the facets and their bounds above all, follows from these and from the mesh, and is found anew
//! when the file is read. So no file, however it came about, can make a facet that does not contain what lies
//! below it; a bad one is refused, or makes loose shells.
//!
//! Little endian: the magic, the version, flags, the hash of the mesh, the number of levels above the mesh;
//! for each the parents of the facets below, the number of its triangles and their corners; where the surface
//! is only within an error of the mesh, that for each triangle; at last the hash of all bytes before it
//! (FNV-1a, 64 bits).

use std::path::Path;

use super::bytes::Bytes;
use super::save::{refuse, replace};
use super::{bytes_of, name_file};
use crate::narrow::sampled::shells::{Links, Shells, hash_of, model_of};
use crate::num::hash::fnv1a;
use crate::{Error, Mesh, Shape};

const MAGIC: [u8; 8] = *b"IMPSHELL";
const VERSION: u32 = 1;

/// Set where errors follow.
const HAS_ERROR: u32 = 1;

/// Levels above the mesh, at most: each has fewer facets than the last, and a mesh has less than 2²⁸.
const MOST_LEVELS: u32 = 64;

impl Shells {
    /// Saves the shells, whole or not at all.
    ///
    /// # Errors
    /// What the system says about the file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        replace(path, &self.to_bytes()).map_err(|error| refuse(path, error.to_string()))
    }

    /// Loads shells that were saved for this very mesh.
    ///
    /// ```no_run
    /// let bunny = impinge::load("bunny.ply")?;
    /// impinge::Shells::of(&bunny, None)?.save("bunny.shells")?;
    /// let shells = impinge::Shells::load("bunny.shells", &bunny)?;
    /// # Ok::<(), impinge::Error>(())
    /// ```
    ///
    /// # Errors
    /// A file that cannot be read, is of another kind or version or for another mesh, or was changed; the
    /// reason is named.
    pub fn load(path: impl AsRef<Path>, shape: &Shape) -> Result<Shells, Error> {
        let path = path.as_ref();
        Shells::from_bytes(&bytes_of(path)?, model_of(shape)?.mesh()).map_err(|error| name_file(path, error))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let (links, error) = self.links();
        let mut bytes = MAGIC.to_vec();
        let flags = if error.is_some() { HAS_ERROR } else { 0 };
        bytes.extend([VERSION, flags].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(self.mesh_hash().to_le_bytes());
        bytes.extend((links.len() as u32).to_le_bytes());
        for Links { parent, corners } in &links {
            bytes.extend((corners.len() as u32).to_le_bytes());
            bytes.extend(parent.iter().chain(corners.as_flattened()).flat_map(|index| index.to_le_bytes()));
        }
        bytes.extend(error.into_iter().flatten().flat_map(|length| length.to_le_bytes()));
        let sum = fnv1a(bytes.iter().copied());
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8], mesh: &Mesh) -> Result<Shells, Error> {
        let mut at = Bytes::new(bytes, 0, "shells");
        if at.array("the magic")? != MAGIC {
            return Err(at.error("this is no file of shells"));
        }
        let version = u32::from_le_bytes(at.array("the version")?);
        if version != VERSION {
            return Err(at.error(format!("version {version}; {VERSION} is known")));
        }
        let (body, sum) = bytes.split_at(bytes.len().saturating_sub(8));
        let mut end = [0; 8];
        end.copy_from_slice(sum);
        if fnv1a(body.iter().copied()) != u64::from_le_bytes(end) {
            return Err(at.error("the checksum does not fit: the file was cut short or changed"));
        }
        let flags = u32::from_le_bytes(at.array("the flags")?);
        if flags & !HAS_ERROR != 0 {
            return Err(at.error(format!("unknown flags {flags:#x}")));
        }
        if u64::from_le_bytes(at.array("the mesh's hash")?) != hash_of(mesh) {
            return Err(at.error("these are the shells of another mesh"));
        }
        let levels = u32::from_le_bytes(at.array("the number of levels")?);
        if levels > MOST_LEVELS {
            return Err(at.error(format!("{levels} levels; at most {MOST_LEVELS} are possible")));
        }
        let mut links: Vec<Links> = Vec::new();
        for _ in 0..levels {
            let finer = links.last().map_or(mesh.triangles().len(), |links| links.corners.len());
            links.push(read_links(&mut at, finer, mesh.vertices().len())?);
        }
        let error =
            if flags & HAS_ERROR != 0 { Some(read_errors(&mut at, mesh.triangles().len())?) } else { None };
        if at.remaining() != 8 {
            return Err(at.error(format!("{} bytes too many", at.remaining().saturating_sub(8))));
        }
        Ok(Shells::from_links(mesh, links, error))
    }
}

/// One level above `finer` facets of a mesh with so many vertices.
fn read_links(at: &mut Bytes<'_>, finer: usize, vertices: usize) -> Result<Links, Error> {
    let count = u32::from_le_bytes(at.array("the number of facets")?) as usize;
    if count == 0 || count >= finer {
        return Err(at.error(format!("a level of {count} facets above one of {finer}")));
    }
    let parent = read_indices(at, finer, count, "a parent")?;
    let mut has_child = vec![false; count];
    parent.iter().for_each(|&p| has_child[p as usize] = true);
    if let Some(facet) = has_child.iter().position(|has| !has) {
        return Err(at.error(format!("facet {facet} has no child")));
    }
    let corners = read_indices(at, 3 * count, vertices, "a corner")?;
    Ok(Links { parent, corners: corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect() })
}

/// So many indices, each below a limit.
fn read_indices(at: &mut Bytes<'_>, count: usize, limit: usize, what: &str) -> Result<Vec<u32>, Error> {
    let taken = at.take(4 * count, what)?;
    let indices: Vec<u32> =
        taken.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    match indices.iter().find(|&&index| index as usize >= limit) {
        Some(index) => Err(at.error(format!("{what} is {index}, but there are {limit}"))),
        None => Ok(indices),
    }
}

fn read_errors(at: &mut Bytes<'_>, count: usize) -> Result<Vec<f64>, Error> {
    let mut errors = Vec::new();
    for _ in 0..count {
        let error = f64::from_le_bytes(at.array("the errors of the triangles")?);
        if !(error >= 0.0 && error.is_finite()) {
            return Err(at.error(format!("an error of {error}")));
        }
        errors.push(error);
    }
    Ok(errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random;
    use crate::shape::procedural;

    fn shells() -> (Shape, Shells) {
        let shape = Shape::from(procedural::torus(1.0, 0.3, 20, 12).unwrap());
        let shells = Shells::of(&shape, None).unwrap();
        (shape, shells)
    }

    /// The same bytes with a checksum that fits.
    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let body = bytes.len() - 8;
        let sum = fnv1a(bytes[..body].iter().copied());
        bytes[body..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    #[test]
    fn what_was_saved_comes_back_to_the_bit() {
        let (shape, shells) = shells();
        let folder = std::env::temp_dir().join(format!("impinge-shells-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("torus.shells");
        shells.save(&path).unwrap();
        let loaded = Shells::load(&path, &shape).unwrap();
        assert!(loaded == shells);
        loaded.attach(&shape).unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside the file");
        let other = Shape::from(procedural::torus(1.0, 0.3000001, 20, 12).unwrap());
        assert!(shells.clone().attach(&other).unwrap_err().to_string().contains("another mesh"));
        let refused = Shells::load(&path, &other).unwrap_err().to_string();
        assert!(refused.contains("torus.shells") && refused.contains("another mesh"), "{refused}");
        assert!(
            Shells::load(&path, &Shape::sphere(1.0).unwrap()).unwrap_err().to_string().contains("meshes")
        );
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(Shells::load(&path, &shape).unwrap_err().to_string().contains("torus.shells"));
    }

    #[test]
    fn cut_and_changed_files_are_refused() {
        let (shape, shells) = shells();
        let mesh = shape.as_mesh().unwrap();
        let bytes = shells.to_bytes();
        assert!(Shells::from_bytes(&bytes, mesh).unwrap() == shells);
        for length in (0..bytes.len()).step_by(7).chain(0..64) {
            let refused = Shells::from_bytes(&bytes[..length], mesh).unwrap_err().to_string();
            assert!(refused.contains("shells, byte"), "{refused}");
        }
        for n in 0..500 {
            let mut spoiled = bytes.clone();
            let at = random::bits(1, n) as usize % bytes.len();
            spoiled[at] ^= 1 << (random::bits(2, n) % 8);
            assert!(Shells::from_bytes(&spoiled, mesh).is_err(), "byte {at}");
        }
    }

    #[test]
    fn forged_files_are_refused_or_make_sound_shells() {
        let (shape, shells) = shells();
        let mesh = shape.as_mesh().unwrap();
        let bytes = shells.to_bytes();
        let (mut refused, mut sound) = (0, 0);
        for n in 0..400 {
            let mut forged = bytes.clone();
            // Low bytes of indices too, so that some files are still of the right form.
            let word = random::bits(3, n) as usize % (bytes.len() / 4 - 2);
            forged[4 * word] = random::bits(4, n) as u8;
            forged[4 * word + 3] = if n % 2 == 0 { 0 } else { random::bits(5, n) as u8 };
            match Shells::from_bytes(&sealed(forged), mesh) {
                Err(_) => refused += 1,
                Ok(shells) => {
                    shells.verify(mesh, 20, n).unwrap();
                    sound += 1;
                }
            }
        }
        assert!(refused > 20 && sound > 20, "{refused} {sound}");
        let with = |at: usize, value: u32| {
            let mut forged = bytes.clone();
            forged[at..at + 4].copy_from_slice(&value.to_le_bytes());
            Shells::from_bytes(&sealed(forged), mesh).unwrap_err().to_string()
        };
        // No memory is asked for what the file cannot hold.
        assert!(with(24, u32::MAX).contains("levels"));
        assert!(with(28, u32::MAX).contains("facets above"));
        assert!(with(28, 0).contains("facets above"));
        assert!(with(32, u32::MAX).contains("a parent"));
        assert!(with(12, 2).contains("flags"));
        assert!(with(12, HAS_ERROR).contains("bytes are needed"));
        assert!(with(8, 9).contains("version 9"));
    }
}
