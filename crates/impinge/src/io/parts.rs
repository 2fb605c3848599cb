//! The parts of an assembly: every file of a folder, every named node of a glTF, every group and object
//! of an OBJ.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{Format, bytes_of, fetch, gltf, name_file, obj, read_any, unpacked};
use crate::clash::Part;
use crate::num::compact_sort::sort_rarely;
use crate::num::parallel;
use crate::{Error, Mesh, Pose, Shape};

/// Loads the parts of an assembly from files and folders, in their order: of a folder every mesh file in the order of their names, of a glTF every node with
/// a mesh, of an OBJ every group within every object (an object without groups is one part); any other file is one
/// part.
///
/// A part is called by its file's stem, followed by a colon and the name of its node, or of its object and group with
/// another colon, where there are several; names that come twice get a number. Folders within folders are not looked
/// at. Nodes of a glTF that place one mesh in several positions share its shape and differ in their poses; all other
/// parts are placed by their coordinates.
///
/// # Errors
/// A path that cannot be read, a folder without mesh files, or what [`load_mesh`](super::load_mesh) refuses; the path is
/// named.
pub fn load_parts<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Vec<Part>, Error> {
    let (parts, refused) = load_readable_parts(paths)?;
    refused.into_iter().next().map_or(Ok(parts), Err)
}

/// As [`load_parts`], but a file that cannot be read, a path that does not exist and a folder without mesh files do not stop
/// the others: the parts of those that can be read, and why each of the others was refused, which names it.
///
/// # Errors
/// Why the first was refused, where there is no part at all.
pub fn load_readable_parts<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P>,
) -> Result<(Vec<Part>, Vec<Error>), Error> {
    let mut files = Vec::new();
    for path in paths {
        match files_at(path.as_ref()) {
            Ok(some) => files.extend(some.into_iter().map(Ok)),
            Err(error) => files.push(Err(error)),
        }
    }
    let read = |k: usize| files[k].as_ref().ok().map(|path| of_file(path));
    let found = parallel::map(files.len(), read);
    let (mut parts, mut refused) = (Vec::new(), Vec::new());
    for (path, found) in files.into_iter().zip(found) {
        match (path, found) {
            (Err(error), _) | (_, Some(Err(error))) => refused.push(error),
            (_, found) => parts.extend(found.into_iter().flatten().flatten()),
        }
    }
    if parts.is_empty() && !refused.is_empty() {
        return Err(refused.swap_remove(0));
    }
    number_equal_names(&mut parts);
    Ok((parts, refused))
}

/// A file, or the mesh files of a folder.
fn files_at(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let found = std::fs::symlink_metadata(path).map_err(|error| name_file(path, error))?;
    if found.is_dir() || std::fs::metadata(path).is_ok_and(|target| target.is_dir()) {
        return mesh_files(path);
    }
    Ok(vec![path.to_path_buf()])
}

/// The mesh files of a folder by their extensions, sorted by name.
fn mesh_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| name_file(folder, error))? {
        let path = entry.map_err(|error| name_file(folder, error))?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        // A link that leads nowhere is kept, so that reading it says so.
        let is_file = path.is_file() || path.is_symlink() && !path.exists();
        if !hidden && is_file && Format::from_path(&path).is_some() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(name_file(folder, "the folder holds no mesh file"));
    }
    sort_rarely(&mut files, Ord::cmp);
    Ok(files)
}

fn of_file(path: &Path) -> Result<Vec<Part>, Error> {
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let bytes = bytes_of(path)?;
    let bytes = unpacked(&bytes).map_err(|error| name_file(path, error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let fetch = |name: &str, length: usize| fetch(&folder.join(name), length);
    let alone = |(name, mesh): (String, Mesh)| (name, Shape::from(mesh), Pose::IDENTITY);
    let named = match Format::from_content(&bytes).or(Format::from_path(path)) {
        Some(Format::Gltf) => gltf::read_nodes(&bytes, &fetch),
        Some(Format::Obj) => obj::read_groups(&bytes).map(|all| all.into_iter().map(alone).collect()),
        _ => read_any(&bytes, Format::from_path(path), &fetch).map(|mesh| vec![alone((String::new(), mesh))]),
    };
    let mut named: Vec<(String, Shape, Pose)> = named.map_err(|error| name_file(path, error))?;
    if let [(name, ..)] = named.as_mut_slice() {
        name.clear();
    }
    let part = |(name, shape, pose): (String, Shape, Pose)| Part {
        name: if name.is_empty() { stem.clone() } else { format!("{stem}:{name}") },
        shape,
        pose,
    };
    Ok(named.into_iter().map(part).collect())
}

/// Puts a number behind names that stood before, so that every part has its own.
fn number_equal_names(parts: &mut [Part]) {
    let mut taken: HashMap<String, usize> = HashMap::new();
    for part in parts {
        let mut name = part.name.clone();
        while let Some(count) = taken.get_mut(&name) {
            *count += 1;
            name = format!("{}#{count}", part.name);
        }
        taken.insert(name.clone(), 1);
        part.name = name;
    }
}
