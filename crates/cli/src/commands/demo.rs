use crate::{args, exit::Exit, failure::Failure, printer::Printer, surroundings::Surroundings};
pub(crate) fn demo(_: &args::Demo, _: &Surroundings, _: &Printer) -> Result<Exit, Failure> {
    Ok(Exit::Holds)
}
