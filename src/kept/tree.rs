//! What became of each file of a snapshot, with the figures, names and ranks of those that are
//! indexed, as bytes and back. Paths and blobs are the snapshot's: the tree's name says them.

use std::sync::Arc;

use crate::base::dialect::Dialect;
use crate::base::lazy::Lazy;
use crate::facts::model::{FileFacts, Status};
use crate::facts::table::Cell;
use crate::git::snapshot::Snapshot;
use crate::store::parts::{Cursor, put_text, put_varint};
use crate::view::directory::{Figures, Texts};
use crate::view::names::{Mark, Names};
use crate::view::{FileIdx, OtherFile, SkipReason, View, ViewFile};

/// Reasons come after dialects in a file's state.
const REASONS: u8 = 64;

/// The states of a snapshot's entries, in their order; `None` when the view is not of all of them.
pub fn encode_states(snapshot: &Snapshot, view: &View) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    put_varint(snapshot.entries.len() as u64, &mut out);
    let (mut files, mut others) = (view.files.iter().peekable(), view.others.iter().peekable());
    for entry in &snapshot.entries {
        if let Some(file) = files.next_if(|file| file.path == entry.path && file.blob == entry.blob) {
            let figures = Figures::of(&file.facts);
            out.push(file.dialect as u8);
            out.push(figures.status.to_cell() as u8);
            put_varint(u64::from(figures.n_symbols), &mut out);
            put_varint(u64::from(figures.n_blocks), &mut out);
            let flags = [figures.has_repeats, figures.lists_subclasses, figures.has_main];
            out.push(flags.iter().enumerate().map(|(at, flag)| u8::from(*flag) << at).sum());
        } else {
            let other = others.next_if(|other| other.path == entry.path)?;
            let reason = SkipReason::ALL.iter().position(|reason| *reason == other.reason)?;
            out.push(REASONS + reason as u8);
        }
    }
    (files.next().is_none() && others.next().is_none()).then_some(out)
}

/// The view of a snapshot, with facts that are still to be had, and its files' figures; `None`
/// when the bytes are of another one.
pub fn decode_states(bytes: &[u8], snapshot: &Snapshot) -> Option<(View, Vec<Figures>)> {
    let mut rest = Cursor(bytes);
    let mut view = View::default();
    let mut figures = Vec::new();
    if rest.count()? != snapshot.entries.len() {
        return None;
    }
    // Every file gets its own when it is known which shard it is.
    let none: Lazy<FileFacts> = Arc::new(FileFacts::empty(Dialect::Py)).into();
    for entry in &snapshot.entries {
        let state = rest.byte()?;
        match state.checked_sub(REASONS) {
            Some(reason) => view.others.push(OtherFile {
                path: entry.path.clone(),
                blob: entry.blob,
                dirty: entry.dirty,
                reason: *SkipReason::ALL.get(usize::from(reason))?,
            }),
            None => {
                view.files.push(ViewFile {
                    path: entry.path.clone(),
                    blob: entry.blob,
                    dialect: *Dialect::ALL.get(usize::from(state))?,
                    facts: none.clone(),
                    dirty: entry.dirty,
                });
                let status = Status::from_cell(u64::from(rest.byte()?))?;
                let (n_symbols, n_blocks, flags) = (rest.number()?, rest.number()?, rest.byte()?);
                figures.push(Figures {
                    status,
                    n_symbols,
                    n_blocks,
                    has_repeats: flags & 1 != 0,
                    lists_subclasses: flags & 2 != 0,
                    has_main: flags & 4 != 0,
                });
            }
        }
    }
    rest.0.is_empty().then_some((view, figures))
}

/// Where each file's names start, as bytes.
pub fn encode_starts(names: &Names) -> Vec<u8> {
    names.starts.iter().flat_map(|start| start.to_le_bytes()).collect()
}

/// What is known of each symbol beside its name, as bytes.
pub fn encode_marks(names: &Names) -> Vec<u8> {
    names.marks.iter().map(|mark| mark.0).collect()
}

/// Names of a view with so many files, of where they start, their text and marks.
pub fn decode_names(starts: &[u8], text: Vec<u8>, marks: &[u8], n_files: usize) -> Option<Names> {
    let starts: Vec<u32> = starts.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let text = String::from_utf8(text).ok()?;
    let ascend = starts.len() == n_files && starts.windows(2).all(|pair| pair[0] <= pair[1]);
    let fit = starts.first().is_none_or(|first| *first == 0) && text.starts_with('\n');
    let ends = starts.iter().all(|start| text.as_bytes().get(*start as usize) == Some(&b'\n'));
    let names = Names::from_parts(text, starts, marks.iter().copied().map(Mark).collect())?;
    (ascend && fit && ends).then_some(names)
}

/// Handles as bytes.
pub fn encode_handles(handles: &[u64]) -> Vec<u8> {
    handles.iter().flat_map(|handle| handle.to_le_bytes()).collect()
}

/// The handles of so many symbols.
pub fn decode_handles(bytes: &[u8], n_symbols: usize) -> Option<Vec<u64>> {
    let (handles, rest) = bytes.as_chunks();
    let is_whole = handles.len() == n_symbols && rest.is_empty();
    is_whole.then(|| handles.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
}

/// Texts as bytes.
pub fn encode_texts(texts: &Texts) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(texts.texts.len() as u64, &mut out);
    texts.texts.iter().for_each(|text| put_text(text, &mut out));
    put_varint(texts.rows.len() as u64, &mut out);
    texts.rows.iter().for_each(|at| put_varint(u64::from(*at), &mut out));
    put_varint(texts.renamed.len() as u64, &mut out);
    for (text, file) in &texts.renamed {
        put_varint(u64::from(*text), &mut out);
        put_varint(u64::from(file.0), &mut out);
    }
    out
}

/// The texts of a view with so many files.
pub fn decode_texts(bytes: &[u8], n_files: usize) -> Option<Texts> {
    let mut rest = Cursor(bytes);
    let mut texts = Texts::default();
    for _ in 0..rest.count()? {
        texts.texts.push(rest.text()?.into());
    }
    let n_texts = texts.texts.len();
    for _ in 0..rest.count()? {
        texts.rows.push(rest.number().filter(|at| (*at as usize) < n_texts)?);
    }
    for _ in 0..rest.count()? {
        let text = rest.number().filter(|at| (*at as usize) < n_texts)?;
        let file = rest.number().filter(|at| (*at as usize) < n_files)?;
        texts.renamed.push((text, FileIdx(file)));
    }
    rest.0.is_empty().then_some(texts)
}

/// Ranks as bytes, each as it is.
pub fn encode_ranks(ranks: &[f64]) -> Vec<u8> {
    ranks.iter().flat_map(|rank| rank.to_bits().to_le_bytes()).collect()
}

/// The ranks of so many files.
pub fn decode_ranks(bytes: &[u8], n_files: usize) -> Option<Vec<f64>> {
    let ranks: Vec<f64> = bytes.as_chunks().0.iter().map(|b| f64::from_bits(u64::from_le_bytes(*b))).collect();
    (ranks.len() == n_files && bytes.len() == n_files * 8).then_some(ranks)
}
