//! Macros for structs of keys and enums of choices.

/// Declares a struct together with what reads it from a section. A field's name is its key's, with dashes, and its
/// documentation the key's; keys are read in the order of the fields. `(other)` before a reader reads from another section.
/// What follows `check` is done at last, the fields being variables.
///
/// ```
/// use interpulse_settings::{Document, default, keys, optional};
///
/// keys! {
///     /// A lamp.
///     pub struct Lamp, pub fn read(s, brightest: u32) {
///         /// how bright it is
///         pub how_bright: u32 = u32(default(3).within(1..=brightest)),
///         /// what it is called
///         pub name: String = ["called"] string(Some("lamp")),
///         /// Half of it: what is no key is worked out, from what was read before.
///         pub half: u32 => how_bright / 2,
///     } check {
///         s.check(!name.is_empty(), "called", "a name")?;
///     }
/// }
/// let document = Document::set("lamp.how-bright", "8")?;
/// let lamp = Lamp::read(&mut document.section("lamp")?, 10)?;
/// assert_eq!((lamp.how_bright, lamp.name.as_str(), lamp.half), (8, "lamp", 4));
/// assert_eq!(document.resolution().entries()[0].doc, "how bright it is");
/// # Ok::<(), interpulse_settings::ConfigError>(())
/// ```
#[macro_export]
macro_rules! keys {
    (
        $(#[$meta:meta])* $vis:vis struct $name:ident, $read_vis:vis fn $read:ident($s:ident $(, $arg:ident: $of:ty)*) {$(
            $(#[doc = $doc:literal])+
            $field_vis:vis $field:ident: $type:ty
                $(= $([$key:literal])? $(($on:ident))? $method:ident($($spec:tt)*))? $(=> $value:expr)?
        ),+ $(,)?} $(check { $($check:tt)+ })?
    ) => {
        $(#[$meta])*
        $vis struct $name { $($(#[doc = $doc])+ $field_vis $field: $type),+ }

        impl $name {
            /// Reads its keys, in the order of its fields.
            $read_vis fn $read($s: &mut $crate::Section $(, $arg: $of)*) -> Result<$name, $crate::ConfigError> {
                $(let $field: $type = $crate::keys!(
                    @value $s $field [$($doc),+] $($($key)? $(($on))? $method($($spec)*))? $(=> $value)?
                );)+
                $($($check)+)?
                Ok($name { $($field),+ })
            }
        }
    };
    (@value $s:ident $field:ident [$($doc:literal),+] => $value:expr) => { $value };
    (@value $s:ident $field:ident [$($doc:literal),+] $($key:literal)? ($on:ident) $method:ident($($spec:tt)*)) => {
        $crate::keys!(@value $on $field [$($doc),+] $($key)? $method($($spec)*))
    };
    (@value $s:ident $field:ident [$($doc:literal),+] $key:literal $method:ident($($spec:tt)*)) => {
        $s.$method($key, concat!($($doc),+).trim_ascii(), $($spec)*)?
    };
    (@value $s:ident $field:ident [$($doc:literal),+] $method:ident($($spec:tt)*)) => {
        $s.$method(&stringify!($field).replace('_', "-"), concat!($($doc),+).trim_ascii(), $($spec)*)?
    };
}

/// Declares an enum that a key chooses from: variants with their names and documentation, and `ALL` of them for
/// [`Section::choice`](crate::Section::choice).
///
/// ```
/// interpulse_settings::choices! {
///     /// Where a lamp is placed.
///     #[derive(Clone, Copy, PartialEq, Debug)]
///     pub enum Stand, default Table {
///         /// the table
///         Table = "table",
///         /// the floor of the room
///         Floor = "floor",
///     }
/// }
/// assert_eq!(Stand::ALL[1], ("floor", Stand::Floor, "the floor of the room"));
/// assert_eq!(Stand::default(), Stand::Table);
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])* $vis:vis enum $name:ident $(, default $default:ident)? {$(
            $(#[doc = $doc:literal])+ $variant:ident = $key:literal
        ),+ $(,)?}
    ) => {
        $(#[$meta])*
        $vis enum $name { $($(#[doc = $doc])+ $variant),+ }

        impl $name {
            /// Name, value and documentation of each.
            pub const ALL: &'static [(&'static str, $name, &'static str)] =
                &[$(($key, $name::$variant, concat!($($doc),+).trim_ascii())),+];

            /// Its name in configurations and results.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $key),+ }
            }
        }

        $(impl Default for $name {
            fn default() -> $name {
                $name::$default
            }
        })?
    };
}
