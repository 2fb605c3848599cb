//! Cuts a closed mesh into convex parts: `cargo run --release --example decompose [MESH [PARTS]]`.

use impinge::{Certainty, DecomposeOptions, Shape, decompose, procedural};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let solid = match arguments.next() {
        Some(path) => impinge::load(path)?,
        None => Shape::from(procedural::stairs(6, 0.3, 1.0, 0.2)?),
    };
    let mut options = DecomposeOptions::DEFAULT;
    if let Some(parts) = arguments.next() {
        options.most_parts = parts.parse()?;
    }
    let found = decompose(&solid, &options)?;
    println!("{} parts for a solid of {:.6}", found.parts.len(), found.volume);
    match found.certainty {
        Certainty::Exact => println!("together they are the solid"),
        _ => println!("they cover it and stand out by at most {:.6}", found.deviation),
    }
    for (number, part) in found.parts.iter().enumerate() {
        println!("  {number}: {part:?}");
    }
    Ok(())
}
