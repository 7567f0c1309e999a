#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    interpulse_drive::config::fuzz_plan(bytes);
});
