//! Large tables on huge pages.

use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::ops::{Deref, DerefMut};
use std::os::fd::FromRawFd;
use std::ptr::NonNull;

/// Smallest table for which the system provides huge pages.
const HUGE_PAGE: usize = 2 << 20;

/// Bytes of a page: the unit of advice, and the alignment of tables in files.
pub const PAGE: usize = 4096;

/// Panic payload for a drive that does not fit memory. Not a bug: the runner reports it to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Bytes that could not be reserved.
    pub bytes: usize,
}

impl OutOfMemory {
    fn unwind<T>(len: usize) -> ! {
        std::panic::resume_unwind(Box::new(OutOfMemory { bytes: len.saturating_mul(size_of::<T>()) }))
    }
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the machine gave no {:.1} MB of memory for the drive's maps", self.bytes as f64 / 1e6)
    }
}

/// List of `len` times `value` that grows with the drive. Unwinds with [`OutOfMemory`] if memory is insufficient.
pub fn filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut list = Vec::new();
    if list.try_reserve_exact(len).is_err() {
        OutOfMemory::unwind::<T>(len);
    }
    list.resize(len, value);
    list
}

/// Table of fixed length: zeroed memory, or a copy-on-write mapping of a file.
pub struct Table<T: Pod> {
    entries: NonNull<[T]>,
    /// Mapping that holds the entries; without one, they are a box.
    mapped: Option<MmapMut>,
    /// File of the entries, and their offset in it.
    file: Option<(File, u64)>,
}

// SAFETY: the table is the only owner of its entries, boxed or mapped.
unsafe impl<T: Pod + Send> Send for Table<T> {}
// SAFETY: as above; shared access is that of a slice.
unsafe impl<T: Pod + Sync> Sync for Table<T> {}

impl<T: Pod> Table<T> {
    /// Table of `len` zeros. Unwinds with [`OutOfMemory`] if the machine has no memory for it.
    pub fn new(len: usize) -> Table<T> {
        if len * size_of::<T>() >= HUGE_PAGE {
            return Table::on_huge_pages(len);
        }
        let entries = bytemuck::try_zeroed_slice_box(len).unwrap_or_else(|()| OutOfMemory::unwind::<T>(len));
        Table { entries: NonNull::from(Box::leak(entries)), mapped: None, file: None }
    }

    /// Table of whole, aligned huge pages: unaligned ends would use up to 4 MiB of small pages, a thousand faults.
    fn on_huge_pages(len: usize) -> Table<T> {
        let bytes = (len * size_of::<T>()).next_multiple_of(HUGE_PAGE);
        let mapped = MmapOptions::new().len(bytes + HUGE_PAGE).map_anon();
        let mut mapped = mapped.unwrap_or_else(|_| OutOfMemory::unwind::<T>(len));
        let begin = mapped.as_ptr().align_offset(HUGE_PAGE);
        let whole = &mut mapped[begin..][..bytes];
        advise_huge_pages(whole);
        let entries = NonNull::from(bytemuck::cast_slice_mut::<u8, T>(&mut whole[..len * size_of::<T>()]));
        Table { entries, mapped: Some(mapped), file: None }
    }

    /// Table of the `len` entries in `file` from byte `at` on, a multiple of [`PAGE`]. Pages are read on access, unwritten
    /// pages are shared with other users of the file, and the file never changes. Unwinds with [`OutOfMemory`] without
    /// address space for it.
    pub fn of_file(file: &File, at: u64, len: usize) -> io::Result<Table<T>> {
        if len == 0 {
            return Ok(Table::new(0));
        }
        assert!(at.is_multiple_of(PAGE as u64) && align_of::<T>() <= PAGE);
        // SAFETY: our complete files are replaced or deleted, never changed, so the mapping stays valid.
        let mapped = unsafe { MmapOptions::new().offset(at).len(len * size_of::<T>()).map_copy(file) };
        let mut mapped = match mapped {
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => OutOfMemory::unwind::<T>(len),
            other => other?,
        };
        let entries = NonNull::from(bytemuck::cast_slice_mut::<u8, T>(&mut mapped));
        Ok(Table { entries, mapped: Some(mapped), file: Some((file.try_clone()?, at)) })
    }

    /// Moves the table into an unnamed memory file, of which copies share the unwritten pages; see [`Table::another`]. The
    /// file is freed with the last table. File-backed and small tables stay as they are, as does any table where the system
    /// has no memory files.
    pub fn share(&mut self) {
        if self.file.is_none() && size_of_val(&**self) >= HUGE_PAGE {
            *self = match memory_file(self.as_bytes()).and_then(|file| Table::of_file(&file, 0, self.len())) {
                Ok(shared) => shared,
                Err(_) => return,
            }
        }
    }

    /// Copy of a table not written since it was made or [shared](Table::share). File-backed copies share unwritten pages.
    pub fn another(&self) -> Table<T>
    where
        T: PartialEq,
    {
        let from_file = |(file, at): &(File, u64)| Table::of_file(file, *at, self.len()).ok();
        let another = self.file.as_ref().and_then(from_file).unwrap_or_else(|| self.clone());
        debug_assert!(**self == *another, "a written table differs from its file");
        another
    }

    /// The table as bytes, for snapshots.
    pub fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }

    /// The table as bytes, for snapshots.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(self)
    }

    /// Prefetches the cache line of entry `i`.
    #[inline]
    pub fn prefetch(&self, i: usize) {
        prefetch(self.as_ptr().wrapping_add(i));
    }
}

impl<T: Pod> Clone for Table<T> {
    fn clone(&self) -> Self {
        let mut copy = Table::new(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl<T: Pod> Deref for Table<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the entries live as long as the table, their only owner.
        unsafe { self.entries.as_ref() }
    }
}

impl<T: Pod> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the table is borrowed exclusively.
        unsafe { self.entries.as_mut() }
    }
}

impl<T: Pod> Drop for Table<T> {
    fn drop(&mut self) {
        if self.mapped.is_none() {
            // SAFETY: the entries came from a box and are freed only here.
            drop(unsafe { Box::from_raw(self.entries.as_ptr()) });
        }
    }
}

fn memory_file(bytes: &[u8]) -> io::Result<File> {
    // SAFETY: the name is a NUL-terminated string, used in diagnostics only.
    let descriptor = unsafe { libc::memfd_create(c"interpulse-state".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open and has no other owner.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    file.write_all(bytes)?;
    Ok(file)
}

/// Advises huge pages for `bytes`, whole pages not yet written. Without huge pages the table works, more slowly.
fn advise_huge_pages(bytes: &mut [u8]) {
    // SAFETY: the range lies inside our memory, and advice changes none of it.
    unsafe { libc::madvise(bytes.as_mut_ptr().cast(), bytes.len(), libc::MADV_HUGEPAGE) };
}

/// Prefetches the cache line at `address`, which may be invalid.
#[inline]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    const LEN: usize = HUGE_PAGE / 4 + 1;

    fn counted(len: usize) -> Table<u32> {
        let mut table = Table::new(len);
        table.iter_mut().zip(1..).for_each(|(entry, n)| *entry = n);
        table
    }

    fn inode(table: &Table<u32>) -> Option<u64> {
        table.file.as_ref().map(|(file, _)| file.metadata().expect("an open file has metadata").ino())
    }

    #[test]
    fn tables_share_one_file_and_none_sees_what_another_writes() {
        let (mut one, same) = (counted(LEN), counted(LEN));
        one.share();
        assert!(*one == *same);
        let (mut other, third) = (one.another(), one.another());
        assert!(inode(&one).is_some());
        assert_eq!([inode(&other), inode(&third)], [inode(&one); 2]);
        (one[0], other[LEN - 1]) = (7, 8);
        assert_eq!([one[0], other[0], third[0]], [7, 1, 1]);
        assert_eq!([one[LEN - 1], other[LEN - 1], third[LEN - 1]], [LEN as u32, 8, LEN as u32]);
        drop((one, other));
        assert!(*third == *same, "the file stays for the last user");
    }

    #[test]
    fn small_or_shared_tables_are_not_moved() {
        let mut small = counted(LEN - 2);
        small.share();
        assert_eq!(inode(&small), None);
        assert!(*small.another() == *small);
        let mut large = counted(LEN - 1);
        large.share();
        let first = inode(&large);
        large.share();
        assert_eq!(inode(&large), first);
    }
}
