//! A list of neighbours that lasts over frames.
//!
//! With a skin the list holds all pairs up to cutoff and skin; as long as no particle has moved more than half the skin
//! since, every pair of a frame is in it, and only these are tested (Verlet, "Computer experiments on classical fluids",
//! 1967).

use glam::DVec3;

use super::{Displacement, Domain, NeighbourSearch, Particles, SearchCounters, Technique};
use crate::broad::{Changes, sort_pairs};
use crate::error::Error;
use crate::num::parallel;
use crate::num::tolerance::CANDIDATE_ROUNDING;

/// Pairs that one thread tests at a time.
const CHUNK: usize = 1 << 13;

/// How a [`NeighbourList`] is made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NeighbourOptions {
    /// The technique; without it, one that suits the frame.
    pub technique: Option<Technique>,
    /// Width of cells, for techniques that have some; without it, by the density.
    pub voxel: Option<f64>,
    /// Lists each pair twice, as [i, j] and as [j, i].
    pub full: bool,
    /// How much farther than the cutoff pairs are kept for later frames (a length).
    pub skin: f64,
    /// Pairs that are left out, in any order: bonds, for example.
    pub excluded: Vec<[u32; 2]>,
}

/// The pairs of a frame, kept up to date from frame to frame.
///
/// ```
/// use impinge::broad::neighbours::{Domain, NeighbourList, NeighbourOptions, Particles};
///
/// let mut list = NeighbourList::new(NeighbourOptions { skin: 0.2, ..NeighbourOptions::default() })?;
/// let mut positions = vec![[0.0; 3], [0.95, 0.0, 0.0], [2.0, 0.0, 0.0]];
/// list.update(&Particles::new(&positions, Domain::OPEN, 1.0)?)?;
/// assert_eq!(list.pairs(), [[0, 1]]);
/// positions[1][0] = 1.04;
/// list.update(&Particles::new(&positions, Domain::OPEN, 1.0)?)?;
/// assert_eq!((list.pairs(), list.searches()), (&[[1, 2]][..], 1));
/// assert_eq!(list.changes().ended, [[0, 1]]);
/// # Ok::<(), impinge::Error>(())
/// ```
pub struct NeighbourList {
    options: NeighbourOptions,
    /// What searches, and the technique that it was started as: the hybrid is another from time to time.
    search: Option<(Technique, Box<dyn NeighbourSearch>)>,
    /// Pairs up to cutoff and skin without the excluded ones, ascending, and what they were searched for.
    kept: Vec<[u32; 2]>,
    searched: Option<Searched>,
    searches: u64,
    /// Pairs of now and of the frame before, i < j, ascending.
    half: Vec<[u32; 2]>,
    before: Vec<[u32; 2]>,
    full: Vec<[u32; 2]>,
    changes: Changes,
    counters: SearchCounters,
}

/// The frame of the last search.
struct Searched {
    positions: Vec<[f64; 3]>,
    radii: Vec<f64>,
    domain: Domain,
    cutoff: f64,
}

impl NeighbourList {
    /// A list without particles yet.
    ///
    /// # Errors
    /// The skin is negative or not finite, the voxel not positive, or a particle is excluded with itself.
    pub fn new(options: NeighbourOptions) -> Result<NeighbourList, Error> {
        let refused = |name: &'static str, reason: String| Err(Error::Argument { name, reason });
        let mut options = options;
        if !(options.skin >= 0.0 && options.skin.is_finite()) {
            return refused("skin", format!("{} is not a length of 0 or more", options.skin));
        }
        if let Some(voxel) = options.voxel.filter(|width| !(*width > 0.0 && width.is_finite())) {
            return refused("voxel", format!("{voxel} is not a positive width"));
        }
        if let Some([i, _]) = options.excluded.iter().find(|[i, j]| i == j) {
            return refused("excluded", format!("particle {i} is no pair with itself"));
        }
        options.excluded.iter_mut().for_each(|pair| pair.sort_unstable());
        options.excluded.sort_unstable();
        options.excluded.dedup();
        Ok(NeighbourList {
            options,
            search: None,
            kept: Vec::new(),
            searched: None,
            searches: 0,
            half: Vec::new(),
            before: Vec::new(),
            full: Vec::new(),
            changes: Changes::default(),
            counters: SearchCounters::default(),
        })
    }

    /// Brings the list up to date with a frame.
    ///
    /// # Errors
    /// With a skin: cutoff and skin are more than half a periodic width.
    pub fn update(&mut self, particles: &Particles<'_>) -> Result<(), Error> {
        self.counters = SearchCounters::default();
        if !self.is_kept_enough(particles) {
            self.search(particles)?;
        }
        std::mem::swap(&mut self.half, &mut self.before);
        self.half.clear();
        if self.options.skin > 0.0 {
            let kept = &self.kept;
            let parts = parallel::map(kept.len().div_ceil(CHUNK), |k| -> Vec<[u32; 2]> {
                let part = &kept[k * CHUNK..kept.len().min((k + 1) * CHUNK)];
                part.iter().copied().filter(|&[i, j]| particles.is_pair(i, j)).collect()
            });
            parts.iter().for_each(|part| self.half.extend_from_slice(part));
            self.counters.tests += self.kept.len() as u64;
        } else {
            std::mem::swap(&mut self.half, &mut self.kept);
            self.searched = None;
        }
        self.counters.pairs = self.half.len() as u64;
        self.changes.between(&self.before, &self.half);
        self.full.clear();
        if self.options.full {
            self.full.extend(self.half.iter().flat_map(|&[i, j]| [[i, j], [j, i]]));
            sort_pairs(&mut self.full);
        }
        Ok(())
    }

    /// Whether every pair of a frame is among those kept.
    fn is_kept_enough(&self, particles: &Particles<'_>) -> bool {
        let Some(searched) = &self.searched else { return false };
        let same = searched.positions.len() == particles.len()
            && searched.radii == particles.radii()
            && searched.domain == *particles.domain()
            && searched.cutoff == particles.cutoff();
        // What rounding of three positions and two distances can hide.
        let most = 0.5 * self.options.skin - 4.0 * particles.candidate_margin();
        same && most > 0.0 && {
            let moved = |i: usize| {
                let d = DVec3::from(particles.positions()[i]) - DVec3::from(searched.positions[i]);
                let domain = particles.domain();
                domain.shifted(d, domain.nearest_image(d)).length_squared()
            };
            let most = most * most * (1.0 - CANDIDATE_ROUNDING);
            (0..particles.len()).all(|i| moved(i) <= most)
        }
    }

    fn search(&mut self, particles: &Particles<'_>) -> Result<(), Error> {
        let widened;
        let frame = if self.options.skin > 0.0 {
            widened = particles.with_cutoff(particles.cutoff() + self.options.skin)?;
            &widened
        } else {
            particles
        };
        let wanted = self.options.technique.unwrap_or_else(|| Technique::choose(frame));
        if self.search.as_ref().is_none_or(|(technique, _)| *technique != wanted) {
            self.search = Some((wanted, wanted.start_with(self.options.voxel)));
        }
        if let Some((_, search)) = &mut self.search {
            search.search(frame, &mut self.kept);
            self.counters = search.counters();
        }
        sort_pairs(&mut self.kept);
        let excluded = &self.options.excluded;
        if !excluded.is_empty() {
            self.kept.retain(|pair| excluded.binary_search(pair).is_err());
        }
        self.searches += 1;
        self.searched = Some(Searched {
            positions: particles.positions().to_vec(),
            radii: particles.radii().to_vec(),
            domain: *particles.domain(),
            cutoff: particles.cutoff(),
        });
        Ok(())
    }

    /// The pairs of the last frame, ascending: [i, j] with i < j, and in a full list [j, i] too.
    pub fn pairs(&self) -> &[[u32; 2]] {
        if self.options.full { &self.full } else { &self.half }
    }

    /// For each pair of the list the way from i to j, where `particles` is the frame of the last update.
    pub fn displacements(&self, particles: &Particles<'_>) -> Vec<Displacement> {
        let pairs = self.pairs();
        parallel::map(pairs.len(), |k| particles.displacement(pairs[k][0], pairs[k][1]))
    }

    /// Pairs, i < j, that began and ended with the last frame.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// How many frames were searched anew; the others reused what was kept.
    pub fn searches(&self) -> u64 {
        self.searches
    }

    /// The technique of the last search and why that one, as a sentence for people; none before the first frame.
    pub fn technique(&self) -> Option<(Technique, &str)> {
        let (_, search) = self.search.as_ref()?;
        let technique = search.technique();
        Some((technique, if self.options.technique.is_some() { search.reason() } else { technique.about() }))
    }

    /// What the last frame cost.
    pub fn counters(&self) -> SearchCounters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::unit;

    #[test]
    fn a_list_by_the_hybrid_keeps_it_from_frame_to_frame() {
        let options = NeighbourOptions { technique: Some(Technique::Hybrid), ..NeighbourOptions::default() };
        let mut list = NeighbourList::new(options).unwrap();
        let mut reasons: Vec<String> = Vec::new();
        for frame in 0..12 {
            // Uniform, then in two clusters so far apart that the cells of a grid hold whole ones.
            let away = |i: usize| if frame < 6 { 0.0 } else { 1e6 * (i % 2) as f64 };
            let place = |i: usize| std::array::from_fn(|k| 12.6 * unit(3, (3 * i + k) as u64) + away(i));
            let all: Vec<[f64; 3]> = (0..2000).map(place).collect();
            list.update(&Particles::new(&all, Domain::OPEN, 1.0).unwrap()).unwrap();
            reasons.extend(list.technique().map(|(_, reason)| reason.to_string()));
        }
        reasons.dedup();
        assert_eq!(reasons.len(), 2, "{reasons:?}");
        assert!(reasons[0].starts_with("grid from the start"), "{reasons:?}");
        assert!(reasons[1].starts_with("frame 8: from grid"), "{reasons:?}");
    }
}
