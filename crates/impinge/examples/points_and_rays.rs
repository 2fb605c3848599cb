//! Questions about points: the closest point of a surface, inside or outside, the first hit of a ray.

use glam::DVec3;
use impinge::model::Model;
use impinge::narrow::exact::closest_point::closest_point;
use impinge::narrow::exact::ray_cast::{Ray, first_hit};
use impinge::{Error, Pose, procedural};

fn main() -> Result<(), Error> {
    let knot = Model::from(procedural::knot([2, 3], 1.0, 0.25, 400, 24)?);
    let pose = Pose::new([0.0, 0.0, 1.0], [0.0, 0.0, 0.6, 0.8])?;

    for p in [DVec3::new(0.0, 0.0, 1.0), DVec3::new(2.0, 0.0, 1.0), DVec3::new(0.0, -3.0, 0.0)] {
        let nearest = closest_point(&knot, &pose, p);
        println!("{p}: {:.4} away, at {:.3} on {:?}", nearest.distance, nearest.point, nearest.feature);
    }

    let ray = Ray { origin: DVec3::new(-10.0, 0.1, 1.0), direction: DVec3::X, reach: f64::INFINITY };
    match first_hit(&knot, &pose, &ray) {
        Some(hit) => println!("the ray meets triangle {} at t = {:.4}", hit.triangle, hit.t),
        None => println!("the ray meets nothing"),
    }
    Ok(())
}
