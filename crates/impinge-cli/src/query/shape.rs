//! The shapes of a question: a mesh, a hull, or a primitive, each under its own word.

use glam::DVec3;
use impinge::{Error, Mesh, Model, Polytope, Primitive, Shape};

use super::fields::{Fields, Index, List};
use super::meshes::Meshes;
use crate::error::Failure;

/// The words of shapes, as they stand in a question.
pub(super) const WORDS: [&str; 13] = [
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
    "triangles",
];

/// The shape of a body; exactly one has to be given.
pub fn read(fields: &Fields<'_>, name: &str, meshes: &Meshes) -> Result<Shape, Failure> {
    let given: Vec<&str> = WORDS.into_iter().filter(|word| fields.has(word)).collect();
    match given[..] {
        ["mesh"] => {
            let file: String = fields.get("mesh")?.ok_or_else(|| fields.fail("mesh missing"))?;
            Ok(meshes.get(&file).map_err(|e| e.at(name))?.into())
        }
        ["vertices"] | ["triangles"] | ["vertices", "triangles"] => Ok(inline(fields)?.into()),
        [word] => convex(fields, word),
        [] => Err(fields.fail(&format!("no shape; give one of {}", WORDS[..12].join(", ")))),
        [..] => Err(fields.fail(&format!("one shape at a time, not {}", given.join(" and ")))),
    }
}

fn convex(fields: &Fields<'_>, word: &str) -> Result<Shape, Failure> {
    let refused = |e: Error| fields.fail(&format!("{word}: {e}"));
    let primitive = match word {
        "hull" => {
            let List(points) = value::<List<[f64; 3]>>(fields, word)?;
            let points: Vec<DVec3> = points.into_iter().map(DVec3::from).collect();
            return Ok(Polytope::hull(&points).map_err(refused)?.into());
        }
        "sphere" => Primitive::sphere(value(fields, word)?),
        "box" => Primitive::cuboid(value::<[f64; 3]>(fields, word)?),
        "ellipsoid" => Primitive::ellipsoid(value::<[f64; 3]>(fields, word)?),
        "triangle" => Primitive::triangle(value::<[[f64; 3]; 3]>(fields, word)?.map(DVec3::from)),
        "segment" => Primitive::segment(value::<[[f64; 3]; 2]>(fields, word)?.map(DVec3::from)),
        "halfspace" => {
            let inner = object(fields, word)?;
            inner.only(&["normal", "offset"])?;
            Primitive::half_space(value::<[f64; 3]>(&inner, "normal")?, value(&inner, "offset")?)
        }
        _ => {
            let inner = object(fields, word)?;
            inner.only(&["radius", "half_height"])?;
            let (radius, half_height) = (value(&inner, "radius")?, value(&inner, "half_height")?);
            match word {
                "capsule" => Primitive::capsule(radius, half_height),
                "cylinder" => Primitive::cylinder(radius, half_height),
                _ => Primitive::cone(radius, half_height),
            }
        }
    };
    Ok(primitive.map_err(refused)?.into())
}

fn object<'a>(fields: &Fields<'a>, word: &str) -> Result<Fields<'a>, Failure> {
    fields.object(word)?.ok_or_else(|| fields.fail(&format!("{word} missing")))
}

fn value<T: serde::de::DeserializeOwned>(fields: &Fields<'_>, name: &str) -> Result<T, Failure> {
    fields.get(name)?.ok_or_else(|| fields.fail(&format!("{name} missing")))
}

fn inline(fields: &Fields<'_>) -> Result<Model, Failure> {
    let List(vertices) = value::<List<[f64; 3]>>(fields, "vertices")?;
    let List(triangles) = value::<List<[Index; 3]>>(fields, "triangles")?;
    let triangles = triangles.into_iter().map(|t| t.map(|Index(v)| v)).collect();
    Ok(Mesh::new(vertices, triangles).map_err(|e| fields.fail(&e.to_string()))?.into())
}
