//! The language that a caller reads, where the head of its request says so.

use axum::http::{HeaderMap, header::ACCEPT_LANGUAGE};
use bylaw_contract::Language;

/// The language that `accept-language` prefers (RFC 9110, 12.5.4) among those that servers speak. None where it names none
/// of them, as most programs do.
pub(super) fn preferred(headers: &HeaderMap) -> Option<Language> {
    let written = headers.get(ACCEPT_LANGUAGE)?.to_str().ok()?;
    let mut best: Option<(f32, Language)> = None;
    for entry in written.split(',') {
        let mut parts = entry.split(';');
        let Some(language) = spoken(parts.next().unwrap_or_default().trim()) else { continue };
        let weight = parts.find_map(|part| part.trim().strip_prefix("q=")?.parse::<f32>().ok()).unwrap_or(1.0);
        // Of two that are wanted alike the first is meant.
        if weight > best.map_or(0.0, |(weight, _)| weight) {
            best = Some((weight, language));
        }
    }
    best.map(|(_, language)| language)
}

fn spoken(tag: &str) -> Option<Language> {
    let tag = tag.to_ascii_lowercase();
    let mut subtags = tag.split('-');
    match subtags.next()? {
        "en" => Some(Language::English),
        "zh" if subtags.any(|subtag| matches!(subtag, "hans" | "cn" | "sg")) => Some(Language::SimplifiedChinese),
        "zh" => Some(Language::TraditionalChinese),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_most_is_chosen_among_what_is_spoken() {
        for (written, expected) in [
            ("en", Some(Language::English)),
            ("zh-TW,zh;q=0.9,en;q=0.8", Some(Language::TraditionalChinese)),
            ("zh-Hant-TW", Some(Language::TraditionalChinese)),
            ("zh-CN", Some(Language::SimplifiedChinese)),
            ("en;q=0.2, zh;q=0.7", Some(Language::TraditionalChinese)),
            ("en-GB, zh", Some(Language::English)),
            ("fr, en;q=0.1", Some(Language::English)),
            ("en;q=0", None),
            ("*", None),
            ("fr", None),
            ("", None),
            (";;q=,,=", None),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_LANGUAGE, written.parse().unwrap())]);
            assert_eq!(preferred(&headers), expected, "{written}");
        }
        assert_eq!(preferred(&HeaderMap::new()), None);
    }
}
