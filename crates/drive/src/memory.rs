//! Large flat tables on huge pages: the maps are hundreds of megabytes and are read at random, so most of a
//! look-up on small pages would be the walk of the page table.

use bytemuck::Pod;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A table below this size gets no huge page anyway.
const HUGE_PAGE: usize = 2 << 20;

/// Bytes of a page: advice is about whole ones.
const PAGE: usize = 4096;

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

/// A zeroed table of fixed length.
pub struct Table<T: Pod>(Box<[T]>);

impl<T: Pod> Table<T> {
    /// A table of `len` zeros. Unwinds with [`OutOfMemory`] if the machine has no memory for it.
    pub fn new(len: usize) -> Table<T> {
        let entries = bytemuck::try_zeroed_slice_box(len).unwrap_or_else(|()| OutOfMemory::unwind::<T>(len));
        advise_huge_pages(bytemuck::cast_slice(&entries));
        Table(entries)
    }

    /// The table as bytes, for snapshots.
    pub fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    /// The table as bytes, for snapshots.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
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
        &self.0
    }
}

impl<T: Pod> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// Asks for huge pages beneath `bytes`, which have not been written yet. Advice only: where huge pages are switched off
/// the table works, more slowly.
fn advise_huge_pages(bytes: &[u8]) {
    let whole = bytes.as_ptr_range();
    if bytes.len() >= HUGE_PAGE {
        let start = whole.start.map_addr(|at| at.next_multiple_of(PAGE));
        let length = whole.end.addr() - start.addr();
        // SAFETY: the range lies inside memory of ours, and advice changes none of it.
        unsafe { libc::madvise(start.cast_mut().cast(), length, libc::MADV_HUGEPAGE) };
    }
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
