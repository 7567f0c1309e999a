//! Snapshot: a preconditioned state on disk, so that a sweep preconditions once.
//!
//! Each file is named by the hash of its determining keys and the format version (`<hash>-v<version>.snapshot`) and
//! is written to a temporary file (`super::stale_files`) and renamed. Layout: header (magic, format version, hash,
//! payload checksum and length), payload. The physical-to-logical map is memory-mapped copy-on-write and shared
//! between drives.

use super::own_files::{self, MAGIC};
use super::stale_files;
use crate::control::lock;
use interpulse_drive::DriveSpec;
use interpulse_drive::FtlState;
use interpulse_drive::PreconditionedState;
use interpulse_drive::Supplement;
use interpulse_engine::Streams;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use thiserror::Error;
use xxhash_rust::xxh3::Xxh3Default;

/// Version of the file format and of the state it holds; raised when either changes, so that old files are refused.
pub const FORMAT_VERSION: u32 = 6;
const HEADER_BYTES: u64 = 8 + 4 + 32 + 8 + 8;
const DAMAGED: &str = "its checksum is wrong: it is damaged";
/// Bytes per checksum and progress step.
const PIECE: usize = 1 << 22;

/// Error of a snapshot.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Not a snapshot, damaged, or of another version or state.
    #[error("{path} does not fit: {why}")]
    Refused {
        /// The file.
        path: PathBuf,
        /// Found and expected.
        why: String,
    },
    /// The caller stopped the operation.
    #[error("stopped")]
    Stopped,
}

/// Path of the snapshot of a state.
pub fn path_of(folder: &Path, hash: &str) -> PathBuf {
    folder.join(format!("{hash}-v{FORMAT_VERSION}.snapshot"))
}

/// Writer with a checksum and a byte count.
struct ChecksumWriter<W> {
    inner: W,
    sum: Xxh3Default,
    bytes: u64,
}

impl<W: Write> Write for ChecksumWriter<W> {
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

/// Writes a state and returns the file size. `progress` gets bytes done and total and returns false to stop. Stale
/// temporary files are deleted first: they may fill the disk.
pub fn save(
    state: &PreconditionedState,
    folder: &Path,
    hash: &str,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<u64, SnapshotError> {
    save_as(state, &path_of(folder, hash), hash, &[], progress)
}

/// As [`save`], to a file of this name that ends with `tail`. A file with a tail is durable when it gets its name.
pub fn save_as(
    state: &PreconditionedState,
    path: &Path,
    hash: &str,
    tail: &[u8],
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<u64, SnapshotError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = stale_files::temporary(folder, hash);
    let at = |source| SnapshotError::Io { path: path.to_path_buf(), source };
    fs::create_dir_all(folder).map_err(|source| SnapshotError::Io { path: folder.to_path_buf(), source })?;
    stale_files::remove(folder);
    let written = write_file(state, &temporary, hash, tail, progress)
        .and_then(|size| fs::rename(&temporary, path).map_err(at).map(|()| size));
    if written.is_err() {
        // No partial file remains; a failure to delete it does not matter.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_file(
    state: &PreconditionedState,
    path: &Path,
    hash: &str,
    tail: &[u8],
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<u64, SnapshotError> {
    let at = |source| SnapshotError::Io { path: path.to_path_buf(), source };
    let mut file = new_file(path).map_err(at)?;
    let mut unfinished = [0; HEADER_BYTES as usize];
    unfinished[..MAGIC.len()].copy_from_slice(&MAGIC);
    file.write_all(&unfinished).map_err(at)?;
    let mut out =
        ChecksumWriter { inner: BufWriter::with_capacity(1 << 20, file), sum: Xxh3Default::new(), bytes: 0 };
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
    file.write_all(tail).map_err(at)?;
    file.seek(SeekFrom::Start(0)).map_err(at)?;
    let mut header = Vec::with_capacity(HEADER_BYTES as usize);
    header.extend_from_slice(&MAGIC);
    header.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    header.extend_from_slice(&hash_bytes(hash));
    header.extend_from_slice(&sum.to_le_bytes());
    header.extend_from_slice(&bytes.to_le_bytes());
    file.write_all(&header).map_err(at)?;
    if !tail.is_empty() {
        file.sync_all().map_err(at)?;
    }
    Ok(HEADER_BYTES + bytes + tail.len() as u64)
}

/// A new file; whatever has its name, which is that of this process alone, is deleted and no link is followed.
fn new_file(path: &Path) -> io::Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            File::create_new(path)
        }
        made => made,
    }
}

/// An open and verified snapshot.
pub struct Snapshot {
    path: PathBuf,
    /// Open, so that deletion or replacement does not matter.
    file: File,
    drive: DriveSpec,
    /// What the state has beyond the file; empty without a supplement.
    supplement: Vec<u32>,
    /// The verified state, for the first caller.
    first: Mutex<Option<PreconditionedState>>,
}

impl Snapshot {
    /// A state to run.
    pub fn state(&self) -> Result<PreconditionedState, SnapshotError> {
        let first = lock(&self.first).take();
        if let Some(first) = first {
            return Ok(first);
        }
        let mut state = self.look(false, &mut |_| Ok(()))?.0;
        if !self.supplement.is_empty() {
            restore(&mut state, &self.supplement).expect("the supplement has been checked");
        }
        Ok(state)
    }

    /// The snapshot with the supplement of its state. The error is an inconsistency, or what of it the drive cannot start with.
    pub fn with_supplement(mut self, supplement: Vec<u32>) -> Result<Snapshot, SnapshotError> {
        let refuse = |why| SnapshotError::Refused { path: self.path.clone(), why };
        let mut state = self.state()?;
        restore(&mut state, &supplement).map_err(|why| refuse(format!("it contradicts itself: {why}")))?;
        if let Some(why) = self.drive.excludes_state(&state) {
            return Err(refuse(why));
        }
        (*lock(&self.first), self.supplement) = (Some(state), supplement);
        Ok(self)
    }

    fn look(
        &self,
        checks: bool,
        seen: &mut dyn FnMut(&[u8]) -> Result<(), ReadError>,
    ) -> Result<(PreconditionedState, Option<String>), SnapshotError> {
        let rng = Streams::new(0).stream("restored", 0);
        match PreconditionedState::of_file(&self.drive, rng, &self.file, HEADER_BYTES, checks, seen) {
            Ok(found) => Ok(found),
            Err(ReadError::Stopped) => Err(SnapshotError::Stopped),
            Err(ReadError::Io(source)) => Err(SnapshotError::Io { path: self.path.clone(), source }),
        }
    }
}

fn restore(state: &mut PreconditionedState, supplement: &[u32]) -> Result<(), String> {
    let mut numbers = Supplement::new(supplement);
    state.restore(&mut numbers)?;
    numbers.end()
}

/// Reason for an incomplete read.
enum ReadError {
    Io(io::Error),
    Stopped,
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Io(error)
    }
}

/// Opens and verifies state `hash` of a drive. `progress` gets bytes read and total and returns false to stop.
pub fn open(
    drive: &DriveSpec,
    folder: &Path,
    hash: &str,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Snapshot, SnapshotError> {
    open_file(drive, &path_of(folder, hash), hash, 0, progress)
}

/// Fields of a header.
struct Header {
    /// Checksum of the payload.
    sum: u64,
    /// Bytes of the payload.
    bytes: u64,
    /// Bytes of the file.
    length: u64,
}

/// Opens a file and reads the header of state `hash`.
fn read_header(path: &Path, hash: &str) -> Result<(File, Header), SnapshotError> {
    let at = |source| SnapshotError::Io { path: path.to_path_buf(), source };
    let refuse = |why: String| SnapshotError::Refused { path: path.to_path_buf(), why };
    let mut file = open_regular(path)?;
    let length = file.metadata().map_err(at)?.len();
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
    Ok((file, Header { sum, bytes, length }))
}

/// Opens a regular file; others are refused.
pub(super) fn open_regular(path: &Path) -> Result<File, SnapshotError> {
    let at = |source| SnapshotError::Io { path: path.to_path_buf(), source };
    let refuse = |why: &str| SnapshotError::Refused { path: path.to_path_buf(), why: why.into() };
    let kind = |found: &fs::Metadata| other_than_a_file(found).map_or(Ok(()), |what| Err(refuse(what)));
    // Opening a pipe blocks, and reading a terminal may never end.
    kind(&fs::metadata(path).map_err(at)?)?;
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(at)?;
    kind(&file.metadata().map_err(at)?)?;
    Ok(file)
}

/// Checks header and checksum of a file of state `hash` that ends with `tail` bytes of something else; needs no drive.
pub fn verify(path: &Path, hash: &str, tail: u64) -> Result<(), SnapshotError> {
    let refuse = |why: String| SnapshotError::Refused { path: path.to_path_buf(), why };
    let (mut file, Header { sum, bytes, length }) = read_header(path, hash)?;
    if Some(length) != HEADER_BYTES.checked_add(bytes).and_then(|n| n.checked_add(tail)) {
        return Err(refuse(format!("it has {length} bytes, other than its header says: it is damaged")));
    }
    let (mut found, mut piece, mut left) = (Xxh3Default::new(), vec![0; PIECE], bytes);
    while left > 0 {
        let part = &mut piece[..left.min(PIECE as u64) as usize];
        file.read_exact(part).map_err(|source| SnapshotError::Io { path: path.to_path_buf(), source })?;
        found.update(part);
        left -= part.len() as u64;
    }
    if found.digest() == sum { Ok(()) } else { Err(refuse(DAMAGED.into())) }
}

/// As [`open`], of a file of this name that ends with `tail` bytes of something else.
pub fn open_file(
    drive: &DriveSpec,
    path: &Path,
    hash: &str,
    tail: u64,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Snapshot, SnapshotError> {
    let refuse = |why: String| SnapshotError::Refused { path: path.to_path_buf(), why };
    let (file, Header { sum, bytes, length }) = read_header(path, hash)?;
    let expected = HEADER_BYTES + PreconditionedState::file_bytes(drive, HEADER_BYTES) + tail;
    if Some(length) != bytes.checked_add(HEADER_BYTES + tail) || length != expected {
        return Err(refuse(format!("it has {length} bytes, this drive's state takes {expected}")));
    }
    let kept = Snapshot {
        path: path.to_path_buf(),
        file,
        drive: drive.clone(),
        supplement: Vec::new(),
        first: Mutex::new(None),
    };
    let (mut found, mut looked_at) = (Xxh3Default::new(), 0);
    let (state, contradiction) = kept.look(true, &mut |piece| {
        for part in piece.chunks(PIECE) {
            found.update(part);
            looked_at += part.len() as u64;
            if !progress(looked_at, bytes) {
                return Err(ReadError::Stopped);
            }
        }
        Ok(())
    })?;
    if found.digest() != sum {
        return Err(refuse(DAMAGED.into()));
    }
    match contradiction {
        Some(why) => Err(refuse(format!("it contradicts itself: {why}"))),
        None => {
            *lock(&kept.first) = Some(state);
            Ok(kept)
        }
    }
}

/// State `hash` of a drive; see [`open`].
pub fn load(
    drive: &DriveSpec,
    folder: &Path,
    hash: &str,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<PreconditionedState, SnapshotError> {
    open(drive, folder, hash, progress)?.state()
}

/// Kind of the path if it is not a regular file.
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

/// Deletes the oldest snapshots until the cache (snapshots, temporary files, study results) takes at most `limit`
/// bytes; never deletes `keep`, nor counts or deletes a file of another program. Returns the deleted paths.
pub fn trim(folder: &Path, limit: u64, keep: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut total = 0;
    let mut snapshots = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if let Some(found) = own_files::snapshot(&path) {
            total += found.len();
            snapshots.extend(found.modified().ok().map(|time| (time, found.len(), path)));
        } else if let Some(found) = stale_files::partial(&path).or_else(|| own_files::results(&path)) {
            total += found.len();
        }
    }
    snapshots.sort();
    let mut deleted = Vec::new();
    for (_, bytes, path) in snapshots {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_full_cache_loses_its_oldest_snapshots_and_no_file_of_another_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = |digit: char| format!("{}-v{FORMAT_VERSION}.snapshot", digit.to_string().repeat(32));
        let others = ["mine.snapshot", "a.results", "b.tmp", "abc-v6.snapshot"];
        let (first, second, new) = (own('1'), own('2'), own('3'));
        let elsewhere = tempfile::tempdir().expect("a folder");
        fs::write(elsewhere.path().join("kept"), [&MAGIC[..], &[0; 992]].concat()).expect("a file");
        let link = own('4');
        std::os::unix::fs::symlink(elsewhere.path().join("kept"), folder.path().join(&link)).expect("a link");
        let foreign = own('5');
        for (age, name) in
            [&first, &second, &new].into_iter().map(String::as_str).chain(others).rev().enumerate()
        {
            let content = [&MAGIC[..], &[0; 992]].concat();
            let path = folder.path().join(name);
            fs::write(&path, content).expect("a file");
            let file = File::options().write(true).open(&path).expect("a file");
            file.set_modified(SystemTime::now() - Duration::from_secs(60 * (10 + age as u64)))
                .expect("a time");
        }
        fs::write(folder.path().join(&foreign), [7; 1000]).expect("a file");
        let deleted = trim(folder.path(), 2500, &folder.path().join(&new));
        assert_eq!(deleted, [folder.path().join(&first)]);
        let deleted = trim(folder.path(), 0, &folder.path().join(&new));
        assert_eq!(deleted, [folder.path().join(&second)]);
        for name in others.into_iter().chain([new.as_str(), &link, &foreign]) {
            assert!(folder.path().join(name).symlink_metadata().is_ok(), "{name}");
        }
        assert!(elsewhere.path().join("kept").exists());
    }
}
