//! The picture of a clash: both parts muted, the view on the place, and in red the curves along which the surfaces cross,
//! or the points where they are nearest.

use glam::DVec3;
use impinge::{Aabb, Budget, Clash, ClashKind, Mesh, Part, Query};

use crate::error::Failure;
use crate::picture::{self, Figure, Picture};

/// How much of a body's colour is left where the contour is to be seen.
const MUTED: f64 = 0.45;

/// The view shows this many times the place, and at least this share of the smaller part.
const ROOM: f64 = 1.5;
const LEAST_SHARE: f64 = 0.7;

/// Draws one clash, for a unit of the budget for each triangle and those of the questions it asks; `None` where it ended.
pub fn draw(
    parts: &[Part],
    clash: &Clash,
    [width, height]: [u32; 2],
    budget: &mut Budget,
) -> Result<Option<Vec<u8>>, Failure> {
    let parts = clash.parts.map(|k| &parts[k]);
    let triangles = parts.iter().filter_map(|part| part.shape.as_mesh()).map(|mesh| mesh.triangles().len());
    if !budget.draw(triangles.sum::<usize>() as u64) {
        return Ok(None);
    }
    let mut picture = Picture::default();
    let boxes = parts.map(|part| part.shape.bounds(&part.pose));
    // Of equal parts one is to be seen, of nested ones the inner one through the other.
    let inner = (clash.kind == ClashKind::Inside).then(|| {
        usize::from((boxes[1].high - boxes[1].low).length() < (boxes[0].high - boxes[0].low).length())
    });
    for (k, (part, colour)) in parts.into_iter().zip(picture::BODIES).enumerate() {
        let Some(mesh) = part.shape.as_mesh() else { continue };
        let colour = DVec3::ONE.lerp(colour, MUTED);
        let red = if inner == Some(k) { all_of(mesh) } else { Vec::new() };
        picture.figures.push(Figure { mesh, pose: &part.pose, colour, red });
    }
    let [a, b] = parts.map(Part::placed);
    let mut query = Query { budget: std::mem::take(budget), ..Query::default() };
    let mut focus = clash.bounds;
    let mut is_whole = true;
    match clash.kind {
        ClashKind::Hard => {
            let lines = query.contour(a, b)?.value;
            is_whole = lines.is_some();
            for line in lines.into_iter().flatten() {
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
            let near = query.distance(a, b)?.value;
            is_whole = near.is_some();
            if let Some(near) = near {
                picture.contacts.push(near.points);
                focus = Aabb::around_points(&near.points);
            }
        }
        _ => {}
    }
    *budget = query.budget;
    if !is_whole {
        return Ok(None);
    }
    picture.focus = Some(grown(focus, boxes));
    picture.png(width, height).map(Some)
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
