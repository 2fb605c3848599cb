//! Which intervals of the three images belong together: the connected regions of the intersection.
//!
//! Intervals of neighbouring columns are joined where they overlap or come as near as a pixel is deep; those of different
//! images where one passes through the other. So a region has a share of every image that sees it.

use glam::DVec3;

use super::images::Images;
use super::lattice::Axis;
use super::layer::Interval;
use crate::contact::{Overlap, Region};
use crate::num::compact_sort::sort_rarely;
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
        let starts = Axis::ALL.map(|axis| images.starts(axis));
        let runs = Axis::ALL
            .map(|axis| join_neighbours(images, axis, &starts[axis.depth], before[axis.depth], &mut sets));
        for axis in Axis::ALL {
            let other = Axis::ALL[(axis.depth + 1) % 3];
            join_across(images, [axis, other], &starts[other.depth], &runs, &mut sets);
        }
        let mut number = vec![u32::MAX; counts.iter().sum()];
        let mut count = 0;
        let of = [0, 1, 2].map(|k| {
            let own = runs[k].iter().map(|&run| {
                let root = sets.root(run as usize);
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
        self.for_each(images, |axis, interval, [low, high], region| {
            let area = lattice.area(axis);
            let volume = weights[axis.depth] * area * interval.length();
            let sums = &mut sums[region];
            sums.volume += volume;
            sums.first += (low + high) * (0.5 * volume);
            for (face, share, end) in interval.ends() {
                let sign = if end == 0 { -area } else { area };
                sums.areas[face.body()][axis.depth] += sign * share;
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
        self.for_each(images, |_, _, ends, region| {
            for p in ends {
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
        sort_rarely(&mut found, |x, y| y.volume.total_cmp(&x.volume));
        found
    }

    #[inline(always)]
    fn for_each(&self, images: &Images<'_, '_>, mut each: impl FnMut(Axis, &Interval, [DVec3; 2], usize)) {
        for axis in Axis::ALL {
            let mut regions = self.of[axis.depth].iter();
            images.for_each_interval(axis, |interval, ends| {
                if let Some(&region) = regions.next() {
                    each(axis, interval, ends, region as usize);
                }
            });
        }
    }
}

/// Joins intervals of one image whose columns are neighbours. Those along a row that hang together at once are a run,
/// named by its first interval: the run of each.
fn join_neighbours(
    images: &Images<'_, '_>,
    axis: Axis,
    starts: &[u32],
    before: usize,
    sets: &mut DisjointSets,
) -> Vec<u32> {
    let (all, pixels) = (&images.intervals[axis.depth], images.lattice.pixels);
    let slack = images.lattice.size[axis.depth];
    let is_near =
        |x: &Interval, y: &Interval| x.depth[0] <= y.depth[1] + slack && y.depth[0] <= x.depth[1] + slack;
    let of_columns = |from: u32, to: u32| starts[from as usize] as usize..starts[to as usize] as usize;
    let mut runs: Vec<u32> = Vec::with_capacity(all.len());
    // Runs that were joined last.
    let mut last = [u32::MAX; 2];
    let mut row_start = 0;
    for (k, interval) in all.iter().enumerate() {
        let column = interval.column;
        while column >= row_start + pixels {
            row_start += pixels;
        }
        let along = column - row_start;
        let mut run = None;
        let mut join = |other: u32, run: &mut Option<u32>| match *run {
            None => *run = Some(other),
            Some(own) if own != other && last != [own, other] => {
                last = [own, other];
                sets.join(own as usize, other as usize);
            }
            Some(_) => {}
        };
        if along > 0 {
            for other in of_columns(column - 1, column).filter(|&other| is_near(interval, &all[other])) {
                join(runs[other], &mut run);
            }
        }
        let mut own = Some(run.unwrap_or((before + k) as u32));
        // In the row before, the sample may stand one column to either side.
        if row_start > 0 {
            let above = column - pixels;
            let [from, to] = [above - u32::from(along > 0), above + 1 + u32::from(along + 1 < pixels)];
            for other in of_columns(from, to).filter(|&other| is_near(interval, &all[other])) {
                join(runs[other], &mut own);
            }
        }
        runs.extend(own);
    }
    runs
}

/// Joins intervals of one image with those of another that pass through their middles.
fn join_across(
    images: &Images<'_, '_>,
    [axis, other]: [Axis; 2],
    starts: &[u32],
    runs: &[Vec<u32>; 3],
    sets: &mut DisjointSets,
) {
    let all = &images.intervals[other.depth];
    let slack = 0.5 * images.lattice.size[other.depth];
    let mut last = [u32::MAX; 2];
    let mut own = runs[axis.depth].iter();
    images.for_each_interval(axis, |_, [low, high]| {
        let middle = low.midpoint(high);
        let (Some(&own), Some([column, row])) = (own.next(), images.lattice.nearest(other, middle)) else {
            return;
        };
        let column = (row * images.lattice.pixels + column) as usize;
        let depth = middle[other.depth];
        for m in starts[column] as usize..starts[column + 1] as usize {
            let pair = [own, runs[other.depth][m]];
            if pair != last && all[m].depth[0] <= depth + slack && depth <= all[m].depth[1] + slack {
                sets.join(own as usize, pair[1] as usize);
                last = pair;
            }
        }
    });
}
