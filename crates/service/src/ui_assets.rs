//! The files of the page. They are part of the program, so there is no folder to miss and no path to climb out of.

/// One file of the page.
#[derive(Debug)]
pub(crate) struct Asset {
    /// Below `/ui/`.
    pub(crate) path: &'static str,
    pub(crate) kind: &'static str,
    /// Differs whenever the bytes do.
    pub(crate) tag: &'static str,
    pub(crate) bytes: &'static [u8],
    /// In gzip, where that is worth it.
    pub(crate) packed: Option<&'static [u8]>,
}

/// By path.
static ASSETS: &[Asset] = &include!(concat!(env!("OUT_DIR"), "/ui_assets.rs"));

/// Where everything begins that is not a file.
const INDEX: &str = "index.html";

/// Below this folder each file has its contents' hash in its name: it never changes.
const HASHED: &str = "assets/";

impl Asset {
    /// Whether what is at this address stays what it is.
    pub(crate) fn is_immutable(&self) -> bool {
        self.path.starts_with(HASHED)
    }
}

/// What is shown at an address below `/ui/`: its file, or the page, which reads the rest of its address itself. `None`
/// where a file should be and is not. The names of sources, which have dots in them, are parts of the page's addresses.
pub(crate) fn at(path: &str) -> Option<&'static Asset> {
    if let Some(asset) = named(path) {
        return Some(asset);
    }
    let climbs = |part: &str| matches!(part, "." | "..") || part.contains(['\\', '\0']);
    let is_file = path.starts_with(HASHED) || (path.contains('.') && !path.contains('/'));
    if is_file || path.split('/').any(climbs) { None } else { named(INDEX) }
}

fn named(path: &str) -> Option<&'static Asset> {
    ASSETS.binary_search_by(|asset| asset.path.cmp(path)).ok().map(|place| &ASSETS[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_there_and_every_file_is_found_by_its_name() {
        assert!(named(INDEX).is_some());
        for asset in ASSETS {
            assert_eq!(named(asset.path).map(|asset| asset.tag), Some(asset.tag), "{}", asset.path);
        }
    }

    #[test]
    fn addresses_of_the_page_are_the_page_and_missing_files_are_missing() {
        for path in ["", "rules", "rules/work_rules.md", "rules/work_rules.md/26-1", "runs/run_1", "embed"] {
            assert_eq!(at(path).map(|asset| asset.path), Some(INDEX), "{path}");
        }
        for path in
            ["favicon.xyz", "assets/gone.js", "assets/gone", "assets/", "../Cargo.toml", "rules/../x", "a\\b", "."]
        {
            assert!(at(path).is_none(), "{path}");
        }
    }
}
