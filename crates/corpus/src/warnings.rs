//! What a person should know about a document, kept short however bad the document is.

/// Most warnings that are written out.
const MOST: usize = 20;

/// Collects warnings; counts those beyond the first few.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    written: Vec<String>,
    more: usize,
}

impl Warnings {
    /// Adds a warning.
    pub(crate) fn add(&mut self, warning: impl FnOnce() -> String) {
        if self.written.len() < MOST {
            self.written.push(warning());
        } else {
            self.more += 1;
        }
    }

    /// All of them, with a last line that counts the rest.
    pub(crate) fn finish(mut self) -> Vec<String> {
        if self.more > 0 {
            self.written.push(format!("and {} more like these", self.more));
        }
        self.written
    }
}
