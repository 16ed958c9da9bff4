//! Generations for tests.

use std::sync::{Arc, LazyLock};

use bylaw_contract::{GenerationNumber, SourceName, Timestamp, VersionId};
use tempfile::TempDir;

use crate::{Filter, Found, Generation, Query, SourceInput, Vocabulary, build};

/// A generation and the folder that it lives in.
pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) generation: Generation,
}

/// A document as input.
pub(crate) fn input(name: &str, text: &str) -> SourceInput {
    let name = SourceName::new(name).unwrap();
    let document = bylaw_corpus::read(&name, text.as_bytes()).unwrap();
    SourceInput { name, version: VersionId::new("a".repeat(64)).unwrap(), ingested_at: Timestamp(1), document }
}

/// Builds and opens a generation of these documents, which must be in the order of their names.
pub(crate) fn fixture(documents: &[(&str, &str)]) -> Fixture {
    static BUILTIN: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| Arc::new(Vocabulary::builtin()));
    fixture_of(documents, &BUILTIN)
}

/// The same with another vocabulary.
pub(crate) fn fixture_with(documents: &[(&str, &str)], vocabulary: Vocabulary) -> Fixture {
    fixture_of(documents, &Arc::new(vocabulary))
}

fn fixture_of(documents: &[(&str, &str)], vocabulary: &Arc<Vocabulary>) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let mut sources = documents.iter().map(|(name, text)| input(name, text));
    build(folder.path(), GenerationNumber(7), &mut sources, 0, &mut |_| true).unwrap();
    let generation = Generation::open(folder.path(), Arc::clone(vocabulary)).unwrap();
    Fixture { folder, generation }
}

impl Fixture {
    /// Searches everything.
    pub(crate) fn search(&self, question: &str) -> Found {
        self.search_in(question, 5, Filter::default())
    }

    /// Searches under a filter.
    pub(crate) fn search_in(&self, question: &str, k: usize, filter: Filter<'_>) -> Found {
        self.generation.search(&Query { question, k, filter, follow_references: true }).unwrap()
    }

    /// Ids of what a question finds, without references.
    pub(crate) fn ids(&self, question: &str) -> Vec<String> {
        ids(&self.search(question))
    }
}

/// Ids of the hits.
pub(crate) fn ids(found: &Found) -> Vec<String> {
    found.hits.iter().map(|hit| hit.article.id.to_string()).collect()
}

/// What is highlighted in the best hit with this id.
pub(crate) fn highlighted(found: &Found, id: &str) -> Vec<String> {
    let hit = found.hits.iter().find(|hit| hit.article.id.to_string() == id).unwrap();
    hit.highlights.iter().map(|span| span.of(&hit.article.text).unwrap().to_owned()).collect()
}

/// A small rulebook with chapters, branches, a number in full-width digits, and references.
pub(crate) const RULES: (&str, &str) = (
    "work_rules.md",
    "# 工作規則\n\n## 第一章 總則\n\n第一條（目的）\n本規則依勞動基準法訂定。\n\n## 第二章 工作時間與休假\n\n\
     第二十六條（特別休假）\n員工繼續服務滿六個月未滿一年者，特別休假三日；滿一年未滿二年者，七日；滿二年未滿三年者，十日。\n\n\
     第二十六條之一（遞延）\n未休之特別休假，經協商得遞延至次一年度實施，遞延以一次為限。\n\n\
     第二十七條（事假）\n事假一年合計不得超過十四日，不給工資。\n\n\
     第二十八條（病假）\n普通傷病假未住院者，一年合計不得超過三十日；工資折半發給。依第二十七條之程序請假。\n\n\
     第二十九條（加班）\n加班應事先申請，加班費依法發給。\n\n## 第三章 出差\n\n\
     第四十條（住宿標準）\n住宿費每日上限新臺幣２，４００元，檢據核實報支。\n\n\
     第四十一條（出差餐費與日支費）\n日支費每日新臺幣 800 元。出差者之請假，準用前條及第二十六條之規定。\n",
);

/// A short English handbook.
pub(crate) const HANDBOOK: (&str, &str) = (
    "handbook_en.md",
    "# Employee Handbook\n\n## Part 1. General\n\n### Article 12 (Remote work)\n\nEmployees may work remotely up to two \
     days per week with written approval.\n\n### Article 13 (Annual leave)\n\nEvery employee is entitled to 25 days of \
     annual leave. Unused days lapse.\n",
);
