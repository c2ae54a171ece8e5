//! Parameters of tools: their JSON Schema, and the strict reading of arguments.
//!
//! Schemas are plain: no `$ref`, no type arrays, no combinators at the top. Arguments given as
//! JSON text (`"50"`, `"[\"a\"]"`, `"true"`) are read; unknown ones are refused by name.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::base::error::{Error, ErrorKind, Result};
use crate::report::sanitize;

/// A parameter of a tool.
pub struct Param {
    pub name: &'static str,
    pub kind: ParamKind,
    pub required: bool,
    pub description: &'static str,
    /// Whether it is listed in the tool's schema; the others are for commands.
    pub listed: bool,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    Text,
    /// A whole number within the bounds.
    Integer {
        min: u64,
        max: u64,
    },
    /// A number from 0 to 1.
    Share,
    Flag,
    /// A list of texts; a single text is a list of one.
    Texts,
    Choice(&'static [&'static str]),
}

/// The longest text an argument may be, in bytes.
const MAX_TEXT: usize = 16_384;
/// The most items a list argument may have.
const MAX_ITEMS: usize = 256;

impl Param {
    /// A listed, optional parameter.
    pub const fn new(name: &'static str, kind: ParamKind, description: &'static str) -> Self {
        Param { name, kind, required: false, description, listed: true }
    }

    /// The same, required.
    pub const fn required(self) -> Self {
        Param { required: true, ..self }
    }

    /// The same, for commands only.
    pub const fn unlisted(self) -> Self {
        Param { listed: false, ..self }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            ParamKind::Text => json!({ "type": "string" }),
            ParamKind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
            ParamKind::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
            ParamKind::Flag => json!({ "type": "boolean" }),
            ParamKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            ParamKind::Choice(choices) => json!({ "type": "string", "enum": choices }),
        };
        schema["description"] = self.description.into();
        schema
    }
}

/// The JSON Schema of a tool's arguments.
pub fn schema(params: &[Param]) -> Map<String, Value> {
    let listed = || params.iter().filter(|param| param.listed);
    let properties: Map<String, Value> = listed().map(|param| (param.name.to_owned(), param.schema())).collect();
    let required: Vec<Value> = listed().filter(|param| param.required).map(|param| param.name.into()).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// The parameters that may hold paths.
const PATHS: [&str; 6] = ["qualname", "file", "target", "focus_files", "path", "path_prefix"];

/// Arguments that fit their parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    values: BTreeMap<&'static str, Value>,
    /// Whether a client asks, who would rather have an answer now than an exact one later.
    pub is_client: bool,
}

/// Who asks: a client sees listed parameters only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    Client,
    Command,
}

impl Given {
    /// Reads arguments. `null` is the same as absent.
    ///
    /// # Errors
    /// `Usage` for an unknown name (with the known ones), a missing required one, a value of
    /// another type or out of bounds.
    pub fn read(tool: &str, params: &'static [Param], raw: &Map<String, Value>, asker: Asker) -> Result<Self> {
        let known = || params.iter().filter(|param| param.listed || asker == Asker::Command);
        let mut values = BTreeMap::new();
        for (name, value) in raw {
            let Some(param) = known().find(|param| param.name == name) else {
                return Err(unknown_argument(tool, name, known()));
            };
            if !value.is_null() {
                values.insert(param.name, read_value(param, value)?);
            }
        }
        // A blank text (an unset variable, as often as not) is none.
        let is_blank = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
        let is_given = |param: &&Param| values.get(param.name).is_some_and(|value| !is_blank(value));
        if let Some(missing) = known().find(|param| param.required && !is_given(param)) {
            return Err(Error::new(ErrorKind::Usage, format!("`{tool}` needs the argument `{}`", missing.name))
                .hint(format!("`{}`: {}", missing.name, missing.description)));
        }
        Ok(Given { values, is_client: asker == Asker::Client })
    }

    /// The same, with absolute paths of the repository at `root` written as it names them, as
    /// editors and agents give them: `/home/me/repo/src/a.py::f` is `src/a.py::f`.
    pub fn within(mut self, root: Option<&Path>) -> Self {
        let Some(root) = root.and_then(Path::to_str) else { return self };
        let inside = |text: &mut String| {
            let rest = text.trim().strip_prefix(root).and_then(|rest| rest.strip_prefix(['/', '\\']));
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                *text = rest.to_owned();
            }
        };
        for (name, value) in &mut self.values {
            match value {
                _ if !PATHS.contains(name) => {}
                Value::String(text) => inside(text),
                Value::Array(list) => list.iter_mut().for_each(|value| {
                    if let Value::String(text) = value {
                        inside(text);
                    }
                }),
                _ => {}
            }
        }
        self
    }

    /// A text argument, if given and not blank.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
    }

    /// An integer argument.
    pub fn integer(&self, name: &str) -> Option<usize> {
        self.values.get(name)?.as_u64().and_then(|n| usize::try_from(n).ok())
    }

    /// A number argument.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.values.get(name)?.as_f64()
    }

    /// A flag argument.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.values.get(name)?.as_bool()
    }

    /// A list argument, empty when absent.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        self.values.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

fn unknown_argument<'p>(tool: &str, name: &str, known: impl Iterator<Item = &'p Param>) -> Error {
    let names: Vec<&str> = known.map(|param| param.name).collect();
    let near = names
        .iter()
        .copied()
        .max_by(|one, other| strsim::jaro_winkler(name, one).total_cmp(&strsim::jaro_winkler(name, other)));
    let name = sanitize::line(name, 60);
    let error = Error::new(ErrorKind::Usage, format!("`{tool}` has no argument `{name}`"));
    match near.filter(|near| strsim::jaro_winkler(&name, near) > 0.75) {
        Some(near) => error.hint(format!("did you mean `{near}`? It takes: {}", names.join(", "))),
        None => error.hint(format!("it takes: {}", names.join(", "))),
    }
}

fn read_value(param: &Param, value: &Value) -> Result<Value> {
    let wrong = |expected: String| {
        let shown = sanitize::line(&value.to_string(), 60);
        Err(Error::new(ErrorKind::Usage, format!("argument `{}` is {shown}, expected {expected}", param.name))
            .hint(format!("`{}`: {}", param.name, param.description)))
    };
    // A client that writes every argument as text means the JSON inside of it.
    let inner = match (param.kind, value) {
        (ParamKind::Text | ParamKind::Choice(_), _) => None,
        (_, Value::String(text)) => serde_json::from_str::<Value>(text).ok(),
        _ => None,
    };
    let value = inner.as_ref().unwrap_or(value);
    match param.kind {
        ParamKind::Text => match value {
            Value::String(text) if text.len() <= MAX_TEXT => Ok(value.clone()),
            Value::String(_) => wrong(format!("at most {MAX_TEXT} bytes")),
            _ => wrong("a text".to_owned()),
        },
        ParamKind::Integer { min, max } => {
            let whole = value
                .as_u64()
                .or_else(|| value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n)).map(|n| n as u64));
            match whole {
                Some(n) if (min..=max).contains(&n) => Ok(n.into()),
                _ => wrong(format!("a whole number from {min} to {max}")),
            }
        }
        ParamKind::Share => match value.as_f64() {
            Some(n) if (0.0..=1.0).contains(&n) => Ok(n.into()),
            _ => wrong("a number from 0 to 1".to_owned()),
        },
        ParamKind::Flag => match value {
            Value::Bool(_) => Ok(value.clone()),
            _ => wrong("true or false".to_owned()),
        },
        ParamKind::Texts => match value {
            Value::String(text) if text.len() <= MAX_TEXT => Ok(Value::Array(vec![value.clone()])),
            Value::Array(items)
                if items.len() <= MAX_ITEMS
                    && items.iter().all(|i| i.as_str().is_some_and(|text| text.len() <= MAX_TEXT)) =>
            {
                Ok(value.clone())
            }
            _ => wrong(format!("a list of at most {MAX_ITEMS} texts")),
        },
        ParamKind::Choice(choices) => match value.as_str() {
            Some(text) if choices.contains(&text) => Ok(value.clone()),
            _ => wrong(format!("one of {}", choices.join(", "))),
        },
    }
}

/// Parameters that several tools share.
pub const FRESH: Param =
    Param::new("fresh", ParamKind::Flag, "false answers from the tree of the last answer without a new check");
pub const LIMIT: Param = Param::new(
    "limit",
    ParamKind::Integer { min: 1, max: 1000 },
    "how many to list (default 50); totals and the verdict never depend on it",
);
pub const CURSOR: Param =
    Param::new("cursor", ParamKind::Text, "where to go on: the `next` of an answer that listed not all");
pub const PATH: Param = Param::new("path", ParamKind::Text, "only what lies under this folder or file").unlisted();
pub const LANG: Param = Param::new(
    "lang",
    ParamKind::Choice(&["python", "typescript", "javascript", "java"]),
    "only files of this language",
)
.unlisted();
pub const KIND: Param =
    Param::new("kind", ParamKind::Choice(crate::tools::show::KINDS), "only symbols of this kind").unlisted();
pub const MIN_CONFIDENCE: Param =
    Param::new("min_confidence", ParamKind::Share, "only edges at least this sure; below 0.5 shows candidates too");

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Asker, Given, Param, ParamKind, schema};

    const PARAMS: &[Param] = &[
        Param::new("query", ParamKind::Text, "what").required(),
        Param::new("limit", ParamKind::Integer { min: 1, max: 100 }, "how many"),
        Param::new("files", ParamKind::Texts, "which"),
        Param::new("fresh", ParamKind::Flag, "now"),
        Param::new("lang", ParamKind::Choice(&["python", "java"]), "language").unlisted(),
    ];

    fn read(raw: Value) -> Result<Given, String> {
        let raw = raw.as_object().expect("because the test gives an object");
        Given::read("find", PARAMS, raw, Asker::Client).map_err(|error| error.to_string())
    }

    #[test]
    fn json_inside_of_text_is_read() {
        let given = read(json!({"query": "50", "limit": "7", "files": "[\"a\",\"b\"]", "fresh": "true"})).unwrap();
        assert_eq!(given.text("query"), Some("50"));
        assert_eq!(given.integer("limit"), Some(7));
        assert_eq!(given.texts("files"), ["a", "b"]);
        assert_eq!(given.flag("fresh"), Some(true));
        assert_eq!(read(json!({"query": "x", "files": "src"})).unwrap().texts("files"), ["src"]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert!(read(json!({"query": "x", "limt": 3})).unwrap_err().contains("no argument `limt`"));
        assert!(read(json!({"query": "x", "limt": 3})).unwrap_err().contains("did you mean `limit`"));
        assert!(read(json!({"query": "x", "lang": "java"})).unwrap_err().contains("no argument `lang`"));
        assert!(read(json!({})).unwrap_err().contains("needs the argument `query`"));
        assert!(read(json!({"query": "x", "limit": 0})).unwrap_err().contains("from 1 to 100"));
        assert!(read(json!({"query": ["x"]})).unwrap_err().contains("expected a text"));
        assert!(read(json!({"query": 5})).unwrap_err().contains("is 5, expected a text"));
    }

    #[test]
    fn schemas_are_plain() {
        let text = Value::Object(schema(PARAMS)).to_string();
        assert!(!text.contains("$ref") && !text.contains("anyOf") && !text.contains("lang"));
        assert!(text.contains(r#""required":["query"]"#));
    }
}
