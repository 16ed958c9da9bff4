//! Takes from a page, before it is parsed, the tags that carry no words and can make parsing slow: marks of emphasis,
//! which a parser repeats in each paragraph that leaves them open, and nesting deeper than any page needs.

/// Deepest nesting that is kept.
const DEEPEST: usize = 200;
/// Longest tag that is understood, in bytes.
const LONGEST_TAG: usize = 512;

/// Elements that begin and end a line.
pub(super) fn is_block(name: &str) -> bool {
    const BLOCKS: [&str; 42] = [
        "address",
        "article",
        "aside",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "option",
        "p",
        "section",
        "summary",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "ul",
        "search",
    ];
    BLOCKS.contains(&name)
}

/// Marks of emphasis and links: their words stay, their tags go.
fn is_emphasis(name: &str) -> bool {
    const EMPHASIS: [&str; 14] =
        ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
    EMPHASIS.contains(&name)
}

/// Elements that need no end tag, or end where the next of their kind begins: they do not nest by themselves.
fn is_flat(name: &str) -> bool {
    const FLAT: [&str; 42] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "html",
        "head", "body", "title", "script", "style", "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot",
        "colgroup", "option", "optgroup", "h1", "h2", "h3", "h4", "h5", "h6", "rt", "rp", "textarea", "param",
    ];
    FLAT.contains(&name)
}

/// The page without tags of emphasis, and with line breaks in place of tags that nest too deep.
pub(super) fn simplify(page: &str) -> String {
    let mut simple = String::with_capacity(page.len());
    let (mut depth, mut too_deep) = (0_usize, 0_usize);
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        simple.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(tag) = Tag::read(rest) else {
            simple.push('<');
            rest = &rest[1..];
            continue;
        };
        let (source, after) = rest.split_at(tag.length);
        rest = after;
        if is_emphasis(&tag.name) {
            continue;
        }
        if is_flat(&tag.name) {
            simple.push_str(source);
        } else if tag.closes {
            if too_deep > 0 {
                too_deep -= 1;
                simple.push_str("<br>");
            } else {
                depth = depth.saturating_sub(1);
                simple.push_str(source);
            }
        } else if depth >= DEEPEST {
            too_deep += 1;
            simple.push_str("<br>");
        } else {
            depth += 1;
            simple.push_str(source);
        }
    }
    simple.push_str(rest);
    simple
}

struct Tag {
    name: String,
    closes: bool,
    length: usize,
}

impl Tag {
    /// The tag at the start of a text, if it is one and ends within reach.
    fn read(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let closes = bytes.get(1) == Some(&b'/');
        let start = 1 + usize::from(closes);
        let letters = bytes.get(start..)?.iter().take(20).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if letters == 0 || !bytes[start].is_ascii_alphabetic() {
            return None;
        }
        let mut quote = None;
        for (at, byte) in bytes.iter().enumerate().take(LONGEST_TAG).skip(start + letters) {
            match (byte, quote) {
                (b'>', None) => {
                    let name = text[start..start + letters].to_ascii_lowercase();
                    return Some(Self { name, closes, length: at + 1 });
                }
                (b'<', None) => return None,
                (b'"' | b'\'', None) => quote = Some(*byte),
                (byte, Some(open)) if *byte == open => quote = None,
                _ => {}
            }
        }
        None
    }
}
