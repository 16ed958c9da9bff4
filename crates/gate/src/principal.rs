//! Who a caller stands for, and what they may do.

use std::sync::Arc;

use bylaw_contract::{KeyId, SourceName};

use crate::{
    budget::Budget,
    keys::{KeyRecord, ReadableSources, Role},
};

/// Everything that a caller may be allowed or not. Every route and command needs one of these, or is open by design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Ask a question or start a run.
    Ask,
    /// Search.
    Search,
    /// Read articles and outlines.
    Read,
    /// See, cancel and answer one's own runs.
    OwnRuns,
    /// See what one has spent.
    OwnUsage,
    /// Add, delete and restore documents, and see the jobs that do.
    ChangeDocuments,
    /// See and cancel anyone's runs.
    EveryonesRuns,
    /// See what anyone has spent.
    EveryonesUsage,
    /// See every budget.
    Budgets,
    /// See how the service is doing.
    Metrics,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 10] = [
        Self::Ask,
        Self::Search,
        Self::Read,
        Self::OwnRuns,
        Self::OwnUsage,
        Self::ChangeDocuments,
        Self::EveryonesRuns,
        Self::EveryonesUsage,
        Self::Budgets,
        Self::Metrics,
    ];

    /// The weakest role that may.
    #[must_use]
    pub const fn least_role(self) -> Role {
        match self {
            Self::Ask | Self::Search | Self::Read | Self::OwnRuns | Self::OwnUsage => Role::Reader,
            Self::ChangeDocuments => Role::Editor,
            Self::EveryonesRuns | Self::EveryonesUsage | Self::Budgets | Self::Metrics => Role::Admin,
        }
    }
}

/// Who a caller stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// The holder of a key.
    Key(Arc<KeyRecord>),
    /// Whoever sits at this machine while no keys are configured. May do everything; see
    /// [`check_listen_address`](crate::check_listen_address) for what keeps others out.
    LocalDoor,
}

impl From<KeyRecord> for Principal {
    fn from(record: KeyRecord) -> Self {
        Self::Key(Arc::new(record))
    }
}

impl Principal {
    /// Whether this caller may do `action`.
    #[must_use]
    pub fn may(&self, action: Action) -> bool {
        match self {
            Self::LocalDoor => true,
            Self::Key(record) => record.role >= action.least_role(),
        }
    }

    /// Whether this caller may read `source`. If not, it does not exist for them.
    #[must_use]
    pub fn may_read(&self, source: &SourceName) -> bool {
        self.sources().contains(source)
    }

    /// What this caller may read: part of the key of every cache.
    #[must_use]
    pub fn sources(&self) -> &ReadableSources {
        match self {
            Self::LocalDoor => &ReadableSources::All,
            Self::Key(record) => &record.sources,
        }
    }

    /// The caller's key.
    #[must_use]
    pub fn key_id(&self) -> Option<&KeyId> {
        match self {
            Self::LocalDoor => None,
            Self::Key(record) => Some(&record.id),
        }
    }

    /// What this caller's key may spend.
    #[must_use]
    pub fn budgets(&self) -> &[Budget] {
        match self {
            Self::LocalDoor => &[],
            Self::Key(record) => &record.budgets,
        }
    }

    /// Whether something that belongs to `owner` (`None`: the local door) may be seen: one's own always may, and what is
    /// everyone's by whoever may see everyone's.
    #[must_use]
    pub fn may_see_run_of(&self, owner: Option<&KeyId>) -> bool {
        self.may(Action::EveryonesRuns) || (self.may(Action::OwnRuns) && self.key_id() == owner)
    }
}

#[cfg(test)]
mod tests {
    use bylaw_contract::Timestamp;

    use super::*;

    fn key(digit: char, role: Role, sources: ReadableSources) -> Principal {
        Principal::from(KeyRecord {
            id: KeyId::new(format!("key_{}", digit.to_string().repeat(24))).unwrap(),
            name: "someone".to_owned(),
            role,
            sources,
            budgets: Vec::new(),
            created_at: Timestamp(0),
            expires_at: None,
            revoked_at: None,
        })
    }

    #[test]
    fn a_role_may_do_this_and_no_more() {
        let allowed = |principal: &Principal| Action::ALL.into_iter().filter(|action| principal.may(*action)).count();
        let reader = key('1', Role::Reader, ReadableSources::All);
        let editor = key('1', Role::Editor, ReadableSources::All);
        let admin = key('1', Role::Admin, ReadableSources::All);
        assert_eq!([&reader, &editor, &admin, &Principal::LocalDoor].map(allowed), [5, 6, 10, 10]);
        assert!(!reader.may(Action::ChangeDocuments));
        assert!(editor.may(Action::ChangeDocuments));
        assert!(!editor.may(Action::Budgets));
    }

    #[test]
    fn an_empty_list_of_sources_reads_nothing() {
        let hr = SourceName::new("salary_bands.md").unwrap();
        let rules = SourceName::new("work_rules.md").unwrap();
        let only_rules = ReadableSources::Only([rules.clone()].into());
        for (sources, reads_hr, reads_rules) in [
            (ReadableSources::All, true, true),
            (only_rules, false, true),
            (ReadableSources::Only([].into()), false, false),
        ] {
            let principal = key('1', Role::Admin, sources.clone());
            assert_eq!((principal.may_read(&hr), principal.may_read(&rules)), (reads_hr, reads_rules), "{sources:?}");
        }
    }

    #[test]
    fn a_run_is_seen_by_its_principal_and_by_admins() {
        let reader = key('1', Role::Reader, ReadableSources::All);
        let stranger = key('2', Role::Editor, ReadableSources::All);
        let admin = key('3', Role::Admin, ReadableSources::All);
        let owner = reader.key_id();
        assert_eq!([&reader, &stranger, &admin].map(|who| who.may_see_run_of(owner)), [true, false, true]);
        assert!(!reader.may_see_run_of(None));
        assert!(Principal::LocalDoor.may_see_run_of(None));
    }
}
