//! Declared counters: every count has a name, a unit and one line of documentation.

/// Name, unit and documentation of a counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CounterInfo {
    /// Name in results.
    pub name: &'static str,
    /// Unit, such as `operations` or `ns`.
    pub unit: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
}

/// Declares a struct of `u64` counters together with their descriptions.
///
/// ```
/// interpulse_engine::counters! {
///     /// What a lamp does.
///     pub struct LampCounters {
///         /// times it was switched on
///         switched_on: "operations",
///     }
/// }
/// let mut lamp = LampCounters::default();
/// lamp.switched_on += 1;
/// let (info, value) = lamp.iter().next().unwrap();
/// assert_eq!((info.name, info.unit, value), ("switched_on", "operations", 1));
/// ```
#[macro_export]
macro_rules! counters {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $(#[doc = $doc:literal] $field:ident : $unit:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        $vis struct $name { $(#[doc = $doc] pub $field: u64),+ }

        impl $name {
            /// Name, unit and documentation of each counter, in declaration order.
            pub const INFO: &'static [$crate::CounterInfo] =
                &[$($crate::CounterInfo { name: stringify!($field), unit: $unit, doc: $doc }),+];

            /// Each counter's description with its value, in declaration order.
            pub fn iter(&self) -> impl Iterator<Item = ($crate::CounterInfo, u64)> + '_ {
                Self::INFO.iter().copied().zip([$(self.$field),+])
            }

            /// The difference to `earlier`, counter by counter.
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($field: self.$field - earlier.$field),+ }
            }

            /// Adds `other`, counter by counter.
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)+
            }
        }
    };
}
