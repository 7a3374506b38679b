// Partitions: atoms, tiled copies and MMAs by name, and the banks of shared memory under an access.
import { delayed, element, fault, fine, fresh, labelled, natural, saves, say, select } from "./dom.js";
import { Grid } from "./grid.js";

const KINDS = [["mma", "MMA"], ["tiled_copy", "Tiled copy"], ["planned", "Planned copy"], ["copy", "Copy atom"], ["banks", "Shared memory"]];
/** What the fields of each kind have at first, in the order in which they stand. */
const FIRST = {
  mma: { name: "SM80_16x8x16_F32BF16BF16F32_TN", atoms: "", permutation: "" },
  tiled_copy: { name: "UniversalCopy<uint128_t>", threads: "(32,8):(8,1)", values: "(1,8):(8,1)", dtype: "bf16" },
  planned: { memory: "(128,64):(4096,1)", threads: 256, dtype: "bf16" },
  copy: { name: "SM75_U32x4_LDSM_N", unit: 16 },
  banks: { memory: "(64,64):(64,1)", dtype: "bf16", access: "(32,8):(1,64)", vector: 8, bits: 0, base: 3, shift: 3 },
};
const LABELS = {
  name: "Atom", atoms: "Atoms (M,N,K) -> number", permutation: "Permutation of M, N, K", threads: "Threads", values: "Values (ValM,ValN) -> value",
  dtype: "Elements", memory: "Tile in memory, coordinate -> element", unit: "Bits of a cell", access: "Access (Thr,Val) -> element of the tile",
  vector: "Elements at a time", bits: "Bits", base: "Base", shift: "Shift",
};
const HINTS = { atoms: "(2,2,1)", permutation: "<32,16,_>" };

class View {
  constructor(root, page) {
    this.page = page;
    this.kind = "mma";
    /** The tables that are shown, and all that there have been. */
    this.grids = [];
    this.made = [];
    this.tabs = element("div", { class: "row choices", role: "radiogroup", "aria-label": "Partition" });
    for (const [kind, title] of KINDS) {
      const id = fresh("kind");
      const radio = element("input", { type: "radio", name: "partition", id, value: kind, onchange: () => this.turn(kind) });
      this.tabs.append(element("span", {}, radio, element("label", { for: id }, title)));
    }
    this.form = element("div", { class: "row" });
    this.extra = element("div");
    this.trouble = element("div");
    this.title = element("h2", { class: "mono" });
    this.notes = element("div");
    this.sheet = element("div", { class: "sheet" });
    this.info = element("div", { class: "info mono" });
    this.thread = element("input", { type: "number", min: 0, value: "", onchange: () => this.choose({ thread: Number(this.thread.value) }), oninput: () => this.thread.value !== "" && this.choose({ thread: Number(this.thread.value) }) });
    this.threadField = labelled("Thread, or click a cell", this.thread);
    this.bar = element("div", { class: "row bar" }, this.threadField, this.info);
    root.append(this.tabs, element("div", { class: "card" }, this.form, this.extra, this.trouble), this.title, this.notes,
      this.bar, this.sheet);
    this.ready = this.menus();
    this.edited = delayed(25, () => this.changed());
    addEventListener("resize", delayed(100, () => this.fit()));
  }

  async menus() {
    this.menu = await this.page.call("menus");
    const list = (id, names) => element("datalist", { id }, names.map((value) => element("option", { value })));
    this.form.after(list("mmas", this.menu.mmas), list("copies", this.menu.copies));
  }

  show(params) {
    this.ready.then(() => {
      const kind = params.get("what");
      this.kind = Object.hasOwn(FIRST, kind) ? kind : "mma";
      this.tabs.querySelector(`[value="${this.kind}"]`).checked = true;
      const first = FIRST[this.kind];
      this.fields(Object.fromEntries(Object.keys(first).map((name) => [name, params.get(name) ?? first[name]])));
      const thread = params.get("thread");
      this.forget();
      if (thread !== null) this.chosen = { thread: natural(thread) };
      this.draw();
    }, (error) => this.trouble.replaceChildren(fault(error)));
  }

  /** Turns to another kind of partition, with what its fields have at first. */
  turn(kind) {
    this.page.keep();
    this.kind = kind;
    this.forget();
    this.fields(FIRST[kind]);
    this.changed();
  }

  /** Forgets the thread that is followed. */
  forget() {
    this.chosen = null;
    this.chosenText = "";
    this.info.textContent = "";
    this.thread.value = "";
    this.bar.classList.remove("tall");
  }

  fields(values) {
    const make = (name) => {
      const value = values[name];
      const number = typeof FIRST[this.kind][name] === "number";
      if (name === "dtype") return select(this.menu.dtypes.map((name) => [name, name]), { value, onchange: this.edited });
      if (["bits", "base", "shift"].includes(name)) return this.slider(name, value);
      const list = name === "name" && (this.kind === "mma" ? "mmas" : "copies");
      const size = name === "name" ? 38 : number ? 6 : name === "memory" || name === "access" ? 26 : 18;
      return element("input", { type: number ? "number" : "text", value, list, size, min: number ? 1 : null, placeholder: HINTS[name] ?? "", spellcheck: false, autocomplete: "off", oninput: this.edited });
    };
    this.inputs = Object.fromEntries(Object.keys(FIRST[this.kind]).map((name) => [name, make(name)]));
    if (this.inputs.dtype) this.inputs.dtype.value = values.dtype;
    const plain = Object.entries(this.inputs).filter(([, input]) => input.type !== "range");
    this.form.replaceChildren(...plain.map(([name, input]) => labelled(LABELS[name], input)));
    this.extra.replaceChildren(...(this.kind === "banks" ? [this.sliders()] : this.kind === "planned" ? [this.carry()] : []));
    this.threadField.hidden = this.kind === "banks";
  }

  slider(name, value) {
    const [min, max] = { bits: [0, 5], base: [0, 8], shift: [-5, 8] }[name];
    const input = element("input", { type: "range", min, max, step: 1, oninput: () => { input.output.value = input.value; this.edited(); } });
    input.value = value;
    input.output = element("output", { class: "mono" }, String(input.value));
    return input;
  }

  sliders() {
    const { bits, base, shift } = this.inputs;
    const field = (name, input) => {
      input.id ||= fresh("slider");
      input.output.htmlFor = input.id;
      return element("div", { class: "field" }, element("label", { for: input.id }, `${LABELS[name]} `, input.output), input);
    };
    this.counts = element("div", { class: "counts mono", role: "status" });
    const plan = element("button", { class: "act main", type: "button", onclick: () => this.plan() }, "Plan the swizzle");
    return element("div", { class: "row swizzle", role: "group", "aria-label": "Swizzle" }, field("bits", bits), field("base", base), field("shift", shift), plan, this.counts);
  }

  /** A button that takes the planned copy to the banks of shared memory. */
  carry() {
    return element("div", { class: "row carry" }, element("button", { class: "act", type: "button", onclick: () => {
      const { dtype } = this.values;
      const [vector, access] = [Math.max(1, Number(this.planned?.vector ?? 1)), this.planned?.tv];
      if (!access) return;
      const tile = this.planned.tile;
      this.page.keep();
      this.kind = "banks";
      this.forget();
      this.tabs.querySelector(`[value="banks"]`).checked = true;
      this.fields({ ...FIRST.banks, memory: `(${tile.join(",")}):(${tile[1]},1)`, dtype, access, vector });
      this.changed();
    } }, "Look at its accesses to shared memory"));
  }

  get values() {
    const entries = Object.entries(this.inputs).map(([name, input]) => [name, typeof FIRST[this.kind][name] === "number" ? Number(input.value) : input.value]);
    return Object.fromEntries(entries);
  }

  changed() {
    this.write();
    this.draw();
  }

  write() {
    const first = FIRST[this.kind];
    const params = Object.entries(this.values).filter(([name, value]) => String(value) !== String(first[name]));
    if (this.kind !== "mma") params.unshift(["what", this.kind]);
    if (this.chosen) params.push(["thread", this.chosen.thread]);
    this.page.write(params);
  }

  refused(error) {
    this.trouble.replaceChildren(fault(error, this.inputs[error.field]));
    if (error.field === "swizzle") for (const name of ["bits", "base", "shift"]) this.inputs[name].setAttribute("aria-invalid", "true");
  }

  async draw() {
    const { kind } = this;
    try {
      const answer = await (kind === "banks" ? this.banks() : this.page.latest("draw", "draw", { what: kind, ...this.values }));
      if (!answer || kind !== this.kind) return;
      Object.values(this.inputs).forEach(fine);
      this.trouble.replaceChildren();
      this.planned = answer.tv ? { tv: answer.tv, vector: answer.vector, tile: [answer.pictures[0].rows, answer.pictures[0].columns] } : null;
      this.title.textContent = answer.title ?? answer.layout;
      const notes = answer.tv ? [`TV ${answer.tv}`, ...answer.notes] : answer.notes;
      this.notes.replaceChildren(...notes.map((note) => element("div", { class: "note" }, note)), this.legend(answer.keys ?? []));
      this.thread.max = (answer.threads ?? 1) - 1;
      this.pictures(answer.pictures);
      if (this.chosen) await this.choose(this.chosen);
    } catch (error) {
      Object.values(this.inputs).forEach(fine);
      this.refused(error);
    }
    this.form.dataset.answered = JSON.stringify(this.values);
  }

  async banks() {
    const { bits, base, shift, ...rest } = this.values;
    const answer = await this.page.latest("banks", "banks", { ...rest, swizzle: [bits, base, shift] });
    if (!answer) return null;
    const { counts } = answer;
    if (counts) {
      const { taken, least } = counts.wavefronts;
      const more = taken > least ? `, ${taken - least} more than the ${least} that it needs` : ", as few as it needs";
      this.counts.replaceChildren(element("b", { class: taken > least ? "bad" : "good" }, `${taken} wavefronts`), `${more}; widest vector ${counts.widest}: ${counts.limit}`);
    } else this.counts.replaceChildren();
    return answer;
  }

  async plan() {
    const { memory, dtype, access, vector } = this.values;
    try {
      const { swizzle, text, taken, least } = await this.page.call("plan_swizzle", { memory, dtype, access, vector });
      this.page.keep();
      ["bits", "base", "shift"].forEach((name, at) => {
        this.inputs[name].value = swizzle[at];
        this.inputs[name].output.value = swizzle[at];
      });
      say(`${text}: ${taken} wavefronts of at least ${least}`);
      this.changed();
    } catch (error) {
      this.refused(error);
    }
  }

  legend(keys) {
    return element("div", { class: "row legend" }, keys.map(([fill, text]) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = fill;
      return element("span", {}, swatch, text);
    }));
  }

  /** A table, which later answers use again. */
  table(number) {
    const words = (row, column) => this.grids[number].picture.words[row * this.grids[number].picture.columns + column].replace("\n", " ");
    const grid = new Grid({
      label: "",
      describe: (row, column) => `row ${row}, column ${column}: ${words(row, column) || "nobody's"}`,
      onpoint: (row, column) => this.point(number, row, column),
      onchoose: (row, column) => this.kind !== "banks" && this.choose({ cell: { grid: number, cell: row * this.grids[number].picture.columns + column } }),
    });
    const caption = element("figcaption", { class: "mono" });
    const saved = saves(grid, () => caption.textContent);
    const figure = element("figure", {}, caption, grid.root, saved);
    this.sheet.append(figure);
    return { grid, figure, caption, saved };
  }

  pictures(pictures) {
    while (this.made.length < pictures.length) this.made.push(this.table(this.made.length));
    this.grids = this.made.slice(0, pictures.length);
    pictures.forEach((picture, number) => {
      const { grid, figure, caption, saved } = this.grids[number];
      caption.textContent = picture.title;
      saved.rename();
      grid.label = picture.title;
      [figure.style.gridRow, figure.style.gridColumn] = picture.place.map((place) => place + 1);
      Object.assign(this.grids[number], { picture, marks: { chosen: picture.marked } });
    });
    this.made.forEach(({ figure }, number) => { figure.hidden = number >= pictures.length; });
    this.sheet.classList.toggle("around", this.grids.length === 3);
    this.fit();
  }

  /** Draws the grids with cells of one size, which fits all of them beside each other if that is legible. */
  fit() {
    if (!this.grids.length || !this.sheet.clientWidth) return;
    const across = [];
    for (const { picture: { place, columns } } of this.grids) across[place[1]] = Math.max(across[place[1]] ?? 0, columns);
    // In a narrow window one is below the other.
    const stacked = getComputedStyle(this.sheet).display !== "grid";
    const columns = stacked ? Math.max(...across) : across.reduce((sum, columns) => sum + columns, 0);
    const size = Grid.fitting(columns, this.sheet.clientWidth - 50 * (stacked ? 0.2 : across.length), 6, 28);
    for (const { grid, picture, caption, marks } of this.grids) {
      grid.draw({ ...picture, size });
      grid.mark(marks);
      caption.style.maxWidth = `max(${grid.base.style.width}, 22rem)`;
    }
  }

  point(number, row, column) {
    if (row === null) {
      this.info.textContent = this.chosenText ?? "";
      this.grids.forEach(({ grid, marks }) => grid.mark(marks));
      return;
    }
    const { picture } = this.grids[number];
    const words = picture.words[row * picture.columns + column];
    const [owner] = words.split("\n");
    this.info.textContent = `(${row},${column}): ${words.replace("\n", " ") || "nobody's"}`;
    if (this.kind === "banks") return;
    // What is the same thread's, the words of the cells say.
    this.grids.forEach(({ grid, picture, marks }) => {
      const same = owner ? picture.words.flatMap((other, cell) => (other.split("\n")[0] === owner ? [cell] : [])) : [];
      grid.mark({ same: same.length * 2 > picture.words.length ? [] : same, ...marks });
    });
  }

  /** Shows what a thread owns. */
  async choose(by) {
    const { kind } = this;
    try {
      const answer = await this.page.latest("choose", "choose", { of: { what: kind, ...this.values }, by });
      if (!answer || kind !== this.kind) return;
      fine(this.thread);
      this.trouble.replaceChildren();
      const { thread, owners, count, cells } = answer;
      this.chosen = { thread };
      this.thread.value = thread;
      const own = cells.map((list, number) => {
        const { picture } = this.grids[number];
        if (list.length === picture.words.length) return `${picture.title.split(" ")[0]}: all cells`;
        const places = list.slice(0, 8).map(([value, cell]) => `V${value} (${Math.floor(cell / picture.columns)},${cell % picture.columns})`);
        return `${picture.title.split(" ")[0]}: ${places.join(" ")}${list.length > 8 ? ` and ${list.length - 8} more` : ""}`;
      });
      const shared = count > 1 ? [`The cell belongs to ${count} threads: ${owners.map(([thread, value]) => `T${thread}V${value}`).join(" ")}${count > owners.length ? " ..." : ""}`] : [];
      this.chosenText = [`Thread ${thread}`, ...own, ...shared].join("\n");
      this.info.textContent = this.chosenText;
      this.bar.classList.add("tall");
      say(this.chosenText);
      this.grids.forEach((entry, number) => {
        entry.marks = { chosen: cells[number].length < entry.picture.words.length ? cells[number].map(([, cell]) => cell) : [] };
        entry.grid.mark(entry.marks);
      });
      this.write();
    } catch (error) {
      this.trouble.replaceChildren(fault(error, error.field === "thread" ? this.thread : this.inputs[error.field]));
    }
  }
}

export default { title: "Partitions", mount: (root, page) => new View(root, page) };
