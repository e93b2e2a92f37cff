//! `needs`: what the machine must have.

use std::collections::BTreeMap;

use super::decoding::{Decoder, Field};
use crate::Digest;
use crate::needs::{
    KnownOutput, NeededAdapter, NeededBackend, NeededExtension, NeededProgram, NeededSystem, Needs,
    Reference, ReferenceKind,
};

/// Bounds that no machine reaches, so that bytes are told from mebibytes.
const MIB_MAX: u64 = 1 << 26;
const CARDS_MAX: u32 = 4096;

impl Decoder {
    /// What the machine must have.
    pub(super) fn needs(&mut self, field: &Field<'_>) -> Option<Needs> {
        let table = self.table(field, "needs")?;
        let systems = [
            ("linux", NeededSystem::Linux),
            ("macos", NeededSystem::Macos),
            ("windows", NeededSystem::Windows),
        ];
        let backends =
            [("cuda", NeededBackend::Cuda), ("rocm", NeededBackend::Rocm), ("cpu", NeededBackend::Cpu)];
        let system = self.optional(&table, "system", |it, field| it.word(field, &systems));
        let interpreter = self.optional(&table, "interpreter", Self::name);
        let python = self.optional(&table, "python", Self::python_version);
        let backend = self.optional(&table, "backend", |it, field| it.word(field, &backends));
        let cards = self.optional(&table, "cards", |it, field| it.small(field, CARDS_MAX));
        let [card_memory, memory, disk, shared] =
            ["card_memory_mib", "memory_mib", "disk_mib", "shared_memory_mib"]
                .map(|key| self.optional(&table, key, |it, field| it.count(field, 1, MIB_MAX)));
        let requirements =
            self.defaulted(&table, "requirements", Vec::new(), |it, field| it.list(field, Self::inside));
        let extensions =
            self.defaulted(&table, "extensions", Vec::new(), |it, field| it.list(field, Self::extension));
        let [programs, licences] = ["programs", "licences"].map(|key| {
            self.defaulted(&table, key, Vec::new(), |it, field| it.list(field, Self::needed_program))
        });
        let preprocessing = self.optional(&table, "preprocessing", Self::known_output);
        let adapters =
            self.defaulted(&table, "adapters", Vec::new(), |it, field| it.list(field, Self::adapter));
        let references =
            self.defaulted(&table, "references", Vec::new(), |it, field| it.list(field, Self::reference));
        Some(Needs {
            system: system?,
            interpreter: interpreter?,
            python: python?,
            backend: backend?,
            cards: cards?,
            card_memory_mib: card_memory?,
            memory_mib: memory?,
            disk_mib: disk?,
            shared_memory_mib: shared?,
            requirements: requirements?,
            extensions: extensions?,
            programs: programs?,
            licences: licences?,
            preprocessing: preprocessing?,
            adapters: adapters?,
            references: references?,
        })
    }

    fn python_version(&mut self, field: &Field<'_>) -> Option<String> {
        let text = self.name(field)?;
        let parts: Vec<&str> = text.split('.').collect();
        let digits = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if parts.len() <= 3 && parts.iter().all(digits) {
            return Some(text);
        }
        self.wrong(field, "this is no version of Python", "write it as far as it matters, such as 3.12")
    }

    fn extension(&mut self, field: &Field<'_>) -> Option<NeededExtension> {
        let table = self.table(field, "extensions")?;
        let module = self.required(&table, "module", "\"flash_attn\"", |it, field| {
            let text = it.name(field)?;
            let is_name = |part: &str| {
                !part.is_empty()
                    && !part.starts_with(|c: char| c.is_ascii_digit())
                    && part.chars().all(|c| c.is_alphanumeric() || c == '_')
            };
            if text.split('.').all(is_name) {
                return Some(text);
            }
            it.wrong(field, "no Python module has this name", "write the name that `import` takes")
        });
        let check = self.optional(&table, "check", Self::inside);
        Some(NeededExtension { module: module?, check: check? })
    }

    fn needed_program(&mut self, field: &Field<'_>) -> Option<NeededProgram> {
        let table = self.table(field, "programs")?;
        let name = self.required(&table, "name", "\"Blender\"", Self::name);
        let command = self.required(&table, "command", "[\"blender\", \"--version\"]", Self::argv);
        let says = self.optional(&table, "says", Self::name);
        Some(NeededProgram { name: name?, command: command?, says: says? })
    }

    fn known_output(&mut self, field: &Field<'_>) -> Option<KnownOutput> {
        let table = self.table(field, "preprocessing")?;
        let command =
            self.required(&table, "command", "[\"python3\", \"src/prepare.py\", \"...\"]", Self::argv);
        let sha256 = self.required(&table, "sha256", "\"the digest of its output\"", Self::one_digest);
        Some(KnownOutput { command: command?, sha256: sha256? })
    }

    fn adapter(&mut self, field: &Field<'_>) -> Option<NeededAdapter> {
        let table = self.table(field, "adapters")?;
        let name = self.required(&table, "name", "\"legal\"", Self::name);
        let parameters = self.defaulted(&table, "parameters", BTreeMap::new(), Self::values);
        Some(NeededAdapter { name: name?, parameters: parameters? })
    }

    fn reference(&mut self, field: &Field<'_>) -> Option<Reference> {
        let table = self.table(field, "references")?;
        let kinds =
            [("model", ReferenceKind::Model), ("data", ReferenceKind::Data), ("code", ReferenceKind::Code)];
        let name = self.required(&table, "name", "\"its name\"", Self::name);
        let kind = self.required(&table, "kind", "\"model\"", |it, field| it.word(field, &kinds));
        let from = self.required(&table, "from", "\"hub:org/name@revision\"", Self::name);
        let sha256 = self.defaulted(&table, "sha256", BTreeMap::new(), Self::digests);
        let licence = self.optional(&table, "licence", Self::name);
        Some(Reference { name: name?, kind: kind?, from: from?, sha256: sha256?, licence: licence? })
    }

    fn one_digest(&mut self, field: &Field<'_>) -> Option<Digest> {
        let text = self.text(field)?;
        match text.parse() {
            Ok(digest) => Some(digest),
            Err(_) => self.wrong(
                field,
                "this is no SHA-256 digest",
                "write its 64 hexadecimal digits, as `sha256sum` prints them",
            ),
        }
    }
}
