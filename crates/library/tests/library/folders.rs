//! Ingesting files and folders.

use std::sync::Mutex;

use crate::support::{House, answering, entries, found, ingest, name, names, request, rules};
use bylaw_contract::ErrorCode;
use bylaw_library::{Library, LibraryError, Stage};

#[tokio::test]
async fn a_folder_answers_under_relative_names_and_hidden_and_other_files_do_not() {
    let house = House::new().await;
    house.write("rules/work.md", rules("請假", 3));
    house.write("rules/差旅/差旅.md", rules("出差", 2));
    house.write("rules/.hidden.md", rules("祕密", 1));
    house.write("rules/.git/note.md", rules("祕密", 1));
    let picture = house.write("rules/logo.png", b"\x89PNG");
    let library = house.open().await;
    let report = ingest(&library, &[house.path("rules")], false).await;
    assert_eq!(report.added, [name("work.md"), name("差旅/差旅.md")]);
    assert_eq!(report.skipped, [picture.canonicalize().unwrap()]);
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    let generation = library.generation();
    assert_eq!(generation.number().0, 1);
    assert_eq!(generation.article_count(), 5);
    assert_eq!(found(&generation, "出差"), ["差旅/差旅.md"]);
    assert!(found(&generation, "祕密").is_empty());
}

#[tokio::test]
async fn the_same_bytes_again_change_nothing_and_new_bytes_make_a_version() {
    let house = House::new().await;
    house.write("rules/a.md", rules("請假", 1));
    house.write("rules/b.md", rules("出差", 1));
    let library = house.open().await;
    let roots = [house.path("rules")];
    ingest(&library, &roots, false).await;
    let report = ingest(&library, &roots, false).await;
    assert_eq!(report.unchanged, [name("a.md"), name("b.md")]);
    assert!(report.is_quiet());
    assert_eq!(library.generation().number().0, 1, "nothing changed, so no generation was built");

    house.write("rules/a.md", rules("加班", 1));
    let report = ingest(&library, &roots, false).await;
    assert_eq!((report.updated, report.unchanged), (vec![name("a.md")], vec![name("b.md")]));
    assert_eq!(library.generation().number().0, 2);
    let detail = library.source(&name("a.md"), &request()).await.unwrap();
    assert_eq!(detail.versions.iter().map(|version| version.current).collect::<Vec<_>>(), [true, false]);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_leaves_its_old_version_answering() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    house.write("rules/b.md", rules("出差", 1));
    let library = house.open().await;
    let roots = [house.path("rules")];
    ingest(&library, &roots, true).await;
    let before = answering(&library.generation());
    for (bytes, code) in [
        (&b"\xff\xfe\xfd"[..], ErrorCode::InvalidEncoding),
        (b"", ErrorCode::EmptyDocument),
        (b" \n", ErrorCode::EmptyDocument),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let report = ingest(&library, &roots, true).await;
        let [(path, error)] = report.failed.as_slice() else { panic!("{report:?}") };
        assert_eq!((path, error.code()), (&file.canonicalize().unwrap(), code));
        assert!(report.deleted.is_empty());
        assert_eq!(answering(&library.generation()), before);
    }
}

#[tokio::test]
async fn files_of_one_call_never_share_a_name() {
    let house = House::new().await;
    for folder in ["taipei", "kaohsiung", "old/taipei"] {
        house.write(&format!("{folder}/rules.md"), rules(folder, 1));
    }
    let library = house.open().await;
    let files = ["taipei/rules.md", "kaohsiung/rules.md", "old/taipei/rules.md"].map(|file| house.path(file));
    let report = ingest(&library, &files, false).await;
    assert_eq!(report.added, [name("rules.md"), name("kaohsiung/rules.md"), name("taipei/rules.md")]);
    let texts: Vec<String> = answering(&library.generation()).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts.len(), 3);
    assert!(
        texts[0].contains("kaohsiung") && texts[1].contains("員工taipei") && texts[2].contains("old/taipei"),
        "{texts:?}"
    );

    let folders = [house.path("taipei"), house.path("kaohsiung")];
    let report = ingest(&library, &folders, false).await;
    assert_eq!(report.unchanged, [name("rules.md"), name("kaohsiung/rules.md")]);
}

#[tokio::test]
async fn a_file_that_is_given_twice_is_read_once() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    let library = house.open().await;
    let report = ingest(&library, &[house.path("rules"), file], false).await;
    assert_eq!(report.added, [name("a.md")]);
}

#[cfg(unix)]
#[tokio::test]
async fn links_that_lead_in_circles_or_nowhere_do_no_harm() {
    let house = House::new().await;
    house.write("rules/z/a.md", rules("請假", 1));
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, house.path(at)).unwrap();
    link("..", "rules/z/up");
    link("../z", "rules/again");
    link("nowhere.md", "rules/broken.md");
    link("z/a.md", "rules/linked.md");
    let library = house.open().await;
    let report = ingest(&library, &[house.path("rules")], false).await;
    // Each file once, under its own name where it has one here.
    assert_eq!(report.added, [name("z/a.md")]);
    assert!(report.failed.is_empty(), "{:?}", report.failed);
}

#[tokio::test]
async fn the_data_directory_below_a_root_is_left_alone() {
    let house = House::new().await;
    house.write("a.md", rules("請假", 1));
    house.write("data/uploads/not-mine.md", rules("出差", 1));
    let library = house.open().await;
    std::fs::write(house.path("data/uploads/not-mine.md"), rules("出差", 1)).unwrap();
    let report = ingest(&library, &[house.folder.path().to_owned()], false).await;
    assert_eq!(report.added, [name("a.md")]);
}

#[tokio::test]
async fn roots_that_are_missing_or_of_another_kind_are_refused() {
    let house = House::new().await;
    let picture = house.write("logo.png", b"\x89PNG");
    house.write("rules/a.md", rules("請假", 1));
    let library = house.open().await;
    let missing = library.ingest_paths(&[house.path("rules"), house.path("nowhere")], false, &|_| {}).await;
    assert!(matches!(missing, Err(LibraryError::FileNotFound { .. })), "{missing:?}");
    assert!(names(&library).is_empty(), "nothing half-done");
    let report = ingest(&library, &[picture], false).await;
    assert_eq!(report.failed.iter().map(|(_, error)| error.code()).collect::<Vec<_>>(), [ErrorCode::UnsupportedFormat]);
}

#[tokio::test]
async fn a_file_over_the_limit_is_refused_by_its_size_alone() {
    let house = House::new().await;
    let file = house.write("rules/huge.md", "");
    // Sparse: it takes no room on the disk, and would take that much memory if it were read.
    std::fs::File::options().write(true).open(&file).unwrap().set_len(1 << 40).unwrap();
    let library = house.open().await;
    let report = ingest(&library, &[house.path("rules")], false).await;
    assert_eq!(report.failed.iter().map(|(_, error)| error.code()).collect::<Vec<_>>(), [ErrorCode::DocumentTooLarge]);
}

#[tokio::test]
async fn pruning_deletes_what_came_from_the_same_root_and_is_gone() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    house.write("rules/b.md", rules("出差", 1));
    let other = house.write("other/c.md", rules("加班", 1));
    let library = house.open().await;
    ingest(&library, &[house.path("rules"), house.path("other")], false).await;
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_file(&other).unwrap();
    let report = ingest(&library, &[house.path("rules")], false).await;
    assert!(report.deleted.is_empty(), "not asked to");
    let report = ingest(&library, &[house.path("rules")], true).await;
    assert_eq!(report.deleted, [name("a.md")]);
    assert_eq!(names(&library), ["b.md", "c.md"]);
    library.undo_delete(&name("a.md"), &request()).await.unwrap();
    assert_eq!(names(&library), ["a.md", "b.md", "c.md"]);
}

#[tokio::test]
async fn progress_tells_of_reading_and_indexing() {
    let house = House::new().await;
    house.write("rules/a.md", rules("請假", 2));
    house.write("rules/b.md", rules("出差", 2));
    let library = house.open().await;
    let stages = Mutex::new(Vec::new());
    library.ingest_paths(&[house.path("rules")], false, &|stage| stages.lock().unwrap().push(stage)).await.unwrap();
    let stages = stages.into_inner().unwrap();
    // Stages may be skipped when they pass quickly; what is told must be true.
    for stage in &stages {
        match stage {
            Stage::Reading { done, total, .. } => assert!(done < total && *total == 2, "{stage:?}"),
            Stage::Indexing { done, total } => assert!(done <= total && *total == 4, "{stage:?}"),
        }
    }
}

#[test]
fn a_clients_path_stays_below_the_documents_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir_all(root.join("sub")).unwrap();
    std::fs::write(root.join("sub/a.md"), "x").unwrap();
    std::fs::write(folder.path().join("secret.md"), "x").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../secret.md", root.join("out.md")).unwrap();
        std::os::unix::fs::symlink("..", root.join("up")).unwrap();
        std::os::unix::fs::symlink("sub/a.md", root.join("in.md")).unwrap();
    }
    let check = |path: &str, expected: Result<&str, ErrorCode>| {
        let resolved = Library::resolve_below(Some(&root), path).map_err(|error| error.code());
        let expected = expected.map(|path| root.canonicalize().unwrap().join(path));
        assert_eq!(resolved, expected, "{path:?}");
    };
    check("sub/a.md", Ok("sub/a.md"));
    check("./sub//a.md", Ok("sub/a.md"));
    #[cfg(unix)]
    check("in.md", Ok("sub/a.md"));
    for path in ["", "../secret.md", "sub/../../secret.md", "/etc/passwd", "sub", ".", "a\0b", "out.md", "up/secret.md"]
    {
        check(path, Err(ErrorCode::InvalidPath));
    }
    for path in ["nowhere.md", "sub/a.md/b"] {
        check(path, Err(ErrorCode::DocumentNotFound));
    }
    assert_eq!(Library::resolve_below(None, "sub/a.md").map_err(|error| error.code()), Err(ErrorCode::InvalidPath));
}

#[tokio::test]
async fn only_two_generations_stay_on_disk() {
    let house = House::new().await;
    let library = house.open().await;
    for word in ["請假", "出差", "加班", "報支"] {
        house.write("rules/a.md", rules(word, 1));
        ingest(&library, &[house.path("rules")], false).await;
    }
    assert_eq!(entries(&house.directory().generations()), ["000003", "000004"]);
}
