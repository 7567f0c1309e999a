//! Wear before a run: mean and dispersion of the erases of super blocks.

/// Erases of super blocks before a run; the erases of preconditioning do not count besides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearBefore {
    /// Mean erases of the places of super blocks, those of replaced blocks included.
    pub cycles: u32,
    /// Variance of the erases divided by their mean.
    pub dispersion: f64,
}

impl WearBefore {
    /// Erases of a place with the normal variate `normal` when the mean is `mean`.
    pub(crate) fn erases(&self, mean: f64, normal: f64) -> f64 {
        (mean + normal * libm::sqrt(self.dispersion * mean)).max(0.0)
    }

    /// The mean at which a place with the normal variate `normal` has had `erases`: the inverse of [`WearBefore::erases`].
    pub(crate) fn mean_at(&self, erases: f64, normal: f64) -> f64 {
        let linear = normal * libm::sqrt(self.dispersion);
        let root = (libm::sqrt(linear * linear + 4.0 * erases) - linear) / 2.0;
        root * root
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_follows_from_the_erases_of_a_place() {
        let wear = WearBefore { cycles: 0, dispersion: 0.6 };
        for mean in [10.0, 900.0, 40_000.0] {
            for normal in [-2.0, -0.3, 0.0, 1.7] {
                let back = wear.mean_at(wear.erases(mean, normal), normal);
                assert!((back / mean - 1.0).abs() < 1e-9, "{mean} {normal}: {back}");
            }
        }
        assert_eq!(WearBefore { cycles: 0, dispersion: 0.0 }.mean_at(70.0, 3.0), 70.0);
    }
}
