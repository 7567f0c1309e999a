//! Accepted values of a key: default and range.

use interpulse_engine::{Bytes, Current, Duration, EnergyPerBit, Power, Voltage};
use std::ops::RangeInclusive;

/// Default, range and usual value of one key. Made by [`required`], [`default`] or [`optional`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spec<T> {
    pub(crate) default: Option<T>,
    pub(crate) above: Option<T>,
    pub(crate) min: Option<T>,
    pub(crate) max: Option<T>,
    pub(crate) typical: Option<T>,
}

/// A key without a default: leaving it out is an error.
pub const fn required<T>() -> Spec<T> {
    Spec { default: None, above: None, min: None, max: None, typical: None }
}

/// A key that is `value` when left out. A default outside the range is an error as if it had been written.
pub fn default<T>(value: T) -> Spec<T> {
    Spec { default: Some(value), ..required() }
}

/// A key that may be left out, for the `optional_*` readers.
pub const fn optional<T>() -> Spec<T> {
    required()
}

/// A quantity with a zero.
pub trait Zero {
    /// None of it.
    const ZERO: Self;
}

macro_rules! zeros {
    ($($type:ty: $zero:expr),+) => {
        $(impl Zero for $type {
            const ZERO: $type = $zero;
        })+
    };
}

zeros! {
    Duration: Duration(0), Bytes: Bytes(0), Current: Current(0), Voltage: Voltage(0), Power: Power(0),
    EnergyPerBit: EnergyPerBit(0), u64: 0, u32: 0, f64: 0.0
}

impl<T> Spec<T> {
    /// Accepts only values greater than `bound`.
    pub fn above(mut self, bound: T) -> Spec<T> {
        self.above = Some(bound);
        self
    }

    /// Accepts only values of at least `bound`.
    pub fn at_least(mut self, bound: T) -> Spec<T> {
        self.min = Some(bound);
        self
    }

    /// Accepts only values of at most `bound`; lifts the reader's own ceiling, where it has one.
    pub fn at_most(mut self, bound: T) -> Spec<T> {
        self.max = Some(bound);
        self
    }

    /// The message for a missing required key names `value` as typical.
    pub fn typical(mut self, value: T) -> Spec<T> {
        self.typical = Some(value);
        self
    }

    /// Accepts only values in `range`.
    pub fn within(self, range: RangeInclusive<T>) -> Spec<T> {
        let (min, max) = range.into_inner();
        self.at_least(min).at_most(max)
    }
}

impl<T: Zero> Spec<T> {
    /// Accepts only values greater than zero.
    pub fn positive(self) -> Spec<T> {
        self.above(T::ZERO)
    }
}

impl<T: PartialOrd> Spec<T> {
    /// True if `value` is in range.
    pub fn admits(&self, value: &T) -> bool {
        self.above.as_ref().is_none_or(|bound| value > bound)
            && self.min.as_ref().is_none_or(|bound| value >= bound)
            && self.max.as_ref().is_none_or(|bound| value <= bound)
    }

    /// The range in words, starting with a space; empty for no range.
    pub(crate) fn words(&self, show: fn(&T) -> String) -> String {
        match (&self.above, &self.min, &self.max) {
            (None, None, None) => String::new(),
            (None, None, Some(max)) => format!(" of at most {}", show(max)),
            (None, Some(min), None) => format!(" of at least {}", show(min)),
            (None, Some(min), Some(max)) => format!(" from {} to {}", show(min), show(max)),
            (Some(above), _, None) => format!(" greater than {}", show(above)),
            (Some(above), _, Some(max)) => {
                format!(" greater than {} and at most {}", show(above), show(max))
            }
        }
    }
}
