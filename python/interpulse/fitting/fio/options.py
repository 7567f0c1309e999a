"""Options of fio jobs: which are read, which leave the load as it is, and which values switch an option off.

Names are the first ones of `interpulse.fio.options`. An option that is in none of these lists is refused: it may change
the load.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from interpulse._core import ConfigError
from interpulse.fio.options import first_names


def _named(text: str) -> frozenset[str]:
    return frozenset(text.split())


READ = _named(
    "rw bs ba iodepth ioengine numjobs rwmixread rwmixwrite fsync fdatasync direct buffered size filename"
    " unified_rw_reporting stonewall"
)
"""Options that the reader of loads evaluates."""

HARMLESS = _named(
    # Names, files and the end of a job.
    "name description directory filename_format unique_filename opendir filesize io_size offset offset_increment"
    " offset_align number_ios nrfiles openfiles file_service_type fallocate fadvise_hint create_serialize create_fsync"
    " create_on_open allow_file_create allow_mounted_write overwrite unlink unlink_each_loop end_fsync fsync_on_close"
    " invalidate runtime time_based ramp_time loops max_latency exitall exit_what exitall_on_error steadystate"
    " steadystate_duration steadystate_ramp_time steadystate_check_interval continue_on_error ignore_error error_dump"
    # Random numbers and contents of buffers.
    " randrepeat randseed norandommap softrandommap random_generator allrandrepeat use_os_rand zero_buffers"
    " refill_buffers scramble_buffers buffer_pattern buffer_compress_percentage buffer_compress_chunk dedupe_percentage"
    " dedupe_mode dedupe_working_set_percentage dedupe_global"
    # How the host works on requests, which their latencies include.
    " mem mem_align hugepage-size lockmem nice cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes"
    " numa_mem_policy thread ioscheduler uid gid exec_prerun exec_postrun hipri registerfiles fixedbufs sqthread_poll"
    " sqthread_poll_cpu nonvectored force_async userspace_reap clocksource"
    # What fio measures and writes.
    " group_reporting per_job_logs write_bw_log write_lat_log write_iops_log write_hist_log bwavgtime iopsavgtime"
    " log_entries log_avg_msec log_window_value log_hist_msec log_hist_coarseness log_max_value log_offset log_prio"
    " log_issue_time log_compression log_compression_cpus log_store_compressed log_unix_epoch log_alternate_epoch"
    " log_alternate_epoch_clock_id block_error_percentiles clat_percentiles lat_percentiles slat_percentiles"
    " percentile_list significant_figures disk_util gtod_reduce disable_lat disable_clat disable_slat"
    " disable_bw_measurement gtod_cpu kb_base unit_base"
)
"""Options that leave a closed loop of one kind of request as it is."""

OFF: Mapping[str, tuple[str, ...]] = {
    "percentage_random": ("100",),
    "random_distribution": ("random",),
    "zonemode": ("none",),
    "sync": ("0", "none"),
    "verify": ("0", "none"),
    "write_hint": ("none", "not_set"),
    "io_submit_mode": ("inline",),
    "iodepth_batch": ("1",),
    "iodepth_batch_complete_min": ("0", "1"),
    "iodepth_batch_complete_max": ("0", "1"),
    "rate_process": ("linear",),
    "stats": ("1",),
    "thinktime_blocks": ("1",),
    "latency_percentile": ("100", "100.0", "100.000000"),
}
"""Values at which an option changes nothing; for any option that is not read, 0 does."""

SWITCHED_BY_NOUGHT = _named(
    "rate rate_min rate_iops rate_iops_min thinktime thinktime_spin startdelay zoneskip zonesize zonerange bs_unaligned"
    " bs_is_seq_rand latency_target latency_window latency_run sync_file_range write_barrier atomic file_append"
    " fill_device pre_read serialize_overlap flow flow_id verify_only experimental_verify trim_percentage"
    " read_iolog_chunked new_group uncached cmdprio_percentage"
)
"""Options that 0 switches off."""

_NOUGHT = re.compile(r"0+(\.0*)?[a-z%]*", re.IGNORECASE)


def options_of(everywhere: object, own: object, place: str) -> dict[str, str]:
    """All options of a job under their first names; those of the job override global ones.

    Raises:
        ConfigError: they are no table of words.
    """
    found: dict[str, str] = {}
    for table in (everywhere, own):
        if not isinstance(table, Mapping):
            raise ConfigError(f"{place}: job options: seen {table!r:.80}; expected a table, as fio 3 writes it")
        found |= {first_names().get(str(key), str(key)): _words(key, value, place) for key, value in table.items()}
    return found


def _words(key: object, value: object, place: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ConfigError(f"{place}: {key}: seen {value!r:.80}; expected a word or a number, as fio 3 writes it")
    return str(value).strip()


def check_options(options: Mapping[str, str], place: str) -> None:
    """Raises ConfigError for the first option that may change the load."""
    for option, value in options.items():
        if option in READ or option in HARMLESS or value.lower() in OFF.get(option, ()):
            continue
        if option in SWITCHED_BY_NOUGHT and _NOUGHT.fullmatch(value):
            continue
        raise ConfigError(
            f"{place}: {option}: seen {value!r}; expected a job without it: a fit simulates a closed loop of one kind "
            "of request, and this option may change the load"
        )


_NAMES_ONLY = frozenset({"name", "description", "filename", "directory", "offset", "stonewall", "numjobs"})


def alike(jobs: Sequence[Mapping[str, Any]]) -> int | None:
    """The number of the first job whose options make another load than the first job's, or None."""
    kept = [{key: value for key, value in job.items() if key not in _NAMES_ONLY} for job in jobs]
    return next((number for number, job in enumerate(kept) if job != kept[0]), None)


def whole(options: Mapping[str, str], key: str, place: str, default: int) -> int:
    """An option with a whole number."""
    text = options.get(key, str(default))
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) > 65535:
        raise ConfigError(f"{place}: {key}: seen {text!r}; expected a whole number up to 65535")
    return int(text)


def switched(options: Mapping[str, str], key: str) -> bool | None:
    """Whether a flag is set; None if the option is absent."""
    return None if key not in options else not _NOUGHT.fullmatch(options[key])
