//! Any sequence of edits: after each the kept session, a new one over the same store, and one
//! over an empty store give one view and one graph, and linking by records gives it too.

use std::path::Path;

use proptest::prelude::*;

use crate::git::Scratch;
use crate::replay::{Replayed, session};

/// Files that use each other across packages, barrels and interfaces; each with variants.
const FILES: &[(&str, &[&str])] = &[
    (
        "pkg/__init__.py",
        &["from .impl import run\nfrom . import sub\n", "from .impl import *\n", "", "from .other import run\n"],
    ),
    (
        "pkg/impl.py",
        &[
            "from .helpers import double\n\n\ndef run(value):\n    return double(value)\n\n\nclass Base:\n    def go(self):\n        return run(1)\n",
            "from .helpers import double as twice\n\n__all__ = ['run']\n\n\ndef run(value, more=None):\n    return twice(value)\n\n\nclass Base:\n    pass\n",
            "def run(value:\n    return (\n\n\nclass Base:\n    def go(self):\n        return run(1)\n",
            "from pkg.other import Base, run\n",
        ],
    ),
    (
        "pkg/helpers.py",
        &[
            "def double(x):\n    return x + x\n",
            "def double(x):\n    '''Twice.'''\n    return 2 * x\n",
            "double = lambda x: x\n",
        ],
    ),
    (
        "pkg/other.py",
        &[
            "def double(x):\n    return x\n\n\nclass Base:\n    def go(self):\n        return double(2)\n\n\ndef run(v):\n    return v\n",
            "run = 3\n",
        ],
    ),
    (
        "pkg/sub/__init__.py",
        &[
            "from ..impl import Base\n\n\nclass Child(Base):\n    pass\n",
            "from .. import impl\n\n\nclass Child(impl.Base):\n    def go(self):\n        return 0\n",
        ],
    ),
    (
        "tests/test_impl.py",
        &[
            "from pkg import run, sub\n\n\ndef test_run():\n    assert run(2) == 4\n\n\ndef test_child():\n    assert sub.Child().go()\n",
        ],
    ),
    (
        "web/tsconfig.json",
        &[
            "{\"compilerOptions\": {\"paths\": {\"~/*\": [\"./src/*\"]}}}\n",
            "{\"compilerOptions\": {\"baseUrl\": \"./src\"}}\n",
            "{ // broken",
        ],
    ),
    (
        "web/src/area.ts",
        &[
            "export function area(w: number, h: number) {\n  return w * h;\n}\n",
            "export const area = (w: number) => w;\nexport default area;\n",
            "export function area( {\n",
        ],
    ),
    (
        "web/src/ui/index.ts",
        &[
            "export * from \"../area\";\nexport { later } from \"./later\";\n",
            "export { default as area } from \"../area\";\n",
        ],
    ),
    (
        "web/src/ui/later.ts",
        &[
            "export const later = () => 3;\n",
            "import { area } from \"../area\";\nexport const later = () => area(1, 2);\n",
        ],
    ),
    (
        "web/src/main.ts",
        &[
            "import { area, later } from \"~/ui\";\nexport const size = area(1, 2);\nexport const then = () => later();\n",
            "import * as ui from \"./ui\";\nui.area(1, 2);\n",
        ],
    ),
    (
        "java/p/Shape.java",
        &[
            "package p;\npublic interface Shape { double area(); }\n",
            "package p;\npublic interface Shape { double area(); default double area(int n) { return area() * n; } }\n",
        ],
    ),
    (
        "java/p/Square.java",
        &[
            "package p;\npublic class Square implements Shape {\n  private final double side;\n  public Square(double side) { this.side = side; }\n  public double area() { return side * side; }\n  static double sum(Shape a, Shape b) { return a.area() + b.area(); }\n}\n",
            "package p;\nclass Square {\n  static double sum(Shape a, Square b) { return a.area() + new Square().hashCode(); }\n}\n",
        ],
    ),
    (
        "java/q/Use.java",
        &[
            "package q;\nimport p.*;\nclass Use { double d = Square.sum(new Square(1), null); }\n",
            "package q;\nimport static p.Square.sum;\nclass Use { Object o() { return sum(null, null); } }\n",
        ],
    ),
];

/// What is done to the tree.
#[derive(Clone, Debug)]
enum Edit {
    /// A file gets one of its contents.
    Write(usize, usize),
    /// A line of a file is taken out.
    Cut(usize, usize),
    /// A file is cut off in the middle of a line.
    Tear(usize, usize),
    Delete(usize),
    /// A file gets the place of another.
    Move(usize, usize),
    Copy(usize, usize),
    Commit,
    Stash,
    Unstash,
    Branch(usize),
    Ignore(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let (file, any) = (0..FILES.len(), 0..64usize);
    prop_oneof![
        6 => (file.clone(), any.clone()).prop_map(|(file, n)| Edit::Write(file, n)),
        2 => (file.clone(), any.clone()).prop_map(|(file, n)| Edit::Cut(file, n)),
        1 => (file.clone(), any.clone()).prop_map(|(file, n)| Edit::Tear(file, n)),
        2 => file.clone().prop_map(Edit::Delete),
        2 => (file.clone(), file.clone()).prop_map(|(from, to)| Edit::Move(from, to)),
        1 => (file.clone(), file.clone()).prop_map(|(from, to)| Edit::Copy(from, to)),
        2 => Just(Edit::Commit),
        1 => Just(Edit::Stash),
        1 => Just(Edit::Unstash),
        1 => any.prop_map(Edit::Branch),
        1 => file.prop_map(Edit::Ignore),
    ]
}

fn apply(scratch: &Scratch, edit: &Edit) {
    let path = |file: usize| FILES[file].0;
    let full = |file: usize| scratch.root.join(path(file));
    let put = |to: &Path, bytes: &[u8]| {
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, bytes).unwrap();
    };
    let quietly = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=A", "-c", "user.email=a@b.c"]).args(arguments).current_dir(&scratch.root);
        drop(command.stdin(std::process::Stdio::null()).output().unwrap());
    };
    match edit {
        Edit::Write(file, n) => put(&full(*file), FILES[*file].1[n % FILES[*file].1.len()].as_bytes()),
        Edit::Cut(file, n) => {
            let Ok(text) = std::fs::read_to_string(full(*file)) else { return };
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let at = n % lines.len().max(1);
            let kept: String =
                lines.iter().enumerate().filter(|(line, _)| *line != at).map(|(_, line)| *line).collect();
            put(&full(*file), kept.as_bytes());
        }
        Edit::Tear(file, n) => {
            let Ok(bytes) = std::fs::read(full(*file)) else { return };
            put(&full(*file), &bytes[..bytes.len() * (n % 8) / 8]);
        }
        Edit::Delete(file) => drop(std::fs::remove_file(full(*file))),
        Edit::Move(from, to) | Edit::Copy(from, to) => {
            let is_alike = Path::new(path(*from)).extension() == Path::new(path(*to)).extension();
            let Ok(bytes) = std::fs::read(full(*from)) else { return };
            if !is_alike || from == to {
                return;
            }
            put(&full(*to), &bytes);
            if matches!(edit, Edit::Move(..)) {
                std::fs::remove_file(full(*from)).unwrap();
            }
        }
        Edit::Commit => drop(scratch.commit("step")),
        Edit::Stash => quietly(&["stash", "-q", "-u"]),
        Edit::Unstash => quietly(&["stash", "pop", "-q"]),
        Edit::Branch(n) => quietly(&["checkout", "-q", "-f", &format!("HEAD~{}", n % 3)]),
        Edit::Ignore(file) => put(&scratch.root.join(".gitignore"), format!("{}\n", path(*file)).as_bytes()),
    }
}

/// How many trees, unless `RATLAS_EDITS` says: a few seconds' worth.
fn n_cases() -> u32 {
    std::env::var("RATLAS_EDITS").ok().and_then(|n| n.parse().ok()).unwrap_or(3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: n_cases(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_edit_gives_the_fresh_graph(edits in prop::collection::vec(edit(), 8..14)) {
        let scratch = Scratch::new();
        for (path, contents) in FILES {
            scratch.write(path, contents[0]);
        }
        scratch.commit("seed");
        let store = scratch.store();
        let beside = scratch.root.parent().unwrap().to_owned();
        let mut replayed = Replayed::new(session(&scratch.root, &store, 2), &scratch.root, &store, &beside);
        replayed.check("the seed");
        for edit in &edits {
            apply(&scratch, edit);
            replayed.check(&format!("{edit:?} of {edits:?}"));
        }
    }
}
