//! `ratlas ci`: the pipeline's one command. Reads what happened from GITHUB_* and the event file
//! (or takes `--base` and `--head`, on any system), answers, and writes what the pipeline reads.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::atlas::{Atlas, AtlasSource};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::path::RepoPath;
use crate::ci::base::{Decision, History, decide};
use crate::ci::checkout::Checkout;
use crate::ci::durations::Durations;
use crate::ci::event::{self, Event, Trigger};
use crate::ci::{green, outputs, shards};
use crate::cli::ci_check::rederive;
use crate::cli::context::Context;
use crate::cli::impact::is_off;
use crate::cli::remote::RemoteArgs;
use crate::cli::{output, pull, push};
use crate::git::line;
use crate::impact::answer::{Answer, Mode, Verdict};
use crate::impact::decide::all_of;
use crate::impact::policy::{OnUnknown, Options, Policy, ReasonCode};
use crate::impact::runners::RunnerFormat;
use crate::impact::{forms, json as impact_json, text};
use crate::remote::layout::Namespace;
use crate::report::{json, sanitize};
use crate::session::Session;
use crate::tools::{impact_of, show};

/// Every option is also taken from RATLAS_CI_<NAME>, so that an action needs no shell to pass it.
#[derive(Debug, Args)]
pub struct CiArgs {
    /// What to do [default: impact]
    #[arg(value_name = "COMMAND")]
    command: Option<CiCommand>,
    /// The revision to compare from, by its merge base with the head; `auto` asks the event
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// The revision to compare to; `auto` is what is checked out
    #[arg(long, value_name = "REV")]
    head: Option<String>,
    /// When there is no base: select all, or fail with exit code 3
    #[arg(long, value_name = "all|error")]
    on_unknown: Option<String>,
    /// How much is followed: safe, precise or file
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
    /// Spread the tests over so many jobs
    #[arg(long, value_name = "N")]
    shards: Option<String>,
    /// JUnit reports of earlier runs, or folders of them, to balance the jobs by
    #[arg(long, value_name = "PATH")]
    durations: Vec<PathBuf>,
    /// The remote to fetch from, and to publish to
    #[arg(long, value_name = "URL")]
    remote: Option<String>,
    /// read, write (publish what was indexed, too) or off
    #[arg(long, value_name = "MODE")]
    remote_mode: Option<String>,
    /// The namespace to publish in; by default `main` for the default branch, pr-<n> for a pull request
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// A minisign public key that must have signed what is fetched
    #[arg(long, value_name = "KEY")]
    trusted_key: Vec<String>,
    /// Fail with exit code 5 when the remote is out of reach
    #[arg(long)]
    require_remote: bool,
    /// The folder for the report and the list of tests
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The report's form: json, md or text
    #[arg(long, value_name = "FORM")]
    report_format: Option<String>,
    /// Whether to write the job's summary (true or false)
    #[arg(long, value_name = "BOOL")]
    summary: Option<String>,
    /// Whether to print annotations (true or false)
    #[arg(long, value_name = "BOOL")]
    annotations: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CiCommand {
    /// Say which tests to run
    Impact,
    /// Index, and publish where asked to
    Index,
    /// Record that the whole run of this commit was green
    MarkGreen,
    /// Keep of the store only what HEAD's tree needs, before a cache is saved
    Prune,
}

/// The options in force: flags, then the environment.
struct Settings<'a> {
    args: &'a CiArgs,
}

impl Settings<'_> {
    /// The value of an option that takes one of `allowed` (any, when empty).
    fn of(&self, flag: Option<&str>, name: &str, allowed: &[&str]) -> Result<Option<String>> {
        let variable = format!("RATLAS_CI_{}", name.replace('-', "_").to_uppercase());
        let value = flag.map(str::to_owned).or_else(|| std::env::var(&variable).ok()).filter(|value| !value.is_empty());
        match value {
            Some(value) if !allowed.is_empty() && !allowed.contains(&value.as_str()) => {
                let what = format!("`{}` is no value of `--{name}`", sanitize::line(&value, 80));
                Err(Error::new(ErrorKind::Usage, what).hint(format!("give one of {}", allowed.join(", "))))
            }
            value => Ok(value),
        }
    }

    fn is_on(&self, flag: Option<&str>, name: &str) -> Result<bool> {
        Ok(self.of(flag, name, &["true", "false"])?.as_deref() != Some("false"))
    }

    fn command(&self) -> Result<CiCommand> {
        if let Some(command) = self.args.command {
            return Ok(command);
        }
        let name = self.of(None, "command", &["impact", "index", "mark-green", "prune"])?;
        Ok(match name.as_deref() {
            Some("index") => CiCommand::Index,
            Some("mark-green") => CiCommand::MarkGreen,
            Some("prune") => CiCommand::Prune,
            _ => CiCommand::Impact,
        })
    }

    fn revision(&self, flag: Option<&str>, name: &str) -> Result<Option<String>> {
        Ok(self.of(flag, name, &[])?.filter(|revision| revision != "auto"))
    }

    /// The remote, unless it is off: how it is dealt with, and whether to publish.
    fn remote(&self, event: &Event) -> Result<Option<(RemoteArgs, bool)>> {
        let mode = self.of(self.args.remote_mode.as_deref(), "remote-mode", &["read", "write", "off"])?;
        let url = self.of(self.args.remote.as_deref(), "remote", &[])?;
        let Some(url) = url.filter(|_| mode.as_deref() != Some("off")) else { return Ok(None) };
        let own = match &event.trigger {
            Trigger::PullRequest { number, .. } => Some(format!("pr-{number}")),
            _ if event.is_trusted() => Some("main".to_owned()),
            _ => None,
        };
        let namespace = self.of(self.args.namespace.as_deref(), "namespace", &[])?.or(own);
        let is_written = mode.as_deref() == Some("write") && namespace.is_some();
        let namespace = namespace.or_else(|| Some("main".to_owned()));
        let trusted_key = self.args.trusted_key.clone();
        Ok(Some((RemoteArgs { url: Some(url), namespace, trusted_key, trust: false }, is_written)))
    }
}

pub fn run(context: &Context, args: &CiArgs) -> Result<u8> {
    let settings = Settings { args };
    let event = read_event()?;
    match settings.command()? {
        CiCommand::Impact => impact(context, &settings, &event),
        CiCommand::Index => index(context, &settings, &event),
        CiCommand::MarkGreen => mark_green(context, &event),
        CiCommand::Prune => prune(context),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn read_event() -> Result<Event> {
    let json = match variable("GITHUB_EVENT_PATH").map(PathBuf::from) {
        Some(path) => {
            let unread = || Error::new(ErrorKind::Io, format!("cannot read the event file `{}`", path.display()));
            if std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() > event::MAX_BYTES) {
                return Err(unread());
            }
            let bytes = std::fs::read(&path).map_err(|cause| unread().source(cause))?;
            serde_json::from_slice(&bytes).map_err(|cause| unread().source(cause))?
        }
        None => Value::Null,
    };
    Event::read(&variable, &json)
}

/// What was had of the store and the remote before anything was extracted.
struct Reuse {
    n_keys: usize,
    n_missing: usize,
    is_signed: bool,
}

/// Fetches what is missing of the trees, as far as there is a remote.
fn fetch(
    context: &Context,
    settings: &Settings<'_>,
    event: &Event,
    session: &Session,
    revisions: &[&str],
) -> Result<Reuse> {
    let mut is_signed = false;
    if let Some((remote, _)) = settings.remote(event)? {
        match pull::fetch(context, session, &remote, revisions) {
            Ok(pulled) => {
                pulled.warnings.iter().for_each(|warning| pull::warn(context, warning));
                is_signed = pulled.is_signed;
            }
            Err(error) if error.kind == ErrorKind::Remote && !settings.args.require_remote => {
                pull::warn(context, &error.what);
            }
            Err(error) => return Err(error),
        }
    }
    let n_missing = session.missing(revisions)?.len();
    Ok(Reuse { n_keys: session.keys()?.len(), n_missing, is_signed })
}

fn impact(context: &Context, settings: &Settings<'_>, event: &Event) -> Result<u8> {
    let args = settings.args;
    let base = settings.revision(args.base.as_deref(), "base")?;
    let head = settings.revision(args.head.as_deref(), "head")?;
    let clone = Checkout::open(context.dir(), head.as_deref().unwrap_or("HEAD"), !context.is_offline())?;
    let session = context.session()?;
    let mark = event.branch.as_deref().map(|branch| green::file(session.shards().dir(), branch));
    let mark = mark.and_then(|file| green::decode(&std::fs::read_to_string(file).ok()?));
    let decision = decide(event, base.as_deref(), mark.as_deref(), &clone);
    // Opened anew: the decision may have fetched what the session did not see.
    let session = context.session()?;
    let options = options(context, settings, event, &clone)?;
    let revisions: Vec<&str> = [decision.base.as_deref(), Some(decision.head.as_str())].into_iter().flatten().collect();
    let reuse = fetch(context, settings, event, &session, &revisions)?;
    let given = |text: Option<&str>| match context.config_of(text) {
        Ok(config) => Ok(Some(Options {
            is_off: options.is_off,
            policy: policy_of(settings, config.impact().policy)?,
            on_unknown: options.on_unknown,
            ..config.impact()
        })),
        Err(error) if error.kind == ErrorKind::Config => Ok(None),
        Err(error) => Err(error),
    };
    let ask = |session: &Session| answer(session, &decision, &options, &given);
    let mut found = ask(&session)?;
    let mut n_wrong = 0;
    if !reuse.is_signed {
        n_wrong = rederive(&session, &found.0, &revisions)?;
        if n_wrong > 0 {
            pull::warn(
                context,
                &format!("{} were not what their files give; extracted again", show::count(n_wrong, "shard")),
            );
            let session = context.session()?;
            found = ask(&session)?;
            if rederive(&session, &found.0, &revisions)? > 0 {
                return Err(Error::new(ErrorKind::Integrity, "facts differ between two extractions of one file")
                    .hint("this is a fault of ratlas: select all tests, and report it"));
            }
        }
    }
    let (answer, atlas) = found;
    let durations = durations(settings)?;
    let n_jobs = match settings.of(args.shards.as_deref(), "shards", &[])? {
        Some(n) => n.parse().ok().filter(|n| (1..=shards::MAX_JOBS).contains(n)).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("`{}` is no number of shards", sanitize::line(&n, 40)))
                .hint(format!("give a number from 1 to {}", shards::MAX_JOBS))
        })?,
        None => 1,
    };
    let build = |package: &RepoPath| build_of(&atlas, package);
    let jobs = shards::jobs(&answer, &durations, n_jobs, &build);
    write(context, settings, event, &decision, &answer, &jobs, &reuse, n_wrong)?;
    if let Some((remote, true)) = settings.remote(event)? {
        publish(context, &session, &remote)?;
    }
    Ok(0)
}

/// The answer and the head's atlas.
fn answer(
    session: &Session,
    decision: &Decision,
    options: &Options,
    rules: impact_of::RulesOf<'_>,
) -> Result<(Answer, std::sync::Arc<Atlas>)> {
    match &decision.base {
        Some(base) => impact_of::of_diff(session, &format!("{base}..{}", decision.head), options, rules),
        None if options.on_unknown == OnUnknown::Error => {
            Err(Error::new(ErrorKind::UnknownRevision, format!("no base: {}", decision.reason))
                .hint("give one with `--base REV`, or leave out `--on-unknown error` to run all tests"))
        }
        None => {
            let head = session.at(&decision.head)?;
            let mut answer = all_of(&head, options, &decision.head, ReasonCode::BaseUnresolvable, &decision.reason);
            answer.verdict = Verdict::Unknown;
            Ok((answer, head))
        }
    }
}

fn policy_of(settings: &Settings<'_>, configured: Policy) -> Result<Policy> {
    let name = settings.of(settings.args.policy.as_deref(), "policy", &["safe", "precise", "file"])?;
    Ok(name.and_then(|name| Policy::parse(&name)).unwrap_or(configured))
}

fn options(context: &Context, settings: &Settings<'_>, event: &Event, clone: &Checkout) -> Result<Options> {
    let mut options = context.config()?.impact();
    options.policy = policy_of(settings, options.policy)?;
    let on_unknown = settings.of(settings.args.on_unknown.as_deref(), "on-unknown", &["all", "error"])?;
    options.on_unknown = if on_unknown.as_deref() == Some("error") { OnUnknown::Error } else { OnUnknown::All };
    options.is_off =
        is_off(variable("RATLAS_SELECT").as_deref())? || event.off.is_some() || has_trailer(context, clone)?;
    Ok(options)
}

/// Whether the commit, or the pull request's own last one, has the trailer `Ratlas-Select: off`.
fn has_trailer(context: &Context, clone: &Checkout) -> Result<bool> {
    let repo = crate::git::repo::Repo::open(context.dir())?;
    let head = clone.head();
    let second = clone.parents(&head).and_then(|parents| parents.into_iter().nth(1));
    let is_off = |commit: &String| {
        let message = line::message(&repo, commit).unwrap_or_default();
        let last = message.trim_end().rsplit("\n\n").next().unwrap_or_default().to_lowercase();
        last.lines()
            .any(|line| line.split_once(':').is_some_and(|(k, v)| k.trim() == "ratlas-select" && v.trim() == "off"))
    };
    Ok([Some(head), second].iter().flatten().any(is_off))
}

/// Which build runs Java's tests of a package: the nearest build file above them.
fn build_of(atlas: &Atlas, package: &RepoPath) -> Option<RunnerFormat> {
    let has = |folder: &RepoPath, name: &str| {
        let path = folder.join(name);
        path.is_some_and(|path| {
            atlas.view.config.contains_key(&path)
                || atlas.view.others.binary_search_by(|other| other.path.cmp(&path)).is_ok()
        })
    };
    let mut folder = Some(package.clone());
    while let Some(at) = folder {
        if has(&at, "pom.xml") {
            return Some(RunnerFormat::Maven);
        }
        if ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"].iter().any(|n| has(&at, n)) {
            return Some(RunnerFormat::Gradle);
        }
        folder = at.parent();
    }
    None
}

/// JUnit reports: files, and the `.xml` files of folders, in order of their names.
fn durations(settings: &Settings<'_>) -> Result<Durations> {
    let named = settings.of(None, "durations", &[])?.map(PathBuf::from);
    let mut files = Vec::new();
    for path in settings.args.durations.iter().chain(&named) {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
            files.extend(entries.filter(|file| file.extension().is_some_and(|extension| extension == "xml")));
        } else if path.is_file() {
            files.push(path.clone());
        }
    }
    files.sort();
    // Earlier runs' reports may be missing: balance is all that they are for.
    let reports: Vec<String> = files
        .iter()
        .filter_map(|file| Some(String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned()))
        .collect();
    Ok(Durations::of(reports.iter().map(String::as_str)))
}

#[allow(clippy::too_many_arguments)]
fn write(
    context: &Context,
    settings: &Settings<'_>,
    event: &Event,
    decision: &Decision,
    answer: &Answer,
    jobs: &[shards::Job],
    reuse: &Reuse,
    n_wrong: usize,
) -> Result<()> {
    let args = settings.args;
    let out = out_folder(settings)?;
    let ids: Vec<&str> = answer.tests.iter().map(|test| test.id.as_str()).collect();
    let tests = Value::from(ids).to_string();
    let tests_file = out.join("tests.json");
    write_file(&tests_file, &tests)?;
    let (name, report) =
        match settings.of(args.report_format.as_deref(), "report-format", &["json", "md", "text"])?.as_deref() {
            Some("md") => ("report.md", lines(forms::markdown(answer))),
            Some("text") => ("report.txt", lines(text::lines(answer))),
            _ => ("report.json", json::compact(&impact_json::value(answer)) + "\n"),
        };
    let report_path = out.join(name);
    write_file(&report_path, &report)?;
    let against = match &decision.base {
        Some(base) => format!("{base:.12}..{:.12}, base by {}", decision.head, decision.strategy),
        None => format!("{:.12}, no base: {}", decision.head, sanitize::line(&decision.reason, 200)),
    };
    let fields = [
        ("mode", answer.mode.as_str().to_owned()),
        ("has-tests", (answer.mode != Mode::None).to_string()),
        ("tests", if tests.len() <= outputs::MAX_TESTS_BYTES { tests } else { String::new() }),
        ("tests-file", tests_file.display().to_string()),
        ("matrix", shards::matrix(jobs)),
        ("count", answer.tests.len().to_string()),
        ("report-path", report_path.display().to_string()),
        ("base", decision.base.clone().unwrap_or_default()),
        ("head", decision.head.clone()),
        ("base-strategy", decision.strategy.to_owned()),
        ("cache-hit", (reuse.n_missing == 0).to_string()),
        ("indexed", reuse.n_keys.to_string()),
        ("reused", reuse.n_keys.saturating_sub(reuse.n_missing).to_string()),
        ("cache-save", event.is_trusted().to_string()),
        ("ratlas-version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    append(variable("GITHUB_OUTPUT"), &outputs::fields(&fields))?;
    if settings.is_on(args.summary.as_deref(), "summary")? {
        append(variable("GITHUB_STEP_SUMMARY"), &outputs::summary(answer, &against))?;
    }
    let is_github = variable("GITHUB_ACTIONS").is_some();
    let mut shown = lines(text::lines(answer));
    shown.push_str(&format!("compared: {against}\n"));
    if n_wrong > 0 {
        shown.push_str(&format!("{} set aside\n", show::count(n_wrong, "wrong shard")));
    }
    shown.push_str(&format!("report: {}\n", report_path.display()));
    if !is_github {
        return output::print(&shown);
    }
    let annotations = match settings.is_on(args.annotations.as_deref(), "annotations")? && !context.is_quiet() {
        true => lines(outputs::annotations(answer)),
        false => String::new(),
    };
    output::print(&(annotations + &outputs::quoted(&shown)))
}

fn lines(lines: Vec<String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Where files for the pipeline go: `--out`, the runner's folder for temporary files, or ours.
fn out_folder(settings: &Settings<'_>) -> Result<PathBuf> {
    let given = settings.of(settings.args.out.as_ref().and_then(|out| out.to_str()), "out", &[])?.map(PathBuf::from);
    let folder =
        given.unwrap_or_else(|| variable("RUNNER_TEMP").map_or_else(std::env::temp_dir, PathBuf::from).join("ratlas"));
    std::fs::create_dir_all(&folder)
        .map_err(|cause| Error::new(ErrorKind::Io, format!("cannot make `{}`", folder.display())).source(cause))?;
    Ok(folder)
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text)
        .map_err(|cause| Error::new(ErrorKind::Io, format!("cannot write `{}`", path.display())).source(cause))
}

/// Appends to a file that the pipeline reads; nothing where it names none.
fn append(file: Option<String>, text: &str) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let write = || {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&file)?;
        std::io::Write::write_all(&mut file, text.as_bytes())
    };
    write().map_err(|cause| Error::new(ErrorKind::Io, format!("cannot write `{file}`")).source(cause))
}

fn index(context: &Context, settings: &Settings<'_>, event: &Event) -> Result<u8> {
    let session = context.session()?;
    let reuse = fetch(context, settings, event, &session, &[])?;
    let report = session.index(false)?;
    let fields = [
        ("cache-hit", (report.counts.parsed == 0).to_string()),
        ("indexed", report.counts.indexed.to_string()),
        ("reused", reuse.n_keys.saturating_sub(reuse.n_missing).to_string()),
        ("head", report.commit.clone().unwrap_or_default()),
        ("cache-save", event.is_trusted().to_string()),
        ("ratlas-version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    append(variable("GITHUB_OUTPUT"), &outputs::fields(&fields))?;
    let counts = &report.counts;
    output::print(&format!(
        "{} indexed: {} parsed, {} reused\n",
        show::count(counts.indexed, "file"),
        counts.parsed,
        counts.reused
    ))?;
    if let Some((remote, true)) = settings.remote(event)? {
        publish(context, &session, &remote)?;
    }
    Ok(0)
}

/// Publishes HEAD; a remote that takes nothing is a warning, since the answer stands.
fn publish(context: &Context, session: &Session, remote: &RemoteArgs) -> Result<()> {
    let Some(name) = &remote.namespace else { return Ok(()) };
    match push::publish(context, session, remote, &Namespace::parse(name)?, &push::Options::default()) {
        Ok((pushed, address)) => {
            output::print(&format!("published {} as `{name}` to `{address}`\n", show::count(pushed.n_shards, "shard")))
        }
        Err(error) if error.kind == ErrorKind::Remote => {
            pull::warn(context, &error.what);
            Ok(())
        }
        Err(error) => Err(error),
    }
}

fn mark_green(context: &Context, event: &Event) -> Result<u8> {
    let session = context.session()?;
    let (Trigger::Push { .. }, Some(branch)) = (&event.trigger, &event.branch) else {
        output::print("no push to a branch: nothing is marked\n")?;
        return Ok(0);
    };
    let head = crate::git::history::resolve(session.repo(), "HEAD")?;
    session.shards().write(&green::file(session.shards().dir(), branch), green::encode(&head).as_bytes())?;
    append(
        variable("GITHUB_OUTPUT"),
        &outputs::fields(&[("head", head.clone()), ("cache-save", event.is_trusted().to_string())]),
    )?;
    output::print(&format!("green: {head:.12} on `{}`\n", sanitize::line(branch, 100)))?;
    Ok(0)
}

fn prune(context: &Context) -> Result<u8> {
    let session = context.session()?;
    let tree = session.shards_of("HEAD")?;
    let packed = session.shards().keep_only(&tree.keys)?;
    output::print(&format!(
        "kept {}, removed {}\n",
        show::count(packed.n_rows, "shard"),
        show::count(packed.n_replaced, "file")
    ))?;
    Ok(0)
}
