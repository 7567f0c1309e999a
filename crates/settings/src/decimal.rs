//! Exact decimal numbers with a unit: no float between the text and the integer.

/// A non-negative decimal number: `digits / 10^places`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decimal {
    digits: u128,
    places: u32,
}

/// Why a text is not a number with a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BadDecimal {
    /// No number in front.
    NoNumber,
    /// A minus sign.
    Negative,
    /// More digits than any quantity needs.
    TooLong,
}

impl Decimal {
    /// Splits `3.5ms` into 3.5 and `ms`; one space between them is allowed.
    pub fn split(text: &str) -> Result<(Decimal, &str), BadDecimal> {
        let text = text.trim();
        if text.starts_with('-') {
            return Err(BadDecimal::Negative);
        }
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
            return Err(BadDecimal::NoNumber);
        }
        let fraction = fraction.trim_end_matches('0');
        let all = format!("{whole}{fraction}");
        let digits = match all.trim_start_matches('0') {
            "" => 0,
            significant => significant.parse().map_err(|_| BadDecimal::TooLong)?,
        };
        let places = u32::try_from(fraction.len()).map_err(|_| BadDecimal::TooLong)?;
        Ok((Decimal { digits, places }, unit.strip_prefix(' ').unwrap_or(unit)))
    }

    /// This number of units of `scale` base units each, if that is a whole number of base units; `None` also
    /// where it needs more than 128 bits.
    pub fn whole(self, scale: u64) -> Option<u128> {
        let product = self.digits.checked_mul(u128::from(scale))?;
        if product == 0 {
            return Some(0);
        }
        let divisor = 10u128.checked_pow(self.places)?;
        product.is_multiple_of(divisor).then(|| product / divisor)
    }

    /// The float nearest to this number of units of `10^power` base units each.
    pub fn nearest(self, power: i64) -> f64 {
        format!("{}e{}", self.digits, power - i64::from(self.places)).parse().unwrap_or(f64::INFINITY)
    }
}

/// `base / scale` as the shortest exact decimal, for a `scale` that is a power of ten.
pub(crate) fn divided(base: u64, scale: u64) -> String {
    let (whole, rest) = (base / scale, base % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = format!("{rest:0width$}", width = scale.ilog10() as usize);
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact() {
        let read = |text| Decimal::split(text).map(|(number, unit)| (number.whole(1_000_000), unit));
        assert_eq!(read("3.5ms"), Ok((Some(3_500_000), "ms")));
        assert_eq!(read("003.5000 ms"), Ok((Some(3_500_000), "ms")));
        assert_eq!(read("0.0000005x"), Ok((None, "x")));
        assert_eq!(read("0us"), Ok((Some(0), "us")));
        assert_eq!(read("-1us"), Err(BadDecimal::Negative));
        for text in ["", "us", ".5us", "5.us", "1.2.3us", "+1us"] {
            assert_eq!(read(text), Err(BadDecimal::NoNumber), "{text}");
        }
        assert_eq!(read(&"9".repeat(60)), Err(BadDecimal::TooLong));
    }

    #[test]
    fn floats_are_the_nearest() {
        assert_eq!(Decimal::split("30%").unwrap().0.nearest(-2), 0.3);
        assert_eq!(Decimal::split("200.1k").unwrap().0.nearest(3), 200_100.0);
    }
}
