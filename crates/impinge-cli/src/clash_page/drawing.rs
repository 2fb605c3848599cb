//! The picture of a clash: both parts muted, the view on the place, and in red the curves along which the surfaces cross,
//! or the points where they are nearest.

use glam::DVec3;
use impinge::{Aabb, Clash, ClashKind, Mesh, Part, Placed, Pose, contour, distance};

use crate::error::Failure;
use crate::picture::{self, Figure, Picture};

/// How much of a body's colour is left where the contour is to be seen.
const MUTED: f64 = 0.45;

/// The view shows this many times the place, and at least this share of the smaller part.
const ROOM: f64 = 1.5;
const LEAST_SHARE: f64 = 0.7;

/// Draws one clash.
pub fn draw(parts: &[Part], clash: &Clash, [width, height]: [u32; 2]) -> Result<Vec<u8>, Failure> {
    let shapes = clash.parts.map(|k| &parts[k].shape);
    let place = Pose::IDENTITY;
    let mut picture = Picture::default();
    let boxes = shapes.map(|shape| shape.bounds(&place));
    // Of equal parts one is to be seen, of nested ones the inner one through the other.
    let inner = (clash.kind == ClashKind::Inside).then(|| {
        usize::from((boxes[1].high - boxes[1].low).length() < (boxes[0].high - boxes[0].low).length())
    });
    for (k, (shape, colour)) in shapes.into_iter().zip(picture::BODIES).enumerate() {
        let Some(mesh) = shape.as_mesh() else { continue };
        let colour = DVec3::ONE.lerp(colour, MUTED);
        let red = if inner == Some(k) { all_of(mesh) } else { Vec::new() };
        picture.figures.push(Figure { mesh, pose: &place, colour, red });
    }
    let mut focus = clash.bounds;
    match clash.kind {
        ClashKind::Hard => {
            for line in contour(Placed::from(shapes[0]), shapes[1])? {
                let next = line.points.iter().cycle().skip(1);
                let segments = line.points.iter().zip(next).take(line.pairs.len());
                picture.curves.extend(segments.map(|(&from, &to)| [from, to]));
            }
            let points: Vec<DVec3> = picture.curves.iter().flatten().copied().collect();
            if !points.is_empty() {
                focus = Aabb::around_points(&points);
            }
        }
        ClashKind::Touching | ClashKind::Clearance => {
            let near = distance(shapes[0], shapes[1]).points;
            picture.contacts.push(near);
            focus = Aabb::around_points(&near);
        }
        _ => {}
    }
    picture.focus = Some(grown(focus, boxes));
    picture.png(width, height)
}

fn all_of(mesh: &Mesh) -> Vec<u32> {
    (0..mesh.triangles().len() as u32).collect()
}

/// Some room around the place, so that one sees what it belongs to.
fn grown(place: Aabb, boxes: [Aabb; 2]) -> [DVec3; 2] {
    let half = |around: Aabb| (around.high - around.low) * 0.5;
    let middle = place.low.midpoint(place.high);
    let small = boxes.map(|one| half(one).length()).into_iter().fold(f64::INFINITY, f64::min);
    let room = (half(place) * ROOM).max(DVec3::splat(LEAST_SHARE * small));
    [middle - room, middle + room]
}
