//! Names that every provider takes, and that no two tools share.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

/// The longest name that providers take.
const MAX_BYTES: usize = 64;

/// Hexadecimal digits of the hash that tells shortened names apart.
const HASH_DIGITS: usize = 8;

/// The names that a model sees, for tools given as server (none for a tool of this process) and name. A name is
/// prefixed with its server only where two tools share it, and a hash is appended only where it had to be changed. The
/// same tools get the same names, whatever their order.
pub(crate) fn shown_names(tools: &[(Option<&str>, &str)]) -> Vec<String> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for (_, name) in tools {
        *counts.entry(name).or_default() += 1;
    }
    let mut wished: Vec<String> = tools
        .iter()
        .map(|(server, name)| match server {
            Some(server) if counts[name] > 1 => legal(&format!("{server}__{name}")),
            Some(_) | None => legal(name),
        })
        .collect();
    // What still collides, a prefixed name with a plain one for example, is told apart by its hash.
    let mut by_name: HashMap<String, u32> = HashMap::new();
    for name in &wished {
        *by_name.entry(name.clone()).or_default() += 1;
    }
    let mut taken = HashSet::new();
    for (name, (server, own)) in wished.iter_mut().zip(tools) {
        if by_name[name.as_str()] > 1 && server.is_some() {
            *name = hashed(&format!("{}\u{0}{own}", server.unwrap_or_default()), name);
        }
        let mut again = 0_u32;
        while !taken.insert(name.clone()) {
            again += 1;
            *name = hashed(&format!("{}\u{0}{own}\u{0}{again}", server.unwrap_or_default()), name);
        }
    }
    wished
}

/// `name` if it is legal, else something like it that ends in its hash.
fn legal(name: &str) -> String {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.len() <= MAX_BYTES && name.chars().all(is_legal) {
        return name.to_owned();
    }
    let clean: String = name.chars().map(|c| if is_legal(c) { c } else { '_' }).collect();
    hashed(name, &clean)
}

/// As much of `clean`, which is ASCII, as leaves room for the hash of `whole`.
fn hashed(whole: &str, clean: &str) -> String {
    let digest = Sha256::digest(whole.as_bytes());
    let hash: String = digest.iter().take(HASH_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
    let kept = clean.len().min(MAX_BYTES - HASH_DIGITS - 1);
    format!("{}_{hash}", &clean[..kept])
}

/// Names of `known` that look like `name`, the nearest first, at most three.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut ranked: Vec<(usize, &str)> = known.map(|other| (distance(name, other), other)).collect();
    ranked.sort();
    ranked.into_iter().take(3).map(|(_, other)| other).collect()
}

/// Edits between two names.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(96).collect(), b.chars().take(96).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_unique_and_changed_only_where_they_must() {
        let check = |tools: &[(Option<&str>, &str)], expected: &[&str]| assert_eq!(shown_names(tools), expected);
        let long = "hr.leave/search_by_keyword_in_the_archive_of_all_previous_years_and_departments_v2";
        check(&[(Some("hr"), "search"), (Some("hr"), "update")], &["search", "update"]);
        check(&[(Some("hr"), "search"), (Some("it"), "search")], &["hr__search", "it__search"]);
        check(&[(None, "search"), (Some("it"), "search")], &["search", "it__search"]);
        check(&[(Some("hr"), long)], &["hr_leave_search_by_keyword_in_the_archive_of_all_previo_82f1345b"]);
        check(&[(Some("hr"), "查詢")], &["___e6252305"]);
        check(&[(Some("hr"), "")], &["_e3b0c442"]);
    }

    #[test]
    fn names_do_not_depend_on_the_order_of_the_tools() {
        let tools = [(Some("a.b"), "x"), (Some("a_b"), "x"), (Some("hr"), "a_b__x"), (Some("hr"), "y")];
        let forwards = shown_names(&tools);
        let mut backwards: Vec<_> = tools.to_vec();
        backwards.reverse();
        let mut again = shown_names(&backwards);
        again.reverse();
        assert_eq!(forwards, again);
        assert_eq!(forwards.iter().collect::<HashSet<_>>().len(), tools.len(), "{forwards:?}");
    }

    #[test]
    fn the_nearest_names_come_first() {
        let known = ["update_leave_status", "ping_hr", "search_leaves", "list_leaves"];
        assert_eq!(nearest("search_leave", known.into_iter())[0], "search_leaves");
    }
}
