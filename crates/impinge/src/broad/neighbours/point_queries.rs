//! Questions about a point, answered by the structures of the techniques: one descent for all trees, and balls that grow
//! for all that only know what is within a distance.

use glam::DVec3;

use super::nearest::Around;
use super::{Nearest, Particles};
use crate::num::tolerance::IMAGE_MARGIN;

/// A tree over particles and their images, as far as a question about a point needs it.
pub(super) trait PointTree {
    /// A node with something below it.
    type Node: Copy;

    /// The node of all; none without particles.
    fn root(&self) -> Option<Self::Node>;

    /// No centre of a particle below a node is nearer to the point.
    fn distance(&self, node: Self::Node, point: DVec3) -> f64;

    /// Calls `each` with the children of a node; none in a leaf.
    fn children(&self, node: Self::Node, each: impl FnMut(Self::Node));

    /// The particles and images of a leaf.
    fn numbers(&self, leaf: Self::Node) -> impl Iterator<Item = u32>;
}

/// The `k` particles nearest to a point, by a tree.
pub(super) fn nearest(
    tree: &impl PointTree,
    particles: &Particles<'_>,
    point: [f64; 3],
    k: usize,
    found: &mut Vec<Nearest>,
) {
    found.clear();
    let Some(view) = particles.seen_from(point).filter(|_| k > 0) else { return };
    let Some(images) = view.images() else {
        view.within(f64::INFINITY, found);
        return found.truncate(k);
    };
    let worst = |best: &[Nearest]| match best.get(k - 1) {
        Some(last) => margin(particles, last.distance),
        None => f64::INFINITY,
    };
    for around in images {
        let search = Descent { tree, around, count: particles.len() as u32, radius: &worst };
        search.visit(&mut |one, best| one.insert(k, best), found);
    }
}

/// The particles at most `radius` from a point, by a tree.
pub(super) fn within(
    tree: &impl PointTree,
    particles: &Particles<'_>,
    point: [f64; 3],
    radius: f64,
    found: &mut Vec<Nearest>,
) {
    let mut take = |one: Nearest, found: &mut Vec<Nearest>| {
        if one.distance <= radius {
            found.push(one);
        }
    };
    let limit = |_: &[Nearest]| margin(particles, radius);
    around_each(particles, point, radius, found, |around, found| {
        let search = Descent { tree, around, count: particles.len() as u32, radius: &limit };
        search.visit(&mut take, found);
    });
}

/// The particles at most `radius` from a point, where `candidates` calls its last argument with the numbers of all particles
/// and images, perhaps of others too, that may be that near to a place.
pub(super) fn within_candidates(
    particles: &Particles<'_>,
    point: [f64; 3],
    radius: f64,
    found: &mut Vec<Nearest>,
    candidates: impl Fn(DVec3, f64, &mut dyn FnMut(u32)),
) {
    around_each(particles, point, radius, found, |around, found| {
        candidates(around.centre(), margin(particles, radius), &mut |number| {
            // Images stand for particles that another shift brings.
            let one = if (number as usize) < particles.len() { around.nearest(number) } else { None };
            found.extend(one.filter(|one| one.distance <= radius));
        });
    });
}

/// The `k` nearest particles by balls that grow, from a first radius, until they hold enough or all of space.
pub(super) fn nearest_by_growing(
    particles: &Particles<'_>,
    first: f64,
    k: usize,
    found: &mut Vec<Nearest>,
    within: impl Fn(f64, &mut Vec<Nearest>),
) {
    let mut radius = first;
    loop {
        within(radius, found);
        if found.len() >= k.min(particles.len()) || radius == f64::INFINITY {
            return found.truncate(k);
        }
        radius *= 2.0;
    }
}

/// Replaces `found` by what `search` adds for each image of a point, the nearest first; by trying every particle where there
/// are too many images.
fn around_each(
    particles: &Particles<'_>,
    point: [f64; 3],
    radius: f64,
    found: &mut Vec<Nearest>,
    mut search: impl FnMut(Around<'_>, &mut Vec<Nearest>),
) {
    found.clear();
    let Some(view) = particles.seen_from(point) else { return };
    let Some(images) = view.images() else { return view.within(radius, found) };
    images.for_each(|around| search(around, found));
    Nearest::sort(found);
}

/// What looks for the particles around one image of a point.
struct Descent<'a, T> {
    tree: &'a T,
    around: Around<'a>,
    /// Larger numbers are those of images.
    count: u32,
    /// How far away particles may be, from what was found so far.
    radius: &'a dyn Fn(&[Nearest]) -> f64,
}

impl<T: PointTree> Descent<'_, T> {
    /// Calls `take` with the particles that may be near enough, from the nearer nodes first.
    fn visit(&self, take: &mut impl FnMut(Nearest, &mut Vec<Nearest>), found: &mut Vec<Nearest>) {
        let centre = self.around.centre();
        let far = |node: T::Node| self.tree.distance(node, centre);
        let mut stack: Vec<(f64, T::Node)> =
            self.tree.root().map(|root| (far(root), root)).into_iter().collect();
        while let Some((distance, node)) = stack.pop() {
            // Nothing is near where the radius is not a number.
            if !(distance <= (self.radius)(&found[..])) {
                continue;
            }
            let below = stack.len();
            self.tree.children(node, |child| stack.push((far(child), child)));
            if stack.len() == below {
                let own = self.tree.numbers(node).filter(|&number| number < self.count);
                own.filter_map(|number| self.around.nearest(number)).for_each(|one| take(one, found));
            }
            // The nearest on top; of equal ones the first.
            stack[below..].reverse();
            stack[below..].sort_by(|a, b| b.0.total_cmp(&a.0));
        }
    }
}

/// A distance with what rounding of distances and shifted points can take away from it.
fn margin(particles: &Particles<'_>, distance: f64) -> f64 {
    distance * (1.0 + IMAGE_MARGIN) + particles.candidate_margin()
}
