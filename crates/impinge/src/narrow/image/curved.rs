//! Where a line enters and leaves a primitive solid, in closed form.

use glam::DVec3;

use crate::shape::Primitive;

/// The stretch of the line from `origin` along `direction` that lies in a primitive, in the primitive's frame and in units
/// of the direction; its ends may be infinite. `None` where the line misses it, or where it has no volume.
pub fn line_interval(primitive: &Primitive, origin: DVec3, direction: DVec3) -> Option<[f64; 2]> {
    match *primitive {
        Primitive::Sphere { radius } => ball(origin / radius, direction / radius),
        Primitive::Ellipsoid { radii } => ball(origin / radii, direction / radii),
        Primitive::Cuboid { half } => {
            let [x, y, z] = [0, 1, 2].map(|k| slab(origin[k], direction[k], half[k]));
            meet(x?, meet(y?, z?)?)
        }
        Primitive::Cylinder { radius, half_height } => {
            meet(round(origin / radius, direction / radius)?, slab(origin.z, direction.z, half_height)?)
        }
        Primitive::Capsule { radius, half_height } => {
            let end = |sign: f64| {
                let centre = DVec3::Z * (sign * half_height);
                ball((origin - centre) / radius, direction / radius)
            };
            let side = round(origin / radius, direction / radius)
                .zip(slab(origin.z, direction.z, half_height))
                .and_then(|(round, slab)| meet(round, slab));
            // The union of the three is convex.
            [side, end(-1.0), end(1.0)].into_iter().flatten().reduce(|[a, b], [c, d]| [a.min(c), b.max(d)])
        }
        Primitive::Cone { radius, half_height } => cone(radius, half_height, origin, direction),
        Primitive::HalfSpace { normal, offset } => {
            let (room, speed) = (offset - normal.dot(origin), normal.dot(direction));
            match speed {
                0.0 if room < 0.0 => None,
                0.0 => Some([f64::NEG_INFINITY, f64::INFINITY]),
                _ if speed > 0.0 => Some([f64::NEG_INFINITY, room / speed]),
                _ => Some([room / speed, f64::INFINITY]),
            }
        }
        Primitive::Triangle { .. } | Primitive::Segment { .. } => None,
    }
}

fn meet([a, b]: [f64; 2], [c, d]: [f64; 2]) -> Option<[f64; 2]> {
    let both = [a.max(c), b.min(d)];
    (both[0] < both[1]).then_some(both)
}

/// |o + t·d| ≤ half.
fn slab(origin: f64, direction: f64, half: f64) -> Option<[f64; 2]> {
    if direction == 0.0 {
        return (origin.abs() <= half).then_some([f64::NEG_INFINITY, f64::INFINITY]);
    }
    let ends = [(-half - origin) / direction, (half - origin) / direction];
    Some([ends[0].min(ends[1]), ends[0].max(ends[1])])
}

/// The unit ball.
fn ball(origin: DVec3, direction: DVec3) -> Option<[f64; 2]> {
    // From the nearest point of the line, so that nothing is lost far away.
    let square = direction.length_squared();
    let middle = -origin.dot(direction) / square;
    let room = 1.0 - (origin + direction * middle).length_squared();
    let reach = (room.max(0.0) / square).sqrt();
    (room > 0.0).then_some([middle - reach, middle + reach])
}

/// The round bar without ends and of radius 1 along z.
fn round(origin: DVec3, direction: DVec3) -> Option<[f64; 2]> {
    let (origin, direction) = (origin.with_z(0.0), direction.with_z(0.0));
    if direction == DVec3::ZERO {
        return (origin.length_squared() <= 1.0).then_some([f64::NEG_INFINITY, f64::INFINITY]);
    }
    ball(origin, direction)
}

/// x² + y² ≤ (s·(h − z))² between the base at −h and the apex at h.
fn cone(radius: f64, half_height: f64, origin: DVec3, direction: DVec3) -> Option<[f64; 2]> {
    let [low, high] = slab(origin.z, direction.z, half_height)?;
    let slope = radius / (2.0 * half_height);
    // With w = s·(h − z) the double cone is x² + y² − w² ≤ 0.
    let (apex, fall) = (slope * (half_height - origin.z), -slope * direction.z);
    let square = direction.truncate().length_squared() - fall * fall;
    let half_linear = origin.truncate().dot(direction.truncate()) - apex * fall;
    let constant = origin.truncate().length_squared() - apex * apex;
    let discriminant = half_linear * half_linear - square * constant;
    if square == 0.0 {
        let turn = -constant / (2.0 * half_linear);
        return match half_linear {
            0.0 if constant > 0.0 => None,
            0.0 => Some([low, high]),
            _ if half_linear > 0.0 => meet([low, high], [f64::NEG_INFINITY, turn]),
            _ => meet([low, high], [turn, f64::INFINITY]),
        };
    }
    if discriminant <= 0.0 {
        return (square < 0.0).then_some([low, high]);
    }
    // Without cancellation.
    let q = -(half_linear + discriminant.sqrt().copysign(half_linear));
    let ends = [q / square, constant / q];
    let [first, last] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
    if square > 0.0 {
        return meet([low, high], [first, last]);
    }
    // Outside of the roots: one side lies in this cone, the other in its mirror image beyond the apex.
    let sides = [meet([low, high], [f64::NEG_INFINITY, first]), meet([low, high], [last, f64::INFINITY])];
    sides.into_iter().flatten().max_by(|x, y| (x[1] - x[0]).total_cmp(&(y[1] - y[0])))
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::narrow::convex::point::signed_distance;

    #[test]
    fn ends_lie_on_the_surface_and_the_middle_inside() {
        let mut dice = Pcg64Mcg::seed_from_u64(3);
        let all = [
            Primitive::sphere(0.7),
            Primitive::ellipsoid([0.9, 0.5, 0.3]),
            Primitive::cuboid([0.4, 0.6, 0.8]),
            Primitive::cylinder(0.5, 0.8),
            Primitive::capsule(0.4, 0.5),
            Primitive::cone(0.6, 0.7),
        ];
        for primitive in all.map(Result::unwrap) {
            let mut hits = 0;
            for k in 0..3000 {
                let mut number = || dice.random_range(-1.0..1.0);
                let origin = DVec3::new(number(), number(), number());
                let mut direction = DVec3::new(number(), number(), number());
                if k % 3 == 0 {
                    direction = DVec3::AXES[k % 9 / 3] * number();
                }
                let out = |t: f64| signed_distance(&primitive, origin + direction * t).distance;
                match line_interval(&primitive, origin, direction) {
                    Some([first, last]) => {
                        hits += 1;
                        assert!(out(first).abs() < 1e-9 && out(last).abs() < 1e-9, "{primitive:?} {k}");
                        assert!(out(0.5 * (first + last)) < 1e-12, "{primitive:?} {k}");
                    }
                    None => {
                        let nearest = (-400..400).map(|t| out(f64::from(t) * 0.01)).fold(f64::MAX, f64::min);
                        assert!(nearest > -1e-4, "{primitive:?} {k}: {nearest}");
                    }
                }
            }
            assert!((600..2700).contains(&hits), "{primitive:?}: {hits}");
        }
    }

    #[test]
    fn a_half_space_is_half_a_line() {
        let ground = Primitive::half_space([0.0, 0.0, 2.0], 1.0).unwrap();
        let down = line_interval(&ground, DVec3::new(3.0, 4.0, 2.0), -DVec3::Z).unwrap();
        assert!((down[0] - 1.5).abs() < 1e-15 && down[1] == f64::INFINITY);
        assert!(line_interval(&ground, DVec3::Z, DVec3::X).is_none());
        assert!(line_interval(&ground, -DVec3::Z, DVec3::X).is_some());
    }
}
