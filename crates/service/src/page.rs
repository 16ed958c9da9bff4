//! Pages of lists: the latest first, each page before the last one of the page that was seen.

/// How many a page has, if nothing else is asked for.
const USUAL: usize = 50;

/// The most that a page has.
const MOST: usize = 200;

/// One page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page(usize);

impl Page {
    /// A page of as many as were asked for, within what is allowed.
    pub(crate) fn of(asked: Option<i64>) -> Self {
        Self(asked.map_or(USUAL, |asked| usize::try_from(asked).unwrap_or(1).clamp(1, MOST)))
    }

    /// How many have to be read: one more tells whether there is a next page.
    pub(crate) const fn to_read(self) -> usize {
        self.0 + 1
    }

    /// Cuts what was read down to the page. The id of its last one, if there is a next page.
    pub(crate) fn cut<T, I: ToString>(self, found: &mut Vec<T>, id: impl Fn(&T) -> &I) -> Option<String> {
        let more = found.len() > self.0;
        found.truncate(self.0);
        found.last().filter(|_| more).map(|last| id(last).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_what_was_asked_for_within_what_is_allowed() {
        let rows = [(None, 50), (Some(7), 7), (Some(0), 1), (Some(-3), 1), (Some(i64::MAX), 200)];
        for (asked, expected) in rows {
            assert_eq!(Page::of(asked).to_read(), expected + 1, "{asked:?}");
        }
    }

    #[test]
    fn the_next_page_begins_after_the_last_of_this_one() {
        let rows = [(vec![9, 8], vec![9, 8], None), (vec![9, 8, 7], vec![9, 8], Some("8")), (vec![], vec![], None)];
        for (mut found, left, next) in rows {
            assert_eq!(Page::of(Some(2)).cut(&mut found, |number: &i32| number).as_deref(), next, "{left:?}");
            assert_eq!(found, left);
        }
    }
}
