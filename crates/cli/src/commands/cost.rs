//! `bylaw cost`: when does hosting your own model pay?

use std::{fs::OpenOptions, io::Write, path::Path, process::ExitCode};

use bylaw_contract::{Clock, ErrorCode, Language};
use bylaw_cost::{
    CostInput, Example, Figure, FromLedger, InvalidCost, Measured, SimpleInput, Statistic, compare, csv, html, simple,
    simple_text, text,
};
use bylaw_service::{MeasureError, measure};
use serde::Deserialize;

use crate::{
    args::{Cost, CostCommand, CostExample, CostLanguage, CostStatistic, CostWanted},
    config::Settings,
    dataset::DataSet,
    failure::Failure,
    system::SystemClock,
    terminal::{self, Format, printable},
};

/// An input is written by hand; a larger file is something else.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

pub(crate) async fn run(arguments: Cost, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    let wanted = match arguments.command {
        Some(CostCommand::Init(example)) => return init(&example, format),
        None => arguments.wanted,
    };
    if wanted.simple.simple {
        return formula(&wanted, format);
    }
    let input = input(&wanted)?;
    let language = input.language.unwrap_or(Language::English);
    let measured = match &input.from_ledger {
        Some(from_ledger) => Some(from_books(from_ledger, settings).await?),
        None => None,
    };
    let report = compare(input, measured).map_err(|invalid| refusal(&invalid))?;
    if let Some(file) = &wanted.html {
        std::fs::write(file, html(&report, language)).map_err(|error| cannot_write(file, &error))?;
        terminal::note(format!("the page is in {}", file.display()));
    }
    match (format, wanted.csv) {
        (Format::Json, _) => terminal::json(&report),
        (Format::Text, true) => terminal::piece(&csv(&report)),
        (Format::Text, false) => terminal::piece(&printable(&text(&report, language))),
    }
    Ok(ExitCode::SUCCESS)
}

fn init(example: &CostExample, format: Format) -> Result<ExitCode, Failure> {
    let CostExample { file, owned } = example;
    let text = if *owned { Example::Owned } else { Example::Rented }.toml();
    let created = OpenOptions::new().write(true).create_new(true).open(file);
    created.and_then(|mut created| created.write_all(text.as_bytes())).map_err(|error| cannot_write(file, &error))?;
    match format {
        Format::Json => terminal::json(&serde_json::json!({ "file": file })),
        Format::Text => terminal::line(format!("{0}: edit it, then bylaw cost {0}", file.display())),
    }
    Ok(ExitCode::SUCCESS)
}

fn cannot_write(file: &Path, error: &std::io::Error) -> Failure {
    let failure = Failure::new(ErrorCode::InvalidPath, format!("{}: {error}", file.display()));
    failure.hint("name a file that can be written; an example is not written over another file")
}

fn formula(wanted: &CostWanted, format: Format) -> Result<ExitCode, Failure> {
    let inputs = SimpleInput {
        gpu_price_per_hour: figure("--gpu-hour", wanted.gpu_hour.as_deref())?,
        tokens_per_request: figure("--tokens", wanted.simple.tokens.as_deref())?,
        price_per_million_tokens: figure("--price", wanted.simple.price.as_deref())?,
    };
    let report = simple(inputs).map_err(|invalid| refusal(&invalid))?;
    match (format, wanted.csv) {
        (Format::Json, _) => terminal::json(&report),
        (Format::Text, true) => terminal::piece(&csv(&report)),
        (Format::Text, false) => terminal::piece(&simple_text(&report)),
    }
    Ok(ExitCode::SUCCESS)
}

fn figure(flag: &str, text: Option<&str>) -> Result<Figure, Failure> {
    let text = text.unwrap_or_default();
    text.parse().map_err(|error| Failure::new(ErrorCode::InvalidRequest, format!("{flag}: {error}")))
}

fn refusal(invalid: &InvalidCost) -> Failure {
    let failure = Failure::new(ErrorCode::InvalidRequest, invalid.to_string());
    failure.hint("bylaw cost init writes an example with every field explained")
}

/// The file with flags laid over it.
fn input(wanted: &CostWanted) -> Result<CostInput, Failure> {
    let mut table = wanted.file.as_deref().map(read).transpose()?.unwrap_or_default();
    let flags = [
        ("tasks_per_day", &wanted.volume),
        ("api.input_price", &wanted.input_price),
        ("api.cached_input_price", &wanted.cached_price),
        ("api.output_price", &wanted.output_price),
        ("api.profile.prompt_tokens", &wanted.prompt_tokens),
        ("api.profile.cached_tokens", &wanted.cached_tokens),
        ("api.profile.completion_tokens", &wanted.completion_tokens),
        ("api.profile.calls_per_task", &wanted.calls_per_task),
        ("self_hosted.gpu_price_per_hour", &wanted.gpu_hour),
        ("self_hosted.prefill_tokens_per_second", &wanted.prefill_rate),
        ("self_hosted.decode_tokens_per_second", &wanted.decode_rate),
        ("self_hosted.labour_per_month", &wanted.labour),
    ];
    for (field, value) in flags {
        if let Some(value) = value {
            lay(&mut table, field, toml::Value::String(value.clone()))?;
        }
    }
    for set in &wanted.set {
        let Some((field, value)) = set.split_once('=') else {
            let message = format!("--set: {set:?}: write a field, = and a value, such as api.input_price=2.5");
            return Err(Failure::new(ErrorCode::InvalidRequest, message));
        };
        lay(&mut table, field.trim(), written(value.trim()))?;
    }
    let mut input = understand(&table)?;
    if let (Some(days), Some(model)) = (&wanted.from_ledger, &wanted.model) {
        let statistic = match wanted.statistic {
            None | Some(CostStatistic::Mean) => Statistic::Mean,
            Some(CostStatistic::P50) => Statistic::P50,
            Some(CostStatistic::P95) => Statistic::P95,
        };
        input.from_ledger = Some(FromLedger { days: days_of(days)?, model: model.clone(), statistic });
    }
    if let Some(language) = wanted.lang {
        input.language = Some(match language {
            CostLanguage::En => Language::English,
            CostLanguage::ZhTw => Language::TraditionalChinese,
        });
    }
    Ok(input)
}

fn days_of(text: &str) -> Result<u32, Failure> {
    let days = text.strip_suffix('d').unwrap_or(text).parse();
    days.map_err(|_| {
        Failure::new(ErrorCode::InvalidRequest, format!("--from-ledger: {text:?}: write days such as 30d"))
    })
}

/// A value as it would stand in the file: a whole number, or text; figures are read from text.
fn written(value: &str) -> toml::Value {
    let bare = value.trim_matches('"');
    bare.parse::<i64>().map_or_else(|_| toml::Value::String(bare.to_owned()), toml::Value::Integer)
}

/// Puts a value at `api.profile.prompt_tokens`.
fn lay(table: &mut toml::Table, field: &str, value: toml::Value) -> Result<(), Failure> {
    let (mut table, mut rest) = (table, field);
    while let Some((section, below)) = rest.split_once('.') {
        let entry = table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        let toml::Value::Table(inner) = entry else {
            return Err(Failure::new(ErrorCode::InvalidRequest, format!("{field}: {section} is not a section")));
        };
        (table, rest) = (inner, below);
    }
    table.insert(rest.to_owned(), value);
    Ok(())
}

fn read(file: &Path) -> Result<toml::Table, Failure> {
    let shown = file.display();
    let size = std::fs::metadata(file).map(|metadata| metadata.len());
    if size.is_ok_and(|size| size > MAX_FILE_BYTES) {
        return Err(Failure::new(
            ErrorCode::DocumentTooLarge,
            format!("{shown} is larger than {MAX_FILE_BYTES} bytes"),
        ));
    }
    let text = std::fs::read_to_string(file).map_err(|error| {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorCode::DocumentNotFound,
            std::io::ErrorKind::InvalidData => ErrorCode::InvalidEncoding,
            _ => ErrorCode::InvalidPath,
        };
        Failure::new(code, format!("{shown}: {error}")).hint("bylaw cost init writes an example")
    })?;
    text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::new(ErrorCode::InvalidRequest, format!("{shown}, line {line}: {}", error.message().trim()))
    })
}

/// Reads each section by itself, so that a refusal can say which it was.
fn understand(table: &toml::Table) -> Result<CostInput, Failure> {
    CostInput::deserialize(as_text(toml::Value::Table(table.clone()))).map_err(|error| {
        let path = culprit(table).map(|path| format!("{path}: ")).unwrap_or_default();
        let message = error.message().trim().replace('`', "").replace('\n', " ");
        refusal(&InvalidCost::one(path.trim_end_matches(": "), message))
    })
}

/// Days may be written without quotes.
fn as_text(value: toml::Value) -> toml::Value {
    match value {
        toml::Value::Datetime(day) => toml::Value::String(day.to_string()),
        toml::Value::Table(table) => {
            toml::Value::Table(table.into_iter().map(|(name, value)| (name, as_text(value))).collect())
        }
        toml::Value::String(_)
        | toml::Value::Integer(_)
        | toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Array(_) => value,
    }
}

/// The field that cannot be read: the first that, alone, is refused.
fn culprit(table: &toml::Table) -> Option<String> {
    fields("", table)
        .into_iter()
        .find(|(path, value)| {
            let mut alone = toml::Table::new();
            let laid = lay(&mut alone, path, as_text(value.clone()));
            laid.is_err()
                || CostInput::deserialize(toml::Value::Table(alone)).is_err() && !path.starts_with("from_ledger.")
        })
        .map(|(path, _)| path)
}

fn fields(above: &str, table: &toml::Table) -> Vec<(String, toml::Value)> {
    let path = |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
    table
        .iter()
        .flat_map(|(name, value)| match value {
            toml::Value::Table(below) => fields(&path(name), below),
            other => vec![(path(name), other.clone())],
        })
        .collect()
}

async fn from_books(wanted: &FromLedger, settings: &Settings) -> Result<Measured, Failure> {
    wanted.check().map_err(|invalid| refusal(&invalid))?;
    let store = DataSet::to_read(settings)?.require_used()?.store().await?;
    let today = settings.money.budgets.zone.day(SystemClock::new().now());
    let measured = measure(&store, today, wanted).await;
    store.close().await;
    measured.map_err(|error| match error {
        MeasureError::Invalid(invalid) => refusal(&invalid),
        MeasureError::Ledger(error) => error.into(),
        MeasureError::ModelNotFound { .. } => Failure::new(ErrorCode::ModelNotFound, error.to_string())
            .hint("bylaw ledger report --by model lists the models on the books"),
    })
}
