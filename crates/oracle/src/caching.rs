//! Hit rates of caches under independent references.

use crate::domain::{OutOfDomain, require};
use crate::numeric;

/// The hit rate of an LRU cache of `size` objects that are referenced independently with these `popularities`, in Che's
/// approximation (H. Che, Y. Tung and Z. Wang, IEEE JSAC 2002): an object is cached if it was referenced within the
/// characteristic time `t`, with `sum (1 - exp(-p t)) = size`.
///
/// Popularities need not be normalised. The error vanishes for large caches (C. Fricker, P. Robert and J. Roberts, ITC 2012).
///
/// # Errors
/// [`OutOfDomain`] unless every popularity is positive and finite and `0 < size < popularities.len()`.
pub fn lru_hit_rate(popularities: &[f64], size: f64) -> Result<f64, OutOfDomain> {
    for &p in popularities {
        require(p > 0.0 && p.is_finite(), "popularity", p, "positive and finite")?;
    }
    let objects = popularities.len() as f64;
    require(size > 0.0 && size < objects, "size", size, "above 0 and below the number of objects")?;
    let total: f64 = popularities.iter().sum();
    let cached = |p: f64, t: f64| -libm::expm1(-p / total * t);
    let held = |t: f64| popularities.iter().map(|&p| cached(p, t)).sum::<f64>();
    let mut high = objects;
    while held(high) < size {
        high *= 2.0;
    }
    let t = numeric::increasing(0.0, high, |t| held(t) - size);
    Ok(popularities.iter().map(|&p| p / total * cached(p, t)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_references_hit_by_the_share_that_is_cached() {
        let hit = lru_hit_rate(&[2.0; 400], 100.0).unwrap();
        assert!((hit - 0.25).abs() < 1e-12, "{hit}");
    }

    #[test]
    fn two_classes_hit_as_worked_by_hand() {
        // With e^(-pt) = x for the cold and x^3 for the hot objects, x + x^3 = 1.2 for a size of 4 of 5 + 5 objects,
        // whose solution is x = 0.759862 (bisection); the hit rate is 1 - (x + 3 x^3) / 4.
        let hit = lru_hit_rate(&[1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0], 4.0).unwrap();
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let x = 0.5 * (low + high);
            if x + x * x * x < 1.2 { low = x } else { high = x }
        }
        assert!((hit - (1.0 - (low + 3.0 * low * low * low) / 4.0)).abs() < 1e-9, "{hit}");
    }

    #[test]
    fn arguments_outside_the_domain_are_errors() {
        assert!(lru_hit_rate(&[1.0, 0.0], 1.0).is_err());
        assert!(lru_hit_rate(&[1.0, 1.0], 2.0).is_err());
        assert!(lru_hit_rate(&[], 1.0).is_err());
    }
}
