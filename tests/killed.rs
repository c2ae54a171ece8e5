//! Killed anywhere, nothing lies: after a kill the next run gives the fresh graph, and `doctor`
//! finds nothing wrong. `RATLAS_KILLS=N` kills N times in the place of a few.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::cli::ratlas;
use crate::git::Scratch;

/// Kills without being asked for more: about ten seconds' worth.
const N_KILLS: usize = 12;

/// A plain generator of numbers (a linear congruence, Knuth's constants): the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

fn write_tree(scratch: &Scratch, round: usize) {
    for n in 0..40 {
        let next = (n * 7 + round) % 40;
        scratch.write(
            &format!("pkg/m{n}.py"),
            &format!("from pkg.m{next} import f{next}\n\n\ndef f{n}(value):\n    return f{next}(value) + {round}\n"),
        );
    }
}

fn export(scratch: &Scratch, store: &Path) -> String {
    let output = ratlas(&scratch.root, store).args(["export", "edges", "--unproved"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Makes every file of the store look old, so that `gc` has something to do.
fn age(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            age(&path);
        } else if let Ok(file) = std::fs::File::options().append(true).open(&path) {
            let _ = file.set_modified(std::time::SystemTime::now() - Duration::from_secs(40 * 24 * 3600));
        }
    }
}

fn start(scratch: &Scratch, kind: u64) -> Command {
    let mut command = ratlas(&scratch.root, &scratch.store());
    match kind {
        0 => command.args(["index"]),
        1 => command.args(["index", "--full"]),
        2 => command.args(["gc", "--max-bytes", "0"]),
        3 => command.args(["query", "map"]),
        _ => command.args(["serve"]),
    };
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn killed_at_any_moment_the_store_does_not_lie() {
    let n_kills = std::env::var("RATLAS_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(N_KILLS);
    let scratch = Scratch::new();
    let mut dice = Dice(7);
    write_tree(&scratch, 0);
    scratch.commit("one");
    // How long a whole run takes here, so that kills fall within it on any machine.
    let started = std::time::Instant::now();
    assert!(ratlas(&scratch.root, &scratch.store()).arg("index").status().unwrap().success());
    let whole = started.elapsed().as_micros() as u64;
    for round in 1..=n_kills {
        write_tree(&scratch, round);
        if dice.roll(3) == 0 {
            scratch.commit("more");
            age(&scratch.store());
        }
        let kind = dice.roll(5);
        let mut child = start(&scratch, kind).spawn().unwrap();
        if kind == 4 {
            let mut stdin = child.stdin.take().unwrap();
            let start = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}});
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "index_status", "arguments": {}}});
            let _ = writeln!(
                stdin,
                "{start}\n{}\n{call}",
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
            );
            std::thread::sleep(Duration::from_micros(dice.roll(whole)));
            child.kill().unwrap();
        } else {
            std::thread::sleep(Duration::from_micros(dice.roll(whole)));
            let _ = child.kill();
        }
        child.wait().unwrap();
        if round % 4 == 0 || round == n_kills {
            let empty = tempfile::tempdir().unwrap();
            assert_eq!(
                export(&scratch, &scratch.store()),
                export(&scratch, empty.path()),
                "kill {round} of kind {kind}"
            );
            let doctor = ratlas(&scratch.root, &scratch.store()).arg("doctor").output().unwrap();
            let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
            assert!(doctor.status.success() && said.lines().all(|line| line.starts_with("ok: ")), "{round}: {said}");
        }
    }
}

/// Commands that write packs and remotes.
const PUBLISHING: [&[&str]; 4] = [
    &["pack"],
    &["pack", "--all"],
    &["push", "REMOTE", "--namespace", "main"],
    &["remote", "repack", "REMOTE", "--namespace", "main"],
];

#[test]
fn killed_while_packing_and_publishing_nothing_lies() {
    let n_kills = std::env::var("RATLAS_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(N_KILLS);
    let scratch = Scratch::new();
    let remote = tempfile::tempdir().unwrap();
    let remote = remote.path().join("maps");
    let run = |store: &Path, arguments: &[&str]| {
        let given = arguments.iter().map(|word| if *word == "REMOTE" { remote.to_str().unwrap() } else { word });
        let mut command = ratlas(&scratch.root, store);
        command.args(given).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let mut dice = Dice(11);
    write_tree(&scratch, 0);
    scratch.commit("one");
    let started = std::time::Instant::now();
    for arguments in PUBLISHING {
        assert!(run(&scratch.store(), arguments).status().unwrap().success(), "{arguments:?}");
    }
    let whole = started.elapsed().as_micros() as u64 / PUBLISHING.len() as u64;
    for round in 1..=n_kills {
        write_tree(&scratch, round);
        scratch.commit("more");
        let arguments = PUBLISHING[dice.roll(PUBLISHING.len() as u64) as usize];
        let mut child = run(&scratch.store(), arguments).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(dice.roll(whole * 3 / 2)));
        let _ = child.kill();
        child.wait().unwrap();
        if round % 4 == 0 || round == n_kills {
            let (fresh, fetched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let right = export(&scratch, fresh.path());
            assert_eq!(export(&scratch, &scratch.store()), right, "kill {round} of {arguments:?}");
            // Whatever the remote holds by now, a reader ends at the same graph.
            assert!(
                run(fetched.path(), &["pull", "REMOTE", "--require-remote"]).status().unwrap().success(),
                "{round}"
            );
            assert_eq!(export(&scratch, fetched.path()), right, "kill {round} of {arguments:?}, fetched");
            for store in [&scratch.store(), fetched.path()] {
                let doctor = ratlas(&scratch.root, store).arg("doctor").output().unwrap();
                let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
                assert!(doctor.status.success(), "{round}: {said}");
            }
            whole_packs(&remote.join("v1"));
        }
    }
}

/// Every pack of a remote has the digest that its name says.
fn whole_packs(dir: &Path) {
    for path in std::fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            whole_packs(&path);
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            let digest = ratlas::base::id::Digest::of(&std::fs::read(&path).unwrap()).to_string();
            assert_eq!(path.file_stem().unwrap().to_str().unwrap(), digest, "a torn pack");
        }
    }
}
