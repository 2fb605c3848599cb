//! Jolt with internal-edge removal, a program of its own.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use glam::DVec3;
use impinge::Mesh;

use crate::outside::Outside;
use crate::scenes::{mesh_bytes, peers_folder};
use crate::table::Table;
use crate::tables::contacts::{Body, Kind, Runner, Told, slide};

/// A frame takes far less.
const PATIENCE: Duration = Duration::from_secs(60);

/// Numbers that tell a contact: body, point, normal, depth.
const NUMBERS: usize = 8;

/// Asks about all bodies, frame by frame; where the program is not built, the table says so and nothing is returned.
///
/// # Errors
/// The scene cannot be written, or the program is there but does not start.
pub fn runner(
    ground: &Mesh,
    bodies: &[Body],
    frames: usize,
    table: &mut Table,
) -> Result<Option<Runner<'static>>> {
    let program = peers_folder().join("bin/jolt");
    if !program.is_file() {
        table.missing("jolt: not built; `cargo run --release -p impinge-bench -- setup` gets it");
        return Ok(None);
    }
    let folder = peers_folder().join("exchange");
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("contacts.bin");
    std::fs::write(&file, scene_bytes(ground, bodies, frames))?;
    let mut jolt = Outside::start("jolt", Command::new(program).arg(file), PATIENCE)?;
    Ok(Some(Box::new(move |frame, told| {
        let answer = jolt.ask(&format!("frame {frame} 1"))?;
        let numbers = answer.answer.iter().map(|word| word.parse().context("a number"));
        let numbers = numbers.collect::<Result<Vec<f64>>>()?;
        ensure!(numbers.len() % NUMBERS == 4, "{} numbers from jolt", numbers.len());
        let (kinds, contacts) = numbers.split_at(4);
        told.extend(contacts.chunks_exact(NUMBERS).map(|c| Told {
            body: c[0] as usize,
            point: DVec3::new(c[1], c[2], c[3]),
            normal: DVec3::new(c[4], c[5], c[6]),
            depth: c[7],
        }));
        Ok([answer.nanoseconds, kinds[0], kinds[1], kinds[2], kinds[3]].map(|ns| ns * 1e-9))
    })))
}

/// The mesh, the frames' shifts and the bodies as `jolt.cpp` reads them.
fn scene_bytes(ground: &Mesh, bodies: &[Body], frames: usize) -> Vec<u8> {
    let mut bytes = mesh_bytes(ground);
    let count = |bytes: &mut Vec<u8>, n: usize| bytes.extend((n as u32).to_le_bytes());
    let all = |bytes: &mut Vec<u8>, numbers: &[f64]| {
        bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    };
    count(&mut bytes, frames + 1);
    (0..=frames).for_each(|frame| all(&mut bytes, &slide(frame).to_array()));
    count(&mut bytes, bodies.len());
    for body in bodies {
        let (kind, numbers) = match &body.kind {
            Kind::Box(half) => (0, half.to_vec()),
            Kind::Capsule(half, radius) => (1, vec![*half, *radius]),
            Kind::Ball(radius) => (2, vec![*radius]),
            Kind::Hull(points) => (3, points.iter().flat_map(|p| p.to_array()).collect()),
        };
        count(&mut bytes, kind);
        count(&mut bytes, numbers.len());
        all(&mut bytes, &numbers);
        all(&mut bytes, &body.position.to_array());
        all(&mut bytes, &body.rotation.to_array());
    }
    bytes
}
