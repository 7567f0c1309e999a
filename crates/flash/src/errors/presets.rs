//! Error tables that are built in.

use super::table::ErrorTable;

/// The name of the table without errors.
pub const IDEAL: &str = "ideal";

/// Name, one line of documentation and text of every built-in table but [`IDEAL`].
const TEXTS: &[(&str, &str, &str)] = &[
    (
        "cai-tlc",
        "planar TLC by the state table of Cai et al., Proc. IEEE 2017: 0 and 2000 cycles, 1 day to 1 year",
        include_str!("presets/cai-tlc.toml"),
    ),
    (
        "tlc-3d",
        "3D TLC that exceeds its ECC within days: trigger ages of RiF, HPCA'24; 0 to 2000 cycles, 1 hour to 1 year",
        include_str!("presets/tlc-3d.toml"),
    ),
];

/// Name and one line of documentation of every built-in table.
pub const PRESETS: &[(&str, &str)] = &[
    (IDEAL, "no bit errors: every read succeeds at once"),
    (TEXTS[0].0, TEXTS[0].1),
    (TEXTS[1].0, TEXTS[1].1),
];

/// The built-in table called `name`; none for [`IDEAL`], which is no table, and for unknown names.
pub fn table(name: &str) -> Option<ErrorTable> {
    let (_, _, text) = TEXTS.iter().find(|(n, _, _)| *n == name)?;
    Some(ErrorTable::from_toml(text, name).unwrap_or_else(|e| panic!("the built-in table {name}: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::Conditions;

    #[test]
    fn every_name_but_ideal_has_a_table() {
        for (name, _) in PRESETS {
            assert_eq!(table(name).is_some(), *name != IDEAL, "{name}");
        }
        assert!(table("cai").is_none());
    }

    /// Rates of Cai's state table over the page types: default offsets of the first day, and optimal ones.
    #[test]
    fn cai_by_the_rates_of_its_states() {
        let t = table("cai-tlc").unwrap();
        let mean = |hours, attempt| {
            (0..3)
                .map(|p| {
                    t.rber(&Conditions {
                        cycles: 2000.0,
                        hours,
                        reprograms: 0.0,
                        layer: 0.5,
                        page_type: p,
                        attempt,
                    })
                })
                .sum::<f64>()
                / 3.0
        };
        let frozen =
            [(24.0, 3.86e-4), (168.0, 1.09e-3), (720.0, 1.75e-3), (2160.0, 3.28e-3), (8760.0, 6.18e-3)];
        let optimal =
            [(24.0, 3.86e-4), (168.0, 9.9e-4), (720.0, 1.49e-3), (2160.0, 2.42e-3), (8760.0, 3.77e-3)];
        for (attempt, rows) in [(0, frozen), (3, optimal)] {
            for (hours, rate) in rows {
                assert!(
                    (mean(hours, attempt) / rate - 1.0).abs() < 0.005,
                    "{hours} h: {}",
                    mean(hours, attempt)
                );
            }
        }
    }

    /// The ages after which 80 bits in 1 KiB no longer suffice on average.
    #[test]
    fn three_dimensional_cells_exceed_their_ecc_when_published() {
        let t = table("tlc-3d").unwrap();
        for (cycles, days) in [(0.0, 17.0), (200.0, 14.0), (500.0, 10.0)] {
            let bits = 8192.0
                * t.rber(&Conditions {
                    cycles,
                    hours: 24.0 * days,
                    reprograms: 0.0,
                    layer: 0.5,
                    page_type: 1,
                    attempt: 0,
                });
            assert!((bits - 80.0).abs() < 0.1, "{cycles} cycles: {bits} bits after {days} days");
        }
    }
}
