//! What articles name: other articles, chapters, other laws.

mod english;
mod names;
mod relative;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use bylaw_contract::{ArticleAddress, Span};

use crate::{
    document::{Article, HeadingKind, Reference, ReferenceTarget},
    language::is_chinese,
    mentions::{ArticleMention, article_mentions},
};
use names::{Definitions, Owner};

/// Where a record of a collection stands: its law, counted from 1, and its number in it.
pub(crate) struct Place {
    pub(crate) group: Option<usize>,
    pub(crate) number: Option<ArticleAddress>,
}

/// Fills in the references of every article of a document.
pub(crate) fn resolve(text: &str, title: Option<&str>, articles: &mut [Article]) {
    let definitions = Definitions::find(text, title);
    let numbers: Vec<_> = articles.iter().map(|article| Some(article.address.clone())).collect();
    resolve_group(text, &definitions, &numbers, articles);
}

/// Fills in the references of the records of a collection, each within its law. Records without a law have none.
pub(crate) fn resolve_records(text: &str, laws: &[String], articles: &mut [Article], places: &[Place]) {
    let mut start = 0;
    for group in places.chunk_by(|before, after| before.group == after.group) {
        let end = start + group.len();
        if let Some(law) = group[0].group.and_then(|group| laws.get(group - 1)) {
            let members = &mut articles[start..end];
            let whole =
                members.first().zip(members.last()).map(|(first, last)| Span::new(first.span.start, last.span.end));
            let words = whole.and_then(|span| span.of(text)).unwrap_or_default();
            let definitions = Definitions::find(words, Some(law));
            let numbers: Vec<_> = group.iter().map(|place| place.number.clone()).collect();
            resolve_group(text, &definitions, &numbers, members);
        }
        start = end;
    }
}

/// What a document knows of itself while its references are resolved.
struct Group<'group> {
    definitions: &'group Definitions,
    /// Positions by number; the first wins where a number occurs twice.
    positions: HashMap<&'group ArticleAddress, usize>,
    /// Addresses by position.
    addresses: Vec<ArticleAddress>,
    /// Whether the article at a position has a number, as opposed to a preamble or an annex.
    numbered: Vec<bool>,
    /// Headings that exist.
    headings: Vec<(HeadingKind, u32)>,
}

fn resolve_group(text: &str, definitions: &Definitions, numbers: &[Option<ArticleAddress>], articles: &mut [Article]) {
    let mut positions = HashMap::new();
    for (at, number) in numbers.iter().enumerate() {
        if let Some(number) = number {
            positions.entry(number).or_insert(at);
        }
    }
    let mut headings: Vec<_> = articles
        .iter()
        .flat_map(|article| &article.heading_path)
        .filter_map(|heading| heading.number.map(|number| (heading.kind, number)))
        .collect();
    headings.sort_unstable();
    headings.dedup();
    let starts_with_digit = |number: &ArticleAddress| number.as_str().starts_with(|c: char| c.is_ascii_digit());
    let group = Group {
        definitions,
        positions,
        addresses: articles.iter().map(|article| article.address.clone()).collect(),
        numbered: numbers.iter().map(|number| number.as_ref().is_some_and(starts_with_digit)).collect(),
        headings,
    };
    for (at, article) in articles.iter_mut().enumerate() {
        let body = article.span.of(text).unwrap_or_default();
        let mut found = group.scan(at, article, body);
        for reference in &mut found {
            let origin = article.span.start;
            reference.span = Span::new(origin + reference.span.start, origin + reference.span.end);
        }
        article.references = found;
    }
}

impl Group<'_> {
    /// The references in a body, in order, without two over the same words.
    fn scan(&self, at: usize, article: &Article, body: &str) -> Vec<Reference> {
        let mut found = Vec::new();
        self.named_articles(at, body, &mut found);
        self.relative(at, article, body, &mut found);
        for (span, name) in names::named_documents(body, self.definitions) {
            found.push(Reference { span, target: ReferenceTarget::OtherDocument { name, article: None } });
        }
        found.sort_by_key(|reference| (reference.span.start, std::cmp::Reverse(reference.span.end)));
        let mut end = 0;
        found.retain(|reference| {
            let keep = reference.span.start >= end;
            if keep {
                end = reference.span.end;
            }
            keep
        });
        found
    }

    /// 第 33 條, 第 12 條至第 15 條, 勞動基準法第 38 條, Articles 3 to 5, Section 4.2.
    fn named_articles(&self, at: usize, body: &str, found: &mut Vec<Reference>) {
        let mentions = article_mentions(body);
        let after = self.owners_after(body, &mentions);
        let mut owner: Option<Owner> = None;
        let mut index = 0;
        while index < mentions.len() {
            let first = &mentions[index];
            let before = index.checked_sub(1).map(|before| mentions[before].span.end);
            let gap = before.and_then(|end| body.get(end..first.span.start));
            index += 1;
            let bare = first.span.of(body).is_some_and(|words| words.starts_with(char::is_numeric));
            // A bare number is only a reference as part of a list; 26條 alone is how questions are written.
            if bare && gap.is_none_or(|gap| gap.chars().count() > 5) {
                continue;
            }
            // In a list, the law named before the first article is that of all.
            if !gap.is_some_and(names::continues_list) {
                owner = names::owner(body, first.span, self.definitions);
            }
            let last = mentions.get(index).filter(|next| is_range(body, first, next));
            index += usize::from(last.is_some());
            let last_after = after[index - 1].clone();
            let span = Span::new(first.span.start, last.unwrap_or(first).span.end);
            match last_after.or_else(|| owner.clone()) {
                Some(Owner::Unknown) => {}
                Some(Owner::Other { name, start }) => {
                    let start = start.filter(|start| found.last().is_none_or(|last| last.span.end <= *start));
                    let span = Span::new(start.unwrap_or(span.start).min(span.start), span.end);
                    let article = Some(first.address.clone());
                    found.push(Reference { span, target: ReferenceTarget::OtherDocument { name, article } });
                }
                None => found.extend(self.own(at, span, first, last)),
            }
        }
    }

    /// The law named behind each mention: Article 3 and Article 5 of the Labor Standards Act names it for both.
    fn owners_after(&self, body: &str, mentions: &[ArticleMention]) -> Vec<Option<Owner>> {
        let mut owners: Vec<Option<Owner>> = vec![None; mentions.len()];
        for (index, mention) in mentions.iter().enumerate().rev() {
            let next = mentions.get(index + 1);
            let joined = next.and_then(|next| body.get(mention.span.end..next.span.start));
            owners[index] = match joined {
                Some(between) if names::continues_english_list(between) => owners[index + 1].clone(),
                _ => names::owner_after(body, mention.span.end, self.definitions),
            };
        }
        owners
    }

    /// A reference to articles of this document, or to one that is missing.
    fn own(&self, at: usize, span: Span, first: &ArticleMention, last: Option<&ArticleMention>) -> Option<Reference> {
        let Some(from) = self.position(&first.address) else {
            let article = first.address.clone();
            return Some(Reference { span, target: ReferenceTarget::Missing { article } });
        };
        let to = last.and_then(|last| self.position(&last.address)).unwrap_or(from);
        self.articles(at, span, from..=to)
    }

    fn position(&self, address: &ArticleAddress) -> Option<usize> {
        // 第4.2條 and Section 4-2 are written either way.
        self.positions.get(address).copied().or_else(|| {
            let swapped = ArticleAddress::new(address.as_str().replace('.', "-")).ok()?;
            self.positions.get(&swapped).copied()
        })
    }

    /// A reference to the articles at these positions, without the one that refers and those without a number.
    fn articles(&self, at: usize, span: Span, positions: std::ops::RangeInclusive<usize>) -> Option<Reference> {
        /// A range such as 第一條至第九百條 stands for its first articles; nothing reads them all.
        const MOST: usize = 64;
        let articles: Vec<_> = positions
            .filter(|position| *position != at && self.numbered.get(*position) == Some(&true))
            .take(MOST)
            .map(|position| self.addresses[position].clone())
            .collect();
        (!articles.is_empty()).then_some(Reference { span, target: ReferenceTarget::Articles { articles } })
    }

    fn relative(&self, at: usize, article: &Article, body: &str, found: &mut Vec<Reference>) {
        let english = !body.chars().take(200).any(is_chinese);
        let places = if english { english::relative(body) } else { relative::relative(body) };
        for (span, relation) in places {
            found.extend(self.resolve_relation(at, article, span, &relation));
        }
    }

    fn resolve_relation(&self, at: usize, article: &Article, span: Span, relation: &Relation) -> Option<Reference> {
        let heading = |kind: HeadingKind, number: u32| {
            self.headings
                .contains(&(kind, number))
                .then_some(Reference { span, target: ReferenceTarget::Heading { heading: kind, number } })
        };
        let above = |kind: HeadingKind| {
            article.heading_path.iter().rev().find(|heading| heading.kind == kind).and_then(|heading| heading.number)
        };
        match relation {
            // 前條 of an annex or a preamble names nothing.
            Relation::Previous(_) | Relation::Next if !self.numbered[at] => None,
            Relation::Previous(count) => {
                let from = at.checked_sub(*count)?;
                self.articles(at, span, from..=at - 1)
            }
            Relation::Next => self.articles(at, span, at + 1..=at + 1),
            Relation::ThisHeading(kind) => heading(*kind, above(*kind)?),
            Relation::BesideHeading(kind, step) => heading(*kind, above(*kind)?.checked_add_signed(*step)?),
            Relation::NamedHeading(kind, number) => heading(*kind, *number),
            Relation::Annex(number) => {
                let address = ArticleAddress::new(format!("annex-{number}")).ok()?;
                let position = self.position(&address).filter(|position| *position != at)?;
                let articles = vec![self.addresses[position].clone()];
                Some(Reference { span, target: ReferenceTarget::Articles { articles } })
            }
        }
    }
}

/// Words that name something by where they stand.
#[derive(Debug, PartialEq, Eq)]
enum Relation {
    /// 前條, 前二條.
    Previous(usize),
    /// 次條.
    Next,
    /// 本章.
    ThisHeading(HeadingKind),
    /// 前章, 次節.
    BesideHeading(HeadingKind, i32),
    /// 第八章.
    NamedHeading(HeadingKind, u32),
    /// 附表二.
    Annex(u32),
}

/// Whether two mentions are the ends of a range: 第 12 條至第 15 條. The 第一項 of 第三條第一項至第五條 is skipped.
fn is_range(body: &str, first: &ArticleMention, last: &ArticleMention) -> bool {
    let Some(between) = body.get(first.span.end..last.span.start) else { return false };
    if between.len() > 60 {
        return false;
    }
    let between = between.trim();
    matches!(between, "to" | "through" | "-" | "–" | "~" | "～" | "－" | "—")
        || between.strip_suffix(['至', '到', '～', '~']).is_some_and(names::is_part_of_article)
}
