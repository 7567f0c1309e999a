//! Structures of the interface, all of 8-byte alignment without padding.

use std::ffi::c_char;

/// What a device is made of. Set size to sizeof(interpulse_options) and all that is not used to zero.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct interpulse_options {
    /// Size of this structure, so that later versions can extend it.
    pub size: usize,
    /// Configuration text (TOML), UTF-8: drive or array and their initial state.
    pub config: *const c_char,
    /// Name of the text in messages; files that it names are relative to its folder. NULL: `"<config>"`.
    pub path: *const c_char,
    /// Name of the case to build, if the configuration has several. NULL: the only one.
    pub case_name: *const c_char,
    /// Overrides "key=value", as --set of the command line. NULL: none.
    pub sets: *const *const c_char,
    /// Number of overrides.
    pub set_count: usize,
    /// Folder of preconditioned states, which later devices load. NULL: none is kept.
    pub cache_folder: *const c_char,
    /// Size limit of that folder in bytes. 0: 10 GiB.
    pub cache_limit: u64,
    /// INTERPULSE_JOURNAL, INTERPULSE_NO_CAUSES, or both.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

/// A request. Offsets and lengths are multiples of 512 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct interpulse_request {
    /// When it arrives, in ns; now or later.
    pub at_ns: u64,
    /// First byte within the namespace.
    pub offset: u64,
    /// Length in bytes, at most 1 GiB, or 2 TiB less 512 bytes of a trim.
    pub bytes: u64,
    /// Returned with the completion.
    pub user_data: u64,
    /// INTERPULSE_READ and the like.
    pub op: u32,
    /// Namespace, counted from 1; 0 is 1.
    pub nsid: u32,
    /// Submission queue pair, counted from 0.
    pub queue: u32,
    /// Placement handle of a write, with reclaim groups group x handles + handle; 0 without handles.
    pub handle: u32,
}

/// A completed request.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct interpulse_completion {
    /// Number of the request, counted from 0 in the order of submission.
    pub tag: u64,
    /// That of the request.
    pub user_data: u64,
    /// When the device's submission queue took it, in ns: its arrival, or the return of power if that was later.
    pub submitted_ns: u64,
    /// When it completed, in ns.
    pub completed_ns: u64,
    /// Bytes moved; 0 if it was refused.
    pub bytes: u64,
    /// Byte within the namespace at which an append placed its data; otherwise INTERPULSE_NONE.
    pub placed: u64,
    /// That of the request.
    pub op: u32,
    /// NVMe status: type in bits 8 to 10, code in bits 0 to 7; 0 is success. See interpulse_status_name.
    pub status: u32,
}

/// What the audits of a finished device checked.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct interpulse_audit {
    /// Requests issued, all of which completed.
    pub requests: u64,
    /// Logical units mapped to flash, all of which agree with the physical side.
    pub mapped_units: u64,
    /// Reads whose version was checked.
    pub versions_checked: u64,
}
