//! Reads `[suspend.program]` and `[suspend.erase]`: the scheme and the limits around it.

use interpulse_engine::Duration;
use interpulse_flash::parts::{PartSpec, SuspendSupport, page_types};
use interpulse_flash::suspend::{
    Eligibility, MultiPlane, Preemptors, Reload, ResumeWhen, Scheme, SuspendCosts, SuspendPolicy,
};
use interpulse_settings::{ConfigError, Document, Section, default, optional, required};

/// No limit of a suspension is longer.
const LONGEST: Duration = Duration::from_ms(100_000);

/// How programs are suspended, how erases are, and whether programs inside a suspended erase are.
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
    let mut policy = read_common(s, costs, drive_dies)?;
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
    if pages.is_empty() {
        return Err(s.invalid("pages", "at least one page type; to suspend no program, scheme = \"none\""));
    }
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
    s.refuse("for-host-writes", "a host write may suspend erases only")?;
    Ok(policy)
}

fn read_erase(s: &mut Section, part: &PartSpec, drive_dies: u32) -> Result<SuspendPolicy, ConfigError> {
    let costs = SuspendCosts {
        entry: part.erase_suspend_entry,
        resume: part.erase_resume,
        reset: part.voltage_reset,
    };
    let mut policy = read_common(s, costs, drive_dies)?;
    check_support(s, &policy, part.suspend_support.erases())?;
    policy.preemptors.host_writes = s.bool(
        "for-host-writes",
        "a program of host data suspends it (write-suspend-erase)",
        default(false),
    )?;
    s.refuse("pages", "an erase has no pages")?;
    s.refuse("reload", "an erase has no data to load again")?;
    Ok(policy)
}

/// A part that cannot suspend an operation leaves only one scheme for it.
fn check_support(s: &Section, policy: &SuspendPolicy, supported: bool) -> Result<(), ConfigError> {
    if supported || policy.scheme == Scheme::None {
        return Ok(());
    }
    Err(s.invalid(
        "scheme",
        "\"none\", because part.suspend-support says that the part cannot suspend this operation",
    ))
}

/// What programs and erases have in common.
fn read_common(s: &mut Section, costs: SuspendCosts, drive_dies: u32) -> Result<SuspendPolicy, ConfigError> {
    let mut policy = SuspendPolicy::unlimited(Scheme::read(s)?, costs);
    read_limits(s, &mut policy)?;
    policy.eligible = read_eligibility(s, drive_dies)?;
    policy.preemptors = Preemptors {
        host_reads: s.bool("for-host-reads", "a host read suspends it", default(true))?,
        gc_reads: s.bool("for-gc-reads", "a read of garbage collection suspends it", default(false))?,
        host_writes: false,
    };
    read_resume(s, &mut policy)?;
    let stress = s.fraction(
        "stress",
        "wear of one suspension as a share of a program/erase cycle",
        default(0.0).at_most(1.0),
    )?;
    policy.stress_ppm = (stress * 1e6).round() as u32;
    if stress > 0.0 && policy.stress_ppm == 0 {
        return Err(s.invalid("stress", "0, or a millionth of a cycle and more"));
    }
    Ok(policy)
}

fn read_limits(s: &mut Section, policy: &mut SuspendPolicy) -> Result<(), ConfigError> {
    policy.max_suspends = s.optional_u32(
        "max-suspends",
        "most suspensions of one operation; left out, there is no limit",
        optional().at_least(1),
    )?;
    policy.min_interval = s.duration(
        "min-interval",
        "shortest time from resumed pulses to the next stop",
        default(Duration::ZERO).at_most(LONGEST),
    )?;
    policy.min_remaining = s.duration(
        "min-remaining",
        "an operation with less than this left is not stopped",
        default(Duration::ZERO).at_most(LONGEST),
    )?;
    policy.min_loops_left = s.u32(
        "min-loops-left",
        "an operation with fewer loops left, the one begun included, is not stopped",
        default(0).at_most(1000),
    )?;
    policy.max_suspended_time = s.optional_duration(
        "max-suspended-time",
        "suspended for this long in all, an operation resumes and is stopped no more; looked at between reads",
        optional().positive().at_most(LONGEST),
    )?;
    policy.timeout = s.optional_duration(
        "timeout",
        "this long after its first suspension an operation resumes and is stopped no more; looked at between reads",
        optional().positive().at_most(LONGEST),
    )?;
    Ok(())
}

fn read_eligibility(s: &mut Section, drive_dies: u32) -> Result<Eligibility, ConfigError> {
    let mut dies =
        s.list_u32("dies", "dies whose operations may be suspended; [] is all", Some(&[]), required())?;
    dies.sort_unstable();
    if let Some(last) = dies.last().filter(|&&last| last >= drive_dies) {
        return Err(s.invalid("dies", format!("dies from 0 to {}, not {last}", drive_dies - 1)));
    }
    Ok(Eligibility {
        dies: (!dies.is_empty()).then_some(dies),
        max_cycles: s.optional_u32(
            "max-cycles",
            "operations on blocks with more program/erase cycles are not suspended",
            optional(),
        )?,
        page_types: Eligibility::ALL.page_types,
        multi_plane: s.choice(
            "multi-plane",
            "what an operation on several planes does to a suspension",
            Some("together"),
            MultiPlane::ALL,
        )?,
    })
}

fn read_resume(s: &mut Section, policy: &mut SuspendPolicy) -> Result<(), ConfigError> {
    policy.resume =
        s.policy("resume", "when a suspended operation goes on", Some("drained"), ResumeWhen::ROWS)?;
    policy.resume_ramp = s.duration(
        "resume-ramp",
        "time at the start of a pulse resumed midway that makes no progress",
        default(Duration::ZERO).at_most(LONGEST),
    )?;
    Ok(())
}
