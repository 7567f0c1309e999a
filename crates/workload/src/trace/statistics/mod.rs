//! Trace statistics: the figures of a workload table, computed in one pass over the rows.
//!
//! docs/TWINS.md defines each figure. All counts are exact, without sampling or estimation.

mod pages;

use super::input::Input;
use super::packing::Packing;
use super::row::WithFlush;
use super::spec::TraceSpec;
use super::stream::RowStream;
use crate::error::WorkloadError;
use interpulse_engine::{Bytes, Duration, Op, Request, SECTOR, SimTime};
use pages::WrittenPages;
use std::collections::BTreeMap;

/// Gaps below this limit count as bursts: 1.5 ms, as in published statistics of Cello99.
pub const BURST: Duration = Duration::from_us(1500);

/// Rows between two calls of the `watch` function of [`measure`].
const WATCHED_ROWS: u64 = 1 << 16;

/// Statistics of a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceStatistics {
    /// Reads and writes.
    pub requests: u64,
    /// Sizes of the reads, ascending, with the number of reads.
    pub read_sizes: Vec<(Bytes, u64)>,
    /// Sizes of the writes, ascending, with the number of writes.
    pub write_sizes: Vec<(Bytes, u64)>,
    /// Discards.
    pub discards: u64,
    /// Volume discarded, sizes summed.
    pub discarded: Bytes,
    /// Flushes, those of writes included.
    pub flushes: u64,
    /// Flushes of writes, which have no row of their own.
    pub flushes_of_writes: u64,
    /// Volume of the distinct 512 B sectors written.
    pub unique_written: Bytes,
    /// Distinct 4 KiB pages written, in whole or in part.
    pub written_pages: u64,
    /// Updates: page writes to pages written before, summed over the pages touched by each write request.
    pub page_updates: u64,
    /// Updates of the busiest 20 % (rounded up) of the written pages.
    pub busiest_updates: u64,
    /// Time from the first request to the last.
    pub span: Duration,
    /// Mean time between two requests in ns; `None` with fewer than two requests.
    pub mean_gap_ns: Option<f64>,
    /// Squared coefficient of variation of these times (population variance over squared mean); `None` if the mean is
    /// zero or undefined.
    pub gap_scv: Option<f64>,
    /// Gaps below [`BURST`].
    pub bursts: u64,
}

impl TraceStatistics {
    /// Number of reads.
    pub fn reads(&self) -> u64 {
        self.read_sizes.iter().map(|&(_, count)| count).sum()
    }

    /// Number of writes.
    pub fn writes(&self) -> u64 {
        self.write_sizes.iter().map(|&(_, count)| count).sum()
    }

    /// Volume read.
    pub fn read(&self) -> Bytes {
        volume(&self.read_sizes)
    }

    /// Volume written.
    pub fn written(&self) -> Bytes {
        volume(&self.write_sizes)
    }

    /// Share of the requests that write; `None` without requests.
    pub fn write_share(&self) -> Option<f64> {
        ratio(self.writes(), self.requests)
    }

    /// Mean size of the reads in bytes, if there are any.
    pub fn mean_read_bytes(&self) -> Option<f64> {
        ratio(self.read().get(), self.reads())
    }

    /// Mean size of the writes in bytes, if there are any.
    pub fn mean_write_bytes(&self) -> Option<f64> {
        ratio(self.written().get(), self.writes())
    }

    /// Mean size of the discards in bytes, if there are any.
    pub fn mean_discard_bytes(&self) -> Option<f64> {
        ratio(self.discarded.get(), self.discards)
    }

    /// Share of the written volume that is rewritten, if there are writes.
    pub fn rewritten_share(&self) -> Option<f64> {
        ratio(self.written().get() - self.unique_written.get(), self.written().get())
    }

    /// Share of the page writes that are updates, if there are writes.
    pub fn update_share(&self) -> Option<f64> {
        ratio(self.page_updates, self.page_updates + self.written_pages)
    }

    /// Share of the updates that fall on the busiest 20 % of the written pages, if there are updates.
    pub fn update_skew(&self) -> Option<f64> {
        ratio(self.busiest_updates, self.page_updates)
    }

    /// Share of the gaps that are shorter than [`BURST`], if there are gaps.
    pub fn burst_share(&self) -> Option<f64> {
        ratio(self.bursts, self.requests.saturating_sub(1))
    }
}

fn volume(sizes: &[(Bytes, u64)]) -> Bytes {
    Bytes(sizes.iter().map(|&(size, count)| size.get() * count).sum())
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Collector of trace statistics.
#[derive(Default)]
pub struct Measurer {
    requests: u64,
    rows: u64,
    discards: u64,
    discarded_sectors: u64,
    flushes: u64,
    flushes_of_writes: u64,
    read_sizes: BTreeMap<u32, u64>,
    write_sizes: BTreeMap<u32, u64>,
    written: WrittenPages,
    first: SimTime,
    latest: SimTime,
    gaps_squared: u128,
    bursts: u64,
}

impl Measurer {
    /// Adds a request of a device (any number that identifies the device). Only reads and writes count as requests and
    /// have gaps; discards and flushes have counts of their own.
    ///
    /// Panics if the request arrives before the previous one.
    pub fn count(&mut self, at: SimTime, device: u32, request: Request) {
        self.rows += 1;
        let sizes = match request.op {
            Op::Read => &mut self.read_sizes,
            Op::Write => &mut self.write_sizes,
            Op::Trim => {
                self.discards += 1;
                self.discarded_sectors += u64::from(request.sectors);
                return;
            }
            Op::Flush => return self.flushes += 1,
            Op::Append | Op::Zone(_) | Op::Vector(_) | Op::WriteZeroes | Op::Compare => {
                unreachable!("a trace has no such command")
            }
        };
        *sizes.entry(request.sectors).or_default() += 1;
        if request.op == Op::Write {
            self.written.write(device, request.sector, request.sectors);
        }
        if self.requests == 0 {
            self.first = at;
        } else {
            let gap = at.since(self.latest);
            self.gaps_squared += u128::from(gap.as_ns()).pow(2);
            self.bursts += u64::from(gap < BURST);
        }
        (self.requests, self.latest) = (self.requests + 1, at);
    }

    /// Adds the flush of a write.
    pub fn count_flush_of_write(&mut self) {
        self.flushes_of_writes += 1;
    }

    /// Statistics of the requests added.
    pub fn statistics(&self) -> TraceStatistics {
        let sizes = |map: &BTreeMap<u32, u64>| {
            let bytes = |(&sectors, &count): (&u32, &u64)| (Bytes(u64::from(sectors) * SECTOR.get()), count);
            map.iter().map(bytes).collect()
        };
        let pages = self.written.totals();
        let span = self.latest.since(self.first);
        let gaps = self.requests.saturating_sub(1);
        let mean_gap_ns = ratio(span.as_ns(), gaps);
        let mean_square = self.gaps_squared as f64 / gaps as f64;
        TraceStatistics {
            requests: self.requests,
            read_sizes: sizes(&self.read_sizes),
            write_sizes: sizes(&self.write_sizes),
            discards: self.discards,
            discarded: Bytes(self.discarded_sectors * SECTOR.get()),
            flushes: self.flushes + self.flushes_of_writes,
            flushes_of_writes: self.flushes_of_writes,
            unique_written: Bytes(self.written.sectors() * SECTOR.get()),
            written_pages: pages.pages,
            page_updates: pages.updates,
            busiest_updates: pages.busiest,
            span,
            mean_gap_ns,
            gap_scv: mean_gap_ns.filter(|&mean| mean > 0.0).map(|mean| mean_square / (mean * mean) - 1.0),
            bursts: self.bursts,
        }
    }
}

/// Statistics and properties of a trace file.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// Statistics of the requests.
    pub statistics: TraceStatistics,
    /// Format name, never `auto`.
    pub format: &'static str,
    /// Time unit name.
    pub time_unit: &'static str,
    /// Assumptions about format and unit, with the settings that override them.
    pub assumed: String,
    /// Compression of the file.
    pub packing: Packing,
    /// Number of devices.
    pub devices: u64,
    /// Bad rows skipped.
    pub bad_rows: u64,
    /// Messages of the first ten bad rows, with line numbers.
    pub first_bad_rows: Vec<String>,
    /// Rows ignored because they are no requests.
    pub other_rows: u64,
    /// Requests of stacked devices left out, whose lower device is measured.
    pub stacked_rows: u64,
    /// Requests of devices that were not selected.
    pub unselected_rows: u64,
    /// Pauses between requests, in a trace without times.
    pub waits: u64,
    /// Whether the rows have times.
    pub has_times: bool,
    /// Rows whose time was raised to that of an earlier row.
    pub late_rows: u64,
}

/// Measures a trace file in one pass, or in two if it is a log of stacked devices. Uses the path, the format, the device
/// and the handling of bad and late rows of `spec`, but not its speed and fit. Sectors of different devices are distinct.
///
/// `watch` is called regularly with the number of rows; the result `false` cancels the measurement, which then
/// returns `None`.
///
/// Errors: faults of the file.
pub fn measure(
    spec: &TraceSpec,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Measured>, WorkloadError> {
    let input = Input::file(&spec.path);
    let mut measurer = Measurer::default();
    let (mut late_rows, mut waits) = (0, 0);
    let mut read = || {
        let mut rows = RowStream::first(&input, spec)?;
        loop {
            while let Some(row) = rows.next()? {
                let request = Request::new(row.op, row.sector, row.sectors);
                measurer.count(SimTime(row.at_ns), row.device, request);
                if row.flush != WithFlush::None {
                    measurer.count_flush_of_write();
                }
                late_rows += u64::from(row.late);
                waits += u64::from(row.wait_us > 0);
                if measurer.rows.is_multiple_of(WATCHED_ROWS) && !watch(measurer.rows) {
                    return Ok(None);
                }
            }
            let Some(lowest) = rows.unstacked(&input, spec)? else { break };
            (rows, measurer, late_rows, waits) = (lowest, Measurer::default(), 0, 0);
        }
        let packing = rows.packing();
        let (detected, devices, _, skipped_rows) = rows.into_found();
        skipped_rows.require_good_row(measurer.rows)?;
        Ok(Some((detected, packing, devices.ascending().count() as u64, skipped_rows)))
    };
    let ended = read().map_err(|problem| WorkloadError::Trace(Box::new(input.error(problem))))?;
    Ok(ended.map(|(detected, packing, devices, skipped_rows)| Measured {
        statistics: measurer.statistics(),
        format: detected.format.name(),
        time_unit: detected.unit.name(),
        has_times: detected.format.has_times(),
        assumed: detected.assumed,
        packing,
        devices,
        bad_rows: skipped_rows.bad,
        first_bad_rows: skipped_rows.first_bad,
        other_rows: skipped_rows.other,
        stacked_rows: skipped_rows.stacked,
        unselected_rows: skipped_rows.unselected,
        late_rows,
        waits,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(u64, u32, Op, u64, u32)]) -> TraceStatistics {
        let mut measurer = Measurer::default();
        for &(us, device, op, sector, sectors) in rows {
            measurer.count(SimTime(us * 1000), device, Request::new(op, sector, sectors));
        }
        measurer.statistics()
    }

    #[test]
    fn a_trace_written_by_hand_is_counted_to_the_sector() {
        use Op::{Read, Write};
        let seen = of(&[
            // Pages 0 and 1 of device 0, 12 sectors.
            (0, 0, Write, 4, 12),
            // Page 0 again: 4 sectors new, 4 old.
            (1000, 0, Write, 0, 8),
            // Page 0 of another device.
            (3000, 1, Write, 0, 8),
            // A read of written data counts as a read only.
            (3000, 0, Read, 0, 8),
            // One sector of page 1, old; then pages 15 and 16, across two chunks.
            (10_000, 0, Write, 15, 1),
            (12_000, 0, Write, 127, 2),
        ]);
        assert_eq!((seen.requests, seen.reads(), seen.writes()), (6, 1, 5));
        assert_eq!((seen.read(), seen.written()), (Bytes(8 * 512), Bytes(31 * 512)));
        // 12 + 4 + 8 + 0 + 2 sectors of 31.
        assert_eq!(seen.unique_written, Bytes(26 * 512));
        assert_eq!(seen.rewritten_share(), Some(5.0 / 31.0));
        // Device 0: pages 0 (2 writes), 1 (2), 15, 16; device 1: page 0.
        assert_eq!((seen.written_pages, seen.page_updates), (5, 2));
        // One page is a fifth; it holds one of the two updates.
        assert_eq!((seen.busiest_updates, seen.update_skew()), (1, Some(0.5)));
        assert_eq!(seen.update_share(), Some(2.0 / 7.0));
        assert_eq!(seen.write_sizes, [(512, 1), (1024, 1), (4096, 2), (6144, 1)].map(|(b, n)| (Bytes(b), n)));
        // Gaps 1, 2, 0, 7, 2 ms: mean 2.4, mean square 11.6, squared variation 11.6 / 5.76 - 1.
        assert_eq!((seen.span, seen.mean_gap_ns), (Duration::from_ms(12), Some(2.4e6)));
        assert!((seen.gap_scv.unwrap() - (11.6 / 5.76 - 1.0)).abs() < 1e-12);
        assert_eq!(seen.burst_share(), Some(0.4));
    }

    #[test]
    fn what_is_not_there_has_no_figure() {
        let none = of(&[]);
        assert_eq!((none.requests, none.write_share(), none.mean_read_bytes()), (0, None, None));
        let one = of(&[(5, 0, Op::Read, 0, 8)]);
        assert_eq!((one.mean_gap_ns, one.gap_scv, one.burst_share()), (None, None, None));
        assert_eq!((one.mean_write_bytes(), one.rewritten_share(), one.update_skew()), (None, None, None));
        let together = of(&[(5, 0, Op::Write, 0, 8), (5, 0, Op::Write, 8, 8)]);
        assert_eq!((together.mean_gap_ns, together.gap_scv), (Some(0.0), None));
        assert_eq!((together.rewritten_share(), together.update_skew()), (Some(0.0), None));
    }

    /// Comparison of the bitmap with a list of all written sectors.
    #[test]
    fn overlaps_agree_with_a_list_of_sectors() {
        let mut rng = interpulse_engine::Streams::new(3).stream("test", 0);
        let mut measurer = Measurer::default();
        let mut sectors = std::collections::BTreeSet::new();
        let mut pages: BTreeMap<u64, u64> = BTreeMap::new();
        for at in 0..3000 {
            let (sector, length) = (rng.below(20_000), 1 + rng.below(300));
            let request = Request::new(Op::Write, sector, length as u32);
            measurer.count(SimTime(at), 0, request);
            sectors.extend(sector..sector + length);
            (sector / 8..=(sector + length - 1) / 8).for_each(|page| *pages.entry(page).or_default() += 1);
        }
        let seen = measurer.statistics();
        assert_eq!(seen.unique_written, Bytes(sectors.len() as u64 * 512));
        let mut updates: Vec<u64> = pages.values().map(|writes| writes - 1).collect();
        updates.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(seen.page_updates, updates.iter().sum::<u64>());
        assert_eq!(seen.busiest_updates, updates[..updates.len().div_ceil(5)].iter().sum::<u64>());
    }
}
