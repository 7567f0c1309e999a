//! Undo log: older contents of units whose newest version a power cut would lose.

use rustix::fs::{self, MemfdFlags, Mode, OFlags};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Content of a unit before a version.
#[derive(Clone, Copy, Debug)]
struct Before {
    /// Version that replaced it.
    version: u32,
    /// Place in the file; `None` for zeroes.
    place: Option<u64>,
}

/// What a unit was.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    /// Zeroes.
    Zeroes,
    /// These bytes.
    Bytes(Vec<u8>),
}

/// Older contents by unit, in a file without a name: memory holds 40 bytes or so for each.
pub struct UndoLog {
    file: File,
    unit: usize,
    units: HashMap<u64, Vec<Before>>,
    free: Vec<u64>,
    end: u64,
}

impl UndoLog {
    /// An empty log of units of so many bytes, with its file in `folder`; in memory without a folder, and where its file system
    /// has no files without names.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(folder: Option<&Path>, unit: u64) -> io::Result<UndoLog> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let in_folder = folder.and_then(|folder| fs::open(folder, flags, Mode::RUSR | Mode::WUSR).ok());
        let file = match in_folder {
            Some(file) => file,
            None => fs::memfd_create("interpulse-undo", MemfdFlags::CLOEXEC)?,
        };
        let (units, free) = (HashMap::new(), Vec::new());
        Ok(UndoLog { file: file.into(), unit: unit as usize, units, free, end: 0 })
    }

    /// Keeps `content`, which `version` of the unit at `offset` replaces.
    ///
    /// # Errors
    /// Those of the system, such as a full file system; nothing is kept then.
    pub fn keep(&mut self, offset: u64, version: u32, content: &[u8]) -> io::Result<()> {
        debug_assert_eq!(content.len(), self.unit);
        let is_zero = content.iter().all(|&byte| byte == 0);
        let place = if is_zero { None } else { Some(self.store(content)?) };
        self.units.entry(offset).or_default().push(Before { version, place });
        Ok(())
    }

    fn store(&mut self, content: &[u8]) -> io::Result<u64> {
        let place = self.free.last().copied().unwrap_or(self.end);
        self.file.write_all_at(content, place)?;
        if self.free.pop().is_none() {
            self.end += self.unit as u64;
        }
        Ok(place)
    }

    /// Drops contents that no power cut restores, now that `version` of the unit at `offset` survives one.
    pub fn durable(&mut self, offset: u64, version: u32) {
        let Some(of) = self.units.get_mut(&offset) else { return };
        let free = &mut self.free;
        of.retain(|before| {
            let goes = before.version <= version;
            free.extend(before.place.filter(|_| goes));
            !goes
        });
        if of.is_empty() {
            self.units.remove(&offset);
        }
        if self.units.is_empty() {
            self.clear();
        }
    }

    /// Content of the unit at `offset` when it had `version`, if a newer one has replaced it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn content(&self, offset: u64, version: u32) -> io::Result<Option<Content>> {
        let of = self.units.get(&offset).and_then(|of| of.iter().find(|before| before.version > version));
        match of {
            None => Ok(None),
            Some(Before { place: None, .. }) => Ok(Some(Content::Zeroes)),
            Some(&Before { place: Some(place), .. }) => {
                let mut bytes = vec![0; self.unit];
                self.file.read_exact_at(&mut bytes, place)?;
                Ok(Some(Content::Bytes(bytes)))
            }
        }
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.units.clear();
        self.free.clear();
        // The space is used again if the system does not take it back.
        let _ = self.file.set_len(0);
        self.end = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    const UNIT: u64 = 4096;

    fn of(byte: u8) -> Vec<u8> {
        vec![byte; UNIT as usize]
    }

    #[test]
    fn each_version_is_found_until_a_later_one_is_durable() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = UndoLog::new(Some(folder.path()), UNIT).expect("a log");
        for (version, before) in [(1, 0), (2, 1), (4, 2)] {
            log.keep(UNIT, version, &of(before)).expect("room");
        }
        let content = |log: &UndoLog, version| log.content(UNIT, version).expect("it is read");
        assert_eq!(content(&log, 0), Some(Content::Zeroes));
        assert_eq!(content(&log, 1), Some(Content::Bytes(of(1))));
        // Version 3 took the place of version 2 in the cache.
        assert_eq!(content(&log, 2), Some(Content::Bytes(of(2))));
        assert_eq!(content(&log, 4), None);
        log.durable(UNIT, 2);
        assert_eq!((content(&log, 2), log.units.len()), (Some(Content::Bytes(of(2))), 1));
        log.durable(UNIT, 4);
        assert_eq!((content(&log, 0), log.units.len()), (None, 0));
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "the file has no name");
    }

    #[test]
    fn places_are_used_again() {
        let mut log = UndoLog::new(None, UNIT).expect("a log");
        for round in 0..1000_u32 {
            for unit in 0..4 {
                log.keep(unit * UNIT, round + 1, &of(7)).expect("room");
                // The last unit is never durable, so that the file is not emptied.
                if unit < 3 {
                    log.durable(unit * UNIT, round + 1);
                }
            }
            log.durable(3 * UNIT, round);
        }
        assert!(log.end <= 3 * UNIT, "{}", log.end);
        log.clear();
        assert_eq!((log.file.metadata().expect("a file").size(), log.units.len()), (0, 0));
    }
}
