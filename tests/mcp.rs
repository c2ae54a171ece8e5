//! The server over raw lines: every line of stdout is JSON-RPC, failures are answers of tools.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::{polyglot, ratlas};
use crate::git::Scratch;

/// Sends requests (ids 1, 2, …) after the handshake and gives the responses by id.
fn talk(scratch: &Scratch, requests: &[(&str, Value)]) -> BTreeMap<u64, Value> {
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    for (at, (method, params)) in requests.iter().enumerate() {
        lines.push(json!({"jsonrpc": "2.0", "id": at + 1, "method": method, "params": params}));
    }
    exchange(scratch, &lines.iter().map(|line| format!("{line}\n")).collect::<String>())
}

fn exchange(scratch: &Scratch, input: &str) -> BTreeMap<u64, Value> {
    lines(scratch, input, &[]).into_iter().filter_map(|message| Some((message["id"].as_u64()?, message))).collect()
}

/// Every message that the server sends for an input, in order.
fn lines(scratch: &Scratch, input: &str, variables: &[(&str, &str)]) -> Vec<Value> {
    let mut command = ratlas(&scratch.root, &scratch.store());
    command.envs(variables.iter().copied());
    command.arg("serve").env("RATLAS_LOG", "trace").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    let message = |line: &str| serde_json::from_str::<Value>(line).expect("because stdout is JSON-RPC only");
    let messages: Vec<Value> = text.lines().map(message).collect();
    assert!(messages.iter().all(|message| message["jsonrpc"] == "2.0"));
    messages
}

fn call(name: &str, arguments: Value) -> (&'static str, Value) {
    ("tools/call", json!({"name": name, "arguments": arguments}))
}

fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn eight_tools_with_plain_schemas() {
    let scratch = polyglot();
    let responses = talk(&scratch, &[("tools/list", json!({}))]);
    assert_eq!(responses[&0]["result"]["serverInfo"]["name"], "ratlas");
    assert!(responses[&0]["result"]["instructions"].as_str().unwrap().contains("get_context"));
    let tools = responses[&1]["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "get_context",
            "repo_map",
            "find_symbol",
            "get_symbol",
            "callers_of",
            "callees_of",
            "impact_of",
            "index_status"
        ]
    );
    for tool in tools {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object");
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        for forbidden in ["$ref", "anyOf", "oneOf", "allOf", "\"null\"", "uint"] {
            assert!(!schema.to_string().contains(forbidden), "{tool}");
        }
    }
}

#[test]
fn every_tool_answers_and_arguments_may_be_json_text() {
    let scratch = polyglot();
    let responses = talk(
        &scratch,
        &[
            call(
                "get_context",
                json!({"task": "add an item to the cart", "budget": "800", "focus_files": "[\"web/price.ts\"]"}),
            ),
            call("repo_map", json!({"budget": 600})),
            call("find_symbol", json!({"query": "tota", "limit": "1"})),
            call("get_symbol", json!({"qualname": "Cart", "include_body": "true"})),
            call("callers_of", json!({"qualname": "total"})),
            call("callees_of", json!({"qualname": "place"})),
            call("impact_of", json!({"target": "total"})),
            call("index_status", json!({})),
        ],
    );
    for id in 1..=8 {
        let result = &responses[&id]["result"];
        assert_ne!(result["isError"], true, "{result}");
        assert!(!text(&responses[&id]).is_empty());
    }
    assert!(text(&responses[&1]).contains("src/shop/cart.py\n"), "{}", text(&responses[&1]));
    assert!(text(&responses[&1]).contains("web/price.ts\n"));
    assert!(text(&responses[&3]).contains("1 of 2 symbols"));
    assert!(text(&responses[&4]).contains("    1 class Cart:"));
    for id in [7, 8] {
        let result = &responses[&id]["result"];
        assert_eq!(serde_json::from_str::<Value>(text(&responses[&id])).unwrap(), result["structuredContent"]);
    }
}

#[test]
fn failures_are_answers_with_the_next_step() {
    let scratch = polyglot();
    let responses = talk(
        &scratch,
        &[
            call("find_symbol", json!({"qury": "x"})),
            call("get_symbol", json!({"qualname": "Crat"})),
            call("no_such_tool", json!({})),
            ("resources/read", json!({"uri": "ratlas://nothing"})),
            call("repo_map", json!({"budget": {"a": 1}})),
        ],
    );
    for id in [1, 2, 5] {
        assert_eq!(responses[&id]["result"]["isError"], true);
        assert!(text(&responses[&id]).contains("\nhelp: "), "{}", text(&responses[&id]));
    }
    assert!(text(&responses[&1]).contains("no argument `qury`"));
    assert!(text(&responses[&2]).contains("did you mean `Cart`"));
    assert_eq!(responses[&3]["error"]["code"], -32602);
    assert!(responses[&4]["error"]["message"].as_str().unwrap().contains("ratlas://map"));
}

#[test]
fn the_map_is_a_resource_and_part_of_the_prompt() {
    let scratch = polyglot();
    let responses = talk(
        &scratch,
        &[
            ("resources/list", json!({})),
            ("resources/read", json!({"uri": "ratlas://map"})),
            ("prompts/list", json!({})),
            ("prompts/get", json!({"name": "ratlas-onboard"})),
        ],
    );
    assert_eq!(responses[&1]["result"]["resources"][0]["uri"], "ratlas://map");
    let map = responses[&2]["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(map.contains("src/shop/cart.py\n"), "{map}");
    assert_eq!(responses[&3]["result"]["prompts"][0]["name"], "ratlas-onboard");
    assert!(responses[&4]["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains(map));
}

#[test]
fn a_client_that_says_nothing_is_no_failure() {
    assert!(exchange(&polyglot(), "").is_empty());
}

#[test]
fn noise_on_stdin_is_answered_by_code() {
    let scratch = polyglot();
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"{}\"}}\n", "x".repeat(17 << 20));
    let input =
        format!("hello\n\n[]\n{long}{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}}\n{}", "y".repeat(17 << 20));
    let messages = lines(&scratch, &input, &[]);
    let codes: Vec<i64> = messages.iter().filter_map(|message| message["error"]["code"].as_i64()).collect();
    assert_eq!(codes[..4], [-32700, -32600, -32600, -32600], "{messages:?}");
    assert!(messages.iter().all(|message| message["error"].is_null() || message["id"].is_null()));
}

#[test]
fn noise_between_questions_does_not_stop_the_server() {
    let scratch = polyglot();
    let start = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}});
    let call = |id: u64, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    let input = format!(
        "{start}\n{}\n{{broken\n{}\n{}\n{}\n",
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        call(1, json!({"name": "find_symbol", "arguments": "Cart"})),
        call(2, json!({"arguments": {}})),
        call(3, json!({"name": "find_symbol", "arguments": {"query": "Cart"}})),
    );
    let messages = lines(&scratch, &input, &[]);
    let of = |id: u64| messages.iter().find(|message| message["id"] == id).unwrap();
    assert_eq!(of(1)["error"]["code"], -32602);
    assert!(of(1)["error"]["message"].as_str().unwrap().contains("`arguments`"));
    assert!(of(2)["error"]["message"].as_str().unwrap().contains("needs `name`"));
    assert!(text(of(3)).contains("class Cart"));
    assert!(messages.iter().any(|message| message["error"]["code"] == -32700 && message["id"].is_null()));
}

#[test]
fn questions_before_the_handshake_are_told_what_is_missing() {
    let scratch = polyglot();
    let list = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {}});
    let start = json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}});
    let input = format!(
        "{}\n{start}\n{}\n{}\n{}\n",
        list(1.into()),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        list(Value::Null),
        list(3.into())
    );
    let messages = lines(&scratch, &input, &[]);
    let of = |id: Value| messages.iter().find(|message| message["id"] == id).unwrap();
    assert_eq!(of(1.into())["error"]["code"], -32600);
    assert!(of(1.into())["error"]["message"].as_str().unwrap().contains("before `initialize`"), "{messages:?}");
    assert_eq!(of(Value::Null)["error"]["code"], -32600, "{messages:?}");
    assert_eq!(of(3.into())["result"]["tools"].as_array().map(Vec::len), Some(8), "{messages:?}");
}

#[test]
fn a_client_that_cannot_wait_gets_what_there_is() {
    let scratch = polyglot();
    let start = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}});
    let params = json!({"name": "index_status", "arguments": {}});
    let input = format!(
        "{start}\n{}\n{}\n",
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    );
    let messages = lines(&scratch, &input, &[("RATLAS_PATIENCE_MS", "0")]);
    let answer = &messages.iter().find(|message| message["id"] == 1).unwrap()["result"]["structuredContent"];
    let (stale, pending) = (answer["stale"].as_bool().unwrap(), answer["pending"].as_u64().unwrap());
    assert_eq!((stale, answer["files"].as_u64()), (pending > 0, Some(6)), "{answer}");
}

#[test]
fn commands_and_tools_say_the_same() {
    let scratch = polyglot();
    let responses = talk(&scratch, &[call("callers_of", json!({"qualname": "total"})), call("repo_map", json!({}))]);
    for (id, arguments) in [(1, vec!["query", "callers", "total"]), (2, vec!["query", "map"])] {
        let output = ratlas(&scratch.root, &scratch.store()).args(arguments).output().unwrap();
        assert_eq!(text(&responses[&id]), String::from_utf8(output.stdout).unwrap());
    }
}

#[test]
fn the_stateless_era_is_served_too() {
    let scratch = polyglot();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let request = |id: u64, method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    let input = request(1, "server/discover", json!({}))
        + &request(2, "tools/list", json!({}))
        + &request(3, "tools/call", json!({"name": "find_symbol", "arguments": {"query": "Cart"}}));
    let responses = exchange(&scratch, &input);
    assert!(responses[&1]["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{responses:?}");
    assert_eq!(responses[&2]["result"]["tools"].as_array().unwrap().len(), 8);
    assert!(text(&responses[&3]).contains("class Cart"));
}

#[test]
fn folders_and_definitions_are_resources_that_complete() {
    let scratch = polyglot();
    let complete = |name: &str, value: &str| {
        let reference = json!({"type": "ref/prompt", "name": "ratlas-onboard"});
        ("completion/complete", json!({"ref": reference, "argument": {"name": name, "value": value}}))
    };
    let responses = talk(
        &scratch,
        &[
            ("resources/templates/list", json!({})),
            ("resources/read", json!({"uri": "ratlas://map/web"})),
            ("resources/read", json!({"uri": "ratlas://symbol/Cart"})),
            complete("path", "src/sh"),
            complete("qualname", "Car"),
            complete("nothing", "x"),
            ("prompts/get", json!({"name": "ratlas-onboard", "arguments": {"path": "web"}})),
            ("resources/read", json!({"uri": "ratlas://symbol/Crat"})),
        ],
    );
    let templates = responses[&1]["result"]["resourceTemplates"].to_string();
    assert!(
        templates.contains("ratlas://map/{+path}") && templates.contains("ratlas://symbol/{qualname}"),
        "{templates}"
    );
    let text = |id: u64| responses[&id]["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text(2).contains("web/price.ts\n") && !text(2).contains("src/shop"), "{}", text(2));
    assert!(text(3).contains("class Cart"), "{}", text(3));
    let values = |id: u64| responses[&id]["result"]["completion"]["values"].to_string();
    assert!(values(4).contains("\"src/shop\"") && values(4).contains("\"src/shop/cart.py\""), "{}", values(4));
    assert!(values(5).starts_with("[\"Cart\","), "{}", values(5));
    assert_eq!(values(6), "[]");
    let prompt = responses[&7]["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(prompt.contains("web/price.ts") && !prompt.contains("src/shop"), "{prompt}");
    assert!(responses[&8]["error"]["message"].as_str().unwrap().contains("did you mean `Cart`"));
}
