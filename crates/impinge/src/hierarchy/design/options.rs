//! Every choice in the design of a bounding-volume hierarchy in plain structs, and published systems as presets.

use crate::bound::Volume;

/// How a tree is designed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The volume of the nodes.
    pub volume: Volume,
    /// Another volume from a level on (the root is level 0), for a hybrid tree.
    pub below: Option<(u16, Volume)>,
    /// How the triangles are parted before anything else.
    pub partition: Partition,
    /// How they are grouped.
    pub build: Build,
    /// Children of a node, at most.
    pub degree: Degree,
    /// What a volume is made around.
    pub fit: Fit,
    /// Whether equal subtrees are stored once.
    pub structure: Structure,
    /// Triangles of a leaf, at most; 0 counts as 1.
    pub leaf: usize,
    /// Growth of [`super::Tree::cost`] since the build at which an update rebuilds; infinity for never.
    pub rebuild_at: f64,
}

/// How triangles are parted before they are grouped; trees built bottom-up take them as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Partition {
    /// Not at all.
    #[default]
    Whole,
    /// By the longest side of their box: x, y or z (box-trees).
    Orientation,
    /// By connected parts, so that equal parts give equal subtrees.
    Parts,
}

/// How triangles are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// The whole is divided, then its halves.
    TopDown {
        /// Where to divide.
        split: Split,
        /// Along which axis.
        axis: Axis,
    },
    /// Neighbours are paired, then the pairs: parallel locally-ordered clustering (Meister, Bittner 2018).
    BottomUp {
        /// How many neighbours on the space-filling curve are looked at, to each side.
        window: usize,
    },
}

/// Where a group is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// Equal numbers on both sides.
    #[default]
    Median,
    /// At the mean of the barycentres.
    Mean,
    /// Where the surface-area heuristic is least, over sixteen bins.
    SurfaceArea,
    /// In the middle of the space that the barycentres take.
    Midpoint,
    /// Two clusters about centres that are moved to their means.
    Clusters,
}

/// Along which axis a group is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Axis {
    /// The coordinate axis along which the barycentres spread most (all three for the surface-area
    /// heuristic).
    #[default]
    Longest,
    /// The direction of their largest variance.
    Principal,
}

/// Children of a node, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Degree {
    /// A binary tree.
    #[default]
    Two = 2,
    /// Four children.
    Four = 4,
    /// Eight children.
    Eight = 8,
}

/// What a node's volume is made around.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fit {
    /// All triangles below it: tighter.
    #[default]
    Wrapped,
    /// The volumes of its children: cheaper to build and to keep. The same for boxes and k-DOPs.
    Layered,
}

/// How nodes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Structure {
    /// Each node once for each place it is used at.
    #[default]
    Tree,
    /// Subtrees that are equal up to a translation once for all places.
    Dag,
}

/// How a query goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ask {
    /// How much is wanted.
    pub answer: Answer,
    /// The level at which to stop and to trust the volumes; `None` to go down to the triangles.
    pub stop: Option<u16>,
    /// Which node of an overlapping pair is opened.
    pub descend: Descend,
}

/// How much is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answer {
    /// Whether anything meets: the first pair ends the search.
    Detect,
    /// All pairs.
    #[default]
    Report,
}

/// Which node of an overlapping pair is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Descend {
    /// The larger one.
    #[default]
    Larger,
    /// Both at once.
    Both,
}

impl Options {
    /// Boxes, binary, surface-area heuristic: the plain choice.
    pub const DEFAULT: Options = Options {
        volume: Volume::Aabb,
        below: None,
        partition: Partition::Whole,
        build: Build::TopDown { split: Split::SurfaceArea, axis: Axis::Longest },
        degree: Degree::Two,
        fit: Fit::Wrapped,
        structure: Structure::Tree,
        leaf: 4,
        rebuild_at: 2.0,
    };

    /// OBBTree (Gottschalk, Lin, Manocha 1996): oriented boxes, divided at the mean along the axis of
    /// largest variance, one triangle a leaf.
    pub const OBB_TREE: Options = Options {
        volume: Volume::Obb,
        build: Build::TopDown { split: Split::Mean, axis: Axis::Principal },
        leaf: 1,
        ..Options::DEFAULT
    };

    /// The k-DOP tree (Klosowski et al. 1998): 18-DOPs, divided at the mean along a coordinate axis.
    /// The paper picks the axis by the children's volumes; the longest is taken here.
    pub const K_DOP_TREE: Options = Options {
        volume: Volume::Dop18,
        build: Build::TopDown { split: Split::Mean, axis: Axis::Longest },
        leaf: 1,
        ..Options::DEFAULT
    };

    /// The AABB tree of a deforming body (van den Bergen 1997): boxes, divided in the middle of space,
    /// refitted and never rebuilt.
    pub const AABB_TREE: Options = Options {
        volume: Volume::Aabb,
        build: Build::TopDown { split: Split::Midpoint, axis: Axis::Longest },
        fit: Fit::Layered,
        leaf: 1,
        rebuild_at: f64::INFINITY,
        ..Options::DEFAULT
    };

    /// Spherical shells (Krishnan et al. 1998) over patches.
    pub const SPHERICAL_SHELLS: Options = Options {
        volume: Volume::Shell,
        build: Build::TopDown { split: Split::Mean, axis: Axis::Principal },
        leaf: 4,
        ..Options::DEFAULT
    };

    /// A sphere tree in the manner of Hubbard's octree of spheres (1996), around the triangles. His
    /// second construction, spheres placed on the medial axis, is not this one.
    pub const SPHERE_TREE: Options = Options {
        volume: Volume::Sphere,
        build: Build::TopDown { split: Split::Midpoint, axis: Axis::Longest },
        degree: Degree::Eight,
        leaf: 1,
        ..Options::DEFAULT
    };

    /// Box-trees for industrial installations (Haverkort, de Berg, Gudmundsson 2004): one tree for each
    /// orientation of the longest side, each divided at the median.
    pub const BOX_TREE: Options = Options {
        volume: Volume::Aabb,
        partition: Partition::Orientation,
        build: Build::TopDown { split: Split::Median, axis: Axis::Longest },
        leaf: 1,
        ..Options::DEFAULT
    };

    /// In the manner of the BucketTree (Ganovelli, Dingliana, O'Sullivan 2000): an octree of boxes with
    /// buckets of triangles, kept up to date from the buckets that moved.
    pub const BUCKET_TREE: Options = Options {
        volume: Volume::Aabb,
        build: Build::TopDown { split: Split::Midpoint, axis: Axis::Longest },
        degree: Degree::Eight,
        fit: Fit::Layered,
        leaf: 16,
        ..Options::DEFAULT
    };

    /// The presets by name.
    pub const PRESETS: [(&'static str, Options); 8] = [
        ("default", Options::DEFAULT),
        ("OBBTree", Options::OBB_TREE),
        ("k-DOP tree", Options::K_DOP_TREE),
        ("AABB tree", Options::AABB_TREE),
        ("spherical shells", Options::SPHERICAL_SHELLS),
        ("sphere tree", Options::SPHERE_TREE),
        ("box-tree", Options::BOX_TREE),
        ("BucketTree", Options::BUCKET_TREE),
    ];

    /// The volume at a level.
    pub(super) fn volume_at(&self, level: u16) -> Volume {
        match self.below {
            Some((from, lower)) if level >= from => lower,
            _ => self.volume,
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options::DEFAULT
    }
}
