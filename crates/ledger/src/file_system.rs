//! Which file system a directory is on, as far as it matters for appending and for messages.

use std::fmt;
use std::path::Path;

/// A file system, by what its directory says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystem {
    name: String,
    network: bool,
}

/// Magic numbers of statfs(2), from linux/magic.h and the file systems' own sources; `true` for those where other
/// machines may write as well, so that what one machine's cache shows is not what is there. FUSE is among them,
/// since sshfs, s3fs and virtiofs all look like it.
const KNOWN: [(u64, &str, bool); 26] = [
    (0x6969, "nfs", true),
    (0x517b, "smb", true),
    (0xff53_4d42, "cifs", true),
    (0xfe53_4d42, "smb2", true),
    (0x0bd0_0bd0, "lustre", true),
    (0x4750_4653, "gpfs", true),
    (0x00c3_6400, "ceph", true),
    (0x5346_414f, "afs", true),
    (0x1983_0326, "beegfs", true),
    (0xaad7_aaea, "panfs", true),
    (0x7461_636f, "ocfs2", true),
    (0x0116_1970, "gfs2", true),
    (0x0102_1997, "9p", true),
    (0x786f_4256, "vboxsf", true),
    (0x6573_5546, "fuse", true),
    (0xef53, "ext4", false),
    (0x5846_5342, "xfs", false),
    (0x9123_683e, "btrfs", false),
    (0x2fc1_2fc1, "zfs", false),
    (0xf2f5_2010, "f2fs", false),
    (0xca45_1a4e, "bcachefs", false),
    (0x0102_1994, "tmpfs", false),
    (0x794c_7630, "overlayfs", false),
    (0x4d44, "fat", false),
    (0x2011_bab0, "exfat", false),
    (0x5346_544e, "ntfs", false),
];

impl FileSystem {
    /// The file system that `path` is on.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn of(path: &Path) -> Self {
        rustix::fs::statfs(path).map_or_else(
            |_| Self::unknown(),
            |facts| {
                // Sign-extended where the kernel's word is a signed 32-bit one: only the lower half is the number.
                #[expect(clippy::cast_sign_loss, reason = "the magic number is the bit pattern")]
                Self::of_magic(facts.f_type as u64 & 0xffff_ffff)
            },
        )
    }

    /// The file system that `path` is on; not told apart on this system.
    #[cfg(not(target_os = "linux"))]
    #[must_use]
    pub fn of(_path: &Path) -> Self {
        Self::unknown()
    }

    /// The file system with that magic number of statfs(2).
    #[must_use]
    pub fn of_magic(magic: u64) -> Self {
        KNOWN.iter().find(|known| known.0 == magic).map_or_else(
            || Self { name: format!("a file system unknown here ({magic:#x})"), network: false },
            |(_, name, network)| Self { name: (*name).to_owned(), network: *network },
        )
    }

    fn unknown() -> Self {
        Self { name: "a file system unknown here".to_owned(), network: false }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether other machines may write to it: then nothing is appended to, and every commit is an entry of its own.
    #[must_use]
    pub fn is_network(&self) -> bool {
        self.network
    }
}

impl fmt::Display for FileSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
