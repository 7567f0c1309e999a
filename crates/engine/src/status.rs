//! Completion status of a request.

/// Declares the statuses, each with its name in results and in messages.
macro_rules! statuses {
    ($($(#[doc = $doc:literal])+ $status:ident = $name:literal),+ $(,)?) => {
        /// Completion status (NVMe base specification, Zoned Namespace Command Set, Open-Channel SSD 2.0).
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Status {
            /// The request was executed.
            #[default]
            Success,
            $($(#[doc = $doc])+ $status),+
        }

        impl Status {
            /// Every status but success.
            pub const ERRORS: &'static [Status] = &[$(Status::$status),+];

            /// Name in the specification.
            pub fn name(self) -> &'static str {
                match self {
                    Status::Success => "Successful Completion",
                    $(Status::$status => $name),+
                }
            }
        }
    };
}

statuses! {
    /// Data that the request had to read was uncorrectable.
    UnrecoveredReadError = "Unrecovered Read Error",
    /// The device does not know the command: a zone command on a drive without zones.
    InvalidOpcode = "Invalid Command Opcode",
    /// A field of the command is illegal: an address that is not the start of a zone.
    InvalidField = "Invalid Field in Command",
    /// The host has aborted the command.
    CommandAbortRequested = "Command Abort Requested",
    /// The namespace is being formatted.
    FormatInProgress = "Format in Progress",
    /// The drive has become read-only.
    NamespaceIsWriteProtected = "Namespace is Write Protected",
    /// The write crosses the end of its zone.
    ZoneBoundaryError = "Zone Boundary Error",
    /// The zone is full.
    ZoneIsFull = "Zone Is Full",
    /// The write does not begin at the write pointer of the zone.
    ZoneInvalidWrite = "Zone Invalid Write",
    /// The zone would be active beyond the limit of active zones.
    TooManyActiveZones = "Too Many Active Zones",
    /// The zone would be open beyond the limit of open zones.
    TooManyOpenZones = "Too Many Open Zones",
    /// The state of the zone does not admit the command.
    InvalidZoneStateTransition = "Invalid Zone State Transition",
    /// The zone has, or lacks, a random write area that the command does not admit, or needs.
    InvalidZoneOperation = "Invalid Zone Operation Request",
    /// As many zones as the drive supports have a random write area.
    ZrwaResourcesUnavailable = "ZRWA Resources Unavailable",
    /// The zone can be read only: its flash has failed.
    ZoneIsReadOnly = "Zone Is Read Only",
    /// The zone has no flash any more.
    ZoneIsOffline = "Zone Is Offline",
    /// The chunk takes no data: it is closed, or would be open beyond the limit of open chunks, or the write crosses its end.
    WriteFault = "Write Fault",
    /// The write does not begin at the write pointer of the chunk.
    OutOfOrderWrite = "Out of Order Write",
    /// The chunk is free already.
    InvalidReset = "Invalid Reset",
    /// The chunk has no flash any more.
    OfflineChunk = "Offline Chunk",
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn a_status_is_a_byte_and_success_comes_first() {
        assert_eq!(size_of::<Status>(), 1);
        assert_eq!(Status::default(), Status::Success);
        assert!((1..).zip(Status::ERRORS).all(|(k, &error)| error as u8 == k));
    }
}
