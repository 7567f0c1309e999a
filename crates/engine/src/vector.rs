//! Runtime dispatch of vectorised loops.

/// Compiles a function twice, plain and with AVX2, and calls the version that the processor supports. The body is an
/// `inline(always)` function. Rust neither reorders nor fuses floating-point operations, so both give the same bits.
#[macro_export]
macro_rules! vectorised {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),+ $(,)?) $(-> $ret:ty)? => $body:ident) => {
        $(#[$doc])*
        $vis fn $name($($arg: $type),+) $(-> $ret)? {
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
