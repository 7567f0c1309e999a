//! Stale temporary files: names of snapshots being written, and deletion of those whose writer was killed.
//!
//! A name is `<hash>.<host>-<process>-<number>.tmp`, where the host identifies this boot and process namespace.
//! Another run can test whether the writer is alive; if it cannot, the age of the file decides.

use super::own_files;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

/// A file without a write for this long is stale.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// A unique temporary name for snapshot `hash`.
pub fn temporary(folder: &Path, hash: &str) -> PathBuf {
    // Two threads may save the same state at once.
    static SAVES: AtomicU64 = AtomicU64::new(0);
    let save = SAVES.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("{hash}.{}-{}-{save}.tmp", place(), std::process::id()))
}

/// Deletes the stale files of a folder.
pub fn remove(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if is_left(&path, &place()) {
            // Another process may have deleted it; a failure does not matter.
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether the file is stale. `here` is the host of this process.
fn is_left(path: &Path, here: &str) -> bool {
    let Some((place, process)) = path.file_name().and_then(|name| writer(name.to_str()?)) else {
        return false;
    };
    let Some(found) = own_files::partial(path) else { return false };
    let old = found.modified().ok().and_then(|t| t.elapsed().ok()).is_some_and(|age| age > ABANDONED_AFTER);
    old || (place.is_none_or(|place| place == here) && !lives(process))
}

/// Metadata of a snapshot that is being written or is stale; `None` for other files.
pub fn partial(path: &Path) -> Option<Metadata> {
    path.file_name().and_then(|name| writer(name.to_str()?))?;
    own_files::partial(path)
}

/// Writer in a file name: host, if present, and process.
fn writer(name: &str) -> Option<(Option<&str>, u32)> {
    let (hash, who) = name.strip_suffix(".tmp")?.rsplit_once('.')?;
    if !own_files::is_hash(hash, 32) {
        return None;
    }
    let fields: Vec<&str> = who.split('-').collect();
    let (place, process, number) = match fields[..] {
        [process, number] => (None, process, number),
        [place, process, number] if own_files::is_hash(place, 16) => (Some(place), process, number),
        _ => return None,
    };
    number.parse::<u64>().ok()?;
    Some((place, process.parse().ok()?))
}

/// Whether the process exists, even if signals to it are not permitted.
fn lives(process: u32) -> bool {
    let Ok(process) = libc::pid_t::try_from(process) else { return false };
    // SAFETY: signal 0 is sent to nobody.
    let asked = unsafe { libc::kill(process, 0) };
    asked == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

/// Identifies the boot and the process namespace in which a process number is valid.
fn place() -> String {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let whole = [boot.as_slice(), namespace.as_os_str().as_encoded_bytes()].concat();
    format!("{:016x}", xxh3_64(&whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "00112233445566778899aabbccddeeff";

    /// Number of a process that has just ended.
    fn ended() -> u32 {
        let mut child = std::process::Command::new("true").spawn().expect("there is `true`");
        child.wait().expect("it ends");
        child.id()
    }

    #[test]
    fn a_file_goes_when_its_writer_has_ended_here_or_nobody_has_written_it_for_an_hour() {
        let folder = tempfile::tempdir().expect("a folder");
        let (here, dead, alive) = (place(), ended(), std::process::id());
        let hour = Duration::from_secs(3601);
        for (name, age, left) in [
            (format!("{HASH}.{here}-{dead}-0.tmp"), Duration::ZERO, true),
            (format!("{HASH}.{dead}-0.tmp"), Duration::ZERO, true),
            (format!("{HASH}.{here}-{alive}-0.tmp"), Duration::ZERO, false),
            (format!("{HASH}.{here}-{alive}-1.tmp"), hour, true),
            (format!("{HASH}.0123456789abcdef-{dead}-0.tmp"), Duration::ZERO, false),
            (format!("{HASH}.0123456789abcdef-{dead}-1.tmp"), hour, true),
            (format!("{HASH}.{here}-4294967295-0.tmp"), Duration::ZERO, true),
            ("notes.tmp".into(), hour, false),
            (format!("cafe.{dead}-0.tmp"), hour, false),
            (format!("{HASH}.draft-{dead}-0.tmp"), hour, false),
            (format!("my.thesis-{dead}-0.tmp"), hour, false),
            (format!("{HASH}.{dead}-0.snapshot"), hour, false),
        ] {
            let path = folder.path().join(&name);
            let file = fs::File::create(&path).expect("a file");
            file.set_modified(std::time::SystemTime::now() - age).expect("a time");
            remove(folder.path());
            assert_eq!(!path.exists(), left, "{name}");
        }
        let name = format!("{HASH}.{dead}-7.tmp");
        let path = folder.path().join(&name);
        for (content, left) in [("my notes", false), ("INTERPLS", true), ("\0\0\0\0\0\0\0\0\0", true)] {
            fs::write(&path, content).expect("a file");
            remove(folder.path());
            assert_eq!(!path.exists(), left, "{content:?}");
        }
        let (other, link) = (folder.path().join("other"), folder.path().join(format!("{HASH}.{dead}-8.tmp")));
        fs::write(&other, "").expect("a file");
        std::os::unix::fs::symlink(&other, &link).expect("a link");
        remove(folder.path());
        assert!(other.exists() && link.is_symlink());
    }

    #[test]
    fn the_name_of_a_file_says_who_writes_it() {
        let path = temporary(Path::new("/cache"), HASH);
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        assert_eq!(writer(name), Some((Some(place().as_str()), std::process::id())));
        assert!(lives(std::process::id()) && lives(1));
    }
}
