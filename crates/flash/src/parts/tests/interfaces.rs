//! Tests of interfaces: their figures, what overrides them, what is refused.

use crate::parts::{PartSpec, layered};
use interpulse_settings::{ConfigError, Document};

/// A part with these lines in `[part]`, under these overrides.
fn with_interface(lines: &str, sets: &[(&str, &str)]) -> Result<(PartSpec, Document), ConfigError> {
    let file = Document::from_toml(&format!("[part]\npreset = \"a4-tlc\"\n{lines}"), "x.toml").unwrap();
    let over = |file: Document, (key, value): &(&str, &str)| Document::set(key, value)?.over(file);
    let document = layered(sets.iter().try_fold(file, over)?)?;
    let part = PartSpec::read(&mut document.section("part")?)?;
    document.finish().map(|()| (part, document))
}

#[test]
fn an_interface_gives_its_rate_and_cycles_unless_a_layer_at_its_height_or_above_states_them() {
    let figures = |lines: &str, sets: &[(&str, &str)]| {
        let (part, _) = with_interface(lines, sets).unwrap();
        (part.bus_rate / 1_000_000, part.command_cycles.as_ns())
    };
    assert_eq!(figures("", &[]), (400, 200));
    let file = "interface = \"onfi-5.0\"";
    assert_eq!(figures(file, &[]), (2_400, 175));
    assert_eq!(figures(&format!("{file}\nbus-rate = \"1.2GT/s\""), &[]), (1_200, 175));
    assert_eq!(figures(file, &[("part.bus-rate", "800MT/s")]), (800, 175));
    assert_eq!(figures("bus-rate = \"800MT/s\"", &[("part.interface", "toggle-4.0")]), (1_400, 175));
    assert_eq!(figures(&format!("{file}\ncommand-cycles = \"1us\""), &[]), (2_400, 1_000));
    let (_, document) = with_interface(file, &[]).unwrap();
    let origin = document.origin("part.bus-rate").unwrap().to_string();
    assert_eq!(origin, "interface onfi-5.0 (ONFI 5.0, timing mode 19)");
    for (name, _) in crate::parts::interface::names() {
        let (part, document) = with_interface(&format!("interface = \"{name}\""), &[]).unwrap();
        assert!((1_200..=4_800).contains(&(part.bus_rate / 1_000_000)), "{name}");
        assert!(
            document.uncited().iter().all(|path| !path.contains("bus-rate") && !path.contains("cycles")),
            "{name}"
        );
    }
}

#[test]
fn an_interface_does_not_enter_the_hash_beside_its_figures() {
    let hash = |lines: &str| with_interface(lines, &[]).unwrap().1.resolution().hash(&[]);
    let spelled = "bus-rate = \"2.4GT/s\"\ncommand-cycles = \"175ns\"";
    assert_eq!(hash("interface = \"onfi-5.0\""), hash(spelled));
}

#[test]
fn a_rate_above_that_of_the_interface_and_an_unknown_interface_are_refused() {
    let refused = |lines: &str| with_interface(lines, &[]).unwrap_err().to_string();
    assert_eq!(
        refused("interface = \"onfi-4.1\"\nbus-rate = \"1.6GT/s\""),
        "x.toml:3: part.interface = onfi-4.1 and part.bus-rate = 1.6GT/s: onfi-4.1 transfers at most 1200MT/s"
    );
    let unknown = refused("interface = \"onfi-5\"");
    assert!(
        unknown.starts_with("x.toml:3: part.interface: seen \"onfi-5\"; expected one of onfi-4.1, onfi-4.2"),
        "{unknown}"
    );
}
