//! Peers that run in their own process and answer on a line protocol.
//!
//! A peer prints `ready`, then for each line it reads one line: `ok NANOSECONDS VALUES…` or
//! `error REASON`. It measures by its own clock, so pipes and processes cost no contestant anything.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::timing::Timed;

/// As much of a peer's complaints as is worth showing; FCL can print gigabytes.
const STDERR_KEPT: usize = 2000;

/// How long to wait for a peer that was told to end.
const LEAVE: Duration = Duration::from_millis(500);

/// How long to wait for the rest of its complaints when it has ended: they are there, but a busy machine reads late.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// A running peer; it is ended and waited for when dropped.
pub struct Outside {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    complaints: Arc<Mutex<VecDeque<u8>>>,
    /// Closed when there is nothing more to come on stderr.
    complained: Receiver<()>,
    patience: Duration,
}

impl Outside {
    /// Starts a peer and waits until it is ready.
    ///
    /// # Errors
    /// It cannot be started, ends, or is not ready within `patience`, which holds for each answer too.
    pub fn start(name: &str, command: &mut Command, patience: Duration) -> Result<Outside> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {name}"))?;
        let stdin = child.stdin.take();
        let (stdout, stderr) = child.stdout.take().zip(child.stderr.take()).context("no pipes")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let complaints = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&complaints);
        let (end_of_complaints, complained) = channel();
        std::thread::spawn(move || {
            keep_the_end(stderr, &kept);
            drop(end_of_complaints);
        });
        let mut peer = Outside { name: name.into(), child, stdin, lines, complaints, complained, patience };
        match peer.next_line()?.as_str() {
            "ready" => Ok(peer),
            other => bail!("{name} said \"{other}\" instead of \"ready\""),
        }
    }

    /// Puts a question; the answer's values are numbers or words that the caller reads.
    ///
    /// # Errors
    /// The peer reports an error, ends, is too slow, or says something else than the protocol.
    pub fn ask(&mut self, question: &str) -> Result<Timed<Vec<String>>> {
        let stdin = self.stdin.as_mut().context("no pipe")?;
        if let Err(broken) = writeln!(stdin, "{question}").and_then(|()| stdin.flush()) {
            return Err(self.failure(&format!("takes no question ({broken})")));
        }
        let line = self.next_line()?;
        let mut words = line.split_whitespace();
        match words.next() {
            Some("ok") => {
                let time = words.next().and_then(|w| w.parse().ok());
                let nanoseconds = time.with_context(|| format!("{}: no time in \"{line}\"", self.name))?;
                Ok(Timed { nanoseconds, answer: words.map(String::from).collect() })
            }
            Some("error") => bail!("{}: {}", self.name, words.collect::<Vec<_>>().join(" ")),
            _ => bail!("{} said \"{line}\" to \"{question}\"", self.name),
        }
    }

    fn next_line(&mut self) -> Result<String> {
        match self.lines.recv_timeout(self.patience) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => {
                Err(self.failure(&format!("gave no answer in {:.0} s", self.patience.as_secs_f64())))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.failure("ended")),
        }
    }

    /// Ends the peer and tells what happened, with its last complaints.
    fn failure(&mut self, what: &str) -> anyhow::Error {
        let status = self.end();
        // Nothing is ever sent; this waits until the last words are in.
        let _ = self.complained.recv_timeout(LAST_WORDS);
        let kept: Vec<u8> = match self.complaints.lock() {
            Ok(kept) => kept.iter().copied().collect(),
            Err(_) => Vec::new(),
        };
        let said = String::from_utf8_lossy(&kept).trim().to_string();
        let said = if said.is_empty() { "nothing on stderr".into() } else { format!("stderr: {said}") };
        anyhow!("{} {what} ({status}; {said})", self.name)
    }

    fn end(&mut self) -> String {
        // A closed pipe is the peer's signal to end; kill does nothing to one that has ended already.
        self.stdin = None;
        if self.lines.recv_timeout(LEAVE) != Err(RecvTimeoutError::Disconnected) {
            let _ = self.child.kill();
        }
        self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string())
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.end();
    }
}

fn keep_the_end(mut from: impl Read, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let Ok(mut kept) = kept.lock() else { return };
        kept.extend(&buffer[..count]);
        let surplus = kept.len().saturating_sub(STDERR_KEPT);
        kept.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake(script: &str) -> Result<Outside> {
        Outside::start("fake", Command::new("sh").args(["-c", script]), Duration::from_secs(60))
    }

    fn complaint<T>(result: Result<T>) -> String {
        match result {
            Ok(_) => "no error".into(),
            Err(e) => format!("{e:#}"),
        }
    }

    #[test]
    fn a_fake_peer_answers_refuses_and_babbles() {
        let script = r#"echo ready; while read what case; do
            case $what in hit) echo ok 1500.5 $case 1;; no) echo error not mine;; *) echo hm;; esac; done"#;
        let mut peer = fake(script).unwrap();
        let timed = peer.ask("hit 7").unwrap();
        assert_eq!((timed.nanoseconds, timed.answer), (1500.5, vec!["7".to_string(), "1".into()]));
        assert_eq!(complaint(peer.ask("no 7")), "fake: not mine");
        assert_eq!(complaint(peer.ask("what 7")), "fake said \"hm\" to \"what 7\"");
        assert_eq!(peer.ask("hit 8").unwrap().answer[0], "8", "an error does not end the peer");
    }

    #[test]
    fn a_peer_that_dies_is_quoted() {
        let text = complaint(fake("echo no such library >&2; exit 3"));
        assert!(text.contains("ended") && text.contains("3") && text.contains("no such library"), "{text}");
        let mut peer = fake("echo ready; read line; echo oh no >&2; exit 1").unwrap();
        let text = complaint(peer.ask("hit 1"));
        assert!(text.contains("oh no"), "{text}");
    }

    #[test]
    fn a_peer_that_hangs_is_ended() {
        let start = std::time::Instant::now();
        let peer = Outside::start("fake", Command::new("sleep").arg("60"), Duration::from_millis(100));
        assert!(complaint(peer).contains("gave no answer"));
        assert!(start.elapsed() < Duration::from_secs(50));
    }
}
