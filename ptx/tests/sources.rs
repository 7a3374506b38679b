//! Source lines: `.file`, `.loc` and the names of inlined functions; and modules of which a part can't be read.

use girih_ptx::{Inlined, Item, Loc, Module, SourceFile, SourcePlace, Statement};

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// As nvcc and LLVM write it: the strings stand after the kernels.
const LINES: &str = ".file 1 \"/src/kernel.cu\", 1700000000, 1234
.visible .entry k()
{
  .loc 1 42 5
  .loc 2 7 1, function_name $L__info_string1, inlined_at 1 42 5 // cdiv
  ret;
}
.file 2 \"/src\" \"inner.cuh\"
.section .debug_abbrev { .b8 1
 .b8 17 }
.section .debug_str
{
$L__info_string0:
.b8 97, 0
$L__info_string1:
.b8 99,100
.b8 105,118,0
}
";

#[test]
fn source_lines_are_read_with_what_was_inlined() {
    let module = Module::parse(&format!("{HEADER}{LINES}")).unwrap();
    let files = module.items.iter().filter_map(|item| match item {
        Item::File(SourceFile { index, name }) => Some((*index, &**name)),
        _ => None,
    });
    assert_eq!(files.collect::<Vec<_>>(), [(1, "/src/kernel.cu"), (2, "/src/inner.cuh")]);
    let Item::Kernel(kernel) = &module.items[1] else { panic!("{module}") };
    let outer = SourcePlace { file: 1, line: 42, column: 5 };
    let inner = SourcePlace { file: 2, line: 7, column: 1 };
    assert_eq!(kernel.body[0], Statement::Loc(Loc { at: outer, inlined: None }));
    let inlined = Some(Inlined { function: "cdiv".into(), at: outer });
    assert_eq!(kernel.body[1], Statement::Loc(Loc { at: inner, inlined }));
    module.verify().unwrap();
    assert_eq!(Module::parse(&module.to_string()).unwrap(), module);
}

#[test]
fn source_lines_without_a_name_and_on_the_line_of_an_instruction() {
    let text = format!("{HEADER}.entry k() {{ .loc 1 2 3, inlined_at 1 5 6 trap; .loc 1 0 0\nret; }}");
    let module = Module::parse(&text).unwrap();
    let Item::Kernel(kernel) = &module.items[0] else { panic!("{module}") };
    assert_eq!(kernel.body.len(), 4);
    assert!(Module::parse(&format!("{HEADER}.entry k() {{ .loc 1 2\nret; }}")).is_err());
}

/// What can't be read, in all the places where an item can fail.
const BAD: [(&str, &str, bool); 8] = [
    ("bad", ".visible .entry bad(.param .u64 p) { frobnicate; ret; }", true),
    ("bad", ".entry bad() .maxntid 32 { { add.f32 ; } ret; }", true),
    ("bad", ".entry bad(.param .f128 p) { ret; }", true),
    ("bad", ".entry bad() { add.s32 %r1, %r2, %r3; ret; }", true),
    ("bad", ".func (.param .b32 r) bad(.param .b32 p) { tex.2d; ret; }", false),
    ("bad", ".global .texref bad;", false),
    ("bad", ".global .v4 .f32 bad[2] = {{1,2,3,4},{5,6,7,8}};", false),
    ("bad", ".alias bad, other;", false),
];

#[test]
fn what_cant_be_read_leaves_the_rest() {
    for (name, item, kernel) in BAD {
        let text = format!("{HEADER}.entry before() {{ ret; }}\n{item}\n.entry after() {{ ret; }}\n");
        assert!(Module::parse(&text).and_then(|module| module.verify()).is_err(), "{item}");
        let (module, refused) = Module::parse_each(&text).unwrap();
        let kernels: Vec<_> = module.kernels().into_iter().map(|kernel| kernel.name).collect();
        assert_eq!(kernels, ["before".into(), "after".into()], "{item}");
        let told: Vec<_> = refused.iter().map(|refused| (&*refused.name, refused.kernel)).collect();
        assert_eq!(told, [(name, kernel)], "{item}");
        assert_eq!(refused[0].error.span().line, 5, "{item}: {}", refused[0].error);
        module.verify().unwrap();
    }
}

#[test]
fn what_names_something_refused_is_refused_for_its_reason() {
    let text = format!(
        "{HEADER}.func bad() {{ frobnicate; ret; }}
         .func through() {{ call bad; ret; }}
         .entry user() {{ call through; ret; }}
         .entry other() {{ ret; }}"
    );
    let (module, refused) = Module::parse_each(&text).unwrap();
    assert_eq!(module.kernels().len(), 1);
    assert_eq!(refused.len(), 3);
    assert!(refused.iter().all(|refused| refused.error.to_string().contains("frobnicate")), "{refused:?}");
}

#[test]
fn a_text_that_is_no_module_is_refused_as_a_whole() {
    for text in
        ["", ".version 8.0", &format!("{HEADER}.entry k() {{ ret; "), &format!("{HEADER}.entry k() {{ # }}")]
    {
        assert!(Module::parse_each(text).is_err(), "{text}");
    }
    let old = ".version 7.0\n.target sm_90\n.address_size 64\n.entry k() { ret; }";
    assert!(Module::parse_each(old).is_err());
}

#[test]
fn carets_stand_under_the_place() {
    let text = format!("{HEADER}.entry k() {{\n\tadd.f32\t%f1 %f2;\n}}");
    let error = Module::parse(&text).unwrap_err();
    let shown = error.quoting(&text);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[1], "  | \tadd.f32\t%f1 %f2;");
    assert_eq!(lines[2], "  | \t       \t    ^");
    // Of another text, or none, it is the message alone.
    assert_eq!(error.quoting(""), error.to_string());
    // Long lines are cut, and the caret moves with them.
    let long =
        format!("{HEADER}.entry k() {{ {} frobnicate; {} }}", "ret; ".repeat(1000), "ret; ".repeat(1000));
    let shown = Module::parse(&long).unwrap_err().quoting(&long);
    let lines: Vec<&str> = shown.lines().collect();
    let caret = lines[2].find('^').unwrap();
    assert!(lines[1].len() < 140 && lines[1][caret..].starts_with("frobnicate"), "{shown}");
}
