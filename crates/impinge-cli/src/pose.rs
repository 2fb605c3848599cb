//! Poses as they are written: `x,y,z[,qx,qy,qz,qw]` on the command line, an object in JSON.

use impinge::Pose;

use crate::error::Failure;
use crate::query::fields::{Fields, List};

/// No rotation.
const UPRIGHT: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

/// The pose of so many numbers: x, y, z and perhaps a quaternion; `None` for any other count.
fn of_numbers(numbers: &[f64]) -> Option<Result<Pose, impinge::Error>> {
    match *numbers {
        [x, y, z] => Some(Pose::new([x, y, z], UPRIGHT)),
        [x, y, z, qx, qy, qz, qw] => Some(Pose::new([x, y, z], [qx, qy, qz, qw])),
        _ => None,
    }
}

/// Reads a pose of the command line.
pub fn parse(text: &str) -> Result<Pose, Failure> {
    let numbers = text
        .split(',')
        .map(|word| {
            let word = word.trim();
            word.parse::<f64>().map_err(|_| Failure(format!("{word:?} in the pose {text:?} is not a number")))
        })
        .collect::<Result<Vec<f64>, Failure>>()?;
    let count = numbers.len();
    let wrong =
        || Failure(format!("the pose {text:?} has {count} numbers; it takes x,y,z or x,y,z,qx,qy,qz,qw"));
    Ok(of_numbers(&numbers).ok_or_else(wrong)??)
}

/// How a pose is written in JSON.
const FORMS: &str = "[x,y,z], [x,y,z,qx,qy,qz,qw], {\"position\":[x,y,z],\"rotation\":[qx,qy,qz,qw]} or {\"matrix\":[16 numbers]}";

/// Reads a field that is `{"position":…,"rotation":…}`, `{"matrix":…}`, `[x,y,z]` or `[x,y,z,qx,qy,qz,qw]`.
pub fn of_field(body: &Fields<'_>, name: &str) -> Result<Option<Pose>, Failure> {
    match body.raw(name).map(|raw| raw.get()) {
        None | Some("null") => return Ok(None),
        Some(text) if text.starts_with('{') => {
            return body.object(name)?.map(|fields| from_object(&fields)).transpose();
        }
        Some(text) if text.starts_with('[') => {}
        Some(text) => return Err(body.fail(&format!("{name}: {text} is no pose; it takes {FORMS}"))),
    }
    let List(numbers) = body.get::<List<f64>>(name)?.unwrap_or(List(Vec::new()));
    let wrong = || {
        let count = numbers.len();
        body.fail(&format!("{name}: {count} numbers; it takes {FORMS}"))
    };
    let pose = of_numbers(&numbers).ok_or_else(wrong)?;
    pose.map(Some).map_err(|e| body.fail(&format!("{name}: {e}")))
}

fn from_object(fields: &Fields<'_>) -> Result<Pose, Failure> {
    fields.only(&["position", "rotation", "matrix"])?;
    let nested = fields.raw("matrix").is_some_and(|raw| {
        raw.get().strip_prefix('[').is_some_and(|inner| inner.trim_start().starts_with('['))
    });
    let matrix: Option<[f64; 16]> = match nested {
        true => {
            fields.get::<[[f64; 4]; 4]>("matrix")?.map(|rows| std::array::from_fn(|i| rows[i / 4][i % 4]))
        }
        false => fields.get("matrix")?,
    };
    let position: Option<[f64; 3]> = fields.get("position")?;
    let rotation: Option<[f64; 4]> = fields.get("rotation")?;
    let pose = match (matrix, position, rotation) {
        (Some(m), None, None) => Pose::from_matrix(&m),
        (None, None, None) => return Err(fields.fail("neither position, rotation nor matrix")),
        (None, p, r) => Pose::new(p.unwrap_or_default(), r.unwrap_or(UPRIGHT)),
        (Some(_), ..) => return Err(fields.fail("a matrix stands alone, without position or rotation")),
    };
    pose.map_err(|e| fields.fail(&e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Result<Pose, Failure> {
        let line = format!("{{\"pose\":{text}}}");
        let found = of_field(&Fields::parse(&line, "a")?, "pose")?;
        Ok(found.expect("there is one"))
    }

    #[test]
    fn three_or_seven_numbers() {
        assert_eq!(parse("-1,0,2.5"), Ok(Pose::from_translation([-1.0, 0.0, 2.5]).unwrap()));
        assert_eq!(parse("1, 2, 3, 0, 0, 0, 2"), Ok(Pose::from_translation([1.0, 2.0, 3.0]).unwrap()));
        for (wrong, why) in [
            ("", "not a number"),
            ("1,2", "2 numbers"),
            ("1,2,3,4", "4 numbers"),
            ("1,x,3", "\"x\""),
            ("nan,0,0", "not finite"),
            ("0,0,0,0,0,0,0", "length 0"),
        ] {
            let refused = parse(wrong).unwrap_err().0;
            assert!(refused.contains(why), "{wrong}: {refused}");
        }
    }

    #[test]
    fn json_poses_agree_with_the_command_line() {
        let turned = parse("1,2,3,0,0,0.6,0.8").unwrap();
        assert_eq!(json(r#"{"position":[1,2,3],"rotation":[0,0,0.6,0.8]}"#), Ok(turned));
        assert_eq!(json(r#"{"position":[1,2,3]}"#), Ok(Pose::from_translation([1.0, 2.0, 3.0]).unwrap()));
        assert_eq!(json("[1,2,3]"), Ok(Pose::from_translation([1.0, 2.0, 3.0]).unwrap()));
        assert_eq!(json("[1,2,3,0,0,0.6,0.8]"), Ok(turned));
        let m = r#"{"matrix":[1,0,0,1, 0,1,0,2, 0,0,1,3, 0,0,0,1]}"#;
        let rows = r#"{"matrix":[ [1,0,0,1], [0,1,0,2], [0,0,1,3], [0,0,0,1]]}"#;
        assert_eq!(json(rows), json(m));
        assert_eq!(json(m), Ok(Pose::from_translation([1.0, 2.0, 3.0]).unwrap()));
    }

    #[test]
    fn a_wrong_pose_names_its_field() {
        for (wrong, why) in [
            ("{}", "a.pose: neither"),
            (r#"{"matrix":[1,2]}"#, "a.pose.matrix:"),
            (r#"{"matrix":[[1,2],[3,4]]}"#, "a.pose.matrix:"),
            (r#"{"position":"here"}"#, "a.pose.position:"),
            (r#"{"matrix":[2,0,0,0, 0,2,0,0, 0,0,2,0, 0,0,0,1]}"#, "a.pose: the pose is not rigid"),
            (r#"{"matrix":[1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1],"position":[0,0,0]}"#, "stands alone"),
            ("[1,2]", "a: pose: 2 numbers"),
            ("[1,2,\"x\"]", "a.pose: element 2"),
            ("[0,0,0,0,0,0,0]", "a: pose: the pose is not rigid: the quaternion"),
            ("\"here\"", "a: pose: \"here\" is no pose; it takes [x,y,z], "),
            ("5", "a: pose: 5 is no pose"),
            (r#"{"position":[1,2,3,4]}"#, "a.pose.position: the list is too long"),
        ] {
            let refused = json(wrong).unwrap_err().0;
            assert!(refused.contains(why), "{wrong}: {refused}");
        }
    }
}
