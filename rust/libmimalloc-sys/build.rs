//! Compiles the allocator: `c/src/static.c` is all of it.

use std::env;
use std::path::PathBuf;

fn feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

fn setting(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Where `src` and `include` are: in a package below `c`. In the tree `c` holds links to them, which
/// some systems do not check out.
fn sources() -> PathBuf {
    let here = PathBuf::from(setting("CARGO_MANIFEST_DIR"));
    let packaged = here.join("c");
    if packaged.join("src/static.c").exists() {
        packaged
    } else {
        here.join("../..")
    }
}

/// A program, and a library that it is linked with, reaches thread-local variables without a call
/// by this model. Libraries opened later share a reserve that is small in glibc and missing in musl.
fn thread_local_model() -> &'static str {
    let dynamic_musl = setting("CARGO_CFG_TARGET_ENV") == "musl"
        && !setting("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    if feature("LOCAL_DYNAMIC_TLS") || dynamic_musl {
        "-ftls-model=local-dynamic"
    } else {
        "-ftls-model=initial-exec"
    }
}

/// Whether some of gcc's atomic operations are functions of libatomic: those on bytes for RISC-V, on 64
/// bits for small processors. The linker drops what it does not need.
fn needs_libatomic() -> bool {
    let target = setting("TARGET");
    ["riscv", "mips", "powerpc-", "sparc-", "armv4t", "armv5", "arm-"]
        .iter()
        .any(|start| target.starts_with(start))
}

fn define_features(build: &mut cc::Build) {
    let is_debug = feature("DEBUG") || feature("DEBUG_IN_DEBUG") && setting("PROFILE") == "debug";
    build.define("MI_DEBUG", if is_debug { "2" } else { "0" });
    build.define("MI_SECURE", if feature("SECURE") { "4" } else { "0" });
    if feature("OVERRIDE") {
        build.define("MI_MALLOC_OVERRIDE", "1");
    }
    if feature("NO_THP") {
        build.define("MI_NO_THP", "1");
    }
}

fn main() {
    let os = setting("CARGO_CFG_TARGET_OS");
    if os != "linux" {
        eprintln!("This version of the allocator runs on Linux; there is no port to {os} yet.");
        std::process::exit(1);
    }
    let sources = sources();
    let mut build = cc::Build::new();
    build.file(sources.join("src/static.c")).std("c11").warnings(false);
    for flag in [
        "-fvisibility=hidden",
        "-fno-semantic-interposition",
        "-fno-builtin-malloc",
        "-fexceptions",
        "-falign-functions=32",
        thread_local_model(),
    ] {
        build.flag_if_supported(flag);
    }
    if matches!(setting("OPT_LEVEL").as_str(), "0" | "1") {
        build.opt_level(2); // a program in the making is slow enough without a slow malloc
    }
    define_features(&mut build);
    build.compile("mimalloc");

    if needs_libatomic() {
        println!("cargo:rustc-link-lib=atomic");
    }
    println!("cargo:include={}", sources.join("include").display());
    for input in ["build.rs".into(), sources.join("src"), sources.join("include")] {
        println!("cargo:rerun-if-changed={}", input.display());
    }
}
