//! `bylaw sources`: list, show, delete, undo.

use std::process::ExitCode;

use bylaw_contract::{
    ErrorCode, RequestId, SourceName,
    sources::{DeleteResult, SourceDetail, SourceSummary, UndoResult},
};

use crate::{
    args::{Sources, SourcesCommand},
    assemble::{self, Access, Assembly},
    client::Client,
    commands::ingest::{self, Writer},
    config::Settings,
    dataset::DataSet,
    failure::Failure,
    terminal::{self, Format, printable},
};

pub(crate) async fn run(arguments: Sources, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    let url = arguments.url.as_deref();
    match arguments.command.unwrap_or(SourcesCommand::List) {
        SourcesCommand::List => list(&Reader::open(url, settings).await?.sources().await?, format),
        SourcesCommand::Show { name } => {
            show(&Reader::open(url, settings).await?.source(&source_name(&name)?).await?, format);
        }
        SourcesCommand::Delete { name } => deleted(&delete(&source_name(&name)?, url, settings).await?, format),
        SourcesCommand::Undo { name } => undone(&undo(&source_name(&name)?, url, settings).await?, format),
    }
    Ok(ExitCode::SUCCESS)
}

fn source_name(name: &str) -> Result<SourceName, Failure> {
    SourceName::new(name).map_err(|error| Failure::new(ErrorCode::InvalidRequest, error.to_string()))
}

/// Where sources are read from.
enum Reader {
    Service(Client),
    InProcess(Box<Assembly>),
}

impl Reader {
    async fn open(url: Option<&str>, settings: &Settings) -> Result<Self, Failure> {
        match url {
            Some(url) => Ok(Self::Service(Client::new(url, settings.client_key.as_ref())?)),
            None => {
                let data = DataSet::to_read(settings)?.require_used()?;
                Ok(Self::InProcess(Box::new(assemble::open(settings, &data, Access::Read).await?)))
            }
        }
    }

    async fn sources(&self) -> Result<Vec<SourceSummary>, Failure> {
        match self {
            Self::Service(client) => client.sources().await,
            Self::InProcess(assembly) => Ok(assembly.library.sources().await?),
        }
    }

    async fn source(&self, name: &SourceName) -> Result<SourceDetail, Failure> {
        match self {
            Self::Service(client) => client.source(name).await,
            Self::InProcess(assembly) => Ok(assembly.library.source(name, &request_id(assembly)).await?),
        }
    }
}

async fn delete(name: &SourceName, url: Option<&str>, settings: &Settings) -> Result<DeleteResult, Failure> {
    match writer(url, settings).await? {
        Writer::Service(client) => client.delete(name).await,
        Writer::InProcess { assembly, .. } => Ok(assembly.library.delete(name, &request_id(&assembly)).await?),
    }
}

async fn undo(name: &SourceName, url: Option<&str>, settings: &Settings) -> Result<UndoResult, Failure> {
    match writer(url, settings).await? {
        Writer::Service(client) => client.undo_delete(name).await,
        Writer::InProcess { assembly, .. } => Ok(assembly.library.undo_delete(name, &request_id(&assembly)).await?),
    }
}

async fn writer(url: Option<&str>, settings: &Settings) -> Result<Writer, Failure> {
    match url {
        Some(url) => Ok(Writer::Service(Client::new(url, settings.client_key.as_ref())?)),
        None => ingest::writer(&DataSet::to_read(settings)?.require_used()?, settings).await,
    }
}

fn request_id(assembly: &Assembly) -> RequestId {
    RequestId::mint(assembly.random.as_ref())
}

fn list(sources: &[SourceSummary], format: Format) {
    if format == Format::Json {
        return terminal::json(&sources);
    }
    if sources.is_empty() {
        terminal::note("there are no sources; bylaw ingest FILE_OR_FOLDER adds some");
    }
    for source in sources {
        let title = source.title.as_deref().map(printable).unwrap_or_default();
        terminal::line(format!("{:<32} {:>6} articles  {title}", source.source.as_str(), source.chunks));
    }
}

fn show(source: &SourceDetail, format: Format) {
    if format == Format::Json {
        return terminal::json(source);
    }
    let mut path: &[String] = &[];
    for entry in &source.outline {
        if entry.heading_path != path {
            path = &entry.heading_path;
            terminal::line(printable(&path.join(" › ")));
        }
        terminal::line(format!("  {:<10} {}", entry.article.as_str(), printable(&entry.title)));
    }
    terminal::line("");
    for version in &source.versions {
        let mark = if version.current { "answers" } else { "earlier" };
        let short = &version.version.as_str()[..12];
        terminal::line(format!(
            "{mark}  version {short}  {} articles, read by {}",
            version.articles, version.extractor
        ));
        version.warnings.iter().for_each(|warning| terminal::line(format!("         {}", printable(warning))));
    }
    if let Some(difference) = &source.difference {
        let counts = [&difference.added, &difference.changed, &difference.removed].map(Vec::len);
        terminal::line(format!(
            "since the version before: {} added, {} changed, {} removed",
            counts[0], counts[1], counts[2]
        ));
    }
}

fn deleted(result: &DeleteResult, format: Format) {
    match format {
        Format::Json => terminal::json(result),
        Format::Text => terminal::line(format!(
            "{} no longer answers ({} articles); {} articles are left\nbylaw sources undo '{}' brings it back",
            result.source, result.removed, result.chunks_left, result.source
        )),
    }
}

fn undone(result: &UndoResult, format: Format) {
    match format {
        Format::Json => terminal::json(result),
        Format::Text => terminal::line(format!("{} answers again ({} articles)", result.source, result.chunks)),
    }
}
