//! `bylaw search`: articles without an answer.

use std::process::ExitCode;

use bylaw_answer::citations_of;
use bylaw_contract::{
    Citation, ErrorCode, RequestId, SourceName,
    search::{SearchRequest, SearchResponse},
};
use bylaw_retrieval::{Filter, LEXICAL, Query};

use crate::{
    args::Search,
    assemble::{self, Access},
    client::Client,
    config::Settings,
    dataset::DataSet,
    failure::Failure,
    terminal::{self, Format, printable, shorten},
};

pub(crate) async fn run(arguments: Search, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    let mut request = SearchRequest::new(arguments.question.join(" "));
    request.k = arguments.k;
    request.source = arguments.narrow.source;
    request.chapter_no = arguments.narrow.chapter;
    request.check().map_err(|error| Failure::new(ErrorCode::InvalidRequest, error.to_string()))?;
    let response = match &arguments.narrow.url {
        Some(url) => Client::new(url, settings.client_key.as_ref())?.search(&request).await?,
        None => in_process(&request, settings).await?,
    };
    match format {
        Format::Json => terminal::json(&response),
        Format::Text => show(&response.hits),
    }
    Ok(ExitCode::SUCCESS)
}

async fn in_process(request: &SearchRequest, settings: &Settings) -> Result<SearchResponse, Failure> {
    let assembly = assemble::open(settings, &DataSet::to_read(settings)?.require_used()?, Access::Read).await?;
    let started = assembly.clock.elapsed();
    let generation = assembly.library.generation();
    let source = request.source.as_ref().map(|name| known_source(name, &generation)).transpose()?;
    let found = generation.search(&Query {
        question: &request.question,
        k: request.k as usize,
        filter: Filter { source: source.as_ref(), chapter_no: request.chapter_no, readable: None },
        follow_references: true,
    })?;
    Ok(SearchResponse {
        hits: citations_of(&found),
        retriever: LEXICAL.to_owned(),
        k: request.k,
        filtered: request.source.is_some() || request.chapter_no.is_some(),
        embedding_tokens: 0,
        elapsed_ms: (assembly.clock.elapsed() - started).as_secs_f64() * 1000.0,
        generation: generation.number(),
        warnings: Vec::new(),
        request_id: RequestId::mint(assembly.random.as_ref()),
    })
}

fn known_source(name: &str, generation: &bylaw_retrieval::Generation) -> Result<SourceName, Failure> {
    let source = SourceName::new(name).ok().filter(|name| generation.source(name).is_some());
    source.ok_or_else(|| {
        Failure::new(ErrorCode::SourceNotFound, format!("there is no source named {name:?}"))
            .hint("bylaw sources lists them")
    })
}

fn show(hits: &[Citation]) {
    if hits.is_empty() {
        terminal::note("nothing was found");
    }
    for (place, hit) in hits.iter().enumerate() {
        let how = if hit.retrieved { format!("{:>2}.", place + 1) } else { " →".to_owned() };
        terminal::line(format!("{how} {}  {}", printable(&hit.title), hit.id));
        terminal::line(format!("    {}", printable(&shorten(&hit.text, 100))));
    }
}
