//! Interfaces of flash parts by their standards: one line each, with bus rate and command cycles.

use interpulse_settings::{ConfigError, Document, Origin, PresetKind, optional};

/// Documentation of `part.interface`.
pub(super) const DOC: &str =
    "interface standard, for its bus-rate, which a lower one may replace, and its command-cycles";

/// An interface standard.
struct Interface {
    name: &'static str,
    doc: &'static str,
    /// Whether commands and addresses have pins of their own.
    sca: bool,
    /// Most transfers per second.
    rate: u64,
    /// Where the rate is printed.
    source: &'static str,
}

/// Declares the interfaces: name, documentation, most transfers per second in MT/s, source; which have command pins of their
/// own.
macro_rules! interfaces {
    ($($name:literal: $doc:literal, $mts:literal, $source:literal $(, $sca:ident)?;)+) => {
        const INTERFACES: &[Interface] = &[$(Interface {
            name: $name,
            doc: $doc,
            sca: [$($sca,)? false][0],
            rate: $mts * 1_000_000,
            source: $source,
        }),+];
    };
}

/// The SCA protocol.
const SCA: bool = true;

interfaces! {
    "onfi-4.1": "NV-DDR3 of ONFI 4.1, 1,200 MT/s", 1_200, "ONFI 4.1, NV-DDR3";
    "onfi-4.2": "NV-DDR3 of ONFI 4.2, 1,600 MT/s", 1_600, "ONFI 4.2, NV-DDR3";
    "onfi-5.0": "NV-DDR3 and NV-LPDDR4 of ONFI 5.0, 2,400 MT/s", 2_400, "ONFI 5.0, timing mode 19";
    "onfi-5.1": "NV-LPDDR4 of ONFI 5.1, 3,600 MT/s", 3_600, "ONFI 5.1, NV-LPDDR4";
    "toggle-4.0": "Toggle DDR 4.0, 1,400 MT/s", 1_400, "Samsung, news of the fifth-generation V-NAND, July 2018 (1.4 Gbps)";
    "toggle-5.0": "Toggle DDR 5.0, 2,400 MT/s", 2_400, "Samsung, news of the eighth-generation V-NAND, November 2022 (2.4 Gbps)";
    "toggle-5.1": "Toggle DDR 5.1, 3,200 MT/s", 3_200, "Samsung, news of the ninth-generation V-NAND, April 2024 (3.2 Gbps)";
    "toggle-6.0": "Toggle DDR 6.0, 4,800 MT/s", 4_800, "Kioxia, BiCS FLASH generation 10 at ISSCC 2025 (4.8 Gbps)";
    "jesd230g": "JESD230G with the SCA protocol, 4,800 MT/s", 4_800, "Electronic Design, \"What's the Difference Between JESD230G and Earlier JEDEC Standards?\", September 2025", SCA;
}

/// Two command and five address cycles of a page read or program, 25 ns each.
const CYCLES: &str = "175ns";

/// Name and documentation of each interface.
pub(super) fn names() -> Vec<(&'static str, &'static str)> {
    INTERFACES.iter().map(|of| (of.name, of.doc)).collect()
}

/// Gives `document` the figures of its `part.interface`, if any, where no layer above states them. Fails on an unknown name
/// with its line, and on a bus rate above that of the interface.
pub(super) fn applied(document: Document) -> Result<Document, ConfigError> {
    let Some(origin) = document.origin("part.interface") else { return Ok(document) };
    let stated = layer(origin);
    let options: Vec<_> = INTERFACES.iter().map(|of| (of.name, of, of.doc)).collect();
    let of = document.section("part")?.choice("interface", DOC, None, &options)?;
    let document = of.figures().into_iter().try_fold(document, |document, (key, text)| {
        let figure = Document::preset(&format!("[part]\n{key} = {text}\n"), PresetKind::Interface, of.name)?;
        let own = document.origin(&format!("part.{key}")).map_or(0, layer);
        if stated > own { figure.over(document) } else { document.over(figure) }
    })?;
    // What is read here is no reading of the configuration.
    let copy = document.clone().over(Document::empty())?;
    let mut part = copy.section("part")?;
    part.label_of("interface", DOC, &names())?;
    let rate = part.optional_rate("bus-rate", "bus transfers (bytes) per second", optional())?;
    let message = format!("{} transfers at most {}MT/s", of.name, of.rate / 1_000_000);
    part.check_together(rate.is_none_or(|rate| rate <= of.rate), &["interface", "bus-rate"], message)?;
    Ok(document)
}

/// Height of the layer of a value: presets, files, `--set`.
fn layer(origin: &Origin) -> u32 {
    match origin {
        Origin::Set => 2,
        Origin::File { .. } => 1,
        _ => 0,
    }
}

impl Interface {
    /// Keys of `[part]` with their values and sources, as TOML.
    fn figures(&self) -> Vec<(&'static str, String)> {
        let cycles = if self.sca {
            "assumed: no figure of the command pins is public; the cycles of the other interfaces"
        } else {
            "seven cycles of a page read or program, 25 ns each: tWC of ONFI 5.0, Table 4-73"
        };
        let quoted = self.source.replace('"', "\\\"");
        let mut figures = vec![
            ("bus-rate", format!("{{ value = \"{}MT/s\", source = \"{}\" }}", self.rate / 1_000_000, quoted)),
            ("command-cycles", format!("{{ value = \"{CYCLES}\", source = \"interpulse: {cycles}\" }}")),
        ];
        if self.sca {
            let text = format!("{{ value = \"separate\", source = \"{quoted}\" }}");
            figures.push(("command-bus", text));
        }
        figures
    }
}
