//! A soft ball falls on the ground: penalty forces of the overlapping volume and viscous friction, integrated implicitly
//! by conjugate gradients that never see a matrix; then a hard block bounces by the volume as a constraint.
//!
//! `cargo run --release --example volume_penalty`

use impinge::glam::{DMat3, DVec3};
use impinge::response::{Displacement, Load, PenaltyForces, Receiver, VolumeConstraint, VolumePenalty};
use impinge::{Error, Mesh, Pose, Query, Shape, Volume, VolumeOptions, procedural};

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);
/// The ball: its mass, and how stiffly it keeps its shape (a force by length for each vertex).
const MASS: f64 = 1.0;
const SHAPE: f64 = 40.0;
/// Seconds.
const STEP: f64 = 0.01;

fn main() -> Result<(), Error> {
    let ground = Shape::from(procedural::cuboid([4.0, 4.0, 1.0], [1; 3])?);
    let below = Pose::from_translation([0.0, 0.0, -1.0])?;
    let ball = procedural::ico_sphere(0.5, 2)?;
    let mut places: Vec<DVec3> = ball.vertices().iter().map(|p| *p + DVec3::Z * 0.8).collect();
    let mut velocities = vec![DVec3::X; places.len()];
    let (mass, compliance) = (MASS / places.len() as f64, vec![1.0; places.len()]);
    let penalty = VolumePenalty { stiffness: 1e5, viscosity: 20.0 };
    let mut carried = DVec3::ZERO;
    for step in 0..400 {
        let found = measure(&ground, below, &Mesh::from_points(places.clone(), ball.triangles().to_vec())?)?;
        let body = Receiver::Deformable {
            vertices: &places,
            triangles: ball.triangles(),
            compliance: &compliance,
            moved: &velocities,
        };
        let pressed = penalty.forces(&[Receiver::Fixed, body], &[([0, 1], &found)])?;
        // (M + h·D + h²·K)·Δv = h·(f − h·K·v), with the stiffness of shape and contact in K.
        let stiffness = |x: &[DVec3]| -> Vec<DVec3> {
            let contact = dense(&pressed.stiffness_product(&sparse(x))[1], x.len());
            springs(x).iter().zip(contact).map(|(own, contact)| *own + contact).collect()
        };
        let product = |x: &[DVec3]| -> Vec<DVec3> {
            let rubbing = dense(&pressed.damping_product(&sparse(x))[1], x.len());
            let stiff = stiffness(x);
            (0..x.len()).map(|i| mass * x[i] + STEP * rubbing[i] + STEP * STEP * stiff[i]).collect()
        };
        let bent: Vec<DVec3> = places.iter().zip(ball.vertices()).map(|(p, rest)| *p - *rest).collect();
        let (shape, contact, ahead) =
            (springs(&bent), on_ball(&pressed, places.len()), stiffness(&velocities));
        let force = (0..places.len())
            .map(|i| STEP * (mass * GRAVITY - shape[i] + contact[i] - STEP * ahead[i]))
            .collect::<Vec<DVec3>>();
        let change = conjugate_gradients(product, &force);
        for i in 0..places.len() {
            velocities[i] += change[i];
            places[i] += velocities[i] * STEP;
        }
        carried = contact.iter().sum();
        if step % 40 == 0 {
            let middle = mean(&places);
            println!(
                "{:.2} s: at {middle:.3}, volume {:.5}, energy {:.4}",
                f64::from(step) * STEP,
                found.volume,
                pressed.energy
            );
        }
    }
    println!("at rest the ground carries {:.3} N of {:.3} N", carried.z, -GRAVITY.z * MASS);
    assert!(
        (carried.z + GRAVITY.z * MASS).abs() < 0.5 && mean(&velocities).length() < 0.05,
        "it comes to rest"
    );
    bounce(&ground, below)
}

/// A block meets the ground with 3 m/s and leaves it with half of that.
fn bounce(ground: &Shape, below: Pose) -> Result<(), Error> {
    let block = procedural::cuboid([0.3, 0.2, 0.1], [1; 3])?;
    let placed = block.vertices().iter().map(|p| *p + DVec3::Z * 0.099).collect();
    let found = measure(ground, below, &Mesh::from_points(placed, block.triangles().to_vec())?)?;
    let rigid = Receiver::Rigid {
        centre: DVec3::Z * 0.099,
        inverse_mass: 0.5,
        inverse_inertia: DMat3::from_diagonal(DVec3::new(30.0, 15.0, 11.5)),
        moved: [DVec3::Z * -3.0, DVec3::ZERO],
    };
    let constraint = VolumeConstraint { restitution: 0.5, friction: 0.4, ..VolumeConstraint::default() };
    let solved = constraint.solve(&[Receiver::Fixed, rigid], &[([0, 1], &found)])?;
    if let Displacement::Rigid { translation, .. } = solved.velocities[1] {
        println!("the block leaves with {:.3} m/s", translation.z - 3.0);
        assert!((translation.z - 4.5).abs() < 1e-9);
    }
    Ok(())
}

fn measure(ground: &Shape, below: Pose, body: &Mesh) -> Result<Volume, Error> {
    let options = VolumeOptions { samples: true, ..VolumeOptions::default() };
    let answer = Query::default().volume(ground.at(below), &Shape::from(body.clone()), options)?;
    Ok(answer.value.unwrap_or_default())
}

/// Every vertex is held at its place relative to the middle: the force back, for displacements x.
fn springs(x: &[DVec3]) -> Vec<DVec3> {
    let middle = mean(x);
    x.iter().map(|x| SHAPE * (*x - middle)).collect()
}

fn mean(x: &[DVec3]) -> DVec3 {
    x.iter().sum::<DVec3>() / x.len() as f64
}

fn sparse(x: &[DVec3]) -> [Displacement; 2] {
    [Displacement::None, Displacement::Vertices((0..).zip(x.iter().copied()).collect())]
}

fn dense(load: &Load, count: usize) -> Vec<DVec3> {
    let mut all = vec![DVec3::ZERO; count];
    if let Load::Vertices(list) = load {
        list.iter().for_each(|(v, force)| all[*v as usize] = *force);
    }
    all
}

fn on_ball(pressed: &PenaltyForces, count: usize) -> Vec<DVec3> {
    dense(&pressed.loads[1], count)
}

/// Solves A·x = b for a symmetric positive A that is only a product.
fn conjugate_gradients(product: impl Fn(&[DVec3]) -> Vec<DVec3>, b: &[DVec3]) -> Vec<DVec3> {
    let dot = |x: &[DVec3], y: &[DVec3]| -> f64 { x.iter().zip(y).map(|(x, y)| x.dot(*y)).sum() };
    let (mut x, mut residual, mut way) = (vec![DVec3::ZERO; b.len()], b.to_vec(), b.to_vec());
    let (wanted, mut size) = (1e-16 * dot(b, b), dot(b, b));
    for _ in 0..200 {
        if size <= wanted {
            break;
        }
        let image = product(&way);
        let length = size / dot(&way, &image);
        for i in 0..b.len() {
            x[i] += length * way[i];
            residual[i] -= length * image[i];
        }
        let before = std::mem::replace(&mut size, dot(&residual, &residual));
        way.iter_mut().zip(&residual).for_each(|(way, r)| *way = *r + *way * (size / before));
    }
    x
}
