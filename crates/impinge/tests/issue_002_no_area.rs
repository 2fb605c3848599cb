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
