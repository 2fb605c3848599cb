//! Up to eight triangles at a time: what pairs of them are looked at through.
//!
//! A cluster is placed when it is looked at, once a frame whatever the number of its pairs: its vertices in doubles, the
//! triangles lane by lane in f32 about their middle, so that they are as exact as the cluster is small, and a cylinder that
//! holds them as they are now. Where it was in its body a few frames ago tells how it deforms.

use glam::DVec3;

use super::super::posed::Posed;
use super::super::shells::Facet;
use crate::simd::{prefetch, prefetch_whole};

/// Triangles of a cluster at most: the lanes of a vector.
pub(super) const LANES: usize = 8;

/// Corners of that many triangles.
const CORNERS: usize = 3 * LANES;

/// Frames after which it no longer counts where a cluster was.
const RECENT: u64 = 64;

/// Some triangles.
#[derive(Debug, Clone)]
pub(in super::super) struct Cluster {
    /// The first again behind the last.
    pub triangles: [u32; LANES],
    pub count: u8,
    /// As many as are used, each once.
    vertices: [u32; CORNERS],
    used: u8,
    /// Places in `vertices`.
    corners: [[u8; 3]; LANES],
    /// For each the set of those that it shares a vertex with, itself among them.
    pub beside: [u8; LANES],
}

impl Cluster {
    /// The cluster of at least one triangle and at most `LANES`.
    pub fn new(triangles: &[u32], corners_of: &[[u32; 3]]) -> Cluster {
        let all: [u32; LANES] = std::array::from_fn(|k| *triangles.get(k).unwrap_or(&triangles[0]));
        let mut cluster = Cluster {
            triangles: all,
            count: triangles.len() as u8,
            vertices: [0; CORNERS],
            used: 0,
            corners: [[0; 3]; LANES],
            beside: [0; LANES],
        };
        for (k, &t) in all.iter().enumerate() {
            cluster.corners[k] = corners_of[t as usize].map(|v| cluster.place_of(v));
        }
        for k in 0..triangles.len() {
            let shares = |l: &usize| cluster.corners[*l].iter().any(|c| cluster.corners[k].contains(c));
            cluster.beside[k] = (0..triangles.len()).filter(shares).fold(0, |set, l| set | 1 << l);
        }
        cluster
    }

    fn place_of(&mut self, vertex: u32) -> u8 {
        let used = usize::from(self.used);
        if let Some(at) = self.vertices[..used].iter().position(|&v| v == vertex) {
            return at as u8;
        }
        self.vertices[used] = vertex;
        self.used += 1;
        used as u8
    }

    /// Asks for its vertices.
    #[inline]
    pub fn fetch(&self, body: &Posed<'_>) {
        for &v in &self.vertices[..usize::from(self.used)] {
            prefetch(&body.vertices[v as usize]);
        }
    }

    /// The set of its triangles.
    #[inline]
    pub fn lanes(&self) -> u8 {
        ((1_u16 << self.count) - 1) as u8
    }
}

/// Triangles lane by lane, about a middle.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
pub(super) struct Block {
    /// By corner and axis.
    pub corners: [[[f32; LANES]; 3]; 3],
    /// Twice the area long.
    pub normals: [[f32; LANES]; 3],
    /// One over their lengths; 0 where there is none.
    pub per_length: [f32; LANES],
    /// The largest component of the edges from the first corner.
    pub extents: [f32; LANES],
    /// The lower and the upper ends of the boxes around them, by axis.
    pub boxes: [[[f32; LANES]; 3]; 2],
    /// The largest component of any corner.
    pub reach: f32,
}

/// A cluster in a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedCluster {
    /// What holds it, in the world.
    pub facet: Facet,
    pub block: Block,
    /// How it moves in a frame by deformation, in the world; `None` where that is not known.
    pub deforms: Option<DVec3>,
    /// Where its first vertices were in its body's frame, in the mean.
    own: DVec3,
    /// The reading of the clock when it was placed, 0 for never.
    at: u64,
}

const NOWHERE: PlacedCluster = PlacedCluster {
    facet: Facet { centre: DVec3::ZERO, normal: DVec3::X, radius: 0.0, inner: 0.0, outer: 0.0 },
    block: Block {
        corners: [[[0.0; LANES]; 3]; 3],
        normals: [[0.0; LANES]; 3],
        per_length: [0.0; LANES],
        extents: [0.0; LANES],
        boxes: [[[0.0; LANES]; 3]; 2],
        reach: 0.0,
    },
    deforms: None,
    own: DVec3::ZERO,
    at: 0,
};

/// The clusters of a body as they were last placed.
#[derive(Debug, Clone, Default)]
pub(super) struct PlacedClusters {
    /// Where each is in `placed`; 0 for those that never were, for which the first stands.
    of: Vec<u32>,
    placed: Vec<PlacedCluster>,
}

impl PlacedClusters {
    /// Forgets where they were.
    pub fn clear(&mut self) {
        self.of.clear();
        self.placed.clear();
    }

    /// The place of a cluster, which is up to date when the clock reads so.
    #[inline]
    pub fn place(&mut self, which: u32, clusters: &[Cluster], body: &Posed<'_>, clock: u64) -> u32 {
        if self.of.is_empty() {
            self.of.resize(clusters.len(), 0);
            self.placed.push(NOWHERE);
        }
        let mut at = self.of[which as usize];
        if at == 0 {
            at = self.placed.len() as u32;
            self.of[which as usize] = at;
            self.placed.push(NOWHERE);
        }
        let placed = &mut self.placed[at as usize];
        if placed.at != clock {
            placed.renew(&clusters[which as usize], body, clock);
        }
        at
    }

    /// Asks for where a cluster is found.
    #[inline]
    pub fn fetch_place(&self, which: u32) {
        if let Some(at) = self.of.get(which as usize) {
            prefetch(at);
        }
    }

    /// Asks for a cluster as it was placed.
    #[inline]
    pub fn fetch(&self, which: u32) {
        if let Some(&at) = self.of.get(which as usize) {
            prefetch_whole(&self.placed[at as usize]);
        }
    }

    /// What stands at a place.
    #[inline]
    pub fn at(&self, place: u32) -> &PlacedCluster {
        &self.placed[place as usize]
    }
}

impl PlacedCluster {
    fn renew(&mut self, cluster: &Cluster, body: &Posed<'_>, clock: u64) {
        let used = usize::from(cluster.used);
        let mut points = [DVec3::ZERO; CORNERS];
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for (p, &v) in points.iter_mut().zip(&cluster.vertices[..used]) {
            *p = body.pose.apply(body.vertices[v as usize]);
            low = low.min(*p);
            high = high.max(*p);
        }
        let points = &points[..used];
        let centre = 0.5 * low + 0.5 * high;
        let first = |k: usize| body.vertices[cluster.vertices[k] as usize];
        let own = (first(0) + first(1) + first(2)) / 3.0;
        let is_recent = self.at > 0 && clock - self.at <= RECENT;
        self.deforms = is_recent.then(|| body.turn * (own - self.own) / (clock - self.at) as f64);
        (self.own, self.at) = (own, clock);
        self.block.fill(cluster, points, centre);
        let block = &self.block;
        // Unused lanes repeat the first triangle: it counts more, which no cylinder minds.
        let sum = [0, 1, 2].map(|k| f64::from(block.normals[k].iter().sum::<f32>()));
        let normal = DVec3::from_array(sum).normalize_or(DVec3::X);
        let mut facet = Facet { centre, normal, radius: 0.0, inner: f64::INFINITY, outer: f64::NEG_INFINITY };
        let mut radius_sq: f64 = 0.0;
        for p in points {
            let arm = *p - centre;
            let height = arm.dot(normal);
            radius_sq = radius_sq.max(arm.length_squared() - height * height);
            facet.inner = facet.inner.min(height);
            facet.outer = facet.outer.max(height);
        }
        facet.radius = radius_sq.max(0.0).sqrt();
        self.facet = facet;
    }
}

impl Block {
    #[inline]
    fn fill(&mut self, cluster: &Cluster, points: &[DVec3], centre: DVec3) {
        let mut arms = [[0.0_f32; 3]; CORNERS];
        let mut reach = 0.0_f32;
        for (arm, p) in arms.iter_mut().zip(points) {
            *arm = (*p - centre).as_vec3().to_array();
            reach = arm.iter().fold(reach, |most, x| most.max(x.abs()));
        }
        self.reach = reach;
        for (lane, corners) in cluster.corners.iter().enumerate() {
            for (corner, &at) in corners.iter().enumerate() {
                let arm = arms[usize::from(at)];
                (0..3).for_each(|k| self.corners[corner][k][lane] = arm[k]);
            }
        }
        self.derive();
    }

    /// What follows from the corners, lane by lane.
    #[inline(always)]
    fn derive(&mut self) {
        let [a, b, c] = &self.corners;
        let [low, high] = &mut self.boxes;
        for k in 0..3 {
            for lane in 0..LANES {
                let (x, y, z) = (a[k][lane], b[k][lane], c[k][lane]);
                low[k][lane] = smaller(smaller(x, y), z);
                high[k][lane] = larger(larger(x, y), z);
            }
        }
        let n = &mut self.normals;
        for lane in 0..LANES {
            let (e0, f0) = (b[0][lane] - a[0][lane], c[0][lane] - a[0][lane]);
            let (e1, f1) = (b[1][lane] - a[1][lane], c[1][lane] - a[1][lane]);
            let (e2, f2) = (b[2][lane] - a[2][lane], c[2][lane] - a[2][lane]);
            let (x, y, z) = (e1 * f2 - e2 * f1, e2 * f0 - e0 * f2, e0 * f1 - e1 * f0);
            (n[0][lane], n[1][lane], n[2][lane]) = (x, y, z);
            let length = (x * x + y * y + z * z).sqrt();
            self.per_length[lane] = if length > 0.0 { 1.0 / length } else { 0.0 };
            let e = larger(larger(e0.abs(), e1.abs()), e2.abs());
            let f = larger(larger(f0.abs(), f1.abs()), f2.abs());
            self.extents[lane] = larger(e, f);
        }
    }
}

/// As the instruction does it: the second where one is no number.
#[inline(always)]
pub(super) fn larger(x: f32, y: f32) -> f32 {
    if x > y { x } else { y }
}

/// As [`larger`].
#[inline(always)]
pub(super) fn smaller(x: f32, y: f32) -> f32 {
    if x < y { x } else { y }
}
