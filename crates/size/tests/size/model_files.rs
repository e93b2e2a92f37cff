//! Readers of model files: what they find, and what they say of files that are not what they seem.

use pilote_size::memory::{PartKind, estimate};
use pilote_size::model::{
    Format, Kind, Mixer, architecture, checkpoint, gguf, layout, onnx, read, safetensors as st,
};
use pilote_size::{Origin, SizeError};
use proptest::prelude::*;

use super::fixtures::{
    GgufFile, Held, TRANSFORMERS, built, config_text, encode, folder, generate, safetensors, vllm,
};

fn message(error: &SizeError) -> String {
    error.to_string()
}

#[test]
fn a_sharded_model_is_the_sum_of_its_headers() {
    let facts = read(&folder("llama-3.1-8b", 4)).unwrap();
    assert_eq!(facts.format, Format::Safetensors);
    assert_eq!(facts.weight_bytes, Some(16_060_522_496));
    assert_eq!(facts.types["BF16"].tensors, 291);
    assert_eq!(facts.architecture.unwrap().kind, Kind::Decoder);
}

#[test]
fn every_type_of_safetensors_has_its_width() {
    for (dtype, values, bytes) in [
        ("F64", 8, 64),
        ("F32", 8, 32),
        ("BF16", 8, 16),
        ("F8_E4M3", 8, 8),
        ("F8_E5M2", 8, 8),
        ("F8_E8M0", 8, 8),
        ("F6_E2M3", 8, 6),
        ("F6_E3M2", 8, 6),
        ("F4", 8, 4),
        ("BOOL", 8, 8),
        ("C64", 8, 64),
        ("U16", 8, 16),
    ] {
        let (head, length) = safetensors(&[("t".into(), dtype, vec![values])]);
        let held = Held::default().with_length("model.safetensors", head, length);
        assert_eq!(read(&held).unwrap().weight_bytes, Some(bytes), "{dtype}");
    }
}

#[test]
fn a_header_that_is_cut_says_where_the_file_ends() {
    let (head, _) = safetensors(&[("t".into(), "F32", vec![64])]);
    for length in [0, 7, 8, 20] {
        let held = Held::default().with("model.safetensors", head[..length].to_vec());
        let error = read(&held).unwrap_err();
        assert_eq!(error.code(), "truncated");
        assert!(message(&error).contains(&format!("ends at byte {length}")), "{error}");
        assert!(message(&error).contains("fetch it again"), "{error}");
    }
}

#[test]
fn data_that_is_cut_is_not_summed_as_if_it_were_there() {
    let (head, length) = safetensors(&[("t".into(), "F32", vec![64])]);
    let held = Held::default().with_length("model.safetensors", head, length - 1);
    let error = read(&held).unwrap_err();
    assert_eq!(error.code(), "truncated");
    assert!(message(&error).contains("256 bytes are announced"), "{error}");
}

fn header(json: &str) -> Result<pilote_size::model::Tensors, SizeError> {
    st::parse_header("m.safetensors", json.as_bytes(), 1 << 20)
}

#[test]
fn hostile_safetensors_headers_are_errors_with_a_name() {
    for (json, said) in [
        ("[]", "invalid type"),
        ("{\"t\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[8,0]}}", "before its beginning"),
        ("{\"t\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,15]}}", "cannot be 15 bytes"),
        (
            "{\"t\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,2],\"data_offsets\":[0,8]}}",
            "impossible shape",
        ),
        ("{\"t\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,8]}}", "invalid value"),
        (
            "{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\
              \"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
            "there twice",
        ),
    ] {
        let error = header(json).unwrap_err();
        assert!(message(&error).contains(said), "{json} gave {error}");
        assert!(message(&error).starts_with("m.safetensors"), "{error}");
    }
}

#[test]
fn a_header_of_terabytes_is_refused_before_it_is_read() {
    let mut bytes = (1_u64 << 40).to_le_bytes().to_vec();
    bytes.extend([0; 64]);
    let error = read(&Held::default().with_length("model.safetensors", bytes, 1 << 41)).unwrap_err();
    assert!(message(&error).contains("100000000 are allowed"), "{error}");
}

#[test]
fn an_index_that_names_an_absent_file_or_tensor_is_refused() {
    let mut held = folder("llama-3.1-8b", 2);
    held.0.remove("model-00002-of-00002.safetensors");
    assert_eq!(read(&held).unwrap_err().code(), "no-model");
    let index = br#"{"weight_map": {"absent.weight": "a.safetensors"}}"#.to_vec();
    let (head, length) = safetensors(&[("t".into(), "F32", vec![1])]);
    let held = Held::default().with("model.safetensors.index.json", index).with_length(
        "a.safetensors",
        head,
        length,
    );
    assert!(message(&read(&held).unwrap_err()).contains("does not hold it"));
}

#[test]
fn gguf_tensors_are_summed_by_block_type_in_both_versions() {
    let file = || {
        GgufFile::default()
            .text("general.architecture", "llama")
            .int("llama.block_count", 2)
            .int("llama.embedding_length", 4096)
            .int("llama.attention.head_count", 32)
            .int("llama.attention.head_count_kv", 8)
            .words("tokenizer.ggml.tokens", &["a", "bc", "déf"])
            .tensor("token_embd.weight", &[4096, 14336], 12, 33_030_144)
            .tensor("blk.0.attn_q.weight", &[4096, 4096], 8, 17_825_792)
            .tensor("output_norm.weight", &[4096], 0, 16_384)
    };
    for version in [2, 3] {
        let (head, length) = file().build(version);
        let facts = read(&Held::default().with_length("model.gguf", head, length)).unwrap();
        assert_eq!(facts.weight_bytes, Some(33_030_144 + 17_825_792 + 16_384));
        assert_eq!(facts.types["Q4_K"].values, 4096 * 14336);
        let built = facts.architecture.unwrap();
        assert_eq!((built.vocabulary, built.tied, built.kv_heads), (Some(3), Some(true), Some(8)));
    }
}

#[test]
fn heads_that_differ_by_layer_are_read_from_the_array() {
    let file = GgufFile::default()
        .text("general.architecture", "openelm")
        .int("openelm.block_count", 3)
        .int("openelm.embedding_length", 1024)
        .int("openelm.attention.head_count", 16)
        .ints("openelm.attention.head_count_kv", &[4, 0, 2]);
    let mixers = read(&file.held()).unwrap().architecture.unwrap().mixers.unwrap();
    let heads = |mixer: &Mixer| match mixer {
        Mixer::Attention { kv_heads, .. } => *kv_heads,
        _ => 0,
    };
    assert_eq!(mixers.iter().map(heads).collect::<Vec<_>>(), [4, 0, 2]);
}

#[test]
fn every_block_type_has_a_number_of_its_own_and_whole_blocks() {
    for (at, block) in gguf::BLOCK_TYPES.iter().enumerate() {
        assert!(gguf::BLOCK_TYPES[..at].iter().all(|earlier| earlier.id < block.id), "{}", block.name);
        let file = GgufFile::default().tensor("t", &[block.weights * 4], block.id, block.bytes * 4);
        assert_eq!(read(&file.held()).unwrap().weight_bytes, Some(block.bytes * 4), "{}", block.name);
    }
}

#[test]
fn an_unknown_block_type_takes_its_bytes_from_the_offsets() {
    let file = GgufFile::default().tensor("a", &[64], 99, 160).tensor("b", &[8], 0, 32);
    let facts = read(&file.held()).unwrap();
    assert_eq!(facts.weight_bytes, Some(192));
    assert!(facts.notes[0].contains("block type 99"), "{:?}", facts.notes);
}

#[test]
fn hostile_gguf_heads_are_errors_with_a_reason() {
    let (good, length) = GgufFile::default().tensor("a", &[64], 8, 68).build(3);
    let with = |at: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        read(&Held::default().with_length("m.gguf", bad, length)).unwrap_err().to_string()
    };
    assert!(with(0, b"GGML").contains("does not begin with `GGUF`"));
    assert!(with(4, &1_u32.to_le_bytes()).contains("version 1"));
    assert!(with(4, &3_u32.to_be_bytes()).contains("big-endian"));
    assert!(with(8, &u64::MAX.to_le_bytes()).contains("the file is incomplete"));
    assert!(with(16, &(1_u64 << 40).to_le_bytes()).contains("the file is incomplete"));
    assert!(with(24, &u64::MAX.to_le_bytes()).contains("the list of tensors"));
    assert!(with(33, &9_u32.to_le_bytes()).contains("9 dimensions"));
    assert!(with(37, &33_u64.to_le_bytes()).contains("impossible shape"));
    let short = read(&Held::default().with_length("m.gguf", good.clone(), length - 40)).unwrap_err();
    assert!(short.to_string().contains("ends"), "{short}");
}

#[test]
fn two_gguf_models_in_one_folder_are_not_summed() {
    let (head, length) = GgufFile::default().tensor("a", &[32], 8, 34).build(3);
    let held = Held::default().with_length("a-Q4.gguf", head.clone(), length).with_length(
        "a-Q8.gguf",
        head.clone(),
        length,
    );
    let error = read(&held).unwrap_err();
    assert!(message(&error).contains("name one file: a-Q4.gguf, a-Q8.gguf"), "{error}");
    let split = Held::default().with_length("a-00001-of-00002.gguf", head.clone(), length).with_length(
        "a-00002-of-00002.gguf",
        head,
        length,
    );
    assert_eq!(read(&split).unwrap().weight_bytes, Some(68));
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn piece(field: u64, content: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn onnx_tensor(name: &str, kind: u64, dims: &[u64], data: &[u8]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|size| number(1, *size)).collect();
    [dims, number(2, kind), piece(8, name.as_bytes()), piece(9, data)].concat()
}

/// A model with an initialiser in the graph, and a constant in a node of a branch.
fn onnx_model() -> Vec<u8> {
    let weight = piece(5, &onnx_tensor("weight", 1, &[16, 4], &[0; 256]));
    let half = piece(5, &onnx_tensor("half", 10, &[8], &[0; 16]));
    let constant = piece(5, &onnx_tensor("constant", 7, &[2], &[0; 16]));
    let inner = piece(6, &piece(1, &piece(5, &constant)));
    let node = piece(1, &piece(5, &inner));
    let graph = [node, piece(2, b"graph"), weight, half].concat();
    [number(1, 10), piece(2, b"pytorch"), piece(7, &graph)].concat()
}

#[test]
fn onnx_initialisers_are_found_wherever_they_stand() {
    let facts = read(&Held::default().with("model.onnx", onnx_model())).unwrap();
    assert_eq!(facts.weight_bytes, Some(256 + 16 + 16));
    assert_eq!(facts.types["F16"].values, 8);
    assert!(facts.tensors.has("constant"));
}

#[test]
fn an_onnx_file_that_is_cut_or_no_protobuf_is_refused() {
    let model = onnx_model();
    let cut = onnx::read_file(&Held::default().with("m.onnx", model[..model.len() - 1].to_vec()), "m.onnx");
    assert_eq!(cut.unwrap_err().code(), "truncated");
    let other = onnx::read_file(&Held::default().with("m.onnx", b"not a model at all".to_vec()), "m.onnx");
    assert!(matches!(other.unwrap_err().code(), "malformed" | "truncated"));
    let empty = onnx::read_file(&Held::default().with("m.onnx", number(1, 10)), "m.onnx");
    assert!(message(&empty.unwrap_err()).contains("no graph"));
}

#[test]
fn graphs_nested_without_end_are_refused() {
    let mut graph = piece(2, b"innermost");
    for _ in 0..40 {
        graph = piece(1, &piece(5, &piece(6, &graph)));
    }
    let error = onnx::read_file(&Held::default().with("m.onnx", piece(7, &graph)), "m.onnx").unwrap_err();
    assert!(message(&error).contains("nested more than"), "{error}");
}

/// A zip archive as PyTorch writes one: entries stored, a directory, an end record.
fn zip(entries: &[(&str, u32)]) -> Vec<u8> {
    let (mut body, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in entries {
        let offset = body.len() as u32;
        body.extend(b"PK\x03\x04");
        body.resize(body.len() + *bytes as usize, 0);
        let mut entry = b"PK\x01\x02".to_vec();
        entry.resize(46, 0);
        entry[20..24].copy_from_slice(&bytes.to_le_bytes());
        entry[24..28].copy_from_slice(&bytes.to_le_bytes());
        entry[28..30].copy_from_slice(&(name.len() as u16).to_le_bytes());
        entry[42..46].copy_from_slice(&offset.to_le_bytes());
        entry.extend(name.as_bytes());
        directory.extend(entry);
    }
    let mut end = b"PK\x05\x06".to_vec();
    end.resize(22, 0);
    end[10..12].copy_from_slice(&(entries.len() as u16).to_le_bytes());
    end[12..16].copy_from_slice(&(directory.len() as u32).to_le_bytes());
    end[16..20].copy_from_slice(&(body.len() as u32).to_le_bytes());
    [body, directory, end].concat()
}

#[test]
fn a_checkpoint_is_summed_from_its_index_and_never_unpickled() {
    let archive = zip(&[
        ("archive/data.pkl", 900),
        ("archive/data/0", 4096),
        ("archive/data/1", 512),
        ("archive/version", 2),
    ]);
    let facts = read(&Held::default().with("pytorch_model.bin", archive)).unwrap();
    assert_eq!((facts.format, facts.weight_bytes, facts.parameters), (Format::Checkpoint, Some(4608), None));
    assert!(facts.notes[0].contains("not run"), "{:?}", facts.notes);
}

#[test]
fn a_pickle_without_an_archive_is_refused_with_what_to_do() {
    let held = Held::default().with("old.pt", vec![0x80; 4000]);
    let error = checkpoint::read_file(&held, "old.pt").unwrap_err();
    assert!(message(&error).contains("convert it to safetensors"), "{error}");
    let mut lying = zip(&[("archive/data/0", 16)]);
    let at = lying.len() - 6;
    lying[at..at + 4].copy_from_slice(&u32::MAX.wrapping_sub(9).to_le_bytes());
    let error = checkpoint::read_file(&Held::default().with("m.pt", lying), "m.pt").unwrap_err();
    assert!(message(&error).contains("outside of the file"), "{error}");
}

#[test]
fn a_config_that_lacks_a_field_leaves_its_part_unknown_and_names_the_field() {
    let text = config_text("deepseek-v3").replace("qk_rope_head_dim", "another_name");
    let held = Held::default().with("config.json", text.into_bytes());
    let facts = read(&held).unwrap();
    assert_eq!(facts.architecture.as_ref().unwrap().missing, ["qk_rope_head_dim"]);
    let estimate = estimate(&facts, &generate(vllm(2048), 4096, 1)).unwrap();
    let figure = estimate.shares[0].part(PartKind::Cache).unwrap();
    assert_eq!((figure.origin, figure.amount), (Origin::Unknown, None));
    assert!(figure.basis.contains("qk_rope_head_dim"), "{}", figure.basis);
    assert!(estimate.shares[0].unknown.contains(&PartKind::Cache));
}

#[test]
fn an_unknown_architecture_has_its_weights_read_and_the_rest_unknown() {
    let config = br#"{"model_type": "flux-of-tomorrow", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4}"#;
    let (head, length) = safetensors(&[("w".into(), "BF16", vec![1000])]);
    let held =
        Held::default().with("config.json", config.to_vec()).with_length("model.safetensors", head, length);
    let facts = read(&held).unwrap();
    assert_eq!(facts.architecture.as_ref().unwrap().kind, Kind::Other);
    let share = estimate(&facts, &encode(TRANSFORMERS, 1, 16)).unwrap().shares.remove(0);
    assert_eq!(share.part(PartKind::Weights).unwrap().bytes(), Some(2000));
    assert!(share.unknown.contains(&PartKind::Temporaries));
    assert!(share.part(PartKind::Temporaries).unwrap().basis.contains("measure the peak in the pilot"));
}

#[test]
fn a_pipeline_of_models_is_named_and_its_peak_is_unknown() {
    let held = Held::default().with("model_index.json", b"{}".to_vec());
    let facts = read(&held).unwrap();
    assert!(facts.pipeline);
    let share = estimate(&facts, &encode(TRANSFORMERS, 1, 16)).unwrap().shares.remove(0);
    assert!(share.unknown.contains(&PartKind::Weights) && share.unknown.contains(&PartKind::Temporaries));
}

#[test]
fn impossible_values_of_a_config_are_named() {
    for (from, to, said) in [
        ("\"num_hidden_layers\": 32", "\"num_hidden_layers\": 0", "`num_hidden_layers` is 0"),
        ("\"num_hidden_layers\": 32", "\"num_hidden_layers\": 1000000", "more than 10000 layers"),
        ("\"hidden_size\": 4096", "\"hidden_size\": -4096", "a whole number"),
        ("\"hidden_size\": 4096", "\"hidden_size\": 18446744073709551615", "no model is that large"),
        ("\"vocab_size\": 128256", "\"vocab_size\": 1.5", "`vocab_size` is 1.5"),
    ] {
        let text = config_text("llama-3.1-8b").replace(from, to);
        assert!(text.contains(to));
        let error = architecture::from_config("config.json", text.as_bytes()).unwrap_err();
        assert!(message(&error).contains(said), "{error}");
        assert_eq!(error.code(), "impossible-value");
    }
    let error = architecture::from_config("config.json", b"{ not json").unwrap_err();
    assert!(message(&error).starts_with("config.json: is no JSON file"), "{error}");
}

#[test]
fn a_window_that_is_switched_off_is_none() {
    let mixers = built("qwen2.5-7b").mixers.unwrap();
    assert!(mixers.iter().all(|mixer| matches!(mixer, Mixer::Attention { window: None, .. })));
    let on =
        config_text("qwen2.5-7b").replace("\"use_sliding_window\": false", "\"use_sliding_window\": true");
    let on = on.replace("\"max_window_layers\": 28", "\"max_window_layers\": 21");
    let mixers = architecture::from_config("config.json", on.as_bytes()).unwrap().mixers.unwrap();
    let slides = |mixer: &&Mixer| matches!(mixer, Mixer::Attention { window: Some(_), .. });
    assert_eq!(mixers.iter().filter(slides).count(), 7);
}

#[test]
fn state_space_layers_keep_the_same_whatever_the_length() {
    let mixers = built("mamba-130m").mixers.unwrap();
    let at = |tokens| pilote_size::memory::cache(&generate(TRANSFORMERS, tokens, 1), &mixers).amount.unwrap();
    assert_eq!(at(16), at(1 << 20));
    // 24 layers of inner width 1536: a convolution over 4 in 16 bits, 16 states a channel in 16 to 32 bits.
    assert_eq!(at(16).low.0, 24 * (1536 * 4 * 2 + 1536 * 16 * 2));
    assert_eq!(at(16).high.0, 24 * (1536 * 4 * 2 + 1536 * 16 * 4));
}

#[test]
fn a_hybrid_has_attention_where_its_interval_says() {
    let mixers = built("qwen3-next-80b").mixers.unwrap();
    let attends: Vec<usize> =
        (0..48).filter(|layer| matches!(mixers[*layer], Mixer::Attention { .. })).collect();
    assert_eq!(attends, (0..12).map(|at| at * 4 + 3).collect::<Vec<_>>());
    let Mixer::State { convolution, recurrent } = mixers[0] else { panic!("{:?}", mixers[0]) };
    assert_eq!((convolution, recurrent), ((2 * 16 * 128 + 32 * 128) * 4, 32 * 128 * 128));
}

#[test]
fn what_writes_in_a_model_that_also_sees_is_found_inside() {
    let built = built("gemma-3-4b");
    assert_eq!((built.kind, built.layers, built.vocabulary), (Kind::Decoder, Some(34), Some(262_208)));
    assert_eq!(built.dtype.as_deref(), Some("bfloat16"));
}

#[test]
fn code_that_comes_with_a_model_is_seen() {
    assert!(built("phi-3-mini").own_code);
    let held = Held::default()
        .with("config.json", config_text("phi-3-mini").into_bytes())
        .with("modeling_x.py", vec![]);
    assert_eq!(read(&held).unwrap().own_code, ["modeling_x.py"]);
}

#[test]
fn an_adapter_is_read_beside_nothing_else() {
    let config =
        br#"{"base_model_name_or_path": "org/base", "r": 16, "target_modules": ["q_proj", "v_proj"]}"#;
    let (head, length) = safetensors(&[("a.lora_A.weight".into(), "F32", vec![16, 4096])]);
    let held = Held::default().with("adapter_config.json", config.to_vec()).with_length(
        "adapter_model.safetensors",
        head,
        length,
    );
    let adapter = read(&held).unwrap().adapter.unwrap();
    assert_eq!((adapter.rank, adapter.parameters, adapter.bytes), (Some(16), Some(65_536), Some(262_144)));
    let bad = Held::default().with("adapter_config.json", br#"{"r": 0}"#.to_vec());
    assert!(message(&read(&bad).unwrap_err()).contains("a rank from 1 to 65536"));
}

#[test]
fn a_folder_without_a_model_says_what_was_looked_for() {
    let error = read(&Held::default().with("README.md", vec![])).unwrap_err();
    assert!(message(&error).contains("config.json") && message(&error).contains("*.gguf"), "{error}");
    let nothing = pilote_size::model::Folder::new(std::path::Path::new("/nonexistent/model"));
    assert_eq!(read(&nothing).unwrap_err().code(), "unreadable");
}

#[test]
fn parameters_behind_packed_weights_come_from_the_build() {
    let config = config_text("llama-3.1-8b")
        .replace("\"torch_dtype\"", "\"quantization_config\": {\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128}, \"torch_dtype\"");
    let (head, length) =
        safetensors(&[("model.layers.0.self_attn.q_proj.qweight".into(), "I32", vec![4096, 512])]);
    let held = Held::default().with("config.json", config.into_bytes()).with_length(
        "model.safetensors",
        head,
        length,
    );
    let facts = read(&held).unwrap();
    assert_eq!(facts.parameters, Some(8_030_261_248));
    assert_eq!(facts.weight_bytes, Some(4096 * 512 * 4));
    let how = facts.architecture.unwrap().quantisation.unwrap();
    assert_eq!((how.method.as_str(), how.bits, how.group), ("awq", Some(4), Some(128)));
}

#[test]
fn reduced_layouts_have_their_bytes() {
    use layout::Reduced;
    let of = |reduced: Reduced| reduced.bytes(4096, 4096);
    // Worked out by hand: 2^24 weights.
    assert_eq!(of(Reduced::Gptq { bits: 4, group: 128 }), 8_388_608 + 65_536 + 262_144 + 16_384);
    assert_eq!(of(Reduced::Nf4 { double: false }), 8_388_608 + 1_048_576);
    assert_eq!(of(Reduced::Nf4 { double: true }), 8_388_608 + 262_144 + 4096);
    assert_eq!(of(Reduced::Int8), 16_777_216 + 16_384);
    assert_eq!(of(Reduced::Fp8 { block: 128 }), 16_777_216 + 4096);
    assert_eq!(of(Reduced::Fp8 { block: 0 }), 16_777_216 + 4);
    assert_eq!(of(Reduced::Mxfp4), 8_388_608 + 524_288);
}

proptest! {
    #[test]
    fn the_sum_over_any_shards_is_the_sum_over_one(sizes in prop::collection::vec(1_u64..5000, 1..40), shards in 1_usize..6) {
        let tensors: Vec<_> =
            sizes.iter().enumerate().map(|(at, size)| (format!("t{at}"), "F16", vec![*size])).collect();
        let mut held = Held::default();
        for (at, part) in tensors.chunks(tensors.len().div_ceil(shards)).enumerate() {
            let (head, length) = safetensors(part);
            held = held.with_length(&format!("s{at}.safetensors"), head, length);
        }
        prop_assert_eq!(read(&held).unwrap().weight_bytes, Some(sizes.iter().sum::<u64>() * 2));
    }
}
