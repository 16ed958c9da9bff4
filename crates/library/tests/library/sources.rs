//! What is shown of sources; deleting and bringing back; swapping generations under readers.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use crate::support::{House, UNDO_WINDOW, found, ingest, name, names, request, rules};
use bylaw_contract::{ArticleAddress, Timestamp, sources::Structure};
use bylaw_library::LibraryError;

fn addresses(list: &[&str]) -> Vec<ArticleAddress> {
    list.iter().map(|text| ArticleAddress::new(*text).unwrap()).collect()
}

#[tokio::test]
async fn a_source_is_shown_with_outline_and_versions() {
    let house = House::new().await;
    let file = house.write("rules.md", "# 員工工作規則\n\n## 第一章 總則\n\n### 第 1 條（目的）\n\n為規範勞動條件。\n\n## 第二章 請假\n\n### 第 2 條（特別休假）\n\n滿六個月者，給予三日。\n");
    let library = house.open().await;
    ingest(&library, &[file], false).await;
    let detail = library.source(&name("rules.md"), &request()).await.unwrap();
    assert_eq!(library.sources().await.unwrap(), std::slice::from_ref(&detail.summary));
    assert_eq!(detail.summary.title.as_deref(), Some("員工工作規則"));
    assert_eq!((detail.summary.chunks, detail.summary.structure), (2, Structure::Articles));
    assert_eq!(detail.summary.articles, addresses(&["1", "2"]));
    assert_eq!(detail.summary.ingested_at, Timestamp(1_000_000));
    let outline: Vec<(&str, &str)> = detail
        .outline
        .iter()
        .map(|entry| (entry.heading_path.last().unwrap().as_str(), entry.title.as_str()))
        .collect();
    assert_eq!(outline, [("第一章 總則", "第 1 條（目的）"), ("第二章 請假", "第 2 條（特別休假）")]);
    let [version] = detail.versions.as_slice() else { panic!("{:?}", detail.versions) };
    assert_eq!((&version.version, version.articles, version.current), (&detail.summary.version, 2, true));
    assert_eq!((detail.difference, detail.request_id), (None, request()));
}

#[tokio::test]
async fn the_difference_names_articles_that_are_new_changed_or_gone() {
    let house = House::new().await;
    let article = |number: u32, text: &str| format!("## 第 {number} 條\n\n{text}\n\n");
    let file = house.write("a.md", [article(1, "甲。"), article(2, "乙。"), article(3, "丙。")].concat());
    let library = house.open().await;
    ingest(&library, std::slice::from_ref(&file), false).await;
    std::fs::write(&file, [article(1, "甲。"), article(3, "丁。"), article(4, "戊。")].concat()).unwrap();
    ingest(&library, &[file], false).await;
    let difference = library.source(&name("a.md"), &request()).await.unwrap().difference.unwrap();
    assert_eq!(difference.added, addresses(&["4"]));
    assert_eq!(difference.changed, addresses(&["3"]));
    assert_eq!(difference.removed, addresses(&["2"]));
}

#[tokio::test]
async fn a_deleted_source_stops_answering_at_once_and_can_be_brought_back_for_a_while() {
    let house = House::new().await;
    house.write("rules/a.md", rules("請假", 3));
    house.write("rules/b.md", rules("出差", 2));
    let library = house.open().await;
    ingest(&library, &[house.path("rules")], false).await;
    let deleted = library.delete(&name("a.md"), &request()).await.unwrap();
    assert_eq!((deleted.removed, deleted.chunks_left), (3, 2));
    assert_eq!(deleted.undo_until, Timestamp(1_000_000 + UNDO_WINDOW));
    assert!(found(&library.generation(), "請假").is_empty());
    assert!(matches!(library.source(&name("a.md"), &request()).await, Err(LibraryError::SourceNotFound(_))));
    assert!(matches!(library.delete(&name("a.md"), &request()).await, Err(LibraryError::SourceNotFound(_))));

    house.clock.advance(UNDO_WINDOW);
    let undone = library.undo_delete(&name("a.md"), &request()).await.unwrap();
    assert_eq!(undone.chunks, 3);
    assert_eq!(found(&library.generation(), "請假"), ["a.md"]);

    library.delete(&name("a.md"), &request()).await.unwrap();
    house.clock.advance(UNDO_WINDOW + 1);
    assert!(matches!(library.undo_delete(&name("a.md"), &request()).await, Err(LibraryError::NothingToUndo(_))));
}

#[tokio::test]
async fn there_is_nothing_to_undo_for_what_was_never_deleted() {
    let house = House::new().await;
    let file = house.write("a.md", rules("請假", 1));
    let library = house.open().await;
    ingest(&library, &[file], false).await;
    for source in ["a.md", "nowhere.md"] {
        let undone = library.undo_delete(&name(source), &request()).await;
        assert!(matches!(undone, Err(LibraryError::NothingToUndo(_))), "{source}: {undone:?}");
    }
}

#[tokio::test]
async fn the_last_source_can_be_deleted_and_brought_back() {
    let house = House::new().await;
    let file = house.write("a.md", rules("請假", 1));
    let library = house.open().await;
    ingest(&library, &[file], false).await;
    assert_eq!(library.delete(&name("a.md"), &request()).await.unwrap().chunks_left, 0);
    assert!(names(&library).is_empty());
    assert!(names(&*house.open().await).is_empty());
    library.undo_delete(&name("a.md"), &request()).await.unwrap();
    assert_eq!(names(&library), ["a.md"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_during_twenty_swaps_always_see_one_whole_generation() {
    let house = House::new().await;
    let file = house.write("a.md", rules("版本零", 5));
    let library = house.open().await;
    ingest(&library, std::slice::from_ref(&file), false).await;
    let (stop, searches) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (library, stop, searches) = (Arc::clone(&library), Arc::clone(&stop), Arc::clone(&searches));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let generation = library.generation();
                    let source = generation.sources()[0].clone();
                    let query = bylaw_retrieval::Query {
                        question: "員工應依本條辦理",
                        k: 10,
                        filter: bylaw_retrieval::Filter::default(),
                        follow_references: false,
                    };
                    let hits = generation.search(&query).unwrap().hits;
                    assert_eq!(hits.len(), 5);
                    assert!(hits.iter().all(|hit| hit.article.version == source.version), "articles of two versions");
                    searches.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for round in 1..=20 {
        std::fs::write(&file, rules(&format!("版本{round}"), 5)).unwrap();
        ingest(&library, std::slice::from_ref(&file), false).await;
    }
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.join().unwrap();
    }
    assert!(searches.load(Ordering::Relaxed) > 0);
    assert_eq!(library.generation().number().0, 21);
}

#[tokio::test]
async fn changes_at_the_same_time_are_made_one_after_another() {
    let house = House::new().await;
    for source in ["a", "b", "c", "d"] {
        house.write(&format!("{source}/{source}.md"), rules(source, 1));
    }
    let library = house.open().await;
    let roots = ["a", "b", "c", "d"].map(|folder| [house.path(folder)]);
    let [one, two, three, four] = &roots;
    tokio::join!(
        ingest(&library, one, false),
        ingest(&library, two, false),
        ingest(&library, three, false),
        ingest(&library, four, false),
    );
    assert_eq!(names(&library), ["a.md", "b.md", "c.md", "d.md"]);
    assert_eq!(library.generation().number().0, 4);
}
