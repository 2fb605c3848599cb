//! Distance of points from a mesh: the cell centres of a 64³ grid around bunny59k.

use anyhow::Result;
use glam::DVec3;
use impinge::Pose;
use impinge::model::Model;
use impinge::narrow::exact::closest_point::{closest_point, closest_points};
use impinge::narrow::exact::signed_distance::{signed_distance, signed_distances};

use super::Effort;
use crate::peers::parry;
use crate::scenes;
use crate::table::Table;
use crate::timing::{Contestant, Timed, Track, alternate, faster_by, median_of};

/// Cells along each side of [−0.6, 0.6]³.
const SIDE: usize = 64;

/// Sums that three libraries agree on, unsigned and signed, and the number of points inside.
const KNOWN_UNSIGNED: f64 = 55307.906858;
const KNOWN_SIGNED: f64 = 50974.728304;
const KNOWN_INSIDE: usize = 30_544;

/// How far a sum may be from the known one.
const SUM_TOLERANCE: f64 = 1e-4;

/// Repeats of each layer, which is 4096 queries.
const REPEATS: usize = 1;

const OURS: &str = "impinge";
const OURS_BATCH: &str = "impinge-batch";
const OURS_SIGNED: &str = "impinge-signed";
const OURS_SIGNED_BATCH: &str = "impinge-signed-batch";

/// What is known of one layer of the grid.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Layer {
    sum: f64,
    inside: usize,
}

impl FromIterator<f64> for Layer {
    fn from_iter<I: IntoIterator<Item = f64>>(distances: I) -> Layer {
        distances.into_iter().fold(Layer::default(), |layer, d| Layer {
            sum: layer.sum + d,
            inside: layer.inside + usize::from(d < 0.0),
        })
    }
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header =
        ["contestant", "median us/point", "mean us/point", "p99 us/point", "sum", "inside", "compared"];
    let mut table = Table::new("point-distance", &header);
    let mesh = scenes::mesh("bunny59k")?;
    let layers: Vec<usize> = (0..SIDE).step_by(effort.pick(1, 9)).collect();

    let model = Model::from(mesh.clone());
    let at = Pose::IDENTITY;
    let single = parry::single::mesh(&mesh)?;
    let double = parry::double::mesh(&mesh)?;
    let single_oriented = parry::single::oriented_mesh(&mesh)?;
    let double_oriented = parry::double::oriented_mesh(&mesh)?;
    let mut unsigned = vec![
        one_by_one(OURS, |p| closest_point(&model, &at, p.into()).distance),
        all_at_once(OURS_BATCH, |points| {
            closest_points(&model, &at, points).iter().map(|c| c.distance).collect()
        }),
        one_by_one("parry3d-f64", |p| parry::double::point_distance(&double, p)),
        one_by_one("parry3d", |p| parry::single::point_distance(&single, p)),
    ];
    let mut signed = vec![
        one_by_one(OURS_SIGNED, |p| signed_distance(&model, &at, p.into()).distance),
        all_at_once(OURS_SIGNED_BATCH, |points| {
            signed_distances(&model, &at, points).iter().map(|s| s.distance).collect()
        }),
        one_by_one("parry3d-f64-signed", |p| parry::double::signed_point_distance(&double_oriented, p)),
        one_by_one("parry3d-signed", |p| parry::single::signed_point_distance(&single_oriented, p)),
    ];
    let whole = effort == Effort::Full;
    add_rows(&mut table, &alternate(&mut unsigned, &layers), whole.then_some((KNOWN_UNSIGNED, 0)));
    add_rows(&mut table, &alternate(&mut signed, &layers), whole.then_some((KNOWN_SIGNED, KNOWN_INSIDE)));
    table.remark("one thread; -batch asks for a layer of 4096 points in one call; ratios are of the means,");
    table.remark("theirs over ours point by point, and -over-batch theirs over our batch");
    Ok(table)
}

/// The cell centres of one layer, x running fastest.
fn layer_points(layer: usize) -> Vec<[f64; 3]> {
    let centre = |cell: usize| -0.6 + 1.2 * (cell as f64 + 0.5) / SIDE as f64;
    (0..SIDE * SIDE).map(|i| [centre(i % SIDE), centre(i / SIDE), centre(layer)]).collect()
}

/// Asks for each point of a layer by itself.
fn one_by_one<'a>(name: &'static str, distance: impl Fn([f64; 3]) -> f64 + 'a) -> Contestant<'a, Layer> {
    Contestant::new(name, move |layer| {
        let points = layer_points(layer);
        Ok(per_point(median_of(REPEATS, || points.iter().map(|&p| distance(p)).collect())))
    })
}

/// Asks for all points of a layer in one call.
fn all_at_once<'a>(name: &'static str, distances: impl Fn(&[DVec3]) -> Layer + 'a) -> Contestant<'a, Layer> {
    Contestant::new(name, move |layer| {
        let points: Vec<DVec3> = layer_points(layer).into_iter().map(DVec3::from).collect();
        Ok(per_point(median_of(REPEATS, || distances(&points))))
    })
}

fn per_point(layer: Timed<Layer>) -> Timed<Layer> {
    Timed { nanoseconds: layer.nanoseconds / (SIDE * SIDE) as f64, ..layer }
}

fn add_rows(table: &mut Table, tracks: &[Track<Layer>], known: Option<(f64, usize)>) {
    let total = |track: &Track<Layer>| {
        let add = |a: Layer, b: &Layer| Layer { sum: a.sum + b.sum, inside: a.inside + b.inside };
        track.answers.iter().fold(Layer::default(), add)
    };
    // A quick run has no known sum; it is compared with the first row.
    let (sum, inside) =
        known.unwrap_or_else(|| tracks.first().map(total).map_or((0.0, 0), |t| (t.sum, t.inside)));
    for track in tracks {
        let s = track.statistics();
        let found = total(track);
        let off = found.sum - sum;
        let verdict = if off.abs() <= SUM_TOLERANCE && found.inside == inside {
            "agrees".into()
        } else {
            format!("sum off by {off:.1e}, inside off by {}", found.inside as i64 - inside as i64)
        };
        let times = [s.median, s.mean, s.p99].map(|ns| format!("{:.3}", ns / 1e3));
        let answer = [format!("{:.6}", found.sum), found.inside.to_string(), verdict];
        table.row([track.name.to_string()].into_iter().chain(times).chain(answer));
    }
    let [ours, batch, others @ ..] = tracks else { return };
    for track in others {
        table.ratio(track.name, faster_by(ours, track).mean);
        table.ratio(&format!("{}-over-batch", track.name), faster_by(batch, track).mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_its_cell_centres() {
        let points = layer_points(63);
        assert_eq!(points.len(), 4096);
        assert!((points[1][0] - points[0][0] - 1.2 / 64.0).abs() < 1e-15);
        assert!((0..2).all(|i| (points[0][i] + points[4095][i]).abs() < 1e-15), "the layer is symmetric");
        let layer: Layer = [1.0, -0.25, -0.5].into_iter().collect();
        assert_eq!(layer, Layer { sum: 0.25, inside: 2 });
    }
}
