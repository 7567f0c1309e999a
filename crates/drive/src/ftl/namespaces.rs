//! Several FTLs on one drive: one for each namespace, on its own blocks of every plane.
//!
//! The logical units of the namespaces follow one another. A flash completion belongs to the namespace that owns its block, so
//! owners of transactions need no number of a namespace.

use super::{
    Admitted, Flash, Ftl, FtlCounters, LookupResult, MetadataWritten, Namespace, NamespaceFamily,
    NamespacedFtl, Outcome, Rewritten, SpareSeen, Wear, ZonedFtl,
};
use crate::cache::CacheUse;
use crate::ftl::layout::Layout;
use crate::numbers::{GcReadId, Lane, Lpn, SuperBlock};
use interpulse_engine::{RequestId, SimTime, Status, ZoneAction};
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::txn::{Owner, Txn};

/// A block that no namespace owns.
const UNOWNED: u8 = u8::MAX;

impl Namespace {
    /// FTL of the namespace; its logical units begin at zero.
    pub fn family(&self) -> &NamespaceFamily {
        &self.ftl
    }

    /// First logical unit on the drive.
    pub fn first(&self) -> Lpn {
        self.first
    }

    /// Logical units.
    pub fn units(&self) -> u32 {
        self.units
    }

    /// FTL, if the namespace is zoned.
    pub fn zoned(&self) -> Option<&ZonedFtl> {
        if let NamespaceFamily::Zoned(ftl) = &self.ftl { Some(ftl) } else { None }
    }
}

/// Part of a request in one namespace.
struct Part {
    namespace: usize,
    from: Lpn,
    to: Lpn,
}

impl NamespacedFtl {
    /// These FTLs on a drive of `layout`; with `one_namespace` those of conventional and of sequential zones.
    pub fn new(ftls: Vec<NamespaceFamily>, layout: Layout, one_namespace: bool) -> NamespacedFtl {
        let mut owner_of_block = vec![UNOWNED; (layout.first_block_of_plane + layout.blocks) as usize];
        let mut first = Lpn(0);
        let mut each = Vec::with_capacity(ftls.len());
        for (k, ftl) in (0..).zip(ftls) {
            let (of, units) = (ftl.layout(), ftl.logical_units());
            owner_of_block[of.first_block_of_plane as usize..][..of.blocks as usize].fill(k);
            each.push(Namespace { first, units, ftl });
            first += units;
        }
        NamespacedFtl { each, owner_of_block, layout, one_namespace }
    }

    /// Whether the FTLs are those of one namespace, of its conventional and of its sequential zones.
    pub fn is_one_namespace(&self) -> bool {
        self.one_namespace
    }

    /// Whether `lpn` is in a conventional zone.
    fn is_conventional(&self, lpn: Lpn) -> bool {
        self.one_namespace && self.each[self.namespace_of(lpn)].zoned().is_none()
    }

    /// The namespaces in order.
    pub fn all(&self) -> &[Namespace] {
        &self.each
    }

    /// Number of the namespace that holds a logical unit of the drive.
    pub fn namespace_of(&self, lpn: Lpn) -> usize {
        self.each.partition_point(|of| of.first <= lpn) - 1
    }

    /// FTL of the namespace that holds a logical unit, and the unit in it.
    fn of_unit(&mut self, lpn: Lpn) -> (&mut NamespaceFamily, Lpn) {
        let k = self.namespace_of(lpn);
        let of = &mut self.each[k];
        (&mut of.ftl, Lpn(lpn.0 - of.first.0))
    }

    /// FTL of the namespace that owns the block of a transaction.
    fn of_txn(&mut self, txn: &Txn) -> &mut NamespaceFamily {
        self.of_block(txn.block)
    }

    /// FTL of the namespace that owns a block.
    fn of_block(&mut self, block: BlockId) -> &mut NamespaceFamily {
        let k = self.owner_of_block[block.0 as usize];
        &mut self.each[usize::from(k)].ftl
    }

    /// FTL of the namespace that owns a super block of the drive, and its super block; `None` if no namespace does.
    fn of_super_block(&self, super_block: SuperBlock) -> Option<(&NamespaceFamily, SuperBlock)> {
        let (lane, BlockId(block)) = self.layout.lane_of(super_block);
        let of = self.each.get(usize::from(self.owner_of_block[block as usize]))?;
        Some((&of.ftl, of.ftl.layout().super_block(lane, BlockId(block))))
    }

    /// Parts of the logical units `from..to`: of a request of a flow one, as flows address one namespace.
    fn parts(&self, from: Lpn, to: Lpn) -> Vec<Part> {
        let mut parts = Vec::with_capacity(1);
        let mut at = from;
        while at < to {
            let namespace = self.namespace_of(at);
            let of = &self.each[namespace];
            assert!(at < of.first + of.units, "unit {at} is beyond the capacity");
            let end = to.min(of.first + of.units);
            parts.push(Part { namespace, from: Lpn(at.0 - of.first.0), to: Lpn(end.0 - of.first.0) });
            at = end;
        }
        parts
    }

    /// Name of part `k` in messages.
    fn name(&self, k: u32) -> String {
        match (self.one_namespace, k) {
            (false, _) => format!("namespace {}", k + 1),
            (true, 0) => "conventional zones".into(),
            (true, _) => "sequential zones".into(),
        }
    }

    fn ftls(&self) -> impl Iterator<Item = &NamespaceFamily> {
        self.each.iter().map(|of| &of.ftl)
    }

    fn ftls_mut(&mut self) -> impl Iterator<Item = &mut NamespaceFamily> {
        self.each.iter_mut().map(|of| &mut of.ftl)
    }
}

// Cold: a drive without namespaces pays nothing for them.
impl Ftl for NamespacedFtl {
    #[cold]
    fn start(&mut self, flash: &mut Flash) {
        self.ftls_mut().for_each(|ftl| ftl.start(flash));
    }

    #[cold]
    fn close(&mut self) {
        self.ftls_mut().for_each(Ftl::close);
    }

    #[cold]
    #[inline(never)]
    fn next_outcome(&mut self) -> Option<Outcome> {
        self.ftls_mut().find_map(Ftl::next_outcome)
    }

    #[inline]
    fn prefetch(&self, _: Lpn) {}

    #[inline]
    fn prefetch_older(&self, _: Lpn) {}

    #[cold]
    #[inline(never)]
    fn map_entries(&mut self, flash: &mut Flash, tag: RequestId, queue: u16, lpn: Lpn, units: u32) -> bool {
        // A request that touches no unit, such as zone management, has its address.
        // The units of a zone report are those of its buffer.
        let end = (lpn + units.max(1)).min(Lpn(self.logical_units()));
        let parts = self.parts(lpn, end);
        let each = &mut self.each;
        let in_memory = |part: &Part| {
            let units = part.to.0 - part.from.0;
            each[part.namespace].ftl.map_entries(flash, tag, queue, part.from, units)
        };
        parts.iter().all(in_memory)
    }

    #[cold]
    #[inline(never)]
    fn read(&mut self, flash: &mut Flash, owner: Owner, from: Lpn, to: Lpn, early: bool) -> LookupResult {
        let parts = self.parts(from, to);
        let early = early && parts.len() == 1;
        let mut found = LookupResult::default();
        for part in parts {
            let of = self.each[part.namespace].ftl.read(flash, owner, part.from, part.to, early);
            found.cached += of.cached;
            found.unmapped += of.unmapped;
            found.reads += of.reads;
        }
        found
    }

    #[cold]
    fn waits_for_collection(&self, flash: &Flash, lpn: Lpn, units: u32) -> bool {
        let waits = |part: &Part| {
            let units = part.to.0 - part.from.0;
            self.each[part.namespace].ftl.waits_for_collection(flash, part.from, units)
        };
        self.parts(lpn, lpn + units).iter().any(waits)
    }

    #[cold]
    #[inline(never)]
    fn accept_write(&mut self, lpn: Lpn, units: u32, whole_units: bool) -> Result<(), Status> {
        match self.parts(lpn, lpn + units).as_slice() {
            [part] => self.each[part.namespace].ftl.accept_write(part.from, units, whole_units),
            // No zone admits the first part before another namespace has admitted the last one.
            _ if self.one_namespace => Err(Status::ZoneBoundaryError),
            _ => Err(Status::InvalidField),
        }
    }

    #[cold]
    fn deallocates(&self, lpn: Lpn) -> bool {
        self.each[self.namespace_of(lpn)].ftl.deallocates(lpn)
    }

    #[cold]
    #[inline(never)]
    fn accept_append(&mut self, lpn: Lpn, units: u32, whole_units: bool) -> Result<Lpn, Status> {
        if self.is_conventional(lpn) {
            // A conventional zone has no write pointer.
            return Err(Status::InvalidField);
        }
        let (ftl, own) = self.of_unit(lpn);
        let placed = ftl.accept_append(own, units, whole_units)?;
        Ok(lpn + (placed.0 - own.0))
    }

    #[cold]
    #[inline(never)]
    fn admit(&mut self, tag: RequestId, lpn: Lpn, units: u32, arrived: SimTime, handle: u8) -> Admitted {
        let (ftl, own) = self.of_unit(lpn);
        ftl.admit(tag, own, units, arrived, handle)
    }

    #[cold]
    #[inline(never)]
    fn writes_through(&self) -> bool {
        // One key of the cache, which holds for all of them.
        self.each[0].ftl.writes_through()
    }

    #[cold]
    #[inline(never)]
    fn set_backpressure(&mut self, lpn: Lpn, waiting: bool) {
        let (ftl, own) = self.of_unit(lpn);
        ftl.set_backpressure(own, waiting);
    }

    #[cold]
    #[inline(never)]
    fn destage(&mut self, flash: &mut Flash) {
        self.ftls_mut().for_each(|ftl| ftl.destage(flash));
    }

    #[cold]
    fn flush(&mut self, flash: &mut Flash, tag: RequestId, lpn: Lpn) {
        // With conventional zones that is their FTL, which holds unit 0: sequential zones have nothing to flush.
        let (ftl, own) = self.of_unit(if self.one_namespace { Lpn(0) } else { lpn });
        ftl.flush(flash, tag, own);
    }

    #[cold]
    #[inline(never)]
    fn has_flushes(&self) -> bool {
        self.ftls().any(Ftl::has_flushes)
    }

    fn flushes(&self) -> usize {
        self.ftls().map(Ftl::flushes).sum()
    }

    #[cold]
    fn settle_flushes(&mut self, flash: &mut Flash) {
        self.ftls_mut().for_each(|ftl| ftl.settle_flushes(flash));
    }

    #[cold]
    #[inline(never)]
    fn trim(&mut self, tag: RequestId, from: Lpn, to: Lpn) -> u64 {
        let parts = self.parts(from, to);
        parts.iter().map(|part| self.each[part.namespace].ftl.trim(tag, part.from, part.to)).sum()
    }

    #[cold]
    fn erase_closed_blocks(&mut self, flash: &mut Flash, tag: RequestId, from: Lpn, to: Lpn) -> [u32; 2] {
        let mut sum = [0; 2];
        for part in self.parts(from, to) {
            let of = self.each[part.namespace].ftl.erase_closed_blocks(flash, tag, part.from, part.to);
            sum = [sum[0] + of[0], sum[1] + of[1]];
        }
        sum
    }

    /// Nothing: no namespace recovers from a loss of power.
    #[inline]
    fn acknowledged(&mut self, _: RequestId) {}

    #[cold]
    fn zone_command(
        &mut self,
        flash: &mut Flash,
        tag: RequestId,
        action: ZoneAction,
        lpn: Lpn,
    ) -> Result<bool, Status> {
        if self.is_conventional(lpn) {
            // It has no state that a command could change.
            let units = self.each.iter().find_map(Namespace::zoned).map_or(1, |ftl| ftl.geometry().distance);
            let reports = action == ZoneAction::Report && lpn.0.is_multiple_of(units);
            return if reports { Ok(true) } else { Err(Status::InvalidField) };
        }
        let (ftl, own) = self.of_unit(lpn);
        ftl.zone_command(flash, tag, action, own)
    }

    #[cold]
    #[inline(never)]
    fn follows_reads(&self) -> bool {
        self.each.iter().any(|of| of.ftl.follows_reads())
    }

    #[cold]
    #[inline(never)]
    fn read_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        // No block holds units that were never written; no FTL counts their reads.
        txn.block != BlockId::NONE && self.of_txn(txn).read_done(flash, txn)
    }

    #[cold]
    #[inline(never)]
    fn gc_read_done(&mut self, flash: &mut Flash, read: GcReadId, txn: &Txn) {
        self.of_txn(txn).gc_read_done(flash, read, txn);
    }

    #[cold]
    #[inline(never)]
    fn page_collected(&mut self, flash: &mut Flash, read: GcReadId, block: BlockId) {
        self.of_block(block).page_collected(flash, read, block);
    }

    #[cold]
    #[inline(never)]
    fn program_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        self.of_txn(txn).program_done(flash, txn)
    }

    #[cold]
    #[inline(never)]
    fn erase_done(&mut self, flash: &mut Flash, txn: &Txn) -> bool {
        self.of_txn(txn).erase_done(flash, txn)
    }

    fn audit(&self, stride: usize) -> Result<u64, String> {
        let audit = |(k, ftl): (u32, &NamespaceFamily)| {
            ftl.audit(stride).map_err(|why| format!("{}: {why}", self.name(k)))
        };
        (0..).zip(self.ftls()).map(audit).sum()
    }

    fn versions_checked(&self) -> u64 {
        self.ftls().map(Ftl::versions_checked).sum()
    }

    fn read_everything(&mut self) {
        self.ftls_mut().for_each(Ftl::read_everything);
    }

    fn diagnosis(&self) -> String {
        let of = |(k, ftl): (u32, &NamespaceFamily)| format!("{}: {}", self.name(k), ftl.diagnosis());
        (0..).zip(self.ftls()).map(of).collect::<Vec<_>>().join("; ")
    }

    fn cache_use(&self) -> CacheUse {
        self.ftls().map(Ftl::cache_use).fold(CacheUse::default(), CacheUse::and)
    }

    fn counters(&self) -> FtlCounters {
        let mut sum = FtlCounters::default();
        self.ftls().for_each(|ftl| sum.add(&ftl.counters()));
        sum
    }

    fn wear(&self) -> Wear {
        self.ftls().map(Ftl::wear).reduce(Wear::and).expect("a drive has namespaces")
    }

    fn rewritten(&self) -> Rewritten {
        let mut sum = Rewritten::default();
        self.ftls().for_each(|ftl| sum.add(&ftl.rewritten()));
        sum
    }

    fn metadata_written(&self) -> MetadataWritten {
        MetadataWritten::default()
    }

    fn pe_cycles(&self, super_block: SuperBlock) -> u32 {
        self.of_super_block(super_block).map_or(0, |(ftl, own)| ftl.pe_cycles(own))
    }

    fn spare_seen(&self) -> SpareSeen {
        let mut sum = SpareSeen::default();
        self.ftls().for_each(|ftl| sum.add(&ftl.spare_seen()));
        sum
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logical_units(&self) -> u32 {
        self.each.iter().map(|of| of.units).sum()
    }

    fn free_pages(&self) -> u64 {
        self.ftls().map(Ftl::free_pages).sum()
    }

    fn free_blocks(&self, lane: Lane) -> u32 {
        self.ftls().map(|ftl| ftl.free_blocks(lane)).sum()
    }

    fn wants_gc(&self, lane: Lane) -> bool {
        self.ftls().any(|ftl| ftl.wants_gc(lane))
    }

    fn collects(&self) -> bool {
        self.ftls().any(Ftl::collects)
    }
}
