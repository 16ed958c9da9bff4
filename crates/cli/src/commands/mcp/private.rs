//! A service for one folder, in this process: on loopback, on a port that is free.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
};

use bylaw_contract::ErrorCode;
use bylaw_library::{LockHolder, ServiceLock};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    assemble::{self, Access, Assembly},
    commands::{
        ingest::{Report, ingest},
        serve,
    },
    config::Settings,
    dataset::DataSet,
    failure::Failure,
};

/// A service that runs until it is stopped.
pub(super) struct Private {
    shutdown: CancellationToken,
    work: TaskTracker,
    serving: JoinHandle<std::io::Result<()>>,
    assembly: Assembly,
    /// Given back last: whoever gets it then may serve.
    lock: ServiceLock,
}

impl Private {
    /// Reads the folder, serves it and follows its changes; where it is served is in the lock from then on.
    pub(super) async fn start(
        lock: ServiceLock,
        folder: &Path,
        data: &DataSet,
        settings: &Settings,
    ) -> Result<(Self, String), Failure> {
        let unavailable = |error: std::io::Error| Failure::from_error(ErrorCode::AddressUnavailable, &error);
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.map_err(unavailable)?;
        let address = listener.local_addr().map_err(unavailable)?.to_string();
        let assembly = assemble::open(settings, data, Access::Write).await?;
        let paths = vec![folder.to_owned()];
        Report::from(ingest(&assembly, &paths).await?).show_problems();
        let (shutdown, work) = (CancellationToken::new(), TaskTracker::new());
        work.spawn(Arc::clone(&assembly.library).work(shutdown.clone()));
        serve::keep_up(&assembly, data, settings, &work, &shutdown).await;
        serve::watch(&assembly, paths, &work, &shutdown);
        let service = serve::service(&assembly, assembly.runner(settings)?, data, settings);
        let serving = tokio::spawn(bylaw_service::serve(listener, service, shutdown.clone()));
        lock.announce(&LockHolder { pid: std::process::id(), address: Some(address.clone()) })?;
        tracing::info!(folder = %folder.display(), %address, "serving a folder");
        Ok((Self { shutdown, work, serving, assembly, lock }, address))
    }

    /// Finishes what others have asked for, writes everything down and gives the folder up.
    pub(super) async fn stop(self) {
        let Self { shutdown, work, serving, assembly, lock } = self;
        shutdown.cancel();
        if let Err(error) = serving.await {
            tracing::error!(%error, "the service of the folder broke down");
        }
        work.close();
        work.wait().await;
        assembly.close().await;
        drop(lock);
    }
}
