//! Migrations are read while compiling, where Cargo does not see a new file by itself.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
