//! The integrals over the border of the intersection, summed up by region: steps of which each stands on a few others
//! (`measure`), so that threads can take them as they become ready. Sums have a fixed order, whoever makes them.

use glam::{DMat3, DVec3};

use super::border::border;
use super::clusters::{PlacedSums, SingleTriangles, Turn};
use super::coincident::Coincident;
use super::crossings::Crossings;
use super::cut::{Cut, Moments};
use super::surface::{NONE, Solid, Surface};
use crate::bound::Aabb;
use crate::contact::{Overlap, Region, SurfaceSample, Volume, VolumeErrorKind, VolumeOptions};
use crate::num::compact_sort::sort_rarely;
use crate::num::tolerance::OVERLAP_ROUNDING as ROUNDING;

/// The sums of one connected region.
#[derive(Debug, Clone, Copy)]
struct Sums {
    volume: f64,
    /// What rounding took from the volume (Neumaier's summation).
    lost: f64,
    /// The sum of the absolute values.
    size: f64,
    /// The integral of the position over the region, from the origin.
    first: DVec3,
    /// The area vectors of both surfaces in it: the derivative by a translation of each body.
    areas: [DVec3; 2],
    /// What faces of both bodies that coincide add to the first of them less the second.
    coincident: DVec3,
    bounds: Aabb,
}

impl Sums {
    const NONE: Sums = Sums {
        volume: 0.0,
        lost: 0.0,
        size: 0.0,
        first: DVec3::ZERO,
        areas: [DVec3::ZERO; 2],
        coincident: DVec3::ZERO,
        bounds: Aabb::EMPTY,
    };

    /// Adds the cone from the origin over a flat piece of border at a height, with its moments from the origin.
    #[inline]
    fn add(&mut self, surface: usize, piece: &Moments, area: DVec3, height: f64) {
        self.add_volume(height * piece.area / 3.0);
        self.size += height.abs() * piece.size / 3.0;
        // The centroid of a cone lies at three quarters of the way to that of its base.
        self.first += piece.first * (0.25 * height);
        self.areas[surface] += area;
    }

    /// Adds the cones over the triangles of a group, as often as the other body winds around it.
    #[inline]
    fn add_placed(&mut self, surface: usize, weight: f64, sums: &PlacedSums) {
        self.add_volume(weight * sums.volume);
        self.size += weight.abs() * sums.size;
        self.first += weight * sums.first;
        self.areas[surface] += weight * sums.area;
    }

    #[inline]
    fn add_volume(&mut self, volume: f64) {
        let sum = self.volume + volume;
        self.lost += if self.volume.abs() >= volume.abs() {
            (self.volume - sum) + volume
        } else {
            (volume - sum) + self.volume
        };
        self.volume = sum;
    }

    /// Grows the box around a point.
    #[inline]
    fn hold(&mut self, p: DVec3) {
        self.bounds = Aabb { low: self.bounds.low.min(p), high: self.bounds.high.max(p) };
    }

    fn merge(&mut self, other: &Sums) {
        self.add_volume(other.volume);
        self.lost += other.lost;
        self.size += other.size;
        self.first += other.first;
        (0..2).for_each(|k| self.areas[k] += other.areas[k]);
        self.coincident += other.coincident;
        self.bounds = self.bounds.merge(&other.bounds);
    }

    fn volume(&self) -> f64 {
        self.volume + self.lost
    }

    /// The area vector of a's surface less that of b's, without faces of both that coincide.
    fn net(&self) -> DVec3 {
        self.areas[0] - self.areas[1] - self.coincident
    }

    /// The direction from a to b; zero where the forces cancel, as for nested bodies.
    fn normal(&self) -> DVec3 {
        let net = self.net();
        let size = self.size / self.bounds.half().max_element().max(f64::MIN_POSITIVE);
        if net.length() > ROUNDING * size { net.normalize_or_zero() } else { DVec3::ZERO }
    }
}

/// Which region everything on the border of an intersection belongs to.
pub struct Regions {
    crossings: Crossings,
    /// The region of each crossing and of each patch behind them.
    region_of: Vec<u32>,
    /// Where the patches of each surface begin in `region_of`.
    offsets: [usize; 2],
    count: usize,
}

impl Regions {
    /// Those of two surfaces whose patches are known.
    pub fn of(crossings: Crossings, surfaces: [&Surface<'_>; 2]) -> Regions {
        let mut sets = crossings.regions(surfaces);
        let offsets = [crossings.len(), crossings.len() + surfaces[0].patches.len()];
        let members = offsets[1] + surfaces[1].patches.len();
        // The root of a set is its smallest member, so it comes first.
        let (mut region_of, mut regions) = (vec![0; members], 0);
        for member in 0..members {
            let root = sets.root(member);
            region_of[member] = if root == member { regions } else { region_of[root] };
            regions += u32::from(root == member);
        }
        Regions { crossings, region_of, offsets, count: regions as usize }
    }

    #[inline]
    fn of_patch(&self, surface: usize, patch: u32) -> usize {
        self.region_of[self.offsets[surface] + patch as usize] as usize
    }
}

/// Heights are measured from here, near the intersection.
pub fn origin(solids: &[Solid<'_>; 2]) -> DVec3 {
    let [a, b] = solids.each_ref().map(Solid::bounds);
    a[0].max(b[0]).midpoint(a[1].min(b[1]))
}

/// One of the two surfaces with its regions.
#[derive(Clone, Copy)]
pub struct Side<'s, 'm> {
    pub surface: &'s Surface<'m>,
    pub regions: &'s Regions,
    pub origin: DVec3,
}

/// What the cut triangles of a surface add.
pub struct OfCuts {
    /// By region.
    sums: Vec<Sums>,
    /// What lies inside of each cut triangle.
    pub inside: Vec<Moments>,
    /// The region that the first piece of each cut belongs to.
    region_of_cut: Vec<u32>,
}

impl OfCuts {
    /// Of one of the surfaces.
    pub fn of(side: Side<'_, '_>) -> OfCuts {
        let cuts = side.surface.cuts.len();
        let sums = vec![Sums::NONE; side.regions.count];
        let mut found =
            OfCuts { sums, inside: vec![Moments::default(); cuts], region_of_cut: vec![NONE; cuts] };
        side.add_cuts(&mut found);
        found
    }
}

/// What a surface adds to the sums of each region.
pub struct OfSurface(Vec<Sums>);

impl OfSurface {
    /// Given what its cuts and its patches add.
    pub fn of(side: Side<'_, '_>, of_cuts: &OfCuts, of_patches: &OfPatches) -> OfSurface {
        let mut sums = of_cuts.sums.clone();
        for (patch, own) in (0..).zip(&of_patches.0) {
            sums[side.patch_region(patch)].merge(own);
        }
        side.add_bounds(&mut sums);
        OfSurface(sums)
    }
}

/// The sums of all regions, and what the depths of regions are measured with.
pub struct Totals {
    sums: Vec<Sums>,
    /// The region around each hole of a region, and each other region itself.
    owners: Vec<usize>,
    normals: Vec<DVec3>,
    /// The least and the largest height of each region's crossings along its normal.
    reach: Vec<[f64; 2]>,
}

impl Totals {
    /// Given what both surfaces add, and the pairs of cuts that lie in one plane.
    pub fn of(
        sides: [Side<'_, '_>; 2],
        of_surfaces: [&OfSurface; 2],
        of_cuts: [&OfCuts; 2],
        in_plane: impl Iterator<Item = [u32; 2]>,
    ) -> Totals {
        let Side { regions, origin, .. } = sides[0];
        let mut sums = vec![Sums::NONE; regions.count];
        for OfSurface(own) in of_surfaces {
            sums.iter_mut().zip(own).for_each(|(sums, more)| sums.merge(more));
        }
        let mut all = Totals { sums, owners: Vec::new(), normals: Vec::new(), reach: Vec::new() };
        all.leave_out(sides, of_cuts, in_plane);
        all.owners = all.join_cavities();
        all.normals = all.sums.iter().map(Sums::normal).collect();
        all.reach = vec![[f64::INFINITY, f64::NEG_INFINITY]; all.sums.len()];
        for (number, &p) in regions.crossings.points.iter().enumerate() {
            let region = all.owners[regions.region_of[number] as usize];
            widen(&mut all.reach[region], all.normals[region].dot(p - origin));
        }
        all
    }

    /// Pairs of cuts that lie in one plane are left out of the normals.
    fn leave_out(
        &mut self,
        sides: [Side<'_, '_>; 2],
        of_cuts: [&OfCuts; 2],
        pairs: impl Iterator<Item = [u32; 2]>,
    ) {
        for cuts in pairs {
            let [a, b] = [0, 1].map(|k| &sides[k].surface.cuts[cuts[k] as usize].face);
            let Some(Coincident { surface, net }) = Coincident::of([a, b]) else { continue };
            let region = of_cuts[surface].region_of_cut[cuts[surface] as usize];
            if let Some(sums) = self.sums.get_mut(region as usize) {
                sums.coincident += net;
            }
        }
    }

    /// A surface around a hole of a region has a negative volume and belongs to the smallest region around it: the
    /// region of each.
    fn join_cavities(&mut self) -> Vec<usize> {
        let mut owners: Vec<usize> = (0..self.sums.len()).collect();
        for (hole, owner) in owners.iter_mut().enumerate() {
            let own = self.sums[hole];
            if own.volume() >= -ROUNDING * own.size {
                continue;
            }
            let holds = |outer: &Aabb| {
                outer.low.cmple(own.bounds.low).all() && own.bounds.high.cmple(outer.high).all()
            };
            let around = (0..self.sums.len()).filter(|&region| {
                self.sums[region].volume() >= -own.volume() && holds(&self.sums[region].bounds)
            });
            let nearest = around.min_by(|&x, &y| self.sums[x].volume().total_cmp(&self.sums[y].volume()));
            if let Some(region) = nearest {
                self.sums[region].merge(&own);
                *owner = region;
            }
        }
        owners
    }
}

impl Side<'_, '_> {
    fn number(&self) -> usize {
        self.surface.body as usize
    }

    #[inline]
    fn patch_region(&self, patch: u32) -> usize {
        self.regions.of_patch(self.number(), patch)
    }

    /// Grows the boxes of the regions around the vertices inside. Groups within the box of their region are passed over.
    fn add_bounds(&self, sums: &mut [Sums]) {
        let Side { surface, origin, .. } = *self;
        let matrix = surface.placed.pose.matrix();
        let wide = DMat3::from_cols(matrix.x_axis.abs(), matrix.y_axis.abs(), matrix.z_axis.abs());
        let around = |cluster: u32| {
            let [centre, half] = surface.clusters.bounds(cluster);
            let (centre, half) = (surface.placed.pose.apply(centre) - origin, wide * half);
            Aabb { low: centre - half, high: centre + half }
        };
        let holds =
            |outer: &Aabb, inner: &Aabb| (outer.low.cmple(inner.low) & outer.high.cmpge(inner.high)).all();
        for (slot, crossed) in surface.crossed.all.iter().enumerate() {
            let around = around(crossed.cluster);
            let mut last = NONE;
            for (place, patch) in surface.crossed.inside(slot) {
                let sums = &mut sums[self.patch_region(patch)];
                if patch == last || holds(&sums.bounds, &around) {
                    last = patch;
                } else {
                    sums.hold(surface.position(surface.crossed.vertex(place)) - origin);
                }
            }
        }
        for (cluster, patch) in surface.whole_clusters() {
            let sums = &mut sums[self.patch_region(patch)];
            if !holds(&sums.bounds, &around(cluster)) {
                for v in surface.clusters.members(cluster) {
                    sums.hold(surface.position(v) - origin);
                }
            }
        }
    }

    /// The inside parts of the triangles that are crossed: what their borders add.
    fn add_cuts(&self, share: &mut OfCuts) {
        let Side { surface, regions: Regions { crossings, region_of, .. }, .. } = *self;
        let k = self.number();
        let region_of = |crossing: u32| region_of[crossing as usize];
        for (number, &p) in (0..).zip(&crossings.points) {
            share.sums[region_of(number) as usize].hold(p - self.origin);
        }
        let mut pieces = Pieces { side: self, elsewhere: Vec::new(), share };
        for segment in &crossings.segments {
            let ends = segment.along(k).map(|end| crossings.points[end as usize]);
            pieces.add(segment.cuts[k] as usize, region_of(segment.ends[0]), 1, ends);
        }
        for piece in &crossings.side_pieces[k] {
            let (cut, region) = (piece.cut as usize, region_of(piece.crossing));
            let to = surface.cuts[cut].face.corners()[2];
            pieces.share.sums[region as usize].hold(to - self.origin);
            pieces.add(cut, region, piece.weight, [crossings.points[piece.crossing as usize], to]);
        }
        for (i, cut) in surface.cuts.iter().enumerate() {
            let second = cut.corners[1];
            if let Some(patch) = surface.patch(second) {
                let [_, from, to] = cut.face.corners();
                let region = self.patch_region(patch);
                [from, to].into_iter().for_each(|p| pieces.share.sums[region].hold(p - self.origin));
                pieces.add(i, region as u32, surface.winding(second), [from, to]);
            }
        }
        pieces.finish();
    }

    /// Adds the cone over the inside part of a cut triangle to a region.
    #[inline]
    fn add_cut(&self, cut: &Cut, moments: &Moments, sums: &mut Sums) {
        let corner = cut.face.corners()[0] - self.origin;
        let piece = Moments { first: corner * moments.area + moments.first, ..*moments };
        sums.add(self.number(), &piece, cut.normal * moments.area, cut.normal.dot(corner));
    }

    /// The least and the largest height of each region along its normal: those of its crossings, and of the vertices of the
    /// surface. Groups that cannot reach farther than what is known are passed over.
    pub fn reaches(&self, Totals { owners, normals, reach, .. }: &Totals) -> Vec<[f64; 2]> {
        let (surface, mut reach) = (self.surface, reach.clone());
        let back = surface.placed.pose.matrix().transpose();
        let height = |region: usize, p: DVec3| normals[region].dot(p - self.origin);
        // The least and the largest height that a group may have.
        let extent = |region: usize, cluster: u32| {
            let [centre, half] = surface.clusters.bounds(cluster);
            let middle = height(region, surface.placed.pose.apply(centre));
            let room = (back * normals[region]).abs().dot(half);
            [middle - room, middle + room]
        };
        let holds = |outer: &[f64; 2], inner: [f64; 2]| outer[0] <= inner[0] && outer[1] >= inner[1];
        for (slot, crossed) in surface.crossed.all.iter().enumerate() {
            let mut last = NONE;
            for (place, patch) in surface.crossed.inside(slot) {
                let region = owners[self.patch_region(patch)];
                if patch == last || holds(&reach[region], extent(region, crossed.cluster)) {
                    last = patch;
                } else {
                    let p = surface.position(surface.crossed.vertex(place));
                    widen(&mut reach[region], height(region, p));
                }
            }
        }
        for (cluster, patch) in surface.whole_clusters() {
            let region = owners[self.patch_region(patch)];
            if !holds(&reach[region], extent(region, cluster)) {
                for v in surface.clusters.members(cluster) {
                    widen(&mut reach[region], height(region, surface.position(v)));
                }
            }
        }
        reach
    }
}

#[inline]
fn widen([low, high]: &mut [f64; 2], height: f64) {
    (*low, *high) = (low.min(height), high.max(height));
}

/// The integrals over the border of an intersection.
pub struct Integral<'s, 'm> {
    pub sides: [Side<'s, 'm>; 2],
    pub totals: &'s Totals,
    pub of_cuts: [&'s OfCuts; 2],
    pub gradient: [Vec<DVec3>; 2],
    /// The least and the largest heights of the regions with each surface.
    pub reaches: [Vec<[f64; 2]>; 2],
    pub samples: Vec<SurfaceSample>,
}

impl<'s, 'm> Integral<'s, 'm> {
    fn surfaces(&self) -> [&'s Surface<'m>; 2] {
        self.sides.map(|side| side.surface)
    }

    /// A sample for each triangle inside that nothing crosses.
    fn sample_whole(&mut self) {
        for (k, surface) in self.surfaces().into_iter().enumerate() {
            for (triangle, patch) in surface.whole() {
                let [a, b, c] = surface.corners(triangle);
                self.samples.push(SurfaceSample {
                    body: k,
                    triangle: Some(triangle),
                    barycentric: [1.0 / 3.0; 3],
                    point: (a + b + c) / 3.0,
                    area: (b - a).cross(c - a) * (0.5 * f64::from(surface.patches[patch as usize])),
                });
            }
        }
    }

    /// A sample for the inside part of each cut triangle.
    fn sample_cuts(&mut self) {
        for (k, surface) in self.surfaces().into_iter().enumerate() {
            for (cut, inside) in surface.cuts.iter().zip(&self.of_cuts[k].inside) {
                let shares = cut.shares(inside).map(|share| share / inside.area);
                if !shares.iter().all(|share| share.is_finite()) {
                    continue;
                }
                self.samples.push(SurfaceSample {
                    body: k,
                    triangle: Some(cut.triangle),
                    barycentric: surface.outwards(shares),
                    point: cut.face.corners()[0] + inside.first / inside.area,
                    area: cut.normal * inside.area,
                });
            }
        }
    }

    /// The sums as an answer with what the options want, and a box around each region.
    pub fn volume(mut self, options: &VolumeOptions) -> (Volume, Vec<Aabb>) {
        if options.samples {
            self.sample_whole();
            self.sample_cuts();
        }
        let Side { regions: of_border, origin, .. } = self.sides[0];
        let Totals { sums, owners, normals, .. } = self.totals;
        let [of_a, of_b] = &self.reaches;
        let both = of_a.iter().zip(of_b);
        let depths: Vec<f64> =
            both.map(|([low, high], [l, h])| (high.max(*h) - low.min(*l)).max(0.0)).collect();
        let mut regions = Vec::new();
        let (mut volume, mut error) = (0.0, 0.0);
        let mut is_kept = vec![false; sums.len()];
        for (region, sums) in sums.iter().enumerate() {
            if owners[region] != region {
                continue;
            }
            let own = Overlap {
                volume: sums.volume(),
                error: ROUNDING * sums.size,
                gradient: sums.areas,
                region: Region {
                    centroid: origin + sums.first / sums.volume(),
                    normal: normals[region],
                    area: 0.5 * sums.net().dot(normals[region]),
                    depth: depths[region],
                },
            };
            volume += own.volume;
            error += own.error;
            // What only touches has a volume of nothing but rounding.
            if own.volume > own.error {
                is_kept[region] = true;
                let Aabb { low, high } = sums.bounds;
                regions.push((own, Aabb { low: low + origin, high: high + origin }));
            }
        }
        let is_kept: Vec<bool> = owners.iter().map(|&owner| is_kept[owner]).collect();
        let border = match options.border {
            true => border(self.surfaces(), &of_border.crossings, &of_border.region_of, &is_kept),
            false => Default::default(),
        };
        sort_rarely(&mut regions, |(x, _), (y, _): &(Overlap, Aabb)| y.volume.total_cmp(&x.volume));
        let volume = if regions.is_empty() { 0.0 } else { volume };
        let (regions, boxes) = regions.into_iter().unzip();
        let (gradient, samples) = (self.gradient, self.samples);
        // The rounding is estimated, not bounded.
        let error_kind = VolumeErrorKind::Estimate;
        (Volume { volume, error, error_kind, regions, gradient, samples, border }, boxes)
    }
}

/// The borders of the inside parts of the cut triangles of a surface, piece by piece.
struct Pieces<'p, 's, 'm> {
    side: &'p Side<'s, 'm>,
    /// What cuts hold of further regions.
    elsewhere: Vec<(usize, Moments)>,
    share: &'p mut OfCuts,
}

impl Pieces<'_, '_, '_> {
    /// A directed segment on the border of the inside part of a cut.
    #[inline]
    fn add(&mut self, number: usize, region: u32, weight: i32, [from, to]: [DVec3; 2]) {
        let cut = &self.side.surface.cuts[number];
        let moments = cut.over(weight, from, to);
        let own = &mut self.share.region_of_cut[number];
        if *own == NONE {
            *own = region;
        }
        if *own == region {
            self.share.inside[number] += moments;
        } else {
            self.side.add_cut(cut, &moments, &mut self.share.sums[region as usize]);
            self.elsewhere.push((number, moments));
        }
    }

    /// Adds the cuts to their regions.
    fn finish(self) {
        let Pieces { side, elsewhere, share } = self;
        let cuts = side.surface.cuts.iter().zip(&share.inside);
        for ((cut, inside), &region) in cuts.zip(&share.region_of_cut).filter(|(_, region)| **region != NONE)
        {
            side.add_cut(cut, inside, &mut share.sums[region as usize]);
        }
        for (number, moments) in elsewhere {
            share.inside[number] += moments;
        }
    }
}

/// The sums of each patch, over the groups and triangles that nothing crosses.
pub struct OfPatches(Vec<Sums>);

/// Those of a surface, with heights from an origin.
pub fn sums_of_patches(surface: &Surface<'_>, origin: DVec3) -> OfPatches {
    let k = surface.body as usize;
    let turn = Turn::new(surface.placed.pose, origin);
    let mut sums = vec![Sums::NONE; surface.patches.len()];
    let mut add = |patch: u32, placed: &PlacedSums| {
        let weight = f64::from(surface.facing(surface.patches[patch as usize]));
        sums[patch as usize].add_placed(k, weight, placed);
    };
    for (cluster, patch) in surface.whole_clusters() {
        add(patch, &surface.clusters.placed(cluster, &turn));
    }
    for slot in 0..surface.crossed.all.len() {
        let mut singles = surface.single_triangles(slot).peekable();
        while let Some(&(_, patch)) = singles.peek() {
            let mut own = SingleTriangles::default();
            while let Some((triangle, _)) = singles.next_if(|(_, next)| *next == patch) {
                own.add(triangle.corners.map(|v| surface.clusters.position(v) - turn.origin));
            }
            add(patch, &own.placed(&turn));
        }
    }
    OfPatches(sums)
}
