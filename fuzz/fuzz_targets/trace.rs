//! Fuzz target: trace readers.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    interpulse_workload::fuzz_trace(bytes);
});
