//! Data of the drive: a sparse file, or memory.

use crate::protocol::Extent;
use crate::protocol::numbers::extent_flag;
use rustix::fs::{self, FallocateFlags, FlockOperation, MemfdFlags, SeekFrom};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

/// Most extents of one block status.
const MOST_EXTENTS: usize = 1024;

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be opened or created.
    #[error("{}: {error}", path.display())]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// A folder, device or other special file.
    #[error("{}: seen {seen}; expected a regular file, or none", path.display())]
    Kind {
        /// Path of the file.
        path: PathBuf,
        /// What it is.
        seen: &'static str,
    },
    /// Another process has locked the file.
    #[error("{}: another server uses it; stop that one, or give another file", path.display())]
    Locked {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file does not have the size of the drive.
    #[error(
        "{}: seen {seen} bytes; expected {expected} bytes, the capacity of the drive (or an empty or missing file, which gets \
         this size)",
        path.display()
    )]
    Size {
        /// Path of the file.
        path: PathBuf,
        /// Bytes of the file.
        seen: u64,
        /// Bytes of the drive.
        expected: u64,
    },
}

/// Data of a drive. Unwritten and deallocated bytes read as zeroes.
#[derive(Debug)]
pub struct Store {
    file: File,
    bytes: u64,
    /// Folder of the file, if it has a name.
    folder: Option<PathBuf>,
    /// A flush has failed. The system may have dropped what it could not write, and reports that once.
    has_failed: AtomicBool,
    /// Reads exclude restored contents, so that none has a part of both.
    restores: RwLock<()>,
}

impl Store {
    /// Opens or creates the backing file `path` of a drive of `bytes`, and locks it until the store is dropped.
    ///
    /// # Errors
    /// [`StoreError`]: no regular file, locked by another server, or of another size.
    pub fn open(path: &Path, bytes: u64) -> Result<Store, StoreError> {
        let failed = |error| StoreError::Open { path: path.into(), error };
        let kind = |seen| StoreError::Kind { path: path.into(), seen };
        if let Ok(found) = std::fs::metadata(path) {
            if found.is_dir() {
                return Err(kind("a folder"));
            }
            if !found.is_file() {
                return Err(kind("a special file"));
            }
        }
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(failed)?;
        match fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Err(StoreError::Locked { path: path.into() }),
            other => other.map_err(|error| failed(error.into()))?,
        }
        match file.metadata().map_err(failed)?.len() {
            0 => file.set_len(bytes).map_err(failed)?,
            seen if seen != bytes => {
                return Err(StoreError::Size { path: path.into(), seen, expected: bytes });
            }
            _ => {}
        }
        let folder = path.parent().map(|of| if of == Path::new("") { Path::new(".") } else { of });
        Ok(Store::of(file, bytes, folder.map(Path::to_path_buf)))
    }

    fn of(file: File, bytes: u64, folder: Option<PathBuf>) -> Store {
        Store { file, bytes, folder, has_failed: AtomicBool::new(false), restores: RwLock::new(()) }
    }

    /// A store in memory, which takes as much of it as is written.
    ///
    /// # Errors
    /// Those of the system.
    pub fn in_memory(bytes: u64) -> io::Result<Store> {
        let file = File::from(fs::memfd_create("interpulse-drive", MemfdFlags::CLOEXEC)?);
        file.set_len(bytes)?;
        Ok(Store::of(file, bytes, None))
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Folder of its file; `None` in memory.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Appends the `length` bytes at `offset` to `out`.
    ///
    /// # Errors
    /// Those of the system; `out` is then as it was.
    pub fn read_to(&self, offset: u64, length: u32, out: &mut Vec<u8>) -> io::Result<()> {
        let _no_restore = self.restores.read().unwrap_or_else(PoisonError::into_inner);
        let before = out.len();
        out.resize(before + length as usize, 0);
        let read = self.file.read_exact_at(&mut out[before..], offset);
        if read.is_err() {
            out.truncate(before);
        }
        read
    }

    /// Writes `data` at `offset`.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::StorageFull`] if the file system has no room. Parts may have been written.
    pub fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_all_at(data, offset)
    }

    /// Restores the `length` bytes at `offset` to `data`, or to zeroes. No read sees a part of it.
    ///
    /// # Errors
    /// Those of [`Store::write`].
    pub fn restore(&self, offset: u64, data: Option<&[u8]>, length: u64) -> io::Result<()> {
        let _no_read = self.restores.write().unwrap_or_else(PoisonError::into_inner);
        match data {
            Some(data) => self.write(offset, data),
            None => self.deallocate(offset, length),
        }
    }

    /// Makes all completed writes durable.
    ///
    /// # Errors
    /// Those of the system; after one, every later flush fails, since writes before it may be lost.
    pub fn flush(&self) -> io::Result<()> {
        if self.has_failed.load(Ordering::SeqCst) {
            return Err(io::Error::other("an earlier flush failed, and writes before it may be lost"));
        }
        let flushed = self.file.sync_data();
        if flushed.is_err() {
            self.has_failed.store(true, Ordering::SeqCst);
        }
        flushed
    }

    /// Deallocates: the bytes read as zeroes.
    ///
    /// # Errors
    /// Those of the system.
    pub fn deallocate(&self, offset: u64, length: u64) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fs::fallocate(&self.file, flags, offset, length) {
            Err(Errno::OPNOTSUPP) => self.write_zero_bytes(offset, length),
            other => Ok(other?),
        }
    }

    /// Writes zeroes, which stay allocated if `no_hole`.
    ///
    /// # Errors
    /// Those of [`Store::write`].
    pub fn write_zeroes(&self, offset: u64, length: u64, no_hole: bool) -> io::Result<()> {
        if !no_hole {
            return self.deallocate(offset, length);
        }
        match fs::fallocate(
            &self.file,
            FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE,
            offset,
            length,
        ) {
            Err(Errno::OPNOTSUPP) => self.write_zero_bytes(offset, length),
            other => Ok(other?),
        }
    }

    /// Allocates what is not; the bytes read as before.
    ///
    /// # Errors
    /// Those of [`Store::write`].
    pub fn allocate(&self, offset: u64, length: u64) -> io::Result<()> {
        match fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, offset, length) {
            // A file system that cannot do this has no holes either, or writes fill them.
            Err(Errno::OPNOTSUPP) => Ok(()),
            other => Ok(other?),
        }
    }

    fn write_zero_bytes(&self, offset: u64, length: u64) -> io::Result<()> {
        static ZEROES: [u8; 1 << 16] = [0; 1 << 16];
        let mut at = offset;
        while at < offset + length {
            let step = (offset + length - at).min(ZEROES.len() as u64);
            self.file.write_all_at(&ZEROES[..step as usize], at)?;
            at += step;
        }
        Ok(())
    }

    /// What is allocated of the `length` bytes at `offset`, from the first on; one extent if `one`, and at most 1,024.
    ///
    /// # Errors
    /// Those of the system.
    pub fn extents(&self, offset: u64, length: u32, one: bool) -> io::Result<Vec<Extent>> {
        let (end, most) = (offset + u64::from(length), if one { 1 } else { MOST_EXTENTS });
        let (mut at, mut found) = (offset, Vec::new());
        while at < end && found.len() < most {
            let data = self.seek(SeekFrom::Data(at))?.unwrap_or(end).min(end);
            let (stop, flags) = if data > at {
                (data, extent_flag::HOLE | extent_flag::ZERO)
            } else {
                (self.seek(SeekFrom::Hole(at))?.unwrap_or(end).min(end), 0)
            };
            // Another client may have deallocated it between the two calls.
            if stop > at {
                found.push(Extent { bytes: (stop - at) as u32, flags });
            }
            at = stop;
        }
        Ok(found)
    }

    fn seek(&self, to: SeekFrom) -> io::Result<Option<u64>> {
        match fs::seek(&self.file, to) {
            Ok(at) => Ok(Some(at)),
            // No data up to the end of the file.
            Err(Errno::NXIO) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
