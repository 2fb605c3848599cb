//! Particles that move in a periodic box: which are near each other, what changed, and the ways between them.
//!
//! `cargo run --release -p impinge --example neighbours`

use impinge::Error;
use impinge::broad::neighbours::{Domain, NeighbourList, NeighbourOptions, Particles, Technique};

const SIDE: f64 = 20.0;
const CUTOFF: f64 = 1.5;

fn main() -> Result<(), Error> {
    let cell = Domain::periodic([0.0; 3], [SIDE; 3])?;
    let mut positions: Vec<[f64; 3]> = (0..8000).map(start).collect();
    let bonds: Vec<[u32; 2]> = (0..4000).map(|i| [2 * i, 2 * i + 1]).collect();
    let options = NeighbourOptions { skin: 0.3, excluded: bonds, ..NeighbourOptions::default() };
    let mut list = NeighbourList::new(options)?;
    for frame in 0..20 {
        for (i, x) in positions.iter_mut().enumerate() {
            for (k, x) in x.iter_mut().enumerate() {
                *x += 0.02 * (((i * 3 + k) as f64) * 0.7 + 0.3 * f64::from(frame)).sin();
            }
        }
        let particles = Particles::new(&positions, cell, CUTOFF)?;
        list.update(&particles)?;
        let changes = list.changes();
        let energy: f64 = list.displacements(&particles).iter().map(|d| repulsion(d.vector)).sum();
        println!(
            "frame {frame:>2}: {} pairs, {} began, {} ended, {} searches so far, energy {energy:.3}",
            list.pairs().len(),
            changes.began.len(),
            changes.ended.len(),
            list.searches()
        );
    }
    let particles = Particles::new(&positions, cell, CUTOFF)?;
    let mut tree = Technique::KdTree.start();
    tree.update(&particles);
    let mut nearest = Vec::new();
    tree.nearest(&particles, [0.0; 3], 5, &mut nearest);
    for near in nearest {
        println!("particle {} is {:.3} from the corner", near.particle, near.distance);
    }
    Ok(())
}

/// Somewhere in the box, the same in every run.
fn start(i: u32) -> [f64; 3] {
    let mut seed = u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    [0; 3].map(|_| {
        seed = (seed ^ seed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(1);
        SIDE * (seed >> 11) as f64 / (1_u64 << 53) as f64
    })
}

fn repulsion(d: [f64; 3]) -> f64 {
    let square = d.iter().map(|x| x * x).sum::<f64>() / (CUTOFF * CUTOFF);
    (1.0 - square.sqrt()).powi(2)
}
