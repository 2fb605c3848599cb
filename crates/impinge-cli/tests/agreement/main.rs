//! Library and program agree: ten thousand random questions of all kinds, about all kinds of shapes and by all
//! methods, are put to both; every field of every answer is equal to the bit, and so is every refusal.

#[path = "../program/common/mod.rs"]
mod common;
mod expected;
mod questions;

use common::Folder;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use serde_json::{Value, json};

use questions::Asked;

const QUESTIONS: u64 = 10_000;

#[test]
fn ten_thousand_questions_get_the_same_answers() {
    let mut rng = Pcg64::seed_from_u64(20);
    let (mut lines, mut truths) = (Vec::new(), Vec::new());
    let (mut hits, mut answered) = (0_u64, 0_u64);
    for id in 0..QUESTIONS {
        let Asked { mut line, question } = questions::draw(&mut rng);
        let (truth, hit) = match expected::answer(&question) {
            Ok((mut fields, hit)) => {
                answered += 1;
                fields.insert("schema".into(), json!(1));
                fields.insert("id".into(), json!(id));
                (Value::Object(fields), hit)
            }
            Err(refused) => (json!({"schema": 1, "id": id, "error": refused.to_string()}), false),
        };
        line.insert("id".into(), json!(id));
        hits += u64::from(hit);
        lines.push(Value::Object(line).to_string());
        truths.push(truth);
    }
    let (share, refused) = (hits as f64 / answered as f64, QUESTIONS - answered);
    assert!((0.3..=0.7).contains(&share), "{hits} hits of {answered}");
    assert!((200..=2000).contains(&refused), "{refused} refusals");
    let ended = Folder::new().query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert_eq!(ended.code, 2, "some are refused: {}", ended.err);
    let answers = ended.lines();
    assert_eq!(answers.len(), truths.len());
    for ((line, answer), truth) in lines.iter().zip(&answers).zip(&truths) {
        assert!(same(answer, truth), "{line}\nprogram: {answer}\nlibrary: {truth}");
    }
}

/// Equal to the bit: 0 is not −0.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, x)| b.get(name).is_some_and(|y| same(x, y)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y)),
        (Value::Number(x), Value::Number(y)) if x.is_f64() && y.is_f64() => {
            x.as_f64().map(f64::to_bits) == y.as_f64().map(f64::to_bits)
        }
        _ => a == b,
    }
}
