//! Set-up, tests, benchmarks and packaging of the project.

fn main() {}
