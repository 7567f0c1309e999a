//! Preconditioned states on disk, so that a sweep pays for preconditioning once.
//!
//! One file a state, named by the hash of what determines it and the format version
//! (`<hash>-v<version>.snapshot`), written to a temporary file ([`crate::leftovers`]) and renamed. Layout: a header (magic, format
//! version, hash, payload checksum and length) and the payload. Of that a drive takes what its physical units hold as it lies in
//! the file, of which the pages that it writes to become its own, and drives share the rest.

use crate::control::lock;
use crate::leftovers;
use interpulse_drive::drive::PreconditionedState;
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::Streams;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use thiserror::Error;
use xxhash_rust::xxh3::Xxh3Default;

/// Version of the file format and of the code that makes the state: raised when either changes what a
/// snapshot holds, so that old files are refused.
pub const FORMAT_VERSION: u32 = 6;
const MAGIC: [u8; 8] = *b"INTERPLS";
const HEADER_BYTES: u64 = 8 + 4 + 32 + 8 + 8;
/// Size of the pieces in which large tables are checksummed and moved.
const PIECE: usize = 1 << 22;

/// Why a snapshot cannot be used.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// The file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not a snapshot, or damaged, or of another version or state.
    #[error("{path} does not fit: {why}")]
    Refused {
        /// The file.
        path: PathBuf,
        /// What was found and what was expected.
        why: String,
    },
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}

/// Where the snapshot of a state is kept.
pub fn path_of(folder: &Path, hash: &str) -> PathBuf {
    folder.join(format!("{hash}-v{FORMAT_VERSION}.snapshot"))
}

/// A writer that sums what passes.
struct Summing<W> {
    inner: W,
    sum: Xxh3Default,
    bytes: u64,
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(data)?;
        self.sum.update(&data[..n]);
        self.bytes += n as u64;
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Writes a state; returns the size of its file. `progress` gets bytes done and in all, and returns false to
/// stop. What killed runs have left of theirs goes first: it may be what fills the disk.
pub fn save(
    state: &PreconditionedState,
    folder: &Path,
    hash: &str,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<u64, SnapshotError> {
    let path = path_of(folder, hash);
    let temporary = leftovers::temporary(folder, hash);
    let at = |source| SnapshotError::Io { path: path.clone(), source };
    fs::create_dir_all(folder).map_err(|source| SnapshotError::Io { path: folder.to_path_buf(), source })?;
    leftovers::remove(folder);
    let written = write_file(state, &temporary, hash, progress)
        .and_then(|size| fs::rename(&temporary, &path).map_err(at).map(|()| size));
    if written.is_err() {
        // Nothing half-written stays behind; a failure to remove it changes nothing for the caller.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_file(
    state: &PreconditionedState,
    path: &Path,
    hash: &str,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<u64, SnapshotError> {
    let at = |source| SnapshotError::Io { path: path.to_path_buf(), source };
    let mut file = File::create(path).map_err(at)?;
    file.write_all(&[0; HEADER_BYTES as usize]).map_err(at)?;
    let mut out =
        Summing { inner: BufWriter::with_capacity(1 << 20, file), sum: Xxh3Default::new(), bytes: 0 };
    let total = state.bytes(HEADER_BYTES);
    state.save(HEADER_BYTES, &mut |piece| {
        for part in piece.chunks(PIECE) {
            out.write_all(part).map_err(at)?;
            if !progress(out.bytes, total) {
                return Err(SnapshotError::Stopped);
            }
        }
        Ok(())
    })?;
    let (sum, bytes) = (out.sum.digest(), out.bytes);
    let mut file = out.inner.into_inner().map_err(|e| at(e.into_error()))?;
    file.seek(SeekFrom::Start(0)).map_err(at)?;
    let mut header = Vec::with_capacity(HEADER_BYTES as usize);
    header.extend_from_slice(&MAGIC);
    header.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    header.extend_from_slice(&hash_bytes(hash));
    header.extend_from_slice(&sum.to_le_bytes());
    header.extend_from_slice(&bytes.to_le_bytes());
    file.write_all(&header).map_err(at)?;
    Ok(HEADER_BYTES + bytes)
}

/// A snapshot that has been looked at from its beginning to its end and found whole.
pub struct Kept {
    path: PathBuf,
    /// Open, so that it stays whoever deletes or replaces it.
    file: File,
    drive: DriveSpec,
    /// The state that was looked at, for whoever is the first to ask.
    first: Mutex<Option<PreconditionedState>>,
}

impl Kept {
    /// The state, to be run.
    pub fn state(&self) -> Result<PreconditionedState, SnapshotError> {
        let first = lock(&self.first).take();
        first.map_or_else(|| Ok(self.look(false, &mut |_| Ok(()))?.0), Ok)
    }

    fn look(
        &self,
        checks: bool,
        seen: &mut dyn FnMut(&[u8]) -> Result<(), Ended>,
    ) -> Result<(PreconditionedState, Option<String>), SnapshotError> {
        let rng = Streams::new(0).stream("restored", 0);
        match self.drive.kept_ftl(rng, &self.file, HEADER_BYTES, checks, seen) {
            Ok((ftl, contradiction)) => Ok((PreconditionedState::Page(ftl), contradiction)),
            Err(Ended::Stopped) => Err(SnapshotError::Stopped),
            Err(Ended::Io(source)) => Err(SnapshotError::Io { path: self.path.clone(), source }),
        }
    }
}

/// Why a look at a file came to no end.
enum Ended {
    Io(io::Error),
    Stopped,
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Ended {
        Ended::Io(error)
    }
}

/// Opens the state `hash` of a drive and checks it. `progress` is told bytes looked at and in all, and returns false to stop.
pub fn open(
    drive: &DriveSpec,
    folder: &Path,
    hash: &str,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Kept, SnapshotError> {
    let path = path_of(folder, hash);
    let at = |source| SnapshotError::Io { path: path.clone(), source };
    let refuse = |why: String| SnapshotError::Refused { path: path.clone(), why };
    // Opening a pipe waits for somebody to write into it, and reading one or a terminal may never end.
    let kind =
        |found: &fs::Metadata| other_than_a_file(found).map_or(Ok(()), |what| Err(refuse(what.into())));
    kind(&fs::metadata(&path).map_err(at)?)?;
    let mut file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(&path).map_err(at)?;
    let found = file.metadata().map_err(at)?;
    kind(&found)?;
    let length = found.len();
    let mut header = [0; HEADER_BYTES as usize];
    file.read_exact(&mut header).map_err(|_| refuse(format!("{length} bytes are too few for a snapshot")))?;
    if header[..8] != MAGIC {
        return Err(refuse("it is not a snapshot of interpulse".into()));
    }
    let version = u32::from_le_bytes(header[8..12].try_into().expect("four bytes"));
    if version != FORMAT_VERSION {
        return Err(refuse(format!("it has format version {version}, this program writes {FORMAT_VERSION}")));
    }
    if header[12..44] != hash_bytes(hash) {
        return Err(refuse("it is the state of another configuration".into()));
    }
    let sum = u64::from_le_bytes(header[44..52].try_into().expect("eight bytes"));
    let bytes = u64::from_le_bytes(header[52..60].try_into().expect("eight bytes"));
    let expected = HEADER_BYTES + drive.kept_bytes(HEADER_BYTES);
    if length != HEADER_BYTES + bytes || length != expected {
        return Err(refuse(format!("it has {length} bytes, this drive's state takes {expected}")));
    }
    let kept = Kept { path: path.clone(), file, drive: drive.clone(), first: Mutex::new(None) };
    let (mut found, mut looked_at) = (Xxh3Default::new(), 0);
    let (state, contradiction) = kept.look(true, &mut |piece| {
        for part in piece.chunks(PIECE) {
            found.update(part);
            looked_at += part.len() as u64;
            if !progress(looked_at, bytes) {
                return Err(Ended::Stopped);
            }
        }
        Ok(())
    })?;
    if found.digest() != sum {
        return Err(refuse("its checksum is wrong: it is damaged".into()));
    }
    match contradiction {
        Some(why) => Err(refuse(format!("it contradicts itself: {why}"))),
        None => {
            *lock(&kept.first) = Some(state);
            Ok(kept)
        }
    }
}

/// The state `hash` of a drive, to be run; see [`open`].
pub fn load(
    drive: &DriveSpec,
    folder: &Path,
    hash: &str,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<PreconditionedState, SnapshotError> {
    open(drive, folder, hash, progress)?.state()
}

/// What stands in the place of a file, if it is none.
fn other_than_a_file(found: &fs::Metadata) -> Option<&'static str> {
    let kind = found.file_type();
    match () {
        () if kind.is_file() => None,
        () if kind.is_dir() => Some("it is a folder"),
        () if kind.is_fifo() => Some("it is a pipe"),
        () if kind.is_socket() => Some("it is a socket"),
        () => Some("it is a device"),
    }
}

/// Deletes the oldest snapshots of a folder until what is left of the cache takes at most `limit` bytes: snapshots, whole
/// or being written, and results of studies; `keep` is never deleted. Returns what was deleted.
pub fn trim(folder: &Path, limit: u64, keep: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is =
        |path: &Path, kinds: &[&str]| path.extension().is_some_and(|x| kinds.iter().any(|kind| x == *kind));
    let mut files: Vec<_> = entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| is(p, &["snapshot", "tmp", "results"]))
        .filter_map(|p| p.symlink_metadata().ok().filter(fs::Metadata::is_file).map(|m| (m, p)))
        .filter_map(|(m, p)| Some((m.modified().ok()?, m.len(), p)))
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, n, _)| n).sum();
    let mut deleted = Vec::new();
    for (_, bytes, path) in files.into_iter().filter(|(_, _, path)| is(path, &["snapshot"])) {
        if total <= limit {
            break;
        }
        if path != keep && fs::remove_file(&path).is_ok() {
            total -= bytes;
            deleted.push(path);
        }
    }
    deleted
}

fn hash_bytes(hash: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    let n = hash.len().min(32);
    bytes[..n].copy_from_slice(&hash.as_bytes()[..n]);
    bytes
}
