//! How much memory this process may still take: what the machine has free, its own address space (`ulimit -v`), and the
//! control groups that it is in, which is what a container is given.

use std::fs;
use std::path::Path;

/// Address space that the threads of a run, the report and the interpreter take beside the maps, in bytes. The allocator's
/// arenas, which are reserved whole, are not in it: it does without where they do not fit.
const BESIDE_MAPS: u64 = 48 << 20;

/// Memory that can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Free {
    /// Bytes.
    pub bytes: u64,
    /// Who says so, in parentheses after the figure; empty for the machine itself.
    pub by: &'static str,
}

/// The least of all limits that the system tells.
pub fn free() -> Option<Free> {
    let root = Path::new("/");
    [machine(root), address_space(root), control_groups(root)].into_iter().flatten().min()
}

/// Memory that the machine can give without swapping.
fn machine(root: &Path) -> Option<Free> {
    let bytes = field(&root.join("proc/meminfo"), "MemAvailable:")?.checked_mul(1024)?;
    Some(Free { bytes, by: "" })
}

/// What is left below the limit of this process's address space.
fn address_space(root: &Path) -> Option<Free> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to an rlimit of ours.
    if unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } != 0
        || limit.rlim_cur == libc::RLIM_INFINITY
    {
        return None;
    }
    let used = field(&root.join("proc/self/status"), "VmSize:")?.checked_mul(1024)?;
    let bytes = limit.rlim_cur.saturating_sub(used).saturating_sub(BESIDE_MAPS);
    Some(Free { bytes, by: " within the limit of this process's address space (ulimit -v)" })
}

/// What is left in the control group of this process and in those around it, in either version.
fn control_groups(root: &Path) -> Option<Free> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let left = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let (mounts, files): (&[&str], _) = match controllers {
            "" => (&["sys/fs/cgroup", "sys/fs/cgroup/unified"], &V2),
            _ if controllers.split(',').any(|name| name == "memory") => (&["sys/fs/cgroup/memory"], &V1),
            _ => return None,
        };
        // A container may see its own group as the root of the mount, whatever path the kernel calls it by: every
        // group on the way up counts that is there.
        let groups = Path::new(path.trim_start_matches('/')).ancestors();
        groups
            .flat_map(|group| mounts.iter().map(move |m| Path::new(m).join(group)))
            .filter_map(|group| files.left(&root.join(group)))
            .min()
    });
    left.min().map(|bytes| Free { bytes, by: " within the memory limit of this control group" })
}

/// What a version of control groups calls its files.
struct Files {
    limit: &'static str,
    used: &'static str,
    /// In `memory.stat`: pages of files that are given back when memory is short.
    cache: &'static str,
}

const V1: Files =
    Files { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", cache: "total_inactive_file" };
const V2: Files = Files { limit: "memory.max", used: "memory.current", cache: "inactive_file" };

impl Files {
    /// Bytes left in one group; `None` without a limit.
    fn left(&self, group: &Path) -> Option<u64> {
        let number = |name| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
        let (limit, used) = (number(self.limit)?, number(self.used)?);
        let cache = field(&group.join("memory.stat"), self.cache).unwrap_or(0);
        Some(limit.saturating_sub(used.saturating_sub(cache)))
    }
}

/// The number behind `name` at the beginning of a line.
fn field(path: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()?.parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with these files.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        root
    }

    fn left(files: &[(&str, &str)]) -> Option<u64> {
        control_groups(root(files).path()).map(|free| free.bytes)
    }

    #[test]
    fn a_container_of_version_2_has_what_its_limit_leaves_and_its_file_cache() {
        let of = |limit| {
            [
                ("proc/self/cgroup", "0::/\n"),
                ("sys/fs/cgroup/memory.max", limit),
                ("sys/fs/cgroup/memory.current", "700\n"),
                ("sys/fs/cgroup/memory.stat", "anon 1\ninactive_file 300\n"),
            ]
        };
        assert_eq!(left(&of("1000\n")), Some(600));
        assert_eq!(left(&of("max\n")), None);
        assert_eq!(left(&of("300\n")), Some(0), "above the limit, it is not less than nothing");
    }

    #[test]
    fn the_tightest_group_on_the_way_up_counts() {
        let files = [
            ("proc/self/cgroup", "0::/user/job\n"),
            ("sys/fs/cgroup/user/memory.max", "1000"),
            ("sys/fs/cgroup/user/memory.current", "900"),
            ("sys/fs/cgroup/user/job/memory.max", "500"),
            ("sys/fs/cgroup/user/job/memory.current", "100"),
        ];
        assert_eq!(left(&files), Some(100));
    }

    #[test]
    fn version_1_is_found_beside_version_2_and_from_inside_a_container() {
        let groups = "4:cpu,memory:/docker/0123\n3:cpu:/elsewhere\n0::/\n";
        let limits = |folder: &str| {
            [
                ("proc/self/cgroup".to_string(), groups),
                (format!("sys/fs/cgroup/memory{folder}/memory.limit_in_bytes"), "1000\n"),
                (format!("sys/fs/cgroup/memory{folder}/memory.usage_in_bytes"), "800\n"),
                (format!("sys/fs/cgroup/memory{folder}/memory.stat"), "total_inactive_file 50\n"),
            ]
        };
        for folder in ["/docker/0123", ""] {
            let files = limits(folder);
            let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
            assert_eq!(left(&files), Some(250), "{folder}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_limit() {
        assert_eq!(left(&[]), None);
        assert_eq!(left(&[("proc/self/cgroup", "nonsense\n0::\n4:memory:/x\n")]), None);
        assert_eq!(machine(root(&[("proc/meminfo", "MemFree: 7 kB\n")]).path()), None);
    }

    #[test]
    fn the_machine_says_what_it_has_without_swapping() {
        let root = root(&[("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   7 kB\n")]);
        assert_eq!(machine(root.path()), Some(Free { bytes: 7 * 1024, by: "" }));
    }
}
