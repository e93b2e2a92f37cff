//! The program `pilote`.

fn main() {}
