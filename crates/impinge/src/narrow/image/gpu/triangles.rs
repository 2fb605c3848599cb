//! What is drawn in one image: triangles with their planes, the rows they cross, and layers that come drawn.

use glam::DVec2;

use super::super::body::OnLattice;
use super::super::lattice::{Axis, Lattice};
use super::super::layer::Layer;
use super::super::raster::{Drawn, Plane};
use super::device::Band;

/// Stands for no vertex, no component.
pub const NONE: u32 = u32::MAX;

/// The unit of depths, as in `images.wgsl`, and the largest depth, both as parts of the common box.
pub const DEPTH_UNIT: f64 = (1_u32 << 28) as f64;
const MOST_DEPTH: f64 = 3.9;

/// Columns and layers of a band at most; one row may have more.
const MOST_COLUMNS: u32 = 1 << 18;
const MOST_LAYERS: u64 = 1 << 22;

/// A triangle whose corners run against the clock, as in `images.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Triangle {
    corners: [i32; 6],
    at: [i32; 2],
    depth: i32,
    slopes: [f32; 2],
    range: [i32; 2],
    vertices: [u32; 3],
    shares: [f32; 3],
}

/// A layer that comes drawn: of a triangle with a far corner, whose edges need more bits, or of a curved part.
#[repr(C)]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Given {
    /// Within the image; within the band once it is uploaded.
    pub column: u32,
    depth: i32,
    code: u32,
}

/// One image before it is drawn.
#[derive(Debug)]
pub struct Drawing {
    pub triangles: Vec<Triangle>,
    /// The code of a triangle and a row that it crosses, row by row.
    pub items: Vec<[u32; 2]>,
    /// Where the items of each row begin, and at the end how many there are.
    pub row_items: Vec<u32>,
    /// How many layers each row has at most, without those given.
    room: Vec<u64>,
    /// By ascending columns.
    pub given: Vec<Given>,
}

impl Drawing {
    /// The triangles of two bodies in an image, given where the vertices of each begin.
    pub fn new(
        bodies: &[OnLattice<'_, '_>; 2],
        lattice: &Lattice,
        axis: Axis,
        first_vertex: [u32; 2],
    ) -> Drawing {
        let mut drawing = Drawing {
            triangles: Vec::new(),
            items: Vec::new(),
            row_items: Vec::new(),
            room: vec![0; lattice.pixels as usize],
            given: Vec::new(),
        };
        for (number, body) in bodies.iter().enumerate() {
            let has_gradient = body.is_one_mesh();
            for (drawn, list) in body.triangles(axis) {
                let vertices = |triangle: u32| match has_gradient {
                    true => drawn.triangles[triangle as usize].map(|v| v + first_vertex[number]),
                    false => [NONE; 3],
                };
                let mut far = Vec::new();
                for &triangle in list {
                    match Triangle::set_up(lattice, axis, &drawn, triangle, vertices(triangle)) {
                        Setup::Near(found, is_exit) => drawing.add(lattice, found, number, is_exit),
                        Setup::Far => far.push(triangle),
                        Setup::Empty => {}
                    }
                }
                for layer in body.draw_some(lattice, axis, number, drawn, &far) {
                    let triangle = layer.face.number();
                    let place = lattice.place_of(layer.column);
                    let shares = drawn.barycentric(lattice, axis, triangle, place).map(|share| share as f32);
                    drawing.give(lattice, axis, number, &layer, vertices(triangle), shares);
                }
            }
            for layer in body.draw_curved(lattice, axis, number) {
                drawing.give(lattice, axis, number, &layer, [NONE; 3], [0.0; 3]);
            }
        }
        drawing.sort(lattice);
        drawing
    }

    /// Adds a triangle with all rows that it crosses.
    fn add(&mut self, lattice: &Lattice, triangle: Triangle, body: usize, is_exit: bool) {
        let [rows, columns] = triangle.extent(lattice);
        if rows[0] > rows[1] || columns[0] > columns[1] {
            return;
        }
        let code = (self.triangles.len() as u32) << 2 | (body as u32) << 1 | u32::from(is_exit);
        for row in rows[0]..=rows[1] {
            self.items.push([code, row as u32]);
            self.room[row as usize] += (columns[1] - columns[0] + 1) as u64;
        }
        self.triangles.push(triangle);
    }

    fn give(
        &mut self,
        lattice: &Lattice,
        axis: Axis,
        body: usize,
        layer: &Layer,
        vertices: [u32; 3],
        shares: [f32; 3],
    ) {
        let code =
            (self.triangles.len() as u32) << 2 | (body as u32) << 1 | u32::from(layer.face.winds() < 0);
        self.given.push(Given { column: layer.column, depth: part(lattice, axis, layer.depth), code });
        self.triangles.push(Triangle { vertices, shares, ..bytemuck::Zeroable::zeroed() });
    }

    /// The items row by row, the given layers column by column.
    fn sort(&mut self, lattice: &Lattice) {
        self.given.sort_by_key(|given| given.column);
        let mut starts = vec![0; lattice.pixels as usize + 1];
        self.items.iter().for_each(|item| starts[item[1] as usize + 1] += 1);
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![[0; 2]; self.items.len()];
        for item in &self.items {
            sorted[next[item[1] as usize] as usize] = *item;
            next[item[1] as usize] += 1;
        }
        (self.items, self.row_items) = (sorted, starts);
    }

    /// Bands of rows that need limited room.
    pub fn bands<'d>(&'d self, lattice: &Lattice) -> Vec<Band<'d>> {
        let mut bands: Vec<Band<'d>> = Vec::new();
        for (row, &room) in (0..).zip(&self.room) {
            match bands.last_mut() {
                Some(band)
                    if band.layers + room <= MOST_LAYERS
                        && (band.rows + 1) * lattice.pixels <= MOST_COLUMNS =>
                {
                    band.rows += 1;
                    band.layers += room;
                }
                _ => bands.push(Band::of(self, row, room)),
            }
        }
        bands
    }
}

/// What becomes of a triangle.
enum Setup {
    /// It is drawn; whether it faces along the depth.
    Near(Triangle, bool),
    /// A corner or the middle is far.
    Far,
    /// Seen along the depth it has no area.
    Empty,
}

impl Triangle {
    fn set_up(lattice: &Lattice, axis: Axis, drawn: &Drawn<'_>, triangle: u32, vertices: [u32; 3]) -> Setup {
        let corners = drawn.triangles[triangle as usize];
        let places = corners.map(|v| drawn.places[v as usize]);
        if places.iter().any(|place| place[3] != 0) {
            return Setup::Far;
        }
        let flat = places.map(|p| [p[axis.along], p[axis.across]]);
        let wide = flat.map(|p| p.map(i64::from));
        let side = |p: [i64; 2], q: [i64; 2]| [q[0] - p[0], q[1] - p[1]];
        let ([u, v], [w, x]) = (side(wide[0], wide[1]), side(wide[0], wide[2]));
        let turn = u * x - v * w;
        if turn == 0 {
            return Setup::Empty;
        }
        let order = if turn > 0 { [0, 1, 2] } else { [0, 2, 1] };
        let plane = Plane::new(axis, corners.map(|v| drawn.points[v as usize]));
        // From the middle of the triangle, where no slope is multiplied by a long way.
        let at = [0, 1].map(|k| (wide.iter().map(|p| p[k]).sum::<i64>() / 3) as i32);
        let middle =
            DVec2::new(lattice.coordinate(axis.along, at[0]), lattice.coordinate(axis.across, at[1]));
        let (depth, slope, range) = plane.parts(middle);
        let deep = lattice.size[axis.depth] * f64::from(lattice.pixels);
        let from_low = (depth - lattice.bounds.low[axis.depth]) / deep;
        if !(from_low.abs() < MOST_DEPTH) {
            return Setup::Far;
        }
        let unit = |axis: usize| lattice.size[axis] / f64::from(1_u32 << lattice.shift);
        let [a, b, c] = order.map(|k| flat[k]);
        let found = Triangle {
            corners: [a[0], a[1], b[0], b[1], c[0], c[1]],
            at,
            depth: part(lattice, axis, depth),
            slopes: [
                (slope[0] * unit(axis.along) / deep) as f32,
                (slope[1] * unit(axis.across) / deep) as f32,
            ],
            range: range.map(|depth| part(lattice, axis, depth)),
            vertices: order.map(|k| vertices[k]),
            shares: [1.0 / 3.0; 3],
        };
        Setup::Near(found, turn > 0)
    }

    /// The first and last row and column that it may cover.
    fn extent(&self, lattice: &Lattice) -> [[i32; 2]; 2] {
        let [ax, ay, bx, by, cx, cy] = self.corners;
        let (half, shift, last) = (lattice.half(), lattice.shift, lattice.pixels as i32 - 1);
        let rows = [(ay.min(by).min(cy) + half - 1) >> shift, (ay.max(by).max(cy) - half) >> shift];
        let columns = [(ax.min(bx).min(cx) >> shift) - 1, (ax.max(bx).max(cx) >> shift) + 1];
        [rows, columns].map(|[from, to]| [from.max(0), to.min(last)])
    }
}

/// A depth in parts of the common box. Far outside of it, where bodies have nothing in common, all are equal.
fn part(lattice: &Lattice, axis: Axis, depth: f64) -> i32 {
    let deep = lattice.size[axis.depth] * f64::from(lattice.pixels);
    let part = ((depth - lattice.bounds.low[axis.depth]) / deep).clamp(-MOST_DEPTH, MOST_DEPTH);
    (part * DEPTH_UNIT).round() as i32
}
