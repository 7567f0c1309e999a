//! Typed indices: a type for each kind of object, such as dies and cache slots.

/// An index of one kind of objects.
pub trait Number: Copy {
    /// The `k`-th.
    fn nth(k: u32) -> Self;
    /// Its position in a table.
    fn place(self) -> usize;
}

/// Declares index types: documentation and name of each.
#[macro_export]
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

        impl $crate::Number for $name {
            #[inline]
            fn nth(k: u32) -> $name {
                $name(k)
            }

            #[inline]
            fn place(self) -> usize {
                self.index()
            }
        }

        impl ::std::ops::Add<u32> for $name {
            type Output = $name;

            #[inline]
            fn add(self, k: u32) -> $name {
                $name(self.0 + k)
            }
        }

        impl ::std::ops::AddAssign<u32> for $name {
            #[inline]
            fn add_assign(&mut self, k: u32) {
                self.0 += k;
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }

        // The bare number: the field that holds it names the kind.
        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}
