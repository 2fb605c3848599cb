//! The space particles live in: open, or a cell that is repeated along some of its three vectors.

use glam::{DMat3, DVec3};

use crate::error::Error;
use crate::num::tolerance::{LARGEST_COORDINATE, NARROWEST_CELL};

/// Open space, or a cell that is periodic along some of its vectors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Domain {
    origin: DVec3,
    /// The cell's vectors a, b and c as columns.
    vectors: DMat3,
    /// g_k as rows: the fractional coordinate along vector k is g_k·(x − origin). Zero along open axes.
    fractional: [DVec3; 3],
    periodic: [bool; 3],
}

impl Default for Domain {
    fn default() -> Domain {
        Domain::OPEN
    }
}

impl Domain {
    /// Space without end.
    pub const OPEN: Domain = Domain {
        origin: DVec3::ZERO,
        vectors: DMat3::IDENTITY,
        fractional: [DVec3::ZERO; 3],
        periodic: [false; 3],
    };

    /// A box that is repeated along all three axes.
    ///
    /// # Errors
    /// `low` is not below `high` on an axis, or one is not finite.
    pub fn periodic(low: [f64; 3], high: [f64; 3]) -> Result<Domain, Error> {
        let (low, high) = (DVec3::from(low), DVec3::from(high));
        Domain::triclinic(low.into(), DMat3::from_diagonal(high - low).to_cols_array_2d())
    }

    /// A box that is repeated only along the axes that are marked; along the others, which are open, the corners do not
    /// matter. So particles of a plane, whose box has no height, are repeated along x and y.
    ///
    /// ```
    /// use impinge::broad::neighbours::{Domain, Particles};
    ///
    /// let plane = Domain::periodic_along([0.0; 3], [10.0, 10.0, 0.0], [true, true, false])?;
    /// let particles = Particles::new(&[[0.5, 0.5, 0.0], [9.8, 9.9, 0.0]], plane, 1.0)?;
    /// assert!(particles.is_pair(0, 1));
    /// # Ok::<(), impinge::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Domain::periodic`], along the marked axes.
    pub fn periodic_along(
        mut low: [f64; 3],
        mut high: [f64; 3],
        periodic: [bool; 3],
    ) -> Result<Domain, Error> {
        for k in (0..3).filter(|&k| !periodic[k]) {
            (low[k], high[k]) = (0.0, 1.0);
        }
        Ok(Domain::periodic(low, high)?.along(periodic))
    }

    /// A cell with the corner `origin` and the vectors a, b and c, repeated along all three.
    ///
    /// # Errors
    /// A number is not finite or too large, or the vectors do not span a volume. Boxes are refused where a length is
    /// not positive.
    pub fn triclinic(origin: [f64; 3], vectors: [[f64; 3]; 3]) -> Result<Domain, Error> {
        let refused = |reason: String| Err(Error::Argument { name: "periodic", reason });
        let numbers = origin.iter().chain(vectors.iter().flatten());
        if let Some(x) = numbers.into_iter().find(|x| !(x.abs() <= LARGEST_COORDINATE)) {
            return refused(format!("{x:?} is not a finite number up to 1e60"));
        }
        let columns = DMat3::from_cols_array_2d(&vectors);
        let is_box = is_diagonal(&columns);
        if is_box && let Some(k) = (0..3).find(|&k| !(vectors[k][k] > 0.0)) {
            return refused(format!("the box is {} long on axis {k}; it must be positive", vectors[k][k]));
        }
        // Cofactors by hand: of a box they are exact, and its rows are 1 / length.
        let crossed: [DVec3; 3] =
            std::array::from_fn(|k| columns.col((k + 1) % 3).cross(columns.col((k + 2) % 3)));
        let fractional: [DVec3; 3] = if is_box {
            std::array::from_fn(|k| DVec3::AXES[k] / vectors[k][k])
        } else {
            crossed.map(|c| c / columns.col(0).dot(crossed[0]))
        };
        if !fractional.iter().all(|g| g.is_finite() && g.length_squared() > 0.0) {
            return refused("the three vectors lie in a plane".to_string());
        }
        let longest = (0..3).fold(0.0, |most: f64, k| most.max(columns.col(k).length()));
        let domain = Domain { origin: origin.into(), vectors: columns, fractional, periodic: [true; 3] };
        if !is_box && domain.widths().into_iter().any(|width| width < longest * NARROWEST_CELL) {
            return refused(format!(
                "a vector of length {longest} is too long for widths {:?}",
                domain.widths()
            ));
        }
        Ok(domain)
    }

    /// The same cell, repeated only along the vectors that are marked.
    pub fn along(mut self, periodic: [bool; 3]) -> Domain {
        for (k, along) in periodic.into_iter().enumerate() {
            self.periodic[k] &= along;
            if !self.periodic[k] {
                self.fractional[k] = DVec3::ZERO;
            }
        }
        self
    }

    /// Along which vectors the cell is repeated.
    pub fn is_periodic(&self) -> [bool; 3] {
        self.periodic
    }

    /// The perpendicular width of the cell along each vector, infinite where it is open. Of a box these are the lengths of
    /// its edges; of a slanted cell they are off by a few roundings.
    pub fn widths(&self) -> [f64; 3] {
        let is_box = self.is_box();
        std::array::from_fn(|k| match self.periodic[k] {
            false => f64::INFINITY,
            true if is_box => self.vectors.col(k)[k],
            true => 1.0 / self.fractional[k].length(),
        })
    }

    /// Whether nothing is repeated.
    pub(crate) fn is_open(&self) -> bool {
        self.periodic == [false; 3]
    }

    /// Whether its vectors lie along the axes.
    pub(super) fn is_box(&self) -> bool {
        is_diagonal(&self.vectors)
    }

    /// Fractional coordinates; 0 along open vectors.
    #[inline]
    pub(super) fn fractional(&self, x: DVec3) -> [f64; 3] {
        self.fractional.map(|g| g.dot(x - self.origin))
    }

    /// x + shift·vectors.
    #[inline]
    pub(super) fn shifted(&self, x: DVec3, shift: [f64; 3]) -> DVec3 {
        x + self.vectors * DVec3::from(shift)
    }

    /// One of the cell's three vectors.
    pub(super) fn vector(&self, k: usize) -> DVec3 {
        self.vectors.col(k)
    }

    /// The shift that takes a difference of two wrapped positions to its shortest image, as far as that is shorter than
    /// half the smallest width.
    #[inline]
    pub(super) fn nearest_image(&self, d: DVec3) -> [f64; 3] {
        self.fractional.map(|g| -g.dot(d).round())
    }

    /// How many cells long a difference is along each vector after a shift; 0 along open ones.
    #[inline]
    pub(super) fn cells_away(&self, d: DVec3, shift: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|k| self.fractional[k].dot(d) + shift[k])
    }
}

fn is_diagonal(columns: &DMat3) -> bool {
    (0..3).all(|k| (0..3).all(|i| i == k || columns.col(k)[i] == 0.0))
}
