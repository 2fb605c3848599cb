//! Surface and volume of the intersection of half-spaces: each plane's polygon is what the others leave
//! of a large square on it. A measure in floats, for quality figures; nothing is decided by it.

use glam::DVec3;

/// Surface and volume of a bounded intersection.
pub(super) struct Measure {
    pub(super) surface: f64,
    pub(super) volume: f64,
}

/// Measures {x : n·x ≤ d for all (n, d)}; zero when it is empty or flat.
pub(super) fn measure(planes: &[(DVec3, f64)]) -> Measure {
    let unit: Vec<(DVec3, f64)> = planes.iter().map(|&(n, d)| (n / n.length(), d / n.length())).collect();
    let size = unit.iter().map(|(_, d)| d.abs()).fold(0.0, f64::max);
    let mut total = Measure { surface: 0.0, volume: 0.0 };
    for (i, &(n, d)) in unit.iter().enumerate() {
        let (u, v) = n.any_orthonormal_pair();
        // Every corner lies within √3·size of the origin, so this square holds the face.
        let (u, v) = (u * 4.0 * size, v * 4.0 * size);
        let mut face = vec![n * d - u - v, n * d + u - v, n * d + u + v, n * d - u + v];
        for (j, &(m, e)) in unit.iter().enumerate() {
            if i != j {
                face = clip(&face, m, e);
            }
        }
        let area = area(&face, n);
        total.surface += area;
        total.volume += area * d / 3.0;
    }
    total.volume = total.volume.max(0.0);
    total
}

fn clip(face: &[DVec3], n: DVec3, d: f64) -> Vec<DVec3> {
    let mut kept = Vec::with_capacity(face.len() + 1);
    for (i, &p) in face.iter().enumerate() {
        let q = face[(i + 1) % face.len()];
        let (sp, sq) = (n.dot(p) - d, n.dot(q) - d);
        if sp <= 0.0 {
            kept.push(p);
        }
        if (sp < 0.0 && sq > 0.0) || (sp > 0.0 && sq < 0.0) {
            kept.push(p + (q - p) * (sp / (sp - sq)));
        }
    }
    kept
}

fn area(face: &[DVec3], n: DVec3) -> f64 {
    let Some(&origin) = face.first() else { return 0.0 };
    face.windows(2).map(|e| (e[0] - origin).cross(e[1] - origin)).sum::<DVec3>().dot(n).abs() / 2.0
}
