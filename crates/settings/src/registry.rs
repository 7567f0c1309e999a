//! Registries of interchangeable policies, one line per policy.

/// Declares a registry: the modules of its rows, an enum with a variant for each, what the configuration reads, and
/// static dispatch.
///
/// ```ignore
/// registry! {
///     $ /// Which block is emptied next.
///     pub enum Victims, each_policy {
///         "greedy" => greedy::Greedy: "the block with the fewest valid units";
///         "d-choices" => d_choices::DChoices(it): "the emptiest of gc-choices closed blocks drawn at random";
///     }
/// }
/// ```
///
/// Where what runs is not what the configuration says, `pub enum Victims, each_policy; enum Running, each_running` also
/// declares an enum of the types `Running` of all files.
///
/// A row names the file and the type in it. A type that holds values of keys of its own is followed by `(it)`, and its
/// file reads them in `fn read(&mut Section) -> Result<Self, ConfigError>`. `each_policy!(victims, it => it.method())`
/// calls a method of whichever it is. The enum has `ROWS` for [`Section::policy`](crate::Section::policy), `all` and
/// `name`.
#[macro_export]
macro_rules! registry {
    (
        $d:tt $(#[$meta:meta])* $vis:vis enum $name:ident, $each:ident {
            $($row:literal => $module:ident :: $variant:ident $(($it:ident))? : $doc:literal;)+
        }
    ) => {
        $(mod $module;)+

        $(#[$meta])*
        $vis enum $name { $(#[doc = $doc] $variant $(($crate::registry!(@type $it $module $variant)))?),+ }

        impl $name {
            /// What the configuration reads.
            pub const ROWS: &'static [$crate::Row<$name>] = &[$($crate::Row {
                name: $row,
                doc: $doc,
                read: $crate::registry!(@read $name $module $variant $($it)?),
            }),+];

            /// Name, value and one line of documentation of each, its keys at their defaults, in registry order.
            pub fn all() -> Vec<(&'static str, $name, &'static str)> {
                $name::ROWS.iter().map(|row| (row.name, row.example(), row.doc)).collect()
            }

            /// Its name in configurations and results.
            pub fn name(&self) -> &'static str {
                match self { $($name::$variant $(($crate::registry!(@any $it)))? => $row),+ }
            }
        }

        /// Calls a method of whichever it is.
        macro_rules! $each {
            ($d of:expr, $d it:ident => $d body:expr) => {
                match $d of {$(
                    $name::$variant $(($it))? => {
                        let $d it = $crate::registry!(@held $module $variant $($it)?);
                        $d body
                    }
                )+}
            };
        }
    };
    (
        $d:tt $(#[$meta:meta])* $vis:vis enum $name:ident, $each:ident;
        $(#[$its_meta:meta])* enum $running:ident, $each_running:ident {
            $($row:literal => $module:ident :: $variant:ident $(($it:ident))? : $doc:literal;)+
        }
    ) => {
        $crate::registry! {
            $d $(#[$meta])* $vis enum $name, $each {
                $($row => $module::$variant $(($it))? : $doc;)+
            }
        }

        $(#[$its_meta])*
        enum $running { $($variant($module::$running)),+ }

        /// Calls a method of whichever it is.
        macro_rules! $each_running {
            ($d of:expr, $d it:ident => $d body:expr) => {
                match $d of { $($running::$variant($d it) => $d body),+ }
            };
        }
    };
    (@type $it:ident $module:ident $variant:ident) => { $module::$variant };
    (@any $it:ident) => { _ };
    (@held $module:ident $variant:ident) => { &$module::$variant };
    (@held $module:ident $variant:ident $it:ident) => { $it };
    (@read $name:ident $module:ident $variant:ident) => { |_| Ok($name::$variant) };
    (@read $name:ident $module:ident $variant:ident $it:ident) => {
        |section| $module::$variant::read(section).map($name::$variant)
    };
}
