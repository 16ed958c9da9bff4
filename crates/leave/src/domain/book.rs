//! What is on the books about one person's leaves: who has which part in them, who may see them, where they may go.

use super::{
    decide::Policy,
    ids::{EmployeeId, LeaveId},
    leave::{Employee, Grant, Leave},
    quota::Account,
    refusal::LegalMove,
    rules::Decline,
    status::{Party, Status, Step, moves_from},
};

/// Everything on the books about one person's leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    /// Whose.
    pub applicant: Employee,
    /// Whoever else is named in it: the manager, deputies.
    pub people: Vec<Employee>,
    /// The leaves, in every status.
    pub leaves: Vec<Leave>,
    /// The overtime.
    pub grants: Vec<Grant>,
    /// What persons said no to.
    pub declines: Vec<Decline>,
    /// Grows with every write to the book.
    pub revision: i64,
}

impl Book {
    /// The name of someone in it; the id where there is none.
    #[must_use]
    pub fn name_of<'a>(&'a self, id: &'a EmployeeId) -> &'a str {
        let everyone = std::iter::once(&self.applicant).chain(&self.people);
        everyone.into_iter().find(|person| person.id == *id).map_or(id.as_str(), |person| &person.name)
    }

    /// A leave in it.
    #[must_use]
    pub fn leave(&self, id: &LeaveId) -> Option<&Leave> {
        self.leaves.iter().find(|leave| leave.id == *id)
    }

    /// The part that someone has in a leave of it; several where a deputy is also the manager.
    #[must_use]
    pub fn parties(&self, leave: &Leave, who: &EmployeeId) -> Vec<Party> {
        let is = [
            (Party::Applicant, leave.applicant == *who),
            (Party::Deputy, leave.deputy.as_ref() == Some(who)),
            (Party::Manager, self.applicant.manager.as_ref() == Some(who)),
        ];
        is.into_iter().filter(|(_, is)| *is).map(|(party, _)| party).collect()
    }

    /// Whether someone may see a leave of it: its owner always, others once it is more than a draft.
    #[must_use]
    pub fn is_visible(&self, leave: &Leave, who: &EmployeeId) -> bool {
        match self.parties(leave, who).as_slice() {
            [] => false,
            [Party::Applicant, ..] => true,
            [Party::Deputy | Party::Manager, ..] => leave.status != Status::Draft,
        }
    }

    /// The account of this book.
    #[must_use]
    pub fn account<'a>(&'a self, policy: &'a Policy) -> Account<'a> {
        Account {
            catalogue: &policy.catalogue,
            day_minutes: policy.calendar.day_minutes(),
            employee: &self.applicant,
            grants: &self.grants,
            leaves: &self.leaves,
        }
    }

    pub(super) fn named(&self, party: Party, leave: &Leave) -> Option<(Party, String)> {
        let id = match party {
            Party::Applicant => Some(&leave.applicant),
            Party::Deputy => leave.deputy.as_ref(),
            Party::Manager => self.applicant.manager.as_ref(),
        }?;
        Some((party, format!("{} {}", self.name_of(id), id)))
    }

    pub(super) fn all_named(&self, parties: &[Party], leave: &Leave) -> Vec<(Party, String)> {
        parties.iter().filter_map(|party| self.named(*party, leave)).collect()
    }

    /// The legal moves of a leave, and who may make them.
    #[must_use]
    pub fn legal(&self, leave: &Leave) -> Vec<LegalMove> {
        let open = moves_from(leave.status).filter(|row| row.step != Step::Consent || !leave.has_consent);
        let legal = open.map(|row| LegalMove { step: row.step, by: self.all_named(row.by, leave) });
        legal.filter(|legal| !legal.by.is_empty()).collect()
    }
}
