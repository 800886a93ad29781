//! Builds the library for ONNX Runtime beside the module, for the wheel to ship (`include` in pyproject.toml).
//!
//! A wheel is made from one crate, and on stable Rust a crate cannot ask for the C library of another: so this is a
//! second run of cargo, with a target directory of its own because the first run holds the lock of the usual one.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    for path in ["../onnxruntime", "../kernels", "../../Cargo.toml", "../../Cargo.lock"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let variable = |name| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    let (out, target, profile) = (PathBuf::from(variable("OUT_DIR")), variable("TARGET"), variable("PROFILE"));
    let cargo = |command| {
        let mut cargo = Command::new(variable("CARGO"));
        // The first run has brought the lock up to date, or was told to leave it alone.
        cargo.args([command, "--locked"]);
        cargo
    };
    // No word of the first run's `--offline` comes here: so the network is used only for what is not here yet.
    let here = cargo("metadata").args(["--offline", "--format-version=1", "--filter-platform", &target]).output();
    let status = cargo("build")
        .args(["--package", "extremum-onnxruntime", "--target", &target])
        .args(here.is_ok_and(|metadata| metadata.status.success()).then_some("--offline"))
        // ort-sys asks for a newer Rust than its declarations need: ours is in Cargo.toml, and tested.
        .arg("--ignore-rust-version")
        .args(["--profile", if profile == "debug" { "dev" } else { &profile }])
        .arg("--target-dir")
        .arg(out.join("target"))
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
        // Under clippy this would be a lint run, and a second build with other fingerprints.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the library for ONNX Runtime was not built: {status}");

    let system = variable("CARGO_CFG_TARGET_OS");
    let name = match system.as_str() {
        "windows" => "extremum_onnxruntime.dll",
        "macos" => "libextremum_onnxruntime.dylib",
        _ => "libextremum_onnxruntime.so",
    };
    let built = out.join("target").join(&target).join(&profile).join(name);
    fs::copy(built, out.join(name)).expect("the library can be copied");
}
