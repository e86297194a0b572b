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
/// by this model. Libraries opened later share a reserve that is small in glibc and missing in musl
/// and Android.
fn thread_local_model() -> &'static str {
    let dynamic_musl = setting("CARGO_CFG_TARGET_ENV") == "musl"
        && !setting("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    let android = setting("CARGO_CFG_TARGET_OS") == "android";
    if feature("LOCAL_DYNAMIC_TLS") || dynamic_musl || android {
        "-ftls-model=local-dynamic"
    } else {
        "-ftls-model=initial-exec"
    }
}

/// Whether some of gcc's atomic operations are functions of libatomic: those on bytes for RISC-V, on 64
/// bits for small processors. The linker drops what it does not need.
fn needs_libatomic() -> bool {
    if setting("CARGO_CFG_TARGET_OS") != "linux" {
        return false;
    }
    let target = setting("TARGET");
    ["riscv", "mips", "powerpc-", "sparc-", "armv4t", "armv5", "arm-"]
        .iter()
        .any(|start| target.starts_with(start))
}

fn define_features(build: &mut cc::Build) {
    let is_debug = feature("DEBUG") || feature("DEBUG_IN_DEBUG") && setting("PROFILE") == "debug";
    build.define("MI_DEBUG", if is_debug { "2" } else { "0" });
    build.define("MI_SECURE", if feature("SECURE") { "4" } else { "0" });
    // Memory only grows in WASI: so the program has one malloc.
    if feature("OVERRIDE") || setting("CARGO_CFG_TARGET_OS") == "wasi" {
        build.define("MI_MALLOC_OVERRIDE", "1");
    }
    if feature("NO_THP") {
        build.define("MI_NO_THP", "1");
    }
}

fn refuse(reason: &str) -> ! {
    eprintln!("mimalloc is not built for {}: {reason}", setting("TARGET"));
    std::process::exit(1);
}

/// The systems that `src/static.c` has a port to.
fn check_system() {
    match setting("CARGO_CFG_TARGET_OS").as_str() {
        "linux" | "android" | "windows" | "emscripten" => {}
        "macos" | "ios" | "tvos" | "visionos" => {}
        "freebsd" | "dragonfly" | "netbsd" | "openbsd" => {}
        "wasi" if setting("TARGET").contains("threads") => {
            refuse("it has no port to WASI with threads")
        }
        "wasi" => {}
        _ => refuse(
            "it has ports to Linux, Android, Windows, macOS, iOS, tvOS, visionOS, FreeBSD, \
             DragonFly, NetBSD, OpenBSD, WASI and Emscripten",
        ),
    }
}

fn is_wasm() -> bool {
    setting("CARGO_CFG_TARGET_FAMILY").split(',').any(|family| family == "wasm")
}

/// For Microsoft's C runtime only clang-cl compiles this source.
fn check_compiler(build: &cc::Build) {
    if setting("CARGO_CFG_TARGET_ENV") != "msvc" {
        return;
    }
    let compiler = build.get_compiler();
    if compiler.is_like_msvc() && !compiler.is_like_clang_cl() {
        refuse("Microsoft's cl does not take the source; name clang-cl in the variable CC");
    }
}

fn add_flags(build: &mut cc::Build) {
    let mut flags = vec!["-fvisibility=hidden", "-fno-builtin-malloc"];
    if !is_wasm() {
        flags.extend([
            "-fno-semantic-interposition",
            "-fexceptions",
            "-falign-functions=32",
            thread_local_model(),
        ]);
    }
    let msvc = setting("CARGO_CFG_TARGET_ENV") == "msvc";
    for flag in flags {
        // clang-cl takes what is not said to be clang's for Microsoft's.
        build.flag_if_supported(if msvc { format!("/clang:{flag}") } else { flag.into() });
    }
}

fn main() {
    check_system();
    let sources = sources();
    let mut build = cc::Build::new();
    check_compiler(&build);
    build.file(sources.join("src/static.c")).std("c11").warnings(false);
    add_flags(&mut build);
    if matches!(setting("OPT_LEVEL").as_str(), "0" | "1") {
        build.opt_level(2); // a program in the making is slow enough without a slow malloc
    }
    define_features(&mut build);
    build.compile("mimalloc");

    if setting("CARGO_CFG_TARGET_OS") == "windows" {
        println!("cargo:rustc-link-lib=ntdll");
    }
    if needs_libatomic() {
        println!("cargo:rustc-link-lib=atomic");
    }
    println!("cargo:include={}", sources.join("include").display());
    for input in ["build.rs".into(), sources.join("src"), sources.join("include")] {
        println!("cargo:rerun-if-changed={}", input.display());
    }
}
