//! Built-in error tables.

use super::table::ErrorTable;

/// Name of the error-free table.
pub const IDEAL: &str = "ideal";

/// Name, documentation and text of every built-in table except [`IDEAL`].
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

/// Name and documentation of every built-in table.
pub const PRESETS: &[(&str, &str)] = &[
    (IDEAL, "no bit errors: every read succeeds at once"),
    (TEXTS[0].0, TEXTS[0].1),
    (TEXTS[1].0, TEXTS[1].1),
];

/// The built-in table `name`; `None` for [`IDEAL`], which has no table, and for unknown names.
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

    /// Mean rates of Cai's state table over the page types, with the default offsets of the first day and with optimal ones.
    #[test]
    fn cai_tlc_matches_the_rates_of_its_states() {
        let t = table("cai-tlc").unwrap();
        let mean = |hours, attempt| {
            let at = Conditions { cycles: 2000.0, hours, reprograms: 0.0, layer: 0.5, page_type: 0, attempt };
            (0..3).map(|page_type| t.rber(&Conditions { page_type, ..at })).sum::<f64>() / 3.0
        };
        let frozen =
            [(24.0, 3.86e-4), (168.0, 1.09e-3), (720.0, 1.75e-3), (2160.0, 3.28e-3), (8760.0, 6.18e-3)];
        let optimal =
            [(24.0, 3.86e-4), (168.0, 9.9e-4), (720.0, 1.49e-3), (2160.0, 2.42e-3), (8760.0, 3.77e-3)];
        for (attempt, rows) in [(0, frozen), (3, optimal)] {
            for (hours, rate) in rows {
                let ours = mean(hours, attempt);
                assert!((ours / rate - 1.0).abs() < 0.005, "{hours} h: {ours}");
            }
        }
    }

    /// Ages at which the mean error count reaches 80 bits in 1 KiB.
    #[test]
    fn tlc_3d_reaches_the_ecc_capability_at_the_published_ages() {
        let t = table("tlc-3d").unwrap();
        for (cycles, days) in [(0.0, 17.0), (200.0, 14.0), (500.0, 10.0)] {
            let hours = 24.0 * days;
            let at = Conditions { cycles, hours, reprograms: 0.0, layer: 0.5, page_type: 1, attempt: 0 };
            let bits = 8192.0 * t.rber(&at);
            assert!((bits - 80.0).abs() < 0.1, "{cycles} cycles: {bits} bits after {days} days");
        }
    }
}
