//! JSONL collections: one object a line, each an article.

use std::{borrow::Cow, collections::HashSet};

use bylaw_contract::{ArticleAddress, SourceName, Span, sources::Structure};
use serde::Deserialize;

use crate::{
    CorpusError, chinese, decode,
    document::{Article, Document, Heading, HeadingKind},
    english,
    extract::trimmed,
    language,
    marker::MarkerKind,
    references,
    warnings::Warnings,
};

/// A line of a collection; other fields are ignored.
#[derive(Deserialize)]
struct Record<'line> {
    #[serde(alias = "_id", borrow)]
    id: Id<'line>,
    title: Option<Cow<'line, str>>,
    #[serde(borrow)]
    text: Cow<'line, str>,
    chapter: Option<Cow<'line, str>>,
    law: Option<Cow<'line, str>>,
    no: Option<Cow<'line, str>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Id<'line> {
    Text(#[serde(borrow)] Cow<'line, str>),
    Number(i64),
}

/// Reads a collection.
pub(crate) fn read(name: &SourceName, bytes: &[u8]) -> Result<Document, CorpusError> {
    let start = if bytes.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
    let source = std::str::from_utf8(&bytes[start..]).map_err(|error| CorpusError::InvalidEncoding {
        name: name.to_string(),
        offset: start + error.valid_up_to(),
    })?;
    let mut collection = Collection::default();
    for (line, record) in source.split('\n').enumerate() {
        if decode::is_blank(record) {
            continue;
        }
        collection.add(record).map_err(|problem| CorpusError::InvalidRecord {
            name: name.to_string(),
            line: line + 1,
            problem,
        })?;
    }
    if collection.articles.is_empty() {
        return Err(CorpusError::Empty { name: name.to_string() });
    }
    Ok(collection.finish())
}

#[derive(Default)]
struct Collection {
    text: String,
    articles: Vec<Article>,
    /// The law and number of each article that has them.
    places: Vec<references::Place>,
    laws: Vec<String>,
    ids: HashSet<String>,
    addresses: HashSet<ArticleAddress>,
    warnings: Warnings,
}

impl Collection {
    fn add(&mut self, line: &str) -> Result<(), String> {
        let record: Record<'_> = serde_json::from_str(line).map_err(|error| problem(&error))?;
        let id = match record.id {
            Id::Text(text) => text.into_owned(),
            Id::Number(number) => number.to_string(),
        };
        if decode::is_blank(&id) {
            return Err("\"id\" is empty".to_owned());
        }
        let title = record.title.map(|title| decode::printable(title.trim())).filter(|title| !title.is_empty());
        let text = decode::printable(&record.text);
        let words = if decode::is_blank(&text) { title.as_deref().unwrap_or_default() } else { &text };
        if decode::is_blank(words) {
            return Err("\"text\" is empty".to_owned());
        }
        if decode::is_blank(&text) {
            self.warnings.add(|| format!("{id}: \"text\" is empty; the article is its title"));
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        let start = self.text.len();
        self.text.push_str(words);
        let span = trimmed(&self.text, Span::new(start, self.text.len()));
        if !self.ids.insert(id.clone()) {
            return Err("this \"id\" occurs on an earlier line".to_owned());
        }
        let address = self.address(&id);
        self.place(record.law.as_deref(), record.no.as_deref());
        self.articles.push(Article {
            title: title.unwrap_or_else(|| address.to_string()),
            address,
            caption: None,
            heading_path: record.chapter.as_deref().and_then(heading).into_iter().collect(),
            span,
            references: Vec::new(),
        });
        Ok(())
    }

    fn place(&mut self, law: Option<&str>, number: Option<&str>) {
        // Collections keep the articles of one law together, so the last law is the one to compare with.
        if let Some(law) = law
            && self.laws.last().map(String::as_str) != Some(law)
        {
            self.laws.push(law.to_owned());
        }
        let group = law.map(|_| self.laws.len());
        let number = number.and_then(|number| ArticleAddress::new(number.trim()).ok());
        self.places.push(references::Place { group, number });
    }

    /// An address for an id: forbidden characters replaced, and told apart where that makes two ids one.
    fn address(&mut self, id: &str) -> ArticleAddress {
        let plain: String =
            id.chars().map(|c| if c.is_whitespace() || c.is_control() || c == '#' { '_' } else { c }).collect();
        let fits = plain.len() <= ArticleAddress::MAX_BYTES;
        let mut address = ArticleAddress::new(plain.as_str()).ok().filter(|_| fits);
        if address.as_ref().is_none_or(|address| self.addresses.contains(address)) {
            let kept = plain.char_indices().take_while(|(at, c)| at + c.len_utf8() <= 40).last();
            let kept = kept.map_or(0, |(at, c)| at + c.len_utf8());
            address = ArticleAddress::new(format!("{}-{:016x}", &plain[..kept], fingerprint(id))).ok();
        }
        let address = address.unwrap_or_else(|| ArticleAddress::numbered(0, &[]));
        self.addresses.insert(address.clone());
        address
    }

    fn finish(mut self) -> Document {
        references::resolve_records(&self.text, &self.laws, &mut self.articles, &self.places);
        Document {
            title: None,
            language: language::of(&self.text),
            text: self.text,
            structure: Structure::Records,
            articles: self.articles,
            extractor: "jsonl/1".to_owned(),
            warnings: self.warnings.finish(),
        }
    }
}

/// FNV-1a: stable over versions of the program, as an address must be.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The message of a JSON error without its position, which counts from the line and not from the file.
fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    let column = error.column();
    format!("column {column}: {}", text[..end].chars().take(200).collect::<String>())
}

fn heading(chapter: &str) -> Option<Heading> {
    const LONGEST: usize = 200;
    let text: String = chapter.trim().chars().take(LONGEST).collect();
    if text.is_empty() {
        return None;
    }
    let marker = chinese::marker(&text, true).or_else(|| english::marker(&text, true));
    let (kind, number) = match marker.map(|marker| marker.kind) {
        Some(MarkerKind::Division(kind, number)) => (kind, number),
        _ => (HeadingKind::Other, None),
    };
    Some(Heading { kind, number, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: &str) -> Result<Document, CorpusError> {
        read(&SourceName::new("a.jsonl").unwrap(), lines.as_bytes())
    }

    #[test]
    fn every_line_is_an_article() {
        let document = parse(
            "{\"id\": \"a 1\", \"title\": \"甲法 第 1 條\", \"text\": \" 依第二條。\\r\\n\", \"law\": \"甲法\", \"no\": \"1\", \"chapter\": \"第 一 章 總則\", \"x\": [1]}\n\n\
             {\"_id\": 7, \"text\": \"依前條。\", \"law\": \"甲法\", \"no\": \"2\"}\n{\"id\": \"空\", \"title\": \"題\", \"text\": \"\"}",
        )
        .unwrap();
        let shown: Vec<_> = document
            .articles
            .iter()
            .map(|article| {
                (article.address.as_str(), article.title.as_str(), document.text_of(article), article.references.len())
            })
            .collect();
        assert_eq!(
            shown,
            [("a_1", "甲法 第 1 條", "依第二條。", 1), ("7", "7", "依前條。", 1), ("空", "題", "題", 0),]
        );
        assert_eq!(document.structure, Structure::Records);
        assert_eq!(document.articles[0].heading_path[0].number, Some(1));
        assert_eq!(document.warnings.len(), 1);
    }

    #[test]
    fn ids_become_addresses_and_stay_apart() {
        let long = "長".repeat(60);
        let lines = ["a b", "a#b", "a_b", long.as_str(), &(long.clone() + "二")]
            .map(|id| format!("{{\"id\": \"{id}\", \"text\": \"t\"}}"));
        let document = parse(&lines.join("\n")).unwrap();
        let addresses: HashSet<_> = document.articles.iter().map(|article| article.address.clone()).collect();
        assert_eq!(addresses.len(), 5);
        assert!(addresses.contains(&ArticleAddress::new("a_b").unwrap()));
    }

    #[test]
    fn a_bad_line_is_named() {
        for (lines, line, part) in [
            ("{\"id\": \"a\", \"text\": \"t\"}\n{", 2, "EOF"),
            ("{\"text\": \"t\"}", 1, "id"),
            ("{\"id\": \"a\"}", 1, "text"),
            ("{\"id\": \"a\", \"text\": 5}", 1, "string"),
            ("{\"id\": \" \", \"text\": \"t\"}", 1, "\"id\" is empty"),
            ("{\"id\": \"a\", \"text\": \" \"}", 1, "\"text\" is empty"),
            ("{\"id\": \"a\", \"text\": \"t\"}\n\n{\"id\": \"a\", \"text\": \"u\"}", 3, "earlier line"),
            ("[1]", 1, ""),
        ] {
            match parse(lines) {
                Err(CorpusError::InvalidRecord { line: found, problem, .. }) => {
                    assert_eq!(found, line, "{lines}: {problem}");
                    assert!(problem.contains(part), "{lines}: {problem}");
                }
                other => panic!("{lines}: {other:?}"),
            }
        }
        assert!(matches!(parse("\n \n"), Err(CorpusError::Empty { .. })));
        assert!(matches!(parse("{\"id\": 1}".get(..0).unwrap()), Err(CorpusError::Empty { .. })));
    }
}
