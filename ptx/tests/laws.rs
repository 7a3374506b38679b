//! Laws of printing, parsing and checking, over trees built from the table of forms.

use crate::instances::{fillings, instance};
use girih_ptx::forms::{self, Form};
use girih_ptx::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn name() -> impl Strategy<Value = Name> {
    "[%$]?[a-zA-Z][a-zA-Z0-9_$]{0,8}".prop_map(Name::from)
}

fn scalar() -> impl Strategy<Value = Operand> {
    prop_oneof![
        name().prop_map(Operand::Name),
        any::<i64>().prop_map(Operand::Int),
        (-9i64..9).prop_map(Operand::Int),
        any::<u32>().prop_map(Operand::F32),
        any::<u64>().prop_map(Operand::F64),
        select(Special::ALL).prop_map(Operand::Special),
        Just(Operand::Sink),
    ]
}

fn operand() -> impl Strategy<Value = Operand> {
    let address = (option::of(name()), any::<i64>(), vec(scalar(), 0..4))
        .prop_map(|(base, offset, coordinates)| Operand::Address(Address { base, offset, coordinates }));
    prop_oneof![
        scalar(),
        name().prop_map(Operand::Not),
        (name(), name()).prop_map(|(a, b)| Operand::Pair(a, b)),
        vec(scalar(), 1..9).prop_map(Operand::Vector),
        address,
    ]
}

/// An instruction of the table, or one of any modifiers and operands: the tree is open.
fn inst() -> impl Strategy<Value = Inst> {
    let forms: Vec<&'static Form> = forms::all().collect();
    let modifiers: Vec<Modifier> =
        Type::ALL.iter().map(|&ty| ty.into()).chain(Word::ALL.iter().map(|&word| word.into())).collect();
    let known = (select(forms), any::<prop::sample::Index>(), any::<bool>(), 0usize..64).prop_map(
        |(form, index, optional, first)| {
            let fillings = fillings(form, 50);
            instance(form, index.get(&fillings), optional, first)
        },
    );
    let open = (select(Opcode::ALL), vec(select(modifiers), 0..8), vec(operand(), 0..6)).prop_map(
        |(opcode, modifiers, operands)| Inst {
            guard: None,
            opcode,
            modifiers,
            operands,
            span: Span::default(),
        },
    );
    let guard = option::of((name(), any::<bool>()).prop_map(|(reg, negated)| Guard { reg, negated }));
    (guard, prop_oneof![known, open]).prop_map(|(guard, inst)| Inst { guard, ..inst })
}

fn linkage() -> impl Strategy<Value = Linkage> {
    use Linkage::*;
    select(vec![Internal, Visible, External, Weak, Common])
}

fn variable() -> impl Strategy<Value = Variable> {
    let space =
        select(vec![VarSpace::Shared, VarSpace::Global, VarSpace::Const, VarSpace::Local, VarSpace::Param]);
    let extent =
        prop_oneof![Just(Extent::Scalar), any::<u64>().prop_map(Extent::Array), Just(Extent::Unsized)];
    (linkage(), space, option::of(any::<u32>()), select(Type::ALL), name(), extent, vec(scalar(), 0..4))
        .prop_map(|(linkage, space, align, ty, name, extent, init)| Variable {
            linkage,
            space,
            align,
            ty,
            name,
            extent,
            init,
            span: Span::default(),
        })
}

fn prototype() -> impl Strategy<Value = Prototype> {
    let param = || {
        variable().prop_map(|variable| Variable {
            linkage: Linkage::Internal,
            space: VarSpace::Param,
            init: Vec::new(),
            ..variable
        })
    };
    (vec(param(), 0..2), vec(param(), 0..3), any::<bool>())
        .prop_map(|(results, params, noreturn)| Prototype { results, params, noreturn })
}

fn loc() -> impl Strategy<Value = Loc> {
    let place = || any::<[u32; 3]>().prop_map(|[file, line, column]| SourcePlace { file, line, column });
    let inlined = ("[a-zA-Z_$:<> é]{1,8}", place())
        .prop_map(|(function, at)| Inlined { function: function.into(), at });
    (place(), option::of(inlined)).prop_map(|(at, inlined)| Loc { at, inlined })
}

fn statement() -> impl Strategy<Value = Statement> {
    let registers = (select(Type::ALL), vec((name(), option::of(any::<u32>())), 1..4))
        .prop_map(|(ty, names)| Statement::Reg(RegDecl { ty, names, span: Span::default() }));
    let local = variable()
        .prop_map(|variable| Statement::Variable(Variable { linkage: Linkage::Internal, ..variable }));
    let leaf = prop_oneof![
        8 => inst().prop_map(Statement::Inst),
        1 => registers,
        1 => local,
        1 => name().prop_map(Statement::Label),
        1 => loc().prop_map(Statement::Loc),
        1 => vec(name(), 1..4).prop_map(Statement::CallTargets),
        1 => prototype().prop_map(Statement::CallPrototype),
        1 => "[a-z 0-9]{0,12}".prop_map(|text| Statement::Pragma(text.into())),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| vec(inner, 0..6).prop_map(Statement::Block))
}

fn directive() -> impl Strategy<Value = Directive> {
    prop_oneof![
        any::<[u32; 3]>().prop_map(Directive::MaxNtid),
        any::<[u32; 3]>().prop_map(Directive::ReqNtid),
        any::<[u32; 3]>().prop_map(Directive::ReqNctaPerCluster),
        any::<u32>().prop_map(Directive::MinNctaPerSm),
        any::<u32>().prop_map(Directive::MaxNreg),
        any::<u32>().prop_map(Directive::MaxClusterRank),
        Just(Directive::ExplicitCluster),
    ]
}

fn kernel() -> impl Strategy<Value = Kernel> {
    let param = variable().prop_map(|variable| Variable {
        linkage: Linkage::Internal,
        space: VarSpace::Param,
        init: Vec::new(),
        ..variable
    });
    (linkage(), name(), vec(param, 0..4), vec(directive(), 0..4), vec(statement(), 0..12)).prop_map(
        |(linkage, name, params, directives, body)| Kernel {
            linkage,
            name,
            params,
            directives,
            body,
            span: Span::default(),
        },
    )
}

fn module() -> impl Strategy<Value = Module> {
    let outside = variable().prop_filter("of the module's scope", |variable| {
        !matches!(variable.space, VarSpace::Local | VarSpace::Param)
    });
    let file = (any::<u32>(), "[a-z/. ]{1,12}")
        .prop_map(|(index, name)| Item::File(SourceFile { index, name: name.into() }));
    let item = prop_oneof![kernel().prop_map(Item::Kernel), outside.prop_map(Item::Variable), file];
    let target =
        (any::<u32>(), option::of(select(vec!['a', 'f']))).prop_map(|(sm, suffix)| Target { sm, suffix });
    (any::<(u8, u8)>(), target, vec(item, 0..4)).prop_map(|(version, target, items)| Module {
        version,
        target,
        items,
        notes: Notes::default(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]
    #[test]
    fn parsing_undoes_printing(module in module()) {
        let text = module.to_string();
        let parsed = Module::parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&parsed, &module, "{}", text);
        prop_assert_eq!(parsed.to_string(), text);
    }

    /// Damaged text gives an error or another module, never a panic, and what parses still prints and parses.
    #[test]
    fn damaged_text_never_panics(
        file in select(vec!["forms.ptx", "forms-sm80.ptx", "forms-sm89.ptx"]),
        damage in vec((any::<prop::sample::Index>(), 0usize..8, "[\\PC\n]{0,4}|[{}\\[\\]();:,.@!|<>=\"_0-9a-z%-]{0,3}"), 1..4),
    ) {
        let mut text = std::fs::read_to_string(format!("{}/testdata/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        for (place, cut, insert) in damage {
            let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let from = place.index(boundaries.len());
            let to = (from + cut).min(boundaries.len() - 1);
            text.replace_range(boundaries[from]..boundaries[to], &insert);
        }
        if let Ok(module) = Module::parse(&text) {
            let _ = (module.verify(), module.kernels());
            prop_assert_eq!(&Module::parse(&module.to_string()).unwrap(), &module);
        }
    }
}

/// Every form in every filling: what is built from the table fits it, and one change breaks it.
#[test]
fn the_table_accepts_its_own_and_nothing_beside() {
    let mut count = 0;
    for form in forms::all() {
        for filled in fillings(form, 100) {
            let inst = instance(form, &filled, false, 1);
            let found = forms::check(&inst).unwrap_or_else(|error| panic!("{form}: {error}"));
            assert_eq!(found.opcode, form.opcode);

            let mut longer = inst.clone();
            longer.operands.extend(vec![Operand::Sink; 5]);
            assert!(matches!(forms::check(&longer), Err(Error::OperandCount { .. })), "{longer}");

            // No form ends with a space; a second `.to` stands nowhere.
            let mut wordier = inst.clone();
            wordier.modifiers.push(Word::To.into());
            assert!(matches!(forms::check(&wordier), Err(Error::Modifier { .. })), "{wordier}");

            for place in 0..inst.operands.len() {
                let mut wrong = inst.clone();
                wrong.operands[place] = Operand::Vector(Vec::new());
                assert!(
                    matches!(forms::check(&wrong), Err(Error::Operand { number, .. }) if number == place + 1),
                    "{wrong}: {:?}",
                    forms::check(&wrong)
                );
            }
            count += 1;
        }
    }
    assert!(count > 5_000, "{count}");
}

/// No word has two spellings and no spelling two words, in the table that the parser looks words up in.
#[test]
fn words_and_spellings_are_one_to_one() {
    for &word in Word::ALL {
        assert_eq!(Modifier::parse(word.text()), Some(Modifier::Word(word)));
    }
    for &ty in Type::ALL {
        assert_eq!(Modifier::parse(ty.text()), Some(Modifier::Type(ty)));
    }
    for &opcode in Opcode::ALL {
        assert_eq!(Opcode::parse(opcode.text()), Some(opcode));
    }
    for &special in Special::ALL {
        assert_eq!(Special::parse(special.text()), Some(special));
    }
}
