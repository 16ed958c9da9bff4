//! Writing the one segment.

use std::path::Path;

use tantivy::{
    Index, SingleSegmentIndexWriter, TantivyDocument, TantivyError,
    directory::MmapDirectory,
    schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
    tokenizer::{Token, TokenStream, Tokenizer},
};

use crate::analysis::Analysis;

/// The one field.
pub(super) const FIELD: &str = "text";
/// The name of our analysis in the schema.
pub(super) const TOKENIZER: &str = "bylaw";

/// Where tantivy starts to think about flushing; a single segment grows past it.
const MEMORY_BUDGET: usize = 64 << 20;

/// Writes a lexical index.
pub(crate) struct IndexWriter {
    writer: SingleSegmentIndexWriter,
    field: Field,
}

impl IndexWriter {
    /// A writer into an existing, empty folder.
    pub(crate) fn create(folder: &Path) -> Result<Self, TantivyError> {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(true);
        let field = schema.add_text_field(FIELD, TextOptions::default().set_indexing_options(indexing));
        let writer = Index::builder()
            .schema(schema.build())
            .tokenizers(super::tokenizers())
            .single_segment_index_writer(MmapDirectory::open(folder)?, MEMORY_BUDGET)?;
        Ok(Self { writer, field })
    }

    /// Adds the next article: texts that make one field. Its number is not among them: articles are looked up by number,
    /// never searched.
    pub(crate) fn add<'a>(&mut self, texts: impl Iterator<Item = &'a str>) -> Result<(), TantivyError> {
        let mut document = TantivyDocument::new();
        for text in texts.filter(|text| !text.is_empty()) {
            document.add_text(self.field, text);
        }
        self.writer.add_document(document)
    }

    /// Writes the segment.
    pub(crate) fn finish(self) -> Result<(), TantivyError> {
        self.writer.finalize().map(drop)
    }
}

/// Our analysis as tantivy calls it.
#[derive(Default)]
pub(super) struct Terms {
    analysis: Analysis,
    token: Token,
}

impl Clone for Terms {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Tokenizer for Terms {
    type TokenStream<'a> = TermStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TermStream<'a> {
        self.analysis.run(text);
        self.token.reset();
        TermStream { terms: self, next: 0 }
    }
}

pub(super) struct TermStream<'a> {
    terms: &'a mut Terms,
    next: usize,
}

impl TokenStream for TermStream<'_> {
    fn advance(&mut self) -> bool {
        let Terms { analysis, token } = &mut *self.terms;
        let Some(raw) = analysis.tokens.get(self.next) else { return false };
        token.text.clear();
        token.text.push_str(analysis.term(raw));
        token.offset_from = raw.span.start;
        token.offset_to = raw.span.end;
        token.position = raw.position as usize;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.terms.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.terms.token
    }
}
