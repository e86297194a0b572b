//! Each public item has an example in its documentation: the sources are searched for `pub`, so that
//! constants, and what a macro makes, are among them. Of the declarations that are made from the C
//! headers only the functions have examples; fields and names for types have those of their structs.

use std::fs;
use std::path::{Path, PathBuf};

const KINDS: [&str; 8] = ["fn", "const", "static", "struct", "enum", "union", "trait", "mod"];

/// The kind and the name of the public item that this line begins.
fn item(line: &str) -> Option<(&str, &str)> {
    let mut words = line.trim_start().strip_prefix("pub ")?.split([' ', '(', ':', '<', ';', '{']);
    let kind = words.find(|word| !["unsafe", "extern", "\"C\"", "async"].contains(word))?;
    let name = words.next()?;
    let is_function = kind == "const" && ["fn", "unsafe"].contains(&name);
    let name =
        if is_function { words.find(|word| !["fn", "unsafe"].contains(word))? } else { name };
    KINDS.contains(&kind).then_some((kind, name))
}

/// Whether there is an example in what belongs to the item and stands before it.
fn has_example(before: &[&str]) -> bool {
    let ends = |line: &str| line.is_empty() || line.ends_with(['{', '}', ';']);
    before
        .iter()
        .rev()
        .map(|line| line.trim())
        .take_while(|line| line.starts_with("///") || line.starts_with("#[") || !ends(line))
        .any(|line| line.contains("```") || line.contains("example!("))
}

fn without_example(text: &str, kinds: &[&str]) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let items = lines.iter().enumerate().filter_map(|(at, line)| Some((at, item(line)?)));
    items
        .filter(|(at, (kind, _))| kinds.contains(kind) && !has_example(&lines[..*at]))
        .map(|(_, (kind, name))| format!("{kind} {name}"))
        .collect()
}

fn sources(package: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package).join("src");
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn each_item_has_an_example() {
    let mut lacking = Vec::new();
    let mut items = 0;
    for path in ["mimalloc", "mimalloc-sys", "libmimalloc-sys"].iter().copied().flat_map(sources) {
        let text = fs::read_to_string(&path).unwrap();
        let made = path.ends_with("bindings.rs");
        let kinds = if made { &KINDS[..1] } else { &KINDS[..] };
        items += text.lines().filter_map(item).filter(|(kind, _)| kinds.contains(kind)).count();
        let here = without_example(&text, kinds);
        lacking.extend(here.iter().map(|item| format!("{}: {item}", path.display())));
    }
    assert!(lacking.is_empty(), "without an example:\n{}", lacking.join("\n"));
    assert!(items > 300, "only {items} items were found");
}

#[test]
fn an_item_without_one_is_found() {
    let text = "\
/// One.
///
/// ```
/// one();
/// ```
pub fn one() {}
/// Two.
pub const unsafe fn two() {}
#[derive(Debug)]
pub struct Three {
    pub field: i32,
}
pub(crate) fn four() {}
impl Three {
    /// Five: {
    pub const FIVE: i32 = 5;
    /// ```
    /// Three::six();
    /// ```
    #[cfg(all(
        unix,
        windows
    ))]
    pub unsafe fn six() {}
}
";
    assert_eq!(without_example(text, &KINDS), ["const two", "struct Three", "const FIVE"]);
}
