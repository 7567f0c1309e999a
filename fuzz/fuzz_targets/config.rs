//! Fuzz target: configuration documents.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    interpulse_settings::fuzz_config(bytes);
});
