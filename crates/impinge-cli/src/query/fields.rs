//! The fields of a JSON object, each read on its own, so that an error names the field.
//!
//! Values stay slices of the line until they are asked for: nesting costs no stack, and an id is echoed as it was written.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::Failure;

/// An object whose values have not been read yet.
#[derive(Debug)]
pub struct Fields<'a> {
    place: String,
    values: BTreeMap<String, &'a RawValue>,
}

impl<'a> Fields<'a> {
    /// Splits an object; `place` names it in errors, and is empty for a whole line.
    pub fn parse(text: &'a str, place: &str) -> Result<Fields<'a>, Failure> {
        let Object(values) = serde_json::from_str(text).map_err(|e| {
            let failure = Failure(reason(&e));
            if place.is_empty() { failure } else { failure.at(place) }
        })?;
        Ok(Fields { place: place.to_string(), values })
    }

    /// The value of a field; `None` when it is missing or null.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Failure> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw.get()).map_err(|e| Failure(reason_of_value(&e)).at(&self.path(name)))
    }

    /// The field as an object.
    pub fn object(&self, name: &str) -> Result<Option<Fields<'a>>, Failure> {
        self.raw(name)
            .filter(|raw| raw.get() != "null")
            .map(|raw| Fields::parse(raw.get(), &self.path(name)))
            .transpose()
    }

    /// The field as a list of objects; empty when it is missing or null.
    pub fn objects(&self, name: &str) -> Result<Vec<Fields<'a>>, Failure> {
        let Some(raw) = self.raw(name).filter(|raw| raw.get() != "null") else { return Ok(Vec::new()) };
        let path = self.path(name);
        let list: Vec<&'a RawValue> =
            serde_json::from_str(raw.get()).map_err(|e| Failure(reason_of_value(&e)).at(&path))?;
        list.iter().enumerate().map(|(i, one)| Fields::parse(one.get(), &format!("{path}[{i}]"))).collect()
    }

    /// Refuses fields that mean nothing here: a misspelt one would be ignored in silence. A null is no field.
    pub fn only(&self, known: &[&str]) -> Result<(), Failure> {
        let unknown =
            |(name, raw): &(&String, &&RawValue)| !known.contains(&name.as_str()) && raw.get() != "null";
        let Some((name, _)) = self.values.iter().find(unknown) else { return Ok(()) };
        let known: Vec<_> = known.iter().map(|known| format!("{known:?}")).collect();
        Err(self.fail(&format!("{name:?} is no field here; known are {}", known.join(", "))))
    }

    /// The field as it was written.
    pub fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.values.get(name).copied()
    }

    /// Whether the field is there, null included.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// A failure of this object as a whole.
    pub fn fail(&self, why: &str) -> Failure {
        let failure = Failure::new(why);
        if self.place.is_empty() { failure } else { failure.at(&self.place) }
    }

    fn path(&self, name: &str) -> String {
        if self.place.is_empty() { name.to_string() } else { format!("{}.{name}", self.place) }
    }
}

/// Why a line or a part of it is no object.
fn reason(e: &serde_json::Error) -> String {
    let text = e.to_string();
    match text.rfind(" at line ") {
        Some(at) if e.is_data() => in_plain_words(&text[..at]),
        Some(at) => format!("no JSON: {}, at column {}", &text[..at], e.column()),
        None => text,
    }
}

/// Why a value, which is sound JSON, is none for its field; without the position, which counts from the start of the field.
fn reason_of_value(e: &serde_json::Error) -> String {
    let text = e.to_string();
    in_plain_words(text.rfind(" at line ").map_or(text.as_str(), |at| &text[..at]))
}

/// What the parser said, for those who do not know its types. What stands before, as the place in a list, is kept.
fn in_plain_words(text: &str) -> String {
    let split = |at: &str| text.split_once(at).map(|(place, rest)| (place.to_string(), rest));
    if let Some((place, rest)) = split("invalid type: ").or_else(|| split("invalid value: "))
        && let Some((given, wanted)) = rest.rsplit_once(", expected ")
    {
        return format!("{place}{} is expected, not {}", wanted_in_words(wanted), given_in_words(given));
    }
    if let Some((place, rest)) = split("invalid length ")
        && let Some((given, wanted)) = rest.rsplit_once(", expected ")
    {
        return format!("{place}{} is expected, not of {given}", wanted_in_words(wanted));
    }
    // Of a list only so many elements are read as there should be.
    text.replace("trailing characters", "the list is too long")
}

fn wanted_in_words(wanted: &str) -> String {
    match wanted {
        "f64" => "a number".into(),
        "u64" | "u32" => "a whole number of at least 0".into(),
        "a boolean" => "true or false".into(),
        "a string" => "a text".into(),
        "a sequence" => "a list".into(),
        other => other.replace("an array of length", "a list of"),
    }
}

fn given_in_words(given: &str) -> String {
    let given = given.replace('`', "");
    let number = given.strip_prefix("integer ").or_else(|| given.strip_prefix("floating point "));
    match (number, given.as_str()) {
        (Some(number), _) => number.to_string(),
        (_, "sequence") => "a list".into(),
        (_, "map") => "an object".into(),
        (_, other) => other.trim_start_matches("boolean ").replacen("string ", "the text ", 1),
    }
}

struct Object<'a>(BTreeMap<String, &'a RawValue>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut values = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    if values.insert(name.clone(), value).is_some() {
                        return Err(A::Error::custom(format!("the field {name:?} is given twice")));
                    }
                }
                Ok(Object(values))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A list whose errors name the element.
#[derive(Debug)]
pub struct List<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<T> {
            type Value = List<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let mut list = Vec::new();
                loop {
                    match seq.next_element() {
                        Ok(Some(element)) => list.push(element),
                        Ok(None) => return Ok(List(list)),
                        Err(e) => return Err(A::Error::custom(format!("element {}: {e}", list.len()))),
                    }
                }
            }
        }
        deserializer.deserialize_seq(Elements(PhantomData))
    }
}

/// A vertex index; `3.0` is accepted for 3, as some programs write all numbers as floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index(pub u32);

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        // Every u32 is a double, so nothing is lost on the way.
        if value >= 0.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0 {
            Ok(Index(value as u32))
        } else {
            Err(D::Error::custom(format!("{value} is not a whole number of at least 0")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_field_and_element() {
        let fields =
            Fields::parse(r#"{"v":[[0,0,0],[1,2]],"t":[[0,1,-2]],"n":1e999,"x":{"y":true}}"#, "a").unwrap();
        let v = fields.get::<List<[f64; 3]>>("v").unwrap_err().0;
        assert!(v.starts_with("a.v: element 1: a list of 3 is expected, not of 2"), "{v}");
        let t = fields.get::<List<[Index; 3]>>("t").unwrap_err().0;
        assert_eq!(t, "a.t: element 0: -2 is not a whole number of at least 0");
        assert!(fields.get::<f64>("n").unwrap_err().0.starts_with("a.n: number out of range"));
        let y = fields.object("x").unwrap().unwrap().get::<f64>("y").unwrap_err().0;
        assert_eq!(y, "a.x.y: a number is expected, not true");
        assert_eq!(fields.get::<f64>("missing"), Ok(None));
    }

    #[test]
    fn no_word_of_the_parser_is_told() {
        let line =
            r#"{"a":5,"b":"x","c":[1,2,3,4],"d":[[1,2]],"e":-4,"f":{"g":1},"h":[1,"y",3],"i":1.5,"j":null}"#;
        let fields = Fields::parse(line, "").unwrap();
        let said = [
            fields.object("a").unwrap_err(),
            fields.get::<f64>("b").unwrap_err(),
            fields.get::<[f64; 3]>("c").unwrap_err(),
            fields.get::<List<[f64; 3]>>("d").unwrap_err(),
            fields.get::<u64>("e").unwrap_err(),
            fields.get::<List<f64>>("f").unwrap_err(),
            fields.get::<String>("h").unwrap_err(),
            fields.get::<u64>("i").unwrap_err(),
            fields.get::<bool>("a").unwrap_err(),
            Fields::parse("{\"a\":1,}", "line 7").unwrap_err(),
        ];
        let want = [
            "a: an object is expected, not 5",
            "b: a number is expected, not the text \"x\"",
            "c: the list is too long",
            "d: element 0: a list of 3 is expected, not of 2",
            "e: a whole number of at least 0 is expected, not -4",
            "f: a list is expected, not an object",
            "h: a text is expected, not a list",
            "i: a whole number of at least 0 is expected, not 1.5",
            "a: true or false is expected, not 5",
            "line 7: no JSON: trailing comma, at column 8",
        ];
        assert_eq!(said.map(|failure| failure.0), want);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for wrong in ["", "[1]", "{", "{\"a\":NaN}", "{\"a\":1,\"a\":2}", "{\"a\":1} x", "\"\\ud800\""] {
            assert!(Fields::parse(wrong, "").is_err(), "{wrong}");
        }
        let deep = format!("{{\"a\":{}}}", "[".repeat(1_000_000));
        assert!(Fields::parse(&deep, "").is_err());
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert!(Fields::parse(&deep, "").unwrap().get::<List<[f64; 3]>>("a").is_err());
    }

    #[test]
    fn doubles_survive_the_round_trip() {
        for text in ["-0.0", "1e-300", "5e-324", "0.1", "1.7976931348623157e308", "9007199254740993.0"] {
            let line = format!("{{\"x\":{text}}}");
            let x: f64 = Fields::parse(&line, "").unwrap().get("x").unwrap().unwrap();
            assert_eq!(x.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            let back: f64 = serde_json::from_str(&serde_json::to_string(&x).unwrap()).unwrap();
            assert_eq!(back.to_bits(), x.to_bits(), "{text}");
        }
        let index: Option<Index> = Fields::parse("{\"i\":3.0}", "").unwrap().get("i").unwrap();
        assert_eq!(index.map(|i| i.0), Some(3));
    }
}
