use girih_page::{Fault, call};
use serde_json::{Value, json};

fn ask(name: &str, request: Value) -> Result<Value, Fault> {
    let answer = call("partitions", name, request.to_string().as_bytes())?;
    Ok(serde_json::from_str(&answer).unwrap())
}

/// The rows and columns of a thread's values in the accumulator of mma.m16n8k16, from the PTX ISA: `row = groupID (+ 8)`,
/// `column = 2 threadID_in_group + (i & 1)`.
#[test]
fn a_thread_owns_the_elements_that_the_ptx_isa_names() {
    let of = json!({ "what": "mma", "name": "SM80_16x8x16_F32BF16BF16F32_TN" });
    let drawn = ask("draw", of.clone()).unwrap();
    assert_eq!(drawn["threads"], 32);
    let places: Vec<&Value> =
        drawn["pictures"].as_array().unwrap().iter().map(|grid| &grid["place"]).collect();
    assert_eq!(places, [&json!([1, 0]), &json!([0, 1]), &json!([1, 1])]);
    for thread in 0..32 {
        let owned = ask("choose", json!({ "of": of, "by": { "thread": thread } })).unwrap();
        let (group, inside) = (thread / 4, thread % 4);
        let cells = (0..4).map(|i| json!([i, (group + 8 * (i / 2)) * 8 + 2 * inside + i % 2]));
        assert_eq!(owned["cells"][2], Value::Array(cells.collect()), "thread {thread}");
        assert_eq!(owned["cells"][0].as_array().unwrap().len(), 8);
        assert_eq!(owned["cells"][1].as_array().unwrap().len(), 4);
    }
    // Cell (9,3) of C belongs to thread 5, value 3.
    let owned =
        ask("choose", json!({ "of": of, "by": { "cell": { "grid": 2, "cell": 9 * 8 + 3 } } })).unwrap();
    assert_eq!(
        (&owned["thread"], &owned["owners"], &owned["count"]),
        (&json!(5), &json!([[5, 3]]), &json!(1))
    );
}

#[test]
fn tiled_partitions_have_the_threads_of_all_atoms() {
    let of = json!({ "what": "mma", "name": "SM80_16x8x16_F32F16F16F32_TN", "atoms": "(2,2,1)" });
    let drawn = ask("draw", of.clone()).unwrap();
    assert_eq!(drawn["threads"], 128);
    assert_eq!((&drawn["pictures"][2]["rows"], &drawn["pictures"][2]["columns"]), (&json!(32), &json!(16)));
    // A is read by the warps of both atoms along N.
    let owned = ask("choose", json!({ "of": of, "by": { "cell": { "grid": 0, "cell": 0 } } })).unwrap();
    assert_eq!(owned["count"], 2);
    let copy = json!({ "what": "tiled_copy", "name": "UniversalCopy<uint128_t>", "threads": "(32,8):(8,1)", "values": "(1,8):(8,1)", "dtype": "bf16" });
    assert_eq!(ask("draw", copy).unwrap()["threads"], 256);
}

#[test]
fn a_planned_copy_covers_the_tile() {
    let of = json!({ "what": "planned", "memory": "(128,64):(4096,1)", "threads": 256, "dtype": "bf16" });
    let drawn = ask("draw", of.clone()).unwrap();
    assert_eq!(drawn["threads"], 256);
    assert!(drawn["tv"].is_string());
    let cells = drawn["pictures"][0]["words"].as_array().unwrap();
    assert!(!cells.is_empty() && cells.iter().all(|words| words != ""));
    let owned = ask("choose", json!({ "of": of, "by": { "thread": 1 } })).unwrap();
    // Eight elements of 16 bits, one after the other in memory, which is along the rows.
    let own: Vec<i64> =
        owned["cells"][0].as_array().unwrap().iter().map(|pair| pair[1].as_i64().unwrap()).collect();
    assert!(own.chunks(8).all(|piece| piece.windows(2).all(|two| two[1] == two[0] + 1)), "{own:?}");
}

/// A column of a row-major tile of 64 x 64 elements of 16 bits lies in one bank: 32 threads take 32 turns; with a swizzle
/// of whole vectors, 8 threads that read 16 bytes each fill all banks.
#[test]
fn conflicts_are_counted_and_planned_away() {
    let column = |swizzle: [i32; 3]| {
        ask(
            "banks",
            json!({
                "memory": "(64,64):(64,1)", "dtype": "bf16", "access": "(32,8):(1,64)", "vector": 8, "swizzle": swizzle,
            }),
        )
    };
    let plain = column([0, 0, 0]).unwrap();
    let counts = &plain["counts"]["wavefronts"];
    assert_eq!((&counts["taken"], &counts["least"]), (&json!(32), &json!(4)));
    assert!(plain["notes"][0].as_str().unwrap().contains("bank"), "{}", plain["notes"]);
    let plan = json!({ "memory": "(64,64):(64,1)", "dtype": "bf16", "access": "(32,8):(1,64)", "vector": 8 });
    let plan = ask("plan_swizzle", plan).unwrap();
    assert_eq!((&plan["taken"], &plan["least"]), (&json!(4), &json!(4)));
    let parts: Vec<i32> =
        plan["swizzle"].as_array().unwrap().iter().map(|part| part.as_i64().unwrap() as i32).collect();
    let swizzled = column([parts[0], parts[1], parts[2]]).unwrap();
    assert_eq!(swizzled["counts"]["wavefronts"]["taken"], 4);
    assert_eq!(swizzled["pictures"][0]["marked"], json!([]));
    assert!(swizzled["layout"].as_str().unwrap().starts_with(plan["text"].as_str().unwrap()));
}

/// A text of a few characters can name more places than a machine has bytes.
#[test]
fn what_is_too_large_is_refused_at_once() {
    let field = |name: &str, request: Value| ask(name, request).unwrap_err().field;
    let large = "(1099511627776,1):(0,0)";
    let banks = |memory: &str, access: &str| json!({ "memory": memory, "access": access, "dtype": "f32" });
    assert_eq!(field("banks", banks("(8,8)", large)), Some("access"));
    assert_eq!(field("banks", banks(large, "")), Some("memory"));
    assert_eq!(field("banks", banks("(8,8):(1,1000000000000000000)", "")), Some("memory"));
    assert_eq!(field("banks", banks("Sw<1,0,3> o 9000000000000000000 o (8,8)", "")), Some("memory"));
    let plan = json!({ "memory": "(8,8)", "dtype": "f32", "access": large, "vector": 1 });
    assert_eq!(field("plan_swizzle", plan), Some("access"));
    for (memory, threads, of) in [
        ("(8000000000,8000000000):(8000000000,1)", 32, "memory"),
        ("(64,64):(64,1)", i64::MAX, "threads"),
        ("(64,64):(64,1)", -1, "threads"),
    ] {
        let planned = json!({ "what": "planned", "memory": memory, "threads": threads, "dtype": "f32" });
        assert_eq!(field("draw", planned), Some(of));
    }
    let copy = json!({ "what": "tiled_copy", "name": "UniversalCopy<uint128_t>", "threads": large, "values": "1:1", "dtype": "f32" });
    assert_eq!(field("draw", copy), Some("threads"));
    let mma = |atoms: &str, permutation: &str| {
        let of = json!({ "what": "mma", "name": "SM80_16x8x16_F32F16F16F32_TN", "atoms": atoms, "permutation": permutation });
        ask("draw", of).unwrap_err()
    };
    assert_eq!(mma(large, "").field, Some("atoms"));
    mma("(1000,1000,1)", "");
    mma("(2,2,1)", "<4611686018427387904,4611686018427387904,_>");
    assert!(ask("draw", json!({ "what": "copy", "name": "SM75_U32x4_LDSM_N", "unit": i64::MIN })).is_err());
    let vector =
        |vector: i64| json!({ "memory": "(8,8)", "access": "(32,2)", "dtype": "f32", "vector": vector });
    for of in [i64::MIN, -1, 0, i64::MAX] {
        assert_eq!(field("banks", vector(of)), Some("access"));
    }
}

#[test]
fn what_is_wrong_is_said_of_its_field() {
    let field = |name: &str, request: Value| {
        let fault = ask(name, request).unwrap_err();
        (fault.field, fault.message)
    };
    let (named, message) = field("draw", json!({ "what": "mma", "name": "SM80_16x8x16_F32BF16BF16F32" }));
    assert_eq!(named, Some("name"));
    assert!(message.contains("SM80_16x8x16_F32BF16BF16F32_TN"), "{message}");
    let of = json!({ "what": "mma", "name": "SM80_16x8x16_F32F16F16F32_TN", "atoms": "(2,x)" });
    assert_eq!(field("draw", of).0, Some("atoms"));
    let of = json!({ "what": "mma", "name": "SM80_16x8x16_F32F16F16F32_TN" });
    assert_eq!(field("choose", json!({ "of": of, "by": { "thread": 32 } })).0, Some("thread"));
    assert!(
        field("choose", json!({ "of": of, "by": { "cell": { "grid": 3, "cell": 0 } } }))
            .1
            .contains("no such cell")
    );
    let banks = |memory: &str, swizzle: [i32; 3], access: &str, dtype: &str| {
        field("banks", json!({ "memory": memory, "swizzle": swizzle, "access": access, "dtype": dtype })).0
    };
    assert_eq!(banks("(8,8", [0, 0, 0], "", "f32"), Some("memory"));
    assert_eq!(banks("(8,8)", [3, 0, 1], "", "f32"), Some("swizzle"));
    assert_eq!(banks("Sw<1,0,3> o 0 o (8,8)", [1, 0, 3], "", "f32"), Some("swizzle"));
    assert_eq!(banks("(8,8)", [0, 0, 0], "32:1:1", "f32"), Some("access"));
    assert_eq!(banks("(8,8)", [0, 0, 0], "", "f33"), Some("dtype"));
}
