//! A hundred realistic secrets in every place that facts take text from: none is stored.
//!
//! They are drawn here by a fixed generator, so that no key, not even a made-up one, stands in
//! the repository.

use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;

use ratlas::base::dialect::Dialect;
use ratlas::base::id::{BlobId, Digest, ShardKey};
use ratlas::extract::extract;
use ratlas::extract::fingerprint::fingerprint;
use ratlas::extract::redact::Redactor;
use ratlas::facts::dump::dump;
use ratlas::facts::validate::validate;
use ratlas::store::shard::{self, Form};

use crate::cli::ratlas;
use crate::git::Scratch;

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";

/// A text as people paste it, and the part of it that must never be stored.
struct Secret {
    kind: String,
    text: String,
    secret: String,
}

struct Draw(u64);

impl Draw {
    fn token(&mut self, alphabets: &[&str], len: usize) -> String {
        let all: Vec<u8> = alphabets.concat().into_bytes();
        (0..len)
            .map(|_| {
                self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                all[(self.0 >> 33) as usize % all.len()] as char
            })
            .collect()
    }
    fn alnum(&mut self, len: usize) -> String {
        self.token(&[UPPER, LOWER, DIGITS], len)
    }
    fn hex(&mut self, len: usize) -> String {
        self.token(&[HEX], len)
    }
    fn url(&mut self, len: usize) -> String {
        self.token(&[UPPER, LOWER, DIGITS, "_-"], len)
    }
}

/// The hundred. Prefixes are put together here, so that nothing in this file looks like a key.
fn secrets() -> Vec<Secret> {
    let mut draw = Draw(42);
    let mut all = Vec::new();
    for _ in 0..3 {
        let d = &mut draw;
        let whole: Vec<(&str, String)> = vec![
            ("aws id", ["AK", "IA"].concat() + &d.token(&[UPPER, "234567"], 16)),
            ("aws session id", ["AS", "IA"].concat() + &d.token(&[UPPER, "234567"], 16)),
            ("aws secret", d.token(&[UPPER, LOWER, DIGITS, "/+"], 40)),
            ("gcp key", ["AI", "za"].concat() + &d.url(35)),
            ("github token", ["gh", "p_"].concat() + &d.alnum(36)),
            ("github fine-grained", ["github", "_pat_"].concat() + &d.alnum(22) + "_" + &d.alnum(59)),
            ("gitlab token", ["gl", "pat-"].concat() + &d.url(20)),
            (
                "slack bot",
                ["xo", "xb-"].concat() + &d.token(&[DIGITS], 12) + "-" + &d.token(&[DIGITS], 12) + "-" + &d.alnum(24),
            ),
            ("stripe live", ["sk_", "live_"].concat() + &d.alnum(24)),
            ("npm token", ["np", "m_"].concat() + &d.alnum(36)),
            ("pypi token", ["py", "pi-AgE"].concat() + &d.url(70)),
            ("jwt", ["ey", "J"].concat() + &d.alnum(33) + ".eyJ" + &d.alnum(60) + "." + &d.url(43)),
            ("sendgrid", ["S", "G."].concat() + &d.url(22) + "." + &d.url(43)),
            ("twilio", ["S", "K"].concat() + &d.hex(32)),
            ("openai", ["sk", "-proj-"].concat() + &d.alnum(48)),
            ("huggingface", ["h", "f_"].concat() + &d.alnum(34)),
            ("digitalocean", ["do", "p_v1_"].concat() + &d.hex(64)),
            ("vault", ["hv", "s."].concat() + &d.alnum(24)),
            ("shopify", ["shp", "at_"].concat() + &d.hex(32)),
            ("telegram", d.token(&[DIGITS], 9) + ":AA" + &d.url(33)),
            ("hex key", d.hex(64)),
            ("base64 key", d.token(&[UPPER, LOWER, DIGITS, "+/"], 43) + "="),
            ("docker", ["dckr", "_pat_"].concat() + &d.url(27)),
        ];
        all.extend(whole.into_iter().map(|(kind, text)| Secret { kind: kind.to_owned(), secret: text.clone(), text }));
        let password = d.alnum(6) + "!x9";
        let parts: Vec<(&str, String, String)> = vec![
            ("postgres", format!("postgres://app:{password}@db.internal:5432/app"), password.clone()),
            ("mongodb", format!("mongodb+srv://root:{password}@cluster0.example.net"), password.clone()),
            ("amqp", format!("amqps://:{password}@mq.example.com/vhost"), password.clone()),
            ("ado.net", format!("Server=db;User=sa;Password={password};Encrypt=true"), password.clone()),
            ("bearer", "Authorization: Bearer ".to_owned() + &d.hex(24), String::new()),
            ("assigned password", format!("password='{password}'"), password.clone()),
            ("assigned key", "api_key: \"q1".to_owned() + &d.token(&[LOWER, DIGITS], 14) + "\"", String::new()),
            ("assigned secret", "client_secret=z9".to_owned() + &d.token(&[LOWER, DIGITS], 12), String::new()),
            (
                "azure storage",
                "DefaultEndpointsProtocol=https;AccountKey=".to_owned() + &d.alnum(86) + "==",
                String::new(),
            ),
            (
                "slack hook",
                "https://hooks.slack.com/services/T0".to_owned()
                    + &d.token(&[UPPER, DIGITS], 7)
                    + "/B0"
                    + &d.token(&[UPPER, DIGITS], 7)
                    + "/"
                    + &d.alnum(24),
                String::new(),
            ),
            ("private key", ["-----BEGIN RSA PRIV", "ATE KEY-----MIIE"].concat() + &d.alnum(60), String::new()),
        ];
        for (kind, text, secret) in parts {
            // Where no part is named, it is the last run of letters and digits.
            let last = text.rsplit(|c: char| !c.is_ascii_alphanumeric()).find(|part| part.len() > 7);
            let secret = if secret.is_empty() { last.unwrap_or_default().to_owned() } else { secret };
            all.push(Secret { kind: kind.to_owned(), text, secret });
        }
    }
    all.truncate(100);
    all
}

#[test]
fn no_rule_lets_a_secret_stand_in_any_kind_of_text() {
    let all = secrets();
    assert_eq!(all.len(), 100);
    for Secret { kind, text, secret } in &all {
        for context in
            ["{}", "def connect(self, value=\"{}\")", "Use {} to log in.", "rejects {}", "./keys/{}", "a({})b", "x={}"]
        {
            let written = context.replace("{}", text);
            let redacted = Redactor::built_in().redact(&written);
            assert!(!redacted.contains(secret.as_str()), "{kind}: {redacted}");
            assert!(redacted.contains("[redacted:"), "{kind}: {redacted}");
            assert_eq!(Redactor::built_in().redact(&redacted), redacted, "{kind}: twice is once");
        }
    }
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn python(all: &[Secret]) -> String {
    let mut source = String::new();
    for (at, Secret { text, .. }) in all.iter().enumerate() {
        let text = quoted(text);
        source.push_str(&format!(
            "# {text}\nVALUE_{at} = \"{text}\"\n\n@app.route(\"/{text}\", key=\"{text}\")\nasync def f_{at}(a: \"str\" = \"{text}\", *, b={{\"{text}\": 1}}):\n    \"\"\"{text}\n\n    More: {text}\n    \"\"\"\n    open(\"./data/{text}.json\")\n    mock.patch(\"{text}\")\n    return f\"{text}{{a}}\"\n\nclass C_{at}(Base, label=\"{text}\"):\n    \"\"\"Holds {text}.\"\"\"\n    field: Literal[\"{text}\"] = \"{text}\"\n    __slots__ = (\"{text}\",)\n\n"
        ));
    }
    source + "__all__ = [\"f_1\"]\n"
}

fn typescript(all: &[Secret]) -> String {
    let mut source = String::new();
    for (at, Secret { text, .. }) in all.iter().enumerate() {
        let text = quoted(text);
        source.push_str(&format!(
            "// {text}\nimport x{at} from \"./{text}\";\n/** {text} */\nexport const value{at} = \"{text}\";\nexport const table{at} = {{ \"{text}\": () => `{text}`, key: \"{text}\" }};\n/** Sends {text}. */\nexport function f{at}(a: string = \"{text}\", b: \"{text}\" | null = null) {{ return import(\"./{text}\"); }}\n@Component({{ selector: \"{text}\" }})\nclass C{at} {{ \"{text}\" = 1; static key = \"{text}\"; }}\ndescribe(\"{text}\", () => {{ it(\"takes {text}\", () => {{ jest.mock(\"../{text}\"); }}); }});\ndeclare module \"{text}\" {{ }}\n"
        ));
    }
    source
}

fn java(all: &[Secret]) -> String {
    let mut source = "package a.b;\n".to_owned();
    for (at, Secret { text, .. }) in all.iter().enumerate() {
        let text = quoted(text);
        source.push_str(&format!(
            "/** Uses {text}. */\n@Value(\"{text}\")\nclass C{at} {{\n  // {text}\n  static final String KEY = \"{text}\";\n  /** {text} */\n  @Test(name = \"{text}\") @MethodSource(\"{text}\")\n  void f{at}(@Named(\"{text}\") String a) {{ load(\"conf/{text}.xml\"); }}\n}}\n"
        ));
    }
    source
}

/// In strings, comments, docs, defaults, decorators, titles, specifiers and keys of real files.
#[test]
fn no_secret_reaches_facts_shards_or_dumps() {
    let all = secrets();
    let sources = [
        (Dialect::Py, python(&all)),
        (Dialect::Ts, typescript(&all)),
        (Dialect::Js, typescript(&all)),
        (Dialect::Java, java(&all)),
    ];
    for (dialect, source) in sources {
        let facts = extract(dialect, source.as_bytes());
        assert!(validate(&facts), "{dialect}");
        let key = ShardKey {
            blob: BlobId::from_bytes(&Digest::of(source.as_bytes()).0[..20]).unwrap(),
            dialect,
            fingerprint: fingerprint(dialect),
        };
        let dumped = dump(&facts);
        let shards = [(key, Arc::new(facts.clone()))];
        let stored = [Form::Loose, Form::Pack].map(|form| shard::encode(&shards, form).unwrap());
        for Secret { kind, secret, .. } in &all {
            let found = facts.names.iter().find(|name| name.contains(secret.as_str()));
            assert!(found.is_none(), "{dialect}: {kind} in the name {found:?}");
            assert!(!dumped.contains(secret.as_str()), "{dialect}: {kind} in the dump");
            for bytes in &stored {
                let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!found, "{dialect}: {kind} in the shard");
            }
        }
        assert!(dumped.contains("[redacted:"), "{dialect}: the texts did reach the facts, redacted");
    }
}

#[test]
fn hashes_are_of_the_bytes_before_redaction() {
    let all = secrets();
    let source = |nth: usize| format!("/** {0} */\nfunction f(key = \"{0}\") {{ return \"{0}\"; }}\n", all[nth].text);
    let (one, other) = (extract(Dialect::Ts, source(4).as_bytes()), extract(Dialect::Ts, source(38).as_bytes()));
    assert_eq!(one.names, other.names, "both keys are gone");
    let function = |facts: &ratlas::facts::model::FileFacts| facts.symbols[1].clone();
    assert_ne!(function(&one).sig_hash, function(&other).sig_hash);
    assert_ne!(function(&one).body_hash, function(&other).body_hash);
}

#[test]
fn ordinary_texts_stay_as_they_are() {
    for text in [
        "def authenticate(self, username: str, password: str, token: Optional[str] = None) -> Token",
        "createUserWithEmailAndPassword(auth: Auth, email: string, password: string): Promise<UserCredential>",
        "private final String passwordEncoderBeanDefinitionName",
        "password: string",
        "Sets the password. The secret key: see the section on keys.",
        ":param token: base64 text of the session",
        "test_login_with_wrong_password_and_expired_token_returns_401",
        "PasswordEncoderFactories.createDelegatingPasswordEncoder(String,int)",
        "https://docs.example.org/en/stable/howto/auth#basic",
        "https://user@example.org:8080/path?q=token",
        "./fixtures/tokens/api-key-rotation.test.ts",
        "@scope/some-package-with-a-long-name/dist/esm/index.mjs",
        "org.springframework.beans.factory.support.DefaultListableBeanFactory",
        "SK_IDENTIFIER_WITH_MANY_PARTS",
        "sk-loading-indicator-with-three-dots",
        "pk_test_generation_of_fixtures",
        "AKIAshi",
        "renders <Button key=\"primary\" /> as a button",
        "type TokenKind = 'access' | 'refresh' | 'identity'",
        "basic authorization header is required",
        "commit 3f2a91c of the upstream repository",
        "UTF-8, ISO-8859-1 and windows-1252",
        "key: (typeof keys)[number]",
        "tokens=[Token.IDENTIFIER, Token.NUMBER_LITERAL2]",
        "",
    ] {
        assert_eq!(Redactor::built_in().redact(text), text);
    }
}

#[test]
fn user_patterns_take_out_their_group_and_bad_ones_are_named() {
    let redactor = Redactor::new(&["EMP-([0-9]+)".to_owned(), "(?i)codename \\w+".to_owned()]).unwrap();
    assert_eq!(redactor.redact("for EMP-1234, codename Otter"), "for EMP-[redacted:custom], [redacted:custom]");
    let error = Redactor::new(&["a(".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("`a(`") && error.contains("help: "), "{error}");
    let shared = extract(Dialect::Py, b"");
    assert!(!shared.names.is_empty());
}

/// Every command and the server, under a trace log, over files that hold all of them.
#[test]
fn no_secret_reaches_an_export_an_answer_or_a_log() {
    let mut all = secrets();
    all.push(Secret { kind: "custom".into(), text: "see EMP-4711".into(), secret: "EMP-4711".into() });
    let scratch = Scratch::new();
    scratch.write("ratlas.toml", "[privacy]\nredact_patterns = [\"EMP-[0-9]{4}\"]\n");
    scratch.write("app/one.py", &python(&all)).write("web/two.ts", &typescript(&all));
    scratch.write("web/three.js", &typescript(&all)).write("src/Four.java", &java(&all));
    scratch.commit("one");
    scratch.write("app/one.py", &(python(&all) + "def added():\n    return f_1(2)\n"));
    let mut said = String::new();
    let mut run = |arguments: &[&str], input: &str| {
        let mut command = ratlas(&scratch.root, &scratch.store());
        command.env("RATLAS_LOG", "trace").args(arguments).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {log}");
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        for Secret { kind, secret, .. } in &all {
            assert!(!answer.contains(secret.as_str()), "{arguments:?} prints the {kind} {secret}");
            assert!(!log.contains(secret.as_str()), "{arguments:?} logs the {kind} {secret}");
        }
        said.push_str(&answer);
    };
    for arguments in [
        "index --full --format json",
        "status",
        "status --format json",
        "export symbols",
        "export references",
        "export edges --unproved",
        "query map --budget 16000",
        "query symbol f_1",
        "query symbol C_3 --format json",
        "query get f_1 --body",
        "query get C3 --file web/two.ts --body --format json",
        "query get C4 --file src/Four.java --body",
        "query span app/one.py:1-120",
        "query span web/three.js:1-60 --format json",
        "query span src/Four.java:1-60",
        "query outline app/one.py",
        "query outline web/two.ts",
        "query callers f_1",
        "query callees added",
        "query refs value1",
        "query deps web/two.ts",
        "query neighborhood f_1",
        "impact f_1 --format json",
        "impact --diff WORKTREE",
        "impact --diff WORKTREE --format json",
        "verify",
    ] {
        run(&arguments.split(' ').collect::<Vec<_>>(), "");
    }
    run(&["query", "context", "send the token, log in with the password and the api key"], "");
    let request = |id: u32, method: &str, params: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
    };
    let hello = r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;
    let mut input = request(1, "initialize", hello);
    input.push_str("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let body = r#"{"name":"get_symbol","arguments":{"qualname":"f_2","include_body":true}}"#;
    input.push_str(&request(2, "tools/call", body));
    let context = r#"{"name":"get_context","arguments":{"task":"the password and the token","budget":8000}}"#;
    input.push_str(&request(3, "tools/call", context));
    run(&["serve"], &input);
    assert!(said.contains("[redacted:custom]") && said.matches("[redacted:").count() > 1_000, "texts were shown");
}

/// Over real code: no name of a symbol is touched, but for those that hold a drawn token.
/// Reads the folder that `RATLAS_CORPUS` names.
#[test]
fn names_of_symbols_in_real_code_stay() {
    let Some(folder) = std::env::var_os("RATLAS_CORPUS") else { return };
    let mut folders = vec![std::path::PathBuf::from(folder)];
    let (mut n_names, mut n_redacted) = (0, 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                if !matches!(entry.file_name().to_str(), Some(".git" | "node_modules")) {
                    folders.push(path);
                }
                continue;
            }
            let Some(dialect) = Dialect::of_file_name(&entry.file_name().to_string_lossy()) else { continue };
            let facts = extract(dialect, &std::fs::read(&path).unwrap());
            for symbol in &facts.symbols {
                n_names += 1;
                assert!(!facts.name(symbol.name).contains("[redacted:"), "{}", facts.name(symbol.qualname));
            }
            for name in facts.names.iter().filter(|name| name.contains("[redacted:")) {
                n_redacted += 1;
                println!("{}: {name}", path.display());
            }
        }
    }
    println!("{n_names} symbols, {n_redacted} texts redacted");
    assert!(n_names > 100, "the folder holds code");
}
