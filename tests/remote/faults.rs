//! Faults on the wire, seeded: whatever an answer brings, the store holds what is right or nothing.

use std::time::Duration;

use ratlas::base::error::ErrorKind;
use ratlas::base::id::Digest;
use ratlas::remote::backends::backend::{Access, Backend};
use ratlas::remote::backends::open;
use ratlas::store::pack::PackIndex;

use super::server::{FAULTS, Fault, Server};
use super::{How, World, backend};

const N_TRIALS: u64 = 200;

/// A number in 0..n, of a trial and a request.
fn draw(trial: u64, request: u64, of: &str, n: u64) -> u64 {
    Digest::of_parts([&trial.to_le_bytes()[..], &request.to_le_bytes(), of.as_bytes()]).short() % n
}

#[test]
fn two_hundred_trials_give_no_wrong_fact() {
    let world = published();
    let server = Server::start(&world.remote(), None);
    let access = Access { patience: Duration::from_secs(5), ..Access::default() };
    try_often(&world, &server, &*open(&server.address, &access).unwrap(), N_TRIALS);
}

/// A remote with one large pack of two groups, of which the second is fetched, and two small ones.
pub fn published() -> World {
    let world = World::new(1_150);
    let folder = backend(world.remote().to_str().unwrap());
    for (n, end) in [(0, 1_060), (1, 1_100), (2, 1_150)] {
        world.push(&*folder, n, &world.keys(0..end), &How::default());
    }
    world
}

/// Fetches from a server that misbehaves, so many times.
pub fn try_often(world: &World, server: &Server, wire: &dyn Backend, n_trials: u64) {
    let how = How::default();
    let (mut n_whole, mut n_failed, mut n_partly) = (0, 0, 0);
    for trial in 0..n_trials {
        // Each trial has one kind of fault, more or less often; every tenth has all kinds.
        let share = [5, 20, 60][(trial % 3) as usize];
        let kind = FAULTS[draw(trial, 0, "kind", FAULTS.len() as u64) as usize];
        server.misbehave(move |n, path| match draw(trial, n, path, 100) < share {
            true if trial % 10 == 0 => FAULTS[draw(trial, n, "any", FAULTS.len() as u64) as usize],
            true => kind,
            false => Fault::None,
        });
        let store = world.store(&format!("trial-{trial}"));
        let start = draw(trial, 0, "start", 100) as usize;
        let keys = if trial % 20 == 0 { world.keys(0..1_150) } else { world.keys(1_030 + start..1_150) };
        let pulled = world.pull(wire, &store, 2, &keys, &how);
        let n_right = world.check(&store, &keys);
        match &pulled {
            Ok(pulled) => assert_eq!(pulled.n_left, keys.len() - n_right, "trial {trial}: {pulled:?}"),
            Err(error) => assert_eq!(error.kind, ErrorKind::Remote, "trial {trial}: {error}"),
        }
        match (pulled.is_err(), n_right == keys.len()) {
            (true, _) => n_failed += 1,
            (false, true) => n_whole += 1,
            (false, false) => n_partly += 1,
        }
        check_files(&store, trial);
        // A remote that is well again brings the rest.
        server.misbehave(|_, _| Fault::None);
        if trial % 20 == 0 {
            assert_eq!(world.pull(wire, &store, 2, &keys, &how).unwrap().n_left, 0, "trial {trial}");
            assert_eq!(world.check(&store, &keys), keys.len());
        }
        let _ = std::fs::remove_dir_all(store.dir());
    }
    let shares = (n_whole * 5 > n_trials, (n_failed + n_partly) * 10 > n_trials);
    assert_eq!(shares, (true, true), "whole {n_whole}, failed {n_failed}, in part {n_partly}");
}

/// Every pack of a store is whole and has the index that belongs to it.
fn check_files(store: &ratlas::store::objects::Store, trial: u64) {
    for entry in std::fs::read_dir(store.dir().join("packs")).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "parquet") {
            let bytes = std::fs::read(&path).unwrap();
            let digest = Digest::of(&bytes).to_string();
            assert!(path.file_stem().unwrap().to_str().unwrap() == &digest[..32], "trial {trial}: a torn pack");
            let index = std::fs::read(path.with_extension("idx")).ok().and_then(|b| PackIndex::decode(&b));
            assert_eq!(index, PackIndex::of(&bytes), "trial {trial}");
        }
    }
}

#[test]
fn a_fetch_that_broke_off_goes_on_where_it_was() {
    let world = World::new(900);
    let how = How::default();
    let folder = backend(world.remote().to_str().unwrap());
    let pushed = world.push(&*folder, 0, &world.keys(0..900), &how);
    let server = Server::start(&world.remote(), None);
    let wire = open(&server.address, &Access::default()).unwrap();
    // The first answer of a pack is cut; then the server is down.
    let n_packs = std::sync::atomic::AtomicU64::new(0);
    server.misbehave(move |_, path| match path.ends_with(".parquet") {
        true if n_packs.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 => Fault::Cut,
        true => Fault::ServerError,
        false => Fault::None,
    });
    let store = world.store("laptop");
    let keys = world.keys(0..900);
    assert_eq!(world.pull(&*wire, &store, 0, &keys, &how).unwrap_err().kind, ErrorKind::Remote);
    let n_before = server.n_bytes();
    server.misbehave(|_, _| Fault::None);
    let pulled = world.pull(&*wire, &store, 0, &keys, &how).unwrap();
    assert_eq!(pulled.n_left, 0);
    let n_again = server.n_bytes() - n_before;
    assert!(n_again < pushed.n_bytes * 3 / 4, "{n_again} of {}: not from the start", pushed.n_bytes);
}
