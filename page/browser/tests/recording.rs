//! Recordings: a page of its own, from a file.

use serde_json::{Value, json};

use crate::{Session, WINDOWS};

/// The answer of the program to a call, as the page gets it.
fn asked(session: &mut Session, call: &str, body: &Value) -> Value {
    session.browser.value(&format!(
        "fetch('/api/kernels/{call}', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: JSON.stringify({body}) }}).then((answer) => answer.json())"
    ))
}

#[test]
fn a_recording_replays_from_a_file_what_the_program_answers() {
    for (kernel, first) in [("sum_race", "0:0"), ("gemm_sm90_bf16", "0:0")] {
        let mut session = Session::at(&format!("kernels?k={kernel}"));
        session
            .browser
            .until(&format!("document.querySelector('#view-kernels')?.dataset.step === {first:?}"));
        session
            .browser
            .value("URL.createObjectURL = (file) => { window.saved = file.text(); return 'data:,' }; 1");
        session.browser.value("[...document.querySelectorAll('#view-kernels button')].find((one) => one.textContent === 'Save a recording').click()");
        session.browser.until("window.saved");
        let html = session.browser.text("window.saved");
        println!("the recording of {kernel}: {} KB", html.len().div_ceil(1000));
        // What the program answers, at steps here and there.
        let list = asked(&mut session, "list", &json!({}));
        let example =
            list["examples"].as_array().expect("examples").iter().find(|of| of["name"] == kernel).cloned();
        let request = match example {
            Some(of) => {
                json!({ "ptx": of["ptx"], "launches": of["launches"], "block": [0, 0, 0], "seed": 0 })
            }
            None => json!({ "kernel": kernel, "sizes": [128, 128, 256], "block": [0, 0, 0], "seed": 0 }),
        };
        let run = asked(&mut session, "run", &request);
        let mut answers = Vec::new();
        for (warp, steps) in run["warps"].as_array().expect("warps").iter().enumerate() {
            let steps = steps.as_u64().expect("steps");
            for step in [0, 1, steps / 3, steps / 2, steps - 1] {
                let body = json!({ "run": run["run"], "warp": warp, "step": step });
                answers.push((body.clone(), asked(&mut session, "step", &body)));
            }
        }
        // The same from a file. Without a server nothing can be asked for.
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("recording.html");
        std::fs::write(&file, html).expect("a file");
        let before = session.browser.asked().len();
        session.browser.open(&format!("file://{}", file.display()));
        session.browser.until("document.querySelector('#view-kernels')?.dataset.step");
        let same =
            session.browser.value("import('girih/ask.js').then(({ ask }) => ask('kernels', 'run', {}))");
        assert_eq!(same, run);
        for (body, answer) in answers {
            let same = format!("import('girih/ask.js').then(({{ ask }}) => ask('kernels', 'step', {body}))");
            assert_eq!(session.browser.value(&same), answer, "{kernel}: {body}");
        }
        session.browser.press("End");
        session.browser.until("document.querySelector('#view-kernels').dataset.step !== '0:0'");
        session.browser.until("location.hash.includes('s=')");
        for place in
            0..session.browser.number("document.querySelectorAll('.findings button').length") as usize
        {
            session.browser.value(&format!("document.querySelectorAll('.findings button')[{place}].click()"));
            let line = session.browser.text(&format!(
                "document.querySelectorAll('.findings button')[{place}].textContent.match(/line (\\d+)/)[1]"
            ));
            session.browser.until(&format!(
                "document.querySelector('.line[aria-current] span').textContent === {line:?}"
            ));
        }
        for address in session.browser.asked().split_off(before) {
            assert!(["file:", "data:", "about:"].iter().any(|own| address.starts_with(own)), "{address}");
        }
        for (width, height) in WINDOWS {
            session.browser.looks(width, height, 2, true);
            session.browser.value("new Promise((done) => setTimeout(() => done(1), 200))");
            assert!(session.browser.number("document.documentElement.scrollWidth") <= f64::from(width));
            session.browser.shoot(&crate::pictures().join(format!("recording-{kernel}-{width}.png")));
        }
        assert_eq!(session.browser.errors(), [""; 0]);
    }
}
