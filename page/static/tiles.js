// Programs over tiles: the Rust source, what becomes of it, and the layouts of its tiles.
import { LINKED, delayed, element, fault, fine, labelled, saves, select, unlinked } from "./dom.js";
import { Grid } from "./grid.js";

function mount(root, page) {
  let answer = null;
  let chosen = null;
  let held = null;
  const program = element("select", { onchange: () => { page.keep(); text.value = ""; chosen = null; explain(); } });
  const sm = select([[90, "sm_90 (Hopper)"], [80, "sm_80 (Ampere)"]], { onchange: () => explain() });
  const text = element("textarea", { rows: 12, spellcheck: false, wrap: "off", oninput: delayed(40, () => explain()) });
  const notice = unlinked();
  const own = element("details", { ontoggle: () => { if (own.open && !text.value && answer) text.value = answer.lines.map((line) => line.text).join("\n"); } },
    element("summary", {}, "Change the program's text"), element("div", { class: "row" }, labelled("Program, in place of the one by name", text, { class: "field wide" })), notice);
  const problem = element("div");
  const source = element("pre", { class: "code", tabIndex: 0, role: "region", "aria-label": "Rust source" });
  const from = element("h2");
  const ir = element("ol", { class: "ir", "aria-label": "program, line by line" });
  const summary = element("ul", { class: "mono small" });
  const ptx = element("pre", { class: "code" });
  const emitted = element("details", {}, element("summary", {}, "PTX"), ptx);
  const steps = element("a", {}, "Run it step by step, small");
  const name = element("figcaption");
  const pointed = element("div", { class: "mono faint", role: "status" });
  const grid = new Grid({
    label: "threads that hold the tile's elements",
    onpoint: (row, column) => { pointed.textContent = row === null ? " " : told(row, column); },
    describe: (row, column) => told(row, column),
  });
  const size = select([["fit", "as fits"], ["text", "large enough to be read"]], { onchange: () => table() });
  const saved = saves(grid, () => `the layout of ${held?.name ?? "a tile"}`);
  const picture = element("figure", { hidden: true }, name, element("div", { class: "row small" }, labelled("Cells", size), saved), grid.root, pointed);
  root.append(
    element("section", { class: "card", "aria-label": "program" }, element("div", { class: "row" }, labelled("Program", program, { class: "field wide" }), labelled("For", sm), steps), own, problem),
    element("div", { class: "pair" },
      element("section", { class: "card", "aria-label": "source" }, from, source),
      element("section", { class: "card", "aria-label": "program in its intermediate form" }, element("h2", {}, "What becomes of it"), ir)),
    element("section", { class: "card", "aria-label": "layout" }, element("p", { class: "faint" }, "Choose a line with a tile to see which thread holds each of its elements. Lines that move a tile from one layout to another are marked."), picture),
    element("section", { class: "card", "aria-label": "kernel" }, summary, emitted));

  addEventListener("resize", delayed(80, () => held && !picture.hidden && root.offsetParent !== null && table()));

  const body = () => ({ program: program.value, text: text.value, sm: Number(sm.value) });

  function told(row, column) {
    const [thread, value, count] = held.owners[row * held.picture.columns + column];
    if (count === 0) return `(${row},${column}): nobody's`;
    const more = count > 1 ? `, and ${count - 1} more thread${count > 2 ? "s" : ""}` : "";
    return `(${row},${column}): value ${value} of thread ${thread} (warp ${thread >> 5}, lane ${thread & 31})${more}`;
  }

  async function explain() {
    fine(program);
    fine(text);
    try {
      const given = await page.latest("explain", "explain", body());
      if (!given) return;
      answer = given;
      problem.replaceChildren();
    } catch (error) {
      problem.replaceChildren(fault(error, { program, text }[error.field]));
      write();
      return;
    }
    from.textContent = answer.source ? `programs/${answer.source.file}, line ${answer.source.line}` : "A program of your own has no Rust source";
    source.textContent = answer.source?.text ?? "";
    steps.href = `#kernels?k=${encodeURIComponent(program.value)}`;
    ir.replaceChildren(...answer.lines.map(line));
    summary.replaceChildren(...answer.summary.map((of) => element("li", {}, of)));
    ptx.textContent = answer.ptx ?? "";
    emitted.hidden = !answer.ptx;
    if (answer.refused) summary.prepend(element("li", { class: "wrong" }, answer.refused));
    const all = answer.lines.flatMap((of) => of.tiles);
    const tile = all.find(({ value }) => value === chosen) ?? all[0];
    if (tile) await draw(tile);
    else picture.hidden = true;
    write();
    root.dataset.program = program.value;
  }

  function line({ text: own, notes, tiles, converts }) {
    const name = own.trim().split(" = ")[0];
    const buttons = tiles.map((tile, nth) => element("button", { class: "plain tile", type: "button", "aria-pressed": "false", "data-value": tile.value, "aria-label": `layout of ${name}${tiles.length > 1 ? `, result ${nth + 1}` : ""}`, onclick: () => draw(tile).then(write) }, "layout"));
    return element("li", { class: converts ? "converts" : null },
      element("code", {}, own), converts && element("b", { class: "badge" }, "moves between layouts"), buttons,
      notes.map((note) => element("div", { class: "said" }, note)));
  }

  async function draw(tile) {
    chosen = tile.value;
    for (const button of ir.querySelectorAll("button.tile")) button.setAttribute("aria-pressed", String(Number(button.dataset.value) === chosen));
    try {
      const given = await page.latest("layout", "layout", { ...body(), value: tile.value });
      if (!given) return;
      held = given;
    } catch (error) {
      name.replaceChildren(fault(error));
      picture.hidden = false;
      return;
    }
    picture.hidden = false;
    saved.rename();
    table();
  }

  function table() {
    const { most, picture: drawn } = held;
    name.textContent = `${held.name}: ${held.dist}${most > 1 ? `; elements are held by up to ${most} threads` : ""}. A cell has the number of a thread (T) and of its value (V).`;
    grid.draw({ ...drawn, size: size.value === "text" ? 30 : Grid.fitting(drawn.columns, root.clientWidth - 60) });
  }

  function write() {
    const params = { p: program.value, sm: sm.value };
    if (chosen !== null) params.v = chosen;
    notice.hidden = text.value.length <= LINKED;
    if (text.value && notice.hidden) params.text = text.value;
    page.write(params);
  }

  const listed = page.call("list", {}).then((all) => program.append(...all.map((of) => element("option", { value: of.name }, of.name))));

  return {
    async show(params) {
      try {
        await listed;
      } catch (error) {
        problem.replaceChildren(fault(error));
        return;
      }
      program.value = params.get("p") ?? "softmax_bf16_16x1024";
      sm.value = params.get("sm") ?? 90;
      text.value = params.get("text") ?? "";
      chosen = params.has("v") ? Number(params.get("v")) : null;
      await explain();
    },
  };
}

export default { title: "Tile kernels", mount };
