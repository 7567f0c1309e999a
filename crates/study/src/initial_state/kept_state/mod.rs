//! Kept state: a drive between sessions and runs, in a file of its own.
//!
//! The file is a snapshot ([`super::snapshot`]), a description (JSON), the past of each super block (age in ns, reads), the
//! supplement of the snapshot (numbers of 32 bits) and a trailer: magic, format version, lengths and checksum of what follows the
//! snapshot. It is replaced as a whole.

pub mod description;
pub mod end_of_run;
pub mod start_of_run;

use super::snapshot::{self, Snapshot, SnapshotError, open_regular};
use crate::config::Case;
use description::{Aged, Description};
use interpulse_drive::{BlockPast, FtlState, History, PreconditionedState};
use interpulse_engine::Duration;
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"IPSTATE.";
/// Version of what follows the snapshot; raised when it changes, so that old files are refused.
const FORMAT_VERSION: u64 = 2;
const TRAILER: usize = 6 * 8;
/// Bytes of the past of a super block.
const PAST: usize = 8 + 4;
/// Largest description.
const MOST_DESCRIBED: u64 = 1 << 24;
/// Legal files, for messages.
const LEGAL: &str = "legal: a file that `interpulse serve` or `interpulse run --save-state` has written";

/// A verified file.
pub struct KeptState {
    /// What the file says.
    pub description: Description,
    /// History of the drive, aged.
    pub history: History,
    path: PathBuf,
    /// Pasts and supplement as in the file.
    numbers: [Vec<u8>; 2],
    /// Bytes behind the snapshot.
    tail: u64,
}

impl KeptState {
    /// Reads and verifies a file, whatever its configuration.
    pub fn read(path: &Path) -> Result<KeptState, SnapshotError> {
        let kept = KeptState::read_tail(path)?;
        snapshot::verify(path, &kept.description.state_hash, kept.tail)?;
        Ok(kept)
    }

    /// Reads a file for a drive of `case`, and its snapshot.
    pub fn open(case: &Case, path: &Path) -> Result<(KeptState, Snapshot), SnapshotError> {
        let kept = KeptState::read_tail(path)?;
        if let Some(why) = kept.description.excludes(case) {
            return Err(SnapshotError::Refused { path: path.into(), why });
        }
        let hash = &kept.description.state_hash;
        let snapshot = snapshot::open_file(&case.drive, path, hash, kept.tail, &mut |_, _| true)?;
        let supplement = kept.numbers[1].as_chunks().0.iter().map(|n| u32::from_le_bytes(*n)).collect();
        Ok((kept, snapshot.with_supplement(supplement)?))
    }

    /// What the file says, with the figures after ageing.
    pub fn to_json(&self) -> Value {
        let Description { interpulse, state_hash, config_hash, figures, done, aged, keys } =
            &self.description;
        let ages = self.history.blocks.iter().map(|past| past.age.as_ns());
        let reads = self.history.blocks.iter().map(|past| u64::from(past.reads));
        let cycles = |of: u64| of + u64::from(aged.cycles);
        json!({
            "format": { "snapshot": snapshot::FORMAT_VERSION, "description": FORMAT_VERSION },
            "interpulse": interpulse,
            "state_hash": state_hash,
            "config_hash": config_hash,
            "capacity_bytes": figures.capacity_bytes,
            "mapped_bytes": figures.mapped_units * figures.unit_bytes,
            "unit_bytes": figures.unit_bytes,
            "super_blocks": {
                "all": figures.blocks,
                "free": figures.free_blocks,
                "open": figures.open_blocks,
            },
            "pe_cycles": {
                "min": cycles(figures.min_cycles),
                "mean": figures.mean_cycles + f64::from(aged.cycles),
                "max": cycles(figures.max_cycles),
            },
            "age_ns": spread(ages),
            "block_reads": spread(reads),
            "aged": aged,
            "done": done,
            "write_amplification": (done.host_units > 0)
                .then(|| done.programmed_units as f64 / done.host_units as f64),
            "keys": keys.iter().map(|(path, of)| (path.clone(), json!(of.text))).collect::<Map<_, _>>(),
        })
    }

    fn read_tail(path: &Path) -> Result<KeptState, SnapshotError> {
        let at = |source| SnapshotError::Io { path: path.into(), source };
        let mut file = open_regular(path)?;
        let length = file.metadata().map_err(at)?.len();
        let mut first = [0; 8];
        let begins = file.read_exact(&mut first).is_ok() && first == super::own_files::MAGIC;
        let refuse = |why: String| SnapshotError::Refused { path: path.into(), why };
        if !begins {
            return Err(refuse(format!("it is not a state of interpulse; {LEGAL}")));
        }
        let mut trailer = [0; TRAILER];
        let trailer_at = length.saturating_sub(TRAILER as u64);
        file.seek(SeekFrom::Start(trailer_at)).map_err(at)?;
        let whole = file.read_exact(&mut trailer).is_ok() && trailer[..8] == MAGIC;
        if !whole {
            return Err(refuse(format!(
                "its end is missing: it is truncated, or a snapshot of the cache; {LEGAL}"
            )));
        }
        let number =
            |k: usize| u64::from_le_bytes(trailer[8 * k..8 * k + 8].try_into().expect("eight bytes"));
        let version = number(1);
        if version != FORMAT_VERSION {
            let why = format!("its description has version {version}; legal: {FORMAT_VERSION}");
            return Err(refuse(why));
        }
        let (described, pasts, supplement, sum) = (number(2), number(3), number(4), number(5));
        let damaged = || refuse("the checksum of its description is wrong: it is damaged".into());
        let all = described.checked_add(pasts).and_then(|bytes| bytes.checked_add(supplement));
        let begin = all.and_then(|bytes| trailer_at.checked_sub(bytes));
        let begin = begin.filter(|_| described <= MOST_DESCRIBED).ok_or_else(damaged)?;
        let mut bytes = vec![0; (trailer_at - begin) as usize];
        file.seek(SeekFrom::Start(begin)).map_err(at)?;
        file.read_exact(&mut bytes).map_err(at)?;
        if xxh3_64(&bytes) != sum || pasts % PAST as u64 != 0 || supplement % 4 != 0 {
            return Err(damaged());
        }
        let (text, rest) = bytes.split_at(described as usize);
        let (pasts, supplement) = rest.split_at(pasts as usize);
        let description: Description = serde_json::from_slice(text)
            .map_err(|error| refuse(format!("its description cannot be read: {error}")))?;
        let blocks = pasts_of(pasts);
        if !blocks.is_empty() && blocks.len() as u64 != description.figures.blocks {
            return Err(refuse("it contradicts itself: ages of another number of blocks".into()));
        }
        let history = description.history(blocks);
        let numbers = [pasts.to_vec(), supplement.to_vec()];
        Ok(KeptState { description, history, path: path.into(), numbers, tail: length - begin })
    }

    /// Writes the file to `path` with another description, the state and the ages as they are.
    fn rewrite(&self, description: &Description, path: &Path) -> Result<(), SnapshotError> {
        let at = |path: &Path| {
            let path = path.to_path_buf();
            move |source| SnapshotError::Io { path, source }
        };
        let from = File::open(&self.path).map_err(at(&self.path))?;
        let length = from.metadata().map_err(at(&self.path))?.len();
        let snapshot = length - self.tail;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut to = tempfile::NamedTempFile::new_in(folder).map_err(at(path))?;
        io::copy(&mut from.take(snapshot), to.as_file_mut()).map_err(at(path))?;
        // Ages without the ageing, which the description adds.
        to.write_all(&tail(description, &self.numbers)).map_err(at(path))?;
        to.as_file().sync_all().map_err(at(path))?;
        let mode = fs::metadata(&self.path).map_err(at(&self.path))?.permissions();
        to.as_file().set_permissions(mode).map_err(at(path))?;
        to.persist(path).map_err(|error| at(path)(error.error))?;
        Ok(())
    }
}

/// Why the state of a device of `case` cannot be kept, with the key that excludes it.
pub fn excluded(case: &Case) -> Option<String> {
    if case.array.is_some() {
        return Some("array: the state of several drives cannot be kept beyond a session".into());
    }
    let (key, what) = case.drive.excludes_parking()?;
    Some(format!("{key}: {what} cannot be kept beyond a session"))
}

/// State of `snapshot` with the wear that ageing has added.
pub fn state_of(kept: &KeptState, snapshot: &Snapshot) -> Result<PreconditionedState, SnapshotError> {
    let mut state = snapshot.state()?;
    state.add_pe_cycles(kept.description.aged.cycles);
    Ok(state)
}

/// Writes the state of a drive of `case`, durably, and returns the bytes of the file.
pub fn save(
    state: &PreconditionedState,
    history: &History,
    case: &Case,
    path: &Path,
) -> Result<u64, SnapshotError> {
    let description = Description::new(case, state, history);
    let past = |of: &BlockPast| -> [u8; PAST] {
        let mut bytes = [0; PAST];
        bytes[..8].copy_from_slice(&of.age.as_ns().to_le_bytes());
        bytes[8..].copy_from_slice(&of.reads.to_le_bytes());
        bytes
    };
    let pasts = history.blocks.iter().flat_map(past).collect();
    let supplement = state.supplement().into_iter().flat_map(u32::to_le_bytes).collect();
    let tail = tail(&description, &[pasts, supplement]);
    snapshot::save_as(state, path, &description.state_hash, &tail, &mut |_, _| true)
}

/// Ages the drive of the file `path` by `more` and writes it to `out`, which may be the same file.
pub fn age(path: &Path, out: &Path, more: Aged) -> Result<Description, SnapshotError> {
    let mut kept = KeptState::read(path)?;
    let aged = kept.description.aged.and(more);
    kept.description.aged = aged.map_err(|why| SnapshotError::Refused { path: path.into(), why })?;
    kept.rewrite(&kept.description, out)?;
    Ok(kept.description)
}

/// Copies the state of the file `path` to `out`, for a drive of `case` if one is given.
pub fn copy(path: &Path, out: &Path, case: Option<&Case>) -> Result<Description, SnapshotError> {
    let mut kept = KeptState::read(path)?;
    if let Some(case) = case {
        // Opens it as the drive will, so that the copy can be used.
        KeptState::open(case, path)?;
        kept.description.config_hash = case.config_hash();
    }
    kept.rewrite(&kept.description, out)?;
    Ok(kept.description)
}

/// What follows the snapshot.
fn tail(description: &Description, [pasts, supplement]: &[Vec<u8>; 2]) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(description).expect("a description is JSON");
    let described = bytes.len() as u64;
    bytes.extend_from_slice(pasts);
    bytes.extend_from_slice(supplement);
    let sum = xxh3_64(&bytes);
    bytes.extend(MAGIC);
    [FORMAT_VERSION, described, pasts.len() as u64, supplement.len() as u64, sum]
        .iter()
        .for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes
}

/// Smallest, mean and largest of some figures; nothing of none.
fn spread(of: impl ExactSizeIterator<Item = u64> + Clone) -> Option<Value> {
    let count = of.len() as f64;
    let (min, max) = (of.clone().min()?, of.clone().max()?);
    Some(json!({ "min": min, "mean": of.map(|n| n as f64).sum::<f64>() / count, "max": max }))
}

fn pasts_of(bytes: &[u8]) -> Vec<BlockPast> {
    let past = |of: &[u8; PAST]| BlockPast {
        age: Duration::from_ns(u64::from_le_bytes(of[..8].try_into().expect("eight bytes"))),
        reads: u32::from_le_bytes(of[8..].try_into().expect("four bytes")),
    };
    bytes.as_chunks::<PAST>().0.iter().map(past).collect()
}
