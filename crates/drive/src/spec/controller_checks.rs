//! Consistency checks of the controller: commands, read cache, firmware cores by task, reads of units without data.

use super::cache::least_slots;
use super::{DriveSpec, Impossible, UnmappedReads};
use crate::cache_writers::CachePartition;
use interpulse_engine::Bytes;
use interpulse_flash::nand::flow_order::HostOrder;
use interpulse_flash::nand::queue::Policy;

impl DriveSpec {
    pub(super) fn check_read_cache(&self) -> Result<(), Impossible> {
        let Some(of) = &self.read_cache else { return Ok(()) };
        let size = "read-cache.size";
        let why = "injected faults are not followed in a read cache: leave out [read-cache]";
        Impossible::unless(!self.injects_faults(), &[size], why)?;
        let why = "the cache knows no namespaces: leave out [read-cache], or the [[namespace]] tables";
        Impossible::unless(self.namespaces.is_empty(), &[size], why)?;
        let why = "resets of zones do not drop the copies of a read cache: leave out [read-cache]";
        Impossible::unless(self.ftl.zones.is_none(), &[size, "ftl.family"], why)?;
        let why = "a read cache is not followed over log blocks: leave out [read-cache]";
        Impossible::unless(self.ftl.log_blocks.is_none(), &[size, "ftl.family"], why)?;
        let why = "a loss of power is not followed in the fills of a read cache: leave out [read-cache]";
        Impossible::unless(self.power_loss.is_none(), &[size, "power-loss.at"], why)?;
        let why = "read-ahead looks up no map entries that are on flash: leave it out, or take the full map";
        let looks_up = of.ahead.is_some() && self.ftl.mapping.cached().is_some();
        Impossible::unless(!looks_up, &["read-cache.read-ahead", "ftl.mapping"], why)?;
        let (queues, unit) = (self.host.queue_weights.len(), self.geometry.unit_bytes);
        let (partitions, least) = (of.partitions(queues) as u64, of.least_of_partition(unit));
        let why = format!(
            "{} in {partitions} partitions leaves less than {least} for each: 16 units, or the windows of all streams read ahead",
            of.size
        );
        let keys = [size, "read-cache.partition", "read-cache.read-ahead-window"];
        Impossible::unless(of.size.get() / partitions >= least.get(), &keys, why)
    }

    pub(super) fn check_firmware(&self) -> Result<(), Impossible> {
        if self.firmware.is_none() {
            return Ok(());
        }
        let why = "injected faults are not followed in firmware cores by task: leave out [firmware]";
        Impossible::unless(!self.injects_faults(), &["firmware.mapping-time"], why)?;
        let why =
            "firmware cores by task know no namespaces: leave out [firmware], or the [[namespace]] tables";
        Impossible::unless(self.namespaces.is_empty(), &["firmware.mapping-time"], why)?;
        let why = "firmware cores by task are followed in the page-mapped family alone: leave out [firmware]";
        Impossible::unless(self.ftl.is_page_mapped(), &["firmware.mapping-time", "ftl.family"], why)?;
        let why = "a loss of power is not followed in firmware cores by task: leave out [firmware]";
        Impossible::unless(self.power_loss.is_none(), &["firmware.mapping-time", "power-loss.at"], why)
    }

    /// Whether each queue has its part of the write cache.
    pub fn divides_cache(&self) -> bool {
        self.cache.partition == CachePartition::ByQueue
    }

    /// Whether the queues of commands matter to the write cache or to the dies.
    pub fn follows_queues(&self) -> bool {
        self.divides_cache() || self.nand.host_order == HostOrder::QueueClasses
    }

    /// Checks what parts of the write cache and an order of reads by class do not go together with.
    pub(super) fn check_queues(&self) -> Result<(), Impossible> {
        let (parts, order) = ("cache.partition", "schedule.host-order");
        if self.nand.host_order == HostOrder::QueueClasses {
            let why = "queues have classes with host.arbitration = \"classes\" alone";
            Impossible::unless(self.host.classes.is_some(), &[order, "host.arbitration"], why)?;
            let why = "\"fifo\" is the order of submission: take another policy, or leave out host-order";
            Impossible::unless(self.nand.policy != Policy::Fifo, &[order, "schedule.policy"], why)?;
        }
        if !self.divides_cache() {
            return Ok(());
        }
        let why = "each namespace has its own part of the write cache, in which queues are not followed: leave out one of them";
        Impossible::unless(self.namespaces.is_empty(), &[parts, "namespace.0.share"], why)?;
        let why = "the data of a zone enters the cache in the order of its writes, whatever their queues: leave out cache.partition";
        Impossible::unless(self.ftl.zones.is_none(), &[parts, "ftl.family"], why)?;
        let why = "the slots that a recovery fills belong to no queue: leave out [power-loss]";
        Impossible::unless(self.power_loss.is_none(), &[parts, "power-loss.at"], why)?;
        let queues = self.host.queue_weights.len() as u64;
        let slots = self.cache.slots(&self.geometry, &self.ftl) / queues;
        let (least, unit) = (least_slots(&self.geometry, &self.ftl), self.geometry.unit_bytes);
        let why = format!(
            "{} in {queues} parts gives each {slots} units of {}; programs of this drive need at least {} in each",
            self.cache.size,
            Bytes(unit),
            Bytes(least * unit)
        );
        Impossible::unless(slots >= least, &["cache.size", parts, "host.queue-weights"], why)
    }

    pub(super) fn check_commands(&self) -> Result<(), Impossible> {
        let unit = Bytes(self.geometry.unit_bytes);
        let why = format!("a command of less data than a mapping unit, {unit}, would write none completely");
        let legal = self.host.max_transfer.is_none_or(|most| most >= unit);
        Impossible::unless(legal, &["host.max-transfer", "ftl.mapping-unit"], why)?;
        let why = "a loss of power is not followed in Abort commands: leave out abort-limit, or [power-loss]";
        let aborts = self.host.abort_limit.is_some();
        Impossible::unless(!aborts || self.power_loss.is_none(), &["host.abort-limit", "power-loss.at"], why)
    }

    pub(super) fn check_unmapped_reads(&self) -> Result<(), Impossible> {
        let why = "a page that holds nothing has no error rate: leave out errors.table, or let reads of units without data return \
                   zeroes";
        let legal = self.ftl.unmapped_reads == UnmappedReads::Zeroes || self.nand.errors.is_none();
        Impossible::unless(legal, &["ftl.unmapped-reads", "errors.table"], why)
    }
}
