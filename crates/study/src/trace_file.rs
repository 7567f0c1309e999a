//! Trace file that is written: under a temporary name until it is complete.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use interpulse_workload::Packing;

/// Whether both paths are the same existing file.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Writes `out` with `write`, compressed as its name says. A regular file is replaced only if `write` returns a value;
/// `None` keeps what was there.
///
/// Errors: those of `write`, and those of the file as `failed` converts them.
pub(crate) fn write_whole<T, E>(
    out: &Path,
    failed: impl Fn(io::Error) -> E,
    write: impl FnOnce(&mut dyn Write) -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let packed = |file: File| -> Result<Option<T>, E> {
        let packing = Packing::of_name(&out.display().to_string());
        let mut packer = packing.writer(BufWriter::new(file)).map_err(&failed)?;
        let written = write(&mut packer)?;
        if written.is_some() {
            packer.finish().and_then(|mut file| file.flush()).map_err(&failed)?;
        }
        Ok(written)
    };
    if out.exists() && !out.is_file() {
        // A pipe or a device.
        return packed(File::create(out).map_err(&failed)?);
    }
    let folder = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = tempfile::NamedTempFile::new_in(folder).map_err(&failed)?;
    let written = packed(beside.reopen().map_err(&failed)?)?;
    if written.is_some() {
        let permissions = std::fs::metadata(out).ok().map(|m| m.permissions());
        let permissions = permissions.unwrap_or_else(|| PermissionsExt::from_mode(0o644));
        beside.as_file().set_permissions(permissions).map_err(&failed)?;
        beside.persist(out).map_err(|e| failed(e.error))?;
    }
    Ok(written)
}
