//! `bylaw mcp --docs`: a folder for one desktop client, or several, without a service that anybody has to start.
//!
//! Whoever comes first to a folder takes the lock of its data directory and serves it, on loopback and a free port; whoever
//! comes later finds the address in the lock and asks there. When the first one ends, the next call of another finds nobody,
//! takes the lock and serves.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use bylaw_contract::{
    ArticleAddress, ErrorCode, SourceName,
    ask::{Answer, AskRequest},
    search::{SearchRequest, SearchResponse},
    sources::{ArticleResponse, SourceDetail, SourceSummary},
};
use bylaw_handover::{DoorError, FrontDoor, News, Visit};
use bylaw_library::{DataDirectory, LibraryError, LockHolder, ServiceLock};
use tokio::{
    runtime::Handle,
    sync::{Mutex, mpsc},
};
use tokio_util::sync::CancellationToken;

use super::{private::Private, stdio};
use crate::{
    client::Client, config::Settings, dataset, dataset::DataSet, failure::Failure, front_door::HttpDoor, terminal,
};

/// How long is waited for somebody who has the lock and does not serve yet: it may be reading the documents.
const ATTEMPTS: u32 = 600;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(50);

pub(super) async fn run(folder: &Path, settings: &Settings) -> Result<(), Failure> {
    let folder = folder.canonicalize().map_err(|error| {
        Failure::new(ErrorCode::DocumentNotFound, format!("{}: {error}", folder.display()))
            .hint("--docs names a folder of documents")
    })?;
    let data = match &settings.data {
        Some(_) => DataSet::to_write(settings)?,
        None => DataSet { directory: DataDirectory::new(dataset::of_folder(&folder)?), is_sample: false },
    };
    let shutdown = CancellationToken::new();
    let door = Arc::new(FolderDoor {
        folder,
        data,
        settings: settings.clone(),
        way: Mutex::new(None),
        private: Mutex::new(None),
    });
    // A client waits some seconds for its servers to begin; to read a folder may take longer. Whoever asks meanwhile waits.
    let early = Arc::clone(&door);
    tokio::spawn(async move {
        if let Err(failure) = early.way().await {
            terminal::note(failure.to_string());
        }
    });
    let served = stdio::serve(Arc::clone(&door) as Arc<dyn FrontDoor>, settings, shutdown).await;
    if let Some(private) = door.private.lock().await.take() {
        private.stop().await;
    }
    served
}

/// The door of whoever serves the folder, who may be this process.
struct FolderDoor {
    folder: PathBuf,
    data: DataSet,
    settings: Settings,
    /// The way to whoever served when it was last needed.
    way: Mutex<Option<Arc<HttpDoor>>>,
    /// The service of this process, if it serves.
    private: Mutex<Option<Private>>,
}

impl FolderDoor {
    /// The way to whoever serves; if nobody does, this process from now on.
    async fn way(&self) -> Result<Arc<HttpDoor>, Failure> {
        let mut way = self.way.lock().await;
        if let Some(way) = way.as_ref() {
            return Ok(Arc::clone(way));
        }
        let address = self.address().await?;
        // A place of its own has no keys, and would take one that is meant for another service for a wrong one.
        let key = self.settings.client_key.as_ref().filter(|_| self.settings.data.is_some());
        let client = Client::new(&format!("http://{address}"), key)?;
        Ok(Arc::clone(way.insert(Arc::new(HttpDoor(client)))))
    }

    async fn address(&self) -> Result<String, Failure> {
        for _ in 0..ATTEMPTS {
            let holder = LockHolder { pid: std::process::id(), address: None };
            match ServiceLock::acquire(&self.data.directory, &holder) {
                Ok(lock) => {
                    let (folder, data, settings) = (self.folder.clone(), self.data.clone(), self.settings.clone());
                    // Reading documents keeps a thread busy; this one has a client to listen to.
                    let here = Handle::current();
                    let start = move || here.block_on(Private::start(lock, &folder, &data, &settings));
                    let started = tokio::task::spawn_blocking(start).await;
                    let (private, address) =
                        started.map_err(|error| Failure::from_error(ErrorCode::InternalError, &error))??;
                    *self.private.lock().await = Some(private);
                    return Ok(address);
                }
                Err(LibraryError::Locked { holder: LockHolder { address: Some(address), .. }, .. }) => {
                    return Ok(address);
                }
                Err(LibraryError::Locked { .. }) => tokio::time::sleep(BETWEEN_ATTEMPTS).await,
                Err(error) => return Err(error.into()),
            }
        }
        Err(Failure::new(
            ErrorCode::NotReady,
            "another program has had these documents for half a minute and does not serve",
        )
        .hint("wait until it has read them, or name another data directory with --data"))
    }

    async fn reach(&self) -> Result<Arc<HttpDoor>, DoorError> {
        self.way().await.map_err(|failure| DoorError::Unreachable(failure.to_string().replace('\n', "; ")))
    }

    /// Forgets a way that led nowhere, so that the next look finds who serves now.
    async fn lost(&self, way: &Arc<HttpDoor>) {
        let mut known = self.way.lock().await;
        if known.as_ref().is_some_and(|known| Arc::ptr_eq(known, way)) {
            *known = None;
        }
    }
}

/// Makes a request, and makes it once more where nobody was reached: nothing had happened, and somebody else may serve now.
macro_rules! through {
    ($door:expr, $way:ident => $request:expr) => {{
        let $way = $door.reach().await?;
        match $request.await {
            Err(DoorError::Unreachable(_)) => {
                $door.lost(&$way).await;
                let $way = $door.reach().await?;
                $request.await
            }
            ended => ended,
        }
    }};
}

#[async_trait]
impl FrontDoor for FolderDoor {
    async fn search(&self, visit: &Visit, request: &SearchRequest) -> Result<SearchResponse, DoorError> {
        through!(self, way => way.search(visit, request))
    }

    async fn ask(&self, visit: &Visit, request: &AskRequest, news: mpsc::Sender<News>) -> Result<Answer, DoorError> {
        through!(self, way => way.ask(visit, request, news.clone()))
    }

    async fn article(
        &self,
        visit: &Visit,
        source: &SourceName,
        article: &ArticleAddress,
    ) -> Result<ArticleResponse, DoorError> {
        through!(self, way => way.article(visit, source, article))
    }

    async fn sources(&self, visit: &Visit) -> Result<Vec<SourceSummary>, DoorError> {
        through!(self, way => way.sources(visit))
    }

    async fn source(&self, visit: &Visit, source: &SourceName) -> Result<SourceDetail, DoorError> {
        through!(self, way => way.source(visit, source))
    }
}
