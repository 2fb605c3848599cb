//! A mesh with its tree.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use glam::DVec3;

use super::attachments::Attachments;
use super::prepare::{Fact, Paid};
use crate::bound::{Aabb, Sphere};
use crate::hierarchy::cancelled_triangles::CancelledTriangles;
use crate::hierarchy::component_extremes::ComponentExtremes;
use crate::hierarchy::dipole::Dipoles;
use crate::hierarchy::disc_bound::DiscBounds;
use crate::hierarchy::leaf_block::LeafBlocks;
use crate::hierarchy::point_tree::PointTree;
use crate::hierarchy::ray_tree::RayTree;
use crate::hierarchy::sphere_cover::SphereCover;
use crate::hierarchy::uncovered_triangles::UncoveredTriangles;
use crate::hierarchy::wide::{Decay, WideTree};
use crate::num::parallel::once;
use crate::num::tolerance::ROUND_UP;
use crate::shape::{LazyPolytope, Polytope, TetMesh, Topology};
use crate::{Budget, Error, Mesh};

/// Numbers the models in the order in which they are made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// A mesh ready for queries.
#[derive(Debug, Clone)]
pub struct Model {
    identity: u64,
    mesh: Mesh,
    /// The tetrahedra whose surface the mesh is.
    solid: Option<Arc<TetMesh>>,
    corner_box: OnceLock<Aabb>,
    corner_ball: OnceLock<Sphere>,
    pub(super) tree: OnceLock<WideTree>,
    pub(super) topology: OnceLock<Arc<Topology>>,
    pub(super) component_extremes: OnceLock<ComponentExtremes>,
    cancelled_triangles: OnceLock<Option<CancelledTriangles>>,
    uncovered_triangles: OnceLock<UncoveredTriangles>,
    pub(super) hull: OnceLock<Option<Arc<LazyPolytope>>>,
    pub(super) leaf_blocks: OnceLock<LeafBlocks>,
    pub(super) disc_bounds: OnceLock<DiscBounds>,
    pub(super) point_tree: OnceLock<PointTree>,
    pub(super) ray_tree: OnceLock<RayTree>,
    pub(super) dipoles: OnceLock<Dipoles>,
    pub(super) sphere_cover: OnceLock<Result<SphereCover, Error>>,
    turned_components: OnceLock<Option<Vec<bool>>>,
    pub(super) paid: Paid,
    attachments: Attachments,
}

impl Model {
    /// A number that no other model has but copies of this one: memories know their models by it.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// The mesh as it came.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The tetrahedra whose surface the mesh is, if it is one of a solid of tetrahedra.
    pub fn solid(&self) -> Option<&TetMesh> {
        self.solid.as_deref()
    }

    /// The box of its triangles' corners, to the bit; found at the first call and kept.
    pub(super) fn corner_box(&self) -> Aabb {
        let find = || {
            let corners = self.mesh.triangles().as_flattened().iter();
            let corners = corners.map(|&v| self.mesh.vertices()[v as usize]);
            corners.fold(Aabb::EMPTY, |b, p| Aabb { low: b.low.min(p), high: b.high.max(p) })
        };
        *self.corner_box.get_or_init(find)
    }

    /// A ball around its triangles' corners, about the middle of their box; found at the first call and kept.
    pub(super) fn corner_ball(&self) -> Sphere {
        let find = || {
            let centre = self.corner_box().centre();
            let corners = self.mesh.triangles().as_flattened().iter();
            let away = corners.map(|&v| self.mesh.vertices()[v as usize].distance_squared(centre));
            Sphere { centre, radius: away.fold(0.0, f64::max).sqrt() * ROUND_UP }
        };
        *self.corner_ball.get_or_init(find)
    }

    /// Whether that box was found before.
    pub(super) fn knows_corner_box(&self) -> bool {
        self.corner_box.get().is_some()
    }

    /// The tree over its triangles; built at the first call and kept.
    #[inline]
    pub fn tree(&self) -> &WideTree {
        once(&self.tree, || WideTree::build(&self.mesh))
    }

    /// Its connectivity after welding; found at the first call and kept.
    pub fn topology(&self) -> &Topology {
        once::<Arc<Topology>>(&self.topology, || Arc::new(Topology::of(&self.mesh)))
    }

    /// The farthest corners of its components; found at the first call and kept.
    pub fn component_extremes(&self) -> &ComponentExtremes {
        let find = || ComponentExtremes::new(&self.mesh, self.tree().frame(), self.topology());
        once(&self.component_extremes, find)
    }

    /// The triangles that cancel each other, if some do and others do not; found at the first call and kept.
    pub fn cancelled_triangles(&self) -> Option<&CancelledTriangles> {
        let find = || CancelledTriangles::new(&self.mesh, self.tree().frame(), self.topology());
        once(&self.cancelled_triangles, find).as_ref()
    }

    /// Whether a triangle is already known to be cancelled by its copies.
    #[inline]
    pub(crate) fn is_known_as_cancelled(&self, triangle: u32) -> bool {
        self.cancelled_triangles
            .get()
            .is_some_and(|known| known.as_ref().is_some_and(|c| c.contains(triangle)))
    }

    /// Whether no other triangle covers a part of this one at any pose with so small a placement error (world units, per
    /// axis); found at the first question about the triangle and kept. False where that is not proved.
    #[inline]
    pub(crate) fn is_surely_uncovered(&self, triangle: u32, placement: f64) -> bool {
        let (tree, blocks) = (self.tree(), self.leaf_blocks());
        let count = self.mesh.triangles().len();
        let known = || once(&self.uncovered_triangles, || UncoveredTriangles::new(count));
        UncoveredTriangles::allows(tree, placement) && known().contains(triangle, &self.mesh, tree, blocks)
    }

    /// The convex hull of its triangles; built at the first call and kept. None when it has too many vertices.
    pub fn hull(&self) -> Option<&Arc<LazyPolytope>> {
        let build = || {
            let hull = Polytope::hull(&self.used_points()).ok()?;
            Some(Arc::new(Arc::new(hull).into()))
        };
        once(&self.hull, build).as_ref()
    }

    /// The vertices that triangles use, in the order of the mesh.
    pub(crate) fn used_points(&self) -> Vec<DVec3> {
        let mut used: Vec<u32> = self.mesh.triangles().as_flattened().to_vec();
        used.sort_unstable();
        used.dedup();
        used.iter().map(|&v| self.mesh.vertices()[v as usize]).collect()
    }

    /// Its triangles in f32, by the bottom nodes of the tree; copied at the first call and kept.
    pub fn leaf_blocks(&self) -> &LeafBlocks {
        once(&self.leaf_blocks, || LeafBlocks::new(&self.mesh, self.tree()))
    }

    /// Tight volumes around its small subtrees; fitted at the first call and kept.
    pub fn disc_bounds(&self) -> &DiscBounds {
        once(&self.disc_bounds, || DiscBounds::new(self.tree(), self.leaf_blocks()))
    }

    /// The patches of its surface, for questions from points; built at the first call and kept.
    pub fn point_tree(&self) -> &PointTree {
        once(&self.point_tree, || PointTree::new(&self.mesh, self.tree().frame()))
    }

    /// The tree for rays; built at the first call and kept.
    #[inline]
    pub fn ray_tree(&self) -> &RayTree {
        once(&self.ray_tree, || RayTree::new(&self.mesh))
    }

    /// Its surface seen from far away, for winding numbers of open surfaces; summed up at the first call and
    /// kept.
    pub fn dipoles(&self) -> &Dipoles {
        once(&self.dipoles, || Dipoles::new(&self.mesh, self.tree()))
    }

    /// Equal spheres over its surface, as the method CONTACT uses them; built at the first call and kept.
    ///
    /// # Errors
    /// Triangles so small that more than 2²⁴ spheres would lie side by side.
    pub fn sphere_cover(&self) -> Result<&SphereCover, Error> {
        once(&self.sphere_cover, || SphereCover::automatic(&self.mesh)).as_ref().map_err(Error::clone)
    }

    /// For each component whether its triangles look into the solid, `None` for an open mesh, as `find` tells; found at
    /// the first call and kept.
    #[inline]
    pub(crate) fn turned_components(&self, find: fn(&Model) -> Option<Vec<bool>>) -> Option<&[bool]> {
        once(&self.turned_components, || find(self)).as_deref()
    }

    /// Whether the sides of its components are known.
    pub(crate) fn knows_turned_components(&self) -> bool {
        self.turned_components.get().is_some()
    }

    /// What a method builds once for the mesh, by its type: built at the first call for so many units of the budget,
    /// and kept. `None` when they cannot be paid.
    pub(crate) fn attached<T: Any + Send + Sync>(
        &self,
        units: u64,
        budget: &mut Budget,
        build: impl FnOnce(&Model) -> T,
    ) -> Option<Arc<T>> {
        let known = self.attachments.get();
        if known.is_some() || !budget.charge_all(units) {
            return known;
        }
        Some(self.attachments.get_or_build(|| build(self)))
    }

    /// What a method has built for the mesh, by its type.
    pub(crate) fn known<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.attachments.get()
    }

    /// The surface of a solid of tetrahedra.
    ///
    /// # Errors
    /// No surface is left: every tetrahedron is flat.
    pub fn of_solid(solid: TetMesh) -> Result<Model, Error> {
        let surface = solid.surface()?;
        Ok(Model { solid: Some(Arc::new(solid)), ..Model::from(surface) })
    }

    /// The same mesh with nothing built or paid yet.
    pub fn unprepared(&self) -> Model {
        Model { solid: self.solid.clone(), ..Model::from(self.mesh.clone()) }
    }

    /// Moves the vertices, those of the solid for a solid of tetrahedra. The tree is refitted, or rebuilt where
    /// it decayed; what else was built for searches is fitted to the new positions, the connectivity stays unless
    /// other vertices coincide. The rest is found anew when first needed.
    ///
    /// # Errors
    /// Another number of vertices, or a coordinate that is not finite or beyond 1e60; nothing is changed then.
    pub fn set_vertices(&mut self, vertices: Vec<DVec3>) -> Result<(), Error> {
        let (now, given) = (self.mesh.vertices().len(), vertices.len());
        if now != given {
            let reason = format!("{given} positions for {now} vertices");
            return Err(Error::Argument { name: "vertices", reason });
        }
        let (mesh, solid) = match &self.solid {
            None => (Mesh::from_points(vertices, self.mesh.triangles().to_vec())?, None),
            Some(solid) => {
                // A tetrahedron that turns inside out changes the surface.
                let solid = TetMesh::new(vertices, solid.tetrahedra().to_vec())?;
                (solid.surface()?, Some(Arc::new(solid)))
            }
        };
        if mesh.triangles() != self.mesh.triangles() {
            let tree = self.tree.get().map_or_else(OnceLock::new, |_| WideTree::build(&mesh).into());
            *self = Model { solid, tree, ..Model::from(mesh) };
            return Ok(());
        }
        let following = Fact::FOLLOWING.map(|fact| self.expects(fact).then_some(fact));
        let paid = self.paid.carried(|fact| self.knows(fact));
        let topology = match self.topology.take() {
            Some(old) if old.weld().is_of(mesh.vertices()) => old.into(),
            _ => OnceLock::new(),
        };
        let (mut tree, mut point_tree) = (OnceLock::new(), OnceLock::new());
        if let Some(mut old) = self.tree.take() {
            let rebuilt = old.refit_or_rebuild(&mesh, Decay::DEFAULT).rebuilt;
            if let Some(patches) = self.point_tree.get().filter(|_| !rebuilt) {
                point_tree = patches.refitted(&mesh, old.frame()).into();
            }
            tree = old.into();
        }
        *self = Model { solid, tree, topology, point_tree, paid, ..Model::from(mesh) };
        following.into_iter().flatten().for_each(|fact| self.build(fact));
        Ok(())
    }
}

impl From<Mesh> for Model {
    fn from(mesh: Mesh) -> Model {
        Model {
            identity: MADE.fetch_add(1, Ordering::Relaxed),
            mesh,
            solid: None,
            corner_box: OnceLock::new(),
            corner_ball: OnceLock::new(),
            tree: OnceLock::new(),
            topology: OnceLock::new(),
            component_extremes: OnceLock::new(),
            cancelled_triangles: OnceLock::new(),
            uncovered_triangles: OnceLock::new(),
            hull: OnceLock::new(),
            leaf_blocks: OnceLock::new(),
            disc_bounds: OnceLock::new(),
            point_tree: OnceLock::new(),
            ray_tree: OnceLock::new(),
            dipoles: OnceLock::new(),
            sphere_cover: OnceLock::new(),
            turned_components: OnceLock::new(),
            paid: Paid::default(),
            attachments: Attachments::default(),
        }
    }
}
