//! The node tree of a glTF file: which meshes are placed where.

use glam::{DMat3, DMat4, DQuat, DVec3, DVec4};

use super::json::{Document, Node};
use super::refuse;
use crate::Error;

/// A mesh of the document at its place in the world.
pub(super) struct Instance {
    pub node: Option<usize>,
    pub mesh: usize,
    pub world: DMat4,
}

impl Instance {
    /// The same at the origin, and by what it is to be translated.
    pub fn without_translation(&self) -> (Instance, DVec3) {
        let mut world = self.world;
        let by = std::mem::replace(&mut world.w_axis, DVec4::W).truncate();
        (Instance { world, ..*self }, by)
    }
}

/// The meshes of the scene in the order of the nodes that carry them.
///
/// The scene is the one the document names, else the first; without scenes all nodes count, without
/// nodes every mesh once.
pub(super) fn instances(document: &Document) -> Result<Vec<Instance>, Error> {
    if document.nodes.is_empty() {
        let place = |mesh| Instance { node: None, mesh, world: DMat4::IDENTITY };
        return Ok((0..document.meshes.len()).map(place).collect());
    }
    let worlds = worlds(document, roots(document)?)?;
    let mut instances = Vec::new();
    for (number, (node, world)) in document.nodes.iter().zip(worlds).enumerate() {
        if let (Some(mesh), Some(world)) = (node.mesh, world) {
            instances.push(Instance { node: Some(number), mesh, world });
        }
    }
    Ok(instances)
}

fn roots(document: &Document) -> Result<Vec<usize>, Error> {
    if document.scenes.is_empty() {
        let mut is_child = vec![false; document.nodes.len()];
        for &child in document.nodes.iter().flat_map(|node| &node.children) {
            if let Some(flag) = is_child.get_mut(child) {
                *flag = true;
            }
        }
        return Ok((0..is_child.len()).filter(|&node| !is_child[node]).collect());
    }
    let scene = document.scene.unwrap_or(0);
    match document.scenes.get(scene) {
        Some(scene) => Ok(scene.nodes.clone()),
        None => Err(refuse(format!("scene {scene}"), "there is no such scene")),
    }
}

/// The world matrix of every node below the roots, each reached once.
fn worlds(document: &Document, roots: Vec<usize>) -> Result<Vec<Option<DMat4>>, Error> {
    let mut worlds = vec![None; document.nodes.len()];
    let mut open: Vec<(usize, DMat4)> = roots.into_iter().map(|root| (root, DMat4::IDENTITY)).collect();
    while let Some((number, parent)) = open.pop() {
        let Some(node) = document.nodes.get(number) else {
            return Err(refuse(format!("node {number}"), "there is no such node"));
        };
        if worlds[number].is_some() {
            return Err(refuse(format!("node {number}"), "it has two parents"));
        }
        let world = parent * local(node).map_err(|reason| refuse(format!("node {number}"), reason))?;
        worlds[number] = Some(world);
        open.extend(node.children.iter().map(|&child| (child, world)));
    }
    Ok(worlds)
}

fn local(node: &Node) -> Result<DMat4, &'static str> {
    if let Some(columns) = &node.matrix {
        return Ok(DMat4::from_cols_array(columns));
    }
    let rotation = match &node.rotation {
        None => DMat3::IDENTITY,
        Some(rotation) => {
            let rotation = DVec4::from_array(**rotation);
            let unit = rotation.try_normalize().ok_or("its rotation is no quaternion")?;
            DMat3::from_quat(DQuat::from_vec4(unit))
        }
    };
    let scale = node.scale.as_ref().map_or(DVec3::ONE, |scale| DVec3::from_array(**scale));
    let translation = node.translation.as_ref().map_or(DVec3::ZERO, |t| DVec3::from_array(**t));
    let turned = rotation * DMat3::from_diagonal(scale);
    Ok(DMat4::from_cols(
        turned.x_axis.extend(0.0),
        turned.y_axis.extend(0.0),
        turned.z_axis.extend(0.0),
        translation.extend(1.0),
    ))
}
