//! Open meshes within which another body may lie, which is not decided: they have no inside.

use glam::DVec3;

use super::Query;
use crate::bound::Aabb;
use crate::model::{Placed, component_bounds};
use crate::{Error, Shape};

impl Query<'_> {
    /// Which of two bodies that do not meet, a and b, are open meshes within which the other or a connected part of it may
    /// lie: it lies in their box. Relations and distances say nothing about that, as an open mesh has no inside. What the
    /// budget leaves unknown is not told.
    ///
    /// # Errors
    /// None so far.
    pub fn open_around<'s>(
        &mut self,
        a: impl Into<Placed<'s>>,
        b: impl Into<Placed<'s>>,
    ) -> Result<[bool; 2], Error> {
        let (a, b) = (a.into(), b.into());
        Ok([self.is_open_around(&a, &b)?, self.is_open_around(&b, &a)?])
    }

    /// Whether a body is an open mesh in whose box any of some points lie; see [`Query::open_around`].
    ///
    /// # Errors
    /// None so far.
    pub fn open_around_points<'s>(
        &mut self,
        a: impl Into<Placed<'s>>,
        points: &[DVec3],
    ) -> Result<bool, Error> {
        let a = a.into();
        Ok(self.is_open_mesh(a.shape())? && {
            let room = a.geometry().corner_bounds(&a.pose());
            points.iter().any(|&p| room.holds(&Aabb { low: p, high: p }))
        })
    }

    fn is_open_around(&mut self, outer: &Placed<'_>, inner: &Placed<'_>) -> Result<bool, Error> {
        if !self.is_open_mesh(outer.shape())? {
            return Ok(false);
        }
        let room = outer.geometry().corner_bounds(&outer.pose());
        let whole = inner.geometry().corner_bounds(&inner.pose());
        if room.holds(&whole) {
            return Ok(true);
        }
        // Its connectivity is found within the budget too.
        if !room.meets(&whole) || self.is_closed(inner.shape())?.value.is_none() {
            return Ok(false);
        }
        let parts = component_bounds(inner.geometry(), &inner.pose(), &mut self.budget);
        Ok(parts.is_some_and(|parts| parts.iter().any(|part| room.holds(part))))
    }

    fn is_open_mesh(&mut self, shape: &Shape) -> Result<bool, Error> {
        Ok(shape.as_mesh().is_some() && self.is_closed(shape)?.value == Some(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mesh, Pose, procedural};

    /// A cube of half extent 2 without its lid, of twelve triangles less two.
    fn open_box() -> Shape {
        let cube = procedural::cuboid([2.0; 3], [1; 3]).unwrap();
        Mesh::from_points(cube.vertices().to_vec(), cube.triangles()[2..].to_vec()).unwrap().into()
    }

    #[test]
    fn only_what_may_lie_within_an_open_mesh_is_left_undecided() {
        let (tray, small) = (open_box(), Shape::from(procedural::cuboid([0.5; 3], [1; 3]).unwrap()));
        let at = |x: f64| Pose::from_translation([x, 0.0, 0.0]).unwrap();
        let mut query = Query::default();
        let mut ask = |a: Placed<'_>, b: Placed<'_>| query.open_around(a, b).unwrap();
        assert_eq!(ask(Placed::from(&tray), Placed::from(&small)), [true, false]);
        assert_eq!(ask(small.at(at(1.0)), Placed::from(&tray)), [false, true]);
        assert_eq!(
            ask(Placed::from(&tray), small.at(at(2.75))),
            [false; 2],
            "boxes meet, none holds the other"
        );
        assert_eq!(
            ask(Placed::from(&tray), tray.at(at(0.5))),
            [false; 2],
            "two open meshes beside each other"
        );
        let ball = Shape::sphere(0.25).unwrap();
        let two = Shape::compound([(ball.clone(), at(9.0)), (ball, at(1.0))]).unwrap();
        assert_eq!(ask(Placed::from(&tray), Placed::from(&two)), [true, false], "a part of it");
        for (x, told) in [(1.0, true), (2.0, true), (2.5, false)] {
            let far = DVec3::new(50.0, 0.0, 0.0);
            assert_eq!(query.open_around_points(&tray, &[far, DVec3::X * x]).unwrap(), told, "{x}");
            assert!(!query.open_around_points(&small, &[DVec3::ZERO]).unwrap(), "closed");
        }
    }
}
