//! Files below files and folders, and the names their sources get.

use std::{
    collections::{BTreeSet, HashSet},
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use bylaw_contract::SourceName;
use bylaw_corpus::CorpusError;

use crate::error::LibraryError;

/// A file that is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) name: SourceName,
    pub(crate) path: PathBuf,
    /// The root it was found below, in one spelling.
    pub(crate) origin: String,
}

/// What lies below some roots.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) files: Vec<Found>,
    pub(crate) skipped: Vec<PathBuf>,
    pub(crate) failed: Vec<(PathBuf, LibraryError)>,
    /// Roots, in one spelling, that were seen completely: what is not listed there is not there.
    pub(crate) complete: BTreeSet<String>,
}

/// What to do with a root that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingRoot {
    /// It is a mistake.
    Refuse,
    /// It was there when following began. A file is gone; a folder is more likely not mounted, and nothing is concluded.
    Tolerate,
}

/// The documents below some files and folders, under the names that ingesting would give them.
#[derive(Debug, Default)]
pub struct FilesBelow {
    /// What would be read.
    pub found: Vec<(SourceName, PathBuf)>,
    /// Files of a kind that is not read.
    pub skipped: Vec<PathBuf>,
    /// What could not be looked at, or has no name that a source may have.
    pub failed: Vec<(PathBuf, LibraryError)>,
}

impl FilesBelow {
    /// Lists what [`crate::Library::ingest_paths`] would read below `roots`.
    ///
    /// # Errors
    /// If a root does not exist.
    pub fn list(roots: &[PathBuf]) -> Result<Self, LibraryError> {
        let Listing { files, skipped, failed, .. } = list(roots, Path::new(""), MissingRoot::Refuse)?;
        Ok(Self { found: files.into_iter().map(|file| (file.name, file.path)).collect(), skipped, failed })
    }
}

/// Lists what is to be read below `roots`, in a stable order. `except` is the data directory, which may lie below a root.
pub(crate) fn list(roots: &[PathBuf], except: &Path, missing: MissingRoot) -> Result<Listing, LibraryError> {
    let mut walk = Walk {
        listing: Listing::default(),
        except: except.canonicalize().unwrap_or_else(|_| except.to_owned()),
        names: HashSet::new(),
        files: HashSet::new(),
        folders: HashSet::new(),
    };
    for root in roots {
        walk.root(root, missing)?;
    }
    Ok(walk.listing)
}

struct Walk {
    listing: Listing,
    except: PathBuf,
    names: HashSet<SourceName>,
    /// Files and folders that were visited, in one spelling: links may lead in circles.
    files: HashSet<PathBuf>,
    folders: HashSet<PathBuf>,
}

impl Walk {
    fn root(&mut self, root: &Path, missing: MissingRoot) -> Result<(), LibraryError> {
        let path = match root.canonicalize() {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let gone = LibraryError::FileNotFound { path: root.to_owned() };
                match missing {
                    MissingRoot::Refuse => return Err(gone),
                    MissingRoot::Tolerate if bylaw_corpus::is_readable(&root.to_string_lossy()) => {
                        self.listing.complete.insert(origin(root));
                    }
                    MissingRoot::Tolerate => self.listing.failed.push((root.to_owned(), gone)),
                }
                return Ok(());
            }
            Err(error) => return Err(LibraryError::io(root)(error)),
        };
        let origin = origin(&path);
        if path.is_dir() {
            if self.folder(&path, &path, &origin) {
                self.listing.complete.insert(origin);
            }
        } else {
            let folder = path.parent().unwrap_or(&path).to_owned();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if bylaw_corpus::is_readable(&name) {
                self.file(&path, &folder, &origin);
            } else {
                // Named by hand, so it deserves an answer.
                self.listing.failed.push((path, CorpusError::UnsupportedFormat { name }.into()));
            }
            self.listing.complete.insert(origin);
        }
        Ok(())
    }

    /// Whether everything below could be seen.
    fn folder(&mut self, folder: &Path, root: &Path, origin: &str) -> bool {
        let Ok(identity) = folder.canonicalize() else { return false };
        if identity == self.except || !self.folders.insert(identity) {
            return true;
        }
        let entries = match fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => {
                self.listing.failed.push((folder.to_owned(), LibraryError::io(folder)(error)));
                return false;
            }
        };
        let mut paths: Vec<(bool, PathBuf)> =
            entries.iter().map(|entry| (entry.path().is_symlink(), entry.path())).collect();
        // Links last: what is really here keeps its plain name.
        paths.sort();
        let mut complete = true;
        for (_, path) in paths {
            if path.file_name().is_some_and(is_hidden) {
                continue;
            }
            match fs::metadata(&path) {
                Ok(found) if found.is_dir() => complete &= self.folder(&path, root, origin),
                Ok(found) if found.is_file() && bylaw_corpus::is_readable(&path.to_string_lossy()) => {
                    self.file(&path, root, origin);
                }
                // Other kinds, sockets and the like, and links that lead nowhere.
                Ok(_) => self.listing.skipped.push(path),
                Err(_) if path.is_symlink() => self.listing.skipped.push(path),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    complete = false;
                    self.listing.failed.push((path.clone(), LibraryError::io(&path)(error)));
                }
            }
        }
        complete
    }

    fn file(&mut self, path: &Path, root: &Path, origin: &str) {
        if path.canonicalize().is_ok_and(|identity| !self.files.insert(identity)) {
            return;
        }
        match self.name(path, root) {
            Ok(name) => self.listing.files.push(Found { name, path: path.to_owned(), origin: origin.to_owned() }),
            Err(problem) => self.listing.failed.push((
                path.to_owned(),
                LibraryError::InvalidPath { path: path.to_string_lossy().into_owned(), problem },
            )),
        }
    }

    /// The path below the root; where another file of this call has that name, as many folders above as it takes.
    fn name(&mut self, path: &Path, root: &Path) -> Result<SourceName, &'static str> {
        const NOT_UTF_8: &str = "its name is not UTF-8; rename it";
        let below = path.strip_prefix(root).map_err(|_| NOT_UTF_8)?;
        let mut name = below.to_str().ok_or(NOT_UTF_8)?.replace(std::path::MAIN_SEPARATOR, "/");
        let mut above = root.iter().rev();
        loop {
            let candidate = SourceName::new(name.as_str())
                .map_err(|_| "its name has control characters or is too long; rename it")?;
            if self.names.insert(candidate.clone()) {
                return Ok(candidate);
            }
            let folder = above.next().and_then(OsStr::to_str).filter(|folder| *folder != "/");
            let folder = folder.ok_or("another file has the same name; rename one of them")?;
            name = format!("{folder}/{name}");
        }
    }
}

/// How a root is remembered.
pub(crate) fn origin(root: &Path) -> String {
    root.to_string_lossy().into_owned()
}

/// Whether a name is hidden, which is how editors and version control keep things of their own.
pub(crate) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}
