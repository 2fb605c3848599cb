//! Which modules a source text names: its paths from `crate` and `super`, use trees expanded, in order.
//!
//! No parser: comments and literals are blanked, what is left is cut into words and signs. The bodies of
//! `#[cfg(test)] mod … { … }` are left out; everything else is read to the end of the file.

/// What a source text says about modules.
#[derive(Debug, Default, PartialEq)]
pub struct Scan {
    /// Every path from the crate's root, with `super` and `self` resolved.
    pub paths: Vec<Vec<String>>,
    /// The files of its test modules (`#[cfg(test)] mod name;`), without `.rs`, as their declarations name them.
    pub test_files: Vec<String>,
    /// What `use` makes visible under a name of its own: the name and its path, as written.
    pub reexports: Vec<(String, Vec<String>)>,
}

/// Reads the text of the module `own`, a path from the crate's root.
pub fn scan(text: &str, own: &[String]) -> Scan {
    let tokens = tokens(text);
    let mut found = Scan::default();
    // Inline modules that are open, with the depth of braces outside each.
    let mut inline: Vec<(String, usize)> = Vec::new();
    let (mut depth, mut at) = (0, 0);
    while at < tokens.len() {
        match tokens[at].as_str() {
            "#" if is(&tokens[at..], &["#", "[", "cfg", "(", "test", ")", "]"]) => {
                at = test_item(&tokens, at, &mut found.test_files);
                continue;
            }
            "mod" => {
                // In a macro the name may be `$name`.
                let name = at + 1 + usize::from(is(&tokens[at + 1..], &["$"]));
                if let Some((name, "{")) = pair(&tokens, name) {
                    inline.push((name.to_string(), depth));
                }
            }
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                inline.pop_if(|(_, outside)| *outside == depth);
            }
            "use" if at > 0 && matches!(tokens[at - 1].as_str(), "pub" | ")") => {
                let mut names = Vec::new();
                tree(&tokens, at + 1, &[], &mut names);
                found.reexports.extend(names);
            }
            "crate" | "super" | "self" if starts_path(&tokens, at) => {
                let mut module = own.to_vec();
                module.extend(inline.iter().map(|(name, _)| name.clone()));
                let mut leaves = Vec::new();
                at = tree(&tokens, at, &[], &mut leaves);
                found.paths.extend(leaves.into_iter().map(|(_, path)| absolute(&path, &module)));
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// A written path from the crate's root; the `module` is where it is written.
pub fn absolute(path: &[String], module: &[String]) -> Vec<String> {
    if path[0] == "crate" {
        return path[1..].to_vec();
    }
    let supers = path.iter().skip_while(|s| *s == "self").take_while(|s| *s == "super").count();
    let named = path.iter().skip_while(|s| matches!(s.as_str(), "self" | "super"));
    let kept = module.len().checked_sub(supers).expect("super above the root");
    module[..kept].iter().chain(named).cloned().collect()
}

fn is(tokens: &[String], start: &[&str]) -> bool {
    tokens.len() >= start.len() && tokens.iter().zip(start).all(|(a, b)| a == b)
}

fn pair(tokens: &[String], at: usize) -> Option<(&str, &str)> {
    Some((tokens.get(at)?, tokens.get(at + 1)?))
}

/// `pub(crate)`, `&self` and `a::self` start no path.
fn starts_path(tokens: &[String], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|next| next == "::") && (at == 0 || tokens[at - 1] != "::")
}

/// What follows a `#[cfg(test)]`: goes over the body of a module, notes the file of one; where to read on.
fn test_item(tokens: &[String], start: usize, files: &mut Vec<String>) -> usize {
    let mut at = start + 7;
    let mut path = None;
    while is(&tokens[at..], &["#", "["]) {
        if is(&tokens[at + 2..], &["path", "="]) {
            path = Some(tokens[at + 4].trim_matches('"').trim_end_matches(".rs").to_string());
        }
        at += 1 + closing(&tokens[at + 1..]);
    }
    while matches!(tokens[at].as_str(), "pub" | "(" | "crate" | "super" | ")") {
        at += 1;
    }
    match (tokens[at].as_str(), pair(tokens, at + 1)) {
        ("mod", Some((name, ";"))) => {
            files.push(path.unwrap_or_else(|| name.to_string()));
            at + 3
        }
        ("mod", Some((_, "{"))) => at + 2 + closing(&tokens[at + 2..]),
        _ => at,
    }
}

/// How many tokens from the opening bracket at 0 to behind the one that closes it.
fn closing(tokens: &[String]) -> usize {
    let mut depth = 0;
    for (k, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return k + 1;
        }
    }
    panic!("a bracket is not closed")
}

/// The leaves of a path or use tree with the names they get; where the tree ends.
fn tree(tokens: &[String], start: usize, prefix: &[String], out: &mut Vec<(String, Vec<String>)>) -> usize {
    let mut path = prefix.to_vec();
    let mut at = start;
    loop {
        match tokens[at].as_str() {
            "{" => {
                at += 1;
                while tokens[at] != "}" {
                    at = tree(tokens, at, &path, out);
                    at += usize::from(tokens[at] == ",");
                }
                return at + 1;
            }
            "self" if !path.is_empty() => at += 1,
            name if name == "*" || is_word(name) => {
                path.push(name.to_string());
                at += 1;
            }
            _ => break,
        }
        if tokens.get(at).is_none_or(|t| t != "::") {
            break;
        }
        at += 1;
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if let Some(("as", new)) = pair(tokens, at) {
        name = new.to_string();
        at += 2;
    }
    out.push((name, path));
    at
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words, `::` and single signs, without comments; of literals only `"…"` as one token (a `#[path]` has one).
fn tokens(text: &str) -> Vec<String> {
    let c: Vec<char> = text.chars().collect();
    let ahead = |at: usize, what: &str| what.chars().enumerate().all(|(k, x)| c.get(at + k) == Some(&x));
    let (mut out, mut at) = (Vec::new(), 0);
    while at < c.len() {
        let from = at;
        if ahead(at, "//") {
            at = (at..c.len()).find(|&k| c[k] == '\n').unwrap_or(c.len());
        } else if ahead(at, "/*") {
            at = block_comment(&c, at);
        } else if c[at] == '"' {
            at = quoted(&c, at);
            out.push(c[from..at].iter().collect());
        } else if let Some(end) = raw_string(&c, at) {
            at = end;
        } else if c[at].is_alphanumeric() || c[at] == '_' {
            at = (at..c.len()).find(|&k| !(c[k].is_alphanumeric() || c[k] == '_')).unwrap_or(c.len());
            out.push(c[from..at].iter().collect());
        } else if c[at] == '\'' {
            // A character, or a lifetime, whose name is read as a word.
            let character = c.get(at + 1) == Some(&'\\') || c.get(at + 2) == Some(&'\'');
            at = if character { quoted(&c, at) } else { at + 1 };
        } else if ahead(at, "::") {
            out.push("::".into());
            at += 2;
        } else {
            if !c[at].is_whitespace() {
                out.push(c[at].into());
            }
            at += 1;
        }
    }
    out
}

/// Behind a literal that ends by the sign it begins with.
fn quoted(c: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while c[at] != c[start] {
        at += if c[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Behind a raw string, if one starts here.
fn raw_string(c: &[char], start: usize) -> Option<usize> {
    let r = start + usize::from(c[start] == 'b');
    if c.get(r) != Some(&'r') {
        return None;
    }
    let hashes = c[r + 1..].iter().take_while(|&&x| x == '#').count();
    let open = r + 1 + hashes;
    if c.get(open) != Some(&'"') {
        return None;
    }
    let ends = |k: usize| c[k] == '"' && (1..=hashes).all(|h| c.get(k + h) == Some(&'#'));
    (open + 1..c.len()).find(|&k| ends(k)).map(|k| k + 1 + hashes)
}

/// Behind a block comment; they nest.
fn block_comment(c: &[char], start: usize) -> usize {
    let (mut depth, mut at) = (1, start + 2);
    while depth > 0 {
        match (c[at], c.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at
}
