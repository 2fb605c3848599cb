//! Progress on stderr, shown only on a terminal.

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over this many bytes, or a spinner when the length is unknown.
pub fn bytes(length: Option<u64>, what: &str) -> ProgressBar {
    match length {
        Some(length) => {
            let style = "{msg} {wide_bar} {bytes}/{total_bytes} {eta}";
            shown(ProgressBar::with_draw_target(Some(length), target()), style, what)
        }
        None => shown(ProgressBar::with_draw_target(None, target()), "{spinner} {msg} {bytes}", what),
    }
}

/// A bar over this many frames.
pub fn frames(length: u64, what: &str) -> ProgressBar {
    let style = "{msg} {wide_bar} {pos}/{len} frames {eta}";
    shown(ProgressBar::with_draw_target(Some(length), target()), style, what)
}

/// A bar over pairs of parts; their number comes later.
pub fn pairs(what: &str) -> ProgressBar {
    let style = "{msg} {wide_bar} {pos}/{len} pairs {eta}";
    shown(ProgressBar::with_draw_target(Some(0), target()), style, what)
}

/// A spinner for work whose length is unknown.
pub fn spinner(what: &str) -> ProgressBar {
    let bar = shown(ProgressBar::with_draw_target(None, target()), "{spinner} {msg} {elapsed}", what);
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(120));
    }
    bar
}

fn shown(bar: ProgressBar, style: &str, what: &str) -> ProgressBar {
    // A style that cannot be read falls back to the crate's own bar.
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_message(what.to_string())
}

fn target() -> ProgressDrawTarget {
    if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
