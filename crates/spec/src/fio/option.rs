//! The options of fio: which of them are supported, which change nothing here, and what is nearest to the rest.
//!
//! Names and meanings are those of fio's own documentation (HOWTO); the text is ours.

use super::supported::{OPTIONS, Supported};
use crate::keys::nearest;

const FIGURES: &str =
    "all percentiles, and the series, are always recorded; `narrows export --format fio-logs` writes logs";
const OWN: &str = "done in its own way";
/// Nothing comes near.
const NOTHING: &str = "";

/// Options that change neither what is done nor what is measured here, and why.
pub(super) const HARMLESS: &[(&str, &str)] = &[
    (
        "description comm unit_base eta eta_interval minimal significant_figures status_interval thread threads fork \
         userspace_reap fixedbufs registerfiles nonvectored clocksource gtod_cpu clocksource_cpu \
         iodepth_batch_complete_max io_submit_mode libaio_vectored softrandommap random_generator use_os_rand \
         verify_interval verify_async verify_async_cpus verify_dump verifysort verify_offset verify_pattern_interval \
         verifysort_nr",
        OWN,
    ),
    (
        "write_bw_log write_lat_log write_iops_log write_hist_log log_avg_msec log_hist_msec log_hist_coarseness \
         log_max_value log_offset log_compression log_store_compressed log_unix_epoch log_alternate_epoch \
         log_alternate_epoch_clock_id log_issue_time log_compression_cpus job_start_clock_id block_error_percentiles \
         log_window_value log_entries log_prio per_job_logs percentile_list lat_percentiles clat_percentiles \
         slat_percentiles bwavgtime iopsavgtime disable_lat disable_clat disable_slat disable_bw \
         disable_bw_measurement gtod_reduce unified_rw_reporting rate_cycle ratecycle rwmixcycle disk_util error_dump",
        FIGURES,
    ),
    ("refill_buffers scramble_buffers buffer_compress_chunk", "data written are always unique"),
    (
        "fallocate create_on_open create_serialize create_fsync allow_file_create fadvise_hint openfiles unlink unlink_each_loop \
         allow_mounted_write readonly",
        "files are made, laid out and removed in one way",
    ),
    ("exitall_on_error", "the first error ends the phase unless continue_on_error is given"),
];

/// Options that are known and refused, and what comes nearest; empty: nothing does.
pub(super) const REFUSED: &[(&str, &str)] = &[
    ("rate_ignore_thinktime", "rate, rate_iops"),
    (
        "filesize_range file_append unique_filename opendir create_only pre_read lockfile filetype",
        "filename, nrfiles, size",
    ),
    ("buffer_pattern", "zero_buffers, buffer_compress_percentage, dedupe_percentage"),
    (
        "verify_backlog_batch verify_only verify_state_load verify_state_save experimental_verify trim_percentage \
         trim_verify_zero trim_backlog trim_backlog_batch verify_header_seed verify_policy",
        "verify=crc32c",
    ),
    ("percentage_random percentage_sequential", "random_distribution=zoned"),
    ("sync_file_range", "fsync, fdatasync"),
    ("end_syncfs", "end_fsync"),
    ("offset_align", "offset"),
    ("ramp_size", "ramp_time"),
    ("thinkcycles", "thinktime, thinktime_spin"),
    ("rw_sequencer", "rw=randread:BLOCKS"),
    ("cpumask", "cpus_allowed"),
    (
        "nice read_iolog write_iolog \
         replay_no_stall replay_redirect replay_align replay_scale replay_time_scale replay_skip merge_blktrace_file \
         merge_blktrace_scalars merge_blktrace_iters blktrace read_iolog_chunked lockmem iodepth_low \
         iodepth_batch_complete_max_ratio serialize_overlap bs_is_seq_rand bs_unaligned blocksize_unaligned overlap \
         io_size_pct profile kb_base_unit thinktime_blocks_type thinktime_iotime \
         write_barrier sprandom spr_cs spr_num_regions spr_op stats write_hint thp gpu_dev_id startdelay_range",
        NOTHING,
    ),
    ("exec_prerun exec_postrun ioscheduler cgroup cgroup_weight cgroup_nodelete uid gid", "set it up before the run"),
    ("flow_watermark", "flow"),
    (
        "zonecapacity max_open_zones job_max_open_zones read_beyond_wp zone_reset_threshold zone_reset_frequency \
         ignore_zone_limits recover_zbd_write_error write_zone_remainder",
        "rw=read:SIZE for gaps, offset and size for parts",
    ),
    (
        "sqthread_poll sqthread_poll_cpu cmd_type md_per_io_size pi_act pi_chk apptag apptag_mask readwrite_mode \
         writefua readfua write_mode verify_mode fdp plids dataplacement fdp_pli num_range fdp_pli_select plid_select \
         dp_scheme data_placement cdb_len deac read_mode verify_bytchk force_async",
        "ioengine=io_uring",
    ),
    (
        "hostname port protocol listen pingpong interface ttl nodelay window_size mss exit_on_io_done \
         hipri_percentage",
        "ioengine=io_uring, ioengine=psync",
    ),
];

/// What such a table says of an option.
pub(super) fn listed(table: &'static [(&str, &str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(names, _)| names.split(' ').any(|n| n == name)).map(|(_, what)| *what)
}

/// An option that is supported.
pub(super) fn find(name: &str) -> Option<&'static Supported> {
    OPTIONS.iter().find(|option| option.names.contains(&name))
}

/// The key that says it in our language, where it says just what an option of fio does.
pub(crate) fn our_key(option: &str) -> Option<String> {
    find(option)?.ours.first().map(|key| (*key).to_owned())
}

/// The supported option that is most like an unknown one.
pub(super) fn nearest_option(name: &str) -> Option<String> {
    nearest(name, OPTIONS.iter().flat_map(|option| option.names.iter().copied()))
}

/// Names of all options that are supported.
pub fn fio_options() -> Vec<&'static str> {
    OPTIONS.iter().map(|option| option.names[0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_treatment() {
        let set = OPTIONS.iter().flat_map(|option| option.names.iter().copied());
        let rest = HARMLESS.iter().chain(REFUSED).flat_map(|(names, _)| names.split(' '));
        let mut seen = std::collections::BTreeSet::new();
        for name in set.chain(rest) {
            assert!(seen.insert(name), "{name} twice");
        }
    }

    #[test]
    fn what_fio_calls_otherwise_is_a_key_here() {
        let keys = crate::job_keys();
        for option in OPTIONS.iter().filter(|option| !option.ours.is_empty()) {
            assert!(keys.iter().any(|k| k.name == option.ours[0]), "{}", option.names[0]);
            assert!(keys.iter().all(|k| !option.names.contains(&k.name)), "{}", option.names[0]);
        }
    }
}
