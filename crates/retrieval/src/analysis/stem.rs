//! English stems (Snowball).

use std::{borrow::Cow, sync::LazyLock};

static ENGLISH: LazyLock<frostem::Stemmer> = LazyLock::new(|| frostem::Stemmer::new(frostem::Algorithm::English));

/// The stem of a folded word. Words with digits or letters outside English are left as they are.
pub(crate) fn stem(word: &str) -> Cow<'_, str> {
    if word.len() > 2 && word.len() <= 32 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'') {
        ENGLISH.stem(word)
    } else {
        Cow::Borrowed(word)
    }
}
