//! `merge`: two drops meet, merge into one, and split again.
//!
//! The vertices of their surface are particles that follow a given flow; where vertices that are no neighbours collide
//! the surface changes its topology (Duan and Qin 2004, `response::change_topology`). First the drops come nearer,
//! then the bridge between them is drawn in until it splits, and the drops part.

use std::sync::Arc;

use glam::DVec3;
use impinge::broad::neighbours::{NeighbourSearch, Technique};
use impinge::response::{SurfaceEvent, change_topology};
use impinge::scene::{Body, BodyId, Frame, Scene};
use impinge::{Budget, Error, Mesh, Pose, Shape, procedural};

use super::Scenario;
use crate::drawing::{Drawing, Figure};

/// Edges of the drops are about this long, and vertices collide at this distance (a length; the drops' radius is 1).
const DISTANCE: f64 = 0.15;

/// Where the centres of the drops are at first.
const START: f64 = 1.3;

/// Way of a drop in one frame (a length).
const SPEED: f64 = 0.01;

/// Share by which the neck becomes narrower in one frame (no unit).
const PINCH: f64 = 0.02;

/// Half the width of the region that is drawn in (a length).
const WAIST: f64 = 0.25;

/// Largest relative loss or gain of volume: what the bridge adds, and what is lost around it while it is drawn in.
const DRIFT: f64 = 0.1;

/// Two drops.
pub struct Merge {
    scene: Scene,
    body: BodyId,
    mesh: Mesh,
    search: Box<dyn NeighbourSearch>,
    volume: f64,
    frames: u64,
    merged: Option<u64>,
    split: Option<u64>,
    /// What is shown beside the present: the start, and the surface after each event.
    moments: Vec<Arc<Mesh>>,
}

impl Merge {
    /// The drops apart.
    ///
    /// # Errors
    /// None that could happen: the numbers are fixed.
    pub fn new() -> Result<Merge, Error> {
        let drop = procedural::ico_sphere(1.0, 3)?;
        let placed = |x: f64| {
            let vertices = drop.vertices().iter().map(|p| *p + DVec3::X * x).collect();
            Mesh::from_points(vertices, drop.triangles().to_vec())
        };
        let mesh = procedural::join([&placed(-START)?, &placed(START)?])?;
        let mut scene = Scene::default();
        let body = scene.add(Body::moving(Shape::from(mesh.clone()), Pose::IDENTITY));
        let volume = volume(&mesh)?;
        let (search, moments) = (Technique::Grid.start(), vec![Arc::new(mesh.clone())]);
        Ok(Merge { scene, body, mesh, search, volume, frames: 0, merged: None, split: None, moments })
    }

    /// The surface.
    pub fn surface(&self) -> &Mesh {
        &self.mesh
    }

    /// How far a vertex goes in this frame.
    fn flow(&self, p: DVec3) -> DVec3 {
        let apart = DVec3::X * SPEED * p.x.signum();
        match (self.merged, self.split) {
            (None, _) => -apart,
            (Some(_), Some(_)) => apart,
            (Some(_), None) => DVec3::new(0.0, p.y, p.z) * (-PINCH * (-(p.x / WAIST).powi(2)).exp()),
        }
    }

    /// The genus of the surface, all of so many components together.
    fn genus(&self, components: usize) -> i64 {
        // In a closed surface of triangles three edges belong to two triangles.
        let euler = self.mesh.vertices().len() as i64 - self.mesh.triangles().len() as i64 / 2;
        components as i64 - euler / 2
    }
}

fn volume(mesh: &Mesh) -> Result<f64, Error> {
    Ok(impinge::mass(&Shape::from(mesh.clone()))?.volume)
}

impl Scenario for Merge {
    fn advance(&mut self, budget: &mut Budget) -> Result<Frame<'_>, Error> {
        self.frames += 1;
        let vertices = self.mesh.vertices().iter().map(|&p| p + self.flow(p)).collect();
        let moved = Mesh::from_points(vertices, self.mesh.triangles().to_vec())?;
        let change = change_topology(&moved, DISTANCE, &mut *self.search)?;
        self.mesh = change.mesh;
        for event in &change.events {
            match event {
                SurfaceEvent::Merged(_) => self.merged = self.merged.or(Some(self.frames)),
                SurfaceEvent::Split(_) => self.split = self.split.or(Some(self.frames)),
                _ => continue,
            }
            self.moments.push(Arc::new(self.mesh.clone()));
        }
        self.scene.set_shape(self.body, Shape::from(self.mesh.clone()));
        Ok(self.scene.step(budget))
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn measures(&self) -> Vec<(&'static str, f64)> {
        let components = impinge::inspect(&Shape::from(self.mesh.clone())).map_or(0, |seen| seen.components);
        let drift = volume(&self.mesh).map_or(f64::NAN, |now| now / self.volume - 1.0);
        let frame = |at: Option<u64>| at.map_or(0.0, |at| at as f64);
        vec![
            ("components", components as f64),
            ("genus", self.genus(components) as f64),
            ("merged_in_frame", frame(self.merged)),
            ("split_in_frame", frame(self.split)),
            ("volume_drift", drift),
        ]
    }

    fn check(&self) -> Result<(), String> {
        let seen = impinge::inspect(&Shape::from(self.mesh.clone())).map_err(|e| e.to_string())?;
        if !seen.watertight || seen.degenerate_triangles + seen.nonmanifold_edges > 0 {
            return Err(format!("the surface is not closed and manifold: {:?}", seen.problems));
        }
        let want = (if self.merged.is_some() && self.split.is_none() { 1 } else { 2 }, 0);
        let found = (seen.components, self.genus(seen.components));
        if found != want {
            return Err(format!("components and genus are {found:?}, not {want:?}"));
        }
        let drift = volume(&self.mesh).map_err(|e| e.to_string())? / self.volume - 1.0;
        if drift.abs() > DRIFT { Err(format!("the volume changed by a part of {drift}")) } else { Ok(()) }
    }

    fn promise(&self) -> &'static str {
        "in every frame the surface is closed and manifold, of the genus and the volume that it should have"
    }

    fn drawing(&self) -> Drawing {
        let mut drawing = Drawing { view: Some(DVec3::new(0.0, -1.0, 0.35)), ..Drawing::default() };
        let now = Arc::new(self.mesh.clone());
        let shown = self.moments.iter().chain([&now]);
        for (row, mesh) in shown.enumerate() {
            let pose = Pose::from_translation([0.0, 0.0, -2.4 * row as f64]).unwrap_or(Pose::IDENTITY);
            let colour = [[0.35, 0.55, 0.85], [0.85, 0.55, 0.3]][row % 2];
            drawing.figures.push(Figure { mesh: mesh.clone(), pose, colour });
        }
        drawing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_merge_and_split_and_stay_sound() {
        let mut drops = Merge::new().unwrap();
        for _ in 0..12 {
            for _ in 0..10 {
                drops.advance(&mut Budget::UNLIMITED.clone()).unwrap();
            }
            drops.check().unwrap();
        }
        assert!(
            drops.merged.is_some() && drops.split > drops.merged,
            "{:?}, {:?}",
            drops.merged,
            drops.split
        );
    }
}
