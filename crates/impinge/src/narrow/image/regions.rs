//! Which intervals of the three images belong together: the connected regions of the intersection.
//!
//! Intervals of neighbouring columns are joined where they overlap or come as near as a pixel is deep; those of different
//! images where one passes through the other. So a region has a share of every image that sees it.

use glam::DVec3;

use super::images::Images;
use super::lattice::Axis;
use super::layer::Interval;
use crate::contact::{Overlap, Region};
use crate::num::disjoint_sets::DisjointSets;

/// The region of each interval of each image.
#[derive(Debug)]
pub struct Regions {
    of: [Vec<u32>; 3],
    count: usize,
}

/// The sums of one region, in the frame of the images.
#[derive(Debug, Clone, Copy)]
struct Sums {
    volume: f64,
    /// The integral of the position.
    first: DVec3,
    /// The area vectors of both surfaces.
    areas: [DVec3; 2],
}

impl Regions {
    /// Finds them.
    pub fn of(images: &Images<'_, '_>) -> Regions {
        let counts = images.intervals.each_ref().map(Vec::len);
        let before = [0, counts[0], counts[0] + counts[1]];
        let mut sets = DisjointSets::new(counts.iter().sum());
        let rows = Axis::ALL.map(|axis| images.rows(axis));
        for axis in Axis::ALL {
            join_neighbours(images, axis, &rows[axis.depth], before[axis.depth], &mut sets);
        }
        for axis in Axis::ALL {
            let other = Axis::ALL[(axis.depth + 1) % 3];
            join_across(images, [axis, other], &rows[other.depth], before, &mut sets);
        }
        let mut number = vec![u32::MAX; counts.iter().sum()];
        let mut count = 0;
        let of = [0, 1, 2].map(|k| {
            let own = (0..counts[k]).map(|interval| {
                let root = sets.root(before[k] + interval);
                if number[root] == u32::MAX {
                    number[root] = count;
                    count += 1;
                }
                number[root]
            });
            own.collect()
        });
        Regions { of, count: count as usize }
    }

    /// The measures of each region in the frame of the images, the largest first, given the shares of the
    /// images and the error of the whole volume.
    pub fn measured(&self, images: &Images<'_, '_>, weights: &[f64; 3], error: f64) -> Vec<Overlap> {
        let none = Sums { volume: 0.0, first: DVec3::ZERO, areas: [DVec3::ZERO; 2] };
        let mut sums = vec![none; self.count];
        let lattice = &images.lattice;
        self.for_each(images, |axis, interval, region| {
            let area = lattice.area(axis);
            let volume = weights[axis.depth] * area * interval.length();
            let [low, high] = ends(images, axis, interval);
            sums[region].volume += volume;
            sums[region].first += (low + high) * (0.5 * volume);
            for (face, share, end) in interval.ends() {
                let sign = if end == 0 { -area } else { area };
                sums[region].areas[face.body()][axis.depth] += sign * share;
            }
        });
        let whole: f64 = sums.iter().map(|sums| sums.volume).sum();
        let floor = crate::num::tolerance::LAYER_ROUNDING;
        let normals: Vec<DVec3> = sums
            .iter()
            .map(|sums| {
                let net = sums.areas[0] - sums.areas[1];
                let size = sums.volume / lattice.size.max_element();
                if net.length() > floor * size { net.normalize_or_zero() } else { DVec3::ZERO }
            })
            .collect();
        let mut reach = vec![[f64::INFINITY, f64::NEG_INFINITY]; self.count];
        self.for_each(images, |axis, interval, region| {
            for p in ends(images, axis, interval) {
                let height = normals[region].dot(p - lattice.bounds.low);
                let [low, high] = &mut reach[region];
                (*low, *high) = (low.min(height), high.max(height));
            }
        });
        let mut found: Vec<Overlap> = (0..self.count)
            .map(|k| {
                let Sums { volume, first, areas } = sums[k];
                Overlap {
                    volume,
                    // As for counts: smaller parts have a larger error in proportion.
                    error: error * (volume / whole).sqrt(),
                    gradient: areas,
                    region: Region {
                        centroid: first / volume,
                        normal: normals[k],
                        area: (0.5 * (areas[0] - areas[1])).dot(normals[k]),
                        depth: reach[k][1] - reach[k][0],
                    },
                }
            })
            .collect();
        // Seen only by an image without a share in the volume.
        found.retain(|one| one.volume > 0.0);
        found.sort_by(|x, y| y.volume.total_cmp(&x.volume));
        found
    }

    fn for_each(&self, images: &Images<'_, '_>, mut each: impl FnMut(Axis, &Interval, usize)) {
        for axis in Axis::ALL {
            for (interval, &region) in images.intervals[axis.depth].iter().zip(&self.of[axis.depth]) {
                each(axis, interval, region as usize);
            }
        }
    }
}

/// The ends of an interval as points.
fn ends(images: &Images<'_, '_>, axis: Axis, interval: &Interval) -> [DVec3; 2] {
    let pixels = images.lattice.pixels;
    let [along, across] = images.lattice.sample(interval.column % pixels, interval.column / pixels);
    let along = images.lattice.coordinate(axis.along, along);
    let across = images.lattice.coordinate(axis.across, across);
    interval.depth.map(|depth| axis.point(along, across, depth))
}

/// Joins intervals of one image whose columns are neighbours.
fn join_neighbours(
    images: &Images<'_, '_>,
    axis: Axis,
    rows: &[u32],
    before: usize,
    sets: &mut DisjointSets,
) {
    let (all, pixels) = (&images.intervals[axis.depth], images.lattice.pixels);
    let slack = images.lattice.size[axis.depth];
    let is_near =
        |x: &Interval, y: &Interval| x.depth[0] <= y.depth[1] + slack && y.depth[0] <= x.depth[1] + slack;
    for row in 0..pixels as usize {
        let own = rows[row] as usize..rows[row + 1] as usize;
        let last = if row > 0 { rows[row - 1] as usize..rows[row] as usize } else { 0..0 };
        let mut begin = last.start;
        for k in own.clone() {
            let column = all[k].column;
            let beside = (own.start..k).rev().take_while(|&other| all[other].column + 1 >= column);
            for other in beside.filter(|&other| all[other].column < column) {
                if is_near(&all[k], &all[other]) {
                    sets.join(before + k, before + other);
                }
            }
            // In the row before, the sample may stand one column to either side.
            let above = column - pixels.min(column);
            while begin < last.end && all[begin].column + 1 < above {
                begin += 1;
            }
            for other in (begin..last.end).take_while(|&other| all[other].column <= above + 1) {
                if is_near(&all[k], &all[other]) {
                    sets.join(before + k, before + other);
                }
            }
        }
    }
}

/// Joins intervals of one image with those of another that pass through their middles.
fn join_across(
    images: &Images<'_, '_>,
    [axis, other]: [Axis; 2],
    rows: &[u32],
    before: [usize; 3],
    sets: &mut DisjointSets,
) {
    let all = &images.intervals[other.depth];
    let slack = 0.5 * images.lattice.size[other.depth];
    for (k, interval) in images.intervals[axis.depth].iter().enumerate() {
        let [low, high] = ends(images, axis, interval);
        let middle = low.midpoint(high);
        let Some([column, row]) = images.lattice.nearest(other, middle) else { continue };
        let own = &all[rows[row as usize] as usize..rows[row as usize + 1] as usize];
        let column = row * images.lattice.pixels + column;
        let first = rows[row as usize] as usize + own.partition_point(|x| x.column < column);
        let depth = middle[other.depth];
        for (m, x) in all.iter().enumerate().skip(first).take_while(|(_, x)| x.column == column) {
            if x.depth[0] <= depth + slack && depth <= x.depth[1] + slack {
                sets.join(before[axis.depth] + k, before[other.depth] + m);
            }
        }
    }
}
