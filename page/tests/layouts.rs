use girih_page::call;
use serde_json::{Value, json};

fn evaluate(expression: &str) -> Value {
    let body = json!({ "expression": expression }).to_string();
    serde_json::from_str(&call("layouts", "evaluate", body.as_bytes()).unwrap()).unwrap()
}

#[test]
fn tables_are_the_function_of_the_layout() {
    let answer = evaluate("composition((10,2):(16,4), (5,4):(1,5))");
    assert_eq!((&answer["table"]["rows"], &answer["table"]["columns"]), (&json!(5), &json!(4)));
    let values = answer["table"]["values"].as_array().unwrap();
    for (i, value) in values.iter().enumerate() {
        let inner = (i / 4) + 5 * (i % 4);
        assert_eq!(*value, json!(16 * (inner % 10) + 4 * (inner / 10)), "cell {i}");
    }
}
