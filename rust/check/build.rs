//! Writes, from the declarations in Rust, what C and what Rust say of each constant, each struct and
//! each function: `ours`, compiled here from C, and `rust.rs`, which tests/layout.rs includes.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

struct Facts {
    c: String,
    rust: String,
}

impl Facts {
    /// A number that both languages have.
    fn number(&mut self, name: &str, c: &str, rust: &str) {
        writeln!(self.c, "  (long long)({c}),").unwrap();
        writeln!(self.rust, "    (\"{name}\", ({rust}) as i64),").unwrap();
    }
}

fn main() {
    let declarations =
        ["bindings.rs", "lib.rs"].map(|name| format!("../libmimalloc-sys/src/{name}"));
    let text =
        declarations.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<String>();
    let mut facts = Facts { c: String::new(), rust: String::new() };
    let mut functions = String::new();
    let mut inside = "";
    for line in text.lines() {
        let name_after = |start: &str| {
            let rest = line.strip_prefix(start)?;
            rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
        };
        if let Some(name) = name_after("pub const ") {
            facts.number(name, name, &format!("ffi::{name}"));
        } else if let Some(name) = name_after("pub type ") {
            facts.number(name, &c_size(name), &format!("size_of::<ffi::{name}>()"));
        } else if let Some(name) = name_after("pub struct ") {
            inside = name;
            if !is_opaque(name) {
                facts.number(
                    name,
                    &format!("sizeof(struct {name})"),
                    &format!("size_of::<ffi::{name}>()"),
                );
                facts.number(
                    name,
                    &format!("_Alignof(struct {name})"),
                    &format!("align_of::<ffi::{name}>()"),
                );
            }
        } else if line == "}" {
            inside = "";
        } else if let Some(function) = name_after("    pub fn mi_") {
            writeln!(functions, "    ffi::mi_{function} as *const (),").unwrap();
        } else if let Some(field) = name_after("    pub ").filter(|_| !is_opaque(inside)) {
            let name = format!("{inside}.{field}");
            facts.number(
                &name,
                &format!("offsetof(struct {inside}, {field})"),
                &format!("offset_of!(ffi::{inside}, {field})"),
            );
            facts.number(
                &name,
                &format!("sizeof(((struct {inside}*)0)->{field})"),
                &format!("size_of_field(|s: &ffi::{inside}| &raw const s.{field})"),
            );
        }
    }
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let include = env::var("DEP_MIMALLOC_INCLUDE").unwrap();
    let c = format!(
        "{}const long long ours[] = {{\n{}}};\n\
         const long long ours_count = sizeof(ours) / sizeof(ours[0]);\n",
        includes(&include),
        facts.c
    );
    fs::write(out.join("ours.c"), c).unwrap();
    let rust = format!(
        "fn rust() -> Vec<(&'static str, i64)> {{\n    vec![\n{}    ]\n}}\nfn functions() -> Vec<*const ()> {{\n    vec![\n{functions}    ]\n}}\n",
        facts.rust
    );
    fs::write(out.join("rust.rs"), rust).unwrap();
    cc::Build::new().file(out.join("ours.c")).include(include).compile("ours");
    for path in declarations {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}

/// All headers but that of macros and those of C++.
fn includes(folder: &str) -> String {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let names = files.map(|name| name.into_string().unwrap());
    names
        .filter(|name| name.ends_with(".h") && !name.contains("override"))
        .filter(|name| !name.contains("new-delete") && !name.contains("cpp"))
        .map(|name| format!("#include <{name}>\n"))
        .collect()
}

fn is_opaque(name: &str) -> bool {
    matches!(name, "" | "mi_heap_s" | "mi_theap_s" | "mi_profiler_s")
}

/// The size of what the Rust type of this name is: a pointer, where C has a type of a function.
fn c_size(name: &str) -> String {
    match name {
        "mi_heap_t" | "mi_theap_t" | "mi_profiler_t" => "0".into(),
        _ if name.ends_with("_e") => format!("sizeof(enum {name})"),
        _ if name.contains("_fun") => format!("sizeof({name}*)"),
        _ => format!("sizeof({name})"),
    }
}
