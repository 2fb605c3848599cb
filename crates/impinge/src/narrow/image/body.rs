//! A body ready to be drawn: its triangles and curved parts in the frame of the images.

use std::ops::ControlFlow;

use glam::{DMat3, DVec2, DVec3};

use super::curved::line_interval;
use super::lattice::{Axis, Lattice, Place};
use super::layer::{Face, Layer};
use super::raster::{self, Counted, Drawn, Window};
use crate::bound::Aabb;
use crate::model::{Geometry, Model};
use crate::narrow::convex::relation::PlacedConvex;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::num::parallel;
use crate::shape::{Convex, Mesh, Primitive};
use crate::simd::SimdLevel;
use crate::{Budget, Pose};

/// Vertices that one thread places at a time.
const CHUNK: usize = 4096;

/// The tree finds the triangles to draw where the regions of the three images cover less than this share of the body's
/// box, taken together: beyond, looking at all triangles is faster.
const SEARCHED: f64 = 0.75;

/// Units for each ball of a cloud: about as many tests as would take the same time.
const UNITS_PER_BALL: u64 = 8;

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

/// A mesh in the frame.
#[derive(Debug)]
enum Triangles<'m> {
    /// A model and its pose; its vertices are placed where they are drawn.
    Model(&'m Model, Pose),
    /// A mesh of few triangles.
    Placed(Mesh),
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
                let bounds = PlacedMesh::new(model, pose).tight_bounds();
                body.add_mesh(Triangles::Model(model, *pose), bounds);
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
                // To move very many parts would keep a caller with a deadline from its memory.
                let points = cloud.points();
                body.parts.reserve_exact(points.len());
                for i in parallel::in_turn(0..points.len()).filter(|&i| cloud.radius(i) > 0.0) {
                    let ball = Convex::Primitive(Primitive::Sphere { radius: cloud.radius(i) });
                    body.add_convex(&ball, &pose.compose(&Pose::shift(points[i])));
                }
            }
        }
        body
    }

    /// [`Body::new`], whose units are drawn beforehand; `None` when the budget ends first.
    pub fn within(shape: &'m Geometry, pose: &Pose, budget: &mut Budget) -> Option<Body<'m>> {
        budget.draw_all_updates(units(shape)).then(|| Body::new(shape, pose))
    }

    fn add_convex(&mut self, convex: &Convex, pose: &Pose) {
        match convex {
            Convex::Polytope(_) | Convex::Primitive(Primitive::Cuboid { .. }) => {
                if let Some(mesh) = PlacedConvex::new(convex, pose).solid_mesh() {
                    let bounds = Aabb::around_points(mesh.vertices());
                    self.add_mesh(Triangles::Placed(mesh), bounds);
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

    fn add_mesh(&mut self, mesh: Triangles<'m>, bounds: Aabb) {
        self.bounds = self.bounds.merge(&bounds);
        self.parts.push(Part { first: self.faces(), shape: PartShape::Mesh(mesh) });
    }

    /// How many faces there are.
    pub fn faces(&self) -> u32 {
        self.parts.last().map_or(0, |part| part.first + part.faces())
    }

    /// The vertices of the body, if it is one mesh.
    pub fn vertices(&self) -> usize {
        match &self.parts[..] {
            [Part { shape: PartShape::Mesh(mesh), .. }] => mesh.mesh().vertices().len(),
            _ => 0,
        }
    }

    /// The model of a body that is one open mesh, and its pose in the frame.
    pub fn open_mesh(&self) -> Option<(&'m Model, &Pose)> {
        match &self.parts[..] {
            [Part { shape: PartShape::Mesh(Triangles::Model(model, pose)), .. }]
                if !model.topology().is_closed() =>
            {
                Some((*model, pose))
            }
            _ => None,
        }
    }

    /// Its parts on a lattice. Columns are counted from the side of the box where the body reaches out less, and what
    /// lies beyond the other side is not drawn.
    pub fn on(&self, lattice: &Lattice) -> OnLattice<'_, 'm> {
        let Aabb { low, high } = lattice.bounds;
        let more_below = (low - self.bounds.low).cmpgt(self.bounds.high - high);
        let from = |axis| if more_below.test(axis) { Counted::FromAbove } else { Counted::FromBelow };
        self.counted(lattice, [0, 1, 2].map(from))
    }

    /// Its parts on a lattice, with columns counted from below.
    #[cfg(any(test, feature = "gpu"))]
    pub fn on_from_below(&self, lattice: &Lattice) -> OnLattice<'_, 'm> {
        self.counted(lattice, [Counted::FromBelow; 3])
    }

    /// Its parts on a lattice, with all of their columns.
    pub fn on_whole_columns(&self, lattice: &Lattice) -> OnLattice<'_, 'm> {
        self.counted(lattice, [Counted::Whole; 3])
    }

    fn counted(&self, lattice: &Lattice, counted: [Counted; 3]) -> OnLattice<'_, 'm> {
        let parts = self.parts.iter().map(|part| match &part.shape {
            PartShape::Mesh(mesh) => mesh.on(lattice, &self.bounds, counted),
            PartShape::Curved(_) => DrawnPart::default(),
        });
        OnLattice { body: self, parts: parts.collect(), counted }
    }
}

impl Part<'_> {
    fn faces(&self) -> u32 {
        match &self.shape {
            PartShape::Mesh(mesh) => mesh.mesh().triangles().len() as u32,
            PartShape::Curved(_) => 1,
        }
    }
}

/// Units for the parts of a body: hulls become meshes, and every ball is a part.
fn units(shape: &Geometry) -> u64 {
    match shape {
        Geometry::Mesh(_) => 0,
        Geometry::Convex(convex) => PlacedConvex::new(convex, &Pose::IDENTITY).mesh_units(),
        Geometry::Compound(compound) => compound.parts().iter().map(|part| units(&part.shape)).sum(),
        Geometry::Particles(cloud) => UNITS_PER_BALL * cloud.points().len() as u64,
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
    fn mesh(&self) -> &Mesh {
        match self {
            Triangles::Model(model, _) => model.mesh(),
            Triangles::Placed(mesh) => mesh,
        }
    }

    /// Its vertices in the frame and on the lattice, and the triangles to draw in each image.
    fn on(&self, lattice: &Lattice, bounds: &Aabb, counted: [Counted; 3]) -> DrawnPart {
        let points = match self {
            Triangles::Model(model, pose) => {
                let placed = PlacedMesh::new(model, pose);
                let regions = Axis::ALL.map(|axis| region(lattice, axis, bounds, counted[axis.depth]));
                let share = |region: &Aabb| {
                    let sides = (region.high.min(bounds.high) - region.low.max(bounds.low))
                        / (bounds.high - bounds.low);
                    sides.element_product()
                };
                if regions.iter().map(share).sum::<f64>() < SEARCHED {
                    return searched(&placed, lattice, &regions, counted);
                }
                self::placed(model.mesh(), pose)
            }
            Triangles::Placed(mesh) => mesh.vertices().to_vec(),
        };
        let mut places = vec![[0; 4]; points.len()];
        parallel::for_each_chunk(&mut places, CHUNK, |from, some| {
            raster::snap(SimdLevel::best(), lattice, &points[from..from + some.len()], some);
        });
        let mut found = DrawnPart { points, places, lists: Default::default() };
        let drawn =
            Drawn { triangles: self.mesh().triangles(), points: &found.points, places: &found.places };
        raster::select(SimdLevel::best(), lattice, drawn, counted, &mut found.lists);
        found
    }
}

/// What an image has to see of a body: all of it in the columns from one end of the box on, or all.
fn region(lattice: &Lattice, axis: Axis, bounds: &Aabb, counted: Counted) -> Aabb {
    let mut region = lattice.reached();
    if counted != Counted::FromBelow {
        region.high[axis.depth] = bounds.high[axis.depth].max(region.high[axis.depth]);
    }
    if counted != Counted::FromAbove {
        region.low[axis.depth] = bounds.low[axis.depth].min(region.low[axis.depth]);
    }
    region
}

/// The triangles of a model in the regions of the images, found by its tree; only their vertices are placed.
fn searched(
    placed: &PlacedMesh<'_>,
    lattice: &Lattice,
    regions: &[Aabb; 3],
    counted: [Counted; 3],
) -> DrawnPart {
    let mesh = placed.model.mesh();
    let count = mesh.vertices().len();
    let mut found = DrawnPart {
        points: vec![DVec3::ZERO; count],
        places: vec![[0; 4]; count],
        lists: Default::default(),
    };
    let mut is_placed = vec![false; count];
    for (axis, region) in Axis::ALL.into_iter().zip(regions) {
        let DrawnPart { points, places, lists } = &mut found;
        let list = &mut lists[axis.depth];
        placed.in_region(region.low, region.high, |triangle| {
            list.push(triangle);
            for v in mesh.triangles()[triangle as usize] {
                if !std::mem::replace(&mut is_placed[v as usize], true) {
                    points[v as usize] = placed.pose.apply(mesh.vertices()[v as usize]);
                    places[v as usize] = lattice.place(points[v as usize]);
                }
            }
            ControlFlow::Continue(())
        });
        let drawn = Drawn { triangles: mesh.triangles(), points, places };
        raster::thin(SimdLevel::best(), lattice, drawn, axis, counted[axis.depth], list);
    }
    found
}

/// A mesh on a lattice: its vertices in the frame, their places, and the triangles to draw in each image. Vertices of
/// other triangles need not be placed.
#[derive(Debug, Default)]
struct DrawnPart {
    points: Vec<DVec3>,
    places: Vec<Place>,
    lists: [Vec<u32>; 3],
}

impl DrawnPart {
    fn of<'d>(&'d self, mesh: &'d Triangles<'_>) -> Drawn<'d> {
        Drawn { triangles: mesh.mesh().triangles(), points: &self.points, places: &self.places }
    }
}

/// A body whose vertices have places on a lattice.
#[derive(Debug)]
pub struct OnLattice<'b, 'm> {
    body: &'b Body<'m>,
    parts: Vec<DrawnPart>,
    /// How the columns of each image are counted.
    pub counted: [Counted; 3],
}

impl OnLattice<'_, '_> {
    /// How many faces the body has.
    pub fn faces(&self) -> u32 {
        self.body.faces()
    }

    /// How many triangles are drawn in an image, and columns through curved parts.
    pub fn drawn(&self, lattice: &Lattice, axis: Axis) -> usize {
        let parts = self.body.parts.iter().zip(&self.parts);
        let drawn = parts.map(|(part, drawn)| match part.shape {
            PartShape::Mesh(_) => drawn.lists[axis.depth].len(),
            PartShape::Curved(_) => (lattice.pixels * lattice.pixels) as usize,
        });
        drawn.sum()
    }

    /// Appends the layers of the body in some rows of an image: at least those in the columns of `within`, as bits.
    pub fn draw(
        &self,
        lattice: &Lattice,
        axis: Axis,
        number: usize,
        rows: [u32; 2],
        within: Option<&[u64]>,
        layers: &mut Vec<Layer>,
    ) {
        for (part, drawn) in self.body.parts.iter().zip(&self.parts) {
            let first = Face::first(number, part.first);
            match &part.shape {
                PartShape::Mesh(mesh) => {
                    let (view, list) = ((lattice, axis), &drawn.lists[axis.depth]);
                    let window = Window { rows, within };
                    raster::draw(SimdLevel::best(), view, drawn.of(mesh), list, first, window, layers);
                }
                PartShape::Curved(curved) => curved.draw(lattice, axis, first, rows, layers),
            }
        }
    }

    /// What lies at a place on a face, in units of the lattice: the triangle of the mesh, if it is one, its corners, and
    /// their shares.
    pub fn at(
        &self,
        lattice: &Lattice,
        axis: Axis,
        face: u32,
        place: DVec2,
    ) -> Option<(u32, [u32; 3], [f64; 3])> {
        if face >= self.body.faces() {
            return None;
        }
        let part = self.body.parts.partition_point(|part| part.first <= face).checked_sub(1)?;
        let Part { first, shape: PartShape::Mesh(mesh) } = &self.body.parts[part] else { return None };
        let triangle = face - first;
        let shares = self.parts[part].of(mesh).barycentric(lattice, axis, triangle, place);
        Some((triangle, mesh.mesh().triangles()[triangle as usize], shares))
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
        parts.filter_map(move |(part, drawn)| match &part.shape {
            PartShape::Mesh(mesh) => Some((drawn.of(mesh), &drawn.lists[axis.depth][..])),
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
            Window { rows, within: None },
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
