//! Tells the tests at which optimisation level they were compiled, because Cargo tells it to build
//! scripts alone.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let level = std::env::var("OPT_LEVEL").expect("Cargo sets OPT_LEVEL for build scripts");
    println!("cargo::rustc-env=COMPILED_AT_OPT_LEVEL={level}");
}
