//! Remotes in buckets, against a server of S3's kind on loopback. Built with `--features cloud`.

use std::ffi::OsString;

use ratlas::remote::backends::backend::{Access, Backend};
use ratlas::remote::backends::bucket::Bucket;

use crate::cli::{polyglot, ratlas};

use super::faults::{published, try_often};
use super::server::Server;
use super::suite;

/// The variables of the cloud's own tools.
fn variables(server: &Server, key: &str) -> Vec<(OsString, OsString)> {
    [
        ("AWS_ACCESS_KEY_ID", key),
        ("AWS_SECRET_ACCESS_KEY", "s3cret"),
        ("AWS_REGION", "eu-1"),
        ("AWS_ENDPOINT_URL", &server.address),
        ("AWS_ALLOW_HTTP", "true"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into()
}

fn open(server: &Server, address: &str, key: &str) -> Bucket {
    Bucket::open(address, &Access::default(), variables(server, key)).unwrap()
}

#[test]
fn a_bucket_keeps_the_promises_of_every_backend() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("maps")).unwrap();
    let server = Server::of_buckets(dir.path(), "ann");
    suite(&open(&server, "s3://maps/a/shop", "ann"), true);
    assert!(dir.path().join("maps/a/shop/v1/main/heads/x").is_file());
    suite(&open(&server, "s3://maps", "ann"), true);
}

#[test]
fn a_stranger_is_told_which_variables_to_look_at() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::of_buckets(dir.path(), "ann");
    let fault = open(&server, "s3://maps/x", "bob").put_new("a", b"1").unwrap_err();
    assert!(!fault.is_passing && fault.what.contains("AWS_SECRET_ACCESS_KEY"), "{fault:?}");
    // Nothing travels unencrypted unless that is asked for.
    let guarded = variables(&server, "ann").into_iter().filter(|(name, _)| name != "AWS_ALLOW_HTTP");
    let bucket = Bucket::open("s3://maps/x", &Access::default(), guarded).unwrap();
    assert!(bucket.put_over("a", b"1").unwrap_err().what.contains("https"));
}

#[test]
fn files_of_many_pieces_are_read_whole_and_in_part() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("maps")).unwrap();
    let server = Server::of_buckets(dir.path(), "ann");
    let bucket = open(&server, "s3://maps", "ann");
    // Two pieces exactly: the third request finds the end.
    let whole: Vec<u8> = (0..16_u32 << 20).map(|n| (n % 251) as u8).collect();
    bucket.put_over("large", &whole).unwrap();
    for range in [0..u64::MAX, 5..9, (8 << 20) - 1..(8 << 20) + 1, (16 << 20) - 3..17 << 20] {
        let mut read = Vec::new();
        bucket.read("large", range.clone(), &mut read).unwrap();
        let end = whole.len().min(usize::try_from(range.end).unwrap());
        assert!(read == whole[range.start as usize..end], "{range:?}");
    }
}

#[test]
fn faults_on_the_way_to_a_bucket_give_no_wrong_fact() {
    let world = published();
    let dir = world.remote();
    let server = Server::of_buckets(dir.parent().unwrap(), "ann");
    let name = dir.file_name().unwrap().to_str().unwrap();
    try_often(&world, &server, &open(&server, &format!("s3://{name}"), "ann"), 60);
}

#[test]
fn push_pull_and_gc_work_on_a_bucket() {
    let scratch = polyglot();
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("maps")).unwrap();
    let server = Server::of_buckets(dir.path(), "ann");
    let run = |store: &str, arguments: &[&str]| {
        let mut command = ratlas(&scratch.root, &scratch.root.parent().unwrap().join(store));
        let output = command.envs(variables(&server, "ann")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let remote = "s3://maps/shop";
    assert!(run("ci", &["push", remote, "--namespace", "main"]).contains("5 shards in 1 pack"));
    assert!(run("laptop", &["pull", remote, "--require-remote"]).starts_with("fetched 5 shards in 1 pack"));
    assert!(run("laptop", &["gc", "--remote", remote, "--namespace", "main"]).contains("6 files kept"));
}
