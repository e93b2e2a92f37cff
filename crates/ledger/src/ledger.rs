//! Opening a part: beginning it, taking it over from an owner that is gone, or finding it sealed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pilote_spec::Digest;

use crate::chain::{Chain, Link};
use crate::entry::{EntryKind, FORMAT, Header};
use crate::error::LedgerError;
use crate::finding::Finding;
use crate::keys::{aside_key, entry_key};
use crate::line;
use crate::owner::{Liveness, Owner, Standing};
use crate::payload::Extents;
use crate::positions::Positions;
use crate::reading::{EntryFacts, PartReader};
use crate::record::Adopted;
use crate::seal::Seal;
use crate::store::{Creation, Store, StoreError};
use crate::window::{Failpoint, NoFailpoint, Window};
use crate::writer::PartWriter;

/// Attempts at opening a part that may lose against others before it is given up.
const TRIES_MAX: u32 = 16;

/// Bytes of a torn tail that are kept aside; the rest stays where it is, in the entry itself.
const ASIDE_BYTES_MAX: usize = 64 << 20;

/// The parts of a trial, as one owner writes them.
#[derive(Clone)]
pub struct Ledger {
    store: Arc<dyn Store>,
    owner: Owner,
    liveness: Arc<dyn Liveness>,
    failpoint: Arc<dyn Failpoint>,
    open: Arc<Mutex<BTreeSet<u32>>>,
}

/// A part that was opened.
#[derive(Debug)]
pub enum Opened {
    /// It is this owner's to write.
    Writer(Box<PartWriter>),
    /// It is finished.
    Sealed(Seal),
}

/// What a takeover found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenOver {
    /// Who created the last entry before.
    pub from: Owner,
    /// Why it could be taken over, for people.
    pub why: String,
    /// How much of each open entry counts now.
    pub adopted: Vec<Adopted>,
    /// Outcomes that were there.
    pub records: u64,
}

impl TakenOver {
    /// Bytes of the entries whose length this takeover fixed.
    #[must_use]
    pub fn adopted_bytes(&self) -> u64 {
        self.adopted.iter().map(|adopted| adopted.bytes).sum()
    }

    /// Bytes of torn tails that were kept aside.
    #[must_use]
    pub fn torn_bytes(&self) -> u64 {
        self.adopted.iter().map(|adopted| adopted.torn_bytes).sum()
    }
}

/// What an explicit permission to take over concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlocked {
    /// Who held the part.
    pub from: Owner,
    /// How that owner stands, as far as can be told.
    pub standing: Standing,
}

/// An entry with which this owner opened a part: whose it was before, if anybody's, and why it could be taken.
struct Taken {
    entry: u64,
    from: Option<(Owner, String)>,
}

/// Everything that a writer must know of what is there.
pub(crate) struct Survey {
    pub(crate) entries: Vec<EntryFacts>,
    pub(crate) positions: Positions,
    pub(crate) counts: (u64, u64),
    pub(crate) extents: Extents,
}

impl Survey {
    /// Reads the whole part; damage is an error, since nobody writes on over it.
    pub(crate) fn of(store: &dyn Store, part: u32) -> Result<Self, LedgerError> {
        let mut reader = PartReader::new(store, part)?;
        let mut extents = Extents::default();
        for record in reader.by_ref() {
            extents.add(&record?);
        }
        let counts = reader.counts();
        let (entries, mut findings, _, positions) = reader.into_parts();
        findings.retain(Finding::is_damage);
        if !findings.is_empty() {
            return Err(LedgerError::Damaged { part, findings });
        }
        Ok(Self { entries, positions, counts, extents })
    }
}

impl Ledger {
    /// The ledger in `store`, written by `owner`, who judges other owners by `liveness`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, owner: Owner, liveness: Arc<dyn Liveness>) -> Self {
        Self { store, owner, liveness, failpoint: Arc::new(NoFailpoint), open: Arc::default() }
    }

    /// The same, telling `failpoint` of each window between two durable steps.
    #[must_use]
    pub fn with_failpoint(mut self, failpoint: Arc<dyn Failpoint>) -> Self {
        self.failpoint = failpoint;
        self
    }

    /// The store underneath, for reading.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Who writes.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Opens `part` for writing: begins it, or takes it over from an owner that is gone or gave it up.
    ///
    /// # Errors
    /// When somebody else holds it ([`LedgerError::HeldBy`]) or may do so ([`LedgerError::OwnerUnknown`]), when
    /// it is damaged, open in this process already, or the store fails.
    pub fn open_part(&self, part: u32) -> Result<Opened, LedgerError> {
        let claim = self.claim(part)?;
        for _ in 0..TRIES_MAX {
            let chain = Chain::load(&*self.store, part)?;
            if let Some(seal) = chain.seal {
                return Ok(Opened::Sealed(seal));
            }
            let created = match chain.last() {
                None if chain.findings.is_empty() => self.begin(part)?,
                None => return Err(LedgerError::Damaged { part, findings: chain.findings }),
                Some(last) => self.take_over(part, last)?,
            };
            if let Some(taken) = created {
                return self.writer(part, taken, claim);
            }
        }
        Err(LedgerError::Contended { part, tries: TRIES_MAX })
    }

    /// Lets whoever comes next take `part` over, whatever the standing of its owner: an explicit permission by a
    /// person. An owner that still runs is fenced by it.
    ///
    /// # Errors
    /// When nobody holds the part, others change it all the time, or the store fails.
    pub fn unlock(&self, part: u32) -> Result<Unlocked, LedgerError> {
        for _ in 0..TRIES_MAX {
            let chain = Chain::load(&*self.store, part)?;
            let Some(last) = chain.last() else {
                return Err(LedgerError::NothingHeld { part, state: "not begun" });
            };
            if last.is_seal() {
                return Err(LedgerError::NothingHeld { part, state: "sealed" });
            }
            let header = self.header_of(part, last)?;
            let from = header.owner.clone();
            let standing = self.liveness.standing(&from);
            if header.released || self.create_entry(part, last.entry + 1, EntryKind::Takeover, true)? {
                return Ok(Unlocked { from, standing });
            }
        }
        Err(LedgerError::Contended { part, tries: TRIES_MAX })
    }

    fn begin(&self, part: u32) -> Result<Option<Taken>, LedgerError> {
        if !self.create_entry(part, 1, EntryKind::Records, false)? {
            return Ok(None);
        }
        self.failpoint.reached(Window::PartOpened);
        Ok(Some(Taken { entry: 1, from: None }))
    }

    /// Creates the entry after `last`; none where somebody else was first.
    fn take_over(&self, part: u32, last: &Link) -> Result<Option<Taken>, LedgerError> {
        let header = self.header_of(part, last)?;
        let why = self.permission(part, header)?;
        // Damage is looked for before anything is created, so that refusing leaves the part as it was.
        Survey::of(&*self.store, part)?;
        let entry = last.entry + 1;
        if !self.create_entry(part, entry, EntryKind::Takeover, false)? {
            return Ok(None);
        }
        self.failpoint.reached(Window::TakeoverCreated);
        Ok(Some(Taken { entry, from: Some((header.owner.clone(), why)) }))
    }

    /// Why the part may be taken over from the creator of its last entry.
    fn permission(&self, part: u32, header: &Header) -> Result<String, LedgerError> {
        let owner = || Box::new(header.owner.clone());
        if header.released {
            return Ok(format!("{} gave it up or was told to", header.owner));
        }
        if header.owner.nonce == self.owner.nonce {
            // The part is not open in this process, as the claim shows, so that writer is gone.
            return Ok("this process had it before".to_owned());
        }
        match self.liveness.standing(&header.owner) {
            Standing::Dead(why) => Ok(why),
            Standing::Alive => Err(LedgerError::HeldBy { part, owner: owner() }),
            Standing::Unknown(why) => Err(LedgerError::OwnerUnknown { part, owner: owner(), why }),
        }
    }

    fn header_of<'l>(&self, part: u32, link: &'l Link) -> Result<&'l Header, LedgerError> {
        if let Some(header) = &link.header {
            return Ok(header);
        }
        // Without its header an entry is damaged, and reading says where.
        Survey::of(&*self.store, part)?;
        let finding = Finding::Damage { entry: link.entry, offset: 0, bytes: 0, lost: Vec::new() };
        Err(LedgerError::Damaged { part, findings: vec![finding] })
    }

    /// Creates an entry with nothing but its header; false where somebody else's stands there.
    fn create_entry(
        &self,
        part: u32,
        entry: u64,
        kind: EntryKind,
        released: bool,
    ) -> Result<bool, LedgerError> {
        let grows = self.store.appends() && !released;
        let lines = (!grows).then_some(0);
        let (format, owner) = (FORMAT.to_owned(), self.owner.clone());
        let header = Header { format, part, entry, kind, owner, lines, released };
        let mut bytes = Vec::new();
        line::push(&mut bytes, &header).map_err(|error| not_serialisable(&entry_key(part, entry), error))?;
        Ok(create_as_own(&*self.store, &entry_key(part, entry), &bytes)?)
    }

    fn writer(&self, part: u32, taken: Taken, claim: Claim) -> Result<Opened, LedgerError> {
        let Taken { entry, from } = taken;
        let Some((from, why)) = from else {
            let writer = PartWriter::new(self, part, entry, Positions::default(), claim)?;
            return Ok(Opened::Writer(Box::new(writer)));
        };
        // Read only now that the entry exists: whatever the earlier owner committed is there to be seen.
        let survey = Survey::of(&*self.store, part)?;
        let adopted = survey
            .entries
            .iter()
            .filter(|facts| facts.open && facts.entry < entry)
            .map(|facts| self.adopt(part, entry, facts))
            .collect::<Result<Vec<_>, _>>()?;
        let records = survey.positions.len();
        let mut writer = PartWriter::new(self, part, entry, survey.positions, claim)?;
        writer.record_takeover(TakenOver { from, why, adopted, records })?;
        Ok(Opened::Writer(Box::new(writer)))
    }

    /// Makes what counts of an open entry durable, and keeps its torn tail aside.
    fn adopt(&self, part: u32, taker: u64, facts: &EntryFacts) -> Result<Adopted, LedgerError> {
        let EntryFacts { entry, bytes, sha256, tail_bytes, .. } = *facts;
        let key = entry_key(part, entry);
        self.store.secure(&key, bytes)?;
        self.failpoint.reached(Window::AdoptedSecured);
        let mut torn_sha256 = None;
        if tail_bytes > 0 {
            let length = usize::try_from(tail_bytes).unwrap_or(usize::MAX).min(ASIDE_BYTES_MAX);
            let tail = self.store.read_range(&key, bytes, length)?.unwrap_or_default();
            torn_sha256 = Some(Digest::of(&tail));
            // Only this taker uses the key, so that one that is there already is this very tail.
            self.store.create(&aside_key(part, taker, entry, bytes), &tail)?;
            self.failpoint.reached(Window::TailKept);
        }
        Ok(Adopted { entry, bytes, sha256, torn_bytes: tail_bytes, torn_sha256 })
    }

    fn claim(&self, part: u32) -> Result<Claim, LedgerError> {
        if !open_parts(&self.open).insert(part) {
            return Err(LedgerError::AlreadyOpen { part });
        }
        Ok(Claim { part, open: Arc::clone(&self.open) })
    }

    pub(crate) fn shared(&self) -> (Arc<dyn Store>, Owner, Arc<dyn Failpoint>) {
        (Arc::clone(&self.store), self.owner.clone(), Arc::clone(&self.failpoint))
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// Keeps a part from being opened twice by one ledger; gives it back when dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    part: u32,
    open: Arc<Mutex<BTreeSet<u32>>>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        open_parts(&self.open).remove(&self.part);
    }
}

fn open_parts(open: &Mutex<BTreeSet<u32>>) -> MutexGuard<'_, BTreeSet<u32>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates `key`, or finds that exactly these bytes are there: then an earlier try of this owner made it and the
/// reply was lost, since the header bears the owner's nonce.
pub(crate) fn create_as_own(store: &dyn Store, key: &str, bytes: &[u8]) -> Result<bool, StoreError> {
    match store.create(key, bytes)? {
        Creation::Created => Ok(true),
        Creation::Exists => Ok(store.read(key)?.as_deref() == Some(bytes)),
    }
}

pub(crate) fn not_serialisable(key: &str, error: serde_json::Error) -> StoreError {
    StoreError::io("write", key, error.into())
}
