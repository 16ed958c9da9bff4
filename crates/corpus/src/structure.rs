//! From lines to articles: which lines are headings, what lies below which, and what to do without any.

use std::collections::HashMap;

use bylaw_contract::{ArticleAddress, Language, Span, sources::Structure};

use crate::{
    chinese,
    document::{Article, Document, Heading, HeadingKind},
    english,
    extract::{Extracted, Line, Mark, PLAIN_LEVEL},
    fallback, language, markdown,
    marker::{Marker, MarkerKind, Unit},
    references,
    selection::{self, Candidate},
    warnings::Warnings,
};

/// Longest title or heading that is kept, in characters. One heading is copied to each article below it.
const LONGEST_TITLE: usize = 200;

/// Cuts an extracted text into articles, or into sections or paragraphs where it has none.
pub(crate) fn build(extracted: Extracted) -> Document {
    let language = language::of(&extracted.text);
    let mut warnings = Warnings::default();
    let candidates = candidates(&extracted);
    let selected = selection::select(&extracted.lines, candidates);
    let (title, title_line) = title(&extracted, &selected);
    let structure;
    let mut articles;
    if selected.iter().any(|candidate| matches!(candidate.marker.kind, MarkerKind::Article(..))) {
        structure = Structure::Articles;
        articles = Builder::new(&extracted, language, &selected, &mut warnings).run(title_line);
    } else {
        (structure, articles) = fallback::cut(&extracted, title_line, language, &mut warnings);
    }
    references::resolve(&extracted.text, title.as_deref(), &mut articles);
    Document {
        title,
        text: extracted.text,
        language,
        structure,
        articles,
        extractor: extracted.extractor.to_owned(),
        warnings: warnings.finish(),
    }
}

fn candidates(extracted: &Extracted) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (at, line) in extracted.lines.iter().enumerate() {
        if line.mark == Mark::Inert {
            continue;
        }
        let words = line.of(&extracted.text);
        let marked = line.mark != Mark::Text;
        if let Some(marker) = chinese::marker(words, marked).or_else(|| english::marker(words, marked)) {
            found.push(Candidate { line: at, marker });
        }
    }
    found
}

/// The document's title, and the line it stands on.
fn title(extracted: &Extracted, selected: &[Candidate]) -> (Option<String>, Option<usize>) {
    const LONGEST_PLAIN_TITLE: usize = 60;
    let Some(first) = extracted.lines.first() else { return (extracted.title.clone(), None) };
    if selected.first().is_some_and(|candidate| candidate.line == 0) {
        return (extracted.title.clone(), None);
    }
    let words = first.of(&extracted.text);
    let is_title = match first.mark {
        Mark::Heading(level) => {
            !extracted.lines[1..].iter().any(|line| line.mark == Mark::Heading(level)) || level == 1
        }
        Mark::Bold => true,
        Mark::Text => {
            let short = words.chars().take(LONGEST_PLAIN_TITLE + 1).count() <= LONGEST_PLAIN_TITLE;
            let sentence = words.contains(['。', '，', '；']) || words.ends_with(['.', ':', '：', ';', ',']);
            let apart = extracted.lines.get(1).is_none_or(|next| next.after_blank)
                || selected.first().is_some_and(|candidate| candidate.line == 1);
            short && !sentence && apart
        }
        Mark::Inert => false,
    };
    if !is_title {
        return (extracted.title.clone(), None);
    }
    (extracted.title.clone().or_else(|| Some(heading_text(extracted, words))), Some(0))
}

/// A heading's words as shown: no markup, one line, bounded.
pub(crate) fn heading_text(extracted: &Extracted, words: &str) -> String {
    let mut text: String = words.chars().take(LONGEST_TITLE * 2).collect();
    if extracted.extractor.starts_with("markdown") {
        text = markdown::without_marks(&text);
    }
    if text.chars().count() > LONGEST_TITLE {
        text = text.chars().take(LONGEST_TITLE - 1).collect();
        text.push('…');
    }
    text
}

/// Whether a heading is too long to be one; its words are then kept as text.
pub(crate) fn is_overlong(words: &str) -> bool {
    words.len() > LONGEST_TITLE && words.chars().take(LONGEST_TITLE + 1).count() > LONGEST_TITLE
}

/// Headings that are open, outermost first.
#[derive(Default)]
pub(crate) struct Headings {
    open: Vec<(Heading, u8)>,
}

impl Headings {
    /// Closes what a heading of this kind and level ends.
    pub(crate) fn close(&mut self, kind: HeadingKind, level: u8) {
        while let Some((top, top_level)) = self.open.last() {
            let ends = if top.kind == HeadingKind::Other || kind == HeadingKind::Other {
                *top_level >= level
            } else {
                top.kind >= kind
            };
            if !ends {
                break;
            }
            self.open.pop();
        }
    }

    /// Closes what a heading ends, then opens it.
    pub(crate) fn push(&mut self, heading: Heading, level: u8) {
        self.close(heading.kind, level);
        self.open.push((heading, level));
    }

    /// The open headings.
    pub(crate) fn path(&self) -> Vec<Heading> {
        self.open.iter().map(|(heading, _)| heading.clone()).collect()
    }

    fn innermost(&self) -> Option<&Heading> {
        self.open.last().map(|(heading, _)| heading)
    }
}

/// An article whose end has not been met.
struct Open {
    address: String,
    title: String,
    caption: Option<String>,
    heading_path: Vec<Heading>,
    /// Its heading's words: its span if it has no others.
    heading: Span,
    level: u8,
    body: Option<Span>,
    /// It is also the heading of the articles behind it (4 of 4.1): without a body it is only that.
    is_parent: bool,
}

struct Builder<'document> {
    extracted: &'document Extracted,
    language: Language,
    selected: &'document [Candidate],
    warnings: &'document mut Warnings,
    articles: Vec<Article>,
    addresses: HashMap<String, usize>,
    headings: Headings,
    open: Option<Open>,
    preambles: usize,
    annexes: usize,
}

impl<'document> Builder<'document> {
    fn new(
        extracted: &'document Extracted,
        language: Language,
        selected: &'document [Candidate],
        warnings: &'document mut Warnings,
    ) -> Self {
        Self {
            extracted,
            language,
            selected,
            warnings,
            articles: Vec::new(),
            addresses: HashMap::new(),
            headings: Headings::default(),
            open: None,
            preambles: 0,
            annexes: 0,
        }
    }

    fn run(mut self, title_line: Option<usize>) -> Vec<Article> {
        let (lines, selected) = (&self.extracted.lines, self.selected);
        let mut next = 0;
        for (at, line) in lines.iter().enumerate() {
            match selected.get(next).filter(|candidate| candidate.line == at) {
                Some(candidate) => {
                    next += 1;
                    self.begin(candidate, line, next);
                }
                None if Some(at) == title_line => {}
                None => self.line(line),
            }
        }
        self.close();
        self.articles
    }

    /// A line that is no selected marker.
    fn line(&mut self, line: &Line) {
        let words = line.of(&self.extracted.text);
        if let Mark::Heading(level) = line.mark
            && !is_overlong(words)
            && self.open.as_ref().is_none_or(|open| open.level >= level)
        {
            self.close();
            let text = heading_text(self.extracted, words);
            self.headings.push(Heading { kind: HeadingKind::Other, number: None, text }, level);
            return;
        }
        self.extend(line.span());
    }

    /// Words that belong to the open article, or to a preamble if none is open.
    fn extend(&mut self, span: Span) {
        if self.open.is_none() {
            self.preambles += 1;
            let address =
                if self.preambles == 1 { "preamble".to_owned() } else { format!("preamble-{}", self.preambles) };
            let name = if self.language.is_chinese() { "前言" } else { "Preamble" };
            let title = match self.headings.innermost() {
                Some(heading) if heading.kind == HeadingKind::Other => heading.text.clone(),
                Some(heading) => format!("{} {name}", heading.text),
                None => name.to_owned(),
            };
            let heading_path = self.headings.path();
            self.open = Some(Open {
                address,
                title,
                caption: None,
                heading_path,
                heading: span,
                level: PLAIN_LEVEL,
                body: None,
                is_parent: false,
            });
        }
        if let Some(open) = self.open.as_mut() {
            let start = open.body.map_or(span.start, |body| body.start);
            open.body = Some(Span::new(start, span.end));
        }
    }

    fn begin(&mut self, candidate: &Candidate, line: &Line, next: usize) {
        self.close();
        let words = line.of(&self.extracted.text);
        let marker = &candidate.marker;
        let level = line.level();
        match &marker.kind {
            MarkerKind::Division(kind, number) => {
                let text = heading_text(self.extracted, words);
                self.headings.push(Heading { kind: *kind, number: *number, text }, level);
            }
            MarkerKind::Article(unit, numbers) => self.begin_article(marker, line, words, (*unit, numbers), next),
            MarkerKind::Annex(label) => {
                self.annexes += 1;
                let address = format!("annex-{}", label.clone().unwrap_or_else(|| self.annexes.to_string()));
                self.headings.close(HeadingKind::Book, 1);
                self.open_article(marker, line, words, address, false);
            }
        }
    }

    fn begin_article(
        &mut self,
        marker: &Marker,
        line: &Line,
        words: &str,
        (unit, numbers): (Unit, &[u32]),
        next: usize,
    ) {
        let separator = if matches!(unit, Unit::Tiao | Unit::Article) { "-" } else { "." };
        let address = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(separator);
        if matches!(unit, Unit::Tiao | Unit::Article) {
            // A heading of no known kind that stands beside the article does not stand above it.
            if line.level() < PLAIN_LEVEL {
                self.headings.close(HeadingKind::Other, line.level());
            }
            return self.open_article(marker, line, words, address, false);
        }
        let depth = numbers.len() + usize::from(unit == Unit::Section);
        let kind = match depth {
            1 => HeadingKind::Chapter,
            2 => HeadingKind::Section,
            3 => HeadingKind::Subsection,
            _ => HeadingKind::Item,
        };
        let is_parent = self.selected.get(next).is_some_and(|candidate| {
            matches!(&candidate.marker.kind, MarkerKind::Article(_, below) if below.len() > numbers.len() && below.starts_with(numbers))
        });
        self.headings.close(kind, line.level());
        self.open_article(marker, line, words, address, is_parent);
        if is_parent {
            let text = heading_text(self.extracted, &words[..marker.title_end]);
            self.headings.push(Heading { kind, number: numbers.last().copied(), text }, line.level());
        }
    }

    fn open_article(&mut self, marker: &Marker, line: &Line, words: &str, address: String, is_parent: bool) {
        let origin = line.span().start;
        let title =
            words[..marker.title_end].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '：' | ':' | '、'));
        let caption = marker.caption.map(|(start, end)| heading_text(self.extracted, words[start..end].trim()));
        let heading = Span::new(origin, origin + title.len());
        self.open = Some(Open {
            address,
            title: heading_text(self.extracted, title),
            caption: caption.filter(|caption| !caption.is_empty()),
            heading_path: self.headings.path(),
            heading,
            level: line.level(),
            body: marker.body.map(|start| Span::new(origin + start, line.span().end)),
            is_parent,
        });
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        if open.body.is_none() {
            if open.is_parent {
                return;
            }
            if !is_deleted(open.caption.as_deref()) {
                self.warnings.add(|| format!("{}: nothing stands below this heading", open.title));
            }
        }
        let address = self.unique(open.address, &open.title);
        self.articles.push(Article {
            address,
            title: open.title,
            caption: open.caption,
            heading_path: open.heading_path,
            span: open.body.unwrap_or(open.heading),
            references: Vec::new(),
        });
    }

    /// Tells apart two articles of one number.
    fn unique(&mut self, address: String, title: &str) -> ArticleAddress {
        let seen = self.addresses.entry(address.clone()).or_default();
        *seen += 1;
        let unique = if *seen == 1 { address } else { format!("{address}~{seen}") };
        if *seen > 1 {
            self.warnings.add(|| format!("{title}: this number occurs again; the article is kept as {unique}"));
        }
        ArticleAddress::new(unique).unwrap_or_else(|_| ArticleAddress::numbered(u32::MAX, &[]))
    }
}

fn is_deleted(caption: Option<&str>) -> bool {
    caption.is_some_and(|caption| {
        matches!(caption, "刪除" | "删除" | "已刪除" | "已删除" | "廢止" | "废止" | "保留")
            || ["deleted", "repealed", "reserved"].iter().any(|word| caption.eq_ignore_ascii_case(word))
    })
}

#[cfg(test)]
mod tests;
