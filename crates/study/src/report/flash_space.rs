//! Flash space in the section `ftl`: pages consumed by cause, free pages, metadata of reprogramming.

use super::drive_state::DriveState;
use crate::run::Measured;
use interpulse_flash::command::DieActivity;
use interpulse_flash::geometry::Geometry;
use serde_json::{Map, Value, json};

/// Adds to the section `ftl`.
pub(super) fn insert(o: &mut Map<String, Value>, m: &Measured, context: &DriveState) {
    let f = &m.ftl;
    let geometry = &context.case.drive.geometry;
    let of_map = f.map_consumed_pages;
    let total = f.consumed_host_pages + f.consumed_gc_pages + f.consumed_early_pages + of_map;
    let mut consumption = json!({
        "host": f.consumed_host_pages,
        "gc": f.consumed_gc_pages,
        "fully_invalidated": f.consumed_early_pages,
        "total": total,
    });
    if context.case.drive.ftl.mapping.cached().is_some() {
        consumption["map"] = json!(of_map);
    }
    o.insert("page_consumption".into(), consumption);
    o.insert("direct_gc_runs".into(), json!(f.direct_gc_runs));
    o.insert("gc_time_s".into(), json!(gc_ns(m) as f64 / 1e9));
    if f.erases > 0 {
        // A super block is erased on all its planes at once.
        let erases = (f.erases * u64::from(context.case.drive.ftl.multi_plane)) as f64;
        let pages = |units: u64| units as f64 / f64::from(geometry.units_per_page);
        o.insert("host_page_writes_per_erase".into(), json!(pages(f.host_units) / erases));
        let all = f.host_units + f.gc_units + f.moved_early_units;
        o.insert("page_writes_per_erase".into(), json!(pages(all) / erases));
    }
    o.insert("free_pages".into(), json!(context.free_pages));
    if context.case.drive.ftl.reprogram.is_some() {
        o.insert("reprogram_metadata".into(), metadata(geometry, context.case.drives()));
    }
}

/// Die time of garbage collection in ns: reads and programs of moved data with their transfers, and erases.
pub(super) fn gc_ns(m: &Measured) -> u64 {
    let of_gc = [
        DieActivity::SenseGc,
        DieActivity::BusGc,
        DieActivity::PulseGc,
        DieActivity::Erase,
        DieActivity::StopErase,
    ];
    of_gc.iter().map(|&of| m.uses[of as usize]).sum()
}

/// Metadata of reprogramming as counted in Section 4.3 of Gao et al. (MICRO 2019), and the number of reprogrammable
/// blocks whose saved map entries offset it.
fn metadata(geometry: &Geometry, drives: u32) -> Value {
    /// Bytes of a map entry, as the paper has it.
    const MAP_ENTRY: u64 = 7;
    let planes = u64::from(geometry.dies()) * u64::from(geometry.planes);
    let blocks = planes * u64::from(geometry.blocks_per_plane);
    let bits_for = |values: u32| u64::from(u32::BITS - (values - 1).leading_zeros());
    let pointers = planes * 3 * (bits_for(geometry.blocks_per_plane) + bits_for(geometry.word_lines));
    let time_stamps = 4 * blocks;
    let tags = (3 * blocks).div_ceil(8);
    let status = (6 * blocks * u64::from(geometry.word_lines)).div_ceil(8);
    let total = time_stamps + tags + pointers.div_ceil(8) + status;
    // A third of the pages of a block have no entry.
    let saved = u64::from(geometry.word_lines) * MAP_ENTRY;
    json!({
        "drives": drives,
        "time_stamps_bytes": time_stamps,
        "hotness_tags_bytes": tags,
        "active_pointers_bytes": pointers.div_ceil(8),
        "word_line_status_bytes": status,
        "total_bytes": total,
        "map_bytes_saved_per_block": saved,
        "break_even_blocks": total.div_ceil(saved),
    })
}

#[cfg(test)]
mod tests {
    use super::metadata;
    use interpulse_flash::geometry::Geometry;

    /// Section 4.3: 384 KB, 36 KB, 432 B and 9 MB. The "twelve blocks" that make up for it are 12 K (11 K exactly).
    #[test]
    fn the_overheads_of_the_paper() {
        let geometry = Geometry {
            channels: 4,
            chips_per_channel: 4,
            dies_per_chip: 2,
            planes: 2,
            blocks_per_plane: 1536,
            word_lines: 128,
            pages_per_word_line: 3,
            unit_bytes: 4096,
            units_per_page: 4,
            layers: 64,
            pages_per_program: 3,
            cache_pages: 0,
            cache_reads: false,
            independent_plane_reads: false,
            separate_commands: false,
            sub_blocks: 1,
        };
        let of = metadata(&geometry, 1);
        assert_eq!(of["time_stamps_bytes"], 384 << 10);
        assert_eq!(of["hotness_tags_bytes"], 36 << 10);
        assert_eq!(of["active_pointers_bytes"], 432);
        assert_eq!(of["word_line_status_bytes"], 9 << 20);
        assert_eq!(of["map_bytes_saved_per_block"], 896);
        assert_eq!(of["break_even_blocks"], 11_014);
    }
}
