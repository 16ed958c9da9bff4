//! Documents without articles: sections below headings, else paragraphs.

use bylaw_contract::{ArticleAddress, Language, Span, sources::Structure};

use crate::{
    document::{Article, Heading, HeadingKind},
    extract::{Extracted, Line, Mark},
    structure::{Headings, heading_text, is_overlong},
    warnings::Warnings,
};

/// A paragraph takes in the next ones until it is this long, in characters.
const SHORTEST: usize = 200;
/// A paragraph does not grow beyond this, in characters.
const LONGEST: usize = 1200;

/// Cuts a document that has no articles.
pub(crate) fn cut(
    extracted: &Extracted,
    title_line: Option<usize>,
    language: Language,
    warnings: &mut Warnings,
) -> (Structure, Vec<Article>) {
    let rest = title_line.map_or(0, |line| line + 1);
    let lines = &extracted.lines[rest..];
    let is_heading = |line: &&Line| matches!(line.mark, Mark::Heading(_)) && !is_overlong(line.of(&extracted.text));
    let is_bold = |line: &&Line| line.mark == Mark::Bold && !is_overlong(line.of(&extracted.text));
    if lines.iter().any(|line| is_heading(&line)) {
        warnings.add(|| "no articles were found; the document is cut at its headings".to_owned());
        return (Structure::Sections, sections(extracted, lines, &|line| is_heading(&line), language, warnings));
    }
    if lines.iter().filter(is_bold).count() >= 2 {
        warnings.add(|| "no articles were found; the document is cut at its bold lines".to_owned());
        return (Structure::Sections, sections(extracted, lines, &|line| is_bold(&line), language, warnings));
    }
    warnings.add(|| "no articles and no headings were found; the document is cut into paragraphs".to_owned());
    // A document that is nothing but its title still says that.
    let lines = if lines.is_empty() { &extracted.lines[..] } else { lines };
    (Structure::Paragraphs, paragraphs(extracted, lines, language))
}

fn sections(
    extracted: &Extracted,
    lines: &[Line],
    is_heading: &dyn Fn(&Line) -> bool,
    language: Language,
    warnings: &mut Warnings,
) -> Vec<Article> {
    let mut articles: Vec<Article> = Vec::new();
    let mut headings = Headings::default();
    let mut at = 0;
    let mut count = 0;
    while at < lines.len() {
        let heading = is_heading(&lines[at]).then(|| lines[at]);
        let first = at + usize::from(heading.is_some());
        let end = lines[first..].iter().position(is_heading).map_or(lines.len(), |offset| first + offset);
        let below = lines.get(end).map(Line::level);
        let mut title = if language.is_chinese() { "前言".to_owned() } else { "Preamble".to_owned() };
        let mut address = "preamble".to_owned();
        if let Some(line) = heading {
            title = heading_text(extracted, line.of(&extracted.text));
            headings.close(HeadingKind::Other, line.level());
        }
        let heading_path = headings.path();
        if let Some(line) = heading {
            headings.push(Heading { kind: HeadingKind::Other, number: None, text: title.clone() }, line.level());
        }
        let is_parent = heading.is_some_and(|line| below.is_some_and(|level| level > line.level()));
        at = end;
        if first == end && is_parent {
            continue;
        }
        if heading.is_some() {
            count += 1;
            address = format!("s{count}");
        }
        if first == end {
            warnings.add(|| format!("{title}: nothing stands below this heading"));
        }
        let words = if first == end { &lines[first - 1..end] } else { &lines[first..end] };
        articles.extend(article(address, title, heading_path, words));
    }
    articles
}

fn article(address: String, title: String, heading_path: Vec<Heading>, lines: &[Line]) -> Option<Article> {
    let span = Span::new(lines.first()?.span().start, lines.last()?.span().end);
    let address = ArticleAddress::new(address).ok()?;
    Some(Article { address, title, caption: None, heading_path, span, references: Vec::new() })
}

fn paragraphs(extracted: &Extracted, lines: &[Line], language: Language) -> Vec<Article> {
    let mut articles = Vec::new();
    let mut open: Option<(Span, usize)> = None;
    let mut close = |span: Span| {
        let number = articles.len() + 1;
        let title = if language.is_chinese() { format!("段落 {number}") } else { format!("Paragraph {number}") };
        if let Ok(address) = ArticleAddress::new(format!("p{number}")) {
            articles.push(Article {
                address,
                title,
                caption: None,
                heading_path: Vec::new(),
                span,
                references: Vec::new(),
            });
        }
    };
    for line in lines {
        let length = line.of(&extracted.text).chars().count();
        open = match open {
            Some((span, before)) => {
                // Lines that stand together stay together; blank lines and size decide where to part.
                let enough = before >= SHORTEST && line.after_blank;
                if enough || before + length > LONGEST {
                    close(span);
                    Some((line.span(), length))
                } else {
                    Some((Span::new(span.start, line.span().end), before + length))
                }
            }
            None => Some((line.span(), length)),
        };
    }
    if let Some((span, _)) = open {
        close(span);
    }
    articles
}
