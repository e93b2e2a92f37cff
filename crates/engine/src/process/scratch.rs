//! A folder for what passes between Pilote and a child.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// A folder that only this user can read, removed with everything in it when it is dropped. After a crash it stays
/// behind among the system's temporary files.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes the folder; it must not be there yet.
    ///
    /// # Errors
    /// When it exists or cannot be made.
    pub fn make(path: &Path) -> io::Result<Self> {
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(path)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        Ok(Self(path.to_owned()))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs_err::remove_dir_all(&self.0);
    }
}
