//! Part job: the flash part of a cell preset, for use in a drive.

use super::reprogram::Chip;
use super::{JobError, PresetRequest, overrides};
use crate::coefficients::document;
use interpulse_flash::parts::{self, PartSpec};
use interpulse_settings::{Entry, Origin, PresetKind};
use serde_json::{Value, json};

/// Returns the part preset, the keys that the cell preset and the overrides change, and times of the program.
pub(super) fn run(request: &Value) -> Result<Value, JobError> {
    let request = PresetRequest::read("part", request)?;
    let name = request.preset.as_str();
    let preset = if Chip::is_known(name) { Chip::document(name)? } else { document(name)? };
    let document = parts::layered(overrides(&request.set)?.over(preset)?)?;
    let part = PartSpec::read(&mut document.section("part")?)?;
    let resolution = document.resolution();
    let stated: Vec<Value> = resolution
        .entries()
        .iter()
        .filter(|entry| entry.hashed && !is_the_parts_own(entry))
        .map(|entry| {
            let key = entry.path.trim_start_matches("part.");
            json!([key, entry.display, entry.origin.source().unwrap_or("--set")])
        })
        .collect();
    let pulse = part.program.pulse + part.program.reset;
    Ok(json!({
        "preset": resolution.entry("part.preset").map_or(&part.name, |entry| &entry.display),
        "stated": stated,
        "program_pulse_us": pulse.as_ns() as f64 / 1e3,
        "pages_per_block": part.usable_pages(),
        "program_loops": part.program.loops,
        "program_verify_us": part.program.verify.as_ns() as f64 / 1e3,
        "two_bit_read_us": part.reprogram.map_or(part.read[0], |r| r.read).as_ns() as f64 / 1e3,
    }))
}

/// Whether the part preset or a default already gives this value.
fn is_the_parts_own(entry: &Entry) -> bool {
    matches!(entry.origin, Origin::Default | Origin::Preset { kind: PresetKind::Part, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(sets: &[(&str, &str)]) -> Value {
        run(&json!({ "seed": 1, "preset": "a4-tlc", "set": sets })).expect("it is legal")
    }

    #[test]
    fn only_what_differs_from_the_part_preset_is_stated() {
        let plain = part(&[]);
        assert_eq!((&plain["preset"], &plain["program_pulse_us"]), (&json!("a4-tlc"), &json!(35.0)));
        let keys = |of: &Value| -> Vec<String> {
            let stated = of["stated"].as_array().expect("a list");
            stated.iter().map(|each| each[0].as_str().expect("a key").to_string()).collect()
        };
        assert_eq!(keys(&plain), ["program-suspend-entry", "program-resume"]);
        let set = part(&[("part.layers", "9"), ("cell.ispp.step", "30")]);
        assert_eq!(keys(&set), ["layers", "program-suspend-entry", "program-resume"]);
        assert_eq!(set["stated"][0], json!(["layers", "9", "--set"]));
    }
}
