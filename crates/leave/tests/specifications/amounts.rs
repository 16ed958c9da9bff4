//! Amounts and keywords in words.

use bylaw_contract::Language;
use bylaw_leave::domain::words::{amount, matches};

#[test]
fn an_amount_is_days_hours_and_minutes() {
    for (minutes, zh, en) in [
        (0, "0 日", "0 days"),
        (60, "1 小時", "1 hour"),
        (480, "1 日", "1 day"),
        (1_440, "3 日", "3 days"),
        (720, "1 日 4 小時", "1 day 4 hours"),
        (1_694, "3 日 4 小時 14 分", "3 days 4 hours 14 minutes"),
    ] {
        assert_eq!(amount(minutes, 480, Language::TraditionalChinese), zh);
        assert_eq!(amount(minutes, 480, Language::English), en);
    }
}

#[test]
fn a_keyword_is_found_whatever_its_width_and_case() {
    for (keyword, text, found) in [
        ("家庭旅遊", "家庭旅遊", true),
        ("旅遊 特休", "家庭旅遊 特休", true),
        ("ｌｖ－７ｆ３ａ９１", "LV-7f3a91", true),
        ("ANNUAL", "annual leave", true),
        ("", "anything", true),
        ("　", "anything", true),
        ("出差", "家庭旅遊", false),
        ("家庭 出差", "家庭旅遊", false),
    ] {
        assert_eq!(matches(keyword, &[text]), found, "{keyword:?} in {text:?}");
    }
}
