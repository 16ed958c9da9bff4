//! What a generation keeps in memory of every article: a few bytes each, as flat arrays, in one file.

use std::{fs, path::Path};

use super::GenerationError;

/// Lists of numbers, one list an article.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lists {
    /// Where each list begins; one more entry for the end.
    pub(super) starts: Vec<u32>,
    /// The lists, one after another.
    pub(super) items: Vec<u32>,
}

/// Short texts, one after another.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Texts {
    pub(super) starts: Vec<u32>,
    pub(super) bytes: Vec<u8>,
}

/// All tables of a generation.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tables {
    /// Where each article's line begins in the article file; one more entry for the end.
    pub(super) offsets: Vec<u64>,
    /// Each article's address.
    pub(super) addresses: Texts,
    /// Ordinals, sorted by address within each source.
    pub(super) by_address: Vec<u32>,
    /// Each article's numbers of 編 (upper half) and 章 (lower half); 0 for none.
    pub(super) chapters: Vec<u32>,
    /// Articles that each article names one by one.
    pub(super) names: Lists,
    /// Articles below a heading that each article names, the first few.
    pub(super) below: Lists,
    /// Articles that name each article in either way.
    pub(super) named_by: Lists,
    /// Folded names of laws and documents, sorted.
    pub(super) laws: Texts,
    /// For each law: the source that is this law, or [`RECORDS`] if records of a collection are its articles.
    pub(super) law_sources: Vec<u32>,
    /// Keys of articles in records, sorted; see [`super::laws::article_key`].
    pub(super) law_articles: Vec<u64>,
    /// Their ordinals.
    pub(super) law_ordinals: Vec<u32>,
}

/// A law whose articles are records of a collection.
pub(super) const RECORDS: u32 = u32::MAX;

impl Lists {
    /// From pairs (list, item), sorted.
    pub(super) fn from_pairs(pairs: &[(u32, u32)], lists: u32) -> Self {
        let mut starts = Vec::with_capacity(lists as usize + 1);
        let mut at = 0;
        for list in 0..lists {
            starts.push(at);
            at += count(pairs[at as usize..].iter().take_while(|pair| pair.0 == list).count());
        }
        starts.push(at);
        Self { starts, items: pairs.iter().map(|pair| pair.1).collect() }
    }

    /// One list.
    pub(super) fn of(&self, list: u32) -> &[u32] {
        let (start, end) = bounds(&self.starts, list as usize);
        self.items.get(start..end).unwrap_or_default()
    }
}

impl Texts {
    /// Appends a text.
    pub(super) fn push(&mut self, text: &str) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.bytes.extend_from_slice(text.as_bytes());
        self.starts.push(count(self.bytes.len()));
    }

    /// Number of texts.
    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// One text.
    pub(super) fn get(&self, index: usize) -> &str {
        let (start, end) = bounds(&self.starts, index);
        // Checked when the file was read.
        self.bytes.get(start..end).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

fn bounds(starts: &[u32], index: usize) -> (usize, usize) {
    let at = |index: usize| starts.get(index).copied().unwrap_or(0) as usize;
    (at(index), at(index + 1))
}

/// A length as it is kept. A generation has fewer than 2³² of anything.
pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Tables {
    /// The file's bytes.
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut section = |width: usize, bytes: &mut dyn Iterator<Item = u8>| {
            let at = out.len();
            out.extend_from_slice(&[0; 8]);
            out.extend(bytes);
            let length = ((out.len() - at - 8) / width) as u64;
            out[at..at + 8].copy_from_slice(&length.to_le_bytes());
        };
        let mut longs = |values: &[u64]| section(8, &mut values.iter().flat_map(|value| value.to_le_bytes()));
        longs(&self.offsets);
        longs(&self.law_articles);
        let mut words = |values: &[u32]| section(4, &mut values.iter().flat_map(|value| value.to_le_bytes()));
        for values in [
            &self.by_address,
            &self.chapters,
            &self.names.starts,
            &self.names.items,
            &self.below.starts,
            &self.below.items,
            &self.named_by.starts,
            &self.named_by.items,
            &self.law_sources,
            &self.law_ordinals,
            &self.addresses.starts,
            &self.laws.starts,
        ] {
            words(values);
        }
        for bytes in [&self.addresses.bytes, &self.laws.bytes] {
            section(1, &mut bytes.iter().copied());
        }
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader { bytes };
        let tables = Self {
            offsets: reader.longs()?,
            law_articles: reader.longs()?,
            by_address: reader.words()?,
            chapters: reader.words()?,
            names: Lists { starts: reader.words()?, items: reader.words()? },
            below: Lists { starts: reader.words()?, items: reader.words()? },
            named_by: Lists { starts: reader.words()?, items: reader.words()? },
            law_sources: reader.words()?,
            law_ordinals: reader.words()?,
            addresses: Texts { starts: reader.words()?, bytes: Vec::new() },
            laws: Texts { starts: reader.words()?, bytes: Vec::new() },
        };
        let addresses = Texts { bytes: reader.section(1)?.to_vec(), ..tables.addresses };
        let laws = Texts { bytes: reader.section(1)?.to_vec(), ..tables.laws };
        reader.bytes.is_empty().then_some(Self { addresses, laws, ..tables })
    }

    /// Writes the file; returns its length and checksum.
    pub(super) fn write(&self, path: &Path) -> std::io::Result<(u64, u64)> {
        let bytes = self.encode();
        fs::write(path, &bytes)?;
        fs::File::open(path)?.sync_all()?;
        Ok((bytes.len() as u64, checksum(&bytes)))
    }

    /// Reads the file and compares it with what was written.
    pub(super) fn read(path: &Path, length: u64, sum: u64, articles: usize) -> Result<Self, GenerationError> {
        let damaged = |problem: &str| GenerationError::Damaged {
            folder: path.parent().unwrap_or(path).display().to_string(),
            problem: problem.to_owned(),
        };
        let bytes = fs::read(path)?;
        if bytes.len() as u64 != length || checksum(&bytes) != sum {
            return Err(damaged("tables.bin is not what was written"));
        }
        let tables = Self::decode(&bytes).ok_or_else(|| damaged("tables.bin cannot be read"))?;
        let complete = tables.offsets.len() == articles + 1
            && tables.by_address.len() == articles
            && tables.chapters.len() == articles
            && tables.addresses.len() == articles
            && tables.law_sources.len() == tables.laws.len();
        if complete { Ok(tables) } else { Err(damaged("tables.bin is of another generation")) }
    }
}

/// FNV-1a over words of eight bytes: finds a damaged disk, not an adversary, and costs a millisecond for a nation's laws.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    }
    hash
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn section(&mut self, width: usize) -> Option<&'a [u8]> {
        let (length, rest) = self.bytes.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?.checked_mul(width)?;
        let (section, rest) = rest.split_at_checked(length)?;
        self.bytes = rest;
        Some(section)
    }

    fn words(&mut self) -> Option<Vec<u32>> {
        Some(self.section(4)?.as_chunks::<4>().0.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect())
    }

    fn longs(&mut self) -> Option<Vec<u64>> {
        Some(self.section(8)?.as_chunks::<8>().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect())
    }
}
