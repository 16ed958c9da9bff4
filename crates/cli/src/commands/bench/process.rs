//! What this process has used, read from `/proc` (Linux).

use std::time::Duration;

/// Clock ticks per second in `/proc/self/stat`: fixed at 100 for user space on Linux.
const TICKS_PER_SECOND: u64 = 100;

/// Processor time of all threads so far, to a hundredth of a second.
pub(super) fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The command's name may hold spaces; fields are counted after its closing bracket.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(11) + ticks(12)) * 1000 / TICKS_PER_SECOND)
}

/// Resident memory now and at its highest, in kibibytes.
pub(super) fn memory_kib() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    (field(&status, "VmRSS:"), field(&status, "VmHWM:"))
}

/// Resident memory of another process now, in kibibytes.
pub(super) fn resident_kib_of(pid: u32) -> u64 {
    field(&std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default(), "VmRSS:")
}

/// Threads of this process.
pub(super) fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find(|line| line.starts_with(name));
    line.and_then(|line| line.split_whitespace().nth(1)).and_then(|text| text.parse().ok()).unwrap_or(0)
}
