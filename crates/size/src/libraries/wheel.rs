//! Names and versions of Python packages: `name[extras]==1.2+cu128`, and what the local part of a version says.

use serde::{Deserialize, Serialize};

/// A requirement as a project writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// The name, lower case, with dashes.
    pub name: String,
    /// The version that is pinned, its local part included; none where only a range is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The index or the file that it is to come from, where the line names one; cut to its last component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Where it is said: file and line, or file and table.
    pub place: String,
}

/// What a wheel was built for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Build {
    /// CUDA, by major and minor version.
    Cuda {
        /// Major version.
        major: u32,
        /// Minor version, where the tag names one.
        minor: Option<u32>,
    },
    /// ROCm, by its version as written.
    Rocm {
        /// `6.4` ...
        version: String,
    },
    /// The processor.
    Cpu,
}

impl Build {
    /// The name of the wheel index or tag: `cu128`, `rocm6.4`, `cpu`.
    #[must_use]
    pub fn tag(&self) -> String {
        match self {
            Self::Cuda { major, minor: Some(minor) } => format!("cu{major}{minor}"),
            Self::Cuda { major, minor: None } => format!("cu{major}"),
            Self::Rocm { version } => format!("rocm{version}"),
            Self::Cpu => "cpu".to_owned(),
        }
    }

    /// Reads a tag: `cu128`, `cu12`, `rocm6.4`, `cpu`; `cu121torch2.3` too, as some wheels write it.
    #[must_use]
    pub fn of_tag(tag: &str) -> Option<Self> {
        let tag = tag.to_ascii_lowercase();
        if tag == "cpu" {
            return Some(Self::Cpu);
        }
        if let Some(rest) = tag.strip_prefix("rocm") {
            let version: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            return (!version.is_empty()).then_some(Self::Rocm { version });
        }
        let rest = tag.strip_prefix("cu").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).take(4).collect();
        let (major, minor) = match digits.len() {
            1 | 2 => (digits.parse().ok()?, None),
            _ => (digits[..2].parse().ok()?, Some(digits[2..].parse().ok()?)),
        };
        (7..100).contains(&major).then_some(Self::Cuda { major, minor })
    }

    /// What a version's local part says, if it speaks of a build: `2.8.0+cu128`.
    #[must_use]
    pub fn of_version(version: &str) -> Option<Self> {
        let (_, local) = version.split_once('+')?;
        Self::of_tag(local).or_else(|| local.split(['.', '-', '_']).find_map(Self::of_tag))
    }

    /// What a name says, where a package is published once for each CUDA: `cupy-cuda12x`, `nvidia-cudnn-cu12`.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let last = name.rsplit('-').next()?;
        let tag = last.strip_prefix("cuda").map(|rest| format!("cu{}", rest.trim_end_matches('x')));
        Self::of_tag(tag.as_deref().unwrap_or(last)).filter(|build| *build != Self::Cpu || last == "cpu")
    }
}

/// A name as package indexes compare it: lower case, runs of `-`, `_` and `.` as one dash.
#[must_use]
pub fn normal_name(name: &str) -> String {
    let mut normal = String::new();
    for c in name.trim().chars() {
        match c {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            c => normal.extend(c.to_lowercase()),
        }
    }
    normal.trim_matches('-').to_owned()
}

/// Reads one requirement (`name[extra] >= 1 ; marker`, `name @ URL`); none for a line that is none.
#[must_use]
pub fn requirement(text: &str, place: &str) -> Option<Requirement> {
    let text = text.split(" #").next()?.trim();
    let text = text.split(';').next()?.trim();
    let end =
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))).unwrap_or(text.len());
    let name = normal_name(&text[..end]);
    if name.is_empty() || !name.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let mut rest = text[end..].trim_start();
    if rest.starts_with('[') {
        rest = rest.split_once(']')?.1.trim_start();
    }
    let from = rest.strip_prefix('@').map(str::trim);
    let pinned = rest.strip_prefix("===").or_else(|| rest.strip_prefix("=="));
    let version = match (pinned, from) {
        (Some(pinned), _) => {
            let end = pinned.trim_start().find([',', ' ', '\\']).unwrap_or(pinned.trim_start().len());
            Some(pinned.trim_start()[..end].to_owned())
        }
        // A wheel's file name carries its version second: `torch-2.8.0+cu128-cp312-...whl`.
        (None, Some(url)) if url.contains(".whl") => {
            let file = url.split(['#', '?']).next()?.rsplit('/').next()?;
            file.split('-').nth(1).map(|version| version.replace("%2B", "+").replace("%2b", "+"))
        }
        (None, _) => None,
    };
    let from = from
        .map(|url| url.split(['#', '?']).next().unwrap_or(url).rsplit('/').next().unwrap_or(url).to_owned());
    Some(Requirement { name, version, from, place: place.to_owned() })
}
