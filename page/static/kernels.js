// Kernels, step by step: a launch is recorded by the program, and each step is asked for.
import { delayed, element, fault, fine, fresh, labelled, say } from "./dom.js";
import { Grid, fill } from "./grid.js";
import { Listing } from "./listing.js";
import { Registers } from "./registers.js";
import { Timeline } from "./timeline.js";

const OWN = "own";

/** Lanes of a mask, in words. */
function lanes(mask) {
  if (mask === 0) return "no lane";
  if (mask === 0xffffffff) return "all lanes";
  const all = [];
  for (let lane = 0; lane < 32; lane += 1) {
    if (((mask >>> lane) & 1) === 0) continue;
    const last = all.at(-1);
    if (last && last[1] === lane - 1) last[1] = lane;
    else all.push([lane, lane]);
  }
  const words = all.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`));
  return `lane${mask & (mask - 1) ? "s" : ""} ${words.join(", ")}`;
}

const plural = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

function mount(root, page) {
  let known = null;
  let run = null;
  let warp = 0;
  let step = 0;
  let state = null;
  /** The step whose registers are shown: of another one, the program tells what is different. */
  let shown = null;
  /** Cells in a row of the map of shared memory. */
  let across = 32;

  // What is run.
  const choice = element("select", { onchange: () => chosen() });
  const block = element("input", { type: "text", size: 7, value: "0,0,0", spellcheck: false, oninput: delayed(150, () => start()) });
  const seed = element("input", { type: "number", min: 0, value: 0, oninput: delayed(150, () => start()) });
  const sizes = element("input", { type: "text", size: 14, spellcheck: false, oninput: delayed(150, () => start()) });
  const sizeNames = element("span", {}, "Sizes");
  const sized = element("div", { class: "field" }, element("label", { for: sizes.id = fresh("field") }, sizeNames), sizes);
  const ptx = element("textarea", { rows: 14, spellcheck: false, wrap: "off", oninput: delayed(40, () => edited()) });
  const launches = element("textarea", { rows: 2, spellcheck: false, oninput: delayed(40, () => edited()) });
  const file = element("input", { type: "file", accept: ".ptx", onchange: async () => {
    if (!file.files[0]) return;
    ptx.value = await file.files[0].text();
    edited();
  } });
  const help = element("pre", { class: "note" });
  const texts = element("details", { class: "texts" }, element("summary", {}, "PTX and launch"),
    element("div", { class: "row" }, labelled("PTX", ptx, { class: "field wide" })),
    element("div", { class: "row" }, labelled("Launches, the last one is recorded", launches, { class: "field wide" }), labelled("PTX from a file", file)),
    element("details", {}, element("summary", {}, "How launches and arguments are written"), help));
  const outcome = element("div", { class: "outcome" });
  const problem = element("div");

  // What is shown.
  const listing = new Listing({ onchoose: (line) => toLine(line) });
  const timeline = new Timeline({ onchoose: (to, nth) => go(to, nth) });
  const axis = element("select", { onchange: () => times() }, element("option", { value: "beside" }, "warps beside each other"), element("option", { value: "order" }, "the simulator's order"));
  const legend = element("div", { class: "legend" });
  const registers = new Registers({ onopen: () => show() });
  const warps = element("select", { onchange: () => go(Number(warps.value), at(Number(warps.value))) });
  const slider = element("input", { type: "range", min: 0, value: 0, "aria-label": "step of the warp", oninput: () => go(warp, Number(slider.value)) });
  const count = element("span", { class: "mono" });
  const button = (text, label, act) => element("button", { class: "act", type: "button", title: label, "aria-label": label, onclick: act }, text);
  const now = element("div", { class: "now mono" });
  const mbarriers = element("div");
  const flights = element("div");
  const tile = element("input", { type: "text", spellcheck: false, autocomplete: "off", placeholder: "0:8x16:f32", oninput: delayed(40, () => show()) });
  const matrix = element("div", { class: "scroll small" });
  const cell = element("div", { class: "mono faint" });
  const memory = new Grid({
    label: "shared memory",
    onpoint: (row, column) => { cell.textContent = row === null ? "" : told(row, column); },
    describe: (row, column) => told(row, column),
  });
  const heat = element("figure", {}, element("figcaption"), memory.root, cell, element("div", { class: "row small" }, labelled("Part as a matrix, OFFSET:ROWSxCOLUMNS:TYPE", tile)), matrix);

  const panel = element("section", { class: "card", "aria-label": "state after the step" },
    element("div", { class: "row steps" },
      labelled("Warp", warps),
      button("«", "first step (Home)", () => go(warp, 0)),
      button("−10", "ten steps back (Shift + arrow left)", () => go(warp, step - 10)),
      button("◀", "a step back (arrow left)", () => go(warp, step - 1)),
      button("▶", "a step on (arrow right)", () => go(warp, step + 1)),
      button("+10", "ten steps on (Shift + arrow right)", () => go(warp, step + 10)),
      button("»", "last step (End)", () => go(warp, Infinity)),
      button("[", "what the simulator executed before, in any warp ([)", () => beside("before")),
      button("]", "what the simulator executed next, in any warp (])", () => beside("after"))),
    element("div", { class: "row stepper" }, slider, count),
    now, registers.root, heat, mbarriers, flights);
  const result = element("div", { hidden: true },
    element("section", { class: "card", "aria-label": "timeline" },
      element("div", { class: "row" }, labelled("Time", axis), legend), timeline.root),
    element("div", { class: "pair" }, element("section", { class: "card", "aria-label": "text" }, listing.root), panel),
    element("p", { class: "faint" }, "Arrow keys step, with Shift ten steps; Home and End; [ and ] go through all warps in the simulator's order; W is the next warp. A click on a line goes to the warp's next step there."));
  root.append(
    element("section", { class: "card", "aria-label": "what is run" },
      element("div", { class: "row" }, labelled("Kernel", choice, { class: "field wide" }), sized, labelled("Block", block), labelled("Seed", seed)),
      texts, problem, outcome),
    result);
  document.addEventListener("keydown", keys);
  // What is on a canvas knows neither the width of the window nor its colours.
  const fit = () => {
    if (!state || root.offsetParent === null) return;
    timeline.fit();
    drawMemory(state.memory);
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

  /** The request for what is chosen. */
  function request() {
    const place = block.value.split(",").map((number) => Number(number.trim() || NaN));
    const text = choice.value === OWN || known.examples.some(({ name }) => name === choice.value);
    const shared = { block: [place[0], place[1] ?? 0, place[2] ?? 0], seed: Number(seed.value) || 0 };
    if (place.length > 3 || shared.block.some((number) => !Number.isInteger(number) || number < 0)) throw new Error("Block: x, or x,y or x,y,z is accepted, such as 0,0,0");
    return text ? { ptx: ptx.value, launches: launches.value, ...shared } : { kernel: choice.value, sizes: sizes.value.split("x").map(Number), ...shared };
  }

  /** A kernel was chosen from the list. */
  function chosen(keep = false) {
    const example = known.examples.find(({ name }) => name === choice.value);
    if (example) [ptx.value, launches.value] = [example.ptx, example.launches];
    texts.hidden = !example && choice.value !== OWN;
    const named = [...known.kernels, ...known.programs].find(({ name }) => name === choice.value);
    sized.hidden = !named;
    if (named) {
      sizeNames.textContent = `Sizes: ${named.sizes.map(([name]) => name).join(" x ")}`;
      if (!keep || !sizes.value) sizes.value = named.sizes.map(([, size]) => size).join("x");
    }
    if (!keep) [warp, step, block.value] = [0, 0, "0,0,0"];
    return start();
  }

  function edited() {
    const example = known.examples.find(({ name }) => name === choice.value);
    if (example && (example.ptx !== ptx.value || example.launches !== launches.value)) choice.value = OWN;
    return start();
  }

  async function start() {
    for (const field of [ptx, launches, block, choice, sizes, tile]) fine(field);
    const busy = setTimeout(() => { outcome.textContent = "The simulator runs the kernel …"; }, 300);
    try {
      const body = request();
      const answer = await page.latest("run", "run", body);
      if (!answer) return;
      run = answer;
      problem.replaceChildren();
      began();
    } catch (error) {
      const field = { ptx, launches, block, kernel: sizes }[error.field] ?? (error.message.startsWith("Block") ? block : undefined);
      if (error.field === "ptx" || error.field === "launches") texts.open = true;
      problem.replaceChildren(fault(error, field));
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
        element("div", { class: "mono" }, finding.message))));
    outcome.replaceChildren(
      element("p", {}, element("span", { class: "mono" }, run.kernel), `: a grid of ${shape(run.grid)} with blocks of ${shape(run.threads)} threads; block ${run.block.join(",")}: ${plural(run.warps.reduce((sum, steps) => sum + steps, 0), "instruction")} in ${plural(run.warps.length, "warp")}.`),
      run.notice ? element("p", { class: "note" }, run.notice) : "",
      judged);
  }

  /** A place of a finding, as a button that goes there. */
  function place(link, nth) {
    const text = `${nth === 0 ? "here" : "there"}: line ${link.line}, block ${link.block.join(",")}, warp ${link.warp}, lane ${link.lane}`;
    return element("button", { class: "act link", type: "button", onclick: () => {
      if (link.step !== null) {
        go(link.warp, link.step);
        panel.scrollIntoView({ block: "nearest" });
      } else {
        block.value = link.block.join(",");
        [warp, step] = [link.warp, 0];
        start();
      }
    } }, link.step === null ? `${text} (records that block)` : text);
  }

  async function times() {
    const stretches = await page.latest("timeline", "timeline", { run: run.run, beside: axis.value === "beside" });
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

  async function toLine(line) {
    const found = await page.call("find", { run: run.run, warp, line, after: step });
    if (found) go(...found);
    else say(`warp ${warp} does not come to line ${line}`);
  }

  async function show() {
    if (!run) return;
    let answer;
    const asked = [run, warp, step];
    try {
      const from = shown?.run === run.run && shown.warp === warp ? shown.step : undefined;
      answer = await page.latest("step", "step", { run: run.run, warp, step, from, open: [...registers.opened], tile: tile.value });
      fine(tile);
    } catch (error) {
      if (error.kind === "no_run") return start();
      matrix.replaceChildren(fault(error, error.field === "tile" ? tile : undefined));
      return;
    }
    // Meanwhile another step or another run may have been asked for.
    if (!answer || [run, warp, step].some((of, i) => of !== asked[i])) return;
    state = answer;
    step = answer.step;
    state.memory = cells(answer.memory);
    shown = { run: run.run, warp, step };
    [warps.value, slider.max, slider.value] = [warp, run.warps[warp] - 1, step];
    count.textContent = `step ${step + 1} of ${run.warps[warp]}`;
    now.replaceChildren(
      element("span", { class: "faint" }, `line ${answer.line} `), element("strong", {}, answer.instruction),
      element("div", { class: answer.failed ? "wrong" : "faint" }, [
        lanes(answer.lanes), answer.awaited && `after a wait for ${answer.awaited}`, answer.failed && "there was a finding here", !answer.done && "never executed: the launch ended while the warp waited here",
      ].filter(Boolean).join("; ")));
    const others = new Map();
    answer.others.forEach((of, other) => {
      if (of && other !== warp) others.set(of[0], [...(others.get(of[0]) ?? []), other]);
    });
    listing.mark(answer.line, [...others].map(([line, all]) => [line, `warp${all.length > 1 ? "s" : ""} ${all.join(", ")}`]));
    timeline.mark(warp, step);
    registers.draw(answer.values, answer.changed, answer.open);
    drawMbarriers(answer.mbarriers);
    drawFlights(answer.in_flight);
    drawMemory(state.memory);
    matrix.replaceChildren(answer.tile.length === 0 ? "" : element("table", { class: "matrix mono" }, element("tbody", {}, answer.tile.map((row) => element("tr", {}, row.map((of) => element("td", {}, of)))))));
    say(`warp ${warp}, step ${step + 1}, line ${answer.line}: ${answer.instruction}`);
    write();
    root.dataset.step = `${warp}:${step}`;
  }

  function drawMbarriers(all) {
    mbarriers.hidden = all.length === 0;
    mbarriers.replaceChildren(element("table", { class: "state" },
      element("caption", {}, "mbarriers"),
      element("thead", {}, element("tr", {}, ["at byte", "phase", "parity", "arrivals missing", "bytes missing"].map((text) => element("th", {}, text)))),
      element("tbody", {}, all.map((of) => element("tr", { class: of.changed ? "changed" : null },
        [of.offset, of.completed, of.completed % 2, `${of.pending} of ${of.expected}`, of.transactions].map((text) => element("td", {}, String(text))))))));
  }

  function drawFlights(all) {
    flights.hidden = all.length === 0;
    const ranges = (list) => list.map(([from, to]) => `${from} to ${to - 1}`).join(", ");
    flights.replaceChildren(element("table", { class: "state" },
      element("caption", {}, "in flight"),
      element("thead", {}, element("tr", {}, ["by", "operation", "bytes", "shared memory"].map((text) => element("th", {}, text)))),
      element("tbody", {}, all.map((of) => element("tr", {},
        element("td", {}, `warp${of.warps.length > 1 ? "s" : ""} ${of.warps.join(", ")}${of.bytes ? `, ${lanes(of.lanes)}` : ""}`),
        element("td", { class: "mono", title: of.instruction }, `${of.count > 1 ? `${of.count} x ` : ""}${operation(of.instruction)}, line ${of.line}`),
        element("td", {}, of.bytes ? String(of.bytes) : ""),
        element("td", {}, [of.writes.length > 0 && `writes ${ranges(of.writes)}`, of.reads.length > 0 && `reads ${ranges(of.reads)}`, of.done && "done, not waited for"].filter(Boolean).join("; ")))))));
  }

  /** The opcode without most of its modifiers. */
  function operation(instruction) {
    const words = instruction.split(/\s+/).find((word) => !word.startsWith("@")).split(".");
    return words.slice(0, words[0] === "cp" ? 5 : 2).filter((word) => !word.includes(":")).join(".");
  }

  /** Cells of shared memory, from runs of equal ones. */
  function cells({ unit, runs }) {
    const [by, age, flight] = [[], [], []];
    for (const [count, ...of] of runs) {
      for (let i = 0; i < count; i += 1) [by, age, flight].forEach((list, at) => list.push(of[at]));
    }
    return { unit, by, age, flight };
  }

  const who = (by) => (by === 0 ? "not written" : by === 1 ? "by an asynchronous operation" : `by warp ${by - 2}`);

  /** What is said of a cell of shared memory. */
  function told(row, column) {
    const { unit, by, age, flight } = state.memory;
    const i = row * across + column;
    if (by[i] === undefined) return "";
    const ages = ["in this step", "in the last 32 steps", "in the last 1024 steps", "before"];
    return [`bytes ${i * unit} to ${i * unit + unit - 1}: ${who(by[i])}${by[i] ? ` ${ages[age[i]]}` : ""}`,
      flight[i] & 1 && "going to be written", flight[i] & 2 && "going to be read"].filter(Boolean).join("; ");
  }

  function drawMemory({ unit, by, age, flight }) {
    heat.hidden = by.length === 0;
    if (heat.hidden) return;
    const style = getComputedStyle(root);
    const ground = style.getPropertyValue("--raised").trim();
    const engine = style.getPropertyValue("--class-copy").trim();
    const mixed = new Map();
    const mix = (colour, share) => {
      const key = colour + share;
      if (!mixed.has(key)) {
        const [a, b] = [colour, ground].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
        mixed.set(key, `#${a.map((part, i) => Math.round(part * share + b[i] * (1 - share)).toString(16).padStart(2, "0")).join("")}`);
      }
      return mixed.get(key);
    };
    across = by.length > 1280 ? 64 : 32;
    const rows = Math.ceil(by.length / across);
    const violet = style.getPropertyValue("--class-barrier").trim();
    const fills = Array.from({ length: rows * across }, (_, i) => (flight[i] ? violet : by[i] ? mix(by[i] === 1 ? engine : fill("numbers", by[i] - 2), [1, 0.9, 0.75, 0.6][age[i]]) : ground));
    heat.firstChild.textContent = `Shared memory, ${run.shared} bytes: ${unit === 4 ? "a cell is a word, a column a bank" : `a cell is ${unit} bytes`}. Coloured by the warp that has changed it last, orange for an asynchronous copy, the stronger the more recently; violet is in flight.`;
    memory.draw({ rows, columns: across, fills, size: Math.max(4, Math.min(14, Math.floor(400 / rows), Math.floor((panel.clientWidth - 90) / across))), rowNames: Array.from({ length: rows }, (_, row) => String(row * across * unit)) });
  }

  /** Puts what is shown into the address. A text of one's own is there if it is not long. */
  function write() {
    const params = { k: choice.value, w: warp, s: step };
    if (!sized.hidden) params.z = sizes.value;
    if (block.value !== "0,0,0") params.b = block.value;
    if (Number(seed.value)) params.seed = seed.value;
    if (choice.value === OWN && ptx.value.length + launches.value.length < 8000) Object.assign(params, { ptx: ptx.value, l: launches.value });
    page.write(params);
  }

  async function begin() {
    known = await page.call("list", {});
    const group = (label, all) => element("optgroup", { label }, all.map(({ name, about }) => element("option", { value: name }, about ? `${name} – ${about}` : name)));
    choice.append(group("Examples in PTX", known.examples), group("Kernels of girih", known.kernels), group("Programs over tiles, small", known.programs), element("option", { value: OWN }, "PTX of your own"));
    help.textContent = `${known.help[1]}\n\n${known.help[0].split("\n\nFiles have")[0]}`;
  }
  const listed = begin();

  return {
    async show(params) {
      try {
        await listed;
      } catch (error) {
        problem.replaceChildren(fault(error));
        return;
      }
      const name = params.get("k") ?? "sum_race";
      sizes.value = params.get("z") ?? "";
      [choice.value, block.value, seed.value] = [name, params.get("b") ?? "0,0,0", params.get("seed") ?? 0];
      if (choice.value !== name) choice.value = known.examples[0].name;
      if (params.has("ptx")) [ptx.value, launches.value] = [params.get("ptx"), params.get("l") ?? ""];
      [warp, step] = [Number(params.get("w") ?? 0), Number(params.get("s") ?? 0)];
      await chosen(true);
    },
  };
}

export default { title: "Kernels", mount };
