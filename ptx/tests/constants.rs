//! The values of literals and of integer constant expressions, as operands and as offsets of addresses.

use girih_ptx::{Address, Error, Operand, Statement};

/// The operands of the one instruction that the text is.
fn operands(text: &str) -> Result<Vec<Operand>, Error> {
    match Statement::parse_all(text)?.remove(0) {
        Statement::Inst(inst) => Ok(inst.operands),
        other => panic!("{text}: {other:?}"),
    }
}

/// The constant as an operand.
fn constant(text: &str) -> Result<Operand, Error> {
    operands(&format!("mov.b64 x, {text};")).map(|mut operands| operands.remove(1))
}

#[test]
fn expressions_have_the_values_of_the_isa() {
    for (text, expected) in [
        ("(3+4)*2", 14),
        ("3+4*2", 11),
        ("20 - 4 - 3", 13),
        ("1<<4|3", 19),
        ("1 << 2 + 1", 8),
        ("~0", -1),
        ("!0 + !7", 1),
        ("-(4)", -4),
        ("- -4", 4),
        ("5>3?7:9", 7),
        ("0?1:0?2:3", 3),
        ("7/2", 3),
        ("-7/2", -3),
        ("-1 >> 60", -1),
        ("(.u64)-1 >> 60", 15),
        ("0xffffffffffffffff >> 63", 1),
        ("1U << 63 >> 63", 1),
        ("(.s64)(1U << 63) >> 63", -1),
        ("-1 < 0", 1),
        ("-1 < 0U", 0),
        ("3 && 0 || 2", 1),
        ("6 & 3 == 3", 6 & 1),
        ("5 ^ 1 | 8", 12),
        ("1 << 64", 0),
        ("-8 >> 100", -1),
        ("2 != 2", 0),
        ("WARP_SZ*2-1", 63),
        ("0x10*0b11+010", 56),
    ] {
        let value = constant(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(value, Operand::Int(expected), "{text}");
        let address = operands(&format!("ld.b64 x, [y+{text}];")).unwrap_or_else(|e| panic!("{text}: {e}"));
        let expected = Address { base: Some("y".into()), offset: expected, coordinates: Vec::new() };
        assert_eq!(address[1], Operand::Address(expected), "{text}");
    }
}

#[test]
fn what_is_no_expression_is_an_error_in_its_place() {
    let before = "mov.b64 x, y+";
    let offset = |text: &str| operands(&format!("{before}{text}"));
    for (text, column, message) in [
        ("1+", 3, "expected a constant after an operator, found the end of the text"),
        ("(1", 3, "expected `)`, found the end of the text"),
        ("4/(2-2)", 2, "`/ 0` is not a divisor other than 0"),
        ("1.5+1", 1, "`1.5` is not an integer"),
        ("1?2", 4, "expected `:`, found the end of the text"),
        ("", 1, "expected an offset in bytes, found the end of the text"),
    ] {
        let message = format!("line 1, column {}: {message}", before.len() + column);
        assert_eq!(offset(text).unwrap_err().to_string(), message, "{text}");
    }
    let deep = format!("{}1{};", "(".repeat(1000), ")".repeat(1000));
    assert!(offset(&deep).unwrap_err().to_string().contains("nested deeper than 64"));
    assert!(offset(&"-".repeat(100_000)).is_err());
    assert!(offset(&"1?".repeat(100_000)).is_err());
    assert!(offset(&format!("1{};", "|1^1&1==1<1<<1+1*1".repeat(10_000))).is_ok());
}

#[test]
fn literals_have_the_values_of_the_isa() {
    for (text, value) in [
        ("0", Operand::Int(0)),
        ("42", Operand::Int(42)),
        ("42U", Operand::Int(42)),
        ("0x1F", Operand::Int(31)),
        ("0XffU", Operand::Int(255)),
        ("0b101", Operand::Int(5)),
        ("017", Operand::Int(15)),
        ("9223372036854775808", Operand::Int(i64::MIN)),
        ("0xFFFFFFFFFFFFFFFF", Operand::Int(-1)),
        ("1.0", Operand::F64(1f64.to_bits())),
        ("1e3", Operand::F64(1000f64.to_bits())),
        ("2.5E-1", Operand::F64(0.25f64.to_bits())),
        ("0f3F800000", Operand::F32(1f32.to_bits())),
        ("0d3ff0000000000000", Operand::F64(1f64.to_bits())),
    ] {
        assert_eq!(constant(text).unwrap_or_else(|error| panic!("{text}: {error}")), value, "{text}");
    }
}

#[test]
fn malformed_and_too_large_literals_are_refused() {
    let bad =
        ["08", "0x", "0b2", "12x", "18446744073709551616", "0f3F80000", "0fXYZ00000", "1e999", "1.0f", "1_0"];
    for text in bad {
        let message = format!("line 1, column 12: `{text}` is not a number of at most 64 bits");
        assert_eq!(constant(text).unwrap_err().to_string(), message, "{text}");
    }
    let nothing = constant("").unwrap_err().to_string();
    assert_eq!(nothing, "line 1, column 12: expected an operand, found `;`");
}
