//! The server over HTTP: who gets in, both eras of the protocol, the figures.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::{polyglot, ratlas};
use crate::git::Scratch;

/// A server that ends with the test.
struct Serving {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(scratch: &Scratch) -> Serving {
    let mut command = ratlas(&scratch.root, &scratch.store());
    command.args(["serve", "--http", "127.0.0.1:0"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut next = |start: &str| said.next().unwrap().unwrap().strip_prefix(start).unwrap().to_owned();
    let address = next("serving at http://").trim_end_matches("/mcp").to_owned();
    let token = next("token: ");
    Serving { child, address, token }
}

impl Serving {
    /// Status and body of a request with these headers.
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> (u16, String) {
        let bearer = format!("Bearer {}", self.token);
        let mut all = vec![
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        all.extend_from_slice(headers);
        self.send("POST", "/mcp", &all, &message.to_string())
    }
}

#[test]
fn only_clients_with_the_token_from_here_get_in() {
    let serving = serve(&polyglot());
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let (status, answer) = serving.send("POST", "/mcp", &[("Content-Type", "application/json")], &ping.to_string());
    assert_eq!(status, 401, "{answer}");
    assert!(answer.to_lowercase().contains("www-authenticate: bearer"), "{answer}");
    assert_eq!(serving.send("GET", "/metrics", &[("Authorization", "Bearer wrong")], "").0, 401);
    assert_eq!(serving.post(&[("Host", "evil.example")], &ping).0, 403);
    assert_eq!(serving.post(&[("Origin", "https://evil.example")], &ping).0, 403);
    let bearer = format!("Bearer {}", serving.token);
    assert_eq!(serving.send("GET", "/else", &[("Authorization", &bearer)], "").0, 404);
}

#[test]
fn both_eras_are_served_over_http_and_counted() {
    let scratch = polyglot();
    let serving = serve(&scratch);
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}});
    let (status, answer) = serving.post(&[("Origin", "http://localhost:3000")], &initialize);
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("\"protocolVersion\":\"2025-06-18\""), "{answer}");
    let session = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
    });
    let session = session.expect("a session");
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-06-18")];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(serving.post(&headers, &ready).0, 202);
    let call = |id: u64, name: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    let (status, answer) = serving.post(&headers, &call(1, "find_symbol", json!({"query": "Cart"})));
    assert!(status == 200 && answer.contains("class Cart"), "{answer}");

    let mut discover = call(2, "find_symbol", json!({"query": "Cart"}));
    discover["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "find_symbol")];
    let (status, answer) = serving.post(&headers, &discover);
    assert!(status == 200 && answer.contains("class Cart"), "{answer}");

    let bearer = format!("Bearer {}", serving.token);
    let (status, answer) = serving.send("GET", "/metrics", &[("Authorization", &bearer)], "");
    assert_eq!(status, 200);
    assert!(answer.contains("ratlas_query_seconds_count{tool=\"find_symbol\"} 2\n"), "{answer}");
    assert!(answer.contains("ratlas_files{language=\"python\",status=\"ok\"} "), "{answer}");
}
