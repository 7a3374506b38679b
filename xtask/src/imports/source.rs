//! What a source file imports: the paths of its `use` declarations, and those that start with `crate` or `super` or with the
//! name of a module in scope.

/// A word or a sign of the source, with its line. Comments and literals are left out.
struct Token<'a> {
    line: usize,
    text: &'a str,
}

/// What one file says, modules written as their path from the crate's root.
#[derive(Default)]
pub(super) struct Source {
    /// Names that a module brings into its scope, the path that each stands for, and whether others may see it.
    pub(super) uses: Vec<Use>,
    /// Paths in the code that may name something of this crate, as they are there.
    pub(super) paths: Vec<Mention>,
    /// Modules that are written inside the file.
    pub(super) inline: Vec<Vec<String>>,
    /// Modules in files of their own that are compiled for tests alone.
    pub(super) of_tests: Vec<Vec<String>>,
    /// Every name that is declared in the file, at whatever depth.
    pub(super) declared: Vec<String>,
}

/// One leaf of a `use` declaration.
pub(super) struct Use {
    pub(super) mention: Mention,
    /// `*` for all of a module, `_` for a trait without a name.
    pub(super) name: String,
    pub(super) is_public: bool,
}

/// A path, the module that it is in and its line.
#[derive(Clone)]
pub(super) struct Mention {
    pub(super) module: Vec<String>,
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

/// Reads the file of the module `module`.
pub(super) fn read(text: &str, module: &[String]) -> Source {
    let mut reader = Reader { tokens: tokens(text), at: 0, source: Source::default() };
    reader.module(module);
    reader.source
}

struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    source: Source,
}

impl<'a> Reader<'a> {
    fn text(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |token| token.line)
    }

    /// Reads up to the brace that closes the module.
    fn module(&mut self, module: &[String]) {
        let mut depth = 0;
        // Is what comes next compiled for tests alone?
        let mut of_tests = false;
        let mut is_public = false;
        while self.at < self.tokens.len() {
            match self.text(0) {
                // `#[cfg(test)]`, or with a condition more `#[cfg(all(test, feature = ...))]`.
                "#" if (1..5).map(|i| self.text(i)).eq(["[", "cfg", "(", "test"])
                    || (1..7).map(|i| self.text(i)).eq(["[", "cfg", "(", "all", "(", "test"]) =>
                {
                    of_tests = true;
                    while self.at < self.tokens.len() && self.text(0) != "]" {
                        self.at += 1;
                    }
                    self.at += 1;
                    continue;
                }
                "pub" => {
                    is_public = true;
                    self.at += 1;
                    if self.text(0) == "(" {
                        while self.at < self.tokens.len() && self.text(0) != ")" {
                            self.at += 1;
                        }
                        self.at += 1;
                    }
                    continue;
                }
                "use" if self.text(1) != "<" => {
                    let before = self.source.uses.len();
                    self.at += 1;
                    self.tree(module, &[], is_public);
                    if of_tests {
                        self.source.uses.truncate(before);
                    }
                }
                "mod" if self.text(2) == "{" => {
                    let inner = [module, &[self.text(1).to_string()]].concat();
                    self.at += 3;
                    let before = (self.source.uses.len(), self.source.paths.len());
                    self.module(&inner);
                    if of_tests {
                        self.source.uses.truncate(before.0);
                        self.source.paths.truncate(before.1);
                    } else {
                        self.source.inline.push(inner);
                    }
                }
                "mod" if of_tests => {
                    self.source.of_tests.push([module, &[self.text(1).to_string()]].concat());
                    self.at += 2;
                }
                "{" => {
                    depth += 1;
                    self.at += 1;
                }
                "}" => {
                    self.at += 1;
                    if depth == 0 {
                        return;
                    }
                    depth -= 1;
                }
                "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static" | "mod"
                | "macro_rules" => {
                    let name = if self.text(1) == "!" { self.text(2) } else { self.text(1) };
                    self.source.declared.push(name.to_string());
                    self.at += 1;
                }
                word if is_word(word) && self.text(1) == "::" => self.path(module),
                _ => {
                    self.at += 1;
                }
            }
            of_tests = false;
            is_public = false;
        }
    }

    /// A path in the code.
    fn path(&mut self, module: &[String]) {
        let continues = self.at > 0 && matches!(self.tokens[self.at - 1].text, "::" | ".");
        let line = self.line();
        let mut path = vec![self.text(0).to_string()];
        self.at += 1;
        while self.text(0) == "::" && is_word(self.text(1)) {
            path.push(self.text(1).to_string());
            self.at += 2;
        }
        if self.text(0) == "::" {
            self.at += 1;
        }
        if !continues {
            self.source.paths.push(Mention { module: module.to_vec(), path, line });
        }
    }

    /// A tree of a `use` declaration under `prefix`, up to what ends it.
    fn tree(&mut self, module: &[String], prefix: &[String], is_public: bool) {
        let line = self.line();
        let mut path = prefix.to_vec();
        loop {
            match self.text(0) {
                "::" => self.at += 1,
                "{" => {
                    self.at += 1;
                    while !matches!(self.text(0), "}" | "") {
                        self.tree(module, &path, is_public);
                        if self.text(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                "as" => {
                    let name = self.text(1).to_string();
                    self.at += 2;
                    return self.leaf(module, path, name, line, is_public);
                }
                "*" => {
                    self.at += 1;
                    return self.leaf(module, path, "*".into(), line, is_public);
                }
                "self" if !path.is_empty() => self.at += 1,
                word if is_word(word) => {
                    path.push(word.to_string());
                    self.at += 1;
                }
                _ => {
                    let name = path.last().cloned().unwrap_or_default();
                    return self.leaf(module, path, name, line, is_public);
                }
            }
        }
    }

    fn leaf(&mut self, module: &[String], path: Vec<String>, name: String, line: usize, is_public: bool) {
        let mention = Mention { module: module.to_vec(), path, line };
        self.source.uses.push(Use { mention, name, is_public });
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The words and signs of a source text; `::` is one sign, and what is neither word nor blank is alone. It reads
/// bytes because xtask is not optimised; what is not ASCII counts as part of a word.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < bytes.len() {
        let (begin, next) = (at, bytes.get(at + 1).copied());
        match bytes[at] {
            b'\n' => {
                (at, line) = (at + 1, line + 1);
                continue;
            }
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'/' if next == Some(b'/') => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            b'/' if next == Some(b'*') => at += comment(&text[at..]),
            b'"' | b'\'' | b'b' | b'c' | b'r' => at += literal(&text[at..]).unwrap_or(0),
            _ => {}
        }
        if at > begin {
            line += text[begin..at].matches('\n').count();
            continue;
        }
        while at < bytes.len() && is_part(bytes[at]) {
            at += 1;
        }
        if at == begin {
            at += if bytes[at] == b':' && next == Some(b':') { 2 } else { 1 };
        }
        tokens.push(Token { line, text: &text[begin..at] });
    }
    tokens
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The length of the comment that the text starts with; such comments nest.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(mark) = text[at..].find("/*").into_iter().chain(text[at..].find("*/")).min() {
        depth += if text[at + mark..].starts_with("/*") { 1 } else { -1 };
        at += mark + 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The length of the string or of the character that the text starts with, if it does.
fn literal(text: &str) -> Option<usize> {
    let prefix = text.find(|c| !matches!(c, 'b' | 'c' | 'r'))?;
    let quote = text[prefix..].find(|c| c != '#')? + prefix;
    let inner = &text[quote + text[quote..].chars().next()?.len_utf8()..];
    let hashes = &text[prefix..quote];
    match text[quote..].chars().next()? {
        '"' if prefix > 0 && prefix <= 2 && text[..prefix].ends_with('r') => {
            let end = format!("\"{hashes}");
            Some(inner.find(&end).map_or(text.len(), |at| quote + 1 + at + end.len()))
        }
        mark @ ('"' | '\'') if hashes.is_empty() && prefix <= 1 => {
            // An apostrophe that no other follows starts a lifetime.
            let mut chars = inner.chars();
            if mark == '\'' && chars.next() != Some('\\') && chars.next() != Some('\'') {
                return None;
            }
            let mut escaped = false;
            let end = inner.find(|c| {
                let ends = c == mark && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            Some(end.map_or(text.len(), |at| quote + 1 + at + 1))
        }
        _ => None,
    }
}
