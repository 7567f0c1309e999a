//! Are the requests of a flow that writes zones legal, and does it read what it has written?

use interpulse_engine::{Bytes, Op, Streams, ZoneAction};
use interpulse_workload::{
    AreaSectors, BlockSize, Flow, FlowSpec, SyntheticPacing, ZoneFlowSpec, ZoneWrites, Zones,
};
use std::collections::VecDeque;

/// Sectors of a zone.
const ZONE: u64 = 8 * 100;

fn spec(zones: ZoneWrites, open_zones: u32, full: u64) -> ZoneFlowSpec {
    ZoneFlowSpec {
        zones,
        open_zones,
        pacing: SyntheticPacing::Closed { depth: 7 },
        read_share: 0.4,
        overwrites: 0.0,
        vector: None,
        block_size: BlockSize::Weighted(vec![(Bytes::kib(4), 2.0), (Bytes::kib(64), 1.0)]),
        alignment: Bytes::kib(4),
        from: 0.25,
        to: 1.0,
        drive: Zones {
            sectors: ZONE,
            distance: ZONE,
            block: Bytes::kib(4),
            full,
            area: None,
            conventional: 0,
            chunks: None,
        },
    }
}

#[test]
fn zones_are_written_at_their_write_pointers_and_reset_before_they_are_written_again() {
    for (writes, open, full) in
        [(ZoneWrites::Write, 1, 0), (ZoneWrites::Append, 3, 8), (ZoneWrites::Write, 6, 5)]
    {
        let of = FlowSpec::zones("z", spec(writes, open, full));
        let mut flow = Flow::new(&of, 8 * ZONE + 17, &Streams::new(3), 0).unwrap();
        let mut written: Vec<u64> = (0..8).map(|zone| if zone < full { ZONE } else { 0 }).collect();
        let (mut recent, mut reads, mut resets) = (VecDeque::new(), 0, 0);
        for _ in 0..20_000 {
            let (_, request) = flow.next().unwrap().unwrap();
            let (zone, offset) = ((request.sector / ZONE) as usize, request.sector % ZONE);
            assert!((2..8).contains(&zone), "{request:?} is outside of the region");
            let sectors = u64::from(request.sectors);
            match request.op {
                Op::Read => {
                    reads += 1;
                    let outstanding: u64 =
                        recent.iter().filter(|w: &&(usize, u64)| w.0 == zone).map(|w| w.1).sum();
                    assert!(offset + sectors <= written[zone] - outstanding, "{request:?}: {written:?}");
                }
                Op::Write | Op::Append => {
                    assert_eq!(offset, if request.op == Op::Write { written[zone] } else { 0 });
                    written[zone] += sectors;
                    assert!(written[zone] <= ZONE);
                    recent.push_back((zone, sectors));
                    if recent.len() > 7 {
                        recent.pop_front();
                    }
                }
                Op::Zone(action) => {
                    resets += 1;
                    assert_eq!((action, offset, written[zone]), (ZoneAction::Reset, 0, ZONE));
                    written[zone] = 0;
                    recent.iter_mut().filter(|w| w.0 == zone).for_each(|w| w.1 = 0);
                }
                _ => panic!("{request:?}"),
            }
            let partial = written.iter().filter(|&&sectors| sectors > 0 && sectors < ZONE).count();
            assert!(partial <= open as usize, "{partial} zones are open: {written:?}");
        }
        assert!(reads > 7_000 && resets > 500, "{reads} {resets}");
    }
}

/// Writes stay within the random write area, which follows the writes by granules, and each zone ends with its commit.
#[test]
fn a_flow_with_random_write_areas_overwrites_what_they_hold() {
    let area = AreaSectors { sectors: 8 * 12, granularity: 8 * 4 };
    let mut of = spec(ZoneWrites::Zrwa, 2, 3);
    (of.overwrites, of.block_size) =
        (0.5, BlockSize::Weighted(vec![(Bytes::kib(4), 2.0), (Bytes::kib(20), 1.0)]));
    of.drive.area = Some(area);
    let mut flow = Flow::new(&FlowSpec::zones("z", of), 8 * ZONE, &Streams::new(3), 0).unwrap();
    // Write pointer and end of the last write of each zone that has an area.
    let mut zones: Vec<Option<(u64, u64)>> = vec![None; 8];
    let (mut overwrites, mut commits) = (0, 0);
    for _ in 0..20_000 {
        let (_, request) = flow.next().unwrap().unwrap();
        let (zone, offset) = ((request.sector / ZONE) as usize, request.sector % ZONE);
        let end = offset + u64::from(request.sectors);
        match (request.op, &mut zones[zone]) {
            (Op::Read, _) => {}
            (Op::Zone(ZoneAction::Reset), of) => assert_eq!(*of, None),
            (Op::Zone(ZoneAction::OpenZrwa), of) => *of = Some((0, 0)),
            (Op::Zone(ZoneAction::Commit), of) => {
                assert_eq!((offset, of.unwrap().1), (ZONE - 8, ZONE));
                *of = None;
                commits += 1;
            }
            (Op::Write, Some((pointer, written))) => {
                assert!(
                    offset >= *pointer && offset <= *written && end <= *pointer + 2 * area.sectors,
                    "{request:?}"
                );
                overwrites += u64::from(offset < *written);
                *written = end.max(*written);
                *pointer +=
                    written.saturating_sub(*pointer + area.sectors).next_multiple_of(area.granularity);
            }
            (op, of) => panic!("{op:?} of zone {zone}: {of:?}"),
        }
    }
    assert!(overwrites > 3_000 && commits > 10, "{overwrites} {commits}");
}

#[test]
fn what_no_drive_has_is_refused() {
    let message = |of: ZoneFlowSpec| {
        let flow = FlowSpec::zones("z", of);
        Flow::new(&flow, 8 * ZONE, &Streams::new(3), 0).err().expect("it is illegal").to_string()
    };
    let many = message(spec(ZoneWrites::Write, 7, 0));
    assert_eq!(many, "flow `z`: `open-zones` is 7; legal: at most the 6 whole zones of the region from..to");
    let odd =
        message(ZoneFlowSpec { block_size: BlockSize::Fixed(Bytes(512)), ..spec(ZoneWrites::Write, 1, 0) });
    assert_eq!(odd, "flow `z`: `block-size` is 512B; legal: multiples of 4KiB");
}
