//! Domain error of this crate, and its checks.

use std::fmt;

/// An argument lies outside the domain of a formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfDomain {
    /// Name of the argument.
    pub name: &'static str,
    /// Value of the argument.
    pub value: f64,
    /// Description of the legal values, following "must be".
    pub legal: &'static str,
}

impl fmt::Display for OutOfDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, but must be {}", self.name, self.value, self.legal)
    }
}

impl std::error::Error for OutOfDomain {}

/// Returns `value` if `holds`, which must be false for NaN.
pub(crate) fn require(
    holds: bool,
    name: &'static str,
    value: f64,
    legal: &'static str,
) -> Result<f64, OutOfDomain> {
    if holds { Ok(value) } else { Err(OutOfDomain { name, value, legal }) }
}

/// A number strictly between 0 and 1.
pub(crate) fn fraction(name: &'static str, value: f64) -> Result<f64, OutOfDomain> {
    require(value > 0.0 && value < 1.0, name, value, "strictly between 0 and 1")
}

/// A number between 0 and 1, both included.
pub(crate) fn share(name: &'static str, value: f64) -> Result<f64, OutOfDomain> {
    require((0.0..=1.0).contains(&value), name, value, "between 0 and 1")
}

/// A finite number above 0.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, OutOfDomain> {
    require(value > 0.0 && value.is_finite(), name, value, "finite and above 0")
}

/// A finite number, 0 or above.
pub(crate) fn not_negative(name: &'static str, value: f64) -> Result<f64, OutOfDomain> {
    require(value >= 0.0 && value.is_finite(), name, value, "finite and not negative")
}

/// An integer of at least 1.
pub(crate) fn at_least_one(name: &'static str, value: u32) -> Result<f64, OutOfDomain> {
    require(value >= 1, name, f64::from(value), "at least 1")
}
