//! Codes of results, operations and flags.

use interpulse_embed::Error;

/// Version of the interface; the major number of the shared library. Raised when a symbol or a layout changes.
pub const INTERPULSE_ABI: u32 = 0;

/// Success.
pub const INTERPULSE_OK: i32 = 0;
/// A pointer is NULL that must not be, a text is not UTF-8, a size or a flag is unknown.
pub const INTERPULSE_ERROR_ARGUMENT: i32 = -1;
/// The configuration cannot be used; the message names file, line and key.
pub const INTERPULSE_ERROR_CONFIG: i32 = -2;
/// An instant lies in the past, or behind the longest simulated time of 100 days.
pub const INTERPULSE_ERROR_TIME: i32 = -3;
/// A request is illegal for this device.
pub const INTERPULSE_ERROR_REQUEST: i32 = -4;
/// A saved state cannot be read, written or used.
pub const INTERPULSE_ERROR_STATE: i32 = -5;
/// Memory is short, or a file cannot be read.
pub const INTERPULSE_ERROR_RESOURCES: i32 = -6;
/// The device is finished.
pub const INTERPULSE_ERROR_FINISHED: i32 = -7;
/// Another thread is inside a call with this device.
pub const INTERPULSE_ERROR_BUSY: i32 = -8;
/// A bug of interpulse. The device can only be destroyed.
pub const INTERPULSE_ERROR_BUG: i32 = -9;

/// Return the newest data.
pub const INTERPULSE_READ: u32 = 0;
/// Store new data.
pub const INTERPULSE_WRITE: u32 = 1;
/// Deallocate the data.
pub const INTERPULSE_TRIM: u32 = 2;
/// Make every completed write durable; offset and bytes are 0.
pub const INTERPULSE_FLUSH: u32 = 3;
/// Store new data at the write pointer of the zone at the offset.
pub const INTERPULSE_APPEND: u32 = 4;
/// Open the zone at the offset; bytes is 0, as for all zone management but the report.
pub const INTERPULSE_ZONE_OPEN: u32 = 5;
/// Open the zone with a random write area.
pub const INTERPULSE_ZONE_OPEN_ZRWA: u32 = 6;
/// Commit the random write area up to the logical block at the offset.
pub const INTERPULSE_ZONE_COMMIT: u32 = 7;
/// Close the zone.
pub const INTERPULSE_ZONE_CLOSE: u32 = 8;
/// Make the zone full.
pub const INTERPULSE_ZONE_FINISH: u32 = 9;
/// Make the zone empty.
pub const INTERPULSE_ZONE_RESET: u32 = 10;
/// Give a read-only zone up.
pub const INTERPULSE_ZONE_OFFLINE: u32 = 11;
/// Report zones from the offset on; bytes is the length of the buffer.
pub const INTERPULSE_ZONE_REPORT: u32 = 12;
/// Store zeros.
pub const INTERPULSE_WRITE_ZEROES: u32 = 13;
/// Compare the newest data with data of the host; every comparison succeeds.
pub const INTERPULSE_COMPARE: u32 = 14;

/// Flag: keep all submissions, 56 bytes each, so that the device can be saved.
pub const INTERPULSE_JOURNAL: u32 = 1;
/// Flag: do not record the latency by cause.
pub const INTERPULSE_NO_CAUSES: u32 = 2;

/// An instant or a place that there is not.
pub const INTERPULSE_NONE: u64 = 0xffff_ffff_ffff_ffff;

/// Code of an error.
pub fn code_of(error: &Error) -> i32 {
    match error {
        Error::Config(_) => INTERPULSE_ERROR_CONFIG,
        Error::Time(_) => INTERPULSE_ERROR_TIME,
        Error::Request(_) => INTERPULSE_ERROR_REQUEST,
        Error::State(_) => INTERPULSE_ERROR_STATE,
        Error::Resources(_) => INTERPULSE_ERROR_RESOURCES,
        Error::Finished => INTERPULSE_ERROR_FINISHED,
        Error::Bug(_) => INTERPULSE_ERROR_BUG,
    }
}
