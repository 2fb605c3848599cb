//! Meshes of zero-area triangles are points and segments: their welded edges cancel, but nothing is in them.

use impinge::{Relation, Shape, relation};

fn triangle(corners: [[f64; 3]; 3]) -> Shape {
    Shape::mesh(corners.to_vec(), vec![[0, 1, 2]]).unwrap()
}

fn at_rest(a: &Shape, b: &Shape) -> Relation {
    let found = relation(a, b);
    assert_eq!(relation(b, a), found.swapped());
    found
}

#[test]
fn a_point_on_a_segment_touches_it() {
    let (o, y) = ([0.0; 3], [0.0, 1.0, 0.0]);
    let point = triangle([o, o, o]);
    for corners in [[o, o, y], [o, y, o], [y, o, o], [o, y, y]] {
        assert_eq!(at_rest(&point, &triangle(corners)), Relation::Touching);
    }
    let middle = [0.0, 0.5, 0.0];
    assert_eq!(at_rest(&triangle([middle; 3]), &triangle([o, o, y])), Relation::Touching);
    assert_eq!(at_rest(&triangle([[1.0, 0.5, 0.0]; 3]), &triangle([o, o, y])), Relation::Separated);
    assert_eq!(at_rest(&point, &point), Relation::Intersecting);
}

#[test]
fn a_point_lies_in_a_solid_and_meets_an_open_surface() {
    let cube = Shape::from(impinge::procedural::cuboid([1.0; 3], [1; 3]).unwrap());
    assert_eq!(at_rest(&triangle([[0.0; 3]; 3]), &cube), Relation::AInsideB);
    assert_eq!(at_rest(&triangle([[1.0, 0.0, 0.0]; 3]), &cube), Relation::AInsideB);
    let open = triangle([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]]);
    assert_eq!(at_rest(&triangle([[0.0; 3]; 3]), &open), Relation::Intersecting);
}

/// Single points in one place have no extent from which a unit of length could be taken.
#[test]
fn two_points_in_one_place_have_contacts_volume_and_a_way_apart() {
    let point = Shape::mesh(vec![[0.0; 3]], vec![[0; 3]]).unwrap();
    let hull = Shape::hull([[0.0; 3]]).unwrap();
    for (a, b) in [(&point, &point), (&point, &hull), (&hull, &hull)] {
        assert!(relation(a, b).is_contact());
        assert_eq!(impinge::volume(a, b).unwrap().volume, 0.0);
        assert!(impinge::contacts(a, b).iter().all(|contact| contact.depth == 0.0));
        assert!(impinge::separate(a, b).unwrap().translation.length() < 1e-200);
    }
}

/// The mesh of a flat hull bounds nothing.
#[test]
fn a_flat_hull_has_no_volume_in_common_with_anything() {
    let flat = Shape::hull([[1.0, -1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 2.0, 2.0]]).unwrap();
    let square =
        Shape::hull([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]).unwrap();
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    let ball = Shape::from(impinge::procedural::ico_sphere(1.5, 2).unwrap());
    for (flat, solid) in [(&flat, &cube), (&square, &cube), (&flat, &ball), (&square, &ball)] {
        assert!(relation(flat, solid).is_contact());
        assert_eq!(impinge::volume(flat, solid).unwrap().volume, 0.0);
        assert_eq!(impinge::volume(solid, flat).unwrap().volume, 0.0);
    }
}

/// A ball about a segment is as deep as its radius, along any direction across the segment.
#[test]
fn a_ball_about_a_triangle_without_area_has_a_contact_with_a_direction() {
    let segment = triangle([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
    let point = triangle([[0.0; 3]; 3]);
    for flat in [segment, point] {
        for contacts in [
            impinge::contacts(&Shape::sphere(0.5).unwrap(), &flat),
            impinge::contacts(&flat, &Shape::sphere(0.5).unwrap()),
        ] {
            let deepest = contacts.iter().map(|c| c.depth).fold(f64::NEG_INFINITY, f64::max);
            assert!((deepest - 0.5).abs() < 1e-15, "{contacts:?}");
            assert!(contacts.iter().all(|c| (c.normal.length() - 1.0).abs() < 1e-15), "{contacts:?}");
        }
    }
}
