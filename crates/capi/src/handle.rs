//! Handle of a device: guard against panics and against two threads at once, and the message of the last error.

use crate::codes::{
    INTERPULSE_ERROR_ARGUMENT, INTERPULSE_ERROR_BUG, INTERPULSE_ERROR_BUSY, INTERPULSE_OK, code_of,
};
use crate::text::c_text;
use interpulse_embed::{Device, Error, message_of_panic};
use std::cell::{RefCell, UnsafeCell};
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// A device. One thread at a time may call functions with it; it may move between threads.
pub struct interpulse_device {
    in_use: AtomicBool,
    state: UnsafeCell<State>,
}

struct State {
    device: Device,
    /// The message of the last error.
    message: CString,
    /// A bug has left the device in an unknown state.
    poisoned: bool,
}

/// A code with its message.
pub struct Failure {
    code: i32,
    message: String,
}

impl Failure {
    /// A wrong argument.
    pub fn argument(message: impl Into<String>) -> Failure {
        Failure { code: INTERPULSE_ERROR_ARGUMENT, message: message.into() }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::argument(message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { code: code_of(&error), message: error.to_string() }
    }
}

thread_local! {
    /// Message of the last error of this thread that belongs to no device.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Keeps a message for this thread.
fn without_device(failure: &Failure) -> i32 {
    MESSAGE.with_borrow_mut(|message| *message = c_text(&failure.message));
    failure.code
}

/// Runs `body`, which needs no device; a panic becomes an error.
pub fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> i32 {
    let outcome = catch_unwind(AssertUnwindSafe(body));
    match outcome.unwrap_or_else(|panic| Err(message_of_panic(panic.as_ref()).into())) {
        Ok(()) => INTERPULSE_OK,
        Err(failure) => without_device(&failure),
    }
}

/// Runs `body` with the device of a handle. A panic or a bug makes the device useless.
///
/// # Safety
/// `handle` is NULL or of [`new_handle`] and not destroyed.
#[inline]
pub unsafe fn with(
    handle: *mut interpulse_device,
    body: impl FnOnce(&mut Device) -> Result<(), Failure>,
) -> i32 {
    // SAFETY: as the caller promises.
    let Some(handle) = (unsafe { handle.as_ref() }) else {
        return without_device(&Failure::argument("device is NULL"));
    };
    if handle.in_use.swap(true, Ordering::Acquire) {
        let message = "another thread is inside a call with this device".to_string();
        return without_device(&Failure { code: INTERPULSE_ERROR_BUSY, message });
    }
    // SAFETY: `in_use` admits one caller.
    let state = unsafe { &mut *handle.state.get() };
    let code = run(state, body);
    handle.in_use.store(false, Ordering::Release);
    code
}

#[inline]
fn run(state: &mut State, body: impl FnOnce(&mut Device) -> Result<(), Failure>) -> i32 {
    if state.poisoned {
        return INTERPULSE_ERROR_BUG;
    }
    match catch_unwind(AssertUnwindSafe(|| body(&mut state.device))) {
        Ok(Ok(())) => INTERPULSE_OK,
        Ok(Err(failure)) => fail(state, failure, false),
        Err(panic) => fail(state, message_of_panic(panic.as_ref()).into(), true),
    }
}

#[cold]
fn fail(state: &mut State, failure: Failure, panicked: bool) -> i32 {
    // A panic leaves the device in an unknown state, whatever its reason.
    state.poisoned = panicked || failure.code == INTERPULSE_ERROR_BUG;
    state.message = c_text(&failure.message);
    if state.poisoned { INTERPULSE_ERROR_BUG } else { failure.code }
}

/// A handle of `device`.
pub fn new_handle(device: Device) -> *mut interpulse_device {
    let state = State { device, message: CString::default(), poisoned: false };
    let handle = interpulse_device { in_use: AtomicBool::new(false), state: UnsafeCell::new(state) };
    Box::into_raw(Box::new(handle))
}

/// Destroys a handle; false if another thread uses it.
///
/// # Safety
/// As of [`with`].
pub unsafe fn destroy(handle: *mut interpulse_device) -> bool {
    // SAFETY: as the caller promises.
    let Some(shared) = (unsafe { handle.as_ref() }) else { return true };
    if shared.in_use.swap(true, Ordering::Acquire) {
        return false;
    }
    // SAFETY: the handle is of `new_handle`, and no other thread uses it.
    let handle = unsafe { Box::from_raw(handle) };
    drop(catch_unwind(AssertUnwindSafe(|| drop(handle))));
    true
}

/// Message of the last error of a device, or of this thread for NULL.
///
/// # Safety
/// As of [`with`].
pub unsafe fn message_of(handle: *const interpulse_device) -> *const c_char {
    // SAFETY: as the caller promises.
    let Some(handle) = (unsafe { handle.as_ref() }) else {
        return MESSAGE.with_borrow(|message| message.as_ptr());
    };
    if handle.in_use.load(Ordering::Acquire) {
        return BUSY.as_ptr();
    }
    // SAFETY: no other thread is inside a call.
    unsafe { (*handle.state.get()).message.as_ptr() }
}

const BUSY: &CStr = c"another thread is inside a call with this device";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::INTERPULSE_ERROR_REQUEST;
    use interpulse_embed::{Options, Request, SimTime};

    fn handle() -> *mut interpulse_device {
        let options = Options::new("drive = \"a4-mini\"\npart.blocks-per-plane = 24");
        new_handle(Device::create(&options).expect("a legal configuration"))
    }

    fn message(of: *const interpulse_device) -> String {
        // SAFETY: the handle is one of ours.
        unsafe { CStr::from_ptr(message_of(of)) }.to_string_lossy().into_owned()
    }

    #[test]
    fn a_panic_stays_inside_and_poisons_the_device() {
        let of = handle();
        // SAFETY: the handle is one of ours.
        unsafe {
            let illegal = with(of, |device| {
                device.submit(SimTime(0), &Request::read(1, 1))?;
                Ok(())
            });
            assert_eq!(illegal, INTERPULSE_ERROR_REQUEST);
            assert_eq!(with(of, |_| Ok(())), INTERPULSE_OK);
            assert_eq!(with(of, |_| panic!("by a test")), INTERPULSE_ERROR_BUG);
            assert_eq!(message(of), "the simulator stopped on a bug: by a test");
            assert_eq!(with(of, |_| panic!("is not called")), INTERPULSE_ERROR_BUG);
            assert_eq!(message(of), "the simulator stopped on a bug: by a test");
            assert!(destroy(of));
        }
        assert_eq!(guarded(|| panic!("without a device")), INTERPULSE_ERROR_BUG);
        assert_eq!(message(std::ptr::null()), "the simulator stopped on a bug: without a device");
    }

    #[test]
    fn two_threads_at_once_are_refused() {
        let of = handle();
        // SAFETY: the handle is one of ours.
        unsafe {
            let inside = with(of, |_| {
                assert_eq!(with(of, |_| Ok(())), INTERPULSE_ERROR_BUSY);
                assert_eq!(message(of), message(std::ptr::null()));
                assert!(!destroy(of));
                Ok(())
            });
            assert_eq!(inside, INTERPULSE_OK);
            assert!(destroy(of) && destroy(std::ptr::null_mut()));
        }
    }
}
