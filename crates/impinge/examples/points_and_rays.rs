//! Questions about points: the closest point of a surface, inside or outside, the first hit of a ray.

use impinge::{
    Error, Pose, Ray, Shape, closest_point, contains, procedural, ray_cast, signed_distance, winding_number,
};

fn main() -> Result<(), Error> {
    let knot = Shape::from(procedural::knot([2, 3], 1.0, 0.25, 400, 24)?);
    let placed = knot.at(Pose::new([0.0, 0.0, 1.0], [0.0, 0.0, 0.6, 0.8])?);

    for p in [[0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [0.0, -3.0, 0.0]] {
        let nearest = closest_point(placed, p)?;
        println!("{p:?}: {:.4} away, at {:.3} on {:?}", nearest.distance, nearest.point, nearest.feature);
        let signed = signed_distance(placed, p)?.distance;
        println!(
            "    signed {signed:.4}, inside {}, winding {:.4}",
            contains(placed, p)?,
            winding_number(placed, p)?
        );
    }
    match ray_cast(placed, Ray::new([-10.0, 0.1, 1.0], [1.0, 0.0, 0.0])?) {
        Some(hit) => println!("the ray meets {:?} at t = {:.4}", hit.feature, hit.t),
        None => println!("the ray meets nothing"),
    }
    Ok(())
}
