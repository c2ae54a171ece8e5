//! `ratlas demo`: a small shop in three languages with a history, and a walk through what ratlas
//! says of it.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::atlas::AtlasSource;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::path::RepoPath;
use crate::cli::context::Context;
use crate::cli::output;
use crate::git::author::{NewCommit, write_history};
use crate::impact::policy::Options;
use crate::impact::text;
use crate::session::{Session, SessionOptions};
use crate::tools::param::{Asker, Given};
use crate::tools::tool::{self, Desk, Tool};
use crate::tools::{callers, impact_of, repo_map};

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Unpack into DIR, which must be empty or absent, in the place of a temporary folder
    #[arg(value_name = "DIR")]
    into: Option<std::path::PathBuf>,
}

/// A file of the demonstration's sources, by its path below a commit's folder.
macro_rules! files {
    ($folder:literal: $($path:literal),+ $(,)?) => {
        &[$(($path, include_bytes!(concat!("../../fixtures/demo/", $folder, "/", $path)))),+]
    };
}

type File = (&'static str, &'static [u8]);

/// The commits: message, files.
const COMMITS: &[(&str, &[File])] = &[
    (
        "A shop: ledger, web, orders",
        files!("1-start":
            "README.md",
            "ledger/ledger/__init__.py",
            "ledger/ledger/invoice.py",
            "ledger/ledger/money.py",
            "ledger/ledger/report.py",
            "ledger/ledger/tax.py",
            "ledger/pyproject.toml",
            "ledger/tests/conftest.py",
            "ledger/tests/test_invoice.py",
            "ledger/tests/test_money.py",
            "ledger/tests/test_report.py",
            "ledger/tests/test_tax.py",
            "orders/pom.xml",
            "orders/src/main/java/shop/orders/Checkout.java",
            "orders/src/main/java/shop/orders/Discount.java",
            "orders/src/main/java/shop/orders/NoDiscount.java",
            "orders/src/main/java/shop/orders/Order.java",
            "orders/src/main/java/shop/orders/SeasonDiscount.java",
            "orders/src/test/java/shop/orders/CheckoutTest.java",
            "orders/src/test/java/shop/orders/OrderTest.java",
            "orders/src/test/java/shop/orders/SeasonDiscountTest.java",
            "web/package.json",
            "web/src/cart.ts",
            "web/src/format.ts",
            "web/src/index.ts",
            "web/src/price.ts",
            "web/test/cart.test.ts",
            "web/test/format.test.ts",
            "web/test/price.test.ts",
            "web/tsconfig.json",
        ),
    ),
    (
        "ledger: tax unknown goods as other goods",
        files!("2-ledger":
            "ledger/ledger/tax.py",
        ),
    ),
    (
        "web: round what is due to the nearest cent",
        files!("3-web":
            "web/src/price.ts",
        ),
    ),
    (
        "orders: let summer begin on the 21st of June",
        files!("4-orders":
            "orders/src/main/java/shop/orders/SeasonDiscount.java",
        ),
    ),
    (
        "Say how to run the tests",
        files!("5-docs":
            "README.md",
        ),
    ),
];

pub fn run(_context: &Context, args: &DemoArgs) -> Result<u8> {
    let folder = match &args.into {
        Some(dir) => dir.clone(),
        None => tempfile::Builder::new()
            .prefix("ratlas-demo-")
            .tempdir()
            .map_err(|cause| Error::new(ErrorKind::Io, "cannot make a temporary folder").source(cause))?
            .keep(),
    };
    let shop = folder.join("shop");
    unpack(&shop)?;
    let options = SessionOptions { store: Some(folder.join("store")), ..SessionOptions::default() };
    let session = Session::open(&shop, &options)?;
    output::print(&walk(session, &shop)?)?;
    Ok(0)
}

/// Writes the repository with its history into `shop`.
fn unpack(shop: &Path) -> Result<()> {
    if shop.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::new(ErrorKind::Usage, format!("`{}` is not empty", shop.display()))
            .hint("give a folder that is empty or not there yet, or none"));
    }
    std::fs::create_dir_all(shop)
        .map_err(|cause| Error::new(ErrorKind::Io, format!("cannot make `{}`", shop.display())).source(cause))?;
    let path = |text: &str| RepoPath::new(text).expect("because the fixtures' paths are relative and plain");
    let commits: Vec<NewCommit<'_>> = COMMITS
        .iter()
        .map(|(message, files)| NewCommit {
            message,
            files: files.iter().map(|(name, bytes)| (path(name), *bytes)).collect(),
            removed: Vec::new(),
        })
        .collect();
    write_history(shop, &commits)
}

/// Runs the commands one after the other; each is printed as one would type it, then its answer.
fn walk(session: Session, shop: &Path) -> Result<String> {
    let mut out = String::new();
    let n_commits = COMMITS.len();
    let mut say = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    say(&format!(
        "A small shop in Python, TypeScript and Java, with {n_commits} commits, lies in\n  {}",
        shop.display()
    ));

    say(&title(1, "Index it", "every file is parsed once; what is known is never parsed again"));
    say(&typed("index"));
    let report = session.index(false)?;
    say(&format!(
        "  {} files indexed, {} parsed now, {} without facts",
        report.counts.indexed,
        report.counts.parsed,
        report.counts.files - report.counts.indexed
    ));
    let again = session.index(false)?;
    say(&format!("  a second time: {} parsed, {} reused", again.counts.parsed, again.counts.reused));

    say(&title(2, "Ask which tests a change can break", "the last commits, one by one"));
    for back in (0..n_commits - 1).rev() {
        let (message, _) = COMMITS[n_commits - 1 - back];
        let diff = match back {
            0 => "HEAD~1...HEAD".to_owned(),
            back => format!("HEAD~{}...HEAD~{back}", back + 1),
        };
        say(&format!("\n  \u{201c}{message}\u{201d}"));
        say(&typed(&format!("impact --diff {diff}")));
        let (answer, _) = impact_of::of_diff(&session, &diff, &Options::default(), &|_| Ok(Some(Options::default())))?;
        for line in text::lines(&answer).iter().take_while(|line| !line.contains(" changed:")) {
            say(&format!("  {line}"));
        }
    }

    let source: Arc<dyn AtlasSource + Send + Sync> = Arc::new(session);
    let desk = Desk::new(source, tool::Options::default());
    say(&title(3, "Ask who uses a symbol", "proved by imports and types, apart from what merely may be"));
    say(&typed("query callers due"));
    say(&ask(&desk, &callers::TOOL, json!({ "qualname": "web/src/price.ts::due" }))?);
    say(&typed("query callers Discount.off"));
    say(&ask(&desk, &callers::TOOL, json!({ "qualname": "Discount.off" }))?);

    say(&title(4, "Get a map to read first", "the most telling lines within a budget of tokens"));
    say(&typed("query map --budget 400"));
    say(&ask(&desk, &repo_map::TOOL, json!({ "budget": 400 }))?);

    say(&title(5, "Now on a repository of your own", ""));
    for (command, what) in [
        ("index", "parse what is not indexed yet"),
        ("impact --diff main...HEAD", "the tests of your branch, with reasons"),
        ("impact --diff WORKTREE --format pytest", "those of your uncommitted work, for a runner"),
        ("query callers NAME", "who uses a symbol"),
        ("query map", "what to read first"),
    ] {
        say(&format!("  ratlas {command:<40} {what}"));
    }
    Ok(out)
}

fn title(number: usize, what: &str, aside: &str) -> String {
    let mut line = format!("\n{number}. {what}");
    if !aside.is_empty() {
        let _ = write!(line, ": {aside}");
    }
    line
}

fn typed(command: &str) -> String {
    format!("  $ ratlas {command}")
}

/// A tool's text, without its header line, indented.
fn ask(desk: &Desk, tool: &Tool, arguments: Value) -> Result<String> {
    let raw: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    let given = Given::read(tool.name, tool.params, &raw, Asker::Command)?;
    let text = (tool.run)(desk, &given)?.text();
    let lines: Vec<String> = text.lines().skip(1).map(|line| format!("  {line}")).collect();
    Ok(lines.join("\n"))
}
