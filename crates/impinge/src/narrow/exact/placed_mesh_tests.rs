use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;

use super::*;
use crate::shape::procedural;

/// Boxes of nodes one by one against all lanes at a time.
#[test]
fn all_lanes_at_a_time_have_the_boxes_of_each() {
    let mut random = Pcg32::seed_from_u64(14);
    let models = [2, 20, 320].map(|count| {
        let mesh = procedural::ico_sphere(1.0, 2).unwrap();
        let triangles = mesh.triangles()[..count].to_vec();
        Model::from(crate::Mesh::from_points(mesh.vertices().to_vec(), triangles).unwrap())
    });
    let (mut reached, mut all) = (0, 0);
    for round in 0..300 {
        let model = &models[round % models.len()];
        let mut number = || random.random_range(-1.0..1.0);
        let turn =
            if round % 5 == 0 { [0.0, 0.0, 0.0, 1.0] } else { [number(), number(), number(), number()] };
        let pose = Pose::new([number(), number(), number()], turn).unwrap();
        let body = PlacedMesh::new(model, &pose);
        let nodes = model.tree().nodes();
        let union = nodes[0].used().fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], lane| {
            let [l, h] = body.lane_box(&nodes[0], lane);
            [low.min(l), high.max(h)]
        });
        assert_eq!(body.bounds(), union);
        let mut low = DVec3::new(number(), number(), number());
        let mut high = low;
        if round % 2 == 0 {
            high[round % 3] = f64::INFINITY;
        } else {
            low[round % 3] = f64::NEG_INFINITY;
        }
        for node in nodes {
            let mask = placed_reaching(SimdLevel::best(), node, &body, low.as_ref(), high.as_ref());
            for lane in node.used() {
                let [l, h] = body.lane_box(node, lane);
                let is_beside = (l.cmpgt(high) | h.cmplt(low)).any();
                assert_eq!(mask >> lane & 1 == 0, is_beside);
                reached += usize::from(!is_beside);
                all += 1;
            }
        }
    }
    assert!(reached > all / 100 && reached < all / 2, "{reached} of {all}");
}
