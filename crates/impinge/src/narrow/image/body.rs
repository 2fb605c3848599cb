//! A body ready to be drawn: its triangles and curved parts in the frame of the images.

use std::borrow::Cow;
use std::ops::ControlFlow;

use glam::{DMat3, DVec3};

use super::curved::line_interval;
use super::lattice::{Axis, Lattice, Place};
use super::layer::{Face, Layer};
use super::raster::{self, Drawn};
use crate::Pose;
use crate::bound::Aabb;
use crate::model::{Geometry, Model};
use crate::narrow::convex::relation::PlacedConvex;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::num::parallel;
use crate::shape::{Convex, Mesh, Primitive};
use crate::simd::SimdLevel;

/// Vertices that one thread places at a time.
const CHUNK: usize = 4096;

/// The tree finds the triangles to draw where the common box covers less than this share of the body's own, seen along
/// the axis that sees most of it: beyond, looking at all of them is faster.
const SEARCHED: f64 = 0.4;

/// A body in the frame of the images.
#[derive(Debug)]
pub struct Body<'m> {
    parts: Vec<Part<'m>>,
    pub bounds: Aabb,
}

/// A part with its own surface, closed or open.
#[derive(Debug)]
struct Part<'m> {
    shape: PartShape<'m>,
    /// Where its faces begin among those of the body.
    first: u32,
}

#[derive(Debug)]
enum PartShape<'m> {
    Mesh(Triangles<'m>),
    Curved(Curved),
}

/// A mesh with its vertices in the frame.
#[derive(Debug)]
struct Triangles<'m> {
    mesh: Cow<'m, Mesh>,
    /// The model and its pose in the frame, where there is a tree.
    model: Option<(&'m Model, Pose)>,
    points: Vec<DVec3>,
}

/// A curved solid with its pose.
#[derive(Debug)]
struct Curved {
    primitive: Primitive,
    /// From the frame to the solid's own.
    turn: DMat3,
    origin: DVec3,
    bounds: Aabb,
}

impl<'m> Body<'m> {
    /// A shape at a pose of the frame. Parts without volume are left out.
    pub fn new(shape: &'m Geometry, pose: &Pose) -> Body<'m> {
        let mut body = Body { parts: Vec::new(), bounds: Aabb::EMPTY };
        match shape {
            Geometry::Mesh(model) => {
                let points = placed(model.mesh(), pose);
                body.add_mesh(Cow::Borrowed(model.mesh()), Some((&**model, *pose)), points);
            }
            Geometry::Convex(convex) => body.add_convex(convex, pose),
            Geometry::Compound(compound) => {
                for part in compound.parts() {
                    if let Geometry::Convex(convex) = &part.shape {
                        body.add_convex(convex, &pose.compose(&part.pose));
                    }
                }
            }
            Geometry::Particles(cloud) => {
                for (i, &centre) in cloud.points().iter().enumerate().filter(|(i, _)| cloud.radius(*i) > 0.0)
                {
                    let ball = Convex::Primitive(Primitive::Sphere { radius: cloud.radius(i) });
                    body.add_convex(&ball, &pose.compose(&Pose::shift(centre)));
                }
            }
        }
        body
    }

    fn add_convex(&mut self, convex: &Convex, pose: &Pose) {
        match convex {
            Convex::Polytope(_) | Convex::Primitive(Primitive::Cuboid { .. }) => {
                if let Some(mesh) = PlacedConvex::new(convex, pose).mesh() {
                    let points = mesh.vertices().to_vec();
                    self.add_mesh(Cow::Owned(mesh), None, points);
                }
            }
            Convex::Primitive(Primitive::Triangle { .. } | Primitive::Segment { .. }) => {}
            Convex::Primitive(primitive) => {
                let bounds = Geometry::Convex(convex.clone()).bounds(pose);
                let turn = pose.rotation().transpose();
                let curved =
                    Curved { primitive: *primitive, turn, origin: turn * -pose.translation(), bounds };
                self.bounds = self.bounds.merge(&bounds);
                self.parts.push(Part { first: self.faces(), shape: PartShape::Curved(curved) });
            }
        }
    }

    fn add_mesh(&mut self, mesh: Cow<'m, Mesh>, model: Option<(&'m Model, Pose)>, points: Vec<DVec3>) {
        let bounds = parallel::reduce_chunks(&points, CHUNK, Aabb::around_points, |x, y| x.merge(&y));
        self.bounds = self.bounds.merge(&bounds);
        let shape = PartShape::Mesh(Triangles { mesh, model, points });
        self.parts.push(Part { first: self.faces(), shape });
    }

    /// How many faces there are.
    pub fn faces(&self) -> u32 {
        self.parts.last().map_or(0, |part| part.first + part.faces())
    }

    /// The vertices of the body, if it is one mesh.
    pub fn vertices(&self) -> usize {
        match &self.parts[..] {
            [Part { shape: PartShape::Mesh(mesh), .. }] => mesh.points.len(),
            _ => 0,
        }
    }

    /// The model of a body that is one open mesh, and its pose in the frame.
    pub fn open_mesh(&self) -> Option<(&'m Model, &Pose)> {
        match &self.parts[..] {
            [Part { shape: PartShape::Mesh(Triangles { model: Some((model, pose)), .. }), .. }]
                if !model.topology().is_closed() =>
            {
                Some((*model, pose))
            }
            _ => None,
        }
    }

    /// Its parts on a lattice.
    pub fn on(&self, lattice: &Lattice) -> OnLattice<'_, 'm> {
        let parts = self.parts.iter().map(|part| match &part.shape {
            PartShape::Mesh(mesh) => mesh.on(lattice),
            PartShape::Curved(_) => (Vec::new(), Default::default()),
        });
        OnLattice { body: self, parts: parts.collect() }
    }
}

impl Part<'_> {
    fn faces(&self) -> u32 {
        match &self.shape {
            PartShape::Mesh(mesh) => mesh.mesh.triangles().len() as u32,
            PartShape::Curved(_) => 1,
        }
    }
}

fn placed(mesh: &Mesh, pose: &Pose) -> Vec<DVec3> {
    let vertices = mesh.vertices();
    let mut points = vec![DVec3::ZERO; vertices.len()];
    parallel::for_each_chunk(&mut points, CHUNK, |from, some| {
        for (point, &p) in some.iter_mut().zip(&vertices[from..]) {
            *point = pose.apply(p);
        }
    });
    points
}

impl Triangles<'_> {
    /// The places of its vertices, and the triangles to draw in each image.
    fn on(&self, lattice: &Lattice) -> (Vec<Place>, [Vec<u32>; 3]) {
        let mut places = vec![[0; 4]; self.points.len()];
        parallel::for_each_chunk(&mut places, CHUNK, |from, some| {
            raster::snap(SimdLevel::best(), lattice, &self.points[from..from + some.len()], some);
        });
        let mut lists = [const { Vec::new() }; 3];
        let candidates = self.candidates(lattice);
        let drawn = Drawn { triangles: self.mesh.triangles(), points: &self.points, places: &places };
        raster::select(SimdLevel::best(), lattice, drawn, candidates.as_deref(), &mut lists);
        (places, lists)
    }

    /// The triangles that can be seen in any image, where the box is small: those in one of its three shadows.
    fn candidates(&self, lattice: &Lattice) -> Option<Vec<u32>> {
        let (model, pose) = self.model.as_ref()?;
        let placed = PlacedMesh::new(model, pose);
        let [own_low, own_high] = placed.bounds();
        let Aabb { low, high } = lattice.bounds;
        let share = (high.min(own_high) - low.max(own_low)) / (own_high - own_low);
        let seen = Axis::ALL.map(|axis| share[axis.along] * share[axis.across]);
        if !(seen.iter().all(|share| *share < SEARCHED)) {
            return None;
        }
        let wanted = |[l, h]: [DVec3; 2]| {
            let apart = l.cmpgt(high) | h.cmplt(low);
            let behind = l.cmpgt(high);
            Axis::ALL
                .iter()
                .any(|axis| !apart.test(axis.along) && !apart.test(axis.across) && !behind.test(axis.depth))
        };
        let mut found = Vec::new();
        placed.in_boxes(wanted, |triangle| {
            found.push(triangle);
            ControlFlow::Continue(())
        });
        Some(found)
    }
}

/// A body whose vertices have places on a lattice.
#[derive(Debug)]
pub struct OnLattice<'b, 'm> {
    body: &'b Body<'m>,
    /// For each part the places of its vertices, and the triangles to draw in each image.
    parts: Vec<(Vec<Place>, [Vec<u32>; 3])>,
}

impl OnLattice<'_, '_> {
    /// Appends the layers of the body in some rows of an image.
    pub fn draw(
        &self,
        lattice: &Lattice,
        axis: Axis,
        number: usize,
        rows: [u32; 2],
        layers: &mut Vec<Layer>,
    ) {
        for (part, (places, lists)) in self.body.parts.iter().zip(&self.parts) {
            let first = Face::first(number, part.first);
            match &part.shape {
                PartShape::Mesh(mesh) => {
                    let drawn = Drawn { triangles: mesh.mesh.triangles(), points: &mesh.points, places };
                    let list = &lists[axis.depth];
                    raster::draw(SimdLevel::best(), (lattice, axis), drawn, list, first, rows, layers);
                }
                PartShape::Curved(curved) => curved.draw(lattice, axis, first, rows, layers),
            }
        }
    }

    /// What lies at a sample on a face: the triangle of the mesh, if it is one, its corners, and their shares.
    pub fn at(
        &self,
        lattice: &Lattice,
        axis: Axis,
        face: u32,
        sample: [i32; 2],
    ) -> Option<(u32, [u32; 3], [f64; 3])> {
        if face >= self.body.faces() {
            return None;
        }
        let part = self.body.parts.partition_point(|part| part.first <= face).checked_sub(1)?;
        let Part { first, shape: PartShape::Mesh(mesh) } = &self.body.parts[part] else { return None };
        let triangle = face - first;
        let places = &self.parts[part].0;
        let drawn = Drawn { triangles: mesh.mesh.triangles(), points: &mesh.points, places };
        let shares = drawn.barycentric(lattice, axis, triangle, sample);
        Some((triangle, mesh.mesh.triangles()[triangle as usize], shares))
    }
}

#[cfg(feature = "gpu")]
impl OnLattice<'_, '_> {
    /// Whether the body is one mesh, whose vertices have a gradient.
    pub fn is_one_mesh(&self) -> bool {
        self.body.vertices() > 0
    }

    /// The triangles of each mesh, and which of them are drawn in an image.
    pub fn triangles(&self, axis: Axis) -> impl Iterator<Item = (Drawn<'_>, &[u32])> {
        let parts = self.body.parts.iter().zip(&self.parts);
        parts.filter_map(move |(part, (places, lists))| match &part.shape {
            PartShape::Mesh(mesh) => {
                let drawn = Drawn { triangles: mesh.mesh.triangles(), points: &mesh.points, places };
                Some((drawn, &lists[axis.depth][..]))
            }
            PartShape::Curved(_) => None,
        })
    }

    /// The layers of some triangles of a mesh in all rows, by the numbers of the mesh.
    pub fn draw_some(
        &self,
        lattice: &Lattice,
        axis: Axis,
        number: usize,
        drawn: Drawn<'_>,
        list: &[u32],
    ) -> Vec<Layer> {
        let (mut layers, rows) = (Vec::new(), [0, lattice.pixels]);
        raster::draw(
            SimdLevel::best(),
            (lattice, axis),
            drawn,
            list,
            Face::first(number, 0),
            rows,
            &mut layers,
        );
        layers
    }

    /// The layers of the curved parts in all rows.
    pub fn draw_curved(&self, lattice: &Lattice, axis: Axis, number: usize) -> Vec<Layer> {
        let mut layers = Vec::new();
        for part in &self.body.parts {
            if let PartShape::Curved(curved) = &part.shape {
                curved.draw(lattice, axis, Face::first(number, part.first), [0, lattice.pixels], &mut layers);
            }
        }
        layers
    }
}

impl Curved {
    fn draw(&self, lattice: &Lattice, axis: Axis, first: Face, rows: [u32; 2], layers: &mut Vec<Layer>) {
        let direction = self.turn * axis.point(0.0, 0.0, 1.0);
        let Aabb { low, high } = lattice.bounds;
        // What is infinite ends well outside of the box.
        let [under, over] = [low, high].map(|p| p[axis.depth]);
        let (under, over) = (under - (over - under), over + (over - under));
        let range = |k: usize| {
            let [from, to] =
                [self.bounds.low[k] - low[k], self.bounds.high[k] - low[k]].map(|x| x / lattice.size[k]);
            // Casts saturate.
            [from.floor() as u32, (to.ceil() as u32).min(lattice.pixels)]
        };
        let [columns, own_rows] = [range(axis.along), range(axis.across)];
        for row in own_rows[0].max(rows[0])..own_rows[1].min(rows[1]) {
            for column in columns[0]..columns[1] {
                let [along, across] = lattice.sample(column, row);
                let along = lattice.coordinate(axis.along, along);
                let across = lattice.coordinate(axis.across, across);
                let from = self.turn * axis.point(along, across, 0.0) + self.origin;
                let Some(ends) = line_interval(&self.primitive, from, direction) else { continue };
                let column = (row - rows[0]) * lattice.pixels + column;
                for (end, depth) in ends.into_iter().enumerate() {
                    let depth = if depth.is_finite() { depth } else { [under, over][end] };
                    layers.push(Layer { depth, column, face: first.triangle(0, end == 1) });
                }
            }
        }
    }
}
