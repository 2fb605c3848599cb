//! Every constant that decides anything: its name, unit and reason.

/// Largest coordinate that is let in (a length). Products of three such numbers, as in a volume, stay
/// finite in f64.
pub const LARGEST_COORDINATE: f64 = 1e60;

/// How far the 3×3 part of a pose may be from orthonormal (no unit: entries of MᵀM − I). Poses printed
/// with five digits pass; a scaled or sheared matrix does not.
pub const POSE_ORTHONORMALITY: f64 = 1e-4;

/// How far from orthonormal a matrix may be and still count as a rotation (no unit: entries of MᵀM − I). A
/// quaternion divided by its norm gives entries that are off by a few roundings; products of a few dozen such
/// matrices stay below.
pub const ROTATION_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// How far from 1 the length of a contact's normal may be (no unit). Normals that went through f32 pass; a forgotten
/// normalisation does not.
pub const UNIT_NORMAL: f64 = 1e-6;

/// Rounding of placing points and comparing their projections (no unit: relative to the lengths that take
/// part). A placed coordinate, its way back through an inverted pose and a scalar product make fewer than
/// a hundred roundings of half an epsilon each.
pub const PLACING_ERROR: f64 = 128.0 * f64::EPSILON;

/// Factor that makes up for the roundings of a length: three products, two sums, a root, with room to
/// spare (no unit).
pub const ROUND_UP: f64 = 1.0 + 8.0 * f64::EPSILON;

/// Largest coordinate in units of a grid (no unit): differences of two stay finite in f32.
pub const GRID_FARTHEST: f32 = 1e37;

/// Units of a grid in its longest extent, at most (no unit): cells are counted in f32, whose integers are exact up to 2²⁴.
pub const GRID_FINEST: f32 = 1e6;

/// Smallest unit of a grid (a length): its inverse is finite.
pub const GRID_SMALLEST_UNIT: f64 = 1e-300;

/// Farthest border of a grid (a length): differences of two stay finite.
pub const GRID_LARGEST_EXTENT: f64 = 1e300;

/// Share of all sides that each side of a box counts more in an R*-tree (no unit): flat boxes, whose volume is 0, differ
/// too, and others hardly change their order.
pub const FLAT_BOX_SHARE: f64 = 1e-3;

#[cfg(any(test, feature = "unstable"))]
/// Farthest centre of a spherical shell, in sizes of its patch. A flat patch would ask for infinity; here
/// the shell of a flat patch is 1/128 of its size thick, and rounding stays far below that.
pub const FLATTEST_SHELL: f64 = 64.0;

#[cfg(any(test, feature = "unstable"))]
/// The grid on which subtrees are compared before they are shared (no unit: a factor of the mesh's size).
/// Copies moved in floats differ by 1e-16 of it; shared volumes grow by a few cells.
pub const SHARING_GRID: f64 = 1.0 / (1 << 26) as f64;

/// Rounding error of a difference of two dot products of coordinate differences, relative to the largest
/// components (no unit): three products and three sums of two rounded differences each, twice.
pub const DOT_ROUNDING: f64 = 32.0 * f64::EPSILON;

/// Lengths below this (a length) are scaled up before they are multiplied: fourth powers must not
/// underflow.
pub const SMALLEST_LENGTH_UNSCALED: f64 = 1e-50;

/// Lengths above this (a length) are scaled down before they are multiplied: sixth powers must not
/// overflow, and placed coordinates reach four times [`LARGEST_COORDINATE`].
pub const LARGEST_LENGTH_UNSCALED: f64 = 1e50;

/// Relative error of a determinant of three coordinate differences in f64 (no unit: a factor of the sum
/// of the absolute products). Eight roundings lie on the longest path; the bound is twice that.
pub const ORIENT_3D_FILTER: f64 = 16.0 * (f64::EPSILON / 2.0);

/// The same for a determinant of two differences; five roundings lie on the longest path.
pub const ORIENT_2D_FILTER: f64 = 8.0 * (f64::EPSILON / 2.0);

/// Rounding of the coefficients of the cubic that says when four moving points are coplanar (no unit: a factor of the
/// product xyz of the largest components of its three vectors). With u = ε/2: a component of u × v is off by
/// 2·3u + 2u = 8u of xy (two rounded differences and a product each, then a difference of at most 2xy), the sum of
/// two crosses by 2·8u + 4u = 20u of xy. Its product with w sums three terms: 3·(8 + 2 + 2)u + (4 + 6)u = 46u of
/// xyz for one cross, 3·(20 + 4 + 4)u + (8 + 12)u = 104u for the sum of two. A middle coefficient is a third of
/// both: (46 + 104 + 18)u / 3 + 2·6u = 68u = 34ε; the rest is for squares of u and for xyz itself.
pub const COPLANARITY_ROUNDING: f64 = 36.0 * f64::EPSILON;

/// Rounding of whatever is done with a cubic's Bernstein coefficients (no unit: a factor of the largest, B). The
/// powers are off by 12u, 33u and 22u of B, and are at most 6B, 12B and 8B; Horner's sums of up to 27B add
/// (8 + 20 + 20 + 26 + 26 + 27)u: 194u = 97ε for a value. A cut takes three rounds of x + (y − x)·c, 3u of B each:
/// eleven cuts make 99u, less than that.
pub const CUBIC_ROUNDING: f64 = 100.0 * f64::EPSILON;

/// Rounding of a component of the cross product of two vectors that were interpolated in time (no unit: a
/// factor of the product of their largest components): two products of about eight roundings each.
pub const MOVING_CROSS_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Rounding of that cubic's coefficients where they were computed with twice the digits and then rounded (no unit: a
/// factor of the largest): the sum of both parts, a third of it, and the third itself, half an epsilon each.
pub const COPLANARITY_REROUNDING: f64 = 2.0 * f64::EPSILON;

/// Rounding of that cubic's coefficients in double-double numbers (no unit: as [`COPLANARITY_ROUNDING`]): about forty
/// operations of 2⁻¹⁰² each on six products.
pub const COPLANARITY_TWOFOLD: f64 = 64.0 * f64::EPSILON * f64::EPSILON;

/// Vectors below this (a length) are not computed in double-double numbers: what is lost in products of three would
/// underflow.
pub const SMALLEST_TWOFOLD: f64 = 1e-60;

/// How far beyond a minimum separation moving features may be and still count as within it (no unit: a factor of
/// the separation). Smaller means more steps for features that slide along each other.
pub const SEPARATION_SLACK: f64 = 1e-3;

/// Directions of rays have a component of at least this (a length): the parameter of a point within the largest
/// coordinates is a double then.
pub const SHORTEST_DIRECTION: f64 = 1e-240;

/// How much earlier than the true first contact of moving features the reported time may be (no unit: a part of
/// the step). Far below what a simulation can tell, and floats mostly reach it.
pub const CONTACT_TIME: f64 = 1e-9;

/// How far the quotient of differences of doubles that gives the root of a linear function may be off (no unit:
/// relative). Two differences, a sum of like signs and the quotient round once each.
pub const LINEAR_ROOT_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Added to every filter of a determinant (unit: that of the determinant). Larger than what underflow
/// can hide: 2⁻¹⁰⁷⁵ for each product, times a third factor of at most 1e61.
pub const DETERMINANT_UNDERFLOW: f64 = 1e-250;

/// Coordinates that are zero or at least this large (a length) never underflow in expansion arithmetic:
/// three unit roundoffs of 2⁻³³² each multiply to 2⁻⁹⁹⁶, still an ordinary double.
pub const EXPANSION_SAFE: f64 = 5.147_557_589_468_029e-85;

/// Rounding of a placed box or corner in f64 (no unit: a factor of the numbers that enter it): about ten
/// roundings of u = 2⁻⁵³ for the corner and as many for the box; 64u covers both.
pub const PLACED_BOX_ROUNDING: f64 = 64.0 * (f64::EPSILON / 2.0);

/// Relative error of the f64 shadow of an exact number (no unit): 64 leading bits are kept, cast and
/// divided, three roundings of 2⁻⁵³; the bound is twice that.
pub const SHADOW_ROUNDING: f64 = 6.0 * (f64::EPSILON / 2.0);

/// Factor on the sum of two half extents in f32 before it is compared with the distance of two centres
/// (no unit): with u = 2⁻²⁴ the difference, the sum and the product are each off by at most u, so 1 + 8u
/// never parts boxes that touch.
pub const SINGLE_COMPARISON: f32 = 1.0 + 4.0 * f32::EPSILON;

/// A ray's first point this near to its origin (no unit: relative to the coordinates of the origin and of the shape)
/// may be the origin itself: placing a shape, turning a ray and solving for its end are about twenty roundings of
/// u = 2⁻⁵³. An exact predicate decides for triangles; curved surfaces take it for the origin.
pub const RAY_START_ROUNDING: f64 = 32.0 * f64::EPSILON;

/// Signed areas of a triangle seen along a ray (no unit: relative to its extent across the ray times its farthest
/// coordinate from the ray's origin) below which an exact predicate tells whether the ray lies in the triangle's
/// plane: shearing a corner takes three roundings of u = 2⁻⁵³, an area two more.
pub const EDGE_ON_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// What rounding can do to the height of a ray's point over a face of a hull, once the ray is brought into the hull's
/// frame (no unit: relative to the coordinates): some tens of roundings of u = 2⁻⁵³ of inverse, products and a quotient,
/// with room for the poses that are rotations to 1e-4 only.
pub const HULL_CHORD_ROUNDING: f64 = 1e-12;

/// What rounding can do to a point or box that is brought from one body's frame to another's (no unit: relative to the
/// coordinates): some tens of roundings of u = 2⁻⁵³, with room.
pub const SCENE_OVERLAP_ROUNDING: f64 = 1e-13;

/// How much larger than a moving shape its boxes are when a scene looks for what it may touch (no unit: relative to its
/// size and way): more than [`SWEEP_SLACK`], within which a sweep may tell a contact.
pub const CAST_BOX_SLACK: f64 = 1e-8;

/// Components of a ray's direction below this are raised to it (in units of a tree, of which the largest component is
/// at least 1e-12). Over the way through the tree that moves the ray by less than 2e-11 of the tree, and so by less
/// than the pad on its boxes.
pub const FLATTEST_RAY: f64 = 1e-24;

/// Squared feet below this (squared tree units) are at the point they are seen from: their directions tell
/// nothing. Above it no square that matters underflows in f32.
pub const FOOT_AT_THE_POINT: f32 = 1e-24;

/// Squared sine of the angle between two sides below which a triangle counts as its longest side when its
/// distance is estimated in f32 (no unit). f32 knows the square to 2⁻²²; below that any point of the side's
/// line could pass for the foot.
pub const THIN_TRIANGLE: f32 = 1e-5;

/// δ in (√x + s)² ≤ (1 + δ)·x + (1 + 1/δ)·s² (no unit), which saves a root at each step of a search. The
/// larger, the wider the search; the smaller, the more the rounding s counts.
pub const ROOTLESS_LIMIT: f32 = 1e-4;

/// How far the distance of a point from a triangle can be off (no unit: a factor of the largest coordinate).
/// A sliver of height h costs at most h, or eps·L/h in its plane where that is less: √eps·L at the worst,
/// with room to spare.
pub const FOOT_ERROR: f64 = 1e-7;

/// Lengths in a frame that is orthonormal within [`POSE_ORTHONORMALITY`] against those in the world, both ways
/// and with the rounding of a few f64 operations (no unit).
pub const STRETCH: f64 = 1.001;

/// Rounding of a corner of a Minkowski difference and of its projection (no unit: relative to its
/// coordinates): two placings, a difference and a scalar product.
pub const SUPPORT_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// How far the slab between two polytopes along the line of their nearest points may be thinner than the
/// points are apart, when the walk ended by rounding (no unit: relative to the coordinates). Above it every
/// pair of features is measured.
pub const SLAB_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Squared sine of the angle between two edges below which their cross product is computed with more than
/// the digits of f64 (no unit). Above it the product loses at most three of them.
pub const NEARLY_PARALLEL: f64 = 1e-6;

/// Width of a bracket that counts as closed (no unit: a factor of the distance): a norm, a scalar product and
/// a quotient in f64.
pub const GJK_CLOSED: f64 = 8.0 * f64::EPSILON;

/// A step of GJK that leaves more than this part of the distance is the last (no unit): what it wins is
/// rounding.
pub const GJK_STALLED: f64 = 1.0 - 4.0 * f64::EPSILON;

/// Width at which the bracket of a curved pair's depth counts as closed (no unit: a factor of the size).
pub const CURVED_DEPTH: f64 = 1e-13;

/// Squared sine of the angle between two edges below which their cross product needs more than f64 (no unit):
/// above it the product's direction is right to 1e-14.
pub const PARALLEL_EDGES: f64 = 1e-4;

/// Signed distances below this are decided in exact numbers (no unit: a factor of the sizes and coordinates):
/// several times what the searches' own rounding can be.
pub const TOO_CLOSE_TO_CALL: f64 = 256.0 * f64::EPSILON;

/// Curved shapes nearer than this count as touching (no unit: a factor of their sizes and their distance). Their
/// surfaces are no sets of doubles; this is a few times what their signed distance may be off.
pub const CURVED_TOUCH: f64 = 1e-12;

/// What the world's coordinates add to that (no unit: a factor of them): a placed corner is rounded once to a double of
/// the world, and shapes are measured from a point near them.
pub const CURVED_TOUCH_PLACED: f64 = 16.0 * f64::EPSILON;

/// Points nearer to a plane than this lie on it when a solid is cut (no unit: a factor of the solid's size).
/// Crossing points are off by a few roundings of their coordinates; real features are far larger.
pub const CUT_SLACK: f64 = 1e-12;

/// Unit normals that differ by less than this belong to one plane when cuts are chosen (no unit). A second cut
/// along the same plane would only cost time.
pub const SAME_PLANE: f64 = 1e-9;

/// Squared sine of the angle up to which a cap whose border lies in the plane of a cut is the cut's own (no unit: 45°).
/// The border decides; this only tells a cap in the plane from one that stands across it and has shrunk to a line there.
pub const SAME_CUT_SQ: f64 = 0.5;

/// Volume by which a hull may exceed its piece and still be the piece (no unit: a factor of the whole volume).
/// Volumes are sums of a few thousand products that are each off by some roundings.
pub const VOLUME_ROUNDING: f64 = 1e-10;

/// Signed distances of convex shapes up to this are not told from touching by their sign (no unit: a factor of
/// the largest coordinate of the closest points); the exact relation decides there.
pub const TOUCH_DOUBT: f64 = 1e-11;

/// Squared share of the way from an edge to a point that must lie across the edge (no unit). A true gap lies
/// across it up to rounding; less is left only when all of it is rounding.
pub const ALONG_THE_EDGE: f64 = 1e-6;

/// First turn of a normal that is polished (radians): as far as EPA's last faces are apart where its bracket
/// stays open.
pub const POLISH_FIRST_TURN: f64 = 0.05;

/// Last turn of a normal that is polished (radians): its square, by which a smooth minimum is missed, is below
/// rounding.
pub const POLISH_LAST_TURN: f64 = 1e-8;

/// Cosine of the largest angle between a contact normal and a face whose whole patch counts as the contact (no
/// unit): eight degrees. Beyond it edges cross and one point is the contact.
pub const FACE_CONTACT: f64 = 0.99;

/// How much better b's face must look along the normal than a's to be the one that clips (no unit: a
/// difference of cosines). Rounding must not exchange them from frame to frame.
pub const SAME_FACE_CONTACT: f64 = 1e-4;

/// Cosine below which an edge counts as lying across a direction when touching features are named (no unit):
/// what the normal of a face or a pair of edges is off by, with room to spare.
pub const ACROSS: f64 = 1e-12;

/// Products of two lengths below this (a squared length) may have lost digits to underflow.
pub const SMALLEST_PRODUCT: f64 = 1e-280;

/// Radii of an ellipsoid below this are raised to it before its feet are searched, and places below it are zero
/// (no unit: a factor of the largest radius): their squares and products must not underflow, and the change is
/// far below rounding.
pub const THINNEST_ELLIPSOID: f64 = 1e-150;

/// Rounding of a pose at an instant and of a point placed by it (no unit: a factor of the lengths that take part
/// and of the way of a point round its axis): sines, a product of quaternions, a matrix and a placement make
/// about forty roundings of half an epsilon.
pub const MOTION_ROUNDING: f64 = 32.0 * f64::EPSILON;

/// How far the quaternion between two rotations can be off (no unit, twice that in radians). Below it a turn
/// cannot be told from none, nor its complement from half a turn.
pub const TURN_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Largest tan(ω/2) for which the screw law of Redon, Kheddar and Coquillart (2001) is taken in one piece (no
/// unit): turns up to 179.9 degrees. Nearer to the pole the shift would happen in the last moment of the step.
pub const LARGEST_CONTACT_TANGENT: f64 = 1024.0;

/// How much too early the time of an impact may be unless told otherwise (in units of the step).
pub const SWEEP_TOLERANCE: f64 = 1e-6;

/// How much too early an impact may be at most where bodies are stopped at a gap before it anyway (in units of the
/// step): slow bodies do not cover the gap in a step, and times are still to be told apart.
pub const GAP_TIME_TOLERANCE: f64 = 1.0 / 1024.0;

/// How much farther than everything else about a motion its way is for its rounding to be told span by span (no unit).
/// Below it the rounding of the farthest place is below the slack of a sweep.
pub const LONG_FLIGHT: f64 = (1 << 16) as f64;

/// How much farther from the origin than from each other, and than they reach and go, bodies are for their sweep, or
/// the distance of a curved one, to be seen from a point near them (no unit). Below it rounding in the world is far below the slack.
pub const FAR_FROM_ORIGIN: f64 = 64.0;

/// How far the computed axis of a motion is from the true one (no unit: a factor of the lengths it is computed from;
/// also the angle by which it is tilted): some ten operations and a tangent.
pub const AXIS_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Rounding of the coordinates that a screw leaves unchanged (no unit: a factor of the bodies' distance from the axis).
pub const SCREW_SHADOW_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// How near moving surfaces may come without a contact and still be called an impact, unless told otherwise (no
/// unit: a factor of the scene's size).
pub const SWEEP_SLACK: f64 = 1e-9;

/// How near a link of an articulated body may come on its path without a hit, unless told otherwise (no unit: a
/// factor of the body's size). Steps near a contact are as short as this.
pub const PATH_TOLERANCE: f64 = 1e-6;

/// Rounding of a corner of a triangle and of its shadow on an axis in the test with a box (no unit: a factor of
/// the sum of the largest coordinates).
pub const BOX_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Rounding of the distance of a moving and a resting sphere (no unit: a factor of the lengths that take part, or
/// of their square): about thirty products and sums.
pub const SPHERE_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Rounding of the polynomial that vanishes where a moving and a resting feature lie in one plane (no unit: a
/// factor of the product of two edges and the lengths that take part): about sixty products and sums, and the
/// rounding of the places they start from.
pub const COPLANAR_ROUNDING: f64 = 128.0 * f64::EPSILON;

/// A corner of a contact patch nearer than this to the line between its neighbours is left out (no unit: a factor
/// of the patch's extent). A box that stands on its like has corners twice and edges crossing anywhere but for
/// rounding and drift; the area changes by as little.
pub const SAME_PATCH_CORNER: f64 = 1e-4;

/// How far from an old point of a contact patch a new one with other features may lie to be the same (no unit:
/// a factor of the patch's extent). Corner on corner, drift changes which features make a point.
pub const SAME_PATCH_POINT: f64 = 0.02;

/// Sine of the angle by which a surface around a contact may rise along a direction that still separates it (no
/// unit). The places that the surfaces are seen from are uncertain by less.
pub const PARTING_RISE: f64 = 0.02;

/// Sines of such angles that differ by less are equal (no unit): both are rounding where surfaces are flat.
pub const EQUAL_RISE: f64 = 1e-9;

/// A cut of a decomposition has to be better by this share (no unit), so that rounding decides nothing.
pub const CUT_GAIN: f64 = 1e-6;

/// The error that a generalised winding number may have (no unit: turns). Far below the half turn that tells inside
/// from outside; smaller ones cost more triangles taken one by one.
pub const WINDING_ERROR: f64 = 1e-6;

/// Rounding of the normal of a shell's facet and of what is measured along it (no unit: a factor of the distance from
/// its centre); derived in `narrow/sampled/shells/frame.rs`.
pub const FACET_TURN_ROUNDING: f64 = 2048.0 * f64::EPSILON;

/// Rounding of the centre of a shell's facet (no unit: a factor of the largest coordinate of its corners): two sums and
/// a division.
pub const FACET_POSITION_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Triangles thinner than this (no unit: twice the area over the square of the longest side) carry a facet rigidly: how
/// they are stretched across says nothing about what lies around them.
pub const FACET_NEEDLE: f64 = 1.0 / 1024.0;

/// Rounding of the largest stretch of a facet's plane (no unit: a factor of the products that it is summed from).
/// The inverse of two sides loses 1/[`FACET_NEEDLE`] of its digits, over about eight roundings.
pub const FACET_STRETCH_ROUNDING: f64 = 16.0 / FACET_NEEDLE * f64::EPSILON;

/// Rounding of an exact volume (no unit: a factor of the sum of the absolute values that it is made of). Each of them
/// carries the rounding of a crossing point, of a normal and of a height, some ten operations; the sum is compensated.
pub const OVERLAP_ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Cosine below which a translation counts as across an axis (no unit): along it nothing changes but by rounding.
pub const SHIFT_ACROSS: f64 = 1e-13;

/// Squared sine of the angle below which the planes of two triangles count as parallel (no unit): the cross products of
/// their sides then say nothing about what is beside each other, and the normals of the sides are asked as well.
pub const PARALLEL_PLANES_SQ: f64 = 1e-12;

/// A gap along a translation shorter than this is none (no unit: a factor of the bodies' extent): triangles that share
/// a side are passed one after the other without one but for rounding.
pub const FREE_GAP: f64 = 1e-12;

/// Pairs of triangles that part within this of the last one are told as parting with it (no unit: a factor of the
/// bodies' extent).
pub const SAME_EXIT: f64 = 1e-9;

/// A turn of a direction that shortens the way out by less than this share is not taken (no unit).
pub const WORTH_TURNING: f64 = 1e-7;

/// The first turn of a direction that is to be improved (radians): the distance of neighbours among some hundred
/// directions on the sphere.
pub const TURN_FIRST: f64 = 0.12;

/// The last turn of a direction that is to be improved (radians): the length then changes by less than a thousandth.
pub const TURN_LAST: f64 = 1e-3;

/// Cosine of the angle to its mean normal up to which an open surface may push when it pushes to one side (no unit: 60°).
/// Directions farther off lead out past its border, or nearly along it.
pub const PUSHED_ALONG: f64 = 0.5;

/// Where a bend of a surface ends to be flat (no unit: the sine of the angle). What lies under it is off by as little of
/// its depth.
pub const CREASE: f64 = 1e-4;

/// How far the normal of a triangle may be from that of a contact where the surface counts as flat (no unit: a sine):
/// rounding of both.
pub const FLAT_THERE: f64 = 1e-9;

/// How far a contact normal may leave the Voronoi region of its feature (no unit: a sine), for rounding.
pub const REGION_EDGE: f64 = 1e-9;

/// By how much the depth of a contact is lengthened before it is tried as a translation that parts the bodies (no unit:
/// relative). Above the rounding of depths, and far below what anybody measures.
pub const GUESS_LENGTHENED: f64 = 1e-9;

/// What a separating translation is first lengthened by when rounding leaves the bodies in contact (no unit: a factor
/// of the coordinates).
pub const LENGTHENED_FIRST: f64 = 4.0 * f64::EPSILON;

/// A translation that must be lengthened by more than this is along no way out but by rounding (no unit: a factor of the
/// coordinates): far above the rounding of a way out along a slanted direction, and far below what anybody measures.
pub const LENGTHENED_LITTLE: f64 = 1e-10;

/// Convex parts or triangles nearer to each other than this along a translation count as meeting (no unit: a factor of the
/// bodies' extent): some roundings of their distance, and well below [`FREE_GAP`].
pub const INTERVAL_CLOSED: f64 = 64.0 * f64::EPSILON;

/// A point of a contact patch that is shallower than the penetration depth by less than this is the deepest one (no
/// unit: a factor of the coordinates).
pub const SAME_DEPTH: f64 = 1e-10;

/// How far a contact may have gone on both bodies in a step to be the same still (no unit: a factor of the smaller
/// body's extent): what rolls changes its place on both.
pub const ROLLED: f64 = 0.1;

/// Cosine of the angle up to which the normal of a contact that rolled on may have turned (no unit).
pub const SAME_CONTACT_NORMAL: f64 = 0.9;

/// Cutoffs below this (a length) are scaled up before distances of particles are squared: the square of such a length
/// is 1e-280, and what its rounding loses to subnormal numbers lies far below. Structures bring all particles that are
/// nearer to each other as candidates, so that a set which is itself no larger is searched pair by pair.
pub const SMALLEST_CUTOFF_UNSCALED: f64 = 1e-140;

/// How much farther than a cutoff images of particles are made beyond the border of a periodic cell (no unit: fractions
/// of the cell). A fractional coordinate is three products and sums of a position inside the cell, off by a few ε over
/// [`NARROWEST_CELL`].
pub const IMAGE_MARGIN: f64 = 1e-9;

/// Smallest width of a triclinic cell (no unit: a factor of its longest vector). In narrower ones rounding would hide
/// which image is nearest.
pub const NARROWEST_CELL: f64 = 1e-5;

/// What a vector of a periodic cell has to become shorter by for its reduction to go on (no unit: a factor of its square).
/// The search for nearest images has more room than that, and rounding of squares far less.
pub const REDUCED_ENOUGH: f64 = 1.0 - 1e-9;

/// How much farther than two particles can be as a pair a structure looks for candidates (no unit: a factor of the
/// largest coordinate, and of the cutoff). Positions of images are rounded once for each axis, differences and squares
/// a few times.
pub const CANDIDATE_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Layers of an image nearer to each other than this are in the same place (no unit: a factor of the largest coordinate
/// of the image's box). The depth of a plane over a sample carries some ten roundings, more where it is steep.
pub const LAYER_ROUNDING: f64 = 4096.0 * f64::EPSILON;

/// The stated error of a volume from images, in units of the standard deviation that the roughness of their columns lets
/// expect. With this and the next three, at each of seven resolutions from 16 to 256 pixels, at least 99.8 % of 2,000
/// random placements of ten bodies (seeds of their own) stayed within the stated error, whose median was 5 to 7 times that
/// of the real one; of 1,200 bodies that met themselves, in their own place or nearly, at least 99.7 %, with 2 to 20 times.
pub const IMAGE_DEVIATIONS: f64 = 0.6;

/// The same, in units of the standard error of the mean of the three images.
pub const IMAGE_SPREAD: f64 = 1.03;

/// Images of which the roughest has a variance larger than the others by less than this err alike, the more so the less
/// it is (no unit: a share of the variance). Those of a ball of 1,280 triangles differ by up to a tenth.
pub const IMAGE_ALIKE: f64 = 0.25;

/// The standard deviation of images that err alike, in units of that which the roughness of each lets expect (no unit).
/// Balls at 12 to 320 pixels were off by up to 1.3 of those; this times [`IMAGE_DEVIATIONS`] is a little more.
pub const IMAGE_ALIKE_DEVIATIONS: f64 = 2.4;

/// The order of the error of a volume from images in the size of a pixel (no unit), seen on random placements.
pub const IMAGE_ORDER: f64 = 1.5;

/// The stated relative error of a volume from images of one pixel, if the order held there (no unit): as a rule.
pub const IMAGE_FIRST_ERROR: f64 = 0.9;

/// Points nearer than this have no direction between them, and directions that differ by less are one (no unit: a factor
/// of their coordinates): the rest is rounding.
pub const NO_DIRECTION: f64 = 1e-12;

/// Squared distances that differ by a smaller share are equal (no unit): an edge or a corner belongs to several
/// triangles, each of which tells its distance with its own rounding.
pub const SAME_SQUARE: f64 = 1e-12;

/// Cosine of the angle up to which a flat end counts as lying on a face, so that several points of its rim are looked at
/// (no unit).
pub const LYING_END: f64 = 0.9;

/// Bodies that touch are looked at around the place where they do, up to this far (no unit: a factor of their extent).
pub const TOUCH_WINDOW: f64 = 1e-3;

/// How much farther than its cover radius a search goes below a centre of the spanner's hierarchy (no unit: a factor of
/// the squared radius). The radius bounds a chain of distances, each rounded by some ε; a chain of all levels, about a
/// thousand of them whose lengths halve, stays below it by far.
pub const COVER_ROUNDING: f64 = 1.0 + 1e-12;

/// Rounding of the time at which two particles meet (no unit: a factor of the terms that are added). Places, products
/// and sums of the quadratic are off by some ε each, and the time is rounded so much earlier.
pub const CONTACT_TIME_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Lengths and velocities below this (a length, or a length over a time) are scaled up before products of four of them
/// decide when particles meet: 1e-160, so that what is lost to subnormal numbers lies far below.
pub const SMALLEST_TRAJECTORY_UNSCALED: f64 = 1e-40;

/// Parts of a column on the graphics processor that are shorter than this are nothing but rounding (in 2⁻²⁸ of the common
/// box). Depths there come from a slope in f32 and two products.
#[cfg(feature = "gpu")]
pub const GPU_LAYER_ROUNDING: i32 = 64;

/// Layers of two bodies on the graphics processor that are nearer than this are in the same place (in 2⁻²⁸ of the common
/// box). More would take layers for one that the processor tells apart.
#[cfg(feature = "gpu")]
pub const GPU_SAME_PLACE: i32 = 4;

/// How far inside an interval of a column its ends are asked whether they are enclosed (no unit: a share of the
/// interval): at the ends themselves lies the surface, where the answer jumps.
pub const INTERVAL_NUDGE: f64 = 1e-6;

/// What the number of bins is multiplied by when centres are dealt to them (no unit): slightly less than 1, so that
/// the highest centre falls into the last bin and not behind it.
pub const WITHIN_THE_LAST_BIN: f32 = 1.0 - 1e-6;

/// How nearly the normal of a contact looks along that of the deepest one where the depth along the latter has to clear
/// both (no unit: a cosine, 26°). Contacts farther apart press from different sides, and one of them alone tells too much.
pub const SAME_WAY_OUT: f64 = 0.9;

/// By how much a contact has to be deeper along the normal of the deepest one before it is told so (no unit: a factor of
/// the body's reach).
pub const DEEPER_ALONG: f64 = 1e-6;
