//! The layers of an image, sorted into columns, and the parts of each column that lie in both bodies.

use super::lattice::Lattice;

/// A triangle of a body, or a curved part of it, and the side that is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Face(u32);

impl Face {
    /// Stands for no face.
    pub const NONE: Face = Face(u32::MAX);

    /// The most triangles of a body that can be told apart.
    pub const MOST: u32 = 1 << 29;

    /// What the faces of a part begin with, behind `before` faces of the same body.
    pub fn first(body: usize, before: u32) -> Face {
        Face(before << 2 | (body as u32) << 1)
    }

    /// The face so many behind the first.
    #[inline(always)]
    pub fn triangle(self, number: u32, is_exit: bool) -> Face {
        Face(self.0 + (number << 2 | u32::from(is_exit)))
    }

    /// The cover of a hole of an open body: none of its triangles.
    pub fn cover(body: usize) -> Face {
        Face::first(body, Face::MOST)
    }

    /// Whose it is.
    #[inline(always)]
    pub fn body(self) -> usize {
        (self.0 >> 1 & 1) as usize
    }

    /// The number of it in its body.
    pub fn number(self) -> u32 {
        self.0 >> 2
    }

    #[inline(always)]
    pub fn winds(self) -> i32 {
        1 - 2 * (self.0 & 1) as i32
    }
}

/// One surface in one column.
#[derive(Debug, Clone, Copy)]
pub struct Layer {
    pub depth: f64,
    /// The column within the rows that are drawn together.
    pub column: u32,
    pub face: Face,
}

/// A part of a column that lies in both bodies.
#[derive(Debug, Clone, Copy)]
pub struct Interval {
    pub column: u32,
    /// From the lower end to the upper.
    pub depth: [f64; 2],
    pub face: [Face; 2],
    /// The face of the other body that lies in the same place as an end, if any: each then has half of it.
    pub shared: [Face; 2],
}

impl Interval {
    /// Its length.
    #[inline(always)]
    pub fn length(&self) -> f64 {
        self.depth[1] - self.depth[0]
    }

    /// Its ends: face, share of the pixel, and sign along the depth.
    pub fn ends(&self) -> impl Iterator<Item = (Face, f64, usize)> + '_ {
        (0..2).flat_map(move |end| {
            let is_shared = self.shared[end] != Face::NONE;
            let share = if is_shared { 0.5 } else { 1.0 };
            [(self.face[end], share, end), (self.shared[end], share, end)]
                .into_iter()
                .take(1 + usize::from(is_shared))
        })
    }
}

/// Which part of a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// What lies in both bodies.
    Both,
    /// Where the surface of the first winds around more than once.
    Twice,
}

/// Room for sorting layers, kept from image to image.
#[derive(Debug, Default)]
pub struct Sorting {
    ends: Vec<u32>,
    sorted: Vec<Layer>,
}

impl Sorting {
    /// Calls `each` with the layers of every column that has some, among them of every body that is needed (as bits), by
    /// ascending depth.
    pub fn columns(
        &mut self,
        lattice: &Lattice,
        rows: [u32; 2],
        layers: &[Vec<Layer>],
        needed: u32,
        mut each: impl FnMut(u32, &[Layer]),
    ) {
        let columns = ((rows[1] - rows[0]) * lattice.pixels) as usize;
        // How many layers a column has, and in the upper bits whose.
        self.ends.clear();
        self.ends.resize(columns + 1, 0);
        for layer in layers.iter().flatten() {
            let end = &mut self.ends[layer.column as usize];
            *end = (*end + 1) | 1 << (30 + layer.face.body());
        }
        let mut before = 0;
        for end in &mut self.ends[..columns] {
            let count = *end & ((1 << 30) - 1);
            let is_kept = *end >> 30 & needed == needed && count > 0;
            *end = if is_kept { before } else { u32::MAX };
            before += if is_kept { count } else { 0 };
        }
        self.sorted.clear();
        self.sorted.resize(before as usize, Layer { depth: 0.0, column: 0, face: Face::NONE });
        for layer in layers.iter().flatten() {
            let end = &mut self.ends[layer.column as usize];
            if *end != u32::MAX {
                self.sorted[*end as usize] = *layer;
                *end += 1;
            }
        }
        let mut begin = 0;
        for column in 0..columns {
            let end = self.ends[column];
            if end == u32::MAX {
                continue;
            }
            let own = &mut self.sorted[begin..end as usize];
            begin = end as usize;
            sort(own);
            each(column as u32, own);
        }
    }
}

/// By depth; where it is equal, exits first, so that bodies which touch have nothing in common.
#[inline(always)]
fn sort(layers: &mut [Layer]) {
    let is_before =
        |x: &Layer, y: &Layer| x.depth < y.depth || (x.depth == y.depth && x.face.winds() < y.face.winds());
    if layers.len() > 24 {
        layers.sort_by(|x, y| x.depth.total_cmp(&y.depth).then(x.face.winds().cmp(&y.face.winds())));
        return;
    }
    for k in 1..layers.len() {
        let layer = layers[k];
        let mut at = k;
        while at > 0 && is_before(&layer, &layers[at - 1]) {
            layers[at] = layers[at - 1];
            at -= 1;
        }
        layers[at] = layer;
    }
}

/// Appends the parts of a column that count; layers less than `rounding` apart are in the same place. Of a body that is
/// seen from above, layers below the box may be missing.
pub fn intervals(
    column: u32,
    layers: &[Layer],
    inside: Inside,
    from_above: [bool; 2],
    rounding: f64,
    found: &mut Vec<Interval>,
) {
    let mut winding = [0; 2];
    for layer in layers.iter().filter(|layer| from_above[layer.face.body()]) {
        winding[layer.face.body()] -= layer.face.winds();
    }
    // Where each body was last entered.
    let mut entered = [(f64::NEG_INFINITY, Face::NONE); 2];
    let mut begun: Option<Interval> = None;
    for (k, layer) in layers.iter().enumerate() {
        let body = layer.face.body();
        let before = winding[body];
        winding[body] += layer.face.winds();
        match inside {
            Inside::Both => {
                let other = 1 - body;
                if before == 0 && winding[body] != 0 {
                    entered[body] = (layer.depth, layer.face);
                    if winding[other] != 0 {
                        let (depth, face) = entered[other];
                        let shared = if layer.depth - depth <= rounding { face } else { Face::NONE };
                        begun = Some(start(column, layer, shared));
                    }
                } else if before != 0
                    && winding[body] == 0
                    && let Some(interval) = begun.take()
                {
                    let shared = leaves_too(&layers[k + 1..], layer, winding[other], rounding);
                    end(interval, layer, shared, rounding, found);
                }
            }
            Inside::Twice => {
                let counts = |winding: i32| (winding.abs() - 1).max(0);
                if counts(before) == 0 && counts(winding[0]) > 0 {
                    begun = Some(start(column, layer, Face::NONE));
                } else if counts(before) > 0
                    && counts(winding[0]) == 0
                    && let Some(interval) = begun.take()
                {
                    end(interval, layer, Face::NONE, rounding, found);
                }
            }
        }
    }
}

fn start(column: u32, layer: &Layer, shared: Face) -> Interval {
    Interval { column, depth: [layer.depth; 2], face: [layer.face, Face::NONE], shared: [shared, Face::NONE] }
}

fn end(interval: Interval, layer: &Layer, shared: Face, rounding: f64, found: &mut Vec<Interval>) {
    let whole = Interval {
        depth: [interval.depth[0], layer.depth],
        face: [interval.face[0], layer.face],
        shared: [interval.shared[0], shared],
        ..interval
    };
    if whole.length() > rounding {
        found.push(whole);
    }
}

/// The face by which the other body, too, is left in the same place.
fn leaves_too(rest: &[Layer], layer: &Layer, winding: i32, rounding: f64) -> Face {
    let mut winding = winding;
    for next in rest.iter().take_while(|next| next.depth - layer.depth <= rounding) {
        if next.face.body() != layer.face.body() {
            winding += next.face.winds();
            if winding == 0 {
                return next.face;
            }
        }
    }
    Face::NONE
}
