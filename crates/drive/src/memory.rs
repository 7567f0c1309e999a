//! Large tables on huge pages.

use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::ops::{Deref, DerefMut};
use std::os::fd::FromRawFd;
use std::ptr::NonNull;

/// A table below this size gets no huge page anyway.
const HUGE_PAGE: usize = 2 << 20;

/// Bytes of a page: advice is about whole ones, and tables in files begin at one.
pub const PAGE: usize = 4096;

/// What unwinds a drive for which there is no memory: no bug, so nothing is printed, and whoever runs drives tells the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// What could not be reserved.
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

/// A list of `len` times `value`, one that grows with the drive. Unwinds with [`OutOfMemory`] without memory for it.
pub fn filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut list = Vec::new();
    if list.try_reserve_exact(len).is_err() {
        OutOfMemory::unwind::<T>(len);
    }
    list.resize(len, value);
    list
}

/// A table of fixed length: zeroed memory of its own, or what a file holds, of which the pages that are written to become its
/// own.
pub struct Table<T: Pod> {
    entries: NonNull<[T]>,
    /// What the entries lie in; without, they are a box.
    mapped: Option<MmapMut>,
    /// The file that they come from, and where in it they begin.
    file: Option<(File, u64)>,
}

// SAFETY: the entries belong to the table alone, whatever they lie in.
unsafe impl<T: Pod + Send> Send for Table<T> {}
// SAFETY: as above; they are shared as a slice is.
unsafe impl<T: Pod + Sync> Sync for Table<T> {}

impl<T: Pod> Table<T> {
    /// A table of `len` zeros. Unwinds with [`OutOfMemory`] if the machine has no memory for it.
    pub fn new(len: usize) -> Table<T> {
        if len * size_of::<T>() >= HUGE_PAGE {
            return Table::on_huge_pages(len);
        }
        let entries = bytemuck::try_zeroed_slice_box(len).unwrap_or_else(|()| OutOfMemory::unwind::<T>(len));
        Table { entries: NonNull::from(Box::leak(entries)), mapped: None, file: None }
    }

    /// A large one, which is whole huge pages: of memory that began between two of them, and ended so, up to four megabytes
    /// would come in small ones, a thousand faults.
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

    /// The `len` entries that lie in `file` from byte `at` on, a multiple of [`PAGE`]: nothing is read before it is looked at,
    /// whoever else has the same file shares what is not written to, and the file never changes. Unwinds with [`OutOfMemory`]
    /// if there is no room for it in the address space.
    pub fn of_file(file: &File, at: u64, len: usize) -> io::Result<Table<T>> {
        if len == 0 {
            return Ok(Table::new(0));
        }
        assert!(at.is_multiple_of(PAGE as u64) && align_of::<T>() <= PAGE);
        // SAFETY: a file of ours that is complete is replaced or deleted, never changed, so that what is mapped stays.
        let mapped = unsafe { MmapOptions::new().offset(at).len(len * size_of::<T>()).map_copy(file) };
        let mut mapped = match mapped {
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => OutOfMemory::unwind::<T>(len),
            other => other?,
        };
        let entries = NonNull::from(bytemuck::cast_slice_mut::<u8, T>(&mut mapped));
        Ok(Table { entries, mapped: Some(mapped), file: Some((file.try_clone()?, at)) })
    }

    /// Moves what the table holds into a file in memory, of which every table like this one shares what it does not write to;
    /// see [`Table::another`]. The file has no name, and goes with the last of them. A table that comes from a file stays as it
    /// is, and so does a small one, and any where the system gives no such file.
    pub fn share(&mut self) {
        if self.file.is_none() && size_of_val(&**self) >= HUGE_PAGE {
            *self = match memory_file(self.as_bytes()).and_then(|file| Table::of_file(&file, 0, self.len())) {
                Ok(shared) => shared,
                Err(_) => return,
            }
        }
    }

    /// Another table like this one, to which nothing has been written since it was made, or [shared](Table::share). One that comes
    /// from a file comes from there again, and both share what neither writes to.
    pub fn another(&self) -> Table<T>
    where
        T: PartialEq,
    {
        let from_file = |(file, at): &(File, u64)| Table::of_file(file, *at, self.len()).ok();
        let another = self.file.as_ref().and_then(from_file).unwrap_or_else(|| self.clone());
        debug_assert!(**self == *another, "what is written to a table is not in its file");
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

    /// Asks the processor to fetch the line of entry `i` ahead of its use.
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
        // SAFETY: the entries live as long as the table, and only it has them.
        unsafe { self.entries.as_ref() }
    }
}

impl<T: Pod> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the table is borrowed alone.
        unsafe { self.entries.as_mut() }
    }
}

impl<T: Pod> Drop for Table<T> {
    fn drop(&mut self) {
        if self.mapped.is_none() {
            // SAFETY: they were a box that nobody else has taken back.
            drop(unsafe { Box::from_raw(self.entries.as_ptr()) });
        }
    }
}

/// A file in memory, without a name, that holds these bytes.
fn memory_file(bytes: &[u8]) -> io::Result<File> {
    // SAFETY: the name is a string that ends, and is for the eyes of people alone.
    let descriptor = unsafe { libc::memfd_create(c"interpulse-state".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, and nobody else has it.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    file.write_all(bytes)?;
    Ok(file)
}

/// Asks for huge pages beneath `bytes`, which are whole ones and have not been written yet. Advice only: where huge pages are
/// switched off the table works, more slowly.
fn advise_huge_pages(bytes: &mut [u8]) {
    // SAFETY: the range lies inside memory of ours, and advice changes none of it.
    unsafe { libc::madvise(bytes.as_mut_ptr().cast(), bytes.len(), libc::MADV_HUGEPAGE) };
}

/// Asks the processor to fetch the line at `address` ahead of its use; any address is allowed.
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

    /// A table of as many entries, no two of which are equal.
    fn counted(len: usize) -> Table<u32> {
        let mut table = Table::new(len);
        table.iter_mut().zip(1..).for_each(|(entry, n)| *entry = n);
        table
    }

    /// The file that a table comes from.
    fn inode(table: &Table<u32>) -> Option<u64> {
        table.file.as_ref().map(|(file, _)| file.metadata().expect("it is open").ino())
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
        assert!(*third == *same, "it stays for whoever is left");
    }

    #[test]
    fn what_is_small_or_shared_stays_where_it_is() {
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
