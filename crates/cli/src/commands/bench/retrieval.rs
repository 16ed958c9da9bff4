//! `bylaw bench retrieval`: quality and speed on a collection with judged questions.

use std::{
    collections::{HashMap, HashSet},
    process::ExitCode,
    time::Instant,
};

use bylaw_contract::ErrorCode;
use bylaw_retrieval::{Filter, Found, Generation, Query};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    collection::{Collection, json_rows, text},
    metrics::{Metrics, RECALL_AT, percentile},
    process,
};
use crate::{
    args::BenchRetrieval,
    failure::Failure,
    terminal::{self, Format},
};

#[derive(Deserialize)]
struct Question {
    id: Value,
    text: String,
    #[serde(flatten)]
    other: HashMap<String, Value>,
}

#[derive(Serialize)]
struct Report {
    articles: usize,
    questions: usize,
    ndcg_at_10: f64,
    mrr_at_10: f64,
    recall_at_1: f64,
    recall_at_5: f64,
    recall_at_10: f64,
    recall_at_100: f64,
    /// Questions whose first ranked article is relevant.
    first_is_relevant: usize,
    /// Relevant articles among the first five or those that they refer to, of `relevant`.
    relevant_in_5_with_references: usize,
    /// Questions all of whose relevant articles are among the first five.
    questions_complete_in_5: usize,
    relevant: usize,
    search_ms_p50: f64,
    search_ms_p95: f64,
    index_cpu_seconds: f64,
    open_ms: f64,
    rss_mib: u64,
    peak_rss_mib: u64,
}

pub(super) fn run(arguments: &BenchRetrieval, format: Format) -> Result<ExitCode, Failure> {
    let questions = questions(arguments)?;
    let qrels = text(&arguments.qrels)?;
    let relevant = relevant(&qrels);
    let collection = Collection::index(&arguments.corpus)?;
    let generation = collection.generation.as_ref();
    let mut metrics = Metrics::default();
    let (mut first, mut in_five, mut complete, mut total) = (0, 0, 0, 0);
    let mut times = Vec::with_capacity(questions.len());
    for question in &questions {
        let Some(wanted) = relevant.get(id_text(&question.id).as_str()) else { continue };
        let start = Instant::now();
        let found = search(generation, &question.text, 100, false)?;
        times.push(start.elapsed().as_secs_f64() * 1000.0);
        let ranked = ids(&found, wanted);
        metrics.add(&ranked, wanted);
        first += usize::from(ranked.first().is_some_and(|id| wanted.contains(id.as_str())));
        let hits_in_five = ranked.iter().take(5).filter(|id| wanted.contains(id.as_str())).count();
        complete += usize::from(hits_in_five == wanted.len());
        let with_references = ids(&search(generation, &question.text, 5, true)?, wanted);
        in_five += with_references.iter().filter(|id| wanted.contains(id.as_str())).count();
        total += wanted.len();
        if arguments.misses && hits_in_five == 0 {
            terminal::note(format!("missed {}: {} (wanted {wanted:?})", id_text(&question.id), question.text));
        }
    }
    times.sort_by(f64::total_cmp);
    let (rss, peak) = process::memory_kib();
    let recall = metrics.recall.map(|sum| metrics.mean(sum));
    let report = Report {
        articles: generation.article_count(),
        questions: metrics.questions,
        ndcg_at_10: metrics.mean(metrics.ndcg_at_10),
        mrr_at_10: metrics.mean(metrics.mrr_at_10),
        recall_at_1: recall[0],
        recall_at_5: recall[1],
        recall_at_10: recall[2],
        recall_at_100: recall[3],
        first_is_relevant: first,
        relevant_in_5_with_references: in_five,
        questions_complete_in_5: complete,
        relevant: total,
        search_ms_p50: percentile(&times, 0.5),
        search_ms_p95: percentile(&times, 0.95),
        index_cpu_seconds: collection.index_cpu.as_secs_f64(),
        open_ms: collection.open_time.as_secs_f64() * 1000.0,
        rss_mib: rss / 1024,
        peak_rss_mib: peak / 1024,
    };
    show(&report, format);
    Ok(ExitCode::SUCCESS)
}

fn questions(arguments: &BenchRetrieval) -> Result<Vec<Question>, Failure> {
    let mut questions: Vec<Question> = json_rows(&arguments.queries)?;
    if let Some(only) = &arguments.only {
        let Some((field, value)) = only.split_once('=') else {
            return Err(Failure::new(ErrorCode::InvalidRequest, "--only: write FIELD=VALUE, for example kind=full"));
        };
        questions.retain(|question| question.other.get(field).is_some_and(|found| id_text(found) == value));
    }
    Ok(questions)
}

fn relevant(qrels: &str) -> HashMap<&str, HashSet<&str>> {
    let mut relevant: HashMap<&str, HashSet<&str>> = HashMap::new();
    for line in qrels.lines() {
        let mut fields = line.split('\t');
        if let (Some(question), Some(article), Some(grade)) = (fields.next(), fields.next(), fields.next())
            && grade.trim().parse::<i32>().is_ok_and(|grade| grade > 0)
        {
            relevant.entry(question).or_default().insert(article);
        }
    }
    relevant
}

fn search(generation: &Generation, question: &str, k: usize, follow_references: bool) -> Result<Found, Failure> {
    Ok(generation.search(&Query { question, k, filter: Filter::default(), follow_references })?)
}

/// Found articles under the names that the judgements use: `source#article` where they have a `#`, else the address.
fn ids(found: &Found, wanted: &HashSet<&str>) -> Vec<String> {
    let whole = wanted.iter().any(|id| id.contains('#'));
    let name = |hit: &bylaw_retrieval::Hit| {
        if whole { hit.article.id.to_string() } else { hit.article.id.article.to_string() }
    };
    found.hits.iter().chain(&found.referenced).map(name).collect()
}

fn id_text(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn show(report: &Report, format: Format) {
    if format == Format::Json {
        return terminal::json(report);
    }
    let r = report;
    terminal::line(format!("articles {}   questions {}", r.articles, r.questions));
    terminal::line(format!("nDCG@10 {:.4}   MRR@10 {:.4}", r.ndcg_at_10, r.mrr_at_10));
    let recall = [r.recall_at_1, r.recall_at_5, r.recall_at_10, r.recall_at_100];
    let recall: Vec<String> = RECALL_AT.iter().zip(recall).map(|(at, value)| format!("R@{at} {value:.4}")).collect();
    terminal::line(recall.join("   "));
    terminal::line(format!(
        "first is relevant {}/{}   complete in 5 {}/{}   relevant in 5 with references {}/{}",
        r.first_is_relevant,
        r.questions,
        r.questions_complete_in_5,
        r.questions,
        r.relevant_in_5_with_references,
        r.relevant
    ));
    terminal::line(format!("search ms p50 {:.3} p95 {:.3}", r.search_ms_p50, r.search_ms_p95));
    terminal::line(format!(
        "index CPU s {:.2}   open ms {:.1}   RSS MiB {} (peak {})",
        r.index_cpu_seconds, r.open_ms, r.rss_mib, r.peak_rss_mib
    ));
}
