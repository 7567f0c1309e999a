//! Large flat tables on huge pages: the maps are hundreds of megabytes and are read at random, so most of a
//! look-up on small pages would be the walk of the page table.

use memmap2::{Advice, MmapMut};
use std::ops::{Deref, DerefMut};

/// A plain number that may be viewed as bytes and made of zero bytes.
///
/// # Safety
/// Only for types without padding for which every bit pattern is a value.
pub unsafe trait Plain: Copy + 'static {}
unsafe impl Plain for u32 {}
unsafe impl Plain for u64 {}
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// A zeroed table of fixed length.
pub struct Table<T: Plain> {
    map: MmapMut,
    len: usize,
    kind: std::marker::PhantomData<T>,
}

impl<T: Plain> Table<T> {
    /// A table of `len` zeros. Panics if the machine has no memory for it.
    pub fn new(len: usize) -> Table<T> {
        let bytes = (len * size_of::<T>()).max(1);
        let map = MmapMut::map_anon(bytes)
            .unwrap_or_else(|e| panic!("cannot reserve {bytes} bytes of memory for the drive's maps: {e}"));
        // Advice only: where huge pages are switched off the table works, more slowly.
        let _ = map.advise(Advice::HugePage);
        Table { map, len, kind: std::marker::PhantomData }
    }

    /// The table as bytes, for snapshots.
    pub fn as_bytes(&self) -> &[u8] {
        &self.map[..self.len * size_of::<T>()]
    }

    /// The table as bytes, for snapshots.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        let n = self.len * size_of::<T>();
        &mut self.map[..n]
    }

    /// Asks the processor to fetch the line of entry `i` ahead of its use.
    #[inline]
    pub fn prefetch(&self, i: usize) {
        prefetch(self.as_ptr().wrapping_add(i));
    }
}

impl<T: Plain> Clone for Table<T> {
    fn clone(&self) -> Self {
        let mut copy = Table::new(self.len);
        copy.as_bytes_mut().copy_from_slice(self.as_bytes());
        copy
    }
}

impl<T: Plain> Deref for Table<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the map is page-aligned, holds `len` values of T, and T is Plain.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.len) }
    }
}

impl<T: Plain> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and the borrow is unique.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.len) }
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
