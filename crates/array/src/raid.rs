//! RAID arithmetic: levels, layout, parity and write plans.

pub mod layout;
pub mod level;
pub mod parity;
pub mod plan;

/// Iterates over the drives of a set, one bit each, from the lowest.
pub(crate) fn bits(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros())?;
        mask &= mask - 1;
        Some(bit)
    })
}
