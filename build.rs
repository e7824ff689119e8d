//! The migrations are compiled in: a new one must make the crate compile again.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
