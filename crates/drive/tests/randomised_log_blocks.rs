//! Is anything lost on drives with log blocks? Small ones with everything drawn at random run random flows and trims at random
//! instants, under full audit; at the end every unit is looked up.

use crate::drive_common::features::with_multi_block_erases;
use crate::drive_common::{Bench, Cells, filled, run_worlds, with_stalls};
use crate::randomised_drives::{draw_flow, is_drawn, little_part, pick, tables, value_of};
use interpulse_drive::DriveSpec;
use interpulse_drive::ftl::log_block::spec::Association;
use interpulse_engine::{Bytes, Device, Op, Request, Rng, Streams, Tag};
use interpulse_study::config::drawn;
use interpulse_workload::{AddressSpec, BlockSize, FlowSpec, SyntheticPacing, SyntheticSpec};

/// Worlds, and requests of each.
const WORLDS: u32 = 60;
const REQUESTS: u64 = 2_500;

/// A drive with log blocks; `None` if the values drawn do not make one.
fn draw_drive(rng: &mut Rng) -> Option<DriveSpec> {
    let (planes, multi_plane) = (pick(rng, &[1, 2, 4]), pick(rng, &[1, 2, 4]));
    let cells = pick(rng, &[Cells::Slc, Cells::MlcPages, Cells::Tlc, Cells::Plc]);
    let bits = cells.bits();
    let array = [pick(rng, &[1, 2]), pick(rng, &[1, 2]), pick(rng, &[1, 2])];
    let (blocks, page_kib) = (pick(rng, &[12, 24]), pick(rng, &[4, 8, 16]));
    let table = if rng.below(2) == 0 { pick(rng, &tables(bits)) } else { "'ideal'".to_string() };
    let (logs, association) = (pick(rng, &[1, 2, 5]), pick(rng, &["block", "full"]));
    // A stream of its own, so that the other drives stay what they were.
    let mut of_merges = Streams::new(rng.clone().next_u64()).stream("test.merges", 0);
    let sub_blocks = pick(&mut of_merges, &[1, 1, 2, 4]);
    let mut text = little_part(cells, rng.below(4) == 0, [planes, blocks, page_kib], array);
    text += &format!(
        "[ftl]\nfamily = 'log-block'\nmulti-plane = {multi_plane}\nlog-blocks = {logs}\nlog-block-association = '{association}'\n\
         [errors]\ntable = {table}\n"
    );
    if sub_blocks > 1 {
        let share = pick(&mut of_merges, &["0", "0.4"]);
        let keys = format!(
            "layers = 4\nsub-blocks = {sub_blocks}\nsub-block-wear = {share}\nsub-block-disturb = 30\n\
             sub-block-erase-loops = {}\n",
            pick(&mut of_merges, &[2, 3])
        );
        text = text.replace("layers = 4\n", &keys);
        let limit = pick(&mut of_merges, &["", "max-sub-block-erases = 3\n"]);
        let merge = format!("family = 'log-block'\nlog-block-merge = 'sub-blocks'\n{limit}");
        text = text.replace("family = 'log-block'\n", &merge);
    }
    let mut values = Streams::new(rng.next_u64()).stream("test.values", 0);
    let mut spec = drawn(&text, move |key| {
        let rewrites = ["errors.refresh-after", "errors.reclaim-reads", "cache.acknowledge"];
        let of_merges = ["ftl.log-block-merge", "ftl.max-sub-block-erases"];
        if !is_drawn(&key.path, &["ftl"])
            || of_merges.contains(&key.path.as_str())
            || rewrites.contains(&key.path.as_str())
        {
            return None;
        }
        if key.path == "ftl.over-provisioning" {
            return Some(pick(&mut values, &["'20%'", "'60%'", "'100%'"]).to_string());
        }
        value_of(key, &key.path, &mut values)
    })
    .ok()?
    .drive;
    let program = u64::from(spec.layout().ok()?.units_per_program) * spec.geometry.unit_bytes;
    spec.cache.size = Bytes(pick(rng, &[2 * program, 3 * program, 40 * program]));
    spec.check().ok()?;
    Some(spec)
}

/// A flow that writes in order, with reads.
fn sequential(rng: &mut Rng, spec: &DriveSpec, name: &str) -> FlowSpec {
    let unit = spec.geometry.unit_bytes;
    let of = SyntheticSpec {
        pacing: SyntheticPacing::Closed { depth: pick(rng, &[1, 4, 16]) },
        read_share: 0.1,
        write_share: 0.9,
        block_size: BlockSize::Fixed(Bytes(unit * pick(rng, &[1, 4, 16]))),
        alignment: Bytes(unit),
        addresses: AddressSpec::Sequential,
        flush_every: pick(rng, &[None, Some(200)]),
        ..SyntheticSpec::default()
    };
    FlowSpec::synthetic(name, of)
}

/// What the worlds counted together.
#[derive(Default, Debug)]
pub(crate) struct Counted {
    worlds: u32,
    /// By association: switch, partial and full merges, empty log blocks.
    merges: [[u64; 4]; 2],
    /// Merges in place, and units that they left.
    in_place: [u64; 2],
    sequential: u64,
    trimmed: u64,
    suspends: u64,
    uncorrectable: u64,
    stalled: u64,
    padding: u64,
}

/// Draws and runs the world of `seed`; false if the values drawn do not make a drive.
fn world(seed: u64, counted: &mut Counted) -> bool {
    let mut rng = Streams::new(seed).stream("test.log-blocks", 0);
    let Some(mut spec) = draw_drive(&mut rng) else { return false };
    with_stalls(&mut spec, Streams::new(seed).stream("test.stalls", 0));
    with_multi_block_erases(&mut spec, Streams::new(seed).stream("test.multi-block", 0));
    let mut flows: Vec<FlowSpec> =
        (0..1 + rng.below(2)).map(|k| draw_flow(&mut rng, &spec, &format!("f{k}"), REQUESTS)).collect();
    if rng.below(2) == 0 {
        flows.push(sequential(&mut rng, &spec, "sequential"));
    }
    for flow in &mut flows {
        flow.handle = None;
    }
    let share = pick(&mut rng, &[0.0, 0.37, 1.0]);
    println!("world {seed}: {share} filled\n{:#?}\n{spec:#?}\n{flows:#?}", spec.ftl.log_blocks);
    let mut bench = Bench::new(&spec, filled(&spec, share), &flows, seed);
    let sectors = u64::from(spec.logical_units().unwrap()) * (spec.geometry.unit_bytes / 512);
    while bench.host.device.completed() < REQUESTS && !bench.host.is_done() {
        for _ in 0..1 + rng.below(600) {
            bench.step(bench.events.horizon());
        }
        let op = pick(&mut rng, &[Op::Trim, Op::WriteZeroes, Op::Flush, Op::Read]);
        let (from, count) = (rng.below(sectors - 64), 1 + rng.below(64) as u32);
        let request = if op == Op::Flush { Request::new(op, 0, 0) } else { Request::new(op, from, count) };
        bench.host.submit(&mut bench.events, 0, Tag(flows.len() as u32), request);
    }
    bench.host.close();
    bench.run_out();
    bench.host.device.read_everything();
    bench.finish();
    let drive = &bench.host.device;
    let (ftl, of) = (drive.ftl_counters(), drive.log_block().unwrap().log_counters());
    assert_eq!(ftl.programmed(), ftl.host_units + ftl.gc_units + ftl.padding_units);
    let place = usize::from(spec.ftl.log_blocks.unwrap().association == Association::Full);
    let merges = [of.switch_merges, of.partial_merges, of.full_merges, of.empty_log_blocks];
    counted.merges[place].iter_mut().zip(merges).for_each(|(sum, n)| *sum += n);
    counted.worlds += 1;
    counted.in_place[0] += of.in_place_merges;
    counted.in_place[1] += of.units_left_in_place;
    assert!(of.in_place_merges > 0 || of.sub_block_erases == 0, "{of:?}");
    counted.sequential += of.sequential_log_blocks;
    counted.trimmed += drive.counters.trimmed_units;
    counted.suspends += drive.nand().counters.program_suspends + drive.nand().counters.erase_suspends;
    counted.uncorrectable += bench.host.window.uncorrectable_reads;
    counted.stalled += drive.stalls().unwrap_or(0);
    counted.padding += ftl.padding_units;
    true
}

/// Draws and runs worlds from the seed `first` on until `count` of them have made a drive.
pub(crate) fn worlds(first: u64, count: u32) -> Counted {
    let mut counted = Counted::default();
    run_worlds(first, count as usize, |seed| world(seed, &mut counted));
    println!("{counted:?}");
    counted
}

#[test]
fn drives_with_log_blocks_lose_nothing() {
    let counted = worlds(0, WORLDS);
    assert_eq!(counted.worlds, WORLDS);
    assert!(counted.merges.iter().flatten().all(|&n| n > 3), "{counted:?}");
    let all = [counted.sequential, counted.trimmed, counted.suspends, counted.padding];
    assert!(all.iter().all(|&n| n > 100), "{counted:?}");
    assert!(counted.in_place.iter().all(|&n| n > 300), "{counted:?}");
    assert!(counted.uncorrectable > 0 && counted.stalled > 20, "{counted:?}");
}
