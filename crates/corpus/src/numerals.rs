//! Numbers in every written form, to integers. Linear in their length; nonsense is refused, not guessed.

/// The value of one Chinese digit, everyday or formal, Traditional or Simplified.
const fn digit(c: char) -> Option<u32> {
    Some(match c {
        '〇' | '零' | '○' => 0,
        '一' | '壹' | '弌' => 1,
        '二' | '貳' | '贰' | '兩' | '两' => 2,
        '三' | '參' | '叁' | '叄' => 3,
        '四' | '肆' => 4,
        '五' | '伍' => 5,
        '六' | '陸' | '陆' => 6,
        '七' | '柒' => 7,
        '八' | '捌' => 8,
        '九' | '玖' => 9,
        _ => return None,
    })
}

/// 十, 百 and 千, which multiply the digit before them.
const fn small_unit(c: char) -> Option<u64> {
    Some(match c {
        '十' | '拾' => 10,
        '百' | '佰' => 100,
        '千' | '仟' => 1000,
        _ => return None,
    })
}

/// 萬 and 億, which multiply everything before them.
const fn large_unit(c: char) -> Option<u64> {
    Some(match c {
        '萬' | '万' => 10_000,
        '億' | '亿' => 100_000_000,
        _ => return None,
    })
}

/// 廿, 卅 and 卌: tens in one character.
const fn joined_tens(c: char) -> Option<u64> {
    Some(match c {
        '廿' => 20,
        '卅' => 30,
        '卌' => 40,
        _ => return None,
    })
}

/// An ASCII or full-width digit.
pub(crate) const fn arabic_digit(c: char) -> Option<u32> {
    match c {
        '0'..='9' => Some(c as u32 - '0' as u32),
        '０'..='９' => Some(c as u32 - '０' as u32),
        _ => None,
    }
}

/// Whether a character can stand in a number.
pub(crate) const fn is_numeral(c: char) -> bool {
    arabic_digit(c).is_some()
        || digit(c).is_some()
        || small_unit(c).is_some()
        || large_unit(c).is_some()
        || joined_tens(c).is_some()
}

/// Parses a number in any written form: `26`, `２６`, `二十六`, `廿六`, `一千零一`, `兩千四百`. Linear in its length.
///
/// `None` for anything that is not one number below 2³², such as 「一十一十」 or 「百千」, and for the colloquial
/// 「二百五」, which people read in two ways.
#[must_use]
pub fn parse_number(text: &str) -> Option<u32> {
    let text = text.trim();
    if text.is_empty() {
        None
    } else if text.chars().all(|c| arabic_digit(c).is_some()) {
        positional(text.chars().filter_map(arabic_digit))
    } else if text.chars().all(|c| digit(c).is_some()) {
        positional(text.chars().filter_map(digit))
    } else {
        composed(text)
    }
}

/// `105`, 一〇五.
fn positional(digits: impl Iterator<Item = u32>) -> Option<u32> {
    let mut value = 0_u32;
    for digit in digits {
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(value)
}

/// 一萬二千三百零四, 3百, 百廿三.
fn composed(text: &str) -> Option<u32> {
    let mut state = Composed::default();
    for c in text.chars() {
        if let Some(value) = arabic_digit(c) {
            state.arabic(value)?;
        } else if let Some(value) = digit(c) {
            state.digit(value)?;
        } else if let Some(tens) = joined_tens(c) {
            state.joined_tens(tens)?;
        } else if let Some(unit) = small_unit(c) {
            state.small_unit(unit)?;
        } else {
            state.large_unit(large_unit(c)?)?;
        }
    }
    state.finish()
}

/// What has been read of a number with units.
struct Composed {
    /// Closed by 萬 or 億.
    total: u64,
    /// Since the last 萬 or 億.
    section: u64,
    /// A digit that waits for its unit, and whether it is written in Arabic digits.
    pending: Option<(u64, bool)>,
    /// The smallest unit so far in this section; the next must be smaller.
    unit: u64,
    /// The smallest large unit so far.
    large: u64,
    /// A 零 was just read: a digit must follow.
    zero: bool,
}

impl Default for Composed {
    fn default() -> Self {
        Self { total: 0, section: 0, pending: None, unit: u64::MAX, large: u64::MAX, zero: false }
    }
}

impl Composed {
    fn arabic(&mut self, value: u32) -> Option<()> {
        let before = match self.pending {
            None => 0,
            Some((before, true)) => before,
            Some((_, false)) => return None,
        };
        let value = before.checked_mul(10)?.checked_add(u64::from(value))?;
        self.pending = (value <= u64::from(u32::MAX)).then_some((value, true));
        self.pending.map(|_| ())
    }

    fn digit(&mut self, value: u32) -> Option<()> {
        if self.pending.is_some() || (value == 0 && self.zero) {
            return None;
        }
        if value == 0 {
            // 零 stands for skipped units, so something must be before it.
            self.zero = self.section > 0 || self.total > 0;
            return self.zero.then_some(());
        }
        self.pending = Some((u64::from(value), false));
        Some(())
    }

    fn joined_tens(&mut self, tens: u64) -> Option<()> {
        if self.pending.is_some() || self.unit <= 10 {
            return None;
        }
        self.section += tens;
        self.unit = 10;
        self.zero = false;
        Some(())
    }

    fn small_unit(&mut self, unit: u64) -> Option<()> {
        if unit >= self.unit {
            return None;
        }
        let count = match self.pending.take() {
            Some((count, _)) if count > 0 => count,
            Some(_) => return None,
            // 十五, 百零五, and 十 after a larger unit: 一百十五.
            None if self.section == 0 && !self.zero || unit == 10 => 1,
            None => return None,
        };
        self.section = self.section.checked_add(count.checked_mul(unit)?)?;
        self.unit = unit;
        self.zero = false;
        Some(())
    }

    fn large_unit(&mut self, unit: u64) -> Option<()> {
        if unit >= self.large || self.zero {
            return None;
        }
        self.close_digit()?;
        if self.section == 0 {
            return None;
        }
        self.total = self.total.checked_add(self.section.checked_mul(unit)?)?;
        self.section = 0;
        self.unit = u64::MAX;
        self.large = unit;
        Some(())
    }

    /// Takes a digit without a unit as ones, if that has only one reading: 三十五 and 一百零五, but not 二百五.
    fn close_digit(&mut self) -> Option<()> {
        if let Some((count, _)) = self.pending.take() {
            let plain = self.unit == 10 || (self.unit == u64::MAX && (self.total == 0 || self.zero));
            if !plain && !self.zero {
                return None;
            }
            self.section = self.section.checked_add(count)?;
            self.zero = false;
        }
        Some(())
    }

    fn finish(mut self) -> Option<u32> {
        self.close_digit()?;
        if self.zero {
            return None;
        }
        u32::try_from(self.total.checked_add(self.section)?).ok()
    }
}

/// Parses a Roman number in its one correct spelling, in ASCII letters or the Unicode signs `Ⅰ` to `Ⅻ`.
pub(crate) fn parse_roman(text: &str) -> Option<u32> {
    const SPELLINGS: [(&str, u32); 13] = [
        ("M", 1000),
        ("CM", 900),
        ("D", 500),
        ("CD", 400),
        ("C", 100),
        ("XC", 90),
        ("L", 50),
        ("XL", 40),
        ("X", 10),
        ("IX", 9),
        ("V", 5),
        ("IV", 4),
        ("I", 1),
    ];
    let mut chars = text.chars();
    if let (Some(sign @ 'Ⅰ'..='Ⅻ'), None) = (chars.next(), chars.next()) {
        return Some(sign as u32 - 'Ⅰ' as u32 + 1);
    }
    if text.is_empty() || text.len() > 15 || !text.is_ascii() {
        return None;
    }
    let upper = text.to_ascii_uppercase();
    let (mut rest, mut value) = (upper.as_str(), 0);
    for (letters, worth) in SPELLINGS {
        let most = if letters.len() == 2 || matches!(worth, 5 | 50 | 500) { 1 } else { 3 };
        for _ in 0..most {
            let Some(after) = rest.strip_prefix(letters) else { break };
            (rest, value) = (after, value + worth);
        }
    }
    // Writing the value back refuses IXI and the like.
    (rest.is_empty() && roman(value, &SPELLINGS) == upper).then_some(value)
}

fn roman(mut value: u32, spellings: &[(&str, u32)]) -> String {
    let mut text = String::new();
    for (letters, worth) in spellings {
        while value >= *worth {
            text.push_str(letters);
            value -= worth;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_in_every_written_form() {
        for (text, value) in [
            ("26", 26),
            ("２６", 26),
            ("二十六", 26),
            ("廿六", 26),
            ("二六", 26),
            ("貳拾陸", 26),
            ("卅", 30),
            ("卅一", 31),
            ("卌", 40),
            ("卌二", 42),
            ("十", 10),
            ("一十", 10),
            ("十五", 15),
            ("百零五", 105),
            ("一百零五", 105),
            ("一〇五", 105),
            ("一百十五", 115),
            ("一百一十五", 115),
            ("百廿三", 123),
            ("一千零一", 1001),
            ("一千零一十", 1010),
            ("一千零十", 1010),
            ("兩千四百", 2400),
            ("两千四百", 2400),
            ("3百", 300),
            ("1萬2千", 12000),
            ("一萬零五", 10005),
            ("十萬", 100_000),
            ("四十二億", 4_200_000_000),
            ("壹佰貳拾參", 123),
            ("〇", 0),
            ("零", 0),
            ("0", 0),
            ("二〇二四", 2024),
            (" 7 ", 7),
        ] {
            assert_eq!(parse_number(text), Some(value), "{text}");
        }
    }

    #[test]
    fn nonsense_is_no_number() {
        for text in [
            "",
            " ",
            "條",
            "二百五",
            "一十一十",
            "百千",
            "十百",
            "一百零",
            "零百",
            "零十",
            "一百零零五",
            "二十二十",
            "萬",
            "一萬萬",
            "廿廿",
            "十廿",
            "2二十",
            "二2十",
            "4294967296",
            "五十億",
            "-1",
            "2 6",
            "1.5",
        ] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }

    #[test]
    fn long_input_is_refused_at_once() {
        for text in ["一十".repeat(50_000), "9".repeat(1_000_000), "零".repeat(100_000) + "百", "千".repeat(100_000)]
        {
            assert_eq!(parse_number(&text), None);
        }
    }

    #[test]
    fn roman_numbers_have_one_spelling() {
        for (text, value) in [("I", 1), ("IV", 4), ("XII", 12), ("xl", 40), ("MCMXCIX", 1999), ("Ⅳ", 4), ("Ⅻ", 12)]
        {
            assert_eq!(parse_roman(text), Some(value), "{text}");
        }
        for text in ["", "IIII", "IXI", "VX", "ABC", "第", "ⅠⅠ"] {
            assert_eq!(parse_roman(text), None, "{text}");
        }
    }

    /// Writes a number as laws do, to read it back.
    fn written(value: u32) -> String {
        const DIGITS: [char; 10] = ['零', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
        let mut text = String::new();
        let mut zero = false;
        for (worth, unit) in [(1000, "千"), (100, "百"), (10, "十"), (1, "")] {
            let digit = value / worth % 10;
            if digit == 0 {
                zero = !text.is_empty();
                continue;
            }
            if std::mem::take(&mut zero) {
                text.push('零');
            }
            text.push(DIGITS[digit as usize]);
            text.push_str(unit);
        }
        text
    }

    proptest! {
        #[test]
        fn every_written_number_is_read_back(value in 1_u32..10_000) {
            prop_assert_eq!(parse_number(&written(value)), Some(value));
            prop_assert_eq!(parse_number(&value.to_string()), Some(value));
            if value < 4000 {
                prop_assert!(parse_roman(&roman(value, &[("M", 1000), ("CM", 900), ("D", 500), ("CD", 400), ("C", 100),
                    ("XC", 90), ("L", 50), ("XL", 40), ("X", 10), ("IX", 9), ("V", 5), ("IV", 4), ("I", 1)])) == Some(value));
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            let _ = parse_number(&text);
            let _ = parse_roman(&text);
        }
    }
}
