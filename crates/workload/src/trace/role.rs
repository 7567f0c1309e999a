//! Role of a column of a text trace.

use interpulse_settings::choices;

choices! {
    /// Content of a column.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Role {
        /// time of the request, in time-unit
        Time = "time",
        /// operation: a word of read-words or write-words
        Op = "op",
        /// first address, in address-unit
        Offset = "offset",
        /// size, in size-unit
        Size = "size",
        /// number or name of the device
        Device = "device",
        /// ignored
        Skip = "skip",
    }
}
