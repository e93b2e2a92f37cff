//! Verdicts: what it takes to say that something fits, and what is said otherwise.

use pilote_size::cards::{Cards, Holding};
use pilote_size::measured::{Measured, Peak, Shape, Verdict, compare, verdict};
use pilote_size::memory::{Backend, Engine, PartKind, Task, Work, estimate};
use pilote_size::model::read;
use pilote_size::picture::{Bar, Piece, svg};
use pilote_size::{Bytes, Request, size};
use pilote_spec::{BatchMeasures, MeasureLine};

use super::fixtures::{TRANSFORMERS, encode, folder, generate, vllm};

const GIB: u64 = 1 << 30;

fn measured(bytes: u64, tokens: Option<u64>, backend: Backend) -> Measured {
    let peak =
        Peak { part: None, bytes: Bytes(bytes), tokens_at_once: tokens, longest_tokens: None, readings: 5 };
    Measured {
        trial: "2026-11-30T181502Z-pilot".into(),
        backend,
        card: Some("NVIDIA H100 80GB HBM3".into()),
        peaks: vec![peak],
        floor: None,
    }
}

fn held(task: &Task, peak: Option<&Measured>, budget: u64) -> Verdict {
    let facts = read(&folder("llama-3.1-8b", 1)).unwrap();
    verdict(&estimate(&facts, task).unwrap(), task, peak, Bytes(budget), 10)
}

#[test]
fn nothing_fits_without_a_measured_peak_however_large_the_card() {
    let verdict = held(&generate(vllm(2048), 4096, 1), None, 1 << 40);
    assert_eq!(verdict.code(), "open");
}

#[test]
fn exact_parts_that_exceed_the_card_are_certain_not_to_fit() {
    let task = generate(vllm(2048), 8192, 16);
    let Verdict::DoesNotFit { certain, over } = held(&task, None, 24 * GIB) else {
        panic!("16 GiB of cache and weights")
    };
    assert!(certain.0 > 16_060_522_496 + 16 * GIB);
    assert_eq!(over.0, certain.0 - 24 * GIB);
}

#[test]
fn estimates_alone_never_prove_that_something_does_not_fit() {
    // Weights and a short cache are just below; only the estimated parts lead beyond.
    let task = generate(vllm(2048), 16, 1);
    let verdict = held(&task, None, 16_200_000_000);
    let Verdict::Open { known, beyond, .. } = verdict else { panic!("{verdict:?}") };
    assert!(known.high.0 > 16_200_000_000);
    assert!(beyond, "but it is said that what is known is beyond the card");
}

#[test]
fn a_measured_peak_fits_with_its_stated_margin_or_says_how_little_is_left() {
    let task = generate(vllm(2048), 4096, 1);
    let peak = measured(20 * GIB, Some(2048), Backend::Cuda);
    let Verdict::Fits { headroom, margin, .. } = held(&task, Some(&peak), 24 * GIB) else {
        panic!("it leaves 4 GiB")
    };
    assert_eq!((headroom.0, margin.0), (4 * GIB, 24 * GIB / 10));
    assert_eq!(held(&task, Some(&peak), 22 * GIB).code(), "no-margin");
    assert_eq!(held(&task, Some(&peak), 19 * GIB).code(), "does-not-fit");
}

#[test]
fn a_peak_of_a_smaller_task_or_another_backend_proves_nothing() {
    let task = generate(vllm(2048), 4096, 1);
    for peak in [
        measured(20 * GIB, Some(512), Backend::Cuda),
        measured(20 * GIB, None, Backend::Cuda),
        measured(20 * GIB, Some(2048), Backend::Cpu),
    ] {
        assert_eq!(held(&task, Some(&peak), 80 * GIB).code(), "open", "{peak:?}");
    }
}

fn trial() -> pilote_spec::Trial {
    serde_json::from_value(serde_json::json!({
        "format": "pilote.trial/1", "name": "2026-11-30T181502Z-pilot", "kind": "pilot", "started": 0,
        "project": {
            "format": "pilote.project/1", "name": "p", "pilot": {"inputs": {"directory": "data"}, "count": 12},
            "output": {"kind": "vector", "width": 384},
            "engine": {"kind": "builtin", "task": "embed", "model": ["path:model"]}
        },
        "config": "0".repeat(64), "part_items": 12, "batch_items": 64,
        "engine": {"kind": "builtin", "name": "encoder", "version": "1", "device": "cpu", "precision": "f32",
                   "parameters": {"batch_tokens": "2048"}},
        "machine": {}, "program": {"version": "0.1.0"}
    }))
    .unwrap()
}

fn line(peak: Option<u64>, padded: Option<u64>) -> MeasureLine {
    let measures = BatchMeasures { padded_tokens: padded, peak_bytes: peak, ..BatchMeasures::default() };
    MeasureLine { at_us: 0, part: 1, batch: 0, items: 4, took_us: 1, measures }
}

#[test]
fn a_trial_s_peak_is_the_largest_reading_and_an_absent_one_is_not_zero() {
    let lines = [line(Some(300), Some(900)), line(None, Some(9000)), line(Some(200), None)];
    let found = Measured::of_trial(&trial(), &lines).unwrap();
    assert_eq!(found.backend, Backend::Cpu);
    let peak = found.peaks[0];
    assert_eq!((peak.bytes, peak.tokens_at_once, peak.readings), (Bytes(300), Some(2048), 2));
    assert_eq!(
        found.peaks.len(),
        1,
        "no part is told where the engine did not read its memory before and after"
    );
    assert!(Measured::of_trial(&trial(), &[line(None, Some(900))]).is_none());
}

#[test]
fn what_was_read_before_and_after_loading_tells_the_parts() {
    let mut one = line(Some(300), Some(900));
    one.measures.floor_bytes = Some(20);
    one.measures.loaded_bytes = Some(120);
    let found = Measured::of_trial(&trial(), &[one]).unwrap();
    let parts: Vec<_> = found.peaks.iter().map(|peak| (peak.part, peak.bytes.0)).collect();
    let [runtime, weights, temporaries] = [PartKind::Runtime, PartKind::Weights, PartKind::Temporaries];
    assert_eq!(parts, [(None, 300), (Some(runtime), 20), (Some(weights), 100), (Some(temporaries), 180)]);
    assert_eq!(found.floor, Some(Bytes(20)));
}

#[test]
fn the_largest_batch_of_a_trial_tells_its_longest_text_and_how_many_stood_beside_it() {
    let mut lines = [line(Some(300), Some(900)), line(Some(300), Some(9000))];
    assert_eq!(Shape::of_trial(&trial(), &lines), Shape { longest: None, at_once: Some(2048) });
    lines[0].measures.longest_tokens = Some(60);
    lines[1].measures.longest_tokens = Some(250);
    let shape = Shape::of_trial(&trial(), &lines);
    assert_eq!((shape.longest, shape.at_once, shape.batch()), (Some(250), Some(2048), Some(9)));
    lines[1].measures.longest_tokens = Some(4000);
    assert_eq!(
        Shape::of_trial(&trial(), &lines).batch(),
        Some(1),
        "one text beyond the limit is computed whole"
    );
    assert_eq!(Shape::of_trial(&trial(), &[]).batch(), None);
}

#[test]
fn a_mixed_batch_covers_the_task_that_it_is_though_no_whole_number_of_its_longest_texts_is_as_much() {
    let mut task = encode(Engine::Builtin, 9, 250);
    task.backend = Backend::Cpu;
    let mut peak = measured(GIB, Some(2048), Backend::Cpu);
    assert!(peak.peak_covering(&task).is_none(), "9 x 250 tokens were never computed at once");
    let Work::Encode { at_once, .. } = &mut task.work else { unreachable!() };
    *at_once = Some(2048);
    assert!(peak.peak_covering(&task).is_none(), "without a longest text nothing is covered");
    peak.peaks[0].longest_tokens = Some(249);
    let coverage = peak.coverage(&task).unwrap();
    assert_eq!((coverage.covers, coverage.longest, coverage.longest_asked), (false, Some(249), 250));
    peak.peaks[0].longest_tokens = Some(250);
    let coverage = peak.coverage(&task).unwrap();
    assert_eq!((coverage.covers, coverage.at_once, coverage.at_once_asked), (true, Some(2048), Some(2048)));
}

#[test]
fn the_difference_is_shown_by_part_against_the_nearest_end() {
    let facts = read(&folder("llama-3.1-8b", 1)).unwrap();
    let estimate = estimate(&facts, &generate(vllm(2048), 8192, 1)).unwrap();
    let share = estimate.fullest().unwrap();
    let mut found = measured(share.known.high.0 + 1000, Some(2048), Backend::Cuda);
    found.peaks.push(Peak {
        part: Some(PartKind::Weights),
        bytes: Bytes(16_060_522_496),
        tokens_at_once: None,
        longest_tokens: None,
        readings: 1,
    });
    found.peaks.push(Peak {
        part: Some(PartKind::Cache),
        bytes: Bytes(GIB - 24),
        tokens_at_once: None,
        longest_tokens: None,
        readings: 1,
    });
    let lines = compare(&estimate, &found).lines;
    assert_eq!(
        lines.iter().map(|line| line.difference).collect::<Vec<_>>(),
        [Some(1000), Some(0), Some(-24)]
    );
    assert_eq!(lines[1].difference_percent, Some(0.0));
}

#[test]
fn sizing_writes_open_points_until_a_peak_covers_the_task() {
    let cards = Cards::built_in().unwrap();
    let mut request = Request {
        task: generate(vllm(2048), 8192, 4),
        cards: ["RTX 4090", "H100 80"]
            .map(|name| Holding::whole(cards.named(name).unwrap().clone()))
            .to_vec(),
        margin_percent: 10,
        measured: None,
    };
    let sizing = size(&folder("llama-3.1-8b", 2), &request).unwrap();
    let parts: Vec<PartKind> = sizing.open_points.iter().map(|point| point.part).collect();
    assert_eq!(parts, [PartKind::Temporaries, PartKind::Graphs, PartKind::Runtime]);
    assert!(sizing.cards.iter().all(|card| card.verdict.code() == "open"));
    let reserve = sizing.cards[1].reserve.unwrap();
    assert_eq!(reserve.budget, Bytes::mib(81_559).per_mille(900));
    request.measured = Some(measured(30 * GIB, Some(2048), Backend::Cuda));
    let sizing = size(&folder("llama-3.1-8b", 2), &request).unwrap();
    assert!(sizing.open_points.is_empty());
    assert_eq!(
        sizing.cards.iter().map(|card| card.verdict.code()).collect::<Vec<_>>(),
        ["does-not-fit", "fits"]
    );
    let tested: Vec<bool> = sizing.cards.iter().map(|card| card.precision.tested.is_some()).collect();
    assert_eq!(tested, [false, true], "a precision was tested on the card that the trial ran on");
    request.margin_percent = 95;
    assert!(size(&folder("llama-3.1-8b", 2), &request).unwrap_err().to_string().contains("0 to 90 per cent"));
}

#[test]
fn a_sizing_is_read_again_as_it_was_written() {
    let cards = Cards::built_in().unwrap();
    let request = Request {
        task: encode(TRANSFORMERS, 32, 256),
        cards: vec![Holding::whole(cards.named("L40S").unwrap().clone())],
        margin_percent: 10,
        measured: None,
    };
    let sizing = size(
        &super::fixtures::Held::default()
            .with("config.json", super::fixtures::config_text("all-minilm-l6-v2").into_bytes()),
        &request,
    )
    .unwrap();
    let text = serde_json::to_string(&sizing).unwrap();
    assert!(text.contains("\"format\":\"pilote.sizing/1\""));
    assert_eq!(serde_json::from_str::<pilote_size::Sizing>(&text).unwrap(), sizing);
    assert!(!text.contains("\"tensors\":{\"all\""), "the tensors stay out of it");
}

#[test]
fn the_picture_draws_pieces_without_gaps_and_escapes_labels() {
    let piece = |label: &str, bytes, exact| Piece { label: label.into(), bytes: Bytes(bytes), exact };
    let bars = [
        Bar {
            label: "task".into(),
            pieces: vec![piece("weights <w>", 2 * GIB, true), piece("rest", GIB, false)],
            room: None,
            sum: "3 GiB".into(),
        },
        Bar {
            label: "L40S & co".into(),
            pieces: vec![piece("weights <w>", 2 * GIB, true)],
            room: Some(Bytes(4 * GIB)),
            sum: "4 GiB".into(),
        },
    ];
    let picture = svg("Memory", &bars);
    assert!(picture.contains("weights &lt;w&gt;") && picture.contains("L40S &amp; co"));
    assert!(
        picture.contains("x=\"150\" y=\"8\" width=\"190\"")
            && picture.contains("x=\"340\" y=\"8\" width=\"95\"")
    );
    assert!(
        picture.contains("class=\"room\" x=\"150\" y=\"42\" width=\"380\""),
        "a card is an outline: {picture}"
    );
    assert_eq!(picture.matches("url(#h)").count(), 1, "only the estimate is hatched");
    assert_eq!(picture, svg("Memory", &bars));
}
