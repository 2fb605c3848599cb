//! The shapes of a question: a mesh, a hull, a primitive, a compound or a cloud of particles, each under its own word.

use impinge::{Error, Pose, Shape};

use super::fields::{Fields, Index, List};
use super::meshes::LineMeshes;
use crate::error::Failure;
use crate::pose;

/// The words of shapes, as they stand in a question.
pub(super) const WORDS: [&str; 18] = [
    "mesh",
    "vertices",
    "hull",
    "sphere",
    "box",
    "capsule",
    "cylinder",
    "cone",
    "ellipsoid",
    "halfspace",
    "triangle",
    "segment",
    "compound",
    "particles",
    "triangles",
    "tetrahedra",
    "radius",
    "radii",
];

/// Those of [`WORDS`] that begin a shape.
const KINDS: usize = 14;

/// The shape of a body; exactly one has to be given.
pub fn read(fields: &Fields<'_>, name: &str, meshes: &LineMeshes<'_>) -> Result<Shape, Failure> {
    let given: Vec<&str> = WORDS.into_iter().filter(|word| fields.has(word)).collect();
    match given[..] {
        ["mesh"] => {
            let file: String = fields.get("mesh")?.ok_or_else(|| fields.fail("mesh missing"))?;
            meshes.get(&file).map_err(|e| e.at(name))
        }
        ["vertices"] | ["triangles"] | ["vertices", "triangles"] => triangles(fields),
        ["tetrahedra"] | ["vertices", "tetrahedra"] => tetrahedra(fields),
        ["compound"] => compound(fields, name, meshes),
        ["particles"] | ["particles", "radius"] | ["particles", "radii"] => particles(fields),
        ["radius" | "radii"] => Err(fields.fail("a radius of no particles")),
        [word] => convex(fields, word),
        [] => Err(fields.fail(&format!("no shape; give one of {}", WORDS[..KINDS].join(", ")))),
        [..] => Err(fields.fail(&format!("one shape at a time, not {}", given.join(" and ")))),
    }
}

/// Where a body is.
pub fn pose_of(fields: &Fields<'_>) -> Result<Pose, Failure> {
    Ok(pose::of_field(fields, "pose")?.unwrap_or(Pose::IDENTITY))
}

fn convex(fields: &Fields<'_>, word: &str) -> Result<Shape, Failure> {
    let shape = match word {
        "hull" => {
            let List(points) = value::<List<[f64; 3]>>(fields, word)?;
            Shape::hull(points)
        }
        "sphere" => Shape::sphere(value(fields, word)?),
        "box" => Shape::cuboid(value::<[f64; 3]>(fields, word)?),
        "ellipsoid" => Shape::ellipsoid(value::<[f64; 3]>(fields, word)?),
        "triangle" => Shape::triangle(value::<[[f64; 3]; 3]>(fields, word)?),
        "segment" => Shape::segment(value::<[[f64; 3]; 2]>(fields, word)?),
        "halfspace" => {
            let inner = object(fields, word)?;
            inner.only(&["normal", "offset"])?;
            Shape::half_space(value::<[f64; 3]>(&inner, "normal")?, value(&inner, "offset")?)
        }
        _ => {
            let inner = object(fields, word)?;
            inner.only(&["radius", "half_height"])?;
            let (radius, half_height) = (value(&inner, "radius")?, value(&inner, "half_height")?);
            match word {
                "capsule" => Shape::capsule(radius, half_height),
                "cylinder" => Shape::cylinder(radius, half_height),
                _ => Shape::cone(radius, half_height),
            }
        }
    };
    shape.map_err(|e: Error| fields.fail(&format!("{word}: {e}")))
}

fn compound(fields: &Fields<'_>, name: &str, meshes: &LineMeshes<'_>) -> Result<Shape, Failure> {
    let mut parts = Vec::new();
    for (i, part) in fields.objects("compound")?.iter().enumerate() {
        part.only(&[&WORDS[..], &["pose"]].concat())?;
        // Not read: lines may nest without end.
        if part.has("compound") {
            return Err(fields.fail(&format!("compound: part {i} is a compound, which is not convex")));
        }
        parts.push((read(part, name, meshes)?, pose_of(part)?));
    }
    Shape::compound(parts).map_err(|e| fields.fail(&format!("compound: {e}")))
}

fn object<'a>(fields: &Fields<'a>, word: &str) -> Result<Fields<'a>, Failure> {
    fields.object(word)?.ok_or_else(|| fields.fail(&format!("{word} missing")))
}

fn value<T: serde::de::DeserializeOwned>(fields: &Fields<'_>, name: &str) -> Result<T, Failure> {
    fields.get(name)?.ok_or_else(|| fields.fail(&format!("{name} missing")))
}

fn triangles(fields: &Fields<'_>) -> Result<Shape, Failure> {
    let List(vertices) = value::<List<[f64; 3]>>(fields, "vertices")?;
    let List(triangles) = value::<List<[Index; 3]>>(fields, "triangles")?;
    let triangles = triangles.into_iter().map(|t| t.map(|Index(v)| v)).collect();
    Shape::mesh(vertices, triangles).map_err(|e| fields.fail(&e.to_string()))
}

fn particles(fields: &Fields<'_>) -> Result<Shape, Failure> {
    let List(points) = value::<List<[f64; 3]>>(fields, "particles")?;
    let radii = match fields.get::<List<f64>>("radii")? {
        Some(List(radii)) if radii.len() == points.len() => radii,
        Some(List(radii)) => {
            return Err(fields.fail(&format!("radii: {} for {} particles", radii.len(), points.len())));
        }
        None => vec![fields.get("radius")?.ok_or_else(|| fields.fail("radius or radii missing"))?],
    };
    Shape::particles(points, &radii).map_err(|e| fields.fail(&e.to_string()))
}

fn tetrahedra(fields: &Fields<'_>) -> Result<Shape, Failure> {
    let List(vertices) = value::<List<[f64; 3]>>(fields, "vertices")?;
    let List(tetrahedra) = value::<List<[Index; 4]>>(fields, "tetrahedra")?;
    let tetrahedra = tetrahedra.into_iter().map(|t| t.map(|Index(v)| v)).collect();
    Shape::tetrahedra(vertices, tetrahedra).map_err(|e| fields.fail(&e.to_string()))
}
