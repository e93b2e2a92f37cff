//! Whether a file that a program made is the declared output.

use std::collections::BTreeMap;
use std::io::{BufReader, Read as _};
use std::path::Path;

use exr::block::reader::ChunksReader as _;
use fs_err::File;
use pilote_spec::{ExactJson, FileDecode, OneColour, Output, OutputSpec, Reason, Refusal, WorkReason};
use serde::de::IgnoredAny;

/// Bytes of an output that is kept as a text or a value in the record itself.
const TEXT_BYTES_MAX: u64 = 16 << 20;
/// Bytes of a text that are looked at at a time.
const PIECE_BYTES: u64 = 1 << 20;
/// Bytes that the pixels of a PNG, or of one block of an OpenEXR image, may take.
const IMAGE_BYTES_MAX: usize = 1 << 30;

/// The output in the file at `path`, which the program said that it had made.
///
/// # Errors
/// The refusal of the item: the file is absent, empty, or does not decode as declared.
pub(super) fn output(spec: &OutputSpec, path: &Path) -> Result<Output, Refusal> {
    let bytes = match fs_err::symlink_metadata(path) {
        Ok(found) if found.is_file() => found.len(),
        Ok(_) => return Err(bad("it is no regular file")),
        Err(_) => return Err(bad("the program ended well and made no file")),
    };
    if bytes == 0 {
        return Err(bad("it is empty"));
    }
    match spec {
        OutputSpec::File { decode, one_colour, .. } => {
            decodes(*decode, *one_colour, path)?;
            match path.to_str() {
                Some(path) => Ok(Output::FileMade { path: path.to_owned() }),
                None => Err(bad("its name is no UTF-8")),
            }
        }
        OutputSpec::Category { .. } => {
            let (category, others) = (text(path, bytes)?.trim().to_owned(), Vec::new());
            Ok(Output::Category { category, score: None, others, cut_at_tokens: None })
        }
        OutputSpec::Json { .. } => match ExactJson::read(&text(path, bytes)?) {
            Ok(value) => Ok(Output::Json { value, made_with: Default::default() }),
            Err(error) => Err(Refusal::new(Reason::Work(WorkReason::InvalidOutput)).with("detail", error)),
        },
        // Another kind than a text is refused by the deliverable.
        OutputSpec::Text {} | OutputSpec::Vector { .. } => {
            Ok(Output::Text { text: text(path, bytes)?, made_with: Default::default() })
        }
    }
}

fn decodes(decode: FileDecode, one_colour: OneColour, path: &Path) -> Result<(), Refusal> {
    let reader = || File::open(path).map(BufReader::new).map_err(|error| bad(&error.to_string()));
    match decode {
        FileDecode::Any => Ok(()),
        FileDecode::Text => decodes_as_text(reader()?),
        FileDecode::Json => serde_json::from_reader::<_, IgnoredAny>(reader()?)
            .map(|_| ())
            .map_err(|error| bad(&format!("no JSON: {error}"))),
        FileDecode::Png => {
            let one = png_of_one_colour(reader()?).map_err(|error| bad(&format!("no PNG: {error}")))?;
            of_colours(one_colour, one)
        }
        FileDecode::Exr => {
            let one = exr_of_one_colour(reader()?).map_err(|error| bad(&format!("no OpenEXR: {error}")))?;
            of_colours(one_colour, one)
        }
    }
}

fn of_colours(one_colour: OneColour, one: bool) -> Result<(), Refusal> {
    match (one_colour, one) {
        (OneColour::Refuse, true) => Err(bad("every pixel of the image has the same colour")),
        _ => Ok(()),
    }
}

/// Decodes every block of every layer of an OpenEXR image, one at a time, and says whether each channel has one value.
fn exr_of_one_colour(reader: BufReader<File>) -> Result<bool, exr::error::Error> {
    let chunks = exr::block::read(reader, true)?.all_chunks(true)?;
    let headers = chunks.meta_data().headers.clone();
    if let Some(large) =
        headers.iter().map(exr::meta::header::Header::max_block_byte_size).find(|it| *it > IMAGE_BYTES_MAX)
    {
        return Err(exr::error::Error::NotSupported(format!("a block of {large} bytes is too large").into()));
    }
    let mut first: BTreeMap<(usize, usize), Vec<u8>> = BTreeMap::new();
    let mut one = true;
    for block in chunks.sequential_decompressor(true) {
        let block = block?;
        let layer = block.index.layer;
        let Some(channels) = headers.get(layer).map(|header| &header.channels) else { continue };
        for line in block.lines(channels) {
            let channel = line.location.channel;
            let Some(sample) = channels.list.get(channel).map(|it| it.sample_type.bytes_per_sample()) else {
                continue;
            };
            for seen in line.value.chunks_exact(sample) {
                one = one && first.entry((layer, channel)).or_insert_with(|| seen.to_vec()) == seen;
            }
        }
    }
    Ok(one)
}

/// Reads a text of any size to its end, a piece at a time.
fn decodes_as_text(mut reader: BufReader<File>) -> Result<(), Refusal> {
    let (mut held, mut before, mut says) = (Vec::new(), 0_usize, false);
    loop {
        let more = reader.by_ref().take(PIECE_BYTES).read_to_end(&mut held);
        let ended = more.map_err(|error| bad(&error.to_string()))? == 0;
        let valid = match std::str::from_utf8(&held) {
            Ok(text) => text.len(),
            // A character that the end of the piece cut goes on in the next one.
            Err(error) if error.error_len().is_none() && !ended => error.valid_up_to(),
            Err(error) => return Err(bad(&format!("no UTF-8 at byte {}", before + error.valid_up_to()))),
        };
        says = says || std::str::from_utf8(&held[..valid]).is_ok_and(|text| !text.trim().is_empty());
        held.drain(..valid);
        before += valid;
        match (ended, says) {
            (false, _) => {}
            (true, true) => return Ok(()),
            (true, false) => return Err(bad("nothing but white space is in it")),
        }
    }
}

/// Decodes a PNG to its last pixel and end marker, and says whether all of its pixels have one colour.
fn png_of_one_colour(reader: BufReader<File>) -> Result<bool, png::DecodingError> {
    let mut decoder = png::Decoder::new_with_limits(reader, png::Limits { bytes: IMAGE_BYTES_MAX });
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut image = decoder.read_info()?;
    let (mut first, mut one): (Option<Vec<u8>>, bool) = (None, true);
    let (colour, depth) = image.output_color_type();
    let pixel = colour.samples() * if depth == png::BitDepth::Sixteen { 2 } else { 1 };
    while let Some(row) = image.next_row()? {
        for seen in row.data().chunks_exact(pixel) {
            one = one && first.get_or_insert_with(|| seen.to_vec()).as_slice() == seen;
        }
    }
    image.finish()?;
    Ok(one)
}

fn text(path: &Path, bytes: u64) -> Result<String, Refusal> {
    if bytes > TEXT_BYTES_MAX {
        return Err(bad(&format!("{bytes} bytes, and {TEXT_BYTES_MAX} are the most for a text")));
    }
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(TEXT_BYTES_MAX).read_to_string(&mut text))
        .map_err(|error| bad(&format!("it is no UTF-8 text: {error}")))?;
    Ok(text)
}

fn bad(detail: &str) -> Refusal {
    Refusal::new(Reason::Work(WorkReason::BadFile)).with("detail", detail)
}
