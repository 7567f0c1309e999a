//! Ring buffer: FIFO of the event path. It masks indices where `VecDeque` compares with its capacity.

/// A FIFO that grows and never shrinks.
#[derive(Clone)]
pub struct Ring<T> {
    /// Their number is zero or a power of two.
    places: Box<[T]>,
    /// Index of the first item, modulo the number of places.
    head: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring { places: Box::default(), head: 0, len: 0 }
    }
}

impl<T: Copy> Ring<T> {
    /// Smallest number of places.
    const LEAST: usize = 16;

    /// Number of items.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no item.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends an item.
    #[inline]
    pub fn push(&mut self, thing: T) {
        if self.len == self.places.len() {
            self.grow(thing);
        }
        let place = self.place(self.len);
        // SAFETY: there is a place, see `place`.
        unsafe { *self.places.get_unchecked_mut(place) = thing };
        self.len += 1;
    }

    /// Puts an item before the first.
    pub fn push_front(&mut self, thing: T) {
        if self.len == self.places.len() {
            self.grow(thing);
        }
        self.head = self.head.wrapping_sub(1);
        self.len += 1;
        self.set(0, thing);
    }

    /// Removes the first item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let first = self.front()?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(first)
    }

    /// The first item.
    #[inline]
    pub fn front(&self) -> Option<T> {
        self.get(0)
    }

    /// The last item.
    #[inline]
    pub fn back(&self) -> Option<T> {
        self.get(self.len.wrapping_sub(1))
    }

    /// The item with index `k`.
    #[inline]
    pub fn get(&self, k: usize) -> Option<T> {
        // SAFETY: there is a place, see `place`.
        (k < self.len).then(|| unsafe { *self.places.get_unchecked(self.place(k)) })
    }

    /// Replaces the item with index `k`. Panics if there is none.
    pub fn set(&mut self, k: usize, thing: T) {
        assert!(k < self.len, "item {k} of {}", self.len);
        let place = self.place(k);
        self.places[place] = thing;
    }

    /// All items, in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len).filter_map(|k| self.get(k))
    }

    /// The place of item `k`; in bounds unless `places` is empty, because their number is a power of two.
    #[inline(always)]
    fn place(&self, k: usize) -> usize {
        self.head.wrapping_add(k) & self.places.len().wrapping_sub(1)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, with: T) {
        let mut places = vec![with; (2 * self.places.len()).max(Self::LEAST)].into_boxed_slice();
        places.iter_mut().zip(self.iter()).for_each(|(to, thing)| *to = thing);
        (self.places, self.head) = (places, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Against `VecDeque`, through growth and wrapping round.
        #[test]
        fn agrees_with_the_standard_one(steps in prop::collection::vec((any::<bool>(), any::<u32>()), 1..400)) {
            let (mut ring, mut model) = (Ring::default(), VecDeque::new());
            for (push, thing) in steps {
                if push {
                    ring.push(thing);
                    model.push_back(thing);
                } else if thing % 3 > 0 {
                    prop_assert_eq!(ring.pop(), model.pop_front());
                } else if !model.is_empty() {
                    let k = thing as usize % model.len();
                    ring.set(k, thing);
                    model[k] = thing;
                }
                prop_assert_eq!((ring.len(), ring.is_empty()), (model.len(), model.is_empty()));
                prop_assert_eq!((ring.front(), ring.back()), (model.front().copied(), model.back().copied()));
                prop_assert!(ring.iter().eq(model.iter().copied()));
                prop_assert_eq!(ring.get(model.len()), None);
            }
        }
    }
}
