//! Whom energy is spent on.

/// Declares whom energy is spent on, with the name in results and one line of documentation.
macro_rules! spenders {
    ($($variant:ident = $name:literal : $doc:literal;)+) => {
        /// Whom energy is spent on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Spender { $(#[doc = $doc] $variant),+ }

        /// Number of [`Spender`] values.
        pub const SPENDERS: usize = [$($name),+].len();

        impl Spender {
            /// Every spender with its name and one line of documentation.
            pub const ALL: [(Spender, &'static str, &'static str); SPENDERS] =
                [$((Spender::$variant, $name, $doc)),+];
        }
    };
}

spenders! {
    Read = "read": "Reads for the host.";
    GcRead = "gc_read": "Reads for garbage collection.";
    Program = "program": "Programs of host data, from the first page load on; pulses done again included.";
    GcProgram = "gc_program": "Programs of moved data, likewise.";
    Erase = "erase": "Erases.";
    Suspension = "suspension": "Entering, holding and leaving suspensions, page buffers loaded again included.";
    Idle = "idle": "Dies on which nothing runs, or that wait for a share of the power budget.";
}
