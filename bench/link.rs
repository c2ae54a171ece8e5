//! Measures linking over the clone that `RATLAS_BENCH_DIR` names, as one JSON line: the time of
//! linking all files as a multiple of parsing (and dropping) the same files, on two threads each, by
//! the clock and by the processor's time.
//!
//! `RATLAS_BENCH_DIR=some/clone cargo bench --bench link`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ratlas::atlas::AtlasSource;
use ratlas::base::dialect::Dialect;
use ratlas::base::parallel;
use ratlas::graph::link::link;
use ratlas::lang;
use ratlas::session::{Session, SessionOptions};
use serde_json::json;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Each step is run this often; the median counts, the machine being shared.
const N_RUNS: usize = 5;
/// The reference machine has two cores.
const N_THREADS: usize = 2;

fn main() {
    let Some(folder) = std::env::var_os("RATLAS_BENCH_DIR") else {
        println!("{}", json!({ "bench": "link", "skipped": "set RATLAS_BENCH_DIR to a clone" }));
        return;
    };
    let store = tempfile::tempdir().expect("a temporary folder");
    let options =
        SessionOptions { store: Some(store.path().to_path_buf()), jobs: N_THREADS, ..SessionOptions::default() };
    let session = Session::open(&PathBuf::from(folder), &options).expect("a repository");
    let atlas = session.fresh().expect("an index");
    let mut sources: Vec<(Dialect, Vec<u8>)> = atlas
        .view
        .files
        .iter()
        .map(|file| (file.dialect, session.read(&atlas, &file.path).expect("a file of the view")))
        .collect();
    // The largest first, or the last one keeps a thread alone.
    sources.sort_by_key(|(_, source)| std::cmp::Reverse(source.len()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(N_THREADS).build().expect("threads");
    let (mut parse, mut linked) = (Vec::new(), Vec::new());
    let mut graph = None;
    // In turn, so that whatever else the machine does slows both.
    for _ in 0..N_RUNS {
        parse.push(measured(|| {
            parallel::each(sources.len(), N_THREADS, tree_sitter::Parser::new, |parser, at| {
                let (dialect, source) = &sources[at];
                parser.set_language(&lang::of(*dialect).grammar(*dialect)).expect("the grammar fits the library");
                drop(parser.parse(source, None));
            });
        }));
        linked.push(measured(|| graph = Some(pool.install(|| link(&atlas.view)))));
    }
    let graph = graph.expect("because it was linked above");
    let wall = |taken: &[Taken]| median(taken.iter().map(|taken| taken.wall));
    let processor = |taken: &[Taken]| median(taken.iter().filter_map(|taken| taken.processor));
    println!(
        "{}",
        json!({
            "bench": "link", "files": atlas.view.files.len(),
            "refs": atlas.view.files.iter().map(|file| file.facts.refs.len()).sum::<usize>(),
            "edges": graph.edges.len(), "unproved": graph.unproved.len(),
            "parse_ms": millis(wall(&parse)), "link_ms": millis(wall(&linked)),
            "link_over_parse": ratio(wall(&linked), wall(&parse)),
            "processor_link_over_parse": ratio(processor(&linked), processor(&parse)),
        })
    );
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).round()
}

fn ratio(one: Duration, other: Duration) -> f64 {
    (one.as_secs_f64() / other.as_secs_f64() * 1e3).round() / 1e3
}

/// What a step took.
struct Taken {
    wall: Duration,
    /// Of all threads together; `None` where the system does not say.
    processor: Option<Duration>,
}

fn measured(step: impl FnOnce()) -> Taken {
    let (start, before) = (Instant::now(), processor());
    step();
    Taken { wall: start.elapsed(), processor: processor().zip(before).map(|(after, before)| after - before) }
}

/// The processor's time of this process (`proc(5)`: fields 14 and 15, in hundredths of a second).
fn processor() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks()? + ticks()?) * 10))
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
