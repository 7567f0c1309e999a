//! Request size distributions. A distribution consists of one file and one line of the registry; the first key of its
//! section selects it.

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

trait Distribution: Sized {
    fn read(s: &mut Section) -> Result<Self, ConfigError>;

    fn instantiate(&self, rng: Rng) -> Result<Running, Illegal>;
}

trait Draw {
    fn next(&mut self) -> u32;

    fn largest(&self) -> u32;
}

impl BlockSize {
    /// Reads the size distribution of a flow.
    pub fn read(s: &mut Section) -> Result<BlockSize, ConfigError> {
        let ways: [Variant<BlockSize>; 2] = [
            ("a flow without `sizes`".to_string(), &BlockSize::ROWS[0].read),
            ("`sizes`".to_string(), &BlockSize::ROWS[1].read),
        ];
        s.read_variant(usize::from(s.has("sizes")), &ways)
    }

    /// Every size that may occur.
    pub fn every_size(&self) -> Vec<Bytes> {
        match self {
            BlockSize::Fixed(size) => vec![*size],
            BlockSize::Weighted(sizes) => sizes.iter().map(|&(size, _)| size).collect(),
        }
    }
}

/// Generator of sizes in sectors.
pub(super) struct Sizes(Running);

impl Sizes {
    pub(super) fn new(spec: &BlockSize, rng: Rng) -> Result<Sizes, Illegal> {
        each_distribution!(spec, it => it.instantiate(rng)).map(Sizes)
    }

    #[inline]
    pub(super) fn next(&mut self) -> u32 {
        each_running!(&mut self.0, it => it.next())
    }

    pub(super) fn largest(&self) -> u32 {
        each_running!(&self.0, it => it.largest())
    }
}

/// Configurable range of a size.
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
