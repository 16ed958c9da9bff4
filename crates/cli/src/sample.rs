//! The sample corpus that ships with the program.

use std::path::{Path, PathBuf};

/// Its documents: source name and text.
pub(crate) const DOCUMENTS: [(&str, &str); 2] = [
    ("員工工作規則.md", include_str!("../sample/員工工作規則.md")),
    ("employee-handbook.md", include_str!("../sample/employee-handbook.md")),
];

/// Questions that it answers.
pub(crate) const QUESTIONS: [&str; 3] = [
    "出差住飯店一晚最多報多少？",
    "昨天忘了刷卡，幾天內要補？",
    "How many days of annual leave do I get after five years with the company?",
];

/// Writes the documents into `folder`, so that they are read like any others.
pub(crate) fn write(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder)?;
    DOCUMENTS
        .iter()
        .map(|(name, text)| {
            let path = folder.join(name);
            // Left alone when it is already there, so that its time stamp tells nothing has changed.
            if std::fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
                std::fs::write(&path, text)?;
            }
            Ok(path)
        })
        .collect()
}
