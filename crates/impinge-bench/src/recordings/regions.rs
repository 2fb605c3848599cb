//! The truth about a recording: its contact regions, exactly, and how well somebody else finds them.
//!
//! A region is a connected set of intersecting pairs of triangles: two pairs are neighbours when their triangles of a
//! are equal or share a welded vertex, and those of b too. A region goes on from one frame to the next where a pair of
//! the one is equal to or a neighbour of a pair of the other. A region that nobody reports waits; it is found late by
//! as many frames as it waited, and missed when it ends while it waits.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use impinge::geom::triangle_triangle::meet;
use impinge::model::Model;
use impinge::narrow::exact::collide;
use impinge::{Mesh, Pose};

use super::{Recording, Stage};
use crate::aabb_tree::AabbTree;

/// Every so many frames the pairs are compared with the exact method and with trying all.
const CHECKED: usize = 250;

/// Triangles of a that are tried against all of b: so many of those that meet, and as many of all.
const SAMPLE: usize = 8;

/// The regions of one frame.
#[derive(Debug, Clone, Default)]
pub struct FrameRegions {
    /// The region of each intersecting pair.
    pub region_of: HashMap<[u32; 2], u32>,
    /// How many regions.
    pub count: u32,
    /// For each region, those of the frame before that it goes on from.
    before: Vec<Vec<u32>>,
}

/// Which triangles of a mesh share a welded vertex.
struct Stars {
    /// Three welded vertices of each triangle.
    corners: Vec<[u32; 3]>,
    /// The triangles at each welded vertex.
    around: Vec<Vec<u32>>,
}

/// The regions in every frame of a recording.
pub struct Truth {
    /// Frame by frame.
    pub frames: Vec<FrameRegions>,
}

/// What is wanted of a recording, as it is.
#[derive(Debug, Clone, Copy)]
pub struct Properties {
    /// The share of frames with a contact.
    pub in_contact: f64,
    /// The most regions at once.
    pub most_regions: u32,
    /// Regions that appear.
    pub appearing: usize,
    /// The most pairs in a frame.
    pub most_pairs: usize,
    /// The mean number of pairs in frames with a contact.
    pub mean_pairs: f64,
}

/// How well the regions of a recording were found.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Found {
    /// Regions times frames.
    pub instances: usize,
    /// Those in which a pair was reported in that very frame.
    pub seen: usize,
    /// Regions that began, or were lost after they had been seen, by how many frames later they were seen: in the
    /// same frame, one later, two or more later.
    pub after: [usize; 3],
    /// Regions that ended unseen, by how many frames they had waited: one, two or more.
    pub missed: [usize; 2],
    /// The longest wait.
    pub longest: u32,
    /// Reported pairs that do not intersect.
    pub wrong: usize,
}

impl Found {
    /// Whether every region was found with a delay of at most one frame.
    pub fn in_time(&self) -> bool {
        self.longest <= 1 && self.missed == [0, 0]
    }

    /// The share of regions that were found with a delay of at most one frame.
    pub fn share_in_time(&self) -> f64 {
        let all = self.after.iter().chain(&self.missed).sum::<usize>();
        if all == 0 { 1.0 } else { (self.after[0] + self.after[1]) as f64 / all as f64 }
    }
}

impl Truth {
    /// The regions of the first `frames` frames: refitted boxes and the exact triangle test, compared with the exact
    /// method and with trying all pairs in some frames.
    ///
    /// # Errors
    /// The vertices of a frame are no mesh, or the ways disagree.
    pub fn of(recording: &Recording, frames: usize) -> Result<Truth> {
        let [mut a, mut b] = recording.bodies.each_ref().map(|body| AabbTree::build(&body.mesh));
        let mut stage = Stage::default();
        let mut found = Vec::with_capacity(frames);
        for frame in 0..frames {
            recording.place(frame, &mut stage);
            let [va, vb] = &stage.world;
            a.refit(va);
            b.refit(vb);
            let mut pairs = a.pairs(va, &b, vb);
            pairs.sort_unstable();
            if frame % CHECKED == 0 {
                check(recording, &stage, &pairs)
                    .with_context(|| format!("frame {frame} of {}", recording.name))?;
            }
            found.push(pairs);
        }
        Ok(Truth::of_pairs(recording.bodies.each_ref().map(|body| &body.mesh), &found))
    }

    /// The regions of intersecting pairs, ascending, frame by frame.
    pub fn of_pairs(meshes: [&Mesh; 2], pairs: &[Vec<[u32; 2]>]) -> Truth {
        let stars = meshes.map(Stars::of);
        let mut frames: Vec<FrameRegions> = Vec::with_capacity(pairs.len());
        for pairs in pairs {
            let next = FrameRegions::of(pairs, frames.last(), &stars);
            frames.push(next);
        }
        Truth { frames }
    }

    /// What the recording is like.
    pub fn properties(&self) -> Properties {
        let touching = self.frames.iter().filter(|f| f.count > 0);
        let pairs: Vec<usize> = touching.map(|f| f.region_of.len()).collect();
        let appearing = |f: &FrameRegions| f.before.iter().filter(|before| before.is_empty()).count();
        Properties {
            in_contact: pairs.len() as f64 / self.frames.len() as f64,
            most_regions: self.frames.iter().map(|f| f.count).max().unwrap_or(0),
            appearing: self.frames.iter().map(appearing).sum(),
            most_pairs: pairs.iter().copied().max().unwrap_or(0),
            mean_pairs: pairs.iter().sum::<usize>() as f64 / pairs.len().max(1) as f64,
        }
    }

    /// Compares what somebody reported, frame by frame from the first on.
    pub fn judge(&self, reported: &[Vec<[u32; 2]>]) -> Found {
        let mut judge = Judge::default();
        for (frame, pairs) in self.frames.iter().zip(reported) {
            judge.frame(frame, pairs);
        }
        judge.found
    }
}

/// How many true pairs of a mesh with itself were reported, frame by frame: themselves, or a pair whose triangles share
/// vertices with theirs.
pub fn reported_nearby(mesh: &Mesh, exact: &[Vec<[u32; 2]>], reported: &[Vec<[u32; 2]>]) -> usize {
    let stars = [Stars::of(mesh), Stars::of(mesh)];
    let mut found = 0;
    for (exact, reported) in exact.iter().zip(reported) {
        let listed = Listed::new(reported);
        let is_near = |&&[i, j]: &&[u32; 2]| {
            let mut near = false;
            listed.for_each_neighbour([i, j], &stars, |_| near = true);
            listed.for_each_neighbour([j, i], &stars, |_| near = true);
            near
        };
        found += exact.iter().filter(is_near).count();
    }
    found
}

/// Follows the regions from frame to frame.
#[derive(Debug, Default)]
pub struct Judge {
    /// What is known so far; regions still waiting are in none of its counts but `instances`.
    pub found: Found,
    /// How long each region of the last frame has waited; 0 for those that were seen.
    waits: Vec<u32>,
    /// The regions that were not seen, by frame and region, for those who want to know why.
    pub unseen: Vec<(usize, u32)>,
    frames: usize,
}

impl Judge {
    /// The next frame and the pairs reported in it.
    pub fn frame(&mut self, truth: &FrameRegions, reported: &[[u32; 2]]) {
        let found = &mut self.found;
        let mut seen = vec![false; truth.count as usize];
        for pair in reported {
            match truth.region_of.get(pair) {
                Some(&region) => seen[region as usize] = true,
                None => found.wrong += 1,
            }
        }
        found.instances += seen.len();
        found.seen += seen.iter().filter(|&&s| s).count();
        let mut goes_on = vec![false; self.waits.len()];
        let mut waits = Vec::with_capacity(seen.len());
        for (region, before) in truth.before.iter().enumerate() {
            before.iter().for_each(|&b| goes_on[b as usize] = true);
            let waited = before.iter().map(|&b| self.waits[b as usize]).min();
            if seen[region] {
                if waited != Some(0) {
                    found.after[waited.unwrap_or(0).min(2) as usize] += 1;
                }
                waits.push(0);
            } else {
                waits.push(waited.unwrap_or(0) + 1);
                self.unseen.push((self.frames, region as u32));
            }
        }
        for (wait, goes_on) in self.waits.iter().zip(goes_on) {
            if *wait > 0 && !goes_on {
                found.missed[(*wait).min(2) as usize - 1] += 1;
            }
        }
        found.longest = waits.iter().copied().fold(found.longest, u32::max);
        self.waits = waits;
        self.frames += 1;
    }
}

impl FrameRegions {
    /// Regions of ascending pairs, numbered in the order of their first pairs.
    fn of(pairs: &[[u32; 2]], before: Option<&FrameRegions>, stars: &[Stars; 2]) -> FrameRegions {
        let listed = Listed::new(pairs);
        let mut parent: Vec<u32> = (0..pairs.len() as u32).collect();
        for (i, &pair) in pairs.iter().enumerate() {
            listed.for_each_neighbour(pair, stars, |j| {
                let [a, b] = [root(&mut parent, i as u32), root(&mut parent, j)];
                parent[a.max(b) as usize] = a.min(b);
            });
        }
        let mut number = vec![0; pairs.len()];
        let mut count = 0;
        for i in 0..pairs.len() {
            let first = root(&mut parent, i as u32) as usize;
            if first == i {
                (number[i], count) = (count, count + 1);
            }
            number[i] = number[first];
        }
        let mut links = vec![Vec::new(); count as usize];
        for (&pair, &old) in before.iter().flat_map(|b| &b.region_of) {
            listed.for_each_neighbour(pair, stars, |j| links[number[j as usize] as usize].push(old));
        }
        for link in &mut links {
            link.sort_unstable();
            link.dedup();
        }
        FrameRegions { region_of: pairs.iter().copied().zip(number).collect(), count, before: links }
    }
}

/// The pairs by their triangle of a.
struct Listed<'p> {
    pairs: &'p [[u32; 2]],
    of_a: HashMap<u32, Vec<u32>>,
}

impl<'p> Listed<'p> {
    fn new(pairs: &'p [[u32; 2]]) -> Listed<'p> {
        let mut of_a: HashMap<u32, Vec<u32>> = HashMap::new();
        for (i, pair) in pairs.iter().enumerate() {
            of_a.entry(pair[0]).or_default().push(i as u32);
        }
        Listed { pairs, of_a }
    }

    /// Calls with the numbers of the listed pairs that are equal to or neighbours of this one.
    fn for_each_neighbour(&self, [i, j]: [u32; 2], stars: &[Stars; 2], mut each: impl FnMut(u32)) {
        let Some(corners) = stars[0].corners.get(i as usize) else { return };
        for near_i in corners.iter().flat_map(|&v| &stars[0].around[v as usize]) {
            for &k in self.of_a.get(near_i).into_iter().flatten() {
                if stars[1].share(j, self.pairs[k as usize][1]) {
                    each(k);
                }
            }
        }
    }
}

impl Stars {
    fn of(mesh: &Mesh) -> Stars {
        let mut welded: HashMap<[u64; 3], u32> = HashMap::new();
        // Adding 0 turns −0 into 0.
        let mut weld = |v: u32| {
            let next = welded.len() as u32;
            *welded.entry(mesh.vertices()[v as usize].to_array().map(|x| (x + 0.0).to_bits())).or_insert(next)
        };
        let corners: Vec<[u32; 3]> = mesh.triangles().iter().map(|t| t.map(&mut weld)).collect();
        let mut around = vec![Vec::new(); welded.len()];
        for (t, corner) in corners.iter().enumerate() {
            corner.iter().for_each(|&v| around[v as usize].push(t as u32));
        }
        Stars { corners, around }
    }

    /// Whether two triangles are equal or share a vertex.
    fn share(&self, i: u32, j: u32) -> bool {
        let [a, b] = [i, j].map(|t| self.corners[t as usize]);
        a.iter().any(|v| b.contains(v))
    }
}

fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}

/// Asks the exact method, and tries a sample of the triangles of a against all of b.
fn check(recording: &Recording, stage: &Stage, pairs: &[[u32; 2]]) -> Result<()> {
    let model = |body: usize| -> Result<Model> {
        let triangles = recording.bodies[body].mesh.triangles().to_vec();
        Ok(Model::from(Mesh::from_points(stage.world[body].clone(), triangles)?))
    };
    let exact = collide::pairs(&model(0)?, &Pose::IDENTITY, &model(1)?, &Pose::IDENTITY);
    ensure!(exact == pairs, "the exact method finds {} pairs, refitted boxes {}", exact.len(), pairs.len());
    let corners = |body: usize, t: usize| {
        recording.bodies[body].mesh.triangles()[t].map(|v| stage.world[body][v as usize])
    };
    let [of_a, of_b] = recording.triangles();
    let touched = pairs.iter().map(|pair| pair[0] as usize).step_by(pairs.len().div_ceil(SAMPLE).max(1));
    for i in touched.chain((0..of_a).step_by(of_a.div_ceil(SAMPLE))) {
        let a = corners(0, i);
        let brute = (0..of_b).filter(|&j| meet(&a, &corners(1, j))).map(|j| [i as u32, j as u32]);
        let listed = pairs.iter().copied().filter(|pair| pair[0] as usize == i);
        ensure!(brute.eq(listed), "trying all pairs disagrees about triangle {i} of a");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use impinge::procedural;

    use super::*;

    fn stars() -> [Stars; 2] {
        let mesh = procedural::uv_sphere(1.0, 12, 8).unwrap();
        [Stars::of(&mesh), Stars::of(&mesh)]
    }

    #[test]
    fn pairs_are_connected_over_neighbours_on_both_bodies() {
        let stars = stars();
        let near =
            stars[0].around[stars[0].corners[0][0] as usize].iter().copied().find(|&t| t != 0).unwrap();
        let far = (0..stars[0].corners.len() as u32).rev().find(|&t| !stars[0].share(t, 0)).unwrap();
        let mut pairs = [[0, 0], [near, near], [near, far], [far, far]];
        pairs.sort_unstable();
        let regions = FrameRegions::of(&pairs, None, &stars);
        let of = |pair: [u32; 2]| regions.region_of[&pair];
        assert_eq!(regions.count, 3);
        assert_eq!(of([0, 0]), of([near, near]));
        assert_ne!(of([near, near]), of([near, far]), "far apart on b");
        let next = FrameRegions::of(&[[near, 0]], Some(&regions), &stars);
        assert_eq!(next.before, [vec![of([0, 0])]]);
    }

    #[test]
    fn delays_and_misses_are_counted() {
        let stars = stars();
        let far = (0..stars[0].corners.len() as u32).rev().find(|&t| !stars[0].share(t, 0)).unwrap();
        let mut frames: Vec<FrameRegions> = Vec::new();
        for pairs in
            [&[[0, 0]][..], &[[0, 0], [far, far]], &[[0, 0], [far, far]], &[[0, 0]], &[[far, far]], &[]]
        {
            let next = FrameRegions::of(pairs, frames.last(), &stars);
            frames.push(next);
        }
        let truth = Truth { frames };
        let properties = truth.properties();
        assert_eq!((properties.most_regions, properties.appearing), (2, 3));
        let reported = [vec![], vec![[0, 0]], vec![[0, 0], [far, far]], vec![[0, 0], [1, 1]], vec![], vec![]];
        let found = truth.judge(&reported);
        let expected =
            Found { instances: 7, seen: 4, after: [0, 2, 0], missed: [1, 0], longest: 1, wrong: 1 };
        assert_eq!(found, expected);
        assert!(!found.in_time() && (found.share_in_time() - 2.0 / 3.0).abs() < 1e-12);
        let all: Vec<_> = truth.frames.iter().map(|f| f.region_of.keys().copied().collect()).collect();
        assert!(truth.judge(&all).in_time());
    }
}
