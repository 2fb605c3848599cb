//! The closed box over many frames: what is conserved, what stays inside, what equilibrium looks like.

use impinge::Budget;
use impinge_sim::scenes::multibody::{ENERGY_BOUND, MOMENTUM_BOUND};
use impinge_sim::scenes::{Multibody, Scenario, verify};

fn run(bodies: usize, frames: usize, seed: u64) -> Multibody {
    let mut gas = Multibody::new(bodies, seed).unwrap();
    for frame in 0..frames {
        gas.advance(&mut Budget::UNLIMITED.clone()).unwrap();
        assert_eq!(gas.world().outside(), 0, "frame {frame}");
    }
    gas
}

#[test]
fn energy_and_momentum_are_conserved_and_nobody_leaves() {
    let gas = run(200, 500, 1);
    let ledger = gas.world().ledger();
    assert!(ledger.collisions > 200 && ledger.bounces > 300, "{ledger:?}");
    assert!(gas.world().energy_drift().abs() < ENERGY_BOUND / 1000.0, "{:e}", gas.world().energy_drift());
    assert!(gas.world().momentum_drift() < MOMENTUM_BOUND / 1000.0, "{:e}", gas.world().momentum_drift());
    assert!(ledger.deepest_in_wall < 0.5, "{ledger:?}");
    gas.check().unwrap();
}

#[test]
fn turning_gets_its_share_of_the_energy() {
    // At the start a body turns with less energy than it moves with; collisions share it out. Frames of finite
    // length, in which bodies overlap before they collide, leave turning with about 0.55 instead of a half.
    let mut gas = Multibody::new(200, 7).unwrap();
    let share = |gas: &Multibody| {
        let [moving, turning] = gas.world().totals().energy;
        turning / (moving + turning)
    };
    let before = share(&gas);
    let mut mean = 0.0;
    for frame in 0..3000 {
        gas.advance(&mut Budget::UNLIMITED.clone()).unwrap();
        mean += if frame < 1500 { 0.0 } else { share(&gas) / 1500.0 };
    }
    assert!(before < 0.45, "{before}");
    assert!((mean - 0.5).abs() < 0.1, "{before} {mean}");
}

#[test]
fn every_frame_tells_what_brute_force_finds() {
    let mut gas = Multibody::new(150, 3).unwrap();
    let mut contacts = 0;
    for _ in 0..60 {
        contacts += gas.advance(&mut Budget::UNLIMITED.clone()).unwrap().contacts.len();
        verify(gas.scene()).unwrap();
    }
    assert!(contacts > 25, "{contacts}");
}

#[test]
fn the_same_seed_gives_the_same_bits_at_any_number_of_threads() {
    let state = |gas: &Multibody| gas.world().members().iter().map(|m| m.rigid).collect::<Vec<_>>();
    let one = state(&run(300, 60, 5));
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| state(&run(300, 60, 5))), one, "{threads} threads");
    }
    assert_ne!(state(&run(300, 60, 6)), one);
}
