//! Fuzz target: sweep plans.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    interpulse_study::config::fuzz_plan(bytes);
});
