//! The description of a table that readers of Arrow look for in a Parquet file: Parquet itself knows lists, and only
//! this tells that each of them has one size.
//!
//! It is the schema message of Arrow's IPC format (Schema.fbs and Message.fbs of the Arrow specification, metadata
//! version 5), in base64 under the key `ARROW:schema`.

use base64::Engine as _;
use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, VOffsetT, WIPOffset};

use super::cells::{Column, Kind};

/// The key under which readers look for it.
pub(super) const KEY: &str = "ARROW:schema";

/// `MetadataVersion.V5`.
const VERSION: i16 = 4;
/// `MessageHeader.Schema`.
const SCHEMA: u8 = 1;
/// What a message begins with, before its length.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Members of the union `Type`.
const INT: u8 = 2;
const FLOATING_POINT: u8 = 3;
const UTF8: u8 = 5;
const FIXED_SIZE_LIST: u8 = 16;
/// `Precision.SINGLE`.
const SINGLE: i16 = 1;

/// Where the field of a number stands in the table of a type of the format.
const fn slot(number: VOffsetT) -> VOffsetT {
    4 + 2 * number
}

/// The description of `columns`.
pub(super) fn schema(columns: &[Column]) -> String {
    let mut to = FlatBufferBuilder::new();
    let fields: Vec<_> = columns.iter().map(|column| field(&mut to, column)).collect();
    let fields = to.create_vector(&fields);
    let schema = to.start_table();
    to.push_slot_always(slot(1), fields);
    let schema = to.end_table(schema);
    let message = to.start_table();
    to.push_slot_always(slot(0), VERSION);
    to.push_slot_always(slot(1), SCHEMA);
    to.push_slot_always(slot(2), schema);
    let message = to.end_table(message);
    to.finish_minimal(message);
    let bytes = to.finished_data();
    // The length is that of the message with the bytes that fill it up to a multiple of eight.
    let padded = bytes.len().next_multiple_of(8);
    let mut framed = CONTINUATION.to_vec();
    framed.extend(u32::try_from(padded).unwrap_or(u32::MAX).to_le_bytes());
    framed.extend(bytes);
    framed.resize(8 + padded, 0);
    base64::engine::general_purpose::STANDARD.encode(framed)
}

/// A table of the format that is finished, of whichever type.
type Finished = WIPOffset<flatbuffers::TableFinishedWIPOffset>;

fn field<'b>(to: &mut FlatBufferBuilder<'b>, column: &Column) -> Finished {
    let kind = match column.kind {
        Kind::Whole => (INT, whole(to)),
        Kind::Float => (FLOATING_POINT, float(to)),
        Kind::Text => (UTF8, empty(to)),
        Kind::Vector(width) => (FIXED_SIZE_LIST, fixed_size_list(to, width)),
    };
    let children: Vec<Finished> = match column.kind {
        Kind::Vector(_) => {
            let of = float(to);
            vec![named(to, "element", false, (FLOATING_POINT, of), &[])]
        }
        _ => Vec::new(),
    };
    named(to, &column.name, !column.required, kind, &children)
}

fn named<'b>(
    to: &mut FlatBufferBuilder<'b>,
    name: &str,
    nullable: bool,
    (kind, table): (u8, WIPOffset<UnionWIPOffset>),
    children: &[Finished],
) -> Finished {
    let name = to.create_string(name);
    // Readers want the list of children even where there is none.
    let children = to.create_vector(children);
    let field = to.start_table();
    to.push_slot_always(slot(0), name);
    to.push_slot_always(slot(1), nullable);
    to.push_slot_always(slot(2), kind);
    to.push_slot_always(slot(3), table);
    to.push_slot_always(slot(5), children);
    to.end_table(field)
}

fn whole(to: &mut FlatBufferBuilder<'_>) -> WIPOffset<UnionWIPOffset> {
    let table = to.start_table();
    to.push_slot_always(slot(0), 64_i32);
    to.push_slot_always(slot(1), true);
    to.end_table(table).as_union_value()
}

fn float(to: &mut FlatBufferBuilder<'_>) -> WIPOffset<UnionWIPOffset> {
    let table = to.start_table();
    to.push_slot_always(slot(0), SINGLE);
    to.end_table(table).as_union_value()
}

fn fixed_size_list(to: &mut FlatBufferBuilder<'_>, width: u32) -> WIPOffset<UnionWIPOffset> {
    let table = to.start_table();
    to.push_slot_always(slot(0), i32::try_from(width).unwrap_or(i32::MAX));
    to.end_table(table).as_union_value()
}

fn empty(to: &mut FlatBufferBuilder<'_>) -> WIPOffset<UnionWIPOffset> {
    let table = to.start_table();
    to.end_table(table).as_union_value()
}
