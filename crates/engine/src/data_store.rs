//! Data store: the bytes behind a device's addresses, for front ends that serve real data.
//!
//! Timing and data are separate. The simulator never calls a store; the owner of the host does (a block device server, for
//! example): [`DataStore::write`] when it submits a write, [`DataStore::read`] when a read has completed, and
//! [`DataStore::discard`] when a trim has completed.

use std::collections::BTreeMap;
use std::{fmt, io};

/// Stores the data of a device by byte address.
pub trait DataStore {
    /// Number of bytes that can be addressed.
    fn capacity(&self) -> u64;
    /// Fills `buffer` from `offset` on. Bytes never written, or discarded, read as zero.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<(), DataError>;
    /// Stores `data` from `offset` on.
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), DataError>;
    /// Discards `length` bytes from `offset` on.
    fn discard(&mut self, offset: u64, length: u64) -> Result<(), DataError>;
}

/// Why a store cannot serve a range.
#[derive(Debug)]
pub enum DataError {
    /// The range ends behind the capacity.
    OutOfRange {
        /// First byte.
        offset: u64,
        /// Number of bytes.
        length: u64,
        /// Capacity of the store.
        capacity: u64,
    },
    /// The medium of the store failed.
    Io(io::Error),
}

impl DataError {
    /// Checks that a range lies within `capacity`.
    pub fn check_range(offset: u64, length: u64, capacity: u64) -> Result<(), DataError> {
        match offset.checked_add(length) {
            Some(end) if end <= capacity => Ok(()),
            _ => Err(DataError::OutOfRange { offset, length, capacity }),
        }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataError::OutOfRange { offset, length, capacity } => {
                write!(
                    f,
                    "{length} bytes at byte {offset} do not lie within the capacity of {capacity} bytes"
                )
            }
            DataError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DataError {}

impl From<io::Error> for DataError {
    fn from(error: io::Error) -> DataError {
        DataError::Io(error)
    }
}

/// Bytes that [`MemoryStore`] allocates at a time.
const CHUNK: u64 = 64 << 10;

/// Sparse store in memory: only chunks that were written take space.
#[derive(Clone, Debug)]
pub struct MemoryStore {
    capacity: u64,
    chunks: BTreeMap<u64, Box<[u8]>>,
}

impl MemoryStore {
    /// An empty store of `capacity` bytes.
    pub fn new(capacity: u64) -> MemoryStore {
        MemoryStore { capacity, chunks: BTreeMap::new() }
    }

    /// Bytes allocated.
    pub fn allocated(&self) -> u64 {
        self.chunks.len() as u64 * CHUNK
    }
}

/// Splits a range at chunk boundaries: chunk, first byte in it, number of bytes.
fn parts(mut offset: u64, length: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + length;
    std::iter::from_fn(move || {
        let (chunk, start) = (offset / CHUNK, offset % CHUNK);
        let count = (CHUNK - start).min(end - offset);
        offset += count;
        (count > 0).then_some((chunk, start as usize, count as usize))
    })
}

impl DataStore for MemoryStore {
    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn read(&self, offset: u64, mut buffer: &mut [u8]) -> Result<(), DataError> {
        DataError::check_range(offset, buffer.len() as u64, self.capacity)?;
        for (chunk, start, count) in parts(offset, buffer.len() as u64) {
            let (part, rest) = buffer.split_at_mut(count);
            match self.chunks.get(&chunk) {
                Some(bytes) => part.copy_from_slice(&bytes[start..start + count]),
                None => part.fill(0),
            }
            buffer = rest;
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, mut data: &[u8]) -> Result<(), DataError> {
        DataError::check_range(offset, data.len() as u64, self.capacity)?;
        for (chunk, start, count) in parts(offset, data.len() as u64) {
            let (part, rest) = data.split_at(count);
            let bytes = self.chunks.entry(chunk).or_insert_with(|| vec![0; CHUNK as usize].into());
            bytes[start..start + count].copy_from_slice(part);
            data = rest;
        }
        Ok(())
    }

    fn discard(&mut self, offset: u64, length: u64) -> Result<(), DataError> {
        DataError::check_range(offset, length, self.capacity)?;
        // Whole chunks by key: the range may be far larger than what is stored.
        let (whole, end) = (offset.div_ceil(CHUNK), (offset + length) / CHUNK);
        let removed: Vec<u64> = self.chunks.range(whole..end.max(whole)).map(|(&chunk, _)| chunk).collect();
        removed.iter().for_each(|chunk| drop(self.chunks.remove(chunk)));
        let head = length.min(offset.next_multiple_of(CHUNK) - offset);
        let tail = (offset + length) % CHUNK;
        for (start, count) in [(offset, head), (offset + length - tail.min(length), tail.min(length))] {
            for (chunk, start, count) in parts(start, count) {
                if let Some(bytes) = self.chunks.get_mut(&chunk) {
                    bytes[start..start + count].fill(0);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_outside_the_capacity_are_refused() {
        let mut store = MemoryStore::new(1 << 40);
        store.write((1 << 40) - 3, b"end").unwrap();
        let mut seen = [0; 3];
        store.read((1 << 40) - 3, &mut seen).unwrap();
        assert_eq!((&seen, store.allocated()), (b"end", CHUNK));
        let error = store.write((1 << 40) - 2, b"end").unwrap_err();
        let text = "3 bytes at byte 1099511627774 do not lie within the capacity of 1099511627776 bytes";
        assert_eq!(error.to_string(), text);
        assert!(store.read(u64::MAX, &mut seen).is_err() && store.discard(1, u64::MAX).is_err());
        store.discard(0, 1 << 40).unwrap();
        assert_eq!(store.allocated(), 0);
    }

    proptest! {
        /// Against a plain array of a few chunks.
        #[test]
        fn a_sparse_store_reads_like_an_array(
            operations in prop::collection::vec((0u64..4 * CHUNK, 0u64..2 * CHUNK, 0u8..3), 1..30)
        ) {
            let (mut store, mut model) = (MemoryStore::new(4 * CHUNK), vec![0u8; 4 * CHUNK as usize]);
            for (k, (offset, length, what)) in (1u8..).zip(operations) {
                let length = length.min(4 * CHUNK - offset);
                let range = offset as usize..(offset + length) as usize;
                match what {
                    0 => {
                        store.write(offset, &vec![k; length as usize]).unwrap();
                        model[range].fill(k);
                    }
                    1 => {
                        store.discard(offset, length).unwrap();
                        model[range].fill(0);
                    }
                    _ => {
                        let mut seen = vec![9; length as usize];
                        store.read(offset, &mut seen).unwrap();
                        prop_assert!(seen == model[range]);
                    }
                }
            }
            let mut seen = vec![9; model.len()];
            store.read(0, &mut seen).unwrap();
            prop_assert!(seen == model);
        }
    }
}
