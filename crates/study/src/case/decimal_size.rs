//! Sizes in decimal units, as notes print them.

use interpulse_engine::{Bytes, SECTOR};

/// Size of `sectors` in decimal units.
pub fn decimal_size(sectors: u64) -> String {
    decimal_bytes(Bytes(sectors * SECTOR.get()))
}

/// Size in decimal units.
pub fn decimal_bytes(size: Bytes) -> String {
    let bytes = size.get() as f64;
    let unit = if bytes >= 1e12 {
        (1e12, "TB")
    } else if bytes >= 1e9 {
        (1e9, "GB")
    } else {
        (1e6, "MB")
    };
    format!("{:.2} {}", bytes / unit.0, unit.1)
}
