//! What a pulse and a verify do to an array of cells: the two loops in which the model spends its time.
//!
//! Both are written so that the compiler turns them into vector code, compiled twice, and chosen when the program runs.
//! Rust neither reorders nor fuses floating-point operations, so both give the same bits.

mod noise;
mod program;
mod verify;

pub use noise::{even, hash, irwin_hall};
pub use program::{INHIBITED, Pulse, pulse};
pub use verify::verify;

/// Compiles the body once as it is and once with AVX2, and calls what the machine has.
macro_rules! vectorised {
    ($(#[$doc:meta])* pub fn $name:ident($($arg:ident: $type:ty),+ $(,)?) $(-> $ret:ty)? => $body:ident) => {
        $(#[$doc])*
        pub fn $name($($arg: $type),+) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn with_avx2($($arg: $type),+) $(-> $ret)? {
                    $body($($arg),+)
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has the feature that the function was compiled for.
                    return unsafe { with_avx2($($arg),+) };
                }
            }
            $body($($arg),+)
        }
    };
}
use vectorised;
