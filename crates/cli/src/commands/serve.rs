//! `bylaw serve`: the network door.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode, sync::Arc};

use bylaw_agent::Runner;
use bylaw_contract::{Clock, ErrorCode};
use bylaw_gate::{KeyRecord, KeyStore, LedgerStore};
use bylaw_library::{DataDirectory, LockHolder, ServiceLock};
use bylaw_service::{Service, ServiceSettings};
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    args::Serve,
    assemble::{self, Access, Assembly},
    commands::{
        ingest::{Report, ingest},
        key,
    },
    config::Settings,
    dataset::DataSet,
    failure::Failure,
    sample, sealing,
    terminal::{self, Format, printable},
    upkeep,
};

pub(crate) async fn run(arguments: Serve, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    let data = choose(&arguments, settings)?;
    check_listen_address(settings, &data).await?;
    settings.money.warn();
    let listener = listen(settings).await?;
    let address = listener.local_addr().map_err(|error| unavailable(settings, &error))?;
    let lock = ServiceLock::acquire(&data.directory, &LockHolder { pid: std::process::id(), address: None })?;
    let assembly = assemble::open(settings, &data, Access::Write).await?;
    let paths = if data.is_sample { sample_files(&data.directory)? } else { arguments.paths };
    if !paths.is_empty() {
        Report::from(ingest(&assembly, &paths).await?).show_problems();
    }
    lock.announce(&LockHolder { pid: std::process::id(), address: Some(address.to_string()) })?;
    let shutdown = stop_signal();
    let work = TaskTracker::new();
    work.spawn(Arc::clone(&assembly.library).work(shutdown.clone()));
    let runner = assembly.runner(settings)?;
    keep_up(&assembly, &data, settings, &work, &shutdown).await;
    if arguments.watch {
        watch(&assembly, paths.clone(), &work, &shutdown);
    }
    announce(&assembly, &data, settings, address, &assembly.store.list().await?, format);
    let served = bylaw_service::serve(listener, service(&assembly, runner, &data, settings), shutdown.clone()).await;
    shutdown.cancel();
    work.close();
    work.wait().await;
    assembly.close().await;
    served.map_err(|error| Failure::from_error(ErrorCode::AddressUnavailable, &error))?;
    drop(lock);
    Ok(ExitCode::SUCCESS)
}

/// Whoever listens to other machines needs a key on record: from the first one on, whatever became of it, every request
/// needs a key.
async fn check_listen_address(settings: &Settings, data: &DataSet) -> Result<(), Failure> {
    if settings.host.is_loopback() || !key::records(data).await?.is_empty() {
        return Ok(());
    }
    bylaw_gate::check_listen_address(settings.host)
        .map_err(|error| Failure::from(error).hint("bylaw key create NAME makes a key; then every request needs one"))
}

/// Looks after the ledger and the runs. A ledger that cannot be sealed is no reason not to answer.
pub(super) async fn keep_up(
    assembly: &Assembly,
    data: &DataSet,
    settings: &Settings,
    work: &TaskTracker,
    shutdown: &CancellationToken,
) {
    let sealing = sealing::read_or_make(&data.directory, &assembly.store, assembly.random.as_ref()).await;
    let sealing = sealing.map_err(|failure| terminal::note(format!("nothing is sealed: {failure}"))).ok();
    let ledger: Arc<dyn LedgerStore> = Arc::new(assembly.store.clone());
    upkeep::start(work, &ledger, &assembly.clock, sealing, settings.ledger.seal_every, shutdown);
    upkeep::start_runs(work, &assembly.journal, &assembly.clock, settings.runs.keep, shutdown);
}

/// The data set to serve: the sample in its own when nothing was asked for and nothing has been kept.
fn choose(arguments: &Serve, settings: &Settings) -> Result<DataSet, Failure> {
    let data = DataSet::to_write(settings)?;
    let nothing_asked = arguments.paths.is_empty() && settings.data.is_none() && !data.is_used();
    if arguments.sample || nothing_asked { DataSet::sample(settings) } else { Ok(data) }
}

async fn listen(settings: &Settings) -> Result<TcpListener, Failure> {
    let address = SocketAddr::new(settings.host, settings.port);
    TcpListener::bind(address).await.map_err(|error| unavailable(settings, &error))
}

fn unavailable(settings: &Settings, error: &std::io::Error) -> Failure {
    let address = SocketAddr::new(settings.host, settings.port);
    let problem = match error.kind() {
        std::io::ErrorKind::AddrInUse => "is in use by another program".to_owned(),
        _ => format!("cannot be listened on: {error}"),
    };
    Failure::new(ErrorCode::AddressUnavailable, format!("{address} {problem}"))
        .hint("choose another port with --port; --port 0 takes a free one")
}

fn sample_files(directory: &DataDirectory) -> Result<Vec<PathBuf>, Failure> {
    let folder = directory.root().join("sample");
    sample::write(&folder).map_err(|error| {
        Failure::new(ErrorCode::DataDirectoryUnusable, format!("{}: {error}", folder.display()))
            .hint("choose another data directory with --data")
    })
}

pub(super) fn service(assembly: &Assembly, runner: Runner, data: &DataSet, settings: &Settings) -> Arc<Service> {
    Service::new(
        Arc::clone(&assembly.library),
        Arc::clone(&assembly.answerer),
        runner,
        assembly.accounts.clone(),
        Arc::clone(&assembly.clock),
        Arc::clone(&assembly.random),
        ServiceSettings {
            documents_root: settings.documents_root.clone(),
            upload_limit_bytes: settings.max_upload_bytes,
            concurrent_asks: settings.max_concurrent_asks,
            shutdown_grace: settings.shutdown_grace,
            allowed_hosts: settings.allowed_hosts.clone(),
            frame_ancestors: settings.frame_ancestors.clone(),
            handover: settings.mcp.handover.clone(),
            ..ServiceSettings::new(data.directory.uploads())
        },
    )
}

pub(super) fn watch(assembly: &Assembly, paths: Vec<PathBuf>, work: &TaskTracker, shutdown: &CancellationToken) {
    let library = Arc::clone(&assembly.library);
    let cancel = shutdown.clone();
    work.spawn(async move {
        let report = Box::new(|report| Report::from(report).show_changes());
        if let Err(error) = library.watch(paths, report, cancel).await {
            terminal::note(Failure::from(error).to_string());
        }
    });
}

/// Fires at the first SIGINT or SIGTERM; the second ends the process at once.
fn stop_signal() -> CancellationToken {
    let token = CancellationToken::new();
    let fired = token.clone();
    tokio::spawn(async move {
        signal().await;
        terminal::note("stopping: finishing what is in flight (again to stop at once)");
        fired.cancel();
        signal().await;
        std::process::exit(130);
    });
    token
}

async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = terminate.recv() => (),
                _ = tokio::signal::ctrl_c() => (),
            }
        }
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

fn announce(
    assembly: &Assembly,
    data: &DataSet,
    settings: &Settings,
    address: SocketAddr,
    keys: &[KeyRecord],
    format: Format,
) {
    let generation = assembly.library.generation();
    let questions = if data.is_sample { sample::QUESTIONS.map(str::to_owned).to_vec() } else { questions(&generation) };
    if format == Format::Json {
        return terminal::json(&serde_json::json!({
            "url": format!("http://{address}"),
            "data": data.directory.root(),
            "sample": data.is_sample,
            "sources": generation.sources().len(),
            "articles": generation.article_count(),
            "model": settings.model.as_ref().map(|model| &model.endpoint.model),
            "keys": keys.len(),
            "questions": questions,
        }));
    }
    terminal::line(format!("Bylaw {} answers at http://{address}", env!("CARGO_PKG_VERSION")));
    terminal::line(format!(
        "  {} sources, {} articles{}",
        generation.sources().len(),
        generation.article_count(),
        if data.is_sample { " (the bundled sample; bylaw serve FOLDER answers from your own)" } else { "" }
    ));
    terminal::line(format!("  data in {}", data.directory.root().display()));
    match &settings.model {
        Some(model) => {
            terminal::line(format!("  model {} at {}", model.endpoint.model, model.endpoint.base_url));
        }
        None => terminal::line("  no model: answers are the rules' own sentences"),
    }
    terminal::line(format!("  {}", door(keys, assembly.clock.as_ref())));
    if questions.is_empty() {
        return terminal::line("\nThere are no documents yet: bylaw ingest FILE_OR_FOLDER");
    }
    terminal::line("\nTry");
    let key = if keys.is_empty() { "" } else { " -H \"authorization: Bearer $BYLAW_KEY\"" };
    for question in &questions {
        let body = serde_json::json!({ "question": question });
        terminal::line(format!("  curl -s http://{address}/ask{key} -H 'content-type: application/json' -d '{body}'"));
    }
}

/// Who may come in.
pub(super) fn door(keys: &[KeyRecord], clock: &dyn Clock) -> String {
    let valid = keys.iter().filter(|record| record.is_valid(clock.now())).count();
    match (keys.len(), valid) {
        (0, _) => "no keys: open to this machine only".to_owned(),
        (_, 0) => "no valid key, and every request needs one: bylaw key create NAME makes one".to_owned(),
        (_, 1) => "1 key: every request needs one".to_owned(),
        (_, _) => format!("{valid} keys: every request needs one"),
    }
}

/// Three questions to try, made from captions of the documents that are served.
fn questions(generation: &bylaw_retrieval::Generation) -> Vec<String> {
    let captions = (0..u32::try_from(generation.article_count().min(200)).unwrap_or(0))
        .filter_map(|ordinal| generation.article(bylaw_retrieval::Ordinal(ordinal)).ok())
        .filter_map(|article| article.caption.clone())
        .filter(|caption| (2..=16).contains(&caption.chars().count()));
    let mut captions: Vec<String> = captions.collect();
    captions.dedup();
    // Spread over the documents: the first articles are mostly about purpose and scope.
    let mut places = [1, 2, 3].map(|part| captions.len() * part / 4).to_vec();
    places.dedup();
    places
        .into_iter()
        .filter_map(|place| captions.get(place))
        .map(|caption| {
            let caption = printable(caption).replace('\'', "");
            if caption.is_ascii() {
                format!("What do the rules say about {caption}?")
            } else {
                format!("{caption}怎麼規定？")
            }
        })
        .collect()
}
