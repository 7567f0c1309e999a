//! Recognition of the files of the snapshot cache: a file is deleted only if name and content show that this program
//! wrote it. Links are never followed.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// First bytes of a snapshot; also of an unfinished one.
pub const MAGIC: [u8; 8] = *b"INTERPLS";

/// Metadata of a snapshot of any version (`<hash>-v<version>.snapshot`, which begins with the magic); `None` for
/// other files.
pub fn snapshot(path: &Path) -> Option<Metadata> {
    let (hash, version) = name_of(path)?.strip_suffix(".snapshot")?.split_once("-v")?;
    (is_hash(hash, 32) && is_number(version)).then(|| begins(path, |first| first == MAGIC))?
}

/// Metadata of a snapshot that is being written, or was when its writer was killed: its header is empty or complete.
/// The caller checks the name.
pub fn partial(path: &Path) -> Option<Metadata> {
    begins(path, |first| first.is_empty() || first == MAGIC || first.iter().all(|&byte| byte == 0))
}

/// Metadata of a store of study results (`<study>-<build>.results`, lines with a checksum each).
pub fn results(path: &Path) -> Option<Metadata> {
    let (_, build) = name_of(path)?.strip_suffix(".results")?.rsplit_once('-')?;
    is_hash(build, 16).then(|| begins(path, |first| first.iter().all(u8::is_ascii_hexdigit)))?
}

/// Whether a text is a hash of so many hexadecimal digits.
pub fn is_hash(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// Metadata of a regular file whose first bytes, at most as many as the magic has, are legal.
fn begins(path: &Path, legal: impl Fn(&[u8]) -> bool) -> Option<Metadata> {
    // Opening a pipe would block, and a device may react.
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let file =
        File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).ok()?;
    let found = file.metadata().ok().filter(Metadata::is_file)?;
    let mut first = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut first).ok()?;
    legal(&first).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const HASH: &str = "00112233445566778899aabbccddeeff";

    #[test]
    fn a_file_is_own_by_name_and_content_and_a_link_never_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| -> PathBuf { folder.path().join(name) };
        for (name, content, own) in [
            (format!("{HASH}-v6.snapshot"), "INTERPLS, and more", true),
            (format!("{HASH}-v12.snapshot"), "INTERPLS", true),
            (format!("{HASH}-v6.snapshot.old"), "INTERPLS", false),
            (format!("{HASH}.snapshot"), "INTERPLS", false),
            (format!("{HASH}-v.snapshot"), "INTERPLS", false),
            (format!("{HASH}0-v6.snapshot"), "INTERPLS", false),
            (format!("{}-v6.snapshot", HASH.to_uppercase()), "INTERPLS", false),
            ("of-my-machine.snapshot".into(), "INTERPLS", false),
            ("photos-v6.snapshot".into(), "INTERPLS", false),
            ("abcdef-v6.snapshot".into(), "a virtual machine", false),
        ] {
            fs::write(path(&name), content).expect("a file");
            assert_eq!(snapshot(&path(&name)).is_some(), own, "{name}");
        }
        let hashed = path(&format!("{HASH}-v3.snapshot"));
        for content in ["", "INTER", "a virtual machine"] {
            fs::write(&hashed, content).expect("a file");
            assert!(snapshot(&hashed).is_none(), "{content:?}");
        }
        fs::remove_file(&hashed).expect("it is there");
        std::os::unix::fs::symlink(path(&format!("{HASH}-v6.snapshot")), &hashed).expect("a link");
        assert!(snapshot(&hashed).is_none());
        for (name, content, own) in [
            ("fast12-0123456789abcdef.results", "0123456789abcdef {}\n", true),
            ("fast12-0123456789abcdef.results", "", true),
            ("fast12-0123456789abcdef.results", "my measurements", false),
            ("fast12-2024.results", "0123456789abcdef {}\n", false),
            ("0123456789abcdef.results", "0123456789abcdef {}\n", false),
        ] {
            fs::write(path(name), content).expect("a file");
            assert_eq!(results(&path(name)).is_some(), own, "{name} {content}");
        }
    }
}
