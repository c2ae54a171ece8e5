//! Whether a line is a JSON-RPC message that the server can take, and the error that answers one
//! that is not: by the specification's codes, with the request's id where it has one.

use serde_json::{Value, json};

use crate::report::sanitize;

/// JSON-RPC 2.0 §5.1.
const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const INVALID_PARAMS: i64 = -32_602;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request that opens a session, up to the protocol of 2025-11-25.
    Initialize,
    /// It is to be answered.
    Request,
    Notification,
    /// The client's answer to a question of ours.
    Response,
}

/// What a parameter must be.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Object,
}

/// A parameter: its name, its shape, whether it must be there.
type Wanted = (&'static str, Shape, bool);

/// The wanted parameters of those methods that clients get wrong.
const PARAMS: &[(&str, &[Wanted])] = &[
    ("tools/call", &[("name", Shape::Text, true), ("arguments", Shape::Object, false)]),
    ("resources/read", &[("uri", Shape::Text, true)]),
    ("prompts/get", &[("name", Shape::Text, true), ("arguments", Shape::Object, false)]),
];

/// Whether the client has opened a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Session {
    /// Requests must carry what a session would have agreed on.
    None,
    Open,
}

/// What a request without a session says of the protocol it speaks (2026-07-28).
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The kind of a line's message.
///
/// # Errors
/// The JSON-RPC error response to send in the place of handing the line on.
pub fn check(line: &[u8], session: Session) -> Result<Kind, Value> {
    let message: Value = serde_json::from_slice(line)
        .map_err(|error| refusal(Value::Null, PARSE_ERROR, format!("the line is no JSON: {error}")))?;
    let Value::Object(fields) = &message else {
        let what = if message.is_array() { "batches are not served" } else { "a message is a JSON object" };
        return Err(refusal(Value::Null, INVALID_REQUEST, format!("{what}; send one message a line")));
    };
    let id = match fields.get("id") {
        Some(id) if id.is_string() || id.is_i64() => Some(id.clone()),
        None => None,
        // Only an error may be of no request: a question with such an id could not be answered.
        Some(Value::Null) if !fields.contains_key("method") => None,
        Some(_) => return Err(refusal(Value::Null, INVALID_REQUEST, "`id` is a text or a whole number".to_owned())),
    };
    let invalid = |what: &str| Err(refusal(id.clone().unwrap_or(Value::Null), INVALID_REQUEST, what.to_owned()));
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("`jsonrpc` is not \"2.0\"");
    }
    let method = match fields.get("method") {
        Some(Value::String(method)) => method,
        Some(_) => return invalid("`method` is a text"),
        None if fields.contains_key("result") || fields.contains_key("error") => return Ok(Kind::Response),
        None => return invalid("there is no `method`"),
    };
    let Some(id) = id else { return Ok(Kind::Notification) };
    let params = fields.get("params");
    check_params(method, params).map_err(|what| refusal(id.clone(), INVALID_PARAMS, what))?;
    match method.as_str() {
        "initialize" => Ok(Kind::Initialize),
        // A client may ask at any time whether anybody is there.
        "ping" => Ok(Kind::Request),
        _ if session == Session::Open || names_its_version(params) => Ok(Kind::Request),
        _ => {
            let what = format!(
                "`{}` came before `initialize`; send that first, or `{VERSION}` in `_meta` of each request",
                shown(method)
            );
            Err(refusal(id, INVALID_REQUEST, what))
        }
    }
}

fn names_its_version(params: Option<&Value>) -> bool {
    params.and_then(|params| params.get("_meta")).is_some_and(|meta| meta.get(VERSION).is_some())
}

fn check_params(method: &str, params: Option<&Value>) -> Result<(), String> {
    if params.is_some_and(|params| !params.is_object() && !params.is_null()) {
        return Err(format!("`params` of `{}` is {}, expected an object", shown(method), type_of(params)));
    }
    let Some((_, wanted)) = PARAMS.iter().find(|(name, _)| *name == method) else { return Ok(()) };
    for (name, shape, required) in *wanted {
        let value = params.and_then(|params| params.get(name)).filter(|value| !value.is_null());
        let (fits, expected) = match shape {
            Shape::Text => (value.is_none_or(Value::is_string), "a text"),
            Shape::Object => (value.is_none_or(Value::is_object), "an object"),
        };
        if !fits {
            return Err(format!("`{name}` of `{method}` is {}, expected {expected}", type_of(value)));
        }
        if *required && value.is_none() {
            return Err(format!("`{method}` needs `{name}`, {expected}"));
        }
    }
    Ok(())
}

/// The answer to a line that is longer than is read.
pub fn too_long(max: usize) -> Value {
    refusal(Value::Null, INVALID_REQUEST, format!("the line is longer than {max} bytes and was passed over"))
}

fn refusal(id: Value, code: i64, what: String) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": what } })
}

fn shown(text: &str) -> String {
    sanitize::line(text, 60)
}

fn type_of(value: Option<&Value>) -> &'static str {
    match value {
        None => "missing",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(_)) => "a number",
        Some(Value::String(_)) => "a text",
        Some(Value::Array(_)) => "a list",
        Some(Value::Object(_)) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Kind, Session, VERSION, check};

    fn refused(line: &str) -> (i64, Value, String) {
        let refusal = check(line.as_bytes(), Session::Open).unwrap_err();
        let error = &refusal["error"];
        (error["code"].as_i64().unwrap(), refusal["id"].clone(), error["message"].as_str().unwrap().to_owned())
    }

    #[test]
    fn messages_are_told_apart() {
        for (line, kind) in [
            (json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}), Kind::Request),
            (json!({"jsonrpc": "2.0", "id": "a", "method": "no/such", "params": {}}), Kind::Request),
            (json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), Kind::Notification),
            (json!({"jsonrpc": "2.0", "id": 1, "result": {}}), Kind::Response),
            (json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "x"}}), Kind::Response),
        ] {
            assert_eq!(check(line.to_string().as_bytes(), Session::Open), Ok(kind), "{line}");
        }
    }

    #[test]
    fn a_request_needs_a_session_or_its_own_version() {
        let check = |method: &str, params: Value| {
            let line = json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params}).to_string();
            check(line.as_bytes(), Session::None)
        };
        assert_eq!(check("initialize", json!({})), Ok(Kind::Initialize));
        assert_eq!(check("ping", json!({})), Ok(Kind::Request));
        assert_eq!(check("tools/list", json!({"_meta": {VERSION: "2026-07-28"}})), Ok(Kind::Request));
        let refusal = check("tools/list", json!({})).unwrap_err();
        assert_eq!((refusal["error"]["code"].as_i64(), refusal["id"].as_i64()), (Some(-32600), Some(5)));
        assert!(refusal["error"]["message"].as_str().unwrap().contains("before `initialize`"), "{refusal}");
    }

    #[test]
    fn what_is_no_message_is_answered_by_code() {
        assert_eq!(refused("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}").0, -32600);
        assert_eq!(refused("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}").0, -32600);
        assert_eq!(refused("{nonsense"), (-32700, Value::Null, refused("{nonsense").2));
        assert_eq!(refused(&"[".repeat(5_000)).0, -32700);
        assert_eq!(
            (refused("[]").0, refused("3").0, refused("{\"jsonrpc\":\"2.0\",\"id\":1}").0),
            (-32600, -32600, -32600)
        );
        assert_eq!(refused("{\"jsonrpc\":\"1.0\",\"id\":9,\"method\":\"ping\"}").1, 9);
    }

    #[test]
    fn bad_parameters_are_named() {
        let call = |params: Value| {
            refused(&json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params}).to_string())
        };
        assert_eq!(call(json!({})), (-32602, 4.into(), "`tools/call` needs `name`, a text".to_owned()));
        assert_eq!(call(json!({"name": 3})).2, "`name` of `tools/call` is a number, expected a text");
        assert_eq!(
            call(json!({"name": "x", "arguments": [1]})).2,
            "`arguments` of `tools/call` is a list, expected an object"
        );
        assert_eq!(call(json!([])).2, "`params` of `tools/call` is a list, expected an object");
    }
}
