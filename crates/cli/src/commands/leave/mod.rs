//! `bylaw leave`: the leave system, in a file of its own.

mod key;
mod reopen;
mod seed;
mod serve;
mod stdio;

pub(crate) use serve::asked_to_stop;

use std::{path::Path, process::ExitCode, sync::Arc};

use bylaw_contract::{Clock, ErrorCode, Language, Timestamp};
use bylaw_leave::{
    desk::{Desk, DeskError},
    domain::{
        calendar::{SAMPLE, WorkCalendar},
        catalogue::{BUNDLED, Catalogue},
        decide::Policy,
        ids::EmployeeId,
        rules::Terms,
        store::{LeaveStore, StoreError},
        time::Day,
    },
    store::SqliteLeaves,
};

use crate::{
    args::{Leave, LeaveLanguage, LeavePolicy},
    config::Settings,
    dataset::DataSet,
    failure::Failure,
    system::{SystemClock, SystemRandom},
    terminal::{self, Format},
};

pub(crate) async fn run(arguments: Leave, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    match arguments {
        Leave::Serve(arguments) => serve::run(arguments, settings, format).await?,
        Leave::Stdio(arguments) => stdio::run(arguments, settings).await?,
        Leave::Key(arguments) => key::run(arguments, settings, format).await?,
        Leave::Reopen(arguments) => reopen::run(arguments, settings, format).await?,
        Leave::Seed(arguments) => seed::run(&arguments, settings, format).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The leave system's file, in the data directory.
const FILE: &str = "leave.db";

async fn open(settings: &Settings) -> Result<SqliteLeaves, Failure> {
    let data = DataSet::to_write(settings)?;
    let root = data.directory.root();
    std::fs::create_dir_all(root).map_err(|error| {
        Failure::new(ErrorCode::DataDirectoryUnusable, format!("{}: {error}", root.display()))
            .hint("choose another data directory with --data")
    })?;
    Ok(SqliteLeaves::open(&root.join(FILE)).await?)
}

fn policy(arguments: &LeavePolicy) -> Result<Policy, Failure> {
    let invalid = |error: &dyn std::error::Error| Failure::from_error(ErrorCode::InvalidConfiguration, error);
    let calendar = text(arguments.calendar.as_deref(), SAMPLE)?;
    let types = text(arguments.types.as_deref(), BUNDLED)?;
    let calendar = WorkCalendar::parse(&calendar).map_err(|error| invalid(&error))?;
    let catalogue = Catalogue::parse(&types).map_err(|error| invalid(&error))?;
    Ok(Policy { catalogue, calendar, terms: Terms::default() })
}

/// Says whence days are counted, where it is only a sample.
fn note_calendar(policy: &Policy) {
    if policy.calendar.is_provisional() {
        terminal::note(format!(
            "the working calendar is a provisional sample; give yours with --calendar FILE. The official one is published at {}",
            policy.calendar.official()
        ));
    }
}

fn text(file: Option<&Path>, otherwise: &str) -> Result<String, Failure> {
    let Some(file) = file else { return Ok(otherwise.to_owned()) };
    std::fs::read_to_string(file)
        .map_err(|error| Failure::new(ErrorCode::InvalidConfiguration, format!("{}: {error}", file.display())))
}

fn desk(store: &SqliteLeaves, policy: Policy) -> Desk {
    Desk::new(Arc::new(store.clone()), Arc::new(policy), Arc::new(SystemClock::new()), Arc::new(SystemRandom))
}

fn today(policy: &Policy, now: Timestamp) -> Day {
    Day::of(now, policy.calendar.offset_minutes()).day
}

/// Fills an empty file with the demonstration company; whether it was empty.
async fn found(store: &SqliteLeaves, policy: &Policy) -> Result<bool, Failure> {
    let now = SystemClock::new().now();
    let company = bylaw_leave::seed::company(&policy.calendar, today(policy, now))
        .map_err(|error| Failure::from_error(ErrorCode::InternalError, &error))?;
    Ok(store.found(&company, now).await?)
}

fn employee_id(text: &str) -> Result<EmployeeId, Failure> {
    EmployeeId::new(text).map_err(|error| Failure::new(ErrorCode::InvalidRequest, format!("{text:?}: {error}")))
}

/// An employee who exists.
async fn employee(store: &SqliteLeaves, text: &str) -> Result<EmployeeId, Failure> {
    let id = employee_id(text)?;
    match store.employee(&id).await? {
        Some(person) => Ok(person.id),
        None => Err(no_employee(&id)),
    }
}

fn no_employee(id: &EmployeeId) -> Failure {
    Failure::new(ErrorCode::InvalidRequest, format!("there is no employee {id}"))
        .hint("bylaw leave seed fills an empty file with a demonstration company, E001 to E012")
}

const fn language(lang: LeaveLanguage) -> Language {
    match lang {
        LeaveLanguage::ZhTw => Language::TraditionalChinese,
        LeaveLanguage::En => Language::English,
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::from_error(ErrorCode::StorageFailed, &error)
    }
}

impl From<DeskError> for Failure {
    fn from(error: DeskError) -> Self {
        match error {
            DeskError::Refused(refusal) => Self::new(ErrorCode::InvalidRequest, refusal.sentence(Language::English)),
            DeskError::Store(error) => error.into(),
        }
    }
}
