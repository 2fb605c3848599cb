//! Whether `auto` chooses well: its time against the best method in hindsight, on questions that no one method
//! answers best.

use std::collections::BTreeMap;

use anyhow::Result;
use impinge::Method;

use super::Effort;
use crate::questions::{Ask, Case, questions};
use crate::table::Table;

/// The seed of the questions; `calibrate` fits to others.
const SEED: u64 = 2027;

/// Questions faster than this are judged together, by kind and size (nanoseconds).
const SHORT: f64 = 20_000.0;

/// One judged question.
struct Judged {
    ask: Ask,
    classes: String,
    /// Times by method, those that answer.
    times: Vec<(Method, f64)>,
    chosen: Method,
}

impl Judged {
    fn of(&self, method: Method) -> Option<f64> {
        self.times.iter().find(|(known, _)| *known == method).map(|(_, time)| *time)
    }

    fn best(&self) -> f64 {
        self.times.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min)
    }

    fn auto(&self) -> f64 {
        self.of(self.chosen).unwrap_or(f64::INFINITY)
    }
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let cases = questions(effort.pick(2000, 60), SEED)?;
    let judged: Vec<Judged> = cases.iter().map(|case| judge(case, effort)).collect::<Result<_>>()?;
    let header = ["contestant", "answers", "total ms", "against hindsight", "worst question"];
    let mut table = Table::new("auto", &header);
    let best: f64 = judged.iter().map(Judged::best).sum();
    table.row(row("hindsight", judged.len(), best, best, 1.0));
    let auto: f64 = judged.iter().map(Judged::auto).sum();
    let worst = worst(&judged);
    table.row(row("auto", judged.len(), auto, best, worst));
    for &method in Method::ALL {
        // A fixed method leaves what it does not answer to exact.
        let time = |q: &Judged| q.of(method).or_else(|| q.of(Method::Exact)).unwrap_or(f64::INFINITY);
        let total: f64 = judged.iter().map(time).sum();
        let answers = judged.iter().filter(|q| q.of(method).is_some()).count();
        let most = judged.iter().map(|q| time(q) / q.best()).fold(1.0, f64::max);
        table.row(row(method.name(), answers, total, best, most));
    }
    table.remark("total: every question once; a fixed method leaves what it does not answer to exact");
    table
        .remark("worst question: questions under 20 µs are judged in batches of one kind, method and choice");
    let fixed = Method::ALL.iter().map(|&method| {
        let time = |q: &Judged| q.of(method).or_else(|| q.of(Method::Exact)).unwrap_or(f64::INFINITY);
        judged.iter().map(time).sum::<f64>()
    });
    let fixed = fixed.fold(f64::INFINITY, f64::min) / best;
    table.remark(format!(
        "auto is within {:.1} % of hindsight in total (asked: 10), at most {worst:.2}x on any question (asked: 2); the best fixed method is {:.1} % off (asked: more than 25)",
        100.0 * (auto / best - 1.0),
        100.0 * (fixed - 1.0),
    ));
    table.ratio("hindsight", best / auto);
    Ok(table)
}

fn row(name: &str, answers: usize, total: f64, best: f64, worst: f64) -> [String; 5] {
    [
        name.to_string(),
        answers.to_string(),
        format!("{:.3}", total * 1e-6),
        format!("{:.3}", total / best),
        format!("{worst:.2}"),
    ]
}

fn judge(case: &Case, effort: Effort) -> Result<Judged> {
    let rounds = effort.pick(5, 1);
    // The trees are built.
    case.ask(Method::Exact)?;
    let chosen = case.ask(Method::Auto)?;
    let answers = Method::ALL.iter().filter_map(|&method| {
        // Only exact methods stand for choice.
        let exact = ["exact", "brute", "voronoi", "gjk"].contains(&method.name());
        exact.then(|| case.time(method, rounds).ok().map(|time| (method, time)))?
    });
    Ok(Judged { ask: case.ask, classes: case.classes(), times: answers.collect(), chosen })
}

/// The largest factor that auto loses on any long question, or on any batch of short ones that it treats alike.
fn worst(judged: &[Judged]) -> f64 {
    let mut batches: BTreeMap<(String, &str, Method), [f64; 2]> = BTreeMap::new();
    let mut most = 1.0_f64;
    for q in judged {
        if q.auto() >= SHORT {
            most = most.max(q.auto() / q.best());
        } else {
            let batch = batches.entry((q.classes.clone(), q.ask.name(), q.chosen)).or_default();
            batch[0] += q.auto();
            batch[1] += q.best();
        }
    }
    batches.values().map(|[auto, best]| auto / best).fold(most, f64::max)
}
