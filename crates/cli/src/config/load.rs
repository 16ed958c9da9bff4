//! Reads the layers of the configuration and remembers where each value came from.

use std::path::{Path, PathBuf};

use figment::{
    Figment, Profile, Provider,
    providers::{Format, Toml},
    value::{Dict, Value},
};

use super::{raw::Raw, settings::Settings, variables::VARIABLES};
use crate::failure::Failure;
use bylaw_contract::{ErrorCode, Language};

/// The checked-in defaults.
pub(crate) const DEFAULTS: &str = include_str!("default.toml");

/// Settings that are never shown.
const SECRETS: [&str; 2] = ["model.api_key", "client.key"];

/// Values given as flags.
#[derive(Clone, Default)]
pub(crate) struct Flags {
    pub(crate) host: Option<String>,
    pub(crate) port: Option<u16>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) documents_root: Option<PathBuf>,
    pub(crate) key: Option<String>,
}

/// The merged configuration, layer by layer.
pub(crate) struct Layers {
    figment: Figment,
    /// The file that was read, if any.
    pub(crate) file: Option<PathBuf>,
}

/// One setting with its value and where that came from.
#[derive(Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Origin {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) from: String,
}

/// Loads `explicit`, else `./bylaw.toml`, else the platform's configuration folder, where they exist.
pub(crate) fn load(
    explicit: Option<&Path>,
    flags: &Flags,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<(Settings, Layers), Failure> {
    let file = match explicit {
        Some(path) if path.is_file() => Some(path.to_owned()),
        Some(path) => return Err(invalid(format!("{}: there is no such configuration file", path.display()))),
        None => candidates().into_iter().find(|path| path.is_file()),
    };
    let mut figment = Figment::from(Toml::string(DEFAULTS).nested_off("defaults"));
    if let Some(path) = &file {
        figment = figment.merge(Toml::file_exact(path).nested_off(&path.display().to_string()));
    }
    for variable in VARIABLES {
        if let Some(value) = environment(variable.name) {
            figment = figment.merge(Layer::one(
                &format!("environment {}", variable.name),
                variable.key,
                typed(variable.key, value),
            ));
        }
    }
    for (flag, key, value) in flags.entries() {
        figment = figment.merge(Layer::one(&format!("flag {flag}"), key, value));
    }
    let raw: Raw = figment.extract().map_err(|error| invalid(one_line(error)))?;
    let mut settings = Settings::resolve(&raw).map_err(invalid)?;
    settings.language = settings.language.or_else(|| locale(environment));
    if settings.agents.is_none() {
        let beside = file.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).join("agents");
        settings.agents = beside.is_dir().then_some(beside);
    }
    Ok((settings, Layers { figment, file }))
}

impl Layers {
    /// Whether nobody set this.
    pub(crate) fn is_default(&self, key: &str) -> bool {
        self.figment.find_metadata(key).is_none_or(|metadata| metadata.name == "defaults")
    }

    /// Every setting, in the order of the defaults; secrets as `***`.
    pub(crate) fn origins(&self) -> Vec<Origin> {
        let mut origins = Vec::new();
        for (section, keys) in default_keys() {
            for key in keys {
                let path = format!("{section}.{key}");
                let value = self.figment.find_value(&path).map_or_else(|_| String::new(), |value| show(&value));
                let value = if SECRETS.contains(&path.as_str()) && value != "\"\"" { "***".to_owned() } else { value };
                let from = self.figment.find_metadata(&path).map_or("defaults", |m| m.name.as_ref()).to_owned();
                origins.push(Origin { key: path, value, from });
            }
            if section == "prices" {
                origins.extend(self.prices());
            }
        }
        origins
    }

    /// The prices, which have no defaults. Names of models have points in them, so that they are no paths.
    fn prices(&self) -> Vec<Origin> {
        let table = self.figment.find_value("prices").ok().and_then(Value::into_dict).unwrap_or_default();
        let mut origins = Vec::new();
        for (model, prices) in table {
            for (field, value) in prices.into_dict().unwrap_or_default() {
                let from = self.figment.get_metadata(value.tag()).map_or("defaults", |m| m.name.as_ref()).to_owned();
                origins.push(Origin { key: format!("prices.{model:?}.{field}"), value: show(&value), from });
            }
        }
        origins
    }
}

impl Flags {
    fn entries(&self) -> Vec<(&'static str, &'static str, Value)> {
        let text = |path: &PathBuf| Value::from(path.display().to_string());
        let mut entries = Vec::new();
        entries.extend(self.host.as_ref().map(|host| ("--host", "server.host", Value::from(host.clone()))));
        entries.extend(self.port.map(|port| ("--port", "server.port", Value::from(port))));
        entries.extend(self.data.as_ref().map(|path| ("--data", "data.directory", text(path))));
        entries
            .extend(self.documents_root.as_ref().map(|path| ("--documents-root", "server.documents_root", text(path))));
        entries.extend(self.key.as_ref().map(|key| ("--key", "client.key", Value::from(key.clone()))));
        entries
    }
}

/// The language of the locale, if that is one of ours.
fn locale(environment: &dyn Fn(&str) -> Option<String>) -> Option<Language> {
    let given =
        ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(environment).find(|value| !value.is_empty())?;
    Some(if given.starts_with("zh") { Language::TraditionalChinese } else { Language::English })
}

/// A TOML provider under a name of our own, so that `config show` can say where a value came from.
struct Layer {
    name: String,
    data: Result<Dict, figment::Error>,
}

impl Layer {
    fn one(name: &str, key: &str, value: Value) -> Self {
        Self { name: name.to_owned(), data: Ok(figment::util::nest(key, value).into_dict().unwrap_or_default()) }
    }
}

impl Provider for Layer {
    fn metadata(&self) -> figment::Metadata {
        figment::Metadata::named(self.name.clone())
    }

    fn data(&self) -> Result<figment::value::Map<Profile, Dict>, figment::Error> {
        self.data.clone().map(|dict| Profile::Default.collect(dict))
    }
}

trait Named {
    fn nested_off(self, name: &str) -> Layer;
}

impl<T: Provider> Named for T {
    fn nested_off(self, name: &str) -> Layer {
        let data = self.data().map(|mut profiles| profiles.remove(&Profile::Default).unwrap_or_default());
        Layer { name: name.to_owned(), data }
    }
}

fn candidates() -> Vec<PathBuf> {
    let mut paths = vec![PathBuf::from("bylaw.toml")];
    if let Ok(base) = etcetera::choose_base_strategy() {
        paths.push(etcetera::BaseStrategy::config_dir(&base).join("bylaw").join("bylaw.toml"));
    }
    paths
}

/// The value in the type of its setting: a variable is always text, a port is a number.
fn typed(key: &str, text: String) -> Value {
    let is_number = matches!(key, "server.port" | "model.retries" | "mcp.max_steps" | "mcp.max_wall_ms");
    match (text.parse::<u32>(), text.as_str()) {
        (Ok(number), _) if is_number => Value::from(number),
        (Err(_), "true" | "1") if key == "mcp.aliases" => Value::from(true),
        (Err(_), "false" | "0" | "") if key == "mcp.aliases" => Value::from(false),
        _ => Value::from(text),
    }
}

fn show(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn default_keys() -> Vec<(String, Vec<String>)> {
    let table: toml::Table = DEFAULTS.parse().unwrap_or_default();
    let mut sections: Vec<(String, Vec<String>)> = table
        .iter()
        .map(|(section, keys)| {
            (section.clone(), keys.as_table().into_iter().flatten().map(|(k, _)| k.clone()).collect())
        })
        .collect();
    let order = |name: &str| DEFAULTS.find(&format!("[{name}]")).unwrap_or(usize::MAX);
    sections.sort_by_key(|(name, _)| order(name));
    sections
}

fn one_line(error: figment::Error) -> String {
    let mut parts: Vec<String> = error.into_iter().map(|error| error.to_string().replace('\n', " ")).collect();
    parts.dedup();
    parts.join("; ")
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::InvalidConfiguration, message).hint("bylaw config show lists every setting")
}
