//! Names of laws and rules in running text: where one begins has to be guessed, since Chinese writes no spaces.

use std::collections::HashMap;

use bylaw_contract::Span;

use crate::{language::is_chinese, numerals};

/// Longest name that is looked for, in characters.
const LONGEST_NAME: usize = 40;

/// Endings of the names of laws and rules.
const ENDINGS: [&str; 24] = [
    "法", "條例", "条例", "規則", "规则", "辦法", "办法", "細則", "细则", "準則", "准则", "標準", "标准", "規程",
    "规程", "通則", "通则", "要點", "要点", "規範", "规范", "守則", "守则", "契約",
];

/// Words after which a name can begin.
const OPENINGS: [&str; 46] = [
    "依據", "依据", "依照", "依", "按照", "按", "適用", "适用", "準用", "准用", "違反", "违反", "符合", "參照", "参照",
    "除", "非", "因", "經", "由", "以", "為", "为", "有", "於", "于", "受", "合於", "屬", "属", "之", "得", "應", "应",
    "不", "即", "或", "所稱", "所称", "所定", "係", "系", "向", "將", "将", "如",
];

/// 同法, 該辦法: named before, by a name we no longer know.
const ANAPHORA: [&str; 16] = [
    "同", "該", "该", "其", "前開", "前揭", "上開", "上揭", "前項", "前款", "各該", "此", "有關", "相關", "下列", "新",
];

/// Whose an article is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Another document's; `start` is where its name begins, if that is before the article.
    Other {
        /// Its name.
        name: String,
        /// Offset of the name.
        start: Option<usize>,
    },
    /// One that the words do not tell (同法第三條).
    Unknown,
}

/// Short names that a document gives to others, and its own name.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    full_names: HashMap<String, String>,
    own: Option<String>,
    /// The law that "the Act" means in English rules made under it.
    act: Option<String>,
}

impl Definitions {
    /// Collects 「勞動基準法（以下簡稱本法）」.
    pub(super) fn find(text: &str, title: Option<&str>) -> Self {
        let mut full_names = HashMap::new();
        for sign in ["以下簡稱", "以下简称", "以下稱", "下稱", "下称"] {
            for (at, _) in text.match_indices(sign) {
                let Some(before) = text[..at].strip_suffix(['（', '(']) else { continue };
                let after = text[at + sign.len()..].trim_start_matches(['為', '为', '：', ':', '「', '『', '"', '“']);
                let short: String = after.chars().take(20).take_while(|c| !"）)」』\"”，、".contains(*c)).collect();
                if let Some((name, _)) = name_ending_at(before, before.len())
                    && short.chars().count() >= 2
                    && is_law(&short)
                {
                    full_names.entry(short).or_insert(name);
                }
            }
        }
        Self { full_names, own: title.map(str::to_owned), act: title.and_then(act_above) }
    }

    fn owner(&self, name: String, start: Option<usize>) -> Option<Owner> {
        if let Some(full) = self.full_names.get(&name) {
            return Some(Owner::Other { name: full.clone(), start });
        }
        if let Some(rest) = name.strip_prefix('本') {
            // 本條例施行細則 is made under this document, and is another one.
            let below = ENDINGS.iter().any(|ending| rest.len() > ending.len() && rest.starts_with(ending));
            return below.then_some(Owner::Unknown);
        }
        if self.own.as_deref() == Some(name.as_str()) {
            return None;
        }
        let bare = ENDINGS.contains(&name.as_str());
        if bare || ANAPHORA.iter().any(|sign| name.starts_with(sign)) {
            return Some(Owner::Unknown);
        }
        Some(Owner::Other { name, start })
    }
}

fn is_law(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whose article the mention at `span` is, by the name right before it; `None` for this document's own.
pub(super) fn owner(body: &str, span: Span, definitions: &Definitions) -> Option<Owner> {
    if !body[span.start..].starts_with('第') {
        return None;
    }
    let before = body[..span.start].trim_end();
    // 勞動基準法（以下簡稱本法）第三條: the name stands before the bracket.
    let before = match before.strip_suffix(['）', ')']) {
        Some(inner) => {
            let near = inner.char_indices().rev().take(LONGEST_NAME).find(|(_, c)| matches!(c, '（' | '('));
            let (open, _) = near?;
            inner[..open].trim_end()
        }
        None => before,
    };
    let (name, start) = name_ending_at(before, before.len())?;
    definitions.owner(name, Some(start))
}

/// The name of a law that ends at this offset, and where it begins.
fn name_ending_at(text: &str, end: usize) -> Option<(String, usize)> {
    let before = &text[..end];
    for (open, close) in [('《', '》'), ('〈', '〉'), ('「', '」')] {
        if let Some(inner) = before.strip_suffix(close) {
            let (at, _) = inner.char_indices().rev().take(LONGEST_NAME).find(|(_, c)| *c == open)?;
            let name = &inner[at + open.len_utf8()..];
            return (open != '「' || is_law(name)).then(|| (name.to_owned(), at));
        }
    }
    if !is_law(before) {
        return None;
    }
    let start = before
        .char_indices()
        .rev()
        .take(LONGEST_NAME)
        .take_while(|(_, c)| is_chinese(*c) && numerals::arabic_digit(*c).is_none())
        .last()
        .map_or(end, |(at, _)| at);
    let mut start = start;
    // The name begins behind the last word that leads up to one. What is left must still be more than an ending.
    let shortest = before.char_indices().rev().nth(1).map_or(start, |(at, _)| at).max(start);
    for opening in OPENINGS {
        if let Some(at) = before[start..shortest].rfind(opening) {
            start += at + opening.len();
        }
    }
    // 民法及公司法第五條: 及 parts two names only where a name or an article ends before it.
    for joint in ['及', '與', '与', '和', '暨'] {
        if let Some(at) = before[start..shortest].rfind(joint) {
            let left = &before[start..start + at];
            if left.is_empty() || is_law(left) || left.ends_with(['條', '条', '項', '项', '款', '目']) {
                start += at + joint.len_utf8();
            }
        }
    }
    for part in ['條', '条', '項', '项', '款'] {
        // 前項辦法: part of an article, then an ending that names nothing. 條例 is an ending itself.
        if let Some(at) = before[start..shortest].rfind(part)
            && !before[start + at..].starts_with("條例")
            && !before[start + at..].starts_with("条例")
        {
            start += at + part.len_utf8();
        }
    }
    start = own_name_at_end(&before[start..]).map_or(start, |at| start + at);
    for opening in ["包括", "包含", "歸入", "指", "自", "對", "对", "等"] {
        if before[start..shortest.max(start)].starts_with(opening) {
            start += opening.len();
        }
    }
    let name = before[start..].trim();
    (!name.is_empty()).then(|| (name.to_owned(), start))
}

/// Where the 本法 of 雇主聘僱本法 begins.
fn own_name_at_end(name: &str) -> Option<usize> {
    let at = name.rfind('本')?;
    ENDINGS.contains(&&name[at + '本'.len_utf8()..]).then_some(at)
}

/// `of the Labor Standards Act` behind an English mention.
pub(super) fn owner_after(body: &str, end: usize, definitions: &Definitions) -> Option<Owner> {
    const ENDINGS: [&str; 8] = ["Act", "Law", "Code", "Regulations", "Rules", "Ordinance", "Standards", "Directive"];
    let rest = body[end..].trim_start();
    let rest = rest.strip_prefix("of")?.trim_start();
    let rest = rest.strip_prefix("the ").unwrap_or(rest);
    let mut words: Vec<&str> = Vec::new();
    for word in rest.split([' ', '\n']).take(14) {
        let plain = word.trim_end_matches([',', '.', ';', ':', ')', '\'']);
        let first = plain.chars().next()?;
        let small = matches!(plain, "of" | "for" | "and" | "the" | "on" | "to" | "in");
        if !(first.is_uppercase() || (small && !words.is_empty())) {
            break;
        }
        words.push(plain);
        if plain.len() != word.len() {
            break;
        }
    }
    let last = words.iter().rposition(|word| ENDINGS.contains(word))?;
    // The Act and this Act are the document itself.
    if last == 0 {
        return definitions.act.clone().filter(|_| words[0] == "Act").map(|name| Owner::Other { name, start: None });
    }
    Some(Owner::Other { name: words[..=last].join(" "), start: None })
}

/// The Labor Standards Act, for the Enforcement Rules of the Labor Standards Act.
fn act_above(title: &str) -> Option<String> {
    const BELOW: [&str; 8] =
        ["Enforcement", "Regulations", "Regulation", "Rules", "Directions", "Standards", "Guidelines", "Operational"];
    let below = BELOW.contains(&title.split(' ').next()?);
    let (_, law) = title.split_once(" of ").filter(|_| below)?;
    let law = law.strip_prefix("the ").unwrap_or(law);
    Some(if law.ends_with("Act") { law } else { "Act" }.to_owned())
}

/// Whether the words between two English articles only continue a list: `, Article 25 and Paragraph 1 to`.
pub(super) fn continues_english_list(between: &str) -> bool {
    const WORDS: [&str; 19] = [
        "and",
        "or",
        "to",
        "of",
        "the",
        "in",
        "paragraph",
        "paragraphs",
        "subparagraph",
        "subparagraphs",
        "item",
        "items",
        "first",
        "second",
        "third",
        "proviso",
        "article",
        "articles",
        "through",
    ];
    between.len() <= 80
        && between.split(|c: char| c.is_whitespace() || matches!(c, ',' | '-' | '(' | ')')).all(|word| {
            word.bytes().all(|byte| byte.is_ascii_digit()) || WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
        })
}

/// Whether the words between two articles only continue a list, so that both are of one law.
pub(super) fn continues_list(between: &str) -> bool {
    let list =
        between.trim_end_matches(['及', '與', '与', '和', '或', '至', '、', '到', '，', ',', '～', '~', ' ', '暨']);
    list.len() < between.len() && is_part_of_article(list)
}

/// Whether words name only a part of an article: nothing, 第一項, 第二項第三款, 但書, 第一項及第三項.
pub(super) fn is_part_of_article(words: &str) -> bool {
    words.len() <= 120
        && words.chars().all(|c| {
            numerals::is_numeral(c) || c.is_whitespace() || "第項项款目前後后段但書书、及與与或至之規规定".contains(c)
        })
}

/// Laws and rules named without an article: 《差旅費用管理辦法》, 依勞工請假規則.
pub(super) fn named_documents<'body>(
    body: &'body str,
    definitions: &'body Definitions,
) -> impl Iterator<Item = (Span, String)> + 'body {
    bracketed(body).chain(governed(body)).filter_map(|(span, name)| match definitions.owner(name, None) {
        Some(Owner::Other { name, .. }) => Some((span, name)),
        _ => None,
    })
}

/// 《…》 and 〈…〉, whatever they name; 「…」 where it ends like a rule.
fn bracketed(body: &str) -> impl Iterator<Item = (Span, String)> + '_ {
    body.char_indices().filter_map(move |(at, open)| {
        let close = match open {
            '《' => '》',
            '〈' => '〉',
            '「' => '」',
            _ => return None,
        };
        let inner = &body[at + open.len_utf8()..];
        let (length, end) = inner.char_indices().take(LONGEST_NAME + 1).find(|(_, c)| *c == close || *c == open)?;
        let name = &inner[..length];
        let fits =
            end == close && !name.trim().is_empty() && (open != '「' || (is_law(name) && name.chars().count() > 2));
        let start = at;
        fits.then(|| (Span::new(start, start + open.len_utf8() + length + close.len_utf8()), name.trim().to_owned()))
    })
}

/// 依…辦法, and the names that 、 and 及 add to it.
fn governed(body: &str) -> impl Iterator<Item = (Span, String)> + '_ {
    const VERBS: [&str; 9] = ["依", "據", "据", "按", "照", "用", "反", "合", "守"];
    const ENDS: [&str; 14] =
        ["法", "條例", "条例", "規則", "规则", "辦法", "办法", "細則", "细则", "準則", "准则", "要點", "要点", "規程"];
    let mut list_until = 0;
    body.char_indices().filter_map(move |(at, c)| {
        let mut buffer = [0; 4];
        let in_list = at == list_until && at > 0 && matches!(c, '、' | '及' | '與' | '与' | '和' | '或');
        if !(in_list || VERBS.contains(&&*c.encode_utf8(&mut buffer))) {
            return None;
        }
        // 適用, 違反, 符合 and 遵守, but not 用戶, 反應 or 合作.
        let before = body[..at].chars().next_back();
        let whole = match c {
            '用' => matches!(before, Some('適' | '适' | '準' | '准')),
            '反' => matches!(before, Some('違' | '违')),
            '合' => before == Some('符'),
            '守' => before == Some('遵'),
            _ => true,
        };
        if !whole {
            return None;
        }
        let start = at + c.len_utf8();
        let rest = &body[start..];
        let reach = rest
            .char_indices()
            .take(LONGEST_NAME)
            .take_while(|(_, c)| is_chinese(*c) && !matches!(c, '第' | '依'))
            .last()
            .map_or(0, |(at, c)| at + c.len_utf8());
        let window = &rest[..reach];
        // The name ends at the first ending that does not go on as another word (法令, 法院, 規則性).
        let end = window.char_indices().map(|(at, c)| at + c.len_utf8()).find(|end| {
            let name = &window[..*end];
            let long = name.chars().count() >= 3 || matches!(name, "民法" | "刑法" | "憲法" | "宪法");
            long && ENDS.iter().any(|ending| name.ends_with(ending)) && !goes_on(&rest[*end..])
        })?;
        let name = &window[..end];
        let in_doubt = OPENINGS.iter().any(|opening| opening.chars().count() == 2 && name.contains(opening))
            || name.starts_with(['本', '照', '據', '据', '於', '于', '前', '左', '各', '之', '等', '一', '次'])
            || ["其他", "等事項", "之辦法", "之規則", "有關法", "相關法", "無法", "方法", "或", "本法", "本條例"]
                .iter()
                .any(|sign| name.contains(sign));
        if in_doubt {
            return None;
        }
        list_until = start + end;
        Some((Span::new(start, start + end), name.to_owned()))
    })
}

fn goes_on(rest: &str) -> bool {
    rest.starts_with(|c| {
        "令律院人規规庭官源理案學学制定例施性治務务之外條条細细".contains(c)
            && c != '之'
            && c != '規'
            && c != '规'
    })
}
