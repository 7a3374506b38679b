// Kernels, step by step: a launch is recorded by the program, and each step is asked for.
import { RECORDED } from "./ask.js";
import { delayed, element, fault, labelled, natural, save, say, select } from "./dom.js";
import { Launch } from "./launch.js";
import { Listing } from "./listing.js";
import { Memory } from "./memory.js";
import { address } from "./numbers.js";
import { Registers } from "./registers.js";
import { Timeline } from "./timeline.js";
import { Waits, lanes, warps as warpsOf } from "./waits.js";

const plural = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

function mount(root, page) {
  let run = null;
  let warp = 0;
  let step = 0;
  let state = null;
  /** The step whose registers are shown: of another one, the program tells what is different. */
  let shown = null;

  const launch = new Launch(page, {
    onchange: () => start(),
    onchoose: () => {
      page.keep();
      [warp, step] = [0, 0];
    },
  });
  const outcome = element("div", { class: "outcome" });
  const problem = element("div");

  // What is shown.
  const listing = new Listing({ onchoose: (line) => toLine(line) });
  const timeline = new Timeline({ onchoose: (to, nth) => go(to, nth) });
  const axis = select([["beside", "warps beside each other"], ["order", "the simulator's order"]], { onchange: () => times() });
  const legend = element("div", { class: "legend" });
  const registers = new Registers();
  const maps = element("div");
  let memory = [];
  const warps = element("select", { onchange: () => go(Number(warps.value), at(Number(warps.value))) });
  const line = element("input", { type: "number", min: 1, "aria-label": "To line", placeholder: "line", onchange: () => line.value && toLine(Number(line.value)) });
  const slider = element("input", { type: "range", min: 0, value: 0, "aria-label": "step of the warp", oninput: () => go(warp, Number(slider.value)) });
  const count = element("span", { class: "mono" });
  const button = (text, label, act) => element("button", { class: "act", type: "button", title: label, "aria-label": `${text} ${label}`, onclick: act }, text);
  const now = element("div", { class: "now mono" });
  const waits = new Waits();
  const panel = element("section", { class: "card", "aria-label": "state after the step" },
    element("div", { class: "stick" }, element("div", { class: "row steps" },
      labelled("Warp", warps),
      button("«", "first step (Home)", () => go(warp, 0)),
      button("−10", "ten steps back (Shift + arrow left)", () => go(warp, step - 10)),
      button("◀", "a step back (arrow left)", () => go(warp, step - 1)),
      button("▶", "a step on (arrow right)", () => go(warp, step + 1)),
      button("+10", "ten steps on (Shift + arrow right)", () => go(warp, step + 10)),
      button("»", "last step (End)", () => go(warp, Infinity)),
      button("[", "what the simulator executed before, in any warp ([)", () => beside("before")),
      button("]", "what the simulator executed next, in any warp (])", () => beside("after"))),
    element("div", { class: "row stepper" }, slider, count, line)),
    now, registers.root, waits.root, maps);
  const result = element("div", { hidden: true },
    element("section", { class: "card", "aria-label": "timeline" },
      element("div", { class: "row" }, labelled("Time", axis), legend), timeline.root),
    element("div", { class: "pair" }, element("section", { class: "card text", "aria-label": "text" }, listing.root), panel),
    element("p", { class: "faint" }, "Arrow keys step, with Shift ten steps; Home and End; [ and ] go through all warps in the simulator's order; W is the next warp. A click on a line goes to the warp's next step there."));
  launch.root.hidden = RECORDED;
  root.append(element("section", { class: "card", "aria-label": "what is run" }, launch.root, problem, outcome), result);
  document.addEventListener("keydown", keys);
  // What is on a canvas knows neither the width of the window nor its colours.
  const fit = () => {
    if (!state || root.offsetParent === null) return;
    timeline.fit();
    for (const map of memory) map.fit();
  };
  addEventListener("resize", delayed(80, fit));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", fit);

  function keys(event) {
    if (!run || root.offsetParent === null || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    const { target } = event;
    if (target.closest('[role="tablist"]') || (["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) && target !== slider)) return;
    // What can be scrolled is scrolled.
    if (["ArrowUp", "ArrowDown"].includes(event.key) && target.closest(".listing, .scroll, .timeline")) return;
    const far = event.shiftKey ? 10 : 1;
    const act = {
      ArrowRight: () => go(warp, step + far), ArrowDown: () => go(warp, step + far), ArrowLeft: () => go(warp, step - far), ArrowUp: () => go(warp, step - far),
      Home: () => go(warp, 0), End: () => go(warp, Infinity), "[": () => beside("before"), "]": () => beside("after"),
      w: () => nextWarp(1), W: () => nextWarp(-1),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  const at = (other) => state?.others[other]?.[1] ?? 0;

  function nextWarp(by) {
    const other = (warp + by + run.warps.length) % run.warps.length;
    go(other, at(other));
  }

  async function start() {
    launch.fine();
    // A text of one's own that nobody has written yet is no error.
    if (!RECORDED && launch.empty) {
      problem.replaceChildren();
      outcome.replaceChildren(element("p", { class: "faint" }, "Write or paste PTX and a launch above, or choose a file of PTX: the kernel runs at each edit."));
      result.hidden = true;
      run = null;
      write();
      return;
    }
    const busy = setTimeout(() => { outcome.textContent = "The simulator runs the kernel …"; }, 300);
    try {
      const answer = await page.latest("run", "run", launch.request);
      if (!answer) return;
      run = answer;
      problem.replaceChildren();
      began();
    } catch (error) {
      problem.replaceChildren(fault(error, launch.field(error.field)));
      outcome.replaceChildren();
      result.hidden = true;
      run = null;
    } finally {
      clearTimeout(busy);
    }
    write();
  }

  /** Shows a run that has just come. */
  async function began() {
    result.hidden = false;
    warp = Math.min(warp, run.warps.length - 1);
    warps.replaceChildren(...run.warps.map((steps, number) => element("option", { value: number, title: plural(steps, "step") }, String(number))));
    legend.replaceChildren(...run.classes.map(([name, about]) => element("span", {}, element("i", { class: `class-${name}` }), about)));
    shown = null;
    registers.begin(run.registers);
    memory = run.memory.filter(({ bytes }) => bytes > 0).map((region) => new Memory(region, run.text));
    for (const map of memory) map.accuse(run.findings.map((finding) => finding.address).filter((at) => at !== null));
    maps.replaceChildren(...(memory.length ? [element("p", { class: "faint small" }, "Memory after the step. A cell's colour is the warp that has changed it last, stronger if recently; orange is an asynchronous copy, or another block; violet is in flight. Frames: what the step reads (violet) and writes (blue), what a finding is about (red).")] : []), ...memory.map(({ root }) => root));
    listing.draw(run.text, run.lines, new Set(run.findings.flatMap(({ links }) => links.map(({ line }) => line))));
    findings();
    await Promise.all([times(), show()]);
  }

  function findings() {
    const shape = ([x, y, z]) => [x, ...(y * z > 1 ? [y] : []), ...(z > 1 ? [z] : [])].join(" x ");
    const judged = run.findings.length === 0
      ? element("p", { class: "passed" }, `Nothing found (seed${run.seeds.length > 1 ? "s" : ""} ${run.seeds.join(", ")}).`)
      : element("ul", { class: "findings" }, run.findings.map((finding) => element("li", { class: finding.severity },
        element("strong", {}, `${finding.severity}: ${finding.kind}`), " ",
        finding.links.map((link, nth) => place(link, nth)),
        element("div", { class: "mono" }, finding.name ? `${finding.message}; ${address(finding.address)} is ${finding.name}` : finding.message))));
    outcome.replaceChildren(
      element("p", {}, element("span", { class: "mono" }, run.kernel), `: a grid of ${shape(run.grid)} with blocks of ${shape(run.threads)} threads; block ${run.block.join(",")}: ${plural(run.warps.reduce((sum, steps) => sum + steps, 0), "instruction")} in ${plural(run.warps.length, "warp")}.`),
      run.notice ? element("p", { class: "note" }, run.notice) : "",
      judged,
      RECORDED ? "" : element("p", {}, element("button", { class: "act link", type: "button", onclick: () => keepRecording() }, "Save a recording"), element("span", { class: "faint" }, "one HTML file that replays this without a server")));
  }

  /** Saves the run as a page of its own. */
  async function keepRecording() {
    const html = await ofRun(page.call("recording", { run: run.run }));
    if (html) save(`${run.kernel}.html`, "text/html", html);
  }

  /** A place of a finding, as a button that goes there. */
  function place(link, nth) {
    const text = `${nth === 0 ? "here" : "there"}: line ${link.line}, block ${link.block.join(",")}, warp ${link.warp}, lane ${link.lane}`;
    const other = link.step === null;
    return element("button", { class: "act link", type: "button", disabled: RECORDED && other, onclick: () => {
      page.keep();
      if (link.step !== null) {
        go(link.warp, link.step);
        panel.scrollIntoView({ block: "nearest" });
      } else {
        launch.block.value = link.block.join(",");
        [warp, step] = [link.warp, 0];
        start();
      }
    } }, !other ? text : RECORDED ? `${text} (not in this recording)` : `${text} (records that block)`);
  }

  /** An answer about the run. A program that has been started again does not know the run, and makes it anew: undefined then. */
  async function ofRun(answer) {
    try {
      return await answer;
    } catch (error) {
      if (error.kind !== "no_run") throw error;
      await start();
      return undefined;
    }
  }

  async function times() {
    const stretches = await ofRun(page.latest("timeline", "timeline", { run: run.run, beside: axis.value === "beside" }));
    if (stretches) timeline.draw(stretches, run.classes.map(([name]) => name));
  }

  /** Goes to a step of a warp. */
  function go(other, nth) {
    if (!run) return;
    [warp, step] = [other, Math.max(0, Math.min(nth, run.warps[other] - 1))];
    return show();
  }

  function beside(which) {
    if (state?.[which]) go(...state[which]);
  }

  async function toLine(number) {
    const found = await ofRun(page.call("find", { run: run.run, warp, line: number, after: step }));
    if (found) go(...found);
    else if (found === null) say(`warp ${warp} does not come to line ${number}`);
  }

  async function show() {
    if (!run) return;
    let answer;
    const asked = [run, warp, step];
    try {
      const from = shown?.run === run.run && shown.warp === warp ? shown.step : undefined;
      answer = await page.latest("step", "step", { run: run.run, warp, step, from });
    } catch (error) {
      if (error.kind === "no_run") return start();
      problem.replaceChildren(fault(error));
      return;
    }
    // Meanwhile another step or another run may have been asked for.
    if (!answer || [run, warp, step].some((of, i) => of !== asked[i])) return;
    state = answer;
    step = answer.step;
    shown = { run: run.run, warp, step };
    // What asks the browser where things are comes before what moves them.
    const others = new Map();
    answer.others.forEach((of, other) => {
      if (of && other !== warp) others.set(of[0], [...(others.get(of[0]) ?? []), other]);
    });
    listing.mark(answer.line, [...others].map(([line, all]) => [line, warpsOf(all)]));
    timeline.mark(warp, step);
    [warps.value, slider.max, slider.value] = [warp, run.warps[warp] - 1, step];
    count.textContent = `step ${step + 1} of ${run.warps[warp]}`;
    now.replaceChildren(
      element("span", { class: "faint" }, `line ${answer.line}${answer.source ? `, ${answer.source}` : ""} `), element("strong", {}, answer.instruction),
      element("div", { class: answer.failed ? "wrong" : "faint" }, [
        lanes(answer.lanes), answer.awaited && `after a wait for ${answer.awaited}`, answer.failed && "there was a finding here", !answer.done && "never executed: the launch ended while the warp waited here",
      ].filter(Boolean).join("; ")),
      ...answer.accesses.map(accessed));
    waits.draw(answer.mbarriers, answer.in_flight);
    for (const map of memory) map.draw(answer);
    registers.draw(answer.values, answer.changed);
    say(`warp ${warp}, step ${step + 1}, line ${answer.line}: ${answer.instruction}`);
    write();
    root.dataset.step = `${warp}:${step}`;
  }

  /** What lanes access, and each of them on demand. */
  function accessed({ write, space, bytes, lanes, at }) {
    if (at.length === 0) return "";
    const numbers = Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => (lanes >>> lane) & 1);
    const place = (nth) => `lane ${numbers[nth]} ${address(at[nth])} (${at[nth]})`;
    const ends = at.length > 1 ? `${place(0)} … ${place(at.length - 1)}` : place(0);
    const all = element("ol", { class: "places" }, at.map((of, nth) => element("li", {}, `${numbers[nth]}: ${address(of)}`)));
    return element("details", { class: "accessed" }, element("summary", {}, `${write ? "writes" : "reads"} ${bytes} byte${bytes > 1 ? "s" : ""} of ${space} memory a lane: ${ends}`), all);
  }

  /** Puts what is shown into the address. */
  function write() {
    page.write({ ...launch.params, w: warp, s: step });
  }

  return {
    async show(params) {
      try {
        await launch.ready;
      } catch (error) {
        problem.replaceChildren(fault(error));
        return;
      }
      launch.show(params);
      [warp, step] = [natural(params.get("w")), natural(params.get("s"))];
      await start();
    },
  };
}

export default { title: "Kernels", mount };
