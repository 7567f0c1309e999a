//! CPU time of the C interface beside the Rust interface: the same requests through both, alternately, least of nine rounds.
//!
//!     cargo run --release -p interpulse-capi --example overhead

use interpulse::{
    INTERPULSE_NONE, INTERPULSE_OK, interpulse_advance_to_completion, interpulse_completion,
    interpulse_create, interpulse_destroy, interpulse_device, interpulse_now, interpulse_options,
    interpulse_poll, interpulse_request, interpulse_submit,
};
use interpulse_embed::{CAUSES, Device, Options, Request};
use std::fs;
use std::hint::black_box;

const CONFIG: &std::ffi::CStr = c"drive = \"a4-mini\"\npart.blocks-per-plane = 24\n";
const REQUESTS: u64 = 50_000;
const DEPTH: usize = 64;
const ROUNDS: usize = 9;

/// CPU time of this thread in ns.
fn cpu_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("a number")
}

/// Offset of the k-th read.
fn offset(k: u64) -> u64 {
    4096 * (k * 2_654_435_761 % 50_000)
}

fn rust_device() -> Device {
    Device::create(&Options::new(CONFIG.to_str().expect("a text"))).expect("a legal configuration")
}

/// Reads in batches through the Rust interface; a batch of one is a request at a time.
fn rust(batch: usize) -> u64 {
    let mut device = rust_device();
    let (mut done, mut k) = (Vec::with_capacity(batch), 0);
    let before = cpu_ns();
    while k < REQUESTS {
        let now = device.now();
        match batch {
            1 => drop(device.submit(now, &Request::read(offset(k), 4096)).expect("it is legal")),
            _ => {
                let request = |j| Ok((now, Request::read(offset(k + j as u64), 4096)));
                device.submit_batch(batch, request).expect("they are legal");
            }
        }
        let mut left = batch;
        while left > 0 {
            device.advance_to_completion(None).expect("it advances");
            done.clear();
            left -= device.poll(batch, |_, of| done.push(*of));
            black_box(&done);
        }
        k += batch as u64;
    }
    cpu_ns() - before
}

fn c_device() -> *mut interpulse_device {
    let mut device = std::ptr::null_mut();
    // SAFETY: null pointers and zeros are what the interface expects of options that are not used.
    let mut options: interpulse_options = unsafe { std::mem::zeroed() };
    options.size = size_of::<interpulse_options>();
    options.config = CONFIG.as_ptr();
    // SAFETY: the pointers are valid.
    assert_eq!(unsafe { interpulse_create(&raw const options, &raw mut device) }, INTERPULSE_OK);
    device
}

/// The same through the C interface, with the causes of each.
fn c(batch: usize) -> u64 {
    let device = c_device();
    let mut requests = vec![interpulse_request::default(); batch];
    let mut done = vec![interpulse_completion::default(); batch];
    let mut causes = vec![0u64; batch * CAUSES];
    let mut k = 0;
    let before = cpu_ns();
    while k < REQUESTS {
        let (mut now, mut left) = (0, batch);
        // SAFETY: the pointers are valid.
        unsafe {
            interpulse_now(device, &raw mut now);
            for (j, request) in requests.iter_mut().enumerate() {
                *request =
                    interpulse_request { at_ns: now, offset: offset(k + j as u64), bytes: 4096, ..*request };
            }
            assert_eq!(
                interpulse_submit(device, requests.as_ptr(), batch, std::ptr::null_mut()),
                INTERPULSE_OK
            );
            while left > 0 {
                let mut count = 0;
                interpulse_advance_to_completion(device, INTERPULSE_NONE, std::ptr::null_mut());
                interpulse_poll(device, done.as_mut_ptr(), batch, causes.as_mut_ptr(), &raw mut count);
                left -= count;
                black_box((&done, &causes));
            }
        }
        k += batch as u64;
    }
    let spent = cpu_ns() - before;
    // SAFETY: the device is not destroyed yet.
    unsafe { interpulse_destroy(device) };
    spent
}

fn main() {
    for batch in [1, DEPTH] {
        let (mut least_rust, mut least_c) = (u64::MAX, u64::MAX);
        for _ in 0..ROUNDS {
            least_rust = least_rust.min(rust(batch));
            least_c = least_c.min(c(batch));
        }
        let each = |ns: u64| ns as f64 / REQUESTS as f64;
        println!(
            "batches of {batch}: Rust {:.0} ns a request, C {:.0}, difference {:.1}",
            each(least_rust),
            each(least_c),
            each(least_c) - each(least_rust)
        );
    }
    let device = c_device();
    let (calls, mut now) = (2_000_000, 0);
    let before = cpu_ns();
    for _ in 0..calls {
        // SAFETY: the pointers are valid.
        unsafe { interpulse_now(black_box(device), &raw mut now) };
        black_box(now);
    }
    println!("interpulse_now: {:.1} ns a call", (cpu_ns() - before) as f64 / f64::from(calls));
    // SAFETY: the device is not destroyed yet.
    unsafe { interpulse_destroy(device) };
}
