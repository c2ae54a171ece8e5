//! Many clients: servers side by side, and the daemon they may share.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::{polyglot, ratlas};
use crate::git::Scratch;

fn run(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = ratlas(&scratch.root, &scratch.store()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn alone(scratch: &Scratch, arguments: &[&str]) -> String {
    let mut command = ratlas(&scratch.root, &scratch.store());
    let output = command.args(arguments).env("RATLAS_DAEMON", "off").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn status(scratch: &Scratch) -> Value {
    serde_json::from_str(&run(scratch, &["daemon", "status", "--format", "json"])).unwrap()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn sockets(store: &Path) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(store.join("daemon")).into_iter().flatten();
    folder.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "sock")).collect()
}

/// A daemon in the foreground that ends with the test.
struct Daemon(Child);

impl Daemon {
    fn start(scratch: &Scratch, idle_ms: u64) -> Self {
        let mut command = ratlas(&scratch.root, &scratch.store());
        command.args(["daemon", "run", "--idle-ms", &idle_ms.to_string()]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let daemon = Daemon(child);
        until("the daemon comes up", || status(scratch)["running"] == true);
        daemon
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn commands_say_the_same_with_a_daemon_and_without() {
    let scratch = polyglot();
    let daemon = Daemon::start(&scratch, 60_000);
    let questions: [&[&str]; 6] = [
        &["query", "symbol", "total"],
        &["query", "callers", "total", "--format", "json"],
        &["query", "map", "--budget", "600"],
        &["query", "outline", "src/shop/cart.py"],
        &["query", "span", "src/shop/cart.py:1-3"],
        &["query", "context", "add an item", "--budget", "500", "--format", "json"],
    ];
    for round in 0..2 {
        for question in questions {
            assert_eq!(run(&scratch, question), alone(&scratch, question), "{question:?}");
        }
        scratch.write("src/shop/cart.py", &format!("def total(price):\n    return price + {round}\n"));
    }
    assert_eq!(status(&scratch)["answered"], 12, "the daemon was the one that answered");
    let wrong = ["query", "get", "no_such_name"];
    let failed = |off: &str| {
        let mut command = ratlas(&scratch.root, &scratch.store());
        let output = command.args(wrong).env("RATLAS_DAEMON", off).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(failed("on"), failed("off"));
    // Another configuration: the daemon is not asked, unless it is its own now.
    let mut command = ratlas(&scratch.root, &scratch.store());
    let output = command.args(questions[0]).env("RATLAS_BUDGET_MAX_TOKENS", "900").output().unwrap();
    assert!(output.status.success());
    assert_eq!(status(&scratch)["answered"], 13);
    scratch.write("ratlas.toml", "[index]\nexclude = [\"web/**\"]\n");
    assert_eq!(run(&scratch, questions[2]), alone(&scratch, questions[2]));
    assert_eq!(status(&scratch)["answered"], 14);
    drop(daemon);
}

#[test]
fn a_dead_daemon_is_noticed_and_its_socket_removed() {
    let scratch = polyglot();
    let mut daemon = Daemon::start(&scratch, 60_000);
    let socket = sockets(&scratch.store());
    assert_eq!(socket.len(), 1);
    let mode = std::os::unix::fs::PermissionsExt::mode(&socket[0].metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let second = ratlas(&scratch.root, &scratch.store()).args(["daemon", "run"]).output().unwrap();
    assert_eq!(second.status.code(), Some(3), "one a worktree");
    daemon.0.kill().unwrap();
    daemon.0.wait().unwrap();
    assert!(socket[0].exists(), "killed, it leaves its socket");
    let question = ["query", "symbol", "total"];
    assert_eq!(run(&scratch, &question), alone(&scratch, &question));
    assert!(!socket[0].exists());
    assert_eq!(status(&scratch)["running"], false);
    let again = Daemon::start(&scratch, 60_000);
    assert_eq!(run(&scratch, &question), alone(&scratch, &question));
    drop(again);
}

#[test]
fn a_daemon_is_started_stopped_and_ends_when_nobody_asks() {
    let scratch = polyglot();
    assert_eq!(run(&scratch, &["daemon", "status"]), "no daemon runs\n");
    assert_eq!(run(&scratch, &["daemon", "stop"]), "no daemon runs\n");
    assert!(run(&scratch, &["daemon", "start"]).starts_with("started (process "));
    assert!(run(&scratch, &["daemon", "start"]).starts_with("a daemon runs already (process "));
    assert_eq!(status(&scratch)["serves_this_client"], true);
    assert_eq!(run(&scratch, &["daemon", "stop"]), "stopped\n");
    assert!(sockets(&scratch.store()).is_empty());
    let check = ratlas(&scratch.root, &scratch.store()).args(["daemon", "status", "--check"]).output().unwrap();
    assert_eq!(check.status.code(), Some(1));
    let mut idle = Daemon::start(&scratch, 300);
    until("the idle daemon ends", || idle.0.try_wait().unwrap().is_some());
    assert!(sockets(&scratch.store()).is_empty());
}

/// A server that is talked to line by line.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    n_asked: u64,
}

impl Server {
    fn start(scratch: &Scratch) -> Self {
        let mut command = ratlas(&scratch.root, &scratch.store());
        // A machine under load must not make an answer stale.
        command.env("RATLAS_PATIENCE_MS", "60000");
        command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut server = Server { child, stdin, stdout, n_asked: 0 };
        server.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"}}),
        );
        writeln!(server.stdin, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
        server
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.n_asked += 1;
        writeln!(self.stdin, "{}", json!({"jsonrpc": "2.0", "id": self.n_asked, "method": method, "params": params}))
            .unwrap();
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server went away");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == self.n_asked {
                return message;
            }
        }
    }

    fn text(&mut self, tool: &str, arguments: Value) -> String {
        let response = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        response["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn servers_side_by_side_agree_after_every_edit() {
    let scratch = polyglot();
    let mut servers: Vec<Server> = (0..3).map(|_| Server::start(&scratch)).collect();
    let mut daemon = None;
    for round in 0..4 {
        scratch.write(
            "src/shop/cart.py",
            &format!("def total(price):\n    return price\n\n\ndef added_{round}():\n    return total(1)\n"),
        );
        if round == 2 {
            daemon = Some(Daemon::start(&scratch, 60_000));
        }
        let name = format!("added_{round}");
        let answers: Vec<String> = std::thread::scope(|scope| {
            let asked: Vec<_> = servers
                .iter_mut()
                .map(|server| scope.spawn(|| server.text("find_symbol", json!({"query": name}))))
                .collect();
            asked.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(answers[0].contains(&format!("def {name}()")), "{}", answers[0]);
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
        if round == 2 {
            assert_eq!(status(&scratch)["answered"], 3, "servers that run already are attached to it");
        }
        if round == 3 {
            // It dies, and they go on.
            drop(daemon.take());
            let again = servers[0].text("find_symbol", json!({"query": name}));
            assert_eq!(again, answers[0]);
        }
    }
    drop(servers);
    assert!(run(&scratch, &["doctor"]).lines().all(|line| line.starts_with("ok: ")));
}
