//! The numbers of logical and physical units, cache slots, lanes and super blocks: a type for each, so that none is taken for another.

use std::fmt;
use std::ops::{Add, AddAssign};

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The number, to index a table with.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The first `count` of all.
            #[inline]
            pub fn first(count: u32) -> impl DoubleEndedIterator<Item = $name> + Clone {
                (0..count).map($name)
            }

            /// This one and those after it, up to before `end`.
            #[inline]
            pub fn until(self, end: $name) -> impl DoubleEndedIterator<Item = $name> + Clone {
                (self.0..end.0).map($name)
            }
        }

        impl Add<u32> for $name {
            type Output = $name;

            #[inline]
            fn add(self, k: u32) -> $name {
                $name(self.0 + k)
            }
        }

        impl AddAssign<u32> for $name {
            #[inline]
            fn add_assign(&mut self, k: u32) {
                self.0 += k;
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        // As the bare number: what holds one says what it is.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

numbers! {
    /// A logical unit.
    Lpn
    /// A physical unit, numbered over the drive.
    Ppu
    /// A slot of the write cache.
    Slot
    /// A lane: planes of a die that program and erase together.
    Lane
    /// A super block, numbered over the drive.
    SuperBlock
}
