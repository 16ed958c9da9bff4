//! Agents by name: the files of one folder.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::agent_file::{AgentFile, AgentFileError};

/// The longest agent file that is read.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Most agents of one folder.
const MAX_AGENTS: usize = 1_000;

/// The agents of a folder. `leave.toml` is the agent `leave`.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    agents: BTreeMap<String, Arc<AgentFile>>,
}

/// Why a folder of agents cannot be used: the file, the line where there is one, and what is wrong, in one line.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The folder or a file in it cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is no agent.
    #[error("{}: {source}", path.display())]
    Invalid {
        /// Which.
        path: PathBuf,
        /// Where in it, and why.
        source: AgentFileError,
    },
}

impl Catalogue {
    /// Reads every `*.toml` of a folder. One that is wrong is an error: an agent that is silently not there is worse.
    ///
    /// # Errors
    /// If the folder is not there, or a file in it is no agent.
    pub fn read(folder: &Path) -> Result<Self, CatalogueError> {
        let unreadable = |source| CatalogueError::Unreadable { path: folder.to_owned(), source };
        let mut agents = BTreeMap::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let (name, file) = read(&path)?;
                agents.insert(name, Arc::new(file));
            }
            if agents.len() > MAX_AGENTS {
                return Err(unreadable(io::Error::other(format!("there are more than {MAX_AGENTS} agents"))));
            }
        }
        Ok(Self { agents })
    }

    /// The agent of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<AgentFile>> {
        self.agents.get(name)
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.agents.keys().map(String::as_str)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }
}

fn read(path: &Path) -> Result<(String, AgentFile), CatalogueError> {
    let invalid = |source| CatalogueError::Invalid { path: path.to_owned(), source };
    let unreadable = |source| CatalogueError::Unreadable { path: path.to_owned(), source };
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if !is_name(name) {
        let problem = "an agent's name is letters, digits, `-` and `_`, at most 64 of them: rename the file";
        return Err(invalid(AgentFileError(problem.to_owned())));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(invalid(AgentFileError(format!("it is longer than {MAX_FILE_BYTES} bytes"))));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        invalid(AgentFileError(format!("it is not UTF-8 from byte {} on", error.utf8_error().valid_up_to())))
    })?;
    Ok((name.to_owned(), AgentFile::parse(&text).map_err(invalid)?))
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.chars().count()) && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}
