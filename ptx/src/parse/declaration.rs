//! Modules, kernels' heads and variables.

use super::Refused;
use super::cursor::Parser;
use crate::Error;
use crate::ast::*;
use crate::lex::Token;

/// The words of [`Linkage`].
macro_rules! LINKAGES {
    () => {
        "visible" | "extern" | "weak" | "common"
    };
}

impl Parser<'_> {
    /// A module. The error of an item that does not parse is handed to `recover`, with the index of the item's first
    /// token: `recover` fails, or passes over the item.
    pub(super) fn module(
        &mut self,
        mut recover: impl FnMut(&mut Self, usize, Error) -> Result<(), Error>,
    ) -> Result<Module, Error> {
        let version = self.version()?;
        let target = self.target()?;
        if !self.eat_dotted("address_size") {
            return Err(self.expected("`.address_size 64`"));
        }
        let at = self.span();
        if self.integer::<u32>("`64`")? != 64 {
            return Err(Error::Unsupported {
                at,
                what: "addresses of 32 bits are",
                instead: "use `.address_size 64`",
            });
        }
        let mut items = Vec::new();
        while self.peek() != Token::End {
            if let Some(file) = self.file()? {
                items.push(Item::File(file));
            } else if !self.skip_section()? && !self.skip_pragma()? {
                let start = self.place();
                match self.item() {
                    Ok(item) => items.push(item),
                    Err(error) => recover(self, start, error)?,
                }
            }
        }
        Ok(Module { version, target, items, notes: crate::Notes::default() })
    }

    fn version(&mut self) -> Result<(u8, u8), Error> {
        if !self.eat_dotted("version") {
            return Err(self.expected("`.version`"));
        }
        let version = match self.peek() {
            Token::Number(text) => {
                text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)))
            }
            _ => None,
        };
        let version = version.ok_or_else(|| self.expected("a version such as `8.0`"))?;
        self.next();
        Ok(version)
    }

    fn target(&mut self) -> Result<Target, Error> {
        if !self.eat_dotted("target") {
            return Err(self.expected("`.target`"));
        }
        let what = "a target such as `sm_80` or `sm_90a`";
        let Token::Ident(text) = self.peek() else { return Err(self.expected(what)) };
        let target = text.strip_prefix("sm_").and_then(|sm| {
            let (sm, suffix) = match sm.strip_suffix(['a', 'f']) {
                Some(number) => (number, sm.chars().last()),
                None => (sm, None),
            };
            sm.bytes().all(|c| c.is_ascii_digit()).then_some(())?;
            Some(Target { sm: sm.parse().ok()?, suffix })
        });
        let target = target.ok_or_else(|| self.expected(what))?;
        self.next();
        while self.eat(',') {
            self.ident("a target's option, such as `debug`")?;
        }
        Ok(target)
    }

    /// Skips a `.pragma` of the whole module or of a kernel, which is a hint to the assembler; returns whether there
    /// was one.
    fn skip_pragma(&mut self) -> Result<bool, Error> {
        if !self.eat_dotted("pragma") {
            return Ok(false);
        }
        loop {
            let Token::Quoted(_) = self.peek() else {
                return Err(self.expected("a string, such as `\"nounroll\"`"));
            };
            self.next();
            if !self.eat(',') {
                break;
            }
        }
        self.expect(';')?;
        Ok(true)
    }

    /// Passes over the item that begins at the token of index `start`, up to and with its `;` or the `}` of its body.
    ///
    /// # Errors
    /// The error again, if the item has no such end or no name.
    pub(super) fn pass_over(&mut self, start: usize, error: Error) -> Result<Refused, Error> {
        self.go_to(start);
        let mut kernel = false;
        let (mut name, mut round, mut curly) = (None, 0usize, 0usize);
        loop {
            match self.next() {
                Token::End => return Err(error),
                Token::Dotted("entry") if curly == 0 => kernel = true,
                // Names in parentheses before the function's name are its results.
                Token::Ident(word) if curly == 0 && round == 0 && name.is_none() => {
                    name = Some(self.intern(word));
                }
                Token::Punct('(') => round += 1,
                Token::Punct(')') => round = round.saturating_sub(1),
                Token::Punct('{') => curly += 1,
                Token::Punct('}') if curly > 1 => curly -= 1,
                Token::Punct('}') | Token::Punct(';') if curly == 0 => break,
                // Initial values in braces have a semicolon behind them.
                Token::Punct('}') if curly == 1 => {
                    self.eat(';');
                    break;
                }
                _ => {}
            }
        }
        match name {
            Some(name) => Ok(Refused { name, kernel, error }),
            None => Err(error),
        }
    }

    fn item(&mut self) -> Result<Item, Error> {
        self.vectors.clear();
        let ahead = usize::from(matches!(self.peek(), Token::Dotted(LINKAGES!())));
        match self.peek_at(ahead) {
            Token::Dotted("entry") => self.kernel().map(Item::Kernel),
            Token::Dotted("func") => self.function().map(Item::Function),
            Token::Dotted("global" | "const" | "shared") => {
                let variable = self.variable()?;
                self.expect(';')?;
                Ok(Item::Variable(variable))
            }
            Token::Dotted("alias") => Err(self.unsupported("aliases are", "use the function's own name")),
            Token::Dotted("tex" | "texref" | "samplerref" | "surfref") => {
                Err(self.unsupported("textures and surfaces are", "load from global memory"))
            }
            _ => Err(self.expected("`.entry`, `.func`, or a variable's `.global`, `.const` or `.shared`")),
        }
    }

    pub(super) fn linkage(&mut self) -> Linkage {
        let linkage = match self.peek() {
            Token::Dotted("visible") => Linkage::Visible,
            Token::Dotted("extern") => Linkage::External,
            Token::Dotted("weak") => Linkage::Weak,
            Token::Dotted("common") => Linkage::Common,
            _ => return Linkage::Internal,
        };
        self.next();
        linkage
    }

    fn kernel(&mut self) -> Result<Kernel, Error> {
        let linkage = self.linkage();
        if !self.eat_dotted("entry") {
            return Err(self.expected("`.entry`"));
        }
        let span = self.span();
        let name = self.name("the kernel's name")?;
        let params = self.params()?;
        let mut directives = Vec::new();
        while self.peek() != Token::Punct('{') {
            if !self.skip_pragma()? {
                directives.push(self.directive()?);
            }
        }
        self.expect('{')?;
        let body = self.statements(1)?;
        Ok(Kernel { linkage, name, params, directives, body, span })
    }

    fn function(&mut self) -> Result<Function, Error> {
        let linkage = self.linkage();
        self.next();
        let results = self.params()?;
        let span = self.span();
        let name = self.name("the function's name")?;
        let params = self.params()?;
        let noreturn = self.eat_dotted("noreturn");
        let body = match self.peek() {
            Token::Punct('{') => {
                self.next();
                Some(self.statements(1)?)
            }
            _ => {
                self.expect(';')?;
                None
            }
        };
        Ok(Function { linkage, results, name, params, noreturn, body, span })
    }

    fn directive(&mut self) -> Result<Directive, Error> {
        let expected = self.expected("a performance directive such as `.maxntid`, or the kernel's `{`");
        let Token::Dotted(word) = self.next() else { return Err(expected) };
        Ok(match word {
            "maxntid" => Directive::MaxNtid(self.extents()?),
            "reqntid" => Directive::ReqNtid(self.extents()?),
            "reqnctapercluster" => Directive::ReqNctaPerCluster(self.extents()?),
            "minnctapersm" => Directive::MinNctaPerSm(self.integer("a number of blocks")?),
            "maxnreg" => Directive::MaxNreg(self.integer("a number of registers")?),
            "maxclusterrank" => Directive::MaxClusterRank(self.integer("a number of blocks")?),
            "explicitcluster" => Directive::ExplicitCluster,
            _ => return Err(expected),
        })
    }

    /// One to three extents; missing ones are 1.
    fn extents(&mut self) -> Result<[u32; 3], Error> {
        let mut extents = [1; 3];
        for (i, extent) in extents.iter_mut().enumerate() {
            if i > 0 && !self.eat(',') {
                break;
            }
            *extent = self.integer("an extent in x, y or z")?;
        }
        Ok(extents)
    }
}
