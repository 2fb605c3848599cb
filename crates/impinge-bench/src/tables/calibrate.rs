//! Measures the coefficients of the cost model that `auto` chooses by, and writes them where the library keeps
//! them: `crates/impinge/src/narrow/route/coefficients.csv`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result};
use impinge::hierarchy::cost::CostModel;
use impinge::narrow::detector::Question;
use impinge::narrow::shape_pair::ShapePair;
use impinge::{Counters, Method, Pose};

use super::Effort;
use crate::questions::{Ask, Case, questions};
use crate::table::Table;

/// The seed of the training questions; those of `auto` come from another.
const SEED: u64 = 41;

/// Methods that auto chooses from: those that refuse some motions or answer less exactly are not among them.
const EXACT: [Method; 4] = [Method::Exact, Method::Brute, Method::Voronoi, Method::Gjk];

/// Question, classes of the shapes, method: what has coefficients of its own.
type Group = (&'static str, String, Method);

/// Measures, fits, prints and, in a full run, stores.
pub fn run(effort: Effort) -> Result<Table> {
    let cases = questions(effort.pick(3000, 100), SEED)?;
    let mut measured: BTreeMap<Group, Vec<(Counters, f64)>> = BTreeMap::new();
    for case in &cases {
        // The trees are built.
        case.ask(Method::Exact)?;
        for method in EXACT {
            // Two hulls go the same way by exact as by voronoi.
            if method == Method::Exact && case.classes() == "hull-hull" {
                continue;
            }
            if !is_typical(case, method) {
                continue;
            }
            let Ok(time) = case.time(method, effort.pick(5, 1)) else { continue };
            let counts = expected(case, method);
            measured.entry((case.ask.name(), case.classes(), method)).or_default().push((counts, time));
        }
    }
    let header = ["method", "question", "kinds", "cases", "Cv ns", "Cp ns", "Cu ns", "error"];
    let mut table = Table::new("calibrate", &header);
    let mut stored = String::from("method,question,kinds,cv,cp,cu\n");
    for ((question, kinds, method), rows) in &measured {
        let costs = CostModel::fit(rows);
        let CostModel { volume_test, primitive_test, update } = costs;
        _ = writeln!(stored, "{method},{question},{kinds},{volume_test:.3},{primitive_test:.3},{update:.3}");
        table.row([
            method.name().to_string(),
            question.to_string(),
            kinds.clone(),
            rows.len().to_string(),
            format!("{volume_test:.1}"),
            format!("{primitive_test:.1}"),
            format!("{update:.1}"),
            format!("{:.2}", costs.error(rows)),
        ]);
    }
    table.remark("error: root mean square of the relative errors of the predicted times");
    if effort == Effort::Full {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../impinge/src/narrow/route/coefficients.csv");
        std::fs::write(file, stored).with_context(|| format!("writing {file}"))?;
    }
    Ok(table)
}

/// The counts that the method expects.
fn expected(case: &Case, method: Method) -> Counters {
    let [a, b] = &case.shapes;
    let pair = ShapePair::new([a.geometry(), b.geometry()], [&Pose::IDENTITY, &case.pose]);
    let question = match case.ask {
        Ask::Relation => Question::Relation,
        Ask::Distance => Question::Distance,
        Ask::Pairs => Question::Pairs { margin: None },
        Ask::Within(margin) => Question::Pairs { margin: Some(margin) },
    };
    method.expect(&question, &pair)
}

/// Whether the expected counts are all that the method can take: brute force ends at the first contact.
fn is_typical(case: &Case, method: Method) -> bool {
    let [a, b] = &case.shapes;
    let meets = || impinge::distance(a, b.at(case.pose)).distance <= 0.0;
    method != Method::Brute || case.ask != Ask::Distance || !meets()
}
