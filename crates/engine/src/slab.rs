//! Typed slab: the `slab` crate with four-byte keys of a type per store.

use crate::numbers::Number;
use std::marker::PhantomData;

/// A store whose entries keep their key from insertion to removal; keys are reused.
#[derive(Clone)]
pub struct Slab<K, T>(slab::Slab<T>, PhantomData<K>);

impl<K, T> Default for Slab<K, T> {
    fn default() -> Self {
        Slab(slab::Slab::new(), PhantomData)
    }
}

impl<K: Number, T> Slab<K, T> {
    /// Stores an entry and returns its key.
    #[inline]
    pub fn insert(&mut self, thing: T) -> K {
        K::nth(self.0.insert(thing) as u32)
    }

    /// The key of the next entry.
    #[inline]
    pub fn next_key(&self) -> K {
        K::nth(self.0.vacant_key() as u32)
    }

    /// Removes the entry `id`. Panics if there is none.
    #[inline]
    pub fn remove(&mut self, id: K) -> T {
        self.0.remove(id.place())
    }

    /// The entry `id`. Panics if there is none.
    #[inline]
    pub fn get(&self, id: K) -> &T {
        &self.0[id.place()]
    }

    /// The entry `id`, mutable. Panics if there is none.
    #[inline]
    pub fn get_mut(&mut self, id: K) -> &mut T {
        &mut self.0[id.place()]
    }

    /// Number of entries.
    pub fn live(&self) -> usize {
        self.0.len()
    }

    /// The entries with their keys, in order of key.
    pub fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        self.0.iter().map(|(id, thing)| (K::nth(id as u32), thing))
    }
}
