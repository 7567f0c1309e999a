//! Features that tests add to a drive drawn at random: faults, a mapping cache, an SLC cache.

use super::Duration;
use interpulse_drive::cache_writers::CachePartition;
use interpulse_drive::ftl::page::mapping::cached::format::MapFormat;
use interpulse_drive::ftl::page::reprogram::{FullyInvalidates, ReprogramSpec, WhenValid};
use interpulse_drive::ftl::page::separation::HotnessPolicy;
use interpulse_drive::ftl::page::slc::{Admission, SlcSpec};
use interpulse_drive::host_interface::delays::DelaySpec;
use interpulse_drive::host_interface::queue_classes::{ClassSpec, QueueClass};
use interpulse_drive::host_interface::queues::Arbitration;
use interpulse_drive::replacement::MapReplacement;
use interpulse_drive::spec::{
    DriveSpec, Fault, FaultKind, FaultSpec, FirmwareSpec, MapCacheSpec, MapPartition, MappingSpec,
    PredictableLatencySpec, Stalled, TaskSpec, WearOut, When,
};
use interpulse_drive::super_layer_word_lines;
use interpulse_engine::{Bytes, Rng};
use interpulse_flash::erase::{MultiBlock, MultiBlockVerify};
use interpulse_flash::nand::flow_order::HostOrder;
use interpulse_flash::parts::{SlcModeSpec, TrainSpec};
use interpulse_settings::Document;

fn pick<T: Clone>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize].clone()
}

/// An SLC cache from the text of its section.
pub fn slc_cache(text: &str) -> SlcSpec {
    let text = format!("[slc-cache]\n{text}\n");
    let document = Document::from_toml(&text, "cache").unwrap();
    let spec = SlcSpec::read(&mut document.top()).unwrap().expect("the section is given");
    document.finish().unwrap();
    spec
}

/// Programs in SLC mode of 100 us and reads of 20 us.
pub fn slc_mode() -> SlcModeSpec {
    let us = Duration::from_us;
    let program = TrainSpec::even(2, us(20), us(0), us(30));
    SlcModeSpec { program, read: us(20), endurance: 30_000 }
}

/// An SLC cache in every second drive, if that is legal.
pub fn with_slc_cache(spec: &mut DriveSpec, mut rng: Rng) {
    let kinds = [
        "kind = 'static'\nsize = '64KiB'\nfold-above = 1.0\nfold-below = 0.5",
        "kind = 'static'\nsize = '128KiB'\nidle-delay = '1ms'\nadmission = 'small-writes'\nlargest-write = '8KiB'",
        "kind = 'dynamic'\nsize = '512KiB'\nfold-above = 0.6",
        "kind = 'dynamic'\nsize = '128KiB'\nidle-delay = '200us'",
        "kind = 'static-and-dynamic'\nsize = '64KiB'\ndynamic-size = '256KiB'\nfold-above = 0.7",
    ];
    let mut cached = spec.clone();
    cached.part.slc_mode = Some(slc_mode());
    let mut slc = slc_cache(pick(&mut rng, &kinds));
    let wanted = rng.below(2) == 0;
    let handles = spec.ftl.placement.handles();
    if handles > 0 {
        let one = rng.below(u64::from(handles));
        let named = pick(&mut rng, &[format!("[{one}]"), "[0, 1]".to_string()]);
        let by_handle =
            format!("kind = 'dynamic'\nsize = '512KiB'\nadmission = 'by-handle'\nadmitted-handles = {named}");
        slc.admission =
            if rng.below(3) == 0 { Admission::AllWrites } else { slc_cache(&by_handle).admission };
    }
    cached.ftl.slc = Some(slc);
    if wanted && cached.check().is_ok() {
        *spec = cached;
    }
}

/// Reprogrammable blocks in most drives whose hot data they can take.
pub fn with_reprogramming(spec: &mut DriveSpec, mut rng: Rng) {
    let mut reprograms = spec.clone();
    let super_layer = 1 + rng.below(2) as u32;
    let of = ReprogramSpec {
        super_layer,
        candidates: 1 + rng.below(2) as u32,
        when_valid: pick(&mut rng, &[WhenValid::Candidate, WhenValid::NextSuperLayer]),
        fully_invalidates: pick(&mut rng, &[FullyInvalidates::Block, FullyInvalidates::SuperLayer]),
    };
    reprograms.ftl.reprogram = Some(of);
    let word_lines = spec.part.pages_per_block / spec.part.bits_per_cell;
    reprograms.nand.super_layer = super_layer_word_lines(word_lines, spec.part.layers, super_layer);
    let wanted = spec.ftl.hotness != HotnessPolicy::None && rng.below(4) > 0;
    if wanted && reprograms.check().is_ok() {
        *spec = reprograms;
    }
}

/// In every second drive several queues that matter beyond the host interface, if that is legal: parts of the write cache, an order
/// by class at the dies. In those with firmware cores by task also a time of the ranges of deallocations; some commands are delayed.
pub fn with_queues(spec: &mut DriveSpec, mut rng: Rng) {
    let of = spec
        .firmware
        .map(|of| FirmwareSpec { deallocation: TaskSpec { time: Duration::from_us(3), cores: 2 }, ..of });
    if rng.below(2) == 0 {
        spec.firmware = of;
    }
    // Of a copy of the stream, so that the other drives stay what they were.
    if rng.clone().below(5) == 0 {
        let us = Duration::from_us;
        spec.host.delays = Some(DelaySpec::of(&[0.5, 0.9, 1.0], &[us(0), us(4), us(400)]));
    }
    if rng.below(2) == 0 {
        return;
    }
    let mut queued = spec.clone();
    let classes = [QueueClass::Urgent, QueueClass::High, QueueClass::Medium, QueueClass::Low];
    queued.host.queue_weights = vec![1; 3];
    queued.host.arbitration = Arbitration::Classes;
    queued.host.classes = Some(ClassSpec {
        queue_classes: (0..3).map(|_| pick(&mut rng, &classes)).collect(),
        class_weights: pick(&mut rng, &[vec![8, 4, 2], vec![1, 1, 1]]),
        arbitration_burst: 1,
    });
    queued.nand.host_order = pick(&mut rng, &[HostOrder::QueueClasses, HostOrder::Arrival]);
    if rng.below(2) == 0 && !queued.cache.is_absent() {
        queued.cache.partition = CachePartition::ByQueue;
        queued.cache.size = Bytes(3 * queued.cache.size.get());
    }
    if queued.check().is_ok() {
        *spec = queued;
    }
}

/// A mapping cache in every third drive, if that is legal: of one to eight of its translation pages, and of few entries.
pub fn with_mapping_cache(spec: &mut DriveSpec, mut rng: Rng) {
    let format = pick(&mut rng, &[MapFormat::Pages, MapFormat::Entries, MapFormat::Extents]);
    let pages = pick(&mut rng, &[2, 3, 8]);
    let mut cached = spec.clone();
    let of_part = format.holds_entries() && spec.nand.errors.is_none();
    cached.ftl.mapping = MappingSpec::Cached(MapCacheSpec {
        size: Bytes(pages * if format.holds_entries() { 512 } else { spec.geometry.unit_bytes }),
        format,
        replacement: pick(&mut rng, &[MapReplacement::Lru, MapReplacement::Fifo, MapReplacement::Clock]),
        prefetch: pick(&mut rng, &[0, 2]),
        batch: pick(&mut rng, &[None, Some(1), Some(3)]),
        // Not drawn, so that the other drives stay what they were.
        read_transfer: (of_part && pages == 3).then_some(Bytes(512)),
        partition: MapPartition::Shared,
    });
    if rng.below(3) == 0 && cached.check().is_ok() {
        *spec = cached;
    }
}

/// Lets blocks of every third drive fail, if that makes a legal drive: worn out soon, in erases and programs, some with no
/// reserve, which become read-only. Another third has faults that are scheduled, or of dies and reads at random.
pub fn with_faults(spec: &mut DriveSpec, mut rng: Rng) {
    match rng.below(3) {
        0 => with_failing_blocks(spec, rng),
        1 => with_injected_faults(spec, rng),
        _ => {}
    }
}

/// Scheduled faults and random ones of dies and reads, as far as that makes a legal drive.
pub fn with_injected_faults(spec: &mut DriveSpec, mut rng: Rng) {
    let mut pick = |n: u64| rng.below(n);
    let (dies, channels) = (u64::from(spec.geometry.dies()), u64::from(spec.geometry.channels));
    let mut faulty = spec.clone();
    let every = |ms| Some(Duration::from_ms(ms));
    faulty.faults = Some(FaultSpec {
        uncorrectable_read: [0.0, 0.002][pick(2) as usize],
        die_failure_every: if pick(4) == 0 { every(300) } else { None },
        die_stall_every: if pick(3) == 0 { every(150) } else { None },
        die_stall: Duration::from_us(700),
        ..FaultSpec::NONE
    });
    if faulty.check().is_err() {
        faulty.faults = Some(FaultSpec::NONE);
    }
    if faulty.check().is_err() {
        // Stalls alone.
        faulty.faults = None;
    }
    let unit = spec.geometry.unit_bytes;
    for _ in 0..8 {
        let die = pick(dies) as u32;
        let channel = pick(channels) as u32;
        let length = Duration::from_us(50 + pick(3_000));
        let what = match pick(9) {
            0 => FaultKind::Program((pick(2) == 0).then_some(die)),
            1 => FaultKind::Erase((pick(2) == 0).then_some(die)),
            2 => FaultKind::Address(Bytes(pick(64) * unit)),
            3 => FaultKind::NextRead(die),
            4 => FaultKind::Die(die),
            5 => FaultKind::Channel(channel),
            6 => FaultKind::Stall(Stalled::Die(die), length),
            7 => FaultKind::Stall(Stalled::Channel(channel), length),
            _ => FaultKind::Stall(Stalled::Drive, length),
        };
        let when =
            if pick(2) == 0 { When::After(pick(4_000)) } else { When::At(Duration::from_us(pick(40_000))) };
        faulty.schedule.push(Fault { drive: 0, when, what });
        if faulty.check().is_err() {
            faulty.schedule.pop();
        }
    }
    if faulty.check().is_ok() {
        *spec = faulty;
    }
}

/// Stalls of dies, channels and the firmware in every second drive, as far as that is legal.
pub fn with_stalls(spec: &mut DriveSpec, mut rng: Rng) {
    let (dies, channels) = (u64::from(spec.geometry.dies()), u64::from(spec.geometry.channels));
    for _ in 0..[0, 4][rng.below(2) as usize] {
        let mut pick = |n: u64| rng.below(n);
        let stalled = match pick(3) {
            0 => Stalled::Die(pick(dies) as u32),
            1 => Stalled::Channel(pick(channels) as u32),
            _ => Stalled::Drive,
        };
        let what = FaultKind::Stall(stalled, Duration::from_us(50 + pick(3_000)));
        let when =
            if pick(2) == 0 { When::After(pick(2_000)) } else { When::At(Duration::from_us(pick(40_000))) };
        spec.schedule.push(Fault { drive: 0, when, what });
    }
    if spec.check().is_err() {
        spec.schedule.clear();
    }
}

/// Predictable latency mode in a quarter of the drives that can have it.
pub fn with_windows(spec: &mut DriveSpec, mut rng: Rng) {
    if rng.below(4) == 0 {
        let ms = |n| Duration::from_ms(n);
        let windows = PredictableLatencySpec { dtwin_time: ms(20 + rng.below(80)), ndwin_time: ms(20) };
        let with = DriveSpec { predictable_latency: Some(windows), ..spec.clone() };
        if with.check().is_ok() {
            *spec = with;
        }
    }
}

/// Blocks that fail.
fn with_failing_blocks(spec: &mut DriveSpec, mut rng: Rng) {
    let mut pick = |of: &[f64]| of[rng.below(of.len() as u64) as usize];
    let mut failing = spec.clone();
    failing.part.endurance = pick(&[1.0, 3.0, 12.0]) as u32;
    failing.ftl.bad_block_reserve = spec.ftl.bad_block_reserve.max(pick(&[0.0, 0.1]));
    let faults = FaultSpec {
        wear_out: if pick(&[0.0, 1.0]) > 0.0 { WearOut::Lognormal } else { WearOut::Never },
        endurance_spread: pick(&[0.1, 0.4]),
        factory_bad_blocks: if failing.ftl.bad_block_reserve > 0.0 { pick(&[0.0, 0.02]) } else { 0.0 },
        program_failure: 0.01,
        erase_failure: pick(&[0.0, 0.1]),
        ..FaultSpec::NONE
    };
    for faults in [faults, FaultSpec { program_failure: 0.0, ..faults }] {
        failing.faults = Some(faults);
        if failing.check().is_ok() {
            *spec = failing;
            return;
        }
    }
}

/// Multi-block erases in every fourth drive, if that is legal, with a reserve for the blocks that wait.
pub fn with_multi_block_erases(spec: &mut DriveSpec, mut rng: Rng) {
    let verify = pick(&mut rng, &[MultiBlockVerify::Each, MultiBlockVerify::Together]);
    let mut several = spec.clone();
    several.nand.multi_block = MultiBlock { blocks: pick(&mut rng, &[2, 3, 8]), verify };
    several.ftl.gc_soft = several.ftl.gc_soft.max(0.25);
    let excluded = several.nand.excludes_multi_block_erases(&several.part).is_some();
    if rng.below(4) == 0 && !excluded && several.check().is_ok() {
        *spec = several;
    }
}
