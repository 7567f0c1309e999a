//! Built-in twin rows: one line each; `rows.toml` holds the figures and their sources.

use super::spec::TwinRow;
use interpulse_settings::{ConfigError, Document, PresetKind, Resolution};

/// Names of the rows with one line of documentation.
pub const ROWS: &[(&str, &str)] = &[
    ("msr-hm-0", "MSR Cambridge HM_0, hardware monitoring"),
    ("msr-hm-1", "MSR Cambridge HM_1, hardware monitoring"),
    ("msr-prn-0", "MSR Cambridge PRN_0, print server"),
    ("msr-prn-1", "MSR Cambridge PRN_1, print server"),
    ("msr-proj-1", "MSR Cambridge PROJ_1, project directories"),
    ("msr-proj-3", "MSR Cambridge PROJ_3, project directories"),
    ("msr-proj-4", "MSR Cambridge PROJ_4, project directories"),
    ("msr-prxy-0", "MSR Cambridge PRXY_0, web proxy"),
    ("msr-rsrch-0", "MSR Cambridge RSRCH, research projects"),
    ("msr-src1-2", "MSR Cambridge SRC1_2, source control"),
    ("msr-src2-0", "MSR Cambridge SRC2_0, source control"),
    ("msr-src2-2", "MSR Cambridge SRC2_2, source control"),
    ("msr-stg-0", "MSR Cambridge STG_0, web staging"),
    ("msr-usr-0", "MSR Cambridge USR_0, user directories; only Table 5 of Gao et al., MICRO'19, is known"),
    ("msr-wdev-0", "MSR Cambridge WDEV_0, test web server; only Table 5 of Gao et al., MICRO'19, is known"),
    ("financial-1", "SPC Financial1, OLTP (Wu & He, FAST'12: F1); partly assumed"),
    ("financial-2", "SPC Financial2, OLTP (Wu & He, FAST'12: F2); mostly assumed"),
    ("cello-3", "HP Cello99 disk 3 (Wu & He, FAST'12: C3); partly assumed"),
    ("cello-8", "HP Cello99 disk 8 (Wu & He, FAST'12: C8); partly assumed"),
    ("dap", "Microsoft DAP production server (Wu & He, FAST'12); nothing is printed, all assumed"),
    ("msn", "Microsoft MSN file server (Wu & He, FAST'12); measured on a public sample of one disk"),
];

const TEXT: &str = include_str!("rows.toml");

/// Row with this `name`, for `requests` requests if given.
///
/// Errors: unknown row, or an error of [`TwinRow::read`].
pub fn row(name: &str, requests: Option<u64>) -> Result<TwinRow, ConfigError> {
    Ok(described(name, requests)?.0)
}

/// Row with its values, sources and documentation.
pub fn described(name: &str, requests: Option<u64>) -> Result<(TwinRow, Resolution), ConfigError> {
    ConfigError::named("twin", name, ROWS.iter().copied())?;
    let document = document(name)?;
    let row = TwinRow::read(&mut document.section(name)?, name, requests)?;
    Ok((row, document.resolution()))
}

fn document(name: &str) -> Result<Document, ConfigError> {
    Document::preset(TEXT, PresetKind::Twin, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_listed_and_every_figure_has_a_source() {
        let document = document("all").unwrap();
        assert_eq!(document.uncited(), Vec::<String>::new());
        let sections: BTreeSet<String> =
            document.leaves().iter().map(|leaf| leaf.split('.').next().unwrap_or("").to_string()).collect();
        let listed: BTreeSet<String> = ROWS.iter().map(|&(name, _)| name.to_string()).collect();
        assert_eq!(sections, listed);
        for (name, _) in ROWS {
            row(name, None).unwrap();
        }
    }
}
