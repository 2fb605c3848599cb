//! One frame of particles, checked, and the one place that decides which of them are pairs.

use std::borrow::Cow;

use glam::DVec3;

use super::Domain;
use super::exact_distance::Apart;
use super::images::Images;
use super::reduced_cell::ReducedCell;
use crate::error::Error;
use crate::num::double_double::DoubleDouble;
use crate::num::dyadic::Dyadic;
use crate::num::parallel;
use crate::num::predicate::Sign;
use crate::num::tolerance::{CANDIDATE_ROUNDING, IMAGE_MARGIN, LARGEST_COORDINATE, SMALLEST_CUTOFF_UNSCALED};
use crate::simd::{SimdLevel, dispatch};

/// How many cells away a position may not be: so that shifts between any two particles are 32-bit integers.
pub(super) const MOST_CELLS_AWAY: f64 = (1 << 30) as f64;

/// How many widths from the origin a cell may not begin: twelve bits of a coordinate are left to tell places in it apart.
const MOST_WIDTHS_AWAY: f64 = (1_u64 << 40) as f64;

/// Positions, radii, domain and cutoff of one frame.
///
/// Two points are a pair when their distance is at most the cutoff; two balls when it is at most the sum of their
/// radii and the cutoff; in a periodic cell the distance of their nearest images counts. Decided exactly for the numbers
/// as they were given: where rounding of wrapped positions, differences or squares could hide it, by exact arithmetic.
#[derive(Debug, Clone)]
pub struct Particles<'a> {
    /// Within the cell along periodic vectors.
    positions: Cow<'a, [[f64; 3]]>,
    /// As they were given, and how many cells away each was; both empty when none was.
    given: Cow<'a, [[f64; 3]]>,
    wraps: Vec<[i32; 3]>,
    radii: &'a [f64],
    domain: Domain,
    cutoff: f64,
    reach: f64,
    bounds: [DVec3; 2],
    /// The largest coordinate, of the positions as they were given too.
    largest: f64,
    ties: Ties,
}

/// Where rounding of fractional coordinates may not lead to the nearest image.
#[derive(Debug, Clone, Copy)]
struct Ties {
    /// The fraction of the cell along each vector from which on the next image may be as near; infinite along open ones.
    from: [f64; 3],
    /// Whether pairs can be so far apart: the cell is hardly wider than two cutoffs.
    among_pairs: bool,
}

/// How to get from one particle to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Displacement {
    /// From i to the nearest image of j.
    pub vector: [f64; 3],
    /// Which image that is: x_j + shift·(a, b, c) − x_i, rounded once, is the vector, for the positions as they were given.
    pub shift: [i32; 3],
}

impl<'a> Particles<'a> {
    /// Points.
    ///
    /// # Errors
    /// A coordinate is not finite or too large, the cutoff is not positive, or it is more than half of a periodic cell's
    /// [`Domain::widths`]: in a box exactly, in a slanted cell of widths that are rounded.
    pub fn new(positions: &'a [[f64; 3]], domain: Domain, cutoff: f64) -> Result<Particles<'a>, Error> {
        if !(cutoff > 0.0) {
            let reason = format!("{cutoff} is not a positive distance");
            return Err(Error::Argument { name: "radius", reason });
        }
        Particles::checked(positions, &[], domain, cutoff)
    }

    /// Balls, one radius for each position; the cutoff may be 0.
    ///
    /// # Errors
    /// As for points, and where a radius is negative or not finite, or there are not as many as positions.
    pub fn with_radii(
        positions: &'a [[f64; 3]],
        radii: &'a [f64],
        domain: Domain,
        cutoff: f64,
    ) -> Result<Particles<'a>, Error> {
        if radii.len() != positions.len() {
            let reason = format!("there are {} for {} positions", radii.len(), positions.len());
            return Err(Error::Argument { name: "radii", reason });
        }
        Particles::checked(positions, radii, domain, cutoff)
    }

    fn checked(
        positions: &'a [[f64; 3]],
        radii: &'a [f64],
        domain: Domain,
        cutoff: f64,
    ) -> Result<Particles<'a>, Error> {
        let (count, most) = (positions.len(), u32::MAX as usize);
        if count > most {
            return Err(Error::TooMany { what: "particles", count, most });
        }
        if !(0.0..=LARGEST_COORDINATE).contains(&cutoff) {
            let reason = format!("{cutoff:?} is not a distance from 0 to 1e60");
            return Err(Error::Argument { name: "radius", reason });
        }
        let bounds = bounds_of(positions)?;
        if let Some(i) = radii.iter().position(|r| !(0.0..=LARGEST_COORDINATE).contains(r)) {
            let reason = format!("particle {i} has the radius {}; it must be 0 or more and finite", radii[i]);
            return Err(Error::Argument { name: "radii", reason });
        }
        let two_largest = |[most, next]: [f64; 2], &r: &f64| [most.max(r), next.max(r.min(most))];
        let [most, next] = radii.iter().fold([0.0; 2], two_largest);
        let reach = (most + next) + cutoff;
        let farthest = &(&Dyadic::from(most) + &Dyadic::from(next)) + &Dyadic::from(cutoff);
        for (k, width) in domain.widths().into_iter().enumerate().filter(|(k, _)| domain.is_periodic()[*k]) {
            if (&Dyadic::from(width) - &(&farthest + &farthest)).sign() == Sign::Negative {
                let reason = format!(
                    "the cell is {width} wide along vector {k}; it must be at least twice the largest distance of a \
                     pair, {reach}"
                );
                return Err(Error::Argument { name: "periodic", reason });
            }
        }
        let mut particles = Particles {
            positions: Cow::Borrowed(positions),
            given: Cow::Borrowed(&[]),
            wraps: Vec::new(),
            radii,
            domain,
            cutoff,
            reach,
            bounds,
            largest: largest_coordinate(bounds),
            ties: Ties { from: [f64::INFINITY; 3], among_pairs: false },
        };
        if !domain.is_open() {
            particles.wrap()?;
            particles.ties = particles.find_ties();
        }
        Ok(particles)
    }

    /// The same with positions of its own, and its radii, which it does not have then: for another thread.
    pub(super) fn owned(&self) -> (Particles<'static>, Vec<f64>) {
        let own = |all: &[[f64; 3]]| Cow::Owned(all.to_vec());
        (self.parts(own(&self.positions), own(&self.given), &[]), self.radii.to_vec())
    }

    /// What [`Particles::owned`] gave, with its radii.
    pub(super) fn with_own_radii<'s>(&'s self, radii: &'s [f64]) -> Particles<'s> {
        self.parts(Cow::Borrowed(&*self.positions), Cow::Borrowed(&*self.given), radii)
    }

    /// The same frame with its numbers elsewhere.
    fn parts<'s>(
        &self,
        positions: Cow<'s, [[f64; 3]]>,
        given: Cow<'s, [[f64; 3]]>,
        radii: &'s [f64],
    ) -> Particles<'s> {
        let &Particles { domain, cutoff, reach, bounds, largest, ties, .. } = self;
        Particles {
            positions,
            given,
            wraps: self.wraps.clone(),
            radii,
            domain,
            cutoff,
            reach,
            bounds,
            largest,
            ties,
        }
    }

    fn find_ties(&self) -> Ties {
        let widths = self.domain.widths();
        let from = widths.map(|width| 0.5 - IMAGE_MARGIN - self.candidate_margin() / width);
        let periodic = self.domain.is_periodic();
        let narrowest = widths.into_iter().fold(f64::INFINITY, f64::min);
        Ties {
            from: std::array::from_fn(|k| if periodic[k] { from[k] } else { f64::INFINITY }),
            among_pairs: self.candidate_reach() > narrowest * (0.5 - IMAGE_MARGIN),
        }
    }

    /// Takes all positions into the cell.
    fn wrap(&mut self) -> Result<(), Error> {
        let domain = self.domain;
        if domain.fractional(DVec3::ZERO).iter().any(|cells| cells.abs() >= MOST_WIDTHS_AWAY) {
            let reason = "the cell begins 2^40 or more of its widths from the origin, where coordinates tell few places in it \
                          apart; give all positions relative to a point near it";
            return Err(Error::Argument { name: "periodic", reason: reason.into() });
        }
        let cells = |x: &[f64; 3]| domain.fractional(DVec3::from(*x)).map(f64::floor);
        if self.positions.iter().all(|x| cells(x) == [0.0; 3]) {
            return Ok(());
        }
        self.wraps.reserve_exact(self.positions.len());
        self.given = self.positions.clone();
        for (i, x) in self.positions.to_mut().iter_mut().enumerate() {
            let away = cells(x);
            if away.iter().any(|n| n.abs() >= MOST_CELLS_AWAY) {
                let reason = format!("particle {i} is 2^30 or more cells away");
                return Err(Error::Argument { name: "periodic", reason });
            }
            *x = domain.shifted(DVec3::from(*x), away.map(|n| -n)).into();
            self.wraps.push(away.map(|n| n as i32));
        }
        self.bounds = bounds_of(&self.positions)?;
        self.largest = self.largest.max(largest_coordinate(self.bounds));
        Ok(())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The positions, inside the cell along periodic vectors.
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.positions
    }

    /// The radii; empty for points.
    pub fn radii(&self) -> &[f64] {
        self.radii
    }

    /// The space they live in.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The cutoff; for balls what is added to the radii.
    pub fn cutoff(&self) -> f64 {
        self.cutoff
    }

    /// The largest distance that any pair can have.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Up to which distance a structure has to bring particles and images as candidates: [`Particles::reach`] and
    /// what rounding of positions and distances can hide. For two balls it is `candidate_margin` and the limit.
    pub(crate) fn candidate_reach(&self) -> f64 {
        self.reach + self.candidate_margin()
    }

    /// What rounding of positions and distances can hide.
    #[inline]
    pub(crate) fn candidate_margin(&self) -> f64 {
        // Images lie outside the box, by no more than the reach; squares of the sum do not underflow.
        (2.0 * self.reach + self.largest) * CANDIDATE_ROUNDING + SMALLEST_CUTOFF_UNSCALED
    }

    /// The corners of the smallest box around all positions; of no particles, the largest above the smallest.
    pub(crate) fn bounds(&self) -> [DVec3; 2] {
        self.bounds
    }

    /// The same particles with another cutoff.
    ///
    /// # Errors
    /// As for [`Particles::new`].
    pub(crate) fn with_cutoff(&self, cutoff: f64) -> Result<Particles<'_>, Error> {
        let mut other = Particles::checked(&self.positions, self.radii, self.domain, cutoff)?;
        // Wrapped already; what rounding left outside is not wrapped again.
        other.positions = Cow::Borrowed(&self.positions);
        other.given = Cow::Borrowed(&self.given);
        other.wraps = self.wraps.clone();
        (other.bounds, other.largest) = (self.bounds, self.largest);
        other.ties = other.find_ties();
        Ok(other)
    }

    #[inline]
    pub(crate) fn position(&self, i: u32) -> DVec3 {
        DVec3::from(self.positions[i as usize])
    }

    /// 0 for points.
    #[inline]
    pub(crate) fn radius(&self, i: u32) -> f64 {
        self.radii.get(i as usize).copied().unwrap_or(0.0)
    }

    /// The largest distance of i and j as a pair.
    #[inline]
    fn limit(&self, i: u32, j: u32) -> f64 {
        (self.radius(i) + self.radius(j)) + self.cutoff
    }

    /// Whether two particles in open space are a pair, from the difference of their positions either way and their
    /// radii: as [`Particles::is_pair`] for who has them at hand.
    #[inline]
    pub(crate) fn is_pair_apart(&self, [i, j]: [u32; 2], d: DVec3, radii: [f64; 2]) -> bool {
        let limit = (radii[0] + radii[1]) + self.cutoff;
        is_within(d, limit).unwrap_or_else(|| self.is_pair_exactly(i, j, [0.0; 3]))
    }

    /// Whether two different particles are a pair.
    #[inline]
    pub fn is_pair(&self, i: u32, j: u32) -> bool {
        let (i, j) = (i.min(j), i.max(j));
        let d = self.position(j) - self.position(i);
        if self.domain.is_open() {
            return self.is_pair_apart([i, j], d, [self.radius(i), self.radius(j)]);
        }
        self.image_of_pair(i, j, d).is_some()
    }

    /// The shift of the image of j by which i and j, the smaller one first, are a pair in a periodic cell, from the
    /// difference of their wrapped positions. Where several images are near enough it is always the same.
    #[inline]
    fn image_of_pair(&self, i: u32, j: u32, d: DVec3) -> Option<[f64; 3]> {
        let image = self.domain.nearest_image(d);
        if self.is_image_near(i, j, d, image) {
            return Some(image);
        }
        if !self.ties.among_pairs {
            return None;
        }
        self.other_images(d, image).find(|image| self.is_image_near(i, j, d, *image))
    }

    /// The images that may be as near as the one that rounding leads to. No pair is longer than half a width, so along no
    /// vector longer than half a cell: the others lie beside that one along the vectors on which it is half a cell away.
    fn other_images(&self, d: DVec3, image: [f64; 3]) -> impl Iterator<Item = [f64; 3]> {
        let away = self.domain.cells_away(d, image);
        let beside =
            [0, 1, 2].map(|k| if away[k].abs() < self.ties.from[k] { &[0.0][..] } else { &[0.0, -1.0, 1.0] });
        let [a, b, c] = beside;
        let steps =
            a.iter().flat_map(move |a| b.iter().flat_map(move |b| c.iter().map(move |c| [*a, *b, *c])));
        steps.skip(1).map(move |step| std::array::from_fn(|k| image[k] + step[k]))
    }

    /// Whether the image of j by a shift is near enough, from the difference of their wrapped positions.
    #[inline]
    fn is_image_near(&self, i: u32, j: u32, d: DVec3, image: [f64; 3]) -> bool {
        let (limit, margin) = (self.limit(i, j), self.candidate_margin());
        let distance = self.domain.shifted(d, image).length();
        // Squares of shorter lengths may underflow.
        if (distance - limit).abs() > margin && limit >= SMALLEST_CUTOFF_UNSCALED {
            return distance < limit;
        }
        self.is_pair_exactly(i, j, image)
    }

    /// The same by exact arithmetic on what was given.
    #[cold]
    fn is_pair_exactly(&self, i: u32, j: u32, image: [f64; 3]) -> bool {
        let apart = Apart {
            places: [i, j].map(|i| self.given(i)),
            steps: self.shift_of_given(i, j, image),
            vectors: [0, 1, 2].map(|k| self.domain.vector(k)),
            limit: [self.radius(i), self.radius(j), self.cutoff],
        };
        apart.is_within()
    }

    /// Whether two images of a particle may be equally near: the cell is hardly wider than two cutoffs.
    pub(super) fn is_tied(&self) -> bool {
        self.ties.among_pairs
    }

    /// A position as it was given.
    fn given(&self, i: u32) -> DVec3 {
        let given = if self.given.is_empty() { &self.positions } else { &self.given };
        DVec3::from(given[i as usize])
    }

    /// The shift of an image of j, for the positions as they were given.
    fn shift_of_given(&self, i: u32, j: u32, image: [f64; 3]) -> [i32; 3] {
        let (from, to) = (self.wrap_of(i), self.wrap_of(j));
        std::array::from_fn(|k| image[k] as i32 + from[k] - to[k])
    }

    /// How many cells away a particle was given.
    fn wrap_of(&self, i: u32) -> [i32; 3] {
        self.wraps.get(i as usize).copied().unwrap_or([0; 3])
    }

    /// The way from i to the nearest image of j.
    pub fn displacement(&self, i: u32, j: u32) -> Displacement {
        if i > j {
            let Displacement { vector, shift } = self.displacement(j, i);
            return Displacement { vector: vector.map(|x| -x), shift: shift.map(|s| -s) };
        }
        let d = self.position(j) - self.position(i);
        let mut image = self.domain.nearest_image(d);
        let vector = self.domain.shifted(d, image);
        if vector.length() > self.candidate_reach() && !self.domain.is_box() {
            // No pair: in a slanted cell another image may be nearer.
            let cell = ReducedCell::of(&self.domain);
            let (steps, nearer) = cell.nearest(vector);
            if nearer.length_squared() < vector.length_squared() {
                let more = cell.in_own_vectors(steps);
                image = std::array::from_fn(|k| image[k] + more[k]);
            }
        }
        let length = |way: &Displacement| DVec3::from(way.vector).length_squared();
        // Where rounding of wrapped positions hid it, another is nearer.
        let others = self.other_images(d, image).map(|image| self.displacement_by(i, j, image));
        others.fold(self.displacement_by(i, j, image), |nearest, other| {
            if length(&other) < length(&nearest) { other } else { nearest }
        })
    }

    /// The way to the image of j by a shift, from the positions as they were given, with twice the
    /// digits before it is rounded.
    fn displacement_by(&self, i: u32, j: u32, image: [f64; 3]) -> Displacement {
        let (p, q, shift) = (self.given(i), self.given(j), self.shift_of_given(i, j, image));
        let double = |x: f64| DoubleDouble::difference(x, 0.0);
        let coordinate = |axis: usize| {
            let along = |k: usize| double(shift[k].into()).times(double(self.domain.vector(k)[axis]));
            let apart = DoubleDouble::difference(q[axis], p[axis]);
            (0..3).filter(|&k| shift[k] != 0).fold(apart, |sum, k| sum.plus(along(k))).value()
        };
        Displacement { vector: std::array::from_fn(coordinate), shift }
    }

    /// The pair of two items of the list that has all particles first and then their images, if they are one: not
    /// both images, and nearest images of each other.
    #[inline]
    pub(crate) fn pair_of_images(&self, images: &Images, a: u32, b: u32) -> Option<[u32; 2]> {
        let count = self.len() as u32;
        if a < count && b < count && self.domain.is_open() {
            return self.is_pair(a, b).then_some([a.min(b), a.max(b)]);
        }
        if a >= count && b >= count {
            return None;
        }
        let ([i, j], [from, to]) = ([a, b].map(|a| images.source(a)), [a, b].map(|a| images.shift(a)));
        let away: [f64; 3] = std::array::from_fn(|k| f64::from(to[k] - from[k]));
        let (i, j, away) = if i < j { (i, j, away) } else { (j, i, away.map(|s| -s)) };
        let d = self.position(j) - self.position(i);
        let is_pair = || match self.ties.among_pairs {
            true => self.image_of_pair(i, j, d) == Some(away),
            false => self.domain.nearest_image(d) == away && self.is_image_near(i, j, d, away),
        };
        (i != j && is_pair()).then_some([i, j])
    }
}

/// How far, relative, the squares of a distance and its limit may be off: twelve roundings.
pub(super) const SQUARE_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// What tiny lengths are multiplied by before they are squared: a power of two, so that nothing is rounded.
pub(super) const SCALE_UP: f64 = f64::from_bits((1023 + 600) << 52);

/// Whether a vector that was rounded once is at most as long as a limit that was rounded twice, by squares that do not
/// underflow; none where rounding may hide it.
#[inline]
pub(crate) fn is_within(d: DVec3, limit: f64) -> Option<bool> {
    let squares = |d: DVec3| (d.x * d.x + d.y * d.y) + d.z * d.z;
    let [square, limit] = if limit >= SMALLEST_CUTOFF_UNSCALED {
        [squares(d), limit * limit]
    } else {
        [squares(d * SCALE_UP), (limit * SCALE_UP) * (limit * SCALE_UP)]
    };
    let doubt = limit * SQUARE_ROUNDING;
    ((square - limit).abs() > doubt || square == 0.0).then_some(square <= limit)
}

/// Whether two points are at most so far apart, exactly.
pub(super) fn are_within(p: DVec3, q: DVec3, limit: f64) -> bool {
    let apart = Apart { places: [p, q], steps: [0; 3], vectors: [DVec3::ZERO; 3], limit: [limit, 0.0, 0.0] };
    is_within(q - p, limit).unwrap_or_else(|| apart.is_within())
}

/// The largest coordinate in size of a box; 0 where there is none.
fn largest_coordinate([low, high]: [DVec3; 2]) -> f64 {
    if low.x > high.x { 0.0 } else { low.abs().max(high.abs()).max_element() }
}

/// Positions that one thread looks at for their bounds.
const BOUNDS_CHUNK: usize = 1 << 15;

/// The corners of the box around positions; an error where one is not finite or too large.
fn bounds_of(positions: &[[f64; 3]]) -> Result<[DVec3; 2], Error> {
    let level = SimdLevel::best();
    let combine = |a: Bounds, b: Bounds| Bounds {
        low: a.low.min(b.low),
        high: a.high.max(b.high),
        finite: a.finite && b.finite,
    };
    let Bounds { low, high, finite } =
        parallel::reduce_chunks(positions, BOUNDS_CHUNK, |part| bounds_of_chunk(level, part), combine);
    let largest = low.abs().max(high.abs()).max_element();
    if finite && (largest <= LARGEST_COORDINATE || positions.is_empty()) {
        return Ok([low, high]);
    }
    let all = positions.iter().enumerate().flat_map(|(i, x)| x.map(|x| (i, x)));
    let bad = |(_, x): &(usize, f64)| !(x.abs() <= LARGEST_COORDINATE);
    match all.into_iter().find(bad) {
        Some((vertex, value)) => Err(Error::Coordinate { vertex, value }),
        None => Ok([low, high]),
    }
}

/// The box around some positions, and whether all their coordinates are finite.
struct Bounds {
    low: DVec3,
    high: DVec3,
    finite: bool,
}

dispatch! {
    fn bounds_of_chunk(positions: &[[f64; 3]]) -> Bounds = each bounds_of_chunk_plain
}

#[inline(always)]
fn bounds_of_chunk_plain(positions: &[[f64; 3]]) -> Bounds {
    /// Positions side by side, so that their coordinates fill vectors.
    const SIDE_BY_SIDE: usize = 4;
    let mut low = [f64::INFINITY; 3 * SIDE_BY_SIDE];
    let mut high = [f64::NEG_INFINITY; 3 * SIDE_BY_SIDE];
    // Sums of zeros, unless something is not finite.
    let mut zero = [0.0; 3 * SIDE_BY_SIDE];
    let (whole, rest) = positions.as_flattened().as_chunks::<{ 3 * SIDE_BY_SIDE }>();
    for x in whole {
        for k in 0..3 * SIDE_BY_SIDE {
            low[k] = if x[k] < low[k] { x[k] } else { low[k] };
            high[k] = if x[k] > high[k] { x[k] } else { high[k] };
            zero[k] += x[k] * 0.0;
        }
    }
    for (k, &x) in rest.iter().enumerate() {
        low[k] = low[k].min(x);
        high[k] = high[k].max(x);
        zero[k] += x * 0.0;
    }
    let corner = |all: &[f64], by: fn(DVec3, DVec3) -> DVec3| {
        all.chunks_exact(3).map(DVec3::from_slice).reduce(by).unwrap_or_default()
    };
    Bounds {
        low: corner(&low, DVec3::min),
        high: corner(&high, DVec3::max),
        finite: zero.iter().all(|zero| *zero == 0.0),
    }
}
