//! RAID-5 and RAID-6 parity over 64-bit values that represent pages: P is the XOR of the data, Q the XOR of the data with
//! the `i`-th value multiplied by `2^i`, byte by byte in GF(2^8). P and Q recover any two missing values of a row, P alone
//! any one.
//!
//! The field is that of md's RAID-6, with the polynomial x^8 + x^4 + x^3 + x^2 + 1. Values are not page contents, but a
//! wrong value corrupts every value computed from it in the same way.

/// Multiplies eight bytes by 2.
fn doubled(value: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let carries = (value & HIGH) >> 7;
    ((value & !HIGH) << 1) ^ (carries * 0x1d)
}

/// Multiplies eight bytes by `factor`.
fn times(value: u64, factor: u8) -> u64 {
    (0..8).rev().fold(0, |sum, bit| doubled(sum) ^ if factor >> bit & 1 == 1 { value } else { 0 })
}

/// `2^i`.
fn power(i: u32) -> u8 {
    (0..i).fold(1, |value, _| doubled(value)) as u8
}

/// `1 / factor` for a nonzero factor: its 254th power, since its 255th is one.
fn inverse(factor: u8) -> u8 {
    (0..253).fold(factor, |product, _| times(u64::from(product), factor) as u8)
}

/// Change of Q when the `i`-th data value changes by `difference`.
pub fn weighted(i: u32, difference: u64) -> u64 {
    times(difference, power(i))
}

/// P and Q of the data of a row.
pub fn of(data: impl Iterator<Item = u64>) -> (u64, u64) {
    (0..).zip(data).fold((0, 0), |(p, q), (i, value)| (p ^ value, q ^ weighted(i, value)))
}

/// Recovers the `missing` values (bit mask) in place: data in order, then P, then Q if `both`. At most as many may be
/// missing as there are parities.
pub fn recover(values: &mut [u64], both: bool, missing: u32) {
    let parities = 1 + usize::from(both);
    debug_assert!(missing.count_ones() as usize <= parities);
    let (data, parity) = values.split_at_mut(values.len() - parities);
    let is_missing = |i: usize| missing >> i & 1 == 1;
    let lost: Vec<usize> = (0..data.len()).filter(|&i| is_missing(i)).collect();
    lost.iter().for_each(|&i| data[i] = 0);
    let (p, q) = of(data.iter().copied());
    match lost[..] {
        [] => {}
        [x] if !is_missing(data.len()) => data[x] = parity[0] ^ p,
        [x] => data[x] = times(parity[1] ^ q, inverse(power(x as u32))),
        [x, y] => {
            // P gives x + y, Q gives gx x + gy y.
            let (gx, gy) = (power(x as u32), power(y as u32));
            let sum = parity[0] ^ p;
            data[x] = times(parity[1] ^ q ^ times(sum, gy), inverse(gx ^ gy));
            data[y] = sum ^ data[x];
        }
        _ => unreachable!("there are at most two parities"),
    }
    let (p, q) = of(data.iter().copied());
    for (k, right) in [p, q].into_iter().enumerate().take(parities) {
        if is_missing(data.len() + k) {
            parity[k] = right;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::random::mix;

    #[test]
    fn the_field_is_a_field() {
        let mut seen = [false; 256];
        for i in 0..255 {
            assert!(!std::mem::replace(&mut seen[power(i) as usize], true), "2 generates all but zero");
        }
        for factor in 1..=255u8 {
            assert_eq!(times(u64::from(inverse(factor)), factor), 1);
            assert_eq!(times(times(0x0123_4567_89ab_cdef, factor), inverse(factor)), 0x0123_4567_89ab_cdef);
        }
        // 0x80 * 2 = 0x1d as in md's tables; no carry crosses a byte.
        assert_eq!(doubled(0x8001_8000_0000_00ff), 0x1d02_1d00_0000_00e3);
    }

    #[test]
    fn any_two_are_recovered() {
        for data in 2..=30u64 {
            let mut values: Vec<u64> = (0..data).map(mix).collect();
            let (p, q) = of(values.clone().into_iter());
            values.extend([p, q]);
            for x in 0..values.len() {
                for y in x..values.len() {
                    let mut damaged = values.clone();
                    (damaged[x], damaged[y]) = (mix(77), mix(78));
                    recover(&mut damaged, true, 1 << x | 1 << y);
                    assert_eq!(damaged, values, "{x} and {y} of {data}");
                }
            }
            values.pop();
            for x in 0..values.len() {
                let mut damaged = values.clone();
                damaged[x] = mix(77);
                recover(&mut damaged, false, 1 << x);
                assert_eq!(damaged, values, "{x} of {data} and P");
            }
        }
    }

    #[test]
    fn a_wrong_value_corrupts_recovered_values() {
        let mut values: Vec<u64> = (0..6).map(mix).collect();
        let (p, q) = of(values.clone().into_iter());
        values.extend([p, q]);
        let right = values.clone();
        values[2] ^= 1;
        recover(&mut values, true, 0b1001);
        assert!(values[0] != right[0] && values[3] != right[3]);
    }
}
