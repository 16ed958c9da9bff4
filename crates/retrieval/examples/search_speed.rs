//! How long one search takes, without HTTP: over the sample rulebook, or over a document of yours.
//!
//! ```text
//! cargo run --release -p bylaw-retrieval --example search_speed [DOCUMENT QUESTIONS.jsonl [QRELS.tsv]]
//! ```
//!
//! Questions are lines of `{"id": …, "text": …}`, relevance is `question id, article id, grade` separated by tabs. With
//! relevance it prints nDCG@10 and recall too.

#![expect(clippy::print_stdout, reason = "an example reports to the terminal")]

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use bylaw_contract::{GenerationNumber, SourceName, Timestamp, VersionId};
use bylaw_retrieval::{Filter, Generation, HitKind, Query, SourceInput, Vocabulary, build};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let document = arguments.next().unwrap_or_else(|| root.join("crates/cli/sample/員工工作規則.md"));
    let questions = arguments.next().unwrap_or_else(|| root.join("bench/questions/slang-queries.jsonl"));
    let relevance = arguments.next().unwrap_or_else(|| root.join("bench/questions/slang-qrels.tsv"));

    let started = Instant::now();
    let name = SourceName::new(document.file_name().unwrap_or_default().to_string_lossy())?;
    let source = SourceInput {
        name: name.clone(),
        version: VersionId::new("0".repeat(64))?,
        ingested_at: Timestamp::default(),
        document: bylaw_corpus::read(&name, &std::fs::read(&document)?)?,
    };
    println!("{} articles read in {:.1?}", source.document.articles.len(), started.elapsed());
    let folder = tempfile::tempdir()?;
    let started = Instant::now();
    build(folder.path(), GenerationNumber(1), &mut std::iter::once(source), 0, &mut |_| true)?;
    println!("built in {:.1?}", started.elapsed());
    let started = Instant::now();
    let vocabulary = Arc::new(Vocabulary::builtin());
    println!("vocabulary in {:.1?}", started.elapsed());
    let started = Instant::now();
    let generation = Generation::open(folder.path(), vocabulary)?;
    println!("opened in {:.1?}", started.elapsed());

    let questions = read_questions(&questions)?;
    let search = |question: &str, k: usize| {
        let filter = Filter::default();
        generation.search(&Query { question, k, filter, follow_references: true })
    };
    if let Ok(relevance) = std::fs::read_to_string(relevance) {
        report_quality(&generation, &questions, &relevance, &name, search)?;
    }

    let mut times = Vec::new();
    let rounds = (20_000 / questions.len().max(1)).max(1);
    let mut hits = 0;
    for _ in 0..rounds {
        for (_, question) in &questions {
            let started = Instant::now();
            hits += search(question, 5)?.hits.len();
            times.push(started.elapsed());
        }
    }
    times.sort_unstable();
    let mean = times.iter().sum::<std::time::Duration>() / u32::try_from(times.len())?;
    let at = |share: usize| times[times.len() * share / 100];
    println!("{} searches, {hits} hits: mean {mean:.1?}, p50 {:.1?}, p95 {:.1?}", times.len(), at(50), at(95));
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        println!("{}", status.lines().filter(|line| line.starts_with("VmRSS")).collect::<String>());
    }
    Ok(())
}

fn read_questions(path: &Path) -> Result<Vec<(String, String)>, Failure> {
    let mut questions = Vec::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let value: serde_json::Value = serde_json::from_str(line)?;
        let text = |key: &str| value.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        questions.push((text("id"), text("text")));
    }
    Ok(questions)
}

fn report_quality(
    generation: &Generation,
    questions: &[(String, String)],
    relevance: &str,
    source: &SourceName,
    search: impl Fn(&str, usize) -> Result<bylaw_retrieval::Found, bylaw_retrieval::GenerationError>,
) -> Result<(), Failure> {
    let mut relevant: HashMap<&str, HashSet<String>> = HashMap::new();
    for line in relevance.lines() {
        let mut columns = line.split('\t');
        if let (Some(question), Some(article)) = (columns.next(), columns.next()) {
            let article = if article.contains('#') { article.to_owned() } else { format!("{source}#{article}") };
            relevant.entry(question).or_default().insert(article);
        }
    }
    let (mut ndcg, mut recall_5, mut first, mut looked_up, mut asked) = (0.0, 0.0, 0.0, 0, 0.0);
    let mut missed = Vec::new();
    for (id, question) in questions {
        let Some(wanted) = relevant.get(id.as_str()) else { continue };
        asked += 1.0;
        let found = search(question, 10)?;
        looked_up += usize::from(found.hits.iter().any(|hit| hit.kind == HitKind::LookedUp));
        let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let ids: Vec<String> = found.hits.iter().map(|hit| hit.article.id.to_string()).collect();
        let gained: f64 =
            ids.iter().enumerate().filter(|(_, id)| wanted.contains(*id)).map(|(rank, _)| gain(rank)).sum();
        ndcg += gained / (0..wanted.len().min(10)).map(gain).sum::<f64>();
        let in_five = ids.iter().take(5).filter(|id| wanted.contains(*id)).count();
        recall_5 += in_five as f64 / wanted.len() as f64;
        first += f64::from(u8::from(ids.first().is_some_and(|id| wanted.contains(id))));
        if in_five == 0 {
            missed.push(id.as_str());
        }
    }
    println!(
        "{asked} questions over {} articles: nDCG@10 {:.4}, R@5 {:.4}, first right {first}, looked up {looked_up}",
        generation.article_count(),
        ndcg / asked,
        recall_5 / asked
    );
    if missed.len() <= 20 {
        println!("not in the first five: {}", missed.join(" "));
    }
    Ok(())
}
