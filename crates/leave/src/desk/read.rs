//! Looking things up. What is shown is noted, because only what was shown may be touched.

use std::collections::BTreeMap;

use bylaw_contract::{Language, Timestamp};

use super::{
    Desk, DeskError, Principal,
    view::{self, BalanceView, LeaveView, TypeView},
};
use crate::domain::{
    book::Book,
    decide::day,
    ids::{EmployeeId, LeaveId},
    leave::Leave,
    refusal::{Refusal, shortened},
    status::Status,
    store::{Narrow, StoreError},
    words::matches,
};

/// Most leaves that one call shows.
pub const MOST_SHOWN: usize = 20;
/// Most characters of a keyword that are looked at.
const MOST_KEYWORD: usize = 200;

/// What to look for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Words in id, title, reason, type or owner's name; all of them must be there.
    pub keyword: String,
    /// Only in this status.
    pub status: Option<String>,
    /// Only what ends on this day or later.
    pub from: Option<String>,
    /// Only what begins on this day or earlier.
    pub to: Option<String>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The latest first, at most [`MOST_SHOWN`].
    pub leaves: Vec<LeaveView>,
    /// How many there are in all.
    pub total: usize,
}

impl Desk {
    /// Finds leaves that the principal may see.
    ///
    /// # Errors
    /// If a status or a day is none, or the store fails.
    pub async fn search(&self, who: &Principal, search: &Search) -> Result<Found, DeskError> {
        let narrow = Narrow {
            status: search.status.as_deref().filter(|text| !text.trim().is_empty()).map(status).transpose()?,
            from: search.from.as_deref().map(day).transpose()?,
            to: search.to.as_deref().map(day).transpose()?,
        };
        let keyword: String = search.keyword.chars().take(MOST_KEYWORD).collect();
        let leaves = self.store.visible(&who.employee, &narrow).await?;
        self.show_matching(who, leaves, &keyword).await
    }

    /// Shows the leaves that wait for this manager.
    ///
    /// # Errors
    /// If the principal manages nobody, or the store fails.
    pub async fn pending(&self, who: &Principal) -> Result<Found, DeskError> {
        if !self.store.is_manager(&who.employee).await? {
            return Err(Refusal::ManagersOnly.into());
        }
        let narrow = Narrow { status: Some(Status::Submitted), ..Narrow::default() };
        let mut waiting = Vec::new();
        let mut managers: BTreeMap<EmployeeId, bool> = BTreeMap::new();
        for leave in self.store.visible(&who.employee, &narrow).await? {
            let is_mine = match managers.get(&leave.applicant) {
                Some(is_mine) => *is_mine,
                None => {
                    let applicant = self.store.employee(&leave.applicant).await?;
                    let is_mine = applicant.and_then(|person| person.manager).as_ref() == Some(&who.employee);
                    managers.insert(leave.applicant.clone(), is_mine);
                    is_mine
                }
            };
            if is_mine {
                waiting.push(leave);
            }
        }
        self.show_matching(who, waiting, "").await
    }

    async fn show_matching(&self, who: &Principal, leaves: Vec<Leave>, keyword: &str) -> Result<Found, DeskError> {
        let mut people: BTreeMap<EmployeeId, Book> = BTreeMap::new();
        let (mut found, mut total) = (Vec::new(), 0);
        let now = self.clock.now();
        let today = self.today(now);
        for leave in leaves {
            if !people.contains_key(&leave.applicant) {
                let Some(book) = self.people(&leave).await? else { continue };
                people.insert(leave.applicant.clone(), book);
            }
            let Some(book) = people.get_mut(&leave.applicant) else { continue };
            let kind = self.policy.catalogue.get(&leave.kind);
            let mut texts =
                vec![leave.id.as_str(), &leave.title, &leave.reason, leave.kind.as_str(), &book.applicant.name];
            if let Some(kind) = kind {
                texts.extend([kind.name_zh.as_str(), &kind.name_en]);
                texts.extend(kind.aliases.iter().map(String::as_str));
            }
            if !matches(keyword, &texts) {
                continue;
            }
            total += 1;
            if found.len() < MOST_SHOWN {
                if let Some(deputy) = &leave.deputy
                    && !book.people.iter().any(|person| person.id == *deputy)
                    && let Some(person) = self.store.employee(deputy).await?
                {
                    book.people.push(person);
                }
                found.push(view::leave(&self.policy, book, &leave, today, who.language));
            }
        }
        let shown: Vec<(LeaveId, u32)> = found.iter().map(|view| (view.leave_id.clone(), view.version)).collect();
        self.note(who, &shown, now).await?;
        Ok(Found { leaves: found, total })
    }

    /// A book with names and nothing else in it.
    async fn people(&self, leave: &Leave) -> Result<Option<Book>, StoreError> {
        let applicant = self.store.employee(&leave.applicant).await?;
        Ok(applicant.map(|applicant| Book {
            applicant,
            people: Vec::new(),
            leaves: Vec::new(),
            grants: Vec::new(),
            declines: Vec::new(),
            revision: 0,
        }))
    }

    async fn note(&self, who: &Principal, shown: &[(LeaveId, u32)], now: Timestamp) -> Result<(), StoreError> {
        if shown.is_empty() {
            return Ok(());
        }
        self.store.note_shown(&who.employee, shown, now).await
    }

    /// Shows one leave.
    ///
    /// # Errors
    /// If there is none that the principal may see, or the store fails.
    pub async fn get(&self, who: &Principal, id: &str) -> Result<LeaveView, DeskError> {
        let (leave, book) = self.visible_leave(who, id).await?;
        let now = self.clock.now();
        self.note(who, &[(leave.id.clone(), leave.version)], now).await?;
        Ok(view::leave(&self.policy, &book, &leave, self.today(now), who.language))
    }

    /// The leave with this id and its book. What the principal may not see does not exist for them.
    pub(super) async fn visible_leave(&self, who: &Principal, id: &str) -> Result<(Leave, Book), DeskError> {
        let unknown = || DeskError::Refused(Refusal::UnknownLeave { asked: shortened(id) });
        // Models and people write it in either case.
        let id = LeaveId::new(canonical(id)).map_err(|_no_id| unknown())?;
        let Some(leave) = self.store.leave(&id).await? else { return Err(unknown()) };
        let Some(book) = self.store.book(&leave.applicant).await? else { return Err(unknown()) };
        // Both from one reading, so that a decision never mixes two moments.
        let leave =
            book.leave(&id).filter(|leave| book.is_visible(leave, &who.employee)).cloned().ok_or_else(unknown)?;
        Ok((leave, book))
    }

    /// What the principal has left of one type, or of every type, on a day.
    ///
    /// # Errors
    /// If the type or the day is none, or the store fails.
    pub async fn balance(
        &self,
        who: &Principal,
        kind: Option<&str>,
        on: Option<&str>,
    ) -> Result<Vec<BalanceView>, DeskError> {
        let on = on.map(day).transpose()?.unwrap_or_else(|| self.today(self.clock.now()));
        let only = kind.filter(|text| !text.trim().is_empty());
        let only = only.map(|text| self.policy.kind(text, who.language)).transpose()?;
        let Some(book) = self.store.book(&who.employee).await? else {
            return Err(Refusal::UnknownEmployee { asked: who.employee.to_string() }.into());
        };
        let account = book.account(&self.policy);
        let kinds = self.policy.catalogue.types().iter().filter(|kind| only.is_none_or(|only| only.id == kind.id));
        let day_minutes = self.policy.calendar.day_minutes();
        Ok(kinds.map(|kind| view::balance(kind, &account.statement(kind, on), day_minutes, who.language)).collect())
    }

    /// Every leave type, for readers of this language. Touches no storage.
    #[must_use]
    pub fn types(&self, language: Language) -> Vec<TypeView> {
        self.policy.catalogue.types().iter().map(|kind| view::kind(&self.policy, kind, language)).collect()
    }
}

/// `lv-7F3A91` as `LV-7f3a91`.
pub(super) fn canonical(id: &str) -> String {
    let id = id.trim();
    match id.split_at_checked(3) {
        Some((prefix, rest)) if prefix.eq_ignore_ascii_case("LV-") => format!("LV-{}", rest.to_ascii_lowercase()),
        _ => id.to_owned(),
    }
}

fn status(text: &str) -> Result<Status, Refusal> {
    Status::named(text).ok_or_else(|| Refusal::UnknownStatus { asked: shortened(text) })
}
