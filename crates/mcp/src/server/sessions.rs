//! Sessions of the older era: each belongs to one principal, and there are only so many.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bylaw_contract::Clock;

/// How many sessions there may be, and for how long without being used.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionBounds {
    pub(super) all: usize,
    pub(super) of_one: usize,
    pub(super) idle: Duration,
}

struct Session {
    principal: Arc<str>,
    last_used: Duration,
    /// Requests that are not over. A session in use is never closed for being idle, however long they take.
    in_use: usize,
}

#[derive(Default)]
struct Table {
    sessions: HashMap<Arc<str>, Session>,
    /// Those that are being opened, by principal.
    opening: HashMap<Arc<str>, usize>,
    swept: Duration,
}

pub(super) struct Sessions {
    bounds: SessionBounds,
    clock: Arc<dyn Clock>,
    table: Mutex<Table>,
}

/// What becomes of a request that names a session.
pub(super) enum Found {
    /// It may use it; the session is in use until this is dropped.
    Own(Lease),
    /// For this principal there is none of that name.
    None,
}

/// Keeps a session in use.
#[derive(Clone)]
pub(super) struct Lease(#[expect(dead_code, reason = "is there to be dropped")] Arc<InUse>);

struct InUse {
    sessions: Arc<Sessions>,
    id: Arc<str>,
}

impl Drop for InUse {
    fn drop(&mut self) {
        let now = self.sessions.clock.elapsed();
        if let Some(session) = self.sessions.table().sessions.get_mut(&self.id) {
            session.in_use -= 1;
            session.last_used = now;
        }
    }
}

/// Room for one session that is being opened.
pub(super) struct Room {
    sessions: Arc<Sessions>,
    principal: Arc<str>,
}

impl Room {
    /// The session is there.
    pub(super) fn fill(self, id: &str) {
        let (principal, last_used) = (Arc::clone(&self.principal), self.sessions.clock.elapsed());
        self.sessions.table().sessions.insert(Arc::from(id), Session { principal, last_used, in_use: 0 });
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut table = self.sessions.table();
        if let Some(opening) = table.opening.get_mut(&self.principal) {
            *opening -= 1;
            if *opening == 0 {
                table.opening.remove(&self.principal);
            }
        }
    }
}

impl Sessions {
    pub(super) fn new(bounds: SessionBounds, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { bounds, clock, table: Mutex::default() })
    }

    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self) -> usize {
        self.table().sessions.len()
    }

    /// The session of a request, and those that must be closed because nobody used them for too long.
    pub(super) fn find(self: &Arc<Self>, id: &str, principal: &str) -> (Found, Vec<Arc<str>>) {
        let now = self.clock.elapsed();
        let mut table = self.table();
        let expired = self.sweep(&mut table, now, id);
        let found = match table.sessions.get_key_value(id) {
            Some((id, session)) if *session.principal == *principal => {
                let id = Arc::clone(id);
                if let Some(session) = table.sessions.get_mut(&id) {
                    session.in_use += 1;
                    session.last_used = now;
                }
                Found::Own(Lease(Arc::new(InUse { sessions: Arc::clone(self), id })))
            }
            Some(_) | None => Found::None,
        };
        (found, expired)
    }

    /// Takes sessions out that were idle for too long: the one that is asked for at once, the others now and then.
    fn sweep(&self, table: &mut Table, now: Duration, asked_for: &str) -> Vec<Arc<str>> {
        let is_over =
            |session: &Session| session.in_use == 0 && now.saturating_sub(session.last_used) >= self.bounds.idle;
        let whole = now.saturating_sub(table.swept) >= self.bounds.idle / 8;
        let over: Vec<Arc<str>> = if whole {
            table.swept = now;
            table.sessions.iter().filter(|(_, session)| is_over(session)).map(|(id, _)| Arc::clone(id)).collect()
        } else {
            let asked = table.sessions.get_key_value(asked_for).filter(|(_, session)| is_over(session));
            asked.map(|(id, _)| Arc::clone(id)).into_iter().collect()
        };
        for id in &over {
            table.sessions.remove(id);
        }
        over
    }

    /// Room for one more session of this principal, if need be in place of the one that was idle for longest: of their own
    /// if they have their share, else of anybody's. Nothing if all are in use.
    pub(super) fn make_room(self: &Arc<Self>, principal: &str) -> (Option<Room>, Vec<Arc<str>>) {
        let now = self.clock.elapsed();
        let mut table = self.table();
        let mut closed = self.sweep(&mut table, now, "");
        let own_share = |table: &Table| {
            let own = table.sessions.values().filter(|session| *session.principal == *principal).count();
            own + table.opening.get(principal).copied().unwrap_or(0)
        };
        let total = |table: &Table| table.sessions.len() + table.opening.values().sum::<usize>();
        let own_is_full = own_share(&table) >= self.bounds.of_one;
        if own_is_full || total(&table) >= self.bounds.all {
            let mut idle: Vec<_> = table
                .sessions
                .iter()
                .filter(|(_, session)| session.in_use == 0 && (!own_is_full || *session.principal == *principal))
                .map(|(id, session)| (session.last_used, Arc::clone(id)))
                .collect();
            idle.sort();
            let Some((_, longest)) = idle.into_iter().next() else { return (None, closed) };
            table.sessions.remove(&longest);
            closed.push(longest);
        }
        let principal: Arc<str> = Arc::from(principal);
        *table.opening.entry(Arc::clone(&principal)).or_default() += 1;
        (Some(Room { sessions: Arc::clone(self), principal }), closed)
    }

    /// It was closed, or the library does not know it any more.
    pub(super) fn forget(&self, id: &str) {
        self.table().sessions.remove(id);
    }
}
