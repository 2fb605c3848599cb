//! glTF 2.0 and GLB: the triangles of the scene, node transforms applied in f64.
//!
//! Primitives come in the order of the nodes. Within a node, primitives with the same positions share
//! their vertices. A mirroring transform turns its triangles round, as the format asks, so that they
//! keep their outside. Points and lines are no surface and are passed over; materials, skins, morph
//! targets and animations are not read.

mod accessor;
mod container;
mod json;
mod scene;

use std::collections::HashMap;

use glam::{DMat3, DVec3};

use self::accessor::Component;
pub(super) use self::container::Fetch;
#[cfg(test)]
pub(super) use self::container::decode_base64;
use self::json::{Document, Primitive};
use self::scene::Instance;
use super::assemble::{Fan, Strip};
use super::text::refused_coordinate;
use crate::{Error, Mesh, Pose, Shape};

const FORMAT: &str = "glTF";

/// Vertices and indices that nodes may make together. A small file can name one mesh from many
/// nodes, so its size is no limit; this is, at about half a gigabyte.
const MOST_ELEMENTS: usize = 40_000_000;

/// Required extensions that change how things look, not where they are.
const HARMLESS: [&str; 6] =
    ["KHR_materials_", "KHR_texture_", "KHR_lights_", "KHR_mesh_quantization", "EXT_texture_", "KHR_xmp"];

pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(container::MAGIC)
}

/// Reads a document or a GLB; `fetch` reads the files it names.
pub(super) fn read(bytes: &[u8], fetch: Fetch<'_>) -> Result<Mesh, Error> {
    let (document, binary) = open(bytes)?;
    let instances = scene::instances(&document)?;
    check_size(&document, &instances)?;
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    let mut reader = Reader::new(&document);
    for instance in &instances {
        let (mut more, faces) = reader.read(instance, binary, fetch)?;
        let first = vertices.len() as u32;
        vertices.append(&mut more);
        triangles.extend(faces.into_iter().map(|corners| corners.map(|v| v + first)));
    }
    Mesh::from_points(vertices, triangles)
}

/// The meshes of the nodes, each with the name of its node, or with its number where it has none. Nodes that place one
/// mesh alike but for a translation share its shape, which their poses translate; the placed doubles are the same.
pub(super) fn read_nodes(bytes: &[u8], fetch: Fetch<'_>) -> Result<Vec<(String, Shape, Pose)>, Error> {
    let (document, binary) = open(bytes)?;
    let instances = scene::instances(&document)?;
    check_size(&document, &instances)?;
    // How many nodes have the same mesh and axes.
    let alike = |instance: &Instance| {
        (instance.mesh, DMat3::from_mat4(instance.world).to_cols_array().map(f64::to_bits))
    };
    let mut uses = HashMap::new();
    instances.iter().for_each(|instance| *uses.entry(alike(instance)).or_insert(0) += 1);
    let mut shared: HashMap<_, Option<Shape>> = HashMap::new();
    let mut nodes = Vec::new();
    let mut reader = Reader::new(&document);
    for instance in &instances {
        let key = alike(instance);
        let mut shape = |instance: &Instance| {
            let (vertices, triangles) = reader.read(instance, binary, fetch)?;
            let mesh = (!triangles.is_empty()).then(|| Mesh::from_points(vertices, triangles)).transpose()?;
            Ok::<Option<Shape>, Error>(mesh.map(Shape::from))
        };
        let (shape, pose) = match uses.get(&key) {
            Some(1) => (shape(instance)?, Pose::IDENTITY),
            _ => {
                let (turned, by) = instance.without_translation();
                let pose = Pose::from_translation(by)
                    .map_err(|error| refuse(name_of(instance), error.to_string()))?;
                let shape = match shared.get(&key) {
                    Some(known) => known.clone(),
                    None => shared.entry(key).or_insert(shape(&turned)?).clone(),
                };
                (shape, pose)
            }
        };
        let node = instance.node.and_then(|node| document.nodes.get(node));
        let name = node.and_then(|node| node.name.clone()).unwrap_or_else(|| name_of(instance));
        nodes.extend(shape.map(|shape| (name, shape, pose)));
    }
    if nodes.is_empty() {
        // As for a mesh without a triangle.
        Mesh::from_points(Vec::new(), Vec::new())?;
    }
    Ok(nodes)
}

/// The document and the binary chunk of a GLB.
fn open(bytes: &[u8]) -> Result<(Document, Option<&[u8]>), Error> {
    let (text, binary) = container::split(bytes)?;
    let document: Document = serde_json::from_slice(text).map_err(json_error)?;
    check_version(&document)?;
    Ok((document, binary))
}

fn refuse(place: String, reason: impl Into<String>) -> Error {
    Error::Format { format: FORMAT, place, reason: reason.into() }
}

fn json_error(error: serde_json::Error) -> Error {
    let message = error.to_string();
    let reason = message.split(" at line ").next().unwrap_or(&message);
    refuse(format!("line {}, column {}", error.line(), error.column()), reason)
}

fn check_version(document: &Document) -> Result<(), Error> {
    let version = &document.asset.version;
    if !version.starts_with("2.") {
        return Err(refuse("asset".into(), format!("version {version}: only 2 is supported")));
    }
    let unknown = |name: &&String| !HARMLESS.iter().any(|harmless| name.starts_with(harmless));
    match document.extensions_required.iter().find(unknown) {
        Some(name) => {
            Err(refuse("extensionsRequired".into(), format!("the extension {name} is not supported")))
        }
        None => Ok(()),
    }
}

fn primitives<'d>(document: &'d Document, instance: &Instance) -> Result<&'d [Primitive], Error> {
    match document.meshes.get(instance.mesh) {
        Some(mesh) => Ok(&mesh.primitives),
        None => Err(refuse(name_of(instance), format!("there is no mesh {}", instance.mesh))),
    }
}

fn name_of(instance: &Instance) -> String {
    match instance.node {
        Some(node) => format!("node {node}"),
        None => format!("mesh {}", instance.mesh),
    }
}

/// Adds up what all instances promise before any of it is read.
fn check_size(document: &Document, instances: &[Instance]) -> Result<(), Error> {
    let mut total = 0usize;
    for instance in instances {
        // Primitives of one node may share their positions, but the bound stays simple without that.
        for primitive in primitives(document, instance)? {
            for number in primitive.attributes.position.into_iter().chain(primitive.indices) {
                total = total.saturating_add(accessor::promised(document, number)?);
            }
            // A primitive without a single element must not be repeated for ever either.
            total = total.saturating_add(1);
        }
        if total > MOST_ELEMENTS {
            let reason = format!("the nodes make more than {MOST_ELEMENTS} vertices and indices");
            return Err(refuse(name_of(instance), reason));
        }
    }
    Ok(())
}

struct Reader<'d> {
    document: &'d Document,
    buffers: HashMap<usize, Vec<u8>>,
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl<'d> Reader<'d> {
    fn new(document: &'d Document) -> Reader<'d> {
        Reader { document, buffers: HashMap::new(), vertices: vec![], triangles: vec![] }
    }

    /// The placed mesh of one node.
    fn read(
        &mut self,
        instance: &Instance,
        binary: Option<&[u8]>,
        fetch: Fetch<'_>,
    ) -> Result<(Vec<DVec3>, Vec<[u32; 3]>), Error> {
        self.load_buffers(instance, binary, fetch)?;
        self.place(instance)?;
        Ok((std::mem::take(&mut self.vertices), std::mem::take(&mut self.triangles)))
    }

    /// Loads the buffers that the instance's surfaces lie in, each once.
    fn load_buffers(
        &mut self,
        instance: &Instance,
        binary: Option<&[u8]>,
        fetch: Fetch<'_>,
    ) -> Result<(), Error> {
        for primitive in primitives(self.document, instance)?.iter().filter(|p| is_surface(p)) {
            for number in primitive.attributes.position.into_iter().chain(primitive.indices) {
                let buffer =
                    accessor::buffer_of(self.document, number).map_err(|e| blame_draco(e, primitive))?;
                if self.buffers.contains_key(&buffer) {
                    continue;
                }
                let Some(described) = self.document.buffers.get(buffer) else {
                    return Err(refuse(format!("buffer {buffer}"), "there is no such buffer"));
                };
                self.buffers.insert(buffer, container::load(buffer, described, binary, fetch)?);
            }
        }
        Ok(())
    }

    fn place(&mut self, instance: &Instance) -> Result<(), Error> {
        // The first vertex of each set of positions that this node has placed.
        let mut placed = HashMap::new();
        for (number, primitive) in primitives(self.document, instance)?.iter().enumerate() {
            if !is_surface(primitive) {
                continue;
            }
            let name = || format!("{}, primitive {number}", name_of(instance));
            let Some(positions) = primitive.attributes.position else {
                return Err(refuse(name(), "it has no POSITION"));
            };
            let count = accessor::promised(self.document, positions)?;
            let first = match placed.get(&positions) {
                Some(&first) => first,
                None => {
                    let first = self.vertices.len();
                    self.place_vertices(instance, positions).map_err(|reason| refuse(name(), reason))?;
                    placed.insert(positions, first);
                    first
                }
            };
            let start = self.triangles.len();
            self.add_triangles(primitive, first, count).map_err(|reason| refuse(name(), reason))?;
            if DMat3::from_mat4(instance.world).determinant() < 0.0 {
                self.triangles[start..].iter_mut().for_each(|corners| corners.swap(1, 2));
            }
        }
        Ok(())
    }

    fn place_vertices(&mut self, instance: &Instance, positions: usize) -> Result<(), String> {
        let view = self.view(positions, "VEC3", 3)?;
        if view.component() == Component::U32 {
            return Err("POSITION should be of a float type".into());
        }
        let mut points = Vec::with_capacity(view.count());
        let world = &instance.world;
        for vertex in 0..view.count() {
            let local = DVec3::from_array([0, 1, 2].map(|lane| view.value(vertex, lane)));
            let point = world.transform_point3(local);
            if let Some(reason) = refused_coordinate(point.to_array()) {
                return Err(format!("vertex {vertex}: {reason}"));
            }
            points.push(point);
        }
        self.vertices.extend(points);
        Ok(())
    }

    fn add_triangles(&mut self, primitive: &Primitive, first: usize, vertices: usize) -> Result<(), String> {
        let corners: Vec<u32> = match primitive.indices {
            None => (first..first + vertices).map(|vertex| vertex as u32).collect(),
            Some(indices) => {
                let view = self.view(indices, "SCALAR", 1)?;
                if !matches!(view.component(), Component::U8 | Component::U16 | Component::U32) {
                    return Err("indices should be of an unsigned type".into());
                }
                let corner = |element| {
                    let index = view.value(element, 0) as usize;
                    if index >= vertices {
                        return Err(format!(
                            "index {element} names vertex {index}, but there are {vertices} vertices"
                        ));
                    }
                    Ok((first + index) as u32)
                };
                (0..view.count()).map(corner).collect::<Result<_, _>>()?
            }
        };
        let count = corners.len();
        if count < 3 && count > 0 {
            return Err(format!("{count} corners make no triangle"));
        }
        match primitive.mode.unwrap_or(4) {
            5 => {
                let mut strip = Strip::default();
                corners.into_iter().for_each(|corner| strip.corner(corner, &mut self.triangles));
            }
            6 => {
                let mut fan = Fan::default();
                corners.into_iter().for_each(|corner| fan.corner(corner, &mut self.triangles));
            }
            4 if count.is_multiple_of(3) => {
                self.triangles.extend(corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]));
            }
            4 => return Err(format!("{count} corners are no whole number of triangles")),
            mode => return Err(format!("unknown mode {mode}")),
        }
        Ok(())
    }

    fn view(&self, number: usize, shape: &str, width: usize) -> Result<accessor::AccessorView<'_>, String> {
        let buffer = accessor::buffer_of(self.document, number).map_err(|error| error.to_string())?;
        let bytes = self.buffers.get(&buffer).map_or(&[][..], Vec::as_slice);
        accessor::view(self.document, number, shape, width, bytes).map_err(|error| error.to_string())
    }
}

/// Points and lines have modes 0 to 3.
fn is_surface(primitive: &Primitive) -> bool {
    primitive.mode.is_none_or(|mode| mode > 3)
}

/// A primitive whose data is missing because it is packed says so.
fn blame_draco(error: Error, primitive: &Primitive) -> Error {
    match (error, &primitive.extensions.draco) {
        (Error::Format { place, .. }, Some(_)) => {
            refuse(place, "its data is packed by KHR_draco_mesh_compression, which is not supported")
        }
        (error, _) => error,
    }
}
