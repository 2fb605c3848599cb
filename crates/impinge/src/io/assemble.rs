//! Polygons, fans and strips become triangles, corner by corner and without a list per polygon.

/// Fans a polygon from its first corner.
#[derive(Default)]
pub(super) struct Fan {
    first: u32,
    previous: u32,
    corners: usize,
}

impl Fan {
    /// Takes the next corner; from the third on each one makes a triangle.
    #[inline]
    pub fn corner(&mut self, vertex: u32, triangles: &mut Vec<[u32; 3]>) {
        match self.corners {
            0 => self.first = vertex,
            1 => {}
            _ => triangles.push([self.first, self.previous, vertex]),
        }
        self.previous = vertex;
        self.corners += 1;
    }

    /// How many corners were taken.
    pub fn corners(&self) -> usize {
        self.corners
    }
}

/// Unrolls a triangle strip; every second triangle is turned so that all face the same side.
#[derive(Default)]
pub(super) struct Strip {
    last: [u32; 2],
    corners: usize,
}

impl Strip {
    /// Takes the next corner; from the third on each one makes a triangle.
    #[inline]
    pub fn corner(&mut self, vertex: u32, triangles: &mut Vec<[u32; 3]>) {
        let [a, b] = self.last;
        if self.corners >= 2 {
            triangles.push(if self.corners.is_multiple_of(2) { [a, b, vertex] } else { [a, vertex, b] });
        }
        self.last = [b, vertex];
        self.corners += 1;
    }

    /// How many corners were taken.
    pub fn corners(&self) -> usize {
        self.corners
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pentagon_becomes_three_triangles() {
        let (mut fan, mut triangles) = (Fan::default(), vec![]);
        (0..5).for_each(|v| fan.corner(v, &mut triangles));
        assert_eq!(triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
        assert_eq!(fan.corners(), 5);
    }

    #[test]
    fn a_strip_keeps_its_side() {
        let (mut strip, mut triangles) = (Strip::default(), vec![]);
        (0..5).for_each(|v| strip.corner(v, &mut triangles));
        assert_eq!(triangles, [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
        assert_eq!(strip.corners(), 5);
    }
}
