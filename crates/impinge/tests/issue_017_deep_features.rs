//! Of a ball whose middle is within a solid mesh contacts named the feature of the point they were measured from.

use impinge::{Feature, Pose, Shape, contacts, procedural};

#[test]
fn a_ball_sunk_in_a_mesh_is_touched_on_its_surface() {
    let ring = Shape::from(procedural::torus(1.0, 0.4, 24, 16).unwrap());
    let ball = Shape::sphere(0.2).unwrap();
    let mut deep = 0;
    for x in [0.8, 0.9, 1.0, 1.1, 1.2] {
        let found = contacts(&ring, ball.at(Pose::from_translation([x, 0.05, 0.1]).unwrap()));
        assert!(
            !found.is_empty() && found.iter().all(|place| place.features[1] == Feature::Surface),
            "{found:?}"
        );
        deep += found.iter().filter(|place| place.depth > 0.2).count();
    }
    assert!(deep > 3, "{deep}");
}
