//! Scheduled faults: the tables `[[fault]]`.

use interpulse_drive::spec::Fault;
use interpulse_flash::geometry::Geometry;
use interpulse_settings::{ConfigError, Document};

/// Most scheduled faults of a case.
const MOST: usize = 256;

/// Reads the faults of drives of this `geometry`.
pub(super) fn read(document: &Document, geometry: &Geometry) -> Result<Vec<Fault>, ConfigError> {
    let tables = document.tables("fault")?;
    if tables.len() > MOST {
        return Err(document.top().invalid("fault", format!("at most {MOST} [[fault]] tables")));
    }
    let (dies, channels) = (geometry.dies(), geometry.channels);
    tables.into_iter().map(|mut section| Fault::read(&mut section, dies, channels)).collect()
}
