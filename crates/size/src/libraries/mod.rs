//! From a project's libraries to the backends they run on, what forces a choice, conflicts, and the wheel index.
//!
//! What is said here is read from files. A command that was copied from elsewhere proves nothing: what is installed
//! is checked on the machine where it runs, by the ladder of checks.

mod sources;
mod wheel;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use sources::{Named, OwnCode, dockerfile, environment, lock, pyproject, requirements};
pub use wheel::{Build, Requirement, normal_name, requirement};

use crate::memory::Backend;
use crate::{Phrase, Said, SizeError, said};

/// What is known of a library on a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runs {
    /// Published wheels run on it.
    Yes,
    /// It does not run on it.
    No,
    /// A separate build or package is needed.
    OtherBuild,
    /// Not known here.
    Unknown,
}

/// A library as the table describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// The name of the package.
    pub name: String,
    /// The module that sources import, where it differs.
    #[serde(default)]
    pub module: Option<String>,
    /// On NVIDIA cards.
    pub cuda: Runs,
    /// On AMD cards.
    pub rocm: Runs,
    /// On the processor.
    pub cpu: Runs,
    /// Whether it is compiled on the machine when no wheel fits, which needs the vendor's compiler.
    #[serde(default)]
    pub compiles: bool,
    /// What to know.
    #[serde(default)]
    pub note: Option<String>,
    /// Where that is said.
    pub source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    format: String,
    checked: String,
    library: Vec<Library>,
    variant: Vec<Variant>,
}

/// A variant of PyTorch's wheels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The name of its index: `cu128`.
    pub name: String,
    /// The backend.
    pub backend: Backend,
    /// The systems it is published for: `linux-x86_64`, `linux-aarch64`, `windows-x86_64`, `macos-arm64`.
    pub platforms: Vec<String>,
    /// The least Python, as minor version of 3.
    pub python_min: u32,
    /// The greatest Python, as minor version of 3.
    pub python_max: u32,
    /// The least version of the driver, where the backend has one.
    #[serde(default)]
    pub driver_min: Option<String>,
    /// The greatest compute capability that its kernels know, where limited.
    #[serde(default)]
    pub capability_max: Option<String>,
    /// The least compute capability that its kernels still know.
    #[serde(default)]
    pub capability_min: Option<String>,
    /// Where that is said.
    pub source: String,
}

const BUILT_IN: &str = include_str!("../../data/libraries.toml");

fn table() -> Result<Table, SizeError> {
    let bad = |problem: String| SizeError::Table { file: "built-in libraries".to_owned(), problem };
    let table: Table = toml::from_str(BUILT_IN).map_err(|error| bad(error.to_string()))?;
    if table.format == "pilote.libraries/1" { Ok(table) } else { Err(bad("another format".to_owned())) }
}

/// A library of the project with what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The name of the package.
    pub name: String,
    /// The pinned version, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What its wheel was built for, where version, name or file say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
    /// The places that name it.
    pub places: Vec<String>,
    /// On NVIDIA cards.
    pub cuda: Runs,
    /// On AMD cards.
    pub rocm: Runs,
    /// On the processor.
    pub cpu: Runs,
    /// What to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether it leaves only one kind of card.
    pub forces: Option<Backend>,
}

/// Something that cannot hold together, or that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Conflict {
    /// Wheels for different major versions of CUDA.
    CudaMajors {
        /// What stands beside each other, with places.
        names: Vec<String>,
    },
    /// Wheels for different backends.
    Backends {
        /// What stands beside each other, with places.
        names: Vec<String>,
    },
    /// A wheel or library that does not run on the planned backend.
    NotOnPlanned {
        /// The library.
        name: String,
        /// The backend planned.
        planned: Backend,
        /// Where it is named.
        place: String,
    },
    /// A package pinned to two versions.
    Versions {
        /// The package.
        name: String,
        /// The versions with their places.
        versions: Vec<String>,
    },
}

/// What the machine really is, for naming the wheel index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platform {
    /// `linux`, `windows` or `macos`.
    pub system: String,
    /// `x86_64` or `aarch64`/`arm64`.
    pub architecture: String,
    /// The minor version of Python 3 that was found.
    pub python: Option<u32>,
    /// The backend of the cards that were found; none without a card.
    pub backend: Option<Backend>,
    /// The driver's version, as it names itself.
    pub driver: Option<String>,
    /// The compute capability of the card.
    pub capability: Option<String>,
}

/// The wheel index that fits, or why none does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Index {
    /// This one; it stays an assumption until the ladder of checks computed on the card.
    Named {
        /// The name of PyTorch's index: `cu128`, `rocm6.4`, `cpu`.
        name: String,
        /// Where that is said.
        source: String,
        /// The day on which the table was checked.
        checked: String,
    },
    /// None fits.
    None {
        /// What rules them out, in English.
        why: String,
        /// The same as a phrase, for other languages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phrase: Option<Phrase>,
    },
}

/// What a project's libraries say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Libraries {
    /// The files that were read.
    pub files: Vec<String>,
    /// The day on which the table was checked.
    pub checked: String,
    /// Libraries of which the table knows something, or whose wheels name a build.
    pub known: Vec<Found>,
    /// Libraries of which nothing is known here; most have no kernels, and none is declared safe by that.
    pub unknown: Vec<String>,
    /// The backends that nothing rules out.
    pub possible: Vec<Backend>,
    /// Conflicts.
    pub conflicts: Vec<Conflict>,
    /// Base images of Dockerfiles, with the backend that their name says.
    pub images: Vec<(String, Option<Backend>)>,
    /// Custom kernels and model code, with their places.
    pub own_code: Vec<(OwnCode, String)>,
    /// Wheel indexes that the files name: an assumption to check on the machine.
    pub indexes: Vec<(String, String)>,
}

/// Reads the libraries of a project folder and holds them against the planned backend, where there is one.
///
/// # Errors
/// When a file that is there cannot be read or is no TOML where TOML is expected.
pub fn libraries(root: &Path, planned: Option<Backend>) -> Result<Libraries, SizeError> {
    assess(sources::read(root)?, planned)
}

/// Holds what the files name against the table.
///
/// # Errors
/// Never for the table as shipped.
pub fn assess(named: Named, planned: Option<Backend>) -> Result<Libraries, SizeError> {
    let table = table()?;
    let mut merged: BTreeMap<String, Vec<Requirement>> = BTreeMap::new();
    for requirement in named.requirements {
        merged.entry(requirement.name.clone()).or_default().push(requirement);
    }
    for (module, place) in &named.imports {
        // The longest known module wins, so that `google.cloud` is not taken for `google`.
        let of = |library: &&Library| {
            let own = library.module.clone().unwrap_or_else(|| library.name.replace('-', "_"));
            *module == own || module.starts_with(&format!("{own}."))
        };
        if let Some(library) = table.library.iter().find(of) {
            let requirement =
                Requirement { name: library.name.clone(), version: None, from: None, place: place.clone() };
            merged.entry(library.name.clone()).or_default().push(requirement);
        }
    }
    let (mut known, mut unknown, mut conflicts) = (Vec::new(), Vec::new(), Vec::new());
    for (name, requirements) in merged {
        conflicts.extend(two_versions(&name, &requirements));
        match found(&table, &name, &requirements) {
            Some(found) => known.push(found),
            None => unknown.push(name),
        }
    }
    conflicts.extend(builds_apart(&known, &named.indexes, &named.images));
    if let Some(planned) = planned {
        conflicts.extend(known.iter().filter(|found| on(found, planned) == Runs::No).map(|found| {
            Conflict::NotOnPlanned {
                name: found.name.clone(),
                planned,
                place: found.places.first().cloned().unwrap_or_default(),
            }
        }));
    }
    let cuda_source = named.own_code.iter().any(|(kind, _)| *kind == OwnCode::CudaSource);
    let possible = [Backend::Cuda, Backend::Rocm, Backend::Cpu]
        .into_iter()
        .filter(|backend| known.iter().all(|found| on(found, *backend) != Runs::No))
        .filter(|backend| *backend == Backend::Cuda || !cuda_source)
        .collect();
    let images = named
        .images
        .into_iter()
        .map(|(image, place)| (format!("{image} ({place})"), of_image(&image)))
        .collect();
    Ok(Libraries {
        files: named.files,
        checked: table.checked,
        known,
        unknown,
        possible,
        conflicts,
        images,
        own_code: named.own_code,
        indexes: named.indexes,
    })
}

/// What is known of one library: from the build that its wheel names first, from the table second.
fn found(table: &Table, name: &str, requirements: &[Requirement]) -> Option<Found> {
    let entry = table.library.iter().find(|library| library.name == name).or_else(|| {
        // `cupy-cuda12x` and `nvidia-cudnn-cu12` are one library of the table under many names.
        table.library.iter().find(|library| {
            library.name.ends_with('*') && name.starts_with(library.name.trim_end_matches('*'))
        })
    });
    let version = requirements.iter().find_map(|requirement| requirement.version.clone());
    let build = requirements
        .iter()
        .find_map(|requirement| Build::of_version(requirement.version.as_deref()?))
        .or_else(|| Build::of_name(name));
    if entry.is_none() && build.is_none() {
        return None;
    }
    let (cuda, rocm, cpu) = match &build {
        Some(Build::Cuda { .. }) => (Runs::Yes, Runs::No, Runs::No),
        Some(Build::Rocm { .. }) => (Runs::No, Runs::Yes, Runs::No),
        Some(Build::Cpu) => (Runs::No, Runs::No, Runs::Yes),
        None => entry.map_or((Runs::Unknown, Runs::Unknown, Runs::Unknown), |entry| {
            (entry.cuda, entry.rocm, entry.cpu)
        }),
    };
    // A CUDA build of a general library still computes on the processor of the machine it is on.
    let cpu = match (&build, entry) {
        (Some(Build::Cuda { .. } | Build::Rocm { .. }), Some(entry)) => entry.cpu,
        _ => cpu,
    };
    let yes: Vec<Backend> = [(Backend::Cuda, cuda), (Backend::Rocm, rocm), (Backend::Cpu, cpu)]
        .into_iter()
        .filter(|(_, runs)| *runs != Runs::No)
        .map(|(backend, _)| backend)
        .collect();
    Some(Found {
        name: name.to_owned(),
        version,
        build,
        places: requirements.iter().map(|requirement| requirement.place.clone()).collect(),
        cuda,
        rocm,
        cpu,
        note: entry.and_then(|entry| entry.note.clone()),
        source: entry.map(|entry| entry.source.clone()),
        forces: (yes.len() == 1).then(|| yes[0]),
    })
}

fn on(found: &Found, backend: Backend) -> Runs {
    match backend {
        Backend::Cuda => found.cuda,
        Backend::Rocm => found.rocm,
        Backend::Cpu => found.cpu,
    }
}

fn two_versions(name: &str, requirements: &[Requirement]) -> Option<Conflict> {
    let mut versions: Vec<String> = requirements
        .iter()
        .filter_map(|requirement| {
            Some(format!("{} ({})", requirement.version.as_deref()?, requirement.place))
        })
        .collect();
    let plain = |text: &String| text.split(" (").next().unwrap_or("").to_owned();
    versions.sort_unstable();
    versions.dedup_by_key(|text| plain(text));
    (versions.len() > 1).then(|| Conflict::Versions { name: name.to_owned(), versions })
}

/// Wheels and indexes that were built for different things.
fn builds_apart(known: &[Found], indexes: &[(String, String)], images: &[(String, String)]) -> Vec<Conflict> {
    let mut builds: Vec<(Build, String)> = known
        .iter()
        .filter_map(|found| {
            let place = found.places.first().cloned().unwrap_or_default();
            Some((found.build.clone()?, format!("{} ({place})", found.name)))
        })
        .collect();
    builds.extend(
        indexes
            .iter()
            .filter_map(|(name, place)| Some((Build::of_tag(name)?, format!("index {name} ({place})")))),
    );
    let majors: BTreeMap<u32, &String> = builds
        .iter()
        .filter_map(|(build, name)| match build {
            Build::Cuda { major, .. } => Some((*major, name)),
            _ => None,
        })
        .collect();
    let mut conflicts = Vec::new();
    if majors.len() > 1 {
        let names = majors.iter().map(|(major, name)| format!("CUDA {major}: {name}")).collect();
        conflicts.push(Conflict::CudaMajors { names });
    }
    let mut kinds: BTreeMap<&str, String> = builds
        .iter()
        .map(|(build, name)| match build {
            Build::Cuda { .. } => ("CUDA", name.clone()),
            Build::Rocm { .. } => ("ROCm", name.clone()),
            Build::Cpu => ("CPU", name.clone()),
        })
        .collect();
    // An image brings drivers' libraries of one backend, so a wheel for another cannot compute inside of it.
    for (image, place) in images {
        match of_image(image) {
            Some(Backend::Cuda) => kinds.insert("CUDA", format!("image {image} ({place})")),
            Some(Backend::Rocm) => kinds.insert("ROCm", format!("image {image} ({place})")),
            Some(Backend::Cpu) | None => None,
        };
    }
    if kinds.len() > 1 {
        let names = kinds.iter().map(|(kind, name)| format!("{kind}: {name}")).collect();
        conflicts.push(Conflict::Backends { names });
    }
    conflicts
}

fn of_image(image: &str) -> Option<Backend> {
    let image = image.to_ascii_lowercase();
    if image.contains("rocm") {
        Some(Backend::Rocm)
    } else if ["cuda", "nvcr.io", "nvidia"].iter().any(|word| image.contains(word)) {
        Some(Backend::Cuda)
    } else {
        None
    }
}

/// Names the wheel index that fits the system, the Python, the driver and the card that were really found.
///
/// # Errors
/// Never for the table as shipped.
pub fn index(platform: &Platform) -> Result<Index, SizeError> {
    let table = table()?;
    let backend = platform.backend.unwrap_or(Backend::Cpu);
    let architecture = match platform.architecture.as_str() {
        "arm64" | "aarch64" if platform.system == "macos" => "arm64",
        "arm64" | "aarch64" => "aarch64",
        "amd64" | "x86_64" => "x86_64",
        other => other,
    };
    let wanted = format!("{}-{architecture}", platform.system);
    let none = |said: Said| Ok(Index::None { why: said.text, phrase: said.phrase });
    let Some(python) = platform.python else {
        return none(said!("index-no-python", "no Python was found on this machine"));
    };
    let of_backend: Vec<&Variant> =
        table.variant.iter().filter(|variant| variant.backend == backend).collect();
    let on_system: Vec<&&Variant> =
        of_backend.iter().filter(|variant| variant.platforms.contains(&wanted)).collect();
    if on_system.is_empty() {
        return none(said!(
            "index-no-platform",
            "no wheels of PyTorch for {backend} are published for {platform}",
            backend = backend.name(),
            platform = wanted,
        ));
    }
    let fits_python: Vec<&&&Variant> = on_system
        .iter()
        .filter(|variant| (variant.python_min..=variant.python_max).contains(&python))
        .collect();
    if fits_python.is_empty() {
        let (least, most) = (on_system[0].python_min, on_system[0].python_max);
        return none(said!(
            "index-python",
            "wheels are published for Python 3.{least} to 3.{most}, and this is 3.{python}",
            least = least,
            most = most,
            python = python,
        ));
    }
    let fits_card =
        fits_python.iter().find(|variant| driver_fits(variant, platform) && card_fits(variant, platform));
    match fits_card {
        Some(variant) => Ok(Index::Named {
            name: variant.name.clone(),
            source: variant.source.clone(),
            checked: table.checked.clone(),
        }),
        None => none(said!(
            "index-driver",
            "no variant fits driver {driver} and card {card}; a newer driver widens the choice",
            driver = platform.driver.as_deref().unwrap_or("?"),
            card = platform.capability.as_deref().unwrap_or("?"),
        )),
    }
}

/// Whether the driver is new enough; an unknown one rules nothing in.
fn driver_fits(variant: &Variant, platform: &Platform) -> bool {
    match (&variant.driver_min, &platform.driver) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(least), Some(has)) => numbers(has) >= numbers(least),
    }
}

fn card_fits(variant: &Variant, platform: &Platform) -> bool {
    let Some(has) = platform.capability.as_deref().map(numbers) else { return true };
    let below = variant.capability_max.as_deref().is_none_or(|most| has <= numbers(most));
    below && variant.capability_min.as_deref().is_none_or(|least| has >= numbers(least))
}

/// The numbers of a dotted version; what is no number counts as none.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}
