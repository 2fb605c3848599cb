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
        serde_json::from_str(raw.get()).map_err(|e| Failure(reason(&e)).at(&self.path(name)))
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
            serde_json::from_str(raw.get()).map_err(|e| Failure(reason(&e)).at(&path))?;
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

/// What serde_json said, without the position where it counts from the start of a field.
fn reason(e: &serde_json::Error) -> String {
    let text = e.to_string();
    match text.rfind(" at line ") {
        Some(at) if e.is_data() => text[..at].to_string(),
        Some(at) => format!("{}, at column {}", &text[..at], e.column()),
        None => text,
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
#[derive(Debug, Clone, Copy)]
pub struct Index(pub u32);

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        // Every u32 is a double, so nothing is lost on the way.
        if value >= 0.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0 {
            Ok(Index(value as u32))
        } else {
            Err(D::Error::custom(format!("{value} is not an index")))
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
        assert!(v.starts_with("a.v: element 1: invalid length 2"), "{v}");
        let t = fields.get::<List<[Index; 3]>>("t").unwrap_err().0;
        assert_eq!(t, "a.t: element 0: -2 is not an index");
        assert!(fields.get::<f64>("n").unwrap_err().0.starts_with("a.n: number out of range"));
        let y = fields.object("x").unwrap().unwrap().get::<f64>("y").unwrap_err().0;
        assert!(y.starts_with("a.x.y: invalid type: boolean"), "{y}");
        assert_eq!(fields.get::<f64>("missing"), Ok(None));
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
