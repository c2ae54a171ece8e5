//! What goes over the socket: messages of JSON, each after its length (four bytes, little endian).
//!
//! A connection is one question: the client says who it is and what it asks; the daemon says
//! that it is at work as often as [`HEARTBEAT`], then what came of it.

use std::io::{self, Read, Write};
use std::time::Duration;

use serde_json::{Value, json};

use crate::base::error::{Error, ErrorKind};
use crate::tools::tool::Rendered;

/// The version of what is said here; daemons and clients of other versions do not speak.
pub const PROTOCOL: u64 = 1;
/// The longest question: arguments of tools are far below it.
pub const MAX_QUESTION: usize = 4 << 20;
/// The longest answer.
pub const MAX_ANSWER: usize = 256 << 20;
/// How often a daemon at work says so.
pub const HEARTBEAT: Duration = Duration::from_secs(1);

/// Who a process is, so far as its answers hang on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The build: version, extractors, the program's file.
    pub build: String,
    /// The configuration in force.
    pub config: String,
}

/// What a client asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    Ask {
        tool: String,
        arguments: Value,
        /// Whether commands' own arguments are taken.
        is_command: bool,
        /// Whether to answer from the tree that is held, as it is.
        is_held: bool,
    },
    Status,
    Stop,
}

/// What a daemon says.
#[derive(Debug)]
pub enum Reply {
    /// It is at work.
    Working,
    Answer(Rendered),
    Failed(Error),
    /// It is not the daemon for this client: of another build or under another configuration.
    Refused(&'static str),
    Status {
        pid: u64,
        n_answered: u64,
        idle_ms: u64,
    },
    Stopping,
}

/// Writes one message.
///
/// # Errors
/// Those of the stream.
pub fn send(to: &mut impl Write, message: &Value) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let len = u32::try_from(body.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    let mut frame = len.to_le_bytes().to_vec();
    frame.extend_from_slice(&body);
    to.write_all(&frame)?;
    to.flush()
}

/// Reads one message of at most `max` bytes.
///
/// # Errors
/// Those of the stream; `InvalidData` for a longer one and for what is no JSON.
pub fn receive(from: &mut impl Read, max: usize) -> io::Result<Value> {
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len) as usize;
    if len > max {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    // Memory is given as bytes come, not as a length promises them.
    let mut body = Vec::new();
    from.take(len as u64).read_to_end(&mut body)?;
    if body.len() != len {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
    }
    serde_json::from_slice(&body).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

/// A question as a message.
pub fn question_json(identity: &Identity, question: &Question) -> Value {
    let mut message = json!({ "protocol": PROTOCOL, "build": identity.build, "config": identity.config });
    match question {
        Question::Ask { tool, arguments, is_command, is_held } => {
            message["ask"] =
                json!({ "tool": tool, "arguments": arguments, "is_command": is_command, "is_held": is_held });
        }
        Question::Status => message["status"] = true.into(),
        Question::Stop => message["stop"] = true.into(),
    }
    message
}

/// Reads a question; `None` for another protocol and for what is none.
pub fn read_question(message: &Value) -> Option<(Identity, Question)> {
    if message.get("protocol")?.as_u64()? != PROTOCOL {
        return None;
    }
    let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let identity = Identity { build: text(message, "build")?, config: text(message, "config")? };
    let flag = |name: &str| message.get(name).and_then(Value::as_bool).unwrap_or(false);
    let question = match message.get("ask") {
        Some(ask) => Question::Ask {
            tool: text(ask, "tool")?,
            arguments: ask.get("arguments").filter(|arguments| arguments.is_object())?.clone(),
            is_command: ask.get("is_command")?.as_bool()?,
            is_held: ask.get("is_held")?.as_bool()?,
        },
        None if flag("stop") => Question::Stop,
        None if flag("status") => Question::Status,
        None => return None,
    };
    Some((identity, question))
}

/// A reply as a message. The JSON of an answer goes as text, so that its numbers stay as written.
pub fn reply_json(reply: &Reply) -> Value {
    match reply {
        Reply::Working => json!({ "working": true }),
        Reply::Answer(answer) => json!({ "answer": { "text": answer.text, "json": answer.json } }),
        Reply::Failed(error) => {
            let sources: Vec<String> = std::iter::successors(std::error::Error::source(error), |cause| cause.source())
                .map(|cause| cause.to_string())
                .collect();
            let what = std::iter::once(error.what.clone()).chain(sources).collect::<Vec<_>>().join(": ");
            json!({ "failed": { "code": error.kind.code(), "what": what, "hint": error.hint } })
        }
        Reply::Refused(why) => json!({ "refused": why }),
        Reply::Status { pid, n_answered, idle_ms } => {
            json!({ "status": { "pid": pid, "answered": n_answered, "idle_ms": idle_ms } })
        }
        Reply::Stopping => json!({ "stopping": true }),
    }
}

/// Reads a reply; `None` for what is none.
pub fn read_reply(message: &Value) -> Option<Reply> {
    let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
    if let Some(answer) = message.get("answer") {
        return Some(Reply::Answer(Rendered { text: text(answer, "text")?, json: text(answer, "json")? }));
    }
    if let Some(failed) = message.get("failed") {
        let code = text(failed, "code")?;
        let kind = ErrorKind::ALL.into_iter().find(|kind| kind.code() == code)?;
        let error = Error::new(kind, text(failed, "what")?);
        return Some(Reply::Failed(match text(failed, "hint") {
            Some(hint) => error.hint(hint),
            None => error,
        }));
    }
    if let Some(status) = message.get("status") {
        let number = |name: &str| status.get(name)?.as_u64();
        return Some(Reply::Status {
            pid: number("pid")?,
            n_answered: number("answered")?,
            idle_ms: number("idle_ms")?,
        });
    }
    let flag = |name: &str| message.get(name).and_then(Value::as_bool).unwrap_or(false);
    match (flag("working"), flag("stopping"), message.get("refused")) {
        (true, ..) => Some(Reply::Working),
        (_, true, _) => Some(Reply::Stopping),
        (.., Some(_)) => Some(Reply::Refused("another build or configuration")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Identity, Question, Reply, question_json, read_question, read_reply, receive, reply_json, send};
    use crate::base::error::{Error, ErrorKind};
    use crate::tools::tool::Rendered;

    #[test]
    fn what_is_said_is_heard() {
        let identity = Identity { build: "b".into(), config: "c".into() };
        for question in [
            Question::Status,
            Question::Stop,
            Question::Ask {
                tool: "span".into(),
                arguments: json!({"span": "a.py:1"}),
                is_command: true,
                is_held: false,
            },
        ] {
            let heard = read_question(&question_json(&identity, &question));
            assert_eq!(heard, Some((identity.clone(), question)));
        }
        let answer = Reply::Answer(Rendered { text: "a\n".into(), json: "{\"n\":0.1}".into() });
        assert!(matches!(read_reply(&reply_json(&answer)), Some(Reply::Answer(heard)) if heard.json == "{\"n\":0.1}"));
        let failed = Reply::Failed(Error::new(ErrorKind::Usage, "no").hint("yes"));
        assert!(
            matches!(read_reply(&reply_json(&failed)), Some(Reply::Failed(e)) if e.to_string() == "error[RAT001]: no\nhelp: yes")
        );
        assert!(read_question(&json!({"protocol": 2, "status": true})).is_none());
    }

    #[test]
    fn frames_are_bounded_and_whole() {
        let mut bytes = Vec::new();
        send(&mut bytes, &json!({"a": 1})).unwrap();
        assert_eq!(receive(&mut bytes.as_slice(), 100).unwrap(), json!({"a": 1}));
        assert!(receive(&mut bytes.as_slice(), 3).is_err());
        for cut in 0..bytes.len() {
            assert!(receive(&mut &bytes[..cut], 100).is_err(), "cut at {cut}");
        }
        assert!(receive(&mut [255, 255, 255, 255, 1].as_slice(), usize::MAX).is_err());
    }
}
