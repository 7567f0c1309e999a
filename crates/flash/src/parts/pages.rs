//! Page types of a word line.

use interpulse_settings::{ConfigError, Section};

/// Most bits of a cell.
pub const MAX_BITS: u32 = 5;

/// The page types of a word line of cells of `bits` bits, least significant first.
pub fn page_types(bits: u32) -> &'static [&'static str] {
    match bits {
        1 => &["lsb"],
        2 => &["lsb", "msb"],
        3 => &["lsb", "csb", "msb"],
        4 => &["lsb", "csb", "msb", "top"],
        _ => &["lsb", "csb", "msb", "top", "fifth"],
    }
}

/// Reads a key that exists only for cells with a page of type `page`.
pub(super) fn read_for_page<T>(
    s: &mut Section,
    bits: u32,
    page: &str,
    read: impl Fn(&mut Section) -> Result<T, ConfigError>,
) -> Result<Option<T>, ConfigError> {
    if page_types(1).contains(&page) {
        return read(s).map(Some);
    }
    let cells = (1..=MAX_BITS).filter(|&bits| page_types(bits).contains(&page)).map(|bits| bits.to_string());
    let belongs = format!("bits-per-cell = {}", cells.collect::<Vec<_>>().join(" or "));
    s.when(page_types(bits).contains(&page), &belongs, read)
}
