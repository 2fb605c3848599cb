//! Pieces that fall apart without a cut.
//!
//! Cuts along every other face around a hole leave the corners between them, far from each other and convex: a plane that
//! is tried on all of them together goes through some.

use super::{Cap, Piece};

impl Piece {
    /// Two pieces without a common point whose union it is; `None` where it is connected, or where some of its surface
    /// bounds a hole in the rest.
    pub(in super::super) fn fall_apart(&self) -> Option<[Piece; 2]> {
        let (numbers, count) = self.components();
        // Negated, so that NaN is no volume.
        if count < 2 || !self.volumes(&numbers, count).iter().all(|&volume| volume > 0.0) {
            return None;
        }
        let half = count as u32 / 2;
        Some([false, true].map(|upper| self.of_points(|p| (numbers[p as usize] >= half) == upper)))
    }

    /// The number of the component of each point, ascending with their first points, and how many there are.
    fn components(&self) -> (Vec<u32>, usize) {
        // Each point leads to one before it of the same component, or to itself.
        let mut before: Vec<u32> = (0..self.points.len() as u32).collect();
        fn first(before: &mut [u32], mut p: u32) -> u32 {
            while before[p as usize] != p {
                let next = before[p as usize];
                before[p as usize] = before[next as usize];
                p = next;
            }
            p
        }
        let mut join = |p: u32, q: u32| {
            let (p, q) = (first(&mut before, p), first(&mut before, q));
            before[p.max(q) as usize] = p.min(q);
        };
        for polygon in self.polygons() {
            polygon.windows(2).for_each(|pair| join(pair[0], pair[1]));
        }
        self.caps.iter().flat_map(|cap| &cap.border).for_each(|&[p, q]| join(p, q));
        // Those before a point have their numbers already.
        let mut count = 0;
        for p in 0..before.len() {
            let leads_to = before[p] as usize;
            before[p] = if leads_to == p { count } else { before[leads_to] };
            count += u32::from(leads_to == p);
        }
        (before, count as usize)
    }

    /// The volume that each component encloses.
    fn volumes(&self, numbers: &[u32], count: usize) -> Vec<f64> {
        let mut volumes = vec![0.0; count];
        let origin = self.points[0];
        for polygon in self.polygons() {
            volumes[numbers[polygon[0] as usize] as usize] += self.pyramids(polygon, origin);
        }
        for cap in &self.caps {
            // Any point of the plane will do for all of its borders.
            for &edge in &cap.border {
                volumes[numbers[edge[0] as usize] as usize] += self.pyramid(cap.border[0][0], edge, origin);
            }
        }
        volumes
    }

    /// What some points bound: whole components.
    fn of_points(&self, is_kept: impl Fn(u32) -> bool) -> Piece {
        let mut number = vec![0; self.points.len()];
        let mut kept = Piece::default();
        for (p, &at) in (0..).zip(&self.points) {
            if is_kept(p) {
                number[p as usize] = kept.points.len() as u32;
                kept.points.push(at);
            }
        }
        for (polygon, &triangle) in self.polygons().zip(&self.triangles) {
            if is_kept(polygon[0]) {
                kept.corners.extend(polygon.iter().map(|&p| number[p as usize]));
                kept.ends.push(kept.corners.len() as u32);
                kept.triangles.push(triangle);
            }
        }
        for cap in &self.caps {
            let own = cap.border.iter().filter(|edge| is_kept(edge[0]));
            let border: Vec<[u32; 2]> = own.map(|edge| edge.map(|p| number[p as usize])).collect();
            if !border.is_empty() {
                kept.caps.push(Cap { plane: cap.plane, border });
            }
        }
        kept
    }
}
