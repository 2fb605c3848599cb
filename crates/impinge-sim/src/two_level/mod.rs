//! A small multiresolution soft body of two levels, fine only where it is told to be (Guy and Debunne 2004, section 5.2).
//!
//! A core that can translate carries control vertices on springs, and these carry the displayed surface: a fine vertex
//! stands at
//!
//! core + rest + Σ w·u + e,
//!
//! where u are the displacements of the three control vertices of its coarse triangle, w its barycentric weights there,
//! and e its own displacement. Where the model is coarse, e is kept as it is and the vertex follows its control
//! vertices; where it is fine, e is a mass on a spring of its own, an elastic foundation (Winkler 1867; Johnson, *Contact
//! Mechanics*, 1985, section 4.3) whose force acts on the control vertices. Both cases show the same formula, so a switch
//! moves nothing. The models that the paper names refine a mass–spring network (Hutchinson 1996) or finite elements
//! (Debunne 2001); this one is the smallest in which every part of the link can be seen.
//!
//! A step is linearly implicit Euler with a diagonal bound of the stiffness: stable for any step and exact at rest, at
//! the price of damping.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use impinge::response::{Displacement, FineRegion, Receiver, Refinable};
use impinge::{Error, Mesh};

mod binding;
#[cfg(test)]
mod tests;

use binding::{Binding, Patch, bind, degrees, edges, vertex_areas};

/// How a soft body resists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elasticity {
    /// Of the fine surface: force by area and displacement.
    pub foundation: f64,
    /// Of the spring from each control vertex to the core; infinite for control vertices that do not give way.
    pub anchor: f64,
    /// Of the spring along each control edge.
    pub edge: f64,
    /// Mass by area of the fine surface where it is simulated, of each control vertex, and of the core.
    pub masses: [f64; 3],
    /// Share of its velocity that everything loses in a unit of time.
    pub damping: f64,
}

/// When a fine vertex goes back to the coarse level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hysteresis {
    /// Steps in which no region has wanted it.
    pub patience: u32,
    /// Its own displacement is at most so long: it has sprung back.
    pub slack: f64,
}

/// What was simulated, summed over all steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Steps.
    pub steps: u64,
    /// Control vertices.
    pub controls: u64,
    /// Fine vertices on their own.
    pub fine: u64,
    /// Fine vertices that began to be simulated.
    pub refined: u64,
    /// Fine vertices that went back to the coarse level.
    pub coarsened: u64,
}

/// A displacement and its velocity.
#[derive(Debug, Clone, Copy, Default)]
struct Motion {
    way: DVec3,
    velocity: DVec3,
}

/// A fine vertex that is simulated: the velocity of its own displacement, and how long nobody wanted it.
#[derive(Debug, Clone, Copy, Default)]
struct Free {
    velocity: DVec3,
    idle: u32,
}

/// The soft body.
#[derive(Debug, Clone)]
pub struct TwoLevel {
    elasticity: Elasticity,
    hysteresis: Hysteresis,
    /// The fine surface at rest, and the share of area of each vertex.
    rest: Mesh,
    areas: Vec<f64>,
    /// The coarse surface at rest.
    control: Mesh,
    edges: Vec<[u32; 2]>,
    degrees: Vec<u32>,
    /// The control vertices of each fine vertex and their weights.
    bindings: Vec<Binding>,
    patches: Vec<Patch>,
    core: Motion,
    controls: Vec<Motion>,
    /// The fine vertices' own displacements.
    details: Vec<DVec3>,
    free: BTreeMap<u32, Free>,
    /// As displayed, how far each came in the last step, and the compliance that responses see.
    shown: Vec<DVec3>,
    moved: Vec<DVec3>,
    compliance: Vec<f64>,
    /// The largest displacement of a fine vertex relative to the core.
    farthest: f64,
    step: f64,
    work: Work,
}

impl TwoLevel {
    /// A surface at rest, carried by a coarse one of about the same shape. `step` is the length of the time steps.
    ///
    /// # Errors
    /// Stiffnesses and masses that are not positive (the edges' stiffness and the damping may be 0), a step that is not.
    pub fn new(
        rest: Mesh,
        control: Mesh,
        elasticity: Elasticity,
        hysteresis: Hysteresis,
        step: f64,
    ) -> Result<TwoLevel, Error> {
        let Elasticity { foundation, anchor, edge, masses, damping } = elasticity;
        let finite = [foundation, step, masses[0], masses[1], masses[2]];
        let sound = finite.iter().all(|x| *x > 0.0 && x.is_finite()) && anchor > 0.0;
        if !sound || ![edge, damping].iter().all(|x| (0.0..f64::INFINITY).contains(x)) {
            let reason = format!("{elasticity:?} with steps of {step} does not hold anything together");
            return Err(Error::Argument { name: "elasticity", reason });
        }
        let (bindings, patches) = bind(&rest, &control)?;
        let (count, edges) = (rest.vertices().len(), edges(&control));
        let mut body = TwoLevel {
            elasticity,
            hysteresis,
            areas: vertex_areas(&rest),
            degrees: degrees(&edges, control.vertices().len()),
            edges,
            bindings,
            patches,
            core: Motion::default(),
            controls: vec![Motion::default(); control.vertices().len()],
            details: vec![DVec3::ZERO; count],
            free: BTreeMap::new(),
            shown: rest.vertices().to_vec(),
            moved: vec![DVec3::ZERO; count],
            compliance: vec![0.0; count],
            farthest: 0.0,
            step,
            work: Work::default(),
            rest,
            control,
        };
        (0..count).for_each(|v| body.compliance[v] = body.compliance_of(v as u32));
        Ok(body)
    }

    /// The fine surface as displayed.
    pub fn vertices(&self) -> &[DVec3] {
        &self.shown
    }

    /// The fine surface at rest, around a core at the origin.
    pub fn rest(&self) -> &Mesh {
        &self.rest
    }

    /// Where the core is.
    pub fn core(&self) -> DVec3 {
        self.core.way
    }

    /// How fast the core moves.
    pub fn core_velocity(&self) -> DVec3 {
        self.core.velocity
    }

    /// Puts the core elsewhere, at rest.
    pub fn put(&mut self, core: DVec3) {
        self.core = Motion { way: core, velocity: DVec3::ZERO };
        self.show();
        self.moved.fill(DVec3::ZERO);
    }

    /// Whether a fine vertex is simulated on its own.
    pub fn is_fine(&self, vertex: u32) -> bool {
        self.free.contains_key(&vertex)
    }

    /// How many fine vertices are simulated on their own.
    pub fn fine_vertices(&self) -> usize {
        self.free.len()
    }

    /// What was simulated so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// The coarse edges as displayed.
    pub fn control_edges(&self) -> impl Iterator<Item = [DVec3; 2]> + '_ {
        let place =
            |v: u32| self.core.way + self.control.vertices()[v as usize] + self.controls[v as usize].way;
        self.edges.iter().map(move |ends| ends.map(place))
    }

    /// The force with which the fine vertices push the body, all together.
    pub fn contact_force(&self) -> DVec3 {
        self.free.keys().map(|&v| self.details[v as usize] * self.stiffness(v)).sum()
    }

    /// The body as responses see it.
    pub fn receiver(&self) -> Receiver<'_> {
        Receiver::Deformable {
            vertices: &self.shown,
            triangles: self.rest.triangles(),
            compliance: &self.compliance,
            moved: &self.moved,
        }
    }

    /// One step under a force on the core.
    pub fn advance(&mut self, load: DVec3) {
        let (mut forces, stiffness) = self.foundation();
        let on_core = if self.elasticity.anchor.is_finite() {
            self.advance_controls(&mut forces, &stiffness)
        } else {
            (forces.iter().sum(), stiffness.iter().sum())
        };
        let damping = self.elasticity.damping;
        self.core.advance(load + on_core.0, on_core.1, [self.elasticity.masses[2], damping, self.step]);
        self.advance_fine();
        self.moved.copy_from_slice(&self.shown);
        self.show();
        self.moved.iter_mut().zip(&self.shown).for_each(|(from, to)| *from = *to - *from);
        self.work.steps += 1;
        self.work.controls += self.controls.len() as u64;
        self.work.fine += self.free.len() as u64;
    }

    /// Moves what a response has displaced; velocities follow, as the bodies did not overlap before the step.
    pub fn displace(&mut self, displacement: &Displacement) {
        let Displacement::Vertices(list) = displacement else { return };
        for &(v, way) in list {
            if let Some(free) = self.free.get_mut(&v) {
                self.details[v as usize] += way;
                free.velocity += way / self.step;
            } else {
                // The smallest displacement of the control vertices that takes the vertex there.
                let (corners, weights) = self.bindings[v as usize];
                let share = weights.iter().map(|w| w * w).sum::<f64>();
                for (c, w) in corners.into_iter().zip(weights) {
                    let motion = &mut self.controls[c as usize];
                    motion.way += way * (w / share);
                    motion.velocity += way * (w / share / self.step);
                }
            }
        }
        self.show();
    }

    /// Forces of the fine vertices on their control vertices, and how they grow with a displacement.
    fn foundation(&self) -> (Vec<DVec3>, Vec<f64>) {
        let mut forces = vec![DVec3::ZERO; self.controls.len()];
        let mut stiffness = vec![0.0; self.controls.len()];
        for &v in self.free.keys() {
            let (corners, weights) = self.bindings[v as usize];
            let k = self.stiffness(v);
            for (c, w) in corners.into_iter().zip(weights) {
                forces[c as usize] += self.details[v as usize] * (w * k);
                stiffness[c as usize] += w * k;
            }
        }
        (forces, stiffness)
    }

    /// Returns the force on the core and how it grows.
    fn advance_controls(&mut self, forces: &mut [DVec3], stiffness: &[f64]) -> (DVec3, f64) {
        let Elasticity { anchor, edge, masses, damping, .. } = self.elasticity;
        for [a, b] in self.edges.iter().map(|ends| ends.map(|v| v as usize)) {
            let pull = edge * (self.controls[b].way - self.controls[a].way);
            forces[a] += pull;
            forces[b] -= pull;
        }
        let mut on_core = DVec3::ZERO;
        for (c, motion) in self.controls.iter_mut().enumerate() {
            let pull = anchor * motion.way;
            // Rows of the stiffness of the edges sum to twice the diagonal at most.
            let bound = anchor + 2.0 * edge * f64::from(self.degrees[c]) + stiffness[c];
            motion.advance(forces[c] - pull, bound, [masses[1], damping, self.step]);
            on_core += pull;
        }
        (on_core, anchor * self.controls.len() as f64)
    }

    fn advance_fine(&mut self) {
        let Elasticity { foundation, masses, damping, .. } = self.elasticity;
        for (&v, free) in &mut self.free {
            let area = self.areas[v as usize];
            let way = &mut self.details[v as usize];
            let mut motion = Motion { way: *way, velocity: free.velocity };
            let k = foundation * area;
            motion.advance(-k * *way, k, [masses[0] * area, damping, self.step]);
            (*way, free.velocity) = (motion.way, motion.velocity);
        }
    }

    /// Of the spring of a fine vertex.
    fn stiffness(&self, v: u32) -> f64 {
        self.elasticity.foundation * self.areas[v as usize]
    }

    /// The surface as displayed: the same formula on both levels.
    fn show(&mut self) {
        self.farthest = 0.0;
        for (v, shown) in self.shown.iter_mut().enumerate() {
            let (corners, weights) = self.bindings[v];
            let carried = corners.into_iter().zip(weights).map(|(c, w)| w * self.controls[c as usize].way);
            let way = carried.sum::<DVec3>() + self.details[v];
            self.farthest = self.farthest.max(way.length());
            *shown = self.core.way + self.rest.vertices()[v] + way;
        }
    }

    /// One by the inertia of a vertex in its step, so that forces at rest are in balance.
    fn compliance_of(&self, v: u32) -> f64 {
        let Elasticity { anchor, masses, damping, .. } = self.elasticity;
        if self.is_fine(v) {
            let mass = masses[0] * self.areas[v as usize];
            return 1.0 / inertia(self.stiffness(v), [mass, damping, self.step]);
        }
        let (_, weights) = self.bindings[v as usize];
        weights.iter().map(|w| w * w).sum::<f64>() / inertia(anchor, [masses[1], damping, self.step])
    }
}

/// Of a damped mass on a spring in a step of implicit Euler.
fn inertia(stiffness: f64, [mass, damping, step]: [f64; 3]) -> f64 {
    mass * (1.0 + step * damping) + step * step * stiffness
}

impl Motion {
    /// Linearly implicit Euler under a force that falls by at most `stiffness` times the way.
    fn advance(&mut self, force: DVec3, stiffness: f64, [mass, damping, step]: [f64; 3]) {
        let inertia = inertia(stiffness, [mass, damping, step]);
        self.velocity = (mass * self.velocity + step * force) / inertia;
        self.way += step * self.velocity;
    }
}

impl Refinable for TwoLevel {
    fn refine(&mut self, regions: &[FineRegion]) -> [usize; 2] {
        let wanted = self.wanted(regions);
        self.free.values_mut().for_each(|free| free.idle += 1);
        let before = self.free.len();
        for &v in &wanted {
            self.free.entry(v).or_default().idle = 0;
        }
        let refined = self.free.len() - before;
        let Hysteresis { patience, slack } = self.hysteresis;
        let returns = |(v, free): (&u32, &Free)| {
            (free.idle > patience && self.details[*v as usize].length() <= slack).then_some(*v)
        };
        let returned: Vec<u32> = self.free.iter().filter_map(returns).collect();
        for v in &returned {
            self.free.remove(v);
        }
        for &v in wanted.iter().chain(&returned) {
            self.compliance[v as usize] = self.compliance_of(v);
        }
        self.work.refined += refined as u64;
        self.work.coarsened += returned.len() as u64;
        [refined, returned.len()]
    }
}

impl TwoLevel {
    /// The fine vertices in regions for which the coarse level is too coarse.
    fn wanted(&self, regions: &[FineRegion]) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for patch in &self.patches {
            let centre = self.core.way + patch.centre;
            let near = |region: &&FineRegion| {
                let reach = region.radius + patch.radius + self.farthest;
                region.resolution < patch.spacing && centre.distance(region.centre) <= reach
            };
            let near: Vec<&FineRegion> = regions.iter().filter(near).collect();
            let inside = |v: &&u32| {
                near.iter()
                    .any(|r| self.shown[**v as usize].distance_squared(r.centre) <= r.radius * r.radius)
            };
            found.extend(patch.vertices.iter().filter(inside));
        }
        found
    }
}
