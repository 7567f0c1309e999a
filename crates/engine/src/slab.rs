//! Things addressed by small numbers: the `slab` crate with keys of four bytes, which is what queues and accounts
//! store, and of a type of their own, so that none is taken for that of another store.

use crate::numbers::Number;
use std::marker::PhantomData;

/// A store whose entries keep their number from insertion to removal; numbers are reused.
#[derive(Clone)]
pub struct Slab<K, T>(slab::Slab<T>, PhantomData<K>);

impl<K, T> Default for Slab<K, T> {
    fn default() -> Self {
        Slab(slab::Slab::new(), PhantomData)
    }
}

impl<K: Number, T> Slab<K, T> {
    /// Stores a thing and returns its number.
    #[inline]
    pub fn insert(&mut self, thing: T) -> K {
        K::nth(self.0.insert(thing) as u32)
    }

    /// Takes the thing `id` out. Panics if there is none.
    #[inline]
    pub fn remove(&mut self, id: K) -> T {
        self.0.remove(id.place())
    }

    /// The thing `id`. Panics if there is none.
    #[inline]
    pub fn get(&self, id: K) -> &T {
        &self.0[id.place()]
    }

    /// The thing `id`, to change. Panics if there is none.
    #[inline]
    pub fn get_mut(&mut self, id: K) -> &mut T {
        &mut self.0[id.place()]
    }

    /// Things stored now.
    pub fn live(&self) -> usize {
        self.0.len()
    }

    /// The stored things with their numbers, in order of number.
    pub fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        self.0.iter().map(|(id, thing)| (K::nth(id as u32), thing))
    }
}
