//! Patterns over folded text.
//!
//! They are written in Traditional Chinese, as people read them, and folded once when they are compiled; so one pattern
//! serves both scripts, full-width and half-width figures, and either case.

use bylaw_retrieval::analysis;
use regex::Regex;

/// A number: figures, or Chinese numerals.
pub(crate) const NUMBER: &str = "(?:[0-9][0-9,.]*|[〇零一二兩三四五六七八九十百千萬半廿卅]+)";

/// A number in English, in figures or words.
pub(crate) const NUMBER_EN: &str = r"(?:\b[0-9][0-9,.]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen|sixteen|eighteen|twenty|twenty-one|thirty|forty|forty-five|fifty|sixty|ninety)\b)";

/// Compiles a pattern for folded text. Patterns are constants of this crate and hold no upper-case escapes (folding
/// would turn `\D` into `\d`).
pub(crate) fn folded(pattern: &str) -> Regex {
    let pattern = pattern.replace("{N}", NUMBER).replace("{E}", NUMBER_EN);
    Regex::new(&analysis::fold(&pattern).text).expect("the patterns of this crate are constants and are tested")
}

/// Declares patterns that are compiled at their first use.
macro_rules! patterns {
    ($($(#[$meta:meta])* $name:ident = $pattern:expr;)+) => {
        $($(#[$meta])* static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::pattern::folded($pattern));)+
    };
}
pub(crate) use patterns;
