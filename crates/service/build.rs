//! Puts the built page into the program: a table of its files, each with its content type, its tag and, where that is
//! shorter, its bytes in gzip. Packed here, nothing is packed while people wait, and the program needs nothing for it.
//! Without a built page there is no program: the build fails and says so.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fmt::Write as _,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::Write as _,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};

fn main() -> Result<(), Box<dyn Error>> {
    let dist = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../web/dist");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut files = BTreeMap::new();
    collect(&dist, "", &mut files).map_err(|error| format!("web/dist: {error}: build the page first"))?;
    if !files.contains_key("index.html") {
        return Err("web/dist has no index.html: build the page first".into());
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut table = String::from("[\n");
    for (number, (path, file)) in files.iter().enumerate() {
        let bytes = fs::read(file)?;
        let kind = kind(path).ok_or_else(|| format!("web/dist/{path}: say in build.rs what type such a file has"))?;
        let packed = pack(&bytes)?;
        // A tenth is what makes unpacking worth it. Images are packed already.
        let packed = if packed.len() < bytes.len() / 10 * 9 {
            let file = out.join(format!("{number}.gz"));
            fs::write(&file, packed)?;
            format!("Some(include_bytes!({:?}))", file.to_str().ok_or("a path that is not UTF-8")?)
        } else {
            "None".to_owned()
        };
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let (tag, file) = (hasher.finish(), fs::canonicalize(file)?);
        let file = file.to_str().ok_or("a path that is not UTF-8")?;
        writeln!(
            table,
            "Asset {{ path: {path:?}, kind: {kind:?}, tag: \"{tag:016x}\", bytes: include_bytes!({file:?}), packed: {packed} }},"
        )?;
    }
    table.push(']');
    fs::write(out.join("ui_assets.rs"), table)?;
    Ok(())
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|name| format!("{} is not UTF-8", name.display()))?;
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if !name.starts_with('.') {
            files.insert(path, entry.path());
        }
    }
    Ok(())
}

fn kind(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "webp" => "image/webp",
        "woff2" => "font/woff2",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        _ => return None,
    })
}

fn pack(bytes: &[u8]) -> Result<Vec<u8>, std::io::Error> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}
