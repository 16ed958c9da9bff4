//! Numbers in one spelling: 2,400 = ２，４００ = 2400 = 兩千四百 = 2千4百 is not attempted; 2.4萬 = 24000 is.

/// Units that make a single Chinese digit a number (七日), and that are kept with the number as one more term (#7日).
/// Folded characters.
pub(crate) fn unit_of(c: char) -> Option<char> {
    match c {
        // One unit under two names.
        '天' | '日' => Some('日'),
        '块' | '圆' | '元' => Some('元'),
        '年' | '月' | '时' | '分' | '秒' | '岁' | '人' | '次' | '周' | '倍' | '个' | '点' | '条' | '项' | '款'
        | '级' | '小' | '星' | '度' | '名' | '份' | '张' | '页' | '章' | '节' | '季' | '折' | '成' | '公' | '%'
        | '届' | '期' | '万' => Some(c),
        _ => None,
    }
}

/// Digits of Chinese numerals, folded.
pub(crate) const fn is_numeral(c: char) -> bool {
    is_power(c)
        || matches!(
            c,
            '〇' | '零'
                | '一'
                | '二'
                | '三'
                | '四'
                | '五'
                | '六'
                | '七'
                | '八'
                | '九'
                | '两'
                | '壹'
                | '贰'
                | '叁'
                | '肆'
                | '伍'
                | '陆'
                | '柒'
                | '捌'
                | '玖'
        )
}

/// Numerals that multiply, folded.
pub(crate) const fn is_power(c: char) -> bool {
    power(c).is_some() || matches!(c, '廿' | '卅')
}

const fn power(c: char) -> Option<u64> {
    match c {
        '十' | '拾' => Some(10),
        '百' | '佰' => Some(100),
        '千' | '仟' => Some(1_000),
        '万' => Some(10_000),
        '亿' => Some(100_000_000),
        _ => None,
    }
}

/// Longest Chinese numeral that is read. 九千九百九十九萬九千九百九十九億 has 17 characters.
pub(crate) const MAX_NUMERAL_CHARS: usize = 24;

/// Whether a folded run of numerals is a number and not an enumeration (三四天) or a lone character.
pub(crate) fn is_number(numerals: &str) -> bool {
    let length = numerals.chars().count();
    length <= MAX_NUMERAL_CHARS
        && ((length >= 2 && numerals.chars().any(is_power)) || (length >= 4 && !numerals.chars().any(is_power)))
}

/// The one spelling of a number in digits: separators of thousands and leading zeros removed. `None` if it is none.
pub(crate) fn canonical_digits(text: &str) -> Option<String> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let digits_only = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if fraction.is_some_and(|fraction| !digits_only(fraction)) {
        return None;
    }
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let mut digits = first.to_owned();
    let mut grouped = false;
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        grouped = true;
        digits.push_str(group);
    }
    if !digits_only(&digits) || (grouped && first.len() > 3) {
        return None;
    }
    let trimmed = digits.trim_start_matches('0');
    let mut canonical = if trimmed.is_empty() { "0".to_owned() } else { trimmed.to_owned() };
    if let Some(fraction) = fraction.map(|fraction| fraction.trim_end_matches('0')).filter(|f| !f.is_empty()) {
        canonical.push('.');
        canonical.push_str(fraction);
    }
    Some(canonical)
}

/// Multiplies a canonical number by the powers that follow it in the text (`2.4` and 萬), as far as the result is whole.
/// Returns the product and the bytes of `rest` that were used.
pub(crate) fn times_powers(canonical: &str, rest: &str) -> Option<(String, usize)> {
    let mut factor = 1_u64;
    let mut used = 0;
    // 100 億 is the largest sum that rules talk about; three powers in a row (千百萬) are already unusual.
    for c in rest.chars().take(3) {
        let Some(power) = power(c) else { break };
        factor = factor.checked_mul(power)?;
        used += c.len_utf8();
    }
    if used == 0 {
        return None;
    }
    let (whole, fraction) = canonical.split_once('.').unwrap_or((canonical, ""));
    let scale = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let digits = format!("{whole}{fraction}").parse::<u64>().ok()?;
    let product = digits.checked_mul(factor)?;
    product.is_multiple_of(scale).then(|| ((product / scale).to_string(), used))
}
