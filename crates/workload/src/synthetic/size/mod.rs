//! How large the next request is. A distribution of sizes is one file here and one line of the registry; the key that it
//! reads first chooses it.

use crate::error::Illegal;
use crate::trace::limits::REQUEST_SECTORS_MAX;
use interpulse_engine::{Bytes, Rng, SECTOR};
use interpulse_settings::{ConfigError, Section, Spec, Variant, registry};

registry! {
    $ /// Size of requests.
    #[derive(Clone, PartialEq, Debug)]
    pub enum BlockSize, each_distribution;
    enum Running, each_running {
        "fixed" => fixed::Fixed(it): "every request has the same size";
        "weighted" => weighted::Weighted(it): "drawn from a list of sizes with weights";
    }
}

/// A distribution as it is described.
trait Distribution: Sized {
    /// Reads it.
    fn read(s: &mut Section) -> Result<Self, ConfigError>;

    /// The distribution at work.
    fn drawn(&self, rng: Rng) -> Result<Running, Illegal>;
}

/// A distribution at work.
trait Draw {
    /// The size of the next request in sectors.
    fn next(&mut self) -> u32;

    /// The largest size in sectors.
    fn largest(&self) -> u32;
}

impl BlockSize {
    /// Reads the sizes of a flow.
    pub fn read(s: &mut Section) -> Result<BlockSize, ConfigError> {
        let ways: [Variant<BlockSize>; 2] = [
            ("a flow without `sizes`".to_string(), &BlockSize::ROWS[0].read),
            ("`sizes`".to_string(), &BlockSize::ROWS[1].read),
        ];
        s.read_variant(usize::from(s.has("sizes")), &ways)
    }
}

/// Draws sizes in sectors.
pub(super) struct Sizes(Running);

impl Sizes {
    pub(super) fn new(spec: &BlockSize, rng: Rng) -> Result<Sizes, Illegal> {
        each_distribution!(spec, it => it.drawn(rng)).map(Sizes)
    }

    /// The size of the next request in sectors.
    #[inline]
    pub(super) fn next(&mut self) -> u32 {
        each_running!(&mut self.0, it => it.next())
    }

    /// The largest size in sectors.
    pub(super) fn largest(&self) -> u32 {
        each_running!(&self.0, it => it.largest())
    }
}

/// The range of a size in a configuration.
fn within(spec: Spec<Bytes>) -> Spec<Bytes> {
    spec.within(Bytes(512)..=Bytes::mib(16))
}

fn sectors(field: &str, size: Bytes) -> Result<u32, Illegal> {
    let sectors = size.get() / SECTOR.get();
    if !size.get().is_multiple_of(SECTOR.get()) || sectors == 0 || sectors > u64::from(REQUEST_SECTORS_MAX) {
        return Err(Illegal::new(field, size, "a multiple of 512B, up to 1GiB"));
    }
    Ok(sectors as u32)
}
