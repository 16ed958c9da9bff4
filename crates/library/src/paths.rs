//! Paths that a client may name.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use crate::error::LibraryError;

/// See [`crate::Library::resolve_below`].
pub(crate) fn resolve_below(root: Option<&Path>, path: &str) -> Result<PathBuf, LibraryError> {
    let invalid = |problem| LibraryError::InvalidPath { path: path.to_owned(), problem };
    let Some(root) = root else {
        return Err(invalid("no documents folder is configured; upload the document instead"));
    };
    if path.is_empty() || path.contains('\0') {
        return Err(invalid("a path relative to the documents folder is needed"));
    }
    for component in Path::new(path).components() {
        match component {
            Component::Normal(_) | Component::CurDir => {}
            Component::ParentDir => return Err(invalid("'..' is not allowed")),
            Component::RootDir | Component::Prefix(_) => {
                return Err(invalid("give the path relative to the documents folder"));
            }
        }
    }
    let root = root.canonicalize().map_err(LibraryError::io(root))?;
    let resolved = root.join(path).canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => LibraryError::FileNotFound { path: path.into() },
        _ => LibraryError::io(path)(error),
    })?;
    if !resolved.starts_with(&root) {
        return Err(invalid("it is a link that leaves the documents folder"));
    }
    if !resolved.is_file() {
        return Err(invalid("it is not a file; name one document"));
    }
    Ok(resolved)
}
