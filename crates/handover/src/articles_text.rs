//! Articles as a model reads them, as many as fit.

use bylaw_contract::{Citation, Language};

use crate::{
    room::{MOST_CHARS, parts},
    sentences::Label,
};

/// A list of articles, and how many of them are in it.
pub(crate) struct Listed {
    pub(crate) text: String,
    pub(crate) shown: usize,
}

/// As many whole articles as fit, in their order; then what does not fit, by address, and how to read on. An article that
/// alone is too long is begun.
pub(crate) fn list(articles: &[Citation], language: Language) -> Listed {
    let (mut text, mut shown, mut chars) = (String::new(), 0, 0);
    for article in articles {
        let length = article.text.chars().count();
        let begun = shown == 0 && length > MOST_CHARS;
        if chars + length > MOST_CHARS && !begun {
            break;
        }
        text.push_str(&entry(article, language));
        if begun {
            text.push_str(&begin(article, language));
        } else {
            text.push_str(article.text.trim_end());
        }
        text.push_str("\n\n");
        shown += 1;
        chars += length;
    }
    let left: Vec<String> = articles[shown..].iter().map(|article| article.id.to_string()).collect();
    if !left.is_empty() {
        let ids = left.join(", ");
        text.push_str(&if language.is_chinese() {
            format!("（篇幅所限，另有 {} 條沒有列出內文：{ids}。要讀請用 read_article。）", left.len())
        } else {
            format!("({} more articles do not fit here: {ids}. Read them with read_article.)", left.len())
        });
    }
    Listed { text: text.trim_end().to_owned(), shown }
}

/// The line above an article: its id, its title, and what it is to the answer.
fn entry(article: &Citation, language: Language) -> String {
    let mut line = format!("[{}] {}", article.id, article.title);
    if article.similarity > 0.0 {
        line.push_str(&if language.is_chinese() {
            format!("（相似度 {:.2}）", article.similarity)
        } else {
            format!(" (similarity {:.2})", article.similarity)
        });
    }
    if article.used {
        line.push_str(Label::Used.words(language));
    } else if article.referenced {
        line.push_str(Label::Referenced.words(language));
    }
    line.push('\n');
    line
}

fn begin(article: &Citation, language: Language) -> String {
    let parts = parts(&article.text, MOST_CHARS);
    let first = parts.first().copied().unwrap_or_default();
    format!("{}\n{}", first.trim_end(), read_on(article, 1, parts.len(), language))
}

/// Where the next part of a long article is.
pub(crate) fn read_on(article: &Citation, part: usize, parts: usize, language: Language) -> String {
    let (source, address, next) = (&article.source, &article.article, part + 1);
    match (part < parts, language.is_chinese()) {
        (true, true) => format!(
            "（這一條很長，這是 {parts} 段中的第 {part} 段。接著讀：read_article，source=\"{source}\"，article=\"{address}~{next}\"。）"
        ),
        (true, false) => format!(
            "(This article is long: part {part} of {parts}. Read on with read_article, source \"{source}\", article \
             \"{address}~{next}\".)"
        ),
        (false, true) => format!("（這一條很長，這是 {parts} 段中的最後一段。）"),
        (false, false) => format!("(This article is long: this is the last of {parts} parts.)"),
    }
}
