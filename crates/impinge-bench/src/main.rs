//! impinge and its peers on the same inputs in one run.

fn main() {}
