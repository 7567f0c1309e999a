//! Functions of the interface.
//!
//! # Safety
//! A device is NULL, or of [`interpulse_create`] or [`interpulse_restore`] and not destroyed. Every other pointer is NULL or
//! points to as many values as its function says, texts end with a zero byte.
#![allow(
    clippy::missing_safety_doc,
    reason = "the condition is that of the module, and these comments go to the header"
)]

use crate::codes::{INTERPULSE_ABI, INTERPULSE_JOURNAL, INTERPULSE_NO_CAUSES, INTERPULSE_NONE};
use crate::handle::{self, Failure, guarded, interpulse_device, new_handle, with};
use crate::structs::{interpulse_audit, interpulse_completion, interpulse_options, interpulse_request};
use crate::text::{c_text, copy_text, text_at};
use interpulse_embed::{
    CAUSE_INFO, CAUSES, Device, Error, OPS, Options, Request, SimTime, StatusCode, op_of_code,
};
use std::ffi::{CStr, CString, c_char};
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Options as the Rust interface takes them.
///
/// # Safety
/// `options` is NULL or valid, as are its texts.
unsafe fn read_options(options: *const interpulse_options) -> Result<Options, Failure> {
    // SAFETY: as the caller promises.
    let Some(options) = (unsafe { options.as_ref() }) else {
        return Err(Failure::argument("options is NULL"));
    };
    let size = size_of::<interpulse_options>();
    if options.size != size {
        let why = format!("options.size = {}: legal: sizeof(interpulse_options), {size}", options.size);
        return Err(Failure::argument(why));
    }
    let flags = options.flags;
    if flags & !(INTERPULSE_JOURNAL | INTERPULSE_NO_CAUSES) != 0 || options.reserved != 0 {
        let why = format!(
            "options.flags = {flags}, reserved = {}: legal: flags up to 3, reserved 0",
            options.reserved
        );
        return Err(Failure::argument(why));
    }
    // SAFETY: as the caller promises.
    let text = |from, name| unsafe { text_at(from, name) };
    let config = text(options.config, "options.config")?;
    let config = config.ok_or_else(|| Failure::argument("options.config is NULL"))?;
    let mut read = Options::new(config);
    if let Some(path) = text(options.path, "options.path")? {
        read.path = path.into();
    }
    read.case = text(options.case_name, "options.case_name")?.map(str::to_string);
    read.cache = text(options.cache_folder, "options.cache_folder")?.map(PathBuf::from);
    if options.cache_limit > 0 {
        read.cache_limit = options.cache_limit;
    }
    if options.set_count > 0 && options.sets.is_null() {
        return Err(Failure::argument(format!("options.sets is NULL, set_count {}", options.set_count)));
    }
    for k in 0..options.set_count {
        // SAFETY: as the caller promises.
        let set = text(unsafe { *options.sets.add(k) }, "options.sets")?.unwrap_or("");
        let (key, value) = set.split_once('=').ok_or_else(|| {
            Failure::argument(format!("options.sets[{k}] = \"{set}\": legal: \"key=value\""))
        })?;
        read.sets.push((key.trim().into(), value.trim().into()));
    }
    read.journal = flags & INTERPULSE_JOURNAL != 0;
    read.causes = flags & INTERPULSE_NO_CAUSES == 0;
    Ok(read)
}

/// Stores a value at `to`.
///
/// # Safety
/// `to` is NULL or valid.
#[inline]
unsafe fn put<T>(to: *mut T, value: T, name: &str) -> Result<(), Failure> {
    if to.is_null() {
        return Err(Failure::argument(format!("{name} is NULL")));
    }
    // SAFETY: as the caller promises.
    unsafe { to.write(value) };
    Ok(())
}

/// Makes a device with `make` and stores its handle; NULL if that fails.
///
/// # Safety
/// `options` and `device` are NULL or valid.
unsafe fn make_device(
    options: *const interpulse_options,
    device: *mut *mut interpulse_device,
    make: impl FnOnce(&Options) -> Result<Device, Failure>,
) -> i32 {
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe {
            put(device, std::ptr::null_mut(), "device")?;
            let made = make(&read_options(options)?)?;
            put(device, new_handle(made), "device")
        }
    })
}

/// Builds a device and its initial state, and stores its handle in *device; NULL if that fails, and
/// interpulse_error_message(NULL) says why.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_create(
    options: *const interpulse_options,
    device: *mut *mut interpulse_device,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { make_device(options, device, |options| Ok(Device::create(options)?)) }
}

/// Builds a device whose state interpulse_save has written, with everything in flight, by repeating its submissions: this takes
/// as long as simulating them took. The options are those of the saved device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_restore(
    options: *const interpulse_options,
    file: *const c_char,
    device: *mut *mut interpulse_device,
) -> i32 {
    let make = |options: &Options| {
        // SAFETY: as the caller promises.
        let file = unsafe { text_at(file, "file") }?.ok_or_else(|| Failure::argument("file is NULL"))?;
        let saved = fs::read(file).map_err(|error| Error::State(format!("{file}: {error}")))?;
        let restored = Device::restore(options, &saved);
        Ok(restored.map_err(|error| match error {
            Error::State(why) => Error::State(format!("{file}: {why}")),
            other => other,
        })?)
    };
    // SAFETY: as the caller promises.
    unsafe { make_device(options, device, make) }
}

/// Writes the state of a device made with INTERPULSE_JOURNAL to a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_save(device: *mut interpulse_device, file: *const c_char) -> i32 {
    let save = |device: &mut Device| {
        // SAFETY: as the caller promises.
        let file = unsafe { text_at(file, "file") }?.ok_or_else(|| Failure::argument("file is NULL"))?;
        let saved = device.save()?;
        Ok(fs::write(file, saved).map_err(|error| Error::State(format!("{file}: {error}")))?)
    };
    // SAFETY: as the caller promises.
    unsafe { with(device, save) }
}

/// Destroys a device, unless another thread is inside a call with it. NULL is legal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_destroy(device: *mut interpulse_device) {
    // SAFETY: as the caller promises.
    unsafe { handle::destroy(device) };
}

/// Submits count requests: all, or none if one is illegal. They are numbered in order, and the number of the first is stored in
/// *first_tag, unless that is NULL. Requests may be given in any order of instants; those of one instant arrive in the order of
/// submission.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_submit(
    device: *mut interpulse_device,
    requests: *const interpulse_request,
    count: usize,
    first_tag: *mut u64,
) -> i32 {
    let submit = |device: &mut Device| {
        if requests.is_null() && count > 0 {
            return Err(Failure::argument("requests is NULL"));
        }
        // SAFETY: as the caller promises.
        let request = |k: usize| read_request(unsafe { &*requests.add(k) });
        let first = match count {
            1 => request(0).and_then(|(at, request)| device.submit(at, &request)),
            _ => device.submit_batch(count, request),
        };
        let first = first?;
        if !first_tag.is_null() {
            // SAFETY: as the caller promises.
            unsafe { first_tag.write(first) };
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with(device, submit) }
}

#[inline]
fn read_request(of: &interpulse_request) -> Result<(SimTime, Request), Error> {
    let Some(op) = op_of_code(of.op) else {
        return Err(Error::Request(format!("op = {}: legal: 0 to {}", of.op, OPS.len() - 1)));
    };
    let Ok(handle) = u8::try_from(of.handle) else {
        return Err(Error::Request(format!("handle = {}: legal: 0 to 255", of.handle)));
    };
    let (offset, bytes, cookie) = (of.offset, of.bytes, of.user_data);
    let namespace = of.nsid.max(1);
    Ok((SimTime(of.at_ns), Request { op, namespace, queue: of.queue, handle, offset, bytes, cookie }))
}

/// Stores simulated time in ns in *now_ns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_now(device: *mut interpulse_device, now_ns: *mut u64) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { with(device, |device| put(now_ns, device.now().as_ns(), "now_ns")) }
}

/// Stores in *at_ns the next instant at which something happens, INTERPULSE_NONE if nothing will until a request is submitted.
/// Completions appear at such instants only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_next_event_time(device: *mut interpulse_device, at_ns: *mut u64) -> i32 {
    let next = |device: &mut Device| {
        let next = device.next_event_time().map_or(INTERPULSE_NONE, SimTime::as_ns);
        // SAFETY: as the caller promises.
        unsafe { put(at_ns, next, "at_ns") }
    };
    // SAFETY: as the caller promises.
    unsafe { with(device, next) }
}

/// Handles everything up to and including to_ns, and moves simulated time there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_advance_to(device: *mut interpulse_device, to_ns: u64) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { with(device, |device| Ok(device.advance_to(SimTime(to_ns))?)) }
}

/// Handles everything up to the first instant with a completion, at the latest limit_ns, and moves simulated time there;
/// returns at once if a completion can be polled already. With limit_ns = INTERPULSE_NONE it stops when no request is pending.
/// Stores in *count, unless that is NULL, how many completions can be polled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_advance_to_completion(
    device: *mut interpulse_device,
    limit_ns: u64,
    count: *mut usize,
) -> i32 {
    let advance = |device: &mut Device| {
        device.advance_to_completion((limit_ns != INTERPULSE_NONE).then_some(SimTime(limit_ns)))?;
        if !count.is_null() {
            // SAFETY: as the caller promises.
            unsafe { count.write(device.completions()) };
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with(device, advance) }
}

/// Takes at most most completions in order and stores them in completions and their number in *count. Unless causes is NULL, it
/// has room for most times interpulse_cause_count() numbers: the latency of each by cause, in ns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_poll(
    device: *mut interpulse_device,
    completions: *mut interpulse_completion,
    most: usize,
    causes: *mut u64,
    count: *mut usize,
) -> i32 {
    let poll = |device: &mut Device| {
        if completions.is_null() && most > 0 || count.is_null() {
            return Err(Failure::argument("completions or count is NULL"));
        }
        let taken = device.poll(most, |k, of| {
            let completion = interpulse_completion {
                tag: of.tag,
                user_data: of.cookie,
                submitted_ns: of.submitted.as_ns(),
                completed_ns: of.completed.as_ns(),
                bytes: of.bytes,
                placed: of.placed.unwrap_or(INTERPULSE_NONE),
                op: of.op_code(),
                status: of.status.0.into(),
            };
            // SAFETY: as the caller promises.
            unsafe {
                completions.add(k).write(completion);
                if !causes.is_null() {
                    causes.add(k * CAUSES).copy_from_nonoverlapping(of.causes.as_ptr(), CAUSES);
                }
            }
        });
        // SAFETY: as the caller promises.
        unsafe { count.write(taken) };
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with(device, poll) }
}

/// Stores in *count how many requests have not completed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_pending(device: *mut interpulse_device, count: *mut usize) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { with(device, |device| put(count, device.pending(), "count")) }
}

/// Stores in *bytes the capacity of a namespace, counted from 1; 0 is 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_capacity(
    device: *mut interpulse_device,
    nsid: u32,
    bytes: *mut u64,
) -> i32 {
    let capacity = |device: &mut Device| {
        let count = device.namespaces();
        let of = device.capacity(nsid.max(1));
        let of = of.ok_or_else(|| Error::Request(format!("nsid = {nsid}: legal: 1 to {count}")))?;
        // SAFETY: as the caller promises.
        unsafe { put(bytes, of, "bytes") }
    };
    // SAFETY: as the caller promises.
    unsafe { with(device, capacity) }
}

/// Stores in *value the counter "group.name", such as "ftl.gc_units", since creation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_counter(
    device: *mut interpulse_device,
    name: *const c_char,
    value: *mut u64,
) -> i32 {
    let counter = |device: &mut Device| {
        // SAFETY: as the caller promises.
        let name = unsafe { text_at(name, "name") }?.ok_or_else(|| Failure::argument("name is NULL"))?;
        let found = device.counters().get(name);
        let found = found.ok_or_else(|| {
            Failure::argument(format!("name = \"{name}\": legal: those of interpulse_counters_json"))
        })?;
        // SAFETY: as the caller promises.
        unsafe { put(value, found, "value") }
    };
    // SAFETY: as the caller promises.
    unsafe { with(device, counter) }
}

/// Copies all counters since creation as a JSON object of groups to buffer of size bytes, cut if they are longer and ended by a
/// zero byte, and stores their length in *length, unless that is NULL. A NULL buffer measures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_counters_json(
    device: *mut interpulse_device,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        with(device, |device| {
            copy_text(&device.counters().to_json(), buffer, size, length);
            Ok(())
        })
    }
}

/// Copies a description as a JSON object (kind, namespaces, queues, hash of the configuration, notes) as
/// interpulse_counters_json does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_describe(
    device: *mut interpulse_device,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        with(device, |device| {
            copy_text(&device.describe(), buffer, size, length);
            Ok(())
        })
    }
}

/// Completes all requests and the device's own work, and audits it. Completions and counters can still be read. Stores what was
/// checked in *audit, unless that is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_finish(
    device: *mut interpulse_device,
    audit: *mut interpulse_audit,
) -> i32 {
    let finish = |device: &mut Device| {
        let found = device.finish()?;
        if !audit.is_null() {
            let (mapped_units, versions_checked) = (found.mapped_units, found.versions_checked);
            // SAFETY: as the caller promises.
            unsafe {
                audit.write(interpulse_audit { requests: found.requests, mapped_units, versions_checked })
            };
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with(device, finish) }
}

/// Message of the last error of a device, valid until the next call with it; for NULL that of the last error without a device
/// on this thread, such as a failed creation. Never NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn interpulse_error_message(device: *const interpulse_device) -> *const c_char {
    // SAFETY: as the caller promises.
    unsafe { handle::message_of(device) }
}

/// Number of causes of latency.
#[unsafe(no_mangle)]
pub extern "C" fn interpulse_cause_count() -> usize {
    CAUSES
}

/// Name of a cause; NULL from interpulse_cause_count() on.
#[unsafe(no_mangle)]
pub extern "C" fn interpulse_cause_name(cause: usize) -> *const c_char {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    let names = NAMES.get_or_init(|| CAUSE_INFO.iter().map(|(name, _)| c_text(name)).collect());
    names.get(cause).map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Name of a status in the NVMe specifications; NULL for one that no device returns.
#[unsafe(no_mangle)]
pub extern "C" fn interpulse_status_name(status: u32) -> *const c_char {
    static NAMES: OnceLock<Vec<(u16, CString)>> = OnceLock::new();
    let all = || {
        let codes = (0..=0x7ff).map(StatusCode);
        codes.filter_map(|code| Some((code.0, c_text(code.name()?)))).collect()
    };
    let mut names = NAMES.get_or_init(all).iter();
    names.find(|(code, _)| u32::from(*code) == status).map_or(std::ptr::null(), |(_, name)| name.as_ptr())
}

/// Version of interpulse.
#[unsafe(no_mangle)]
pub extern "C" fn interpulse_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// Version of the interface that the library has, to compare with INTERPULSE_ABI of the header.
#[unsafe(no_mangle)]
pub extern "C" fn interpulse_abi() -> u32 {
    INTERPULSE_ABI
}
