use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::contact::Verdict;
use crate::model::ShapeKind;
use crate::narrow::detector::{Refused, each_pair};
use crate::narrow::methods::exact::Exact;
use crate::scene::{Body, BodyId, Scene, SceneContact};
use crate::shape::procedural;
use crate::{Certainty, Counters, Outcome, Pose, Shape};

/// Answers as `exact` does, but only for whole batches, and notes what it was given.
#[derive(Debug, Default)]
struct Shared {
    /// Of each call: how many pairs, how many of them had a memory, and the units granted.
    calls: Mutex<Vec<(usize, usize, Option<u64>)>>,
    /// What the contacts are worth, as a number of samples; 0 for what `exact` says.
    samples: AtomicU64,
}

impl Detector for Shared {
    fn name(&self) -> &'static str {
        "shared"
    }

    fn accepts(&self, question: &Question, _: [ShapeKind; 2]) -> bool {
        matches!(question, Question::Contacts(_))
    }

    fn expect(&self, question: &Question, pair: &ShapePair<'_>) -> Counters {
        Exact.expect(question, pair)
    }

    fn detect(
        &self,
        batch: &Batch<'_>,
        memory: &mut Memory,
        budget: &mut Budget,
        sink: &mut dyn Sink,
    ) -> Result<(), Refused> {
        let remembered = memory.slots(batch.pairs.len()).iter().filter(|slot| slot.is_some()).count();
        self.calls.lock().unwrap().push((batch.pairs.len(), remembered, budget.remaining()));
        let mut sink = Worth { sink, samples: self.samples.load(Ordering::Relaxed) };
        each_pair(&Exact, batch, memory, budget, &mut sink)
    }
}

struct Worth<'s> {
    sink: &'s mut dyn Sink,
    samples: u64,
}

impl Sink for Worth<'_> {
    fn take(&mut self, index: usize, finding: Finding) -> ControlFlow<()> {
        let Finding::Contacts(mut verdict) = finding else { panic!("another question") };
        if let (Some(found), 1..) = (&mut verdict.value, self.samples) {
            found.parts.iter_mut().for_each(|p| p.certainty = Certainty::Sampled { samples: self.samples });
        }
        self.sink.take(index, Finding::Contacts(verdict))
    }
}

fn shared() -> &'static Shared {
    Box::leak(Box::default())
}

/// Balls, boxes and meshes in a heap.
fn heap() -> (Scene, Vec<BodyId>) {
    let shapes = [
        Shape::sphere(0.5).unwrap(),
        Shape::cuboid([0.4, 0.5, 0.3]).unwrap(),
        Shape::from(procedural::torus(0.5, 0.2, 6, 4).unwrap()),
    ];
    let options = Options { margin: 0.1, contacts: Contacts::Manifold, ..Options::default() };
    let mut scene = Scene::with_options(options).unwrap();
    let mut rng = Pcg64::seed_from_u64(3);
    let ids = (0..40).map(|k| scene.add(Body::moving(shapes[k % 3].clone(), pose(&mut rng))));
    let ids = ids.collect();
    (scene, ids)
}

fn pose(rng: &mut Pcg64) -> Pose {
    let at = DVec3::from([(); 3].map(|()| rng.random_range(-1.5..1.5)));
    Pose::new(at.to_array(), [(); 4].map(|()| rng.random_range(-1.0..1.0))).unwrap()
}

fn unlimited() -> Budget {
    Budget::UNLIMITED
}

fn bare(contacts: &[SceneContact]) -> Vec<SceneContact> {
    contacts.iter().map(|c| SceneContact { certainty: Certainty::Exact, ..*c }).collect()
}

#[test]
fn a_method_that_shares_work_sees_all_its_pairs_at_once_and_tells_what_exact_tells() {
    let ((mut one, ids), (mut other, _)) = (heap(), heap());
    let detector = shared();
    other.instead = Some((Method::Exact, detector));
    let mut rng = Pcg64::seed_from_u64(8);
    for step in 0..5 {
        for &id in &ids[..20] {
            let at = pose(&mut rng);
            assert!(one.place(id, at) && other.place(id, at));
        }
        detector.samples.store(step, Ordering::Relaxed);
        let (truth, frame) = (one.step(&mut unlimited()), other.step(&mut unlimited()));
        assert_eq!((truth.events, truth.points), (frame.events, frame.points));
        assert_eq!(bare(truth.contacts), bare(frame.contacts));
        assert!(truth.contacts.len() > 20 && truth.outcome.work == frame.outcome.work);
        if step > 0 {
            let sampled = |c: &&SceneContact| matches!(c.certainty, Certainty::Sampled { .. });
            assert!(frame.contacts.iter().filter(sampled).count() > 10, "certainty is passed on");
            assert!(matches!(frame.outcome.certainty, Certainty::Sampled { .. }));
        }
    }
    let calls = detector.calls.lock().unwrap();
    assert_eq!(calls.len(), 5, "one call a frame");
    assert!(calls[0].1 == 0 && calls[1..].iter().all(|call| call.1 > 10 && call.2.is_none()), "{calls:?}");
    assert!(calls.iter().all(|call| call.0 > 50), "{calls:?}");
}

#[test]
fn the_budget_is_shared_by_the_number_of_pairs_and_what_is_left_goes_on() {
    let ((mut one, _), (mut other, ids)) = (heap(), heap());
    let detector = shared();
    other.instead = Some((Method::Gjk, detector));
    // Every other pair of balls and boxes goes to the detector.
    let mut named = 0;
    for (i, &a) in ids.iter().enumerate() {
        for (j, &b) in ids[..i].iter().enumerate().filter(|(j, _)| (i + j) % 2 == 0) {
            let refused = other.set_method([a, b], Method::Gjk);
            assert_eq!(refused.is_ok(), i % 3 < 2 && j % 3 < 2);
            named += usize::from(refused.is_ok());
        }
    }
    let truth = one.step(&mut unlimited());
    let work = truth.outcome.work.volume_tests + truth.outcome.work.primitive_tests;
    let first = other.step(&mut Budget::units(work / 4));
    let (open, spent) =
        (first.undecided.len(), first.outcome.work.volume_tests + first.outcome.work.primitive_tests);
    assert!(named > 100 && open > 0 && spent <= work / 4 + 1024, "{open} open, {spent} of {work}");
    let due = first.box_pairs;
    {
        let calls = detector.calls.lock().unwrap();
        let (pairs, _, units) = calls[0];
        assert_eq!(calls.len(), 1);
        assert!(units.unwrap() >= (work / 4) * pairs as u64 / due as u64, "{calls:?} of {due}");
        assert!(units.unwrap() < work / 4, "{calls:?}");
    }
    for step in 0.. {
        if other.step(&mut Budget::units(work / 4)).undecided.is_empty() {
            break;
        }
        assert!(step < 100);
    }
    let depths =
        |scene: &Scene| scene.last().contacts.iter().map(|c| (c.bodies, c.contact.depth)).collect::<Vec<_>>();
    assert_eq!(depths(&one), depths(&other));
}

#[test]
fn methods_are_refused_by_name_and_give_way_when_a_shape_changes() {
    let mut scene = Scene::default();
    let ball = Shape::sphere(0.5).unwrap();
    let at = |x: f64| Pose::shift([x, 0.0, 0.0]);
    let [a, b] = [0.0, 0.9].map(|x| scene.add(Body::moving(ball.clone(), at(x))));
    let refused = scene.set_method([a, b], Method::Voronoi).unwrap_err().to_string();
    assert!(refused.contains("method voronoi does not answer contacts of sphere and sphere"), "{refused}");
    assert!(refused.contains("exact, gjk and image do"), "{refused}");
    assert!(scene.set_method([a, a], Method::Gjk).is_err());
    assert_eq!(scene.method([a, b]), Some((Method::Exact, Reason::Only)));
    scene.set_method([b, a], Method::Gjk).unwrap();
    assert_eq!(scene.method([a, b]), Some((Method::Gjk, Reason::Named)));
    assert_eq!(scene.step(&mut unlimited()).events.len(), 1);
    // GJK has no answer about half-spaces.
    assert!(scene.set_shape(b, Shape::half_space([1.0, 0.0, 0.0], 0.0).unwrap()));
    assert!(scene.place(b, at(-0.75)));
    let frame = scene.step(&mut unlimited());
    assert!(frame.events.len() == 1 && frame.contacts.is_empty(), "{frame:?}");
    let (method, reason) = scene.method([a, b]).unwrap();
    assert_eq!((method, reason), (Method::Exact, Reason::Refused { named: Method::Gjk }));
    assert!(reason.to_string().contains("gjk was named"), "{reason}");
    assert!(scene.set_shape(b, ball) && scene.method([a, b]).unwrap().0 == Method::Gjk);
    assert!(scene.remove(b).is_some() && !scene.set_shape(b, Shape::sphere(1.0).unwrap()));
    assert!(scene.set_method([a, b], Method::Exact).is_err() && scene.method([a, b]).is_none());
}

#[test]
fn what_a_method_leaves_out_stays_open() {
    /// Answers about every other pair.
    struct Half;
    impl Detector for Half {
        fn name(&self) -> &'static str {
            "half"
        }

        fn accepts(&self, _: &Question, _: [ShapeKind; 2]) -> bool {
            true
        }
        fn expect(&self, _: &Question, _: &ShapePair<'_>) -> Counters {
            Counters::default()
        }
        fn detect(
            &self,
            batch: &Batch<'_>,
            _: &mut Memory,
            _: &mut Budget,
            sink: &mut dyn Sink,
        ) -> Result<(), Refused> {
            let outcome =
                Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work: Counters::default() };
            for index in (0..batch.pairs.len()).step_by(2) {
                let _ = sink.take(index, Finding::Contacts(Verdict::new(Some(Default::default()), outcome)));
            }
            Ok(())
        }
    }
    let (mut scene, _) = heap();
    scene.instead = Some((Method::Exact, &Half));
    let (frame, mut open) = (scene.step(&mut unlimited()), 0);
    assert!(frame.contacts.is_empty() && frame.outcome.finish == Finish::OutOfBudget);
    open += frame.undecided.len();
    assert!(open > 20 && scene.step(&mut unlimited()).undecided.len() == open / 2);
}
