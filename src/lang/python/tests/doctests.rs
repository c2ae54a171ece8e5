//! Which modules' docstrings are tests because a command says so: `pytest --doctest-modules …` in
//! tox.ini, setup.cfg, pyproject.toml, a noxfile, a makefile or a workflow.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::path::RepoPath;

/// The option that makes pytest run the examples of docstrings
/// (<https://docs.pytest.org/en/stable/how-to/doctest.html>).
pub const OPTION: &str = "--doctest-modules";

/// Options that take no value.
const FLAGS: [&str; 8] = [OPTION, "-q", "-v", "-vv", "-x", "-s", "-l", "--verbose"];

/// The commands that run the examples of docstrings, by the folder that they are written for.
#[derive(Clone, Debug, Default)]
pub struct Commands(Vec<Command>);

#[derive(Clone, Debug)]
struct Command {
    folder: RepoPath,
    /// What it is given to run; everything below its folder, when empty.
    paths: Vec<RepoPath>,
}

impl Commands {
    /// Reads the files that say how tests are run.
    pub fn read(config: &BTreeMap<RepoPath, Arc<[u8]>>) -> Self {
        let mut commands = Vec::new();
        for (path, bytes) in config {
            let Some(folder) = written_for(path) else { continue };
            let text = String::from_utf8_lossy(bytes).replace("\\\n", " ");
            let lines =
                text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';']) && line.contains(OPTION));
            commands.extend(lines.filter_map(|line| Command::read(line, &folder)));
        }
        Commands(commands)
    }

    /// Whether one runs the examples of a file.
    pub fn run(&self, path: &RepoPath) -> bool {
        self.0.iter().any(|command| {
            let is_given = command.paths.is_empty() || command.paths.iter().any(|at| at == path || path.is_within(at));
            is_given && path.is_within(&command.folder)
        })
    }
}

impl Command {
    /// `None` where the line tells no command, but an option of pytest's configuration.
    fn read(line: &str, folder: &RepoPath) -> Option<Self> {
        let line = line.replace(['"', '\'', ',', '(', ')', '[', ']', '`', '&', ';', '|'], " ");
        let mut words = line.split_whitespace().skip_while(|word| !is_runner(word));
        words.next()?;
        let is_plain = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c));
        let (mut given, mut is_sure, mut before) = (Vec::new(), false, OPTION);
        for word in words {
            if is_plain(word) && !word.starts_with('-') {
                // Behind another option it may be that option's value.
                is_sure |= FLAGS.contains(&before) || !before.starts_with('-');
                given.push(folder.join(word));
            }
            before = word;
        }
        let paths: Vec<RepoPath> = given.into_iter().collect::<Option<_>>().unwrap_or_default();
        let is_all = !is_sure || paths.contains(folder);
        Some(Command { folder: folder.clone(), paths: if is_all { Vec::new() } else { paths } })
    }
}

/// Whether a word is the name or path of pytest, or its module's.
fn is_runner(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("pytest" | "py.test"))
}

/// The folder that the commands of a file are run in; `None` for a file without commands.
fn written_for(path: &RepoPath) -> Option<RepoPath> {
    match path.file_name() {
        "tox.ini" | "setup.cfg" | "pyproject.toml" | "noxfile.py" | "Makefile" | "makefile" | "GNUmakefile"
        | "justfile" => path.parent(),
        _ => is_workflow(path.as_str()).then(RepoPath::root),
    }
}

/// Whether a file is a workflow of GitHub's.
pub fn is_workflow(path: &str) -> bool {
    let name = path.strip_prefix(".github/workflows/");
    name.is_some_and(|name| name.ends_with(".yml") || name.ends_with(".yaml"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::Commands;
    use crate::base::path::RepoPath;

    fn runs(file: &str, text: &str, path: &str) -> bool {
        let at = |path: &str| RepoPath::new(path).expect("a path");
        let config = BTreeMap::from([(at(file), Arc::from(text.as_bytes()))]);
        Commands::read(&config).run(&at(path))
    }

    #[test]
    fn commands_say_whose_examples_are_run() {
        let tox = "[testenv]\ncommands =\n    coverage run -m pytest --doctest-modules {posargs:} bolt tests\n";
        assert!(runs("tox.ini", tox, "bolt/a.py") && !runs("tox.ini", tox, "docs/a.py"));
        assert!(runs("lib/tox.ini", tox, "lib/bolt/a.py") && !runs("lib/tox.ini", tox, "bolt/a.py"));
        let nox = "session.run(\"python\", \"-m\", \"pytest\", \"--doctest-modules\", \"src/x.py\")\n";
        assert!(runs("noxfile.py", nox, "src/x.py") && !runs("noxfile.py", nox, "src/y.py"));
        let whole = "test:\n\tpytest --doctest-modules\n";
        assert!(runs("Makefile", whole, "any/where.py"));
        let flow = "      - run: pytest -q \\\n          --doctest-modules src\n";
        assert!(runs(".github/workflows/ci.yml", flow, "src/a.py"));
        let here = "pytest --doctest-modules . tests\n";
        assert!(runs("justfile", here, "a.py"));
        assert!(runs("Makefile", "\tpytest -n auto --doctest-modules --cov src\n", "lib/a.py"));
    }

    #[test]
    fn what_is_no_command_runs_nothing() {
        assert!(!runs("tox.ini", "[testenv]\ncommands =\n    # pytest --doctest-modules\n    pytest\n", "a.py"));
        assert!(!runs("setup.cfg", "[tool:pytest]\naddopts = --doctest-modules\n", "a.py"));
        assert!(!runs("docs/ci.yml", "run: pytest --doctest-modules\n", "a.py"));
    }
}
