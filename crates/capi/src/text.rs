//! Texts across the border.

use std::ffi::{CStr, CString, c_char};

/// The text at `from`; `None` for NULL.
///
/// # Safety
/// `from` is NULL or the address of a text that ends with a zero byte.
pub unsafe fn text_at<'a>(from: *const c_char, name: &str) -> Result<Option<&'a str>, String> {
    if from.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(from) }.to_str();
    text.map(Some).map_err(|error| format!("{name} is not UTF-8: {error}"))
}

/// A message without its zero bytes.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Copies `text` with a final zero byte to `buffer` of `size` bytes, cut if it is longer, and stores its length in `length`.
///
/// # Safety
/// `buffer` is NULL or of `size` bytes, `length` NULL or a number.
pub unsafe fn copy_text(text: &str, buffer: *mut c_char, size: usize, length: *mut usize) {
    if !length.is_null() {
        // SAFETY: as the caller promises.
        unsafe { *length = text.len() };
    }
    if buffer.is_null() || size == 0 {
        return;
    }
    let count = text.len().min(size - 1);
    // SAFETY: as the caller promises, and the text is no part of the buffer.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, count);
        *buffer.add(count) = 0;
    }
}
