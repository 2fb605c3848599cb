//! What the figures were measured on, without host names or paths; and the core they are measured on.

use std::process::{Command, Stdio};

use crate::peers::versions::COMPILER;

/// Settings of the C library's allocator under which freed memory stays with the process.
const KEEP: [(&str, &str); 3] = [
    ("MALLOC_TRIM_THRESHOLD_", "17179869184"),
    ("MALLOC_MMAP_THRESHOLD_", "17179869184"),
    ("MALLOC_TOP_PAD_", "16777216"),
];

/// Starts the program again with freed memory kept, for all contestants alike; returns where that cannot be
/// done or is done already. Otherwise the allocator gives memory back or not by the order of earlier calls,
/// and page faults decide a race in either direction by a third.
pub fn keep_freed_memory() {
    if KEEP.iter().all(|(name, _)| std::env::var_os(name).is_some()) {
        return;
    }
    #[cfg(unix)]
    if let Ok(program) = std::env::current_exe() {
        use std::os::unix::process::CommandExt;
        // Comes back only when it failed.
        let failure = Command::new(program).args(std::env::args_os().skip(1)).envs(KEEP).exec();
        eprintln!("freed memory is not kept: {failure}");
    }
}

/// The most memory that the process ever had, in bytes.
pub fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
}

/// Processor, its vector instructions, cores and compiler; no date, so that equal runs leave equal files.
#[derive(Debug, Clone)]
pub struct Machine {
    cpu: String,
    vectors: &'static str,
    cores: usize,
}

impl Machine {
    /// A machine by its properties.
    #[cfg(test)]
    pub fn of(cpu: &str, cores: usize) -> Machine {
        Machine { cpu: cpu.into(), vectors: "AVX2", cores }
    }

    /// This machine.
    pub fn this() -> Machine {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = cpu_name(&info).unwrap_or_else(|| std::env::consts::ARCH.into());
        Machine { cpu, vectors: vectors(), cores: cores() }
    }

    /// Key and value of each property.
    pub fn lines(&self) -> [(&'static str, String); 4] {
        [
            ("cpu", self.cpu.clone()),
            ("vectors", self.vectors.into()),
            ("cores", self.cores.to_string()),
            ("compiler", COMPILER.into()),
        ]
    }

    /// The folder of its results: maker, name, family and model, such as `amd-epyc-25-17`.
    pub fn folder(&self) -> String {
        let plain = self.cpu.replace("(R)", " ").replace("(TM)", " ").to_lowercase();
        let words = plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
        let dull = ["processor", "cpu", "family", "model"];
        let known = words.take_while(|&w| w != "stepping").filter(|w| !dull.contains(w));
        known.collect::<Vec<_>>().join("-")
    }
}

/// The widest vectors that our kernels and others may choose at run time.
fn vectors() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            return "AVX-512";
        }
        if std::is_x86_feature_detected!("avx2") {
            return "AVX2";
        }
    }
    std::env::consts::ARCH
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Keeps this thread, and the threads and programs it starts from now on, on the last core.
///
/// Returns false, and changes nothing, where `taskset` is missing or there is only one core.
pub fn pin_to_one_core() -> bool {
    let last = cores() - 1;
    last > 0
        && Command::new("taskset")
            .args(["-cp", &last.to_string(), &std::process::id().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
}

/// The model name with family, model and stepping, which tell apart what hypervisors call the same.
fn cpu_name(cpuinfo: &str) -> Option<String> {
    let field = |key: &str| {
        let line = cpuinfo.lines().find(|l| l.split(':').next().is_some_and(|k| k.trim() == key))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    let name = field("model name")?;
    Some(match (field("cpu family"), field("model"), field("stepping")) {
        (Some(f), Some(m), Some(s)) => format!("{name} (family {f}, model {m}, stepping {s})"),
        _ => name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named() {
        let info = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Some CPU\nstepping\t: 2\n";
        assert_eq!(cpu_name(info).unwrap(), "Some CPU (family 6, model 207, stepping 2)");
        assert_eq!(cpu_name(""), None);
    }

    #[test]
    fn each_kind_of_processor_has_its_folder() {
        let folder = |cpu: &str| Machine::of(cpu, 2).folder();
        assert_eq!(
            folder("Intel(R) Xeon(R) Processor (family 6, model 207, stepping 2)"),
            "intel-xeon-6-207"
        );
        assert_eq!(folder("AMD EPYC (family 25, model 17, stepping 1)"), "amd-epyc-25-17");
    }
}
