//! What the figures were measured on, without host names or paths; and the core they are measured on.

use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

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

/// Processor, cores, date and compiler.
#[derive(Debug, Clone)]
pub struct Machine {
    cpu: String,
    cores: usize,
    date: String,
    rustc: String,
}

impl Machine {
    /// A machine by its properties.
    #[cfg(test)]
    pub fn of(cpu: &str, cores: usize, date: &str, rustc: &str) -> Machine {
        Machine { cpu: cpu.into(), cores, date: date.into(), rustc: rustc.into() }
    }

    /// This machine, today.
    pub fn this() -> Machine {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs() / 86_400);
        let rustc = Command::new("rustc").arg("--version").output();
        let rustc = rustc.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_string());
        Machine {
            cpu: cpu_name(&info).unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: cores(),
            date: civil_date(days),
            rustc: rustc.unwrap_or_else(|_| "rustc unknown".into()),
        }
    }

    /// Key and value of each property.
    pub fn lines(&self) -> [(&'static str, String); 4] {
        [
            ("cpu", self.cpu.clone()),
            ("cores", self.cores.to_string()),
            ("date", self.date.clone()),
            ("rustc", self.rustc.clone()),
        ]
    }
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

/// Year-month-day of a day counted from 1970-01-01.
///
/// Counts in 400-year cycles of 146,097 days that begin on the first of March, so that a leap day is the
/// last of its year (H. Hinnant, chrono-compatible low-level date algorithms).
fn civil_date(days: u64) -> String {
    let days = days + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day_of_month:02}", cycle * 400 + year + carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let expected =
            [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_772, "2026-11-15")];
        for (days, date) in expected {
            assert_eq!(civil_date(days), date);
        }
    }

    #[test]
    fn the_processor_is_named() {
        let info = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Some CPU\nstepping\t: 2\n";
        assert_eq!(cpu_name(info).unwrap(), "Some CPU (family 6, model 207, stepping 2)");
        assert_eq!(cpu_name(""), None);
    }
}
