//! Sections `[suspend.program]` and `[suspend.erase]`: scheme and limits.

use interpulse_flash::parts::{PartSpec, SuspendSupport, page_types};
use interpulse_flash::suspend::{Compensation, Reload, Scheme, SuspendCosts, SuspendPolicy, SuspendScheme};
use interpulse_settings::{ConfigError, Document, Section, default};

/// Reads the policies of programs and erases, and whether programs inside a suspended erase can be suspended.
pub(super) fn read(
    document: &Document,
    part: &PartSpec,
    drive_dies: u32,
) -> Result<(SuspendPolicy, SuspendPolicy, bool), ConfigError> {
    let mut suspend = document.section("suspend")?;
    let nesting = suspend.bool(
        "nesting",
        "a program that runs inside a suspended erase may be suspended itself",
        default(false),
    )?;
    if nesting && part.suspend_support != SuspendSupport::Nested {
        return Err(suspend.invalid("nesting", "false: it needs part.suspend-support = \"nested\""));
    }
    let program = read_program(&mut suspend.section("program")?, part, drive_dies)?;
    let erase = read_erase(&mut suspend.section("erase")?, part, drive_dies)?;
    Ok((program, erase, nesting))
}

fn read_program(s: &mut Section, part: &PartSpec, drive_dies: u32) -> Result<SuspendPolicy, ConfigError> {
    let costs = SuspendCosts {
        entry: part.program_suspend_entry,
        resume: part.program_resume,
        reset: part.voltage_reset,
    };
    let mut policy = SuspendPolicy::read(s, costs, drive_dies)?;
    check_support(s, &policy, part.suspend_support.programs())?;
    let names = page_types(part.bits_per_cell);
    let doc = "programs of pages of this type";
    let types: Vec<_> = names.iter().enumerate().map(|(k, &name)| (name, 1u32 << k, doc)).collect();
    let pages = s.list_choice(
        "pages",
        "page types whose programs may be suspended; one that programs several needs all of them",
        Some(names),
        &types,
    )?;
    let expected = "at least one page type; to suspend no program, scheme = \"none\"";
    s.check(!pages.is_empty(), "pages", expected)?;
    policy.eligible.page_types = pages.iter().fold(0, |all, page| all | page);
    policy.reload = match s.choice(
        "reload",
        "where a program's data comes from at a resume, after reads have used the page buffer",
        Some("shadow-buffer"),
        Reload::ALL,
    )? {
        Reload::ShadowBuffer(_) => Reload::ShadowBuffer(part.page_buffer_reload),
        Reload::Bus => Reload::Bus,
    };
    policy.compensation = Compensation::read(s)?;
    s.refuse("for-host-writes", "a host write may suspend erases only")?;
    Ok(policy)
}

fn read_erase(s: &mut Section, part: &PartSpec, drive_dies: u32) -> Result<SuspendPolicy, ConfigError> {
    let costs = SuspendCosts {
        entry: part.erase_suspend_entry,
        resume: part.erase_resume,
        reset: part.voltage_reset,
    };
    let mut policy = SuspendPolicy::read(s, costs, drive_dies)?;
    check_support(s, &policy, part.suspend_support.erases())?;
    policy.preemptors.host_writes = s.bool(
        "for-host-writes",
        "a program of host data suspends it (write-suspend-erase)",
        default(false),
    )?;
    s.refuse("pages", "an erase has no pages")?;
    s.refuse("reload", "an erase has no data to load again")?;
    s.refuse("compensation", "an erase has no program voltage")?;
    s.refuse("compensation-after", "an erase has no program voltage")?;
    Ok(policy)
}

/// Rejects suspension that the part does not support.
fn check_support(s: &Section, policy: &SuspendPolicy, supported: bool) -> Result<(), ConfigError> {
    if supported || policy.scheme == Scheme::None || policy.scheme.slices().is_some() {
        return Ok(());
    }
    Err(s.invalid(
        "scheme",
        "\"none\" or \"sliced\", because part.suspend-support says that the part cannot suspend this operation",
    ))
}
