//! Configuration: reads a file, its overrides and its presets into cases.
//!
//! Layers, from the top: `--set` on the command line, the overrides of a `[[case]]`, the file, its part file, its
//! drive preset, the part preset that these select. An unread key is an error.

mod capacity;
mod drive;
mod drive_keys;
mod errors;
mod faults;
mod flow;
mod formats;
mod namespaces;
mod power;
mod run;
mod suspend;
pub(crate) mod twin;

use interpulse_array::config::ArraySpec;
use interpulse_drive::DriveSpec;
use interpulse_drive::History;
use interpulse_drive::Impossible;
use interpulse_flash::parts;
use interpulse_settings::{ConfigError, Document, Entry, Key, Origin, PresetKind, Resolution};
use interpulse_workload::{FlowSpec, Source};
pub use run::{OverwriteSpec, PreconditionSpec, ReportSpec, RunSpec, Until};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Version of the configuration format; raised when a key is removed or renamed.
pub const CONFIG_VERSION: u32 = 1;

/// Configuration error: file, line, key, found value and legal values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub String);

impl From<ConfigError> for PlanError {
    fn from(error: ConfigError) -> PlanError {
        PlanError(error.to_string())
    }
}

/// Specification of one case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name in results; `run` without `[[case]]`.
    pub name: String,
    /// The drive, or each drive of the array.
    pub drive: DriveSpec,
    /// The array, if any.
    pub array: Option<ArraySpec>,
    /// Workload.
    pub flows: Vec<FlowSpec>,
    /// Initial state.
    pub precondition: PreconditionSpec,
    /// Warm-up and measurement window.
    pub run: RunSpec,
    /// Optional sections of the result.
    pub report: ReportSpec,
    /// Seed of all random streams except those of preconditioning.
    pub seed: u64,
    /// Every value with its origin.
    pub resolution: Resolution,
    /// Kept states that the drive starts with and ends with.
    pub state_files: StateFiles,
}

/// Files of a drive's state before and after a run.
#[derive(Clone, Debug, Default)]
pub struct StateFiles {
    /// Kept state in place of preconditioning.
    pub start: Option<PathBuf>,
    /// What the drive of that state has done before.
    pub history: Arc<History>,
    /// File that gets the state at the end.
    pub save: Option<PathBuf>,
}

/// Keys outside the hash: names and keys that change no result.
const UNHASHED: &[&str] = &["case", "report"];

impl Case {
    /// Capacity of the device in 512-byte sectors.
    pub fn capacity_sectors(&self) -> u64 {
        let capacity = match &self.array {
            Some(array) => array.capacity_sectors(&self.drive),
            None => self.drive.capacity_sectors(),
        };
        capacity.expect("the spec has been checked")
    }

    /// Capacity of what a flow addresses, in 512-byte sectors: a namespace, or the device.
    pub fn flow_sectors(&self, flow: &FlowSpec) -> u64 {
        if self.drive.namespaces.is_empty() {
            return self.capacity_sectors();
        }
        let namespaces = self.drive.namespaces().expect("the spec has been checked");
        namespaces[flow.namespace as usize].capacity_sectors().expect("the spec has been checked")
    }

    /// Simulated drives.
    pub fn drives(&self) -> u32 {
        self.array.map_or(1, |array| array.drives_simulated())
    }

    /// Hash of the resolved configuration in base units.
    pub fn config_hash(&self) -> String {
        self.resolution.hash(UNHASHED)
    }

    /// Values that [`Case::config_hash`] covers.
    pub fn hashed_entries(&self) -> impl Iterator<Item = &Entry> {
        self.resolution.hashed(UNHASHED)
    }

    /// Hash of the keys that determine the preconditioned state.
    pub fn state_hash(&self) -> String {
        self.resolution.state_hash()
    }
}

/// Request of the user.
#[derive(Clone, Debug, Default)]
pub struct PlanRequest {
    /// Text of the configuration file.
    pub text: String,
    /// Path of the file, for messages.
    pub path: String,
    /// `--set` overrides, in order.
    pub sets: Vec<(String, String)>,
    /// `--trace`: replaces the trace of every flow that replays one.
    pub trace: Option<String>,
    /// Keys of every flow that replays a trace, with their values: options such as `--columns`.
    pub trace_keys: Vec<(String, String)>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--skip-bad-rows`.
    pub skip_bad_rows: bool,
    /// The requests come from a program that embeds the device: `[[flow]]` tables may be left out.
    pub embedded: bool,
}

/// Reads a configuration into its cases.
pub fn read_cases(request: &PlanRequest) -> Result<Vec<Case>, PlanError> {
    let file = layered(request, &[])?;
    let mut cases = Vec::new();
    for mut section in file.tables("case")? {
        let name = section.name("name", "name of the case in results", None)?;
        let sets = section.list_string("set", "overrides of this case, as key=value", Some(&[]))?;
        let place = section.place_of("set");
        section.finish()?;
        let mut overrides = Vec::new();
        for set in sets {
            let Some((key, value)) = set.split_once('=') else {
                return Err(section.invalid("set", "overrides of the form \"key=value\"").into());
            };
            let (key, value) = (key.trim().to_string(), value.trim().to_string());
            if key == "case" || key.starts_with("case.") {
                return Err(section
                    .invalid("set", format!("overrides of anything but the cases; one is of {key}"))
                    .into());
            }
            if overrides.iter().any(|(known, _)| *known == key) {
                return Err(section
                    .invalid("set", format!("one override of each key; there are two of {key}"))
                    .into());
            }
            overrides.push((key, value));
        }
        if cases.iter().any(|(n, _, _)| *n == name) {
            return Err(section.invalid("name", "a name no other case has").into());
        }
        cases.push((name, overrides, place));
    }
    if cases.is_empty() {
        return Ok(vec![read_case(request, "run", &[])?]);
    }
    let read = |(name, overrides, place): &(String, Vec<_>, String)| {
        read_case(request, name, overrides).map_err(|e| match read_case(request, name, &[]) {
            // An error that remains without the overrides is not specific to the case.
            Err(shared) if shared == e => e,
            _ => PlanError(format!("{place}case \"{name}\": {}", e.0.trim_start_matches("--set: "))),
        })
    };
    cases.iter().map(read).collect()
}

fn read_case(request: &PlanRequest, name: &str, overrides: &[(String, String)]) -> Result<Case, PlanError> {
    let folder = folder_of(&request.path);
    let document = capacity::sized(layered(request, overrides)?, &request.path, folder)?;
    let mut case =
        document.reporting_all_missing(|document| read_values(document, folder, request.embedded))?;
    document.finish()?;
    let resolution = document.resolution();
    place_traces(&mut case.flows, &resolution, &request.path);
    if let Some(flow) = endless(&case.run, &case.flows).filter(|_| !request.embedded) {
        let message = format!(
            "nothing ends this run: flow `{flow}` makes requests for ever; give run.requests or run.time, or the flow \
             `requests` or `stop`"
        );
        return Err(ConfigError::conflict(&resolution, &["run.requests", "run.time"], message).into());
    }
    let impossible = |i: Impossible| {
        let keys: Vec<&str> = i.keys.iter().map(AsRef::as_ref).collect();
        PlanError::from(ConfigError::conflict(&resolution, &keys, i.message))
    };
    if let Some((key, end)) = case.run.never(&case.drive, case.array.as_ref(), &case.flows) {
        let mut keys = vec![key.as_str(), "run.warmup", "run.time"];
        keys.retain(|key| *key != "run.warmup" || case.run.warmup.is_some());
        let message = format!("the run is over after {end}: give an earlier time, or run.time more");
        return Err(ConfigError::conflict(&resolution, &keys, message).into());
    }
    case.drive.check().map_err(impossible)?;
    case.drive.check_scale().map_err(impossible)?;
    case.precondition.check(&case.drive).map_err(impossible)?;
    if case.array.is_none() && case.drive.schedule.iter().any(|fault| fault.drive != 0) {
        let message = "a [[fault]] is of another drive than 0, and without [array] there is one drive";
        return Err(ConfigError::conflict(&resolution, &["drive"], message).into());
    }
    if let Some(array) = &case.array {
        if case.drive.wear_before.is_some() {
            let message = "replacement drives are new: the wear of an array's drives is not drawn";
            return Err(
                ConfigError::conflict(&resolution, &["precondition.wear", "array.level"], message).into()
            );
        }
        array.check(&case.drive, &case.flows).map_err(impossible)?;
    }
    Ok(Case { name: name.to_string(), resolution, ..case })
}

/// Reads every key, without checks across keys; an embedded device may be without flows.
fn read_values(document: &Document, folder: &Path, embedded: bool) -> Result<Case, ConfigError> {
    let mut top = document.top();
    let version = top.u32(
        "config_version",
        "version of the configuration format",
        interpulse_settings::default(CONFIG_VERSION),
    )?;
    if version != CONFIG_VERSION {
        return Err(top.invalid("config_version", format!("{CONFIG_VERSION}, the one this program reads")));
    }
    top.label("title", "what this configuration is for")?;
    let presets: Vec<_> = DRIVES.iter().map(|&(name, doc, _)| (name, doc)).collect();
    document.section("drive")?.label_of("preset", drive_keys::PRESET, &presets)?;
    let seed = top.u64("seed", "seed of every random stream", interpulse_settings::default(1).at_least(0))?;
    for mut case in document.tables("case")? {
        case.label("name", "name of the case in results")?;
        case.list_string("set", "overrides of this case, as key=value", Some(&[]))?;
    }
    let mut drive = drive::read(document, folder)?;
    let array = interpulse_array::config::read(document)?;
    let precondition = run::read_precondition(document)?;
    drive.wear_before = precondition.wear_before();
    let run = RunSpec::read(&mut document.section("run")?)?;
    let report = ReportSpec::read(&mut document.section("report")?)?;
    let zones = precondition.zones(&drive);
    let flows = match embedded && !document.has("flow") {
        true => Vec::new(),
        false => {
            let redundant = array.is_some_and(|array| array.level.is_redundant());
            flow::read(document, &drive, &zones, redundant, folder)?
        }
    };
    let (name, resolution, state_files) = (String::new(), Resolution::default(), StateFiles::default());
    Ok(Case { name, drive, array, flows, precondition, run, report, seed, resolution, state_files })
}

/// The case of a configuration whose missing values come from `draw` (see [`Document`]), without checks
/// across keys.
pub fn drawn(
    text: &str,
    draw: impl FnMut(&Key) -> Option<String> + Send + 'static,
) -> Result<Case, PlanError> {
    let request = PlanRequest { text: text.into(), path: "drawn".into(), ..PlanRequest::default() };
    let document = layered(&request, &[])?.with_random_values(draw);
    let case = read_values(&document, Path::new(""), false)?;
    Ok(Case { resolution: document.resolution(), ..case })
}

/// Every key in the order of reading, as its reader declares it.
pub fn keys() -> Vec<Key> {
    let request = PlanRequest { text: "drive = \"a4\"".into(), ..PlanRequest::default() };
    let document = layered(&request, &[]).expect("the preset is built in").declaring();
    read_values(&document, Path::new(""), false).expect("every key is declared whatever the values");
    document.keys().expect("every way is declared whatever the values")
}

/// Folder of a configuration file.
fn folder_of(config: &str) -> &Path {
    Path::new(config).parent().unwrap_or(Path::new(""))
}

/// Paths of traces in the file are relative to the file; those of `--trace` and `--set` to the working folder.
fn place_traces(flows: &mut [FlowSpec], resolution: &Resolution, config: &str) {
    let folder = folder_of(config);
    for (i, flow) in flows.iter_mut().enumerate() {
        let key = format!("flow.{i}.trace");
        let in_file = |e: &&Entry| e.path == key && matches!(e.origin, Origin::File { .. });
        if let Source::Trace(trace) = &mut flow.source
            && resolution.entries().iter().any(|e| in_file(&e))
        {
            trace.path = folder.join(&trace.path);
        }
    }
}

/// The flow that makes a run endless, if any.
fn endless<'a>(run: &RunSpec, flows: &'a [FlowSpec]) -> Option<&'a str> {
    if run.requests.is_some() || run.time.is_some() {
        return None;
    }
    let ends = |f: &FlowSpec| {
        matches!(f.source, Source::Trace(_) | Source::Twin(_)) || f.limit.is_some() || f.stop.is_some()
    };
    flows.iter().find(|f| !ends(f)).map(|f| f.name.as_str())
}

const PART_SECTION: &str = "a section [part] with preset = \"NAME\" (`interpulse list parts`), or drive = \"NAME\" for a whole drive";

/// Layers of a request: command line over `overrides` over file over part file over presets.
fn layered(request: &PlanRequest, overrides: &[(String, String)]) -> Result<Document, PlanError> {
    let expanded = |document: Document| {
        document.with_shorthand("drive", "preset").with_section_only("part", PART_SECTION)
    };
    let mut document = expanded(Document::from_toml(&request.text, &request.path)?)?;
    for (key, value) in overrides.iter().chain(&request.sets) {
        document = expanded(Document::set(key, value)?)?.over(document)?;
    }
    if let Some(seed) = request.seed {
        document = Document::set("seed", &seed.to_string())?.over(document)?;
    }
    document = with_trace(request, document)?;
    document = parts::with_file(document, folder_of(&request.path))?;
    let mut drive = Document::clone(&document).section("drive")?;
    let name = drive.label("preset", drive_keys::PRESET)?;
    if let Some(name) = name {
        let (_, _, text) = *DRIVES.iter().find(|(n, _, _)| *n == name).ok_or_else(|| {
            let names: Vec<&str> = DRIVES.iter().map(|(n, _, _)| *n).collect();
            PlanError::from(drive.invalid("preset", format!("one of {}", names.join(", "))))
        })?;
        let preset = Document::preset(text, PresetKind::Drive, &name)?;
        // A part file replaces the part of the preset completely.
        let whole = document.has("part.file") && !document.has("part.preset");
        let preset = if whole { preset.without("part") } else { preset };
        let preset = drive_keys::of_family(&document, preset)?;
        document = document.over(preset)?;
    } else if !document.has("part") {
        let names: Vec<&str> = DRIVES.iter().map(|(n, _, _)| *n).collect();
        return Err(PlanError(format!(
            "{}: nothing says which drive: give drive = \"...\" (one of {}), or a [part] and a [geometry]",
            request.path,
            names.join(", ")
        )));
    }
    Ok(namespaces::layered(parts::layered(document)?)?)
}

/// Applies the trace options of the command line to every flow that replays a trace.
fn with_trace(request: &PlanRequest, mut document: Document) -> Result<Document, PlanError> {
    if request.trace.is_none() && request.trace_keys.is_empty() && !request.skip_bad_rows {
        return Ok(document);
    }
    let flows = document.tables("flow")?;
    let replaying: Vec<usize> = (0..flows.len()).filter(|&i| flows[i].has("trace")).collect();
    if replaying.is_empty() {
        let option = match (&request.trace, request.trace_keys.first()) {
            (Some(_), _) => "--trace".to_owned(),
            (None, Some((key, _))) => format!("--{key}"),
            (None, None) => "--skip-bad-rows".to_owned(),
        };
        return Err(PlanError(format!(
            "{}: {option} was given, but no [[flow]] replays a trace; give a flow the key `trace`",
            request.path
        )));
    }
    for i in replaying {
        if let Some(path) = &request.trace {
            let text = toml::Value::String(path.clone()).to_string();
            document = Document::set(&format!("flow.{i}.trace"), &text)?.over(document)?;
        }
        for (key, value) in &request.trace_keys {
            document = Document::set(&format!("flow.{i}.{key}"), value)?.over(document)?;
        }
        if request.skip_bad_rows {
            document = Document::set(&format!("flow.{i}.skip-bad-rows"), "true")?.over(document)?;
        }
    }
    Ok(document)
}

/// Declares the drive presets, each a file in `presets/`.
macro_rules! drives {
    ($($name:literal: $doc:literal;)+) => {
        /// Drive presets: name, one line of documentation, text.
        pub const DRIVES: &[(&str, &str, &str)] =
            &[$(($name, $doc, include_str!(concat!("presets/", $name, ".toml")))),+];
    };
}

drives! {
    "a4": "the TLC drive of the program-suspend study: Zambelli et al., Electronics 2021, BlockManager 1 and 2";
    "a4-mini": "the same drive with 8 dies of 96 blocks, for quick looks and tests";
    "atc19": "the low-latency drive of the erase suspension study: Kim et al., ATC'19, slide Evaluation: Methodology";
    "atc19-mini": "the same drive with an eighth of its capacity, one erase for every 3 MiB";
    "fast12-slc": "the SLC drive of the first suspension study: Wu & He, FAST 2012, on the default SSD of its simulator";
    "fast12-mlc": "the MLC drive of the first suspension study: Wu & He, FAST 2012, on the default SSD of its simulator";
    "ressd": "the reprogrammable TLC drive of Gao et al., MICRO 2019, Table 4";
    "ressd-mini": "the same drive with 4 dies of 64 small blocks a plane, for quick looks and tests";
    "starblaze": "the drive example of the Starblaze talk: 2800/1900 MB/s, 450k/150k IOPS, 3D TLC of its timing table";
    "s3700": "scale model, fitted to the data sheet: Intel SSD DC S3700 800 GB (SATA, MLC, 2012)";
    "p3700": "scale model, fitted to the data sheet: Intel SSD DC P3700 2 TB (PCIe 3.0 x4, MLC, 2014)";
    "s4500": "scale model, fitted to the data sheet: Intel SSD DC S4500 960 GB (SATA, 3D TLC, 2017)";
    "p4500": "scale model, fitted to the data sheet: Intel SSD DC P4500 2 TB (PCIe 3.0 x4, 3D TLC, 2017)";
    "970-evo": "scale model, fitted to the data sheet: Samsung SSD 970 EVO 1 TB (PCIe 3.0 x4, 3D TLC, 2018)";
    "970-evo-turbowrite": "scale model, fitted to the data sheet: Samsung SSD 970 EVO 1 TB with its SLC cache (PCIe 3.0 x4, 3D TLC, 2018)";
    "p5810": "scale model, fitted to the data sheet: Solidigm D7-P5810 800 GB (PCIe 4.0 x4, 3D SLC, 2023)";
    "p5430": "scale model, fitted to the data sheet: Solidigm D5-P5430 15.36 TB (PCIe 4.0 x4, 3D QLC, 2023)";
    "9550-max": "scale model, fitted to the data sheet: Micron 9550 MAX 6.4 TB (PCIe 5.0 x4, 3D TLC, 2024)";
    "670p": "scale model, fitted to the data sheet: Intel SSD 670p 2 TB (PCIe 3.0 x4, 3D QLC with an SLC cache, 2021)";
    "zn540": "scale model, fitted to measurements: Western Digital Ultrastar DC ZN540 1 TB (PCIe 3.0 x4, ZNS, 3D TLC, 2020)";
}

/// Reads arbitrary bytes as a configuration; must never panic. Used by the tests and by cargo-fuzz.
pub fn fuzz_plan(bytes: &[u8]) {
    let request = PlanRequest {
        text: String::from_utf8_lossy(bytes).into_owned(),
        path: "fuzz".into(),
        ..PlanRequest::default()
    };
    // Both outcomes are legal, but an error needs a message.
    if let Err(error) = read_cases(&request) {
        assert!(!error.0.is_empty());
    }
}
