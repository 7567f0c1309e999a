//! Things addressed by small numbers: the `slab` crate with `u32` keys, which is what queues and accounts
//! store.

/// A store whose entries keep their number from insertion to removal; numbers are reused.
#[derive(Clone)]
pub struct Slab<T>(slab::Slab<T>);

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab(slab::Slab::new())
    }
}

impl<T> Slab<T> {
    /// Stores a thing and returns its number.
    #[inline]
    pub fn insert(&mut self, thing: T) -> u32 {
        self.0.insert(thing) as u32
    }

    /// Takes the thing `id` out. Panics if there is none.
    #[inline]
    pub fn remove(&mut self, id: u32) -> T {
        self.0.remove(id as usize)
    }

    /// The thing `id`. Panics if there is none.
    #[inline]
    pub fn get(&self, id: u32) -> &T {
        &self.0[id as usize]
    }

    /// The thing `id`, to change. Panics if there is none.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> &mut T {
        &mut self.0[id as usize]
    }

    /// Things stored now.
    pub fn live(&self) -> usize {
        self.0.len()
    }

    /// The stored things with their numbers, in order of number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.0.iter().map(|(id, thing)| (id as u32, thing))
    }
}
