//! Amounts as people say them, and texts as people look for them.

use bylaw_contract::Language;

/// Minutes of working time as days, hours and minutes: 「1 日 4 小時」, "1 day 4 hours".
#[must_use]
pub fn amount(minutes: u32, day_minutes: u32, language: Language) -> String {
    let day_minutes = day_minutes.max(1);
    let (days, rest) = (minutes / day_minutes, minutes % day_minutes);
    let chinese = language.is_chinese();
    let one = |count: u32, zh: &str, en: &str| match (count, chinese) {
        (0, _) => None,
        (_, true) => Some(format!("{count} {zh}")),
        (1, false) => Some(format!("1 {en}")),
        (_, false) => Some(format!("{count} {en}s")),
    };
    let parts = [one(days, "日", "day"), one(rest / 60, "小時", "hour"), one(rest % 60, "分", "minute")];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    match (text.is_empty(), chinese) {
        (true, true) => "0 日".to_owned(),
        (true, false) => "0 days".to_owned(),
        (false, _) => text,
    }
}

/// A text for comparison: full-width forms narrowed, lower case.
#[must_use]
pub fn folded(text: &str) -> String {
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        other => other,
    };
    text.chars().map(narrow).flat_map(char::to_lowercase).collect()
}

/// Whether every word of `keyword` is in one of the texts. An empty keyword is in every text.
#[must_use]
pub fn matches(keyword: &str, texts: &[&str]) -> bool {
    let all = folded(&texts.join("\n"));
    folded(keyword).split_whitespace().all(|word| all.contains(word))
}
