// Layouts: expressions of `girih layout`, their operands and results as tables.
import { delayed, element, fault, fine, labelled, natural, saves, select } from "./dom.js";
import { Grid } from "./grid.js";

const BY = [
  ["value", "index"], ["grey", "index, in greys"], ["thread", "thread (mode 0)"], ["mode", "mode level"], ["bank", "bank"], ["sector", "sector"],
];
const FIRST = "composition((10,2):(16,4), (5,4):(1,5))";
/** So many coordinates are listed that share an index. */
const LISTED = 6;

/** A layout of an expression: its name, the part of the expression, and its table. */
class Panel {
  constructor(card) {
    this.caption = element("figcaption");
    this.why = element("p", { class: "faint" });
    this.grid = new Grid({
      label: "",
      onpoint: (row, column) => card.point(this, row === null ? null : row * this.table.columns + column),
      describe: (row, column) => card.says(this, row * this.table.columns + column),
    });
    this.saves = saves(this.grid, () => `${this.name}, ${this.shown}`);
    this.root = element("figure", {}, this.caption, this.why, this.grid.root, this.saves);
  }

  /** Takes the place of the layout that was shown before: the table keeps the keyboard and its pixels. */
  take({ name, part, value, table, why, paths }, wrong) {
    Object.assign(this, { name, shown: value, table, paths, cells: null, marks: wrong ? { wrong } : {} });
    const head = [element("b", {}, name), " = ", element("span", { class: "mono" }, part)];
    if (part !== value) head.push(" = ", element("span", { class: "mono" }, value));
    this.caption.replaceChildren(...head);
    this.why.textContent = why ?? "";
    [this.why.hidden, this.grid.root.hidden, this.saves.hidden] = [Boolean(table), !table, !table];
    this.grid.label = `${name}, ${value}`;
    this.saves.rename();
  }

  /** The cells that have an index. */
  having(index) {
    this.cells ??= Map.groupBy(this.table.values.keys(), (cell) => this.table.values[cell]);
    return this.cells.get(index) ?? [];
  }

  draw(size) {
    const { rows, columns, fills, levels, words, values } = this.table;
    this.grid.draw({ rows, columns, fills, levels, words: words ?? values, size });
    this.grid.mark(this.marks);
    this.caption.style.maxWidth = `max(${this.grid.base.style.width}, 26rem)`;
  }

  /** The coordinate of a cell: as a pair, as a number, and in the hierarchy. */
  coordinate(cell) {
    const { line, rows, columns, names } = this.table;
    const [row, column] = [Math.floor(cell / columns), cell % columns];
    if (line) return { flat: String(cell), number: cell, deep: names[0][cell] };
    return { flat: `(${row},${column})`, number: row + rows * column, deep: `(${names[0][row]},${names[1][column]})` };
  }

  index(cell) {
    return this.table.words?.[cell] ?? String(this.table.values[cell]);
  }
}

/** An expression with its tables. */
class Card {
  constructor(view, { expression, facts, tile }) {
    this.view = view;
    this.panels = [];
    const edited = delayed(25, () => view.changed(this));
    const field = (value, extra = {}) => element("input", { type: "text", value, spellcheck: false, autocomplete: "off", autocapitalize: "off", oninput: edited, ...extra });
    this.input = field(expression);
    this.tile = field(tile, { placeholder: "(16,8)", size: 12 });
    this.facts = field(facts, { placeholder: "s0=at_least(1),divisible_by(8)", size: 30 });
    this.fields = { expression: this.input, facts: this.facts, tile: this.tile };
    this.remove = element("button", { class: "act", type: "button", onclick: () => view.remove(this), "aria-label": "Remove this expression" }, "Remove");
    this.more = element("details", { open: Boolean(facts || tile) }, element("summary", {}, "Facts about symbols, owners of a tile"),
      element("div", { class: "row" }, labelled("Facts", this.facts), labelled("Tile, for a layout of (thread, value)", this.tile)));
    this.result = element("div", { class: "result mono", role: "status" });
    this.side = element("div", { class: "side" });
    /** The panels that there have been, which later answers use again. */
    this.made = [];
    this.tileGrid = new Grid({ label: "", describe: (row, column) => `(${row},${column}) belongs to ${this.tilePicture.words[row * this.tilePicture.columns + column].replace("\n", " ")}` });
    this.tileFigure = element("figure", {}, element("figcaption", {}, "The tile, and who owns its places"), this.tileGrid.root);
    this.info = element("div", { class: "info mono" });
    this.root = element("section", { class: "card", "aria-label": "Expression" },
      element("div", { class: "row" }, labelled("Layout expression", this.input, { class: "field wide" }), this.remove),
      this.more, this.result, this.side, this.info);
  }

  get state() {
    return { expression: this.input.value, facts: this.facts.value, tile: this.tile.value };
  }

  async evaluate(options) {
    const { page } = this.view;
    const asked = this.input.value;
    try {
      const answer = await page.latest(this, "evaluate", { ...this.state, ...options });
      if (!answer) return;
      Object.values(this.fields).forEach(fine);
      const notes = answer.notes.map((note) => element("div", { class: "note" }, note));
      // What is a layout, its panel says.
      const last = answer.panels.at(-1);
      this.result.replaceChildren(...(last?.value === answer.text ? [] : [answer.text]), ...notes);
      this.show(answer.panels, [], answer.tile);
    } catch (error) {
      Object.values(this.fields).forEach(fine);
      const { witness } = error;
      this.result.replaceChildren(fault(error, this.fields[error.field]));
      if (witness?.says) this.result.append(element("div", { class: "note" }, witness.says));
      this.show(witness?.panels ?? [], witness?.marks ?? [], null);
    }
    this.root.dataset.answered = asked;
  }

  show(panels, marks, tile) {
    while (this.made.length < panels.length) this.made.push(new Panel(this));
    this.panels = this.made.slice(0, panels.length);
    const wrong = new Map(marks.map(({ panel, cells }) => [panel, cells]));
    panels.forEach((panel, number) => this.panels[number].take(panel, wrong.get(number)));
    const figures = this.panels.map((panel) => panel.root);
    this.tilePicture = tile;
    if (tile) {
      this.tileGrid.label = `owners of a tile of ${tile.rows} by ${tile.columns}`;
      figures.push(this.tileFigure);
    }
    // What stays in its place keeps the keyboard.
    figures.forEach((figure, at) => this.side.children[at] !== figure && this.side.insertBefore(figure, this.side.children[at] ?? null));
    while (this.side.children.length > figures.length) this.side.lastChild.remove();
    this.pointed = null;
    this.info.textContent = "";
    this.fit();
  }

  /** Draws all tables: beside each other with cells of one size, if such cells are large enough to read. */
  fit() {
    const drawn = this.panels.filter((panel) => panel.table).map((panel) => [panel, panel.table]);
    if (this.tilePicture) drawn.push([{ draw: (size) => this.tileGrid.draw({ ...this.tilePicture, size }) }, this.tilePicture]);
    if (!drawn.length) return;
    const width = this.side.clientWidth || 900;
    const columns = drawn.reduce((sum, [, table]) => sum + table.columns, 0);
    const beside = Math.floor((width - 44 * drawn.length) / columns);
    const legible = Math.min(34, Math.max(20, ...this.panels.filter(({ table }) => table).map(({ table }) => Grid.legible(table.words ?? table.values))));
    for (const [panel, table] of drawn) panel.draw(beside >= legible ? Math.min(beside, 34) : Grid.fitting(table.columns, width, 5, 34));
    if (this.pointed) this.point(...this.pointed);
  }

  /** The cells of each panel that have to do with a cell: what the cell comes from, what comes from the cell, and what shares its index. */
  related(panel, cell) {
    const marks = this.panels.map(() => ({ same: new Set(), from: new Set() }));
    const down = (at, cells) => {
      for (const path of this.panels[at].paths ?? []) {
        const next = cells.map((cell) => path.cells[cell]);
        next.forEach((cell) => marks[path.panel].from.add(cell));
        down(path.panel, next);
      }
    };
    const up = (at, cells) => {
      this.panels.forEach((panel, number) => (panel.paths ?? []).filter((path) => path.panel === at).forEach((path) => {
        const known = new Set(cells);
        const next = path.cells.flatMap((from, cell) => (known.has(from) ? [cell] : []));
        next.forEach((cell) => marks[number].from.add(cell));
        up(number, next);
      }));
    };
    const own = this.panels.indexOf(panel);
    const value = panel.table.values[cell];
    const sharing = panel.having(value);
    sharing.forEach((other) => marks[own].same.add(other));
    down(own, [cell]);
    up(own, [cell]);
    // Where there is no path, the cells with the same index are what can be said.
    this.panels.forEach((other, number) => {
      const none = number !== own && other.table && !other.table.words === !panel.table.words && !marks[number].from.size;
      if (none && !other.paths.length && !panel.paths.some((path) => path.panel === number)) {
        other.having(value).forEach((cell) => marks[number].same.add(cell));
      }
    });
    return marks;
  }

  /** What is said of a cell: coordinates, index, path and who shares the index. */
  says(panel, cell) {
    const { flat, number, deep } = panel.coordinate(cell);
    const parts = [`${panel.name}${flat}`];
    if (deep !== flat) parts.push(`hierarchical ${deep}`);
    if (String(number) !== flat) parts.push(`1-D ${number}`);
    let text = `${parts.join(", ")}: index ${panel.index(cell)}`;
    const before = panel.table.before?.[cell];
    if (before !== undefined) text += `, which is ${before} before the swizzle`;
    text += this.path(panel, cell);
    const sharing = panel.having(panel.table.values[cell]).filter((other) => other !== cell);
    if (sharing.length) {
      const listed = sharing.slice(0, LISTED).map((other) => panel.coordinate(other).flat).join(" ");
      text += `; shared with ${listed}${sharing.length > LISTED ? ` and ${sharing.length - LISTED} more` : ""}`;
    }
    return text;
  }

  /** Where a cell's index comes from: through the inner layout of a composition, from a cell of the argument, or back by an inverse. */
  path(panel, cell) {
    const of = (kind) => {
      const path = (panel.paths ?? []).find((path) => path.kind === kind);
      if (!path) return null;
      const other = this.panels[path.panel];
      const at = path.cells[cell];
      return { other, at, text: `${other.name}${other.coordinate(at).flat}`, index: other.index(at) };
    };
    const [argument, inner, inverse] = ["argument", "inner", "inverse"].map(of);
    if (inverse) return `; back by ${inverse.text} = ${inverse.index}`;
    if (!argument) return "";
    const way = inner ? `; ${inner.text} = ${inner.index}, and ${argument.other.name} at ${inner.index} is ${argument.text} = ${argument.index}` : `; from ${argument.text}`;
    return way + this.path(argument.other, argument.at);
  }

  point(panel, cell) {
    this.pointed = cell === null ? null : [panel, cell];
    if (cell === null) {
      this.info.textContent = "";
      this.panels.forEach((other) => other.table && other.grid.mark(other.marks));
      return;
    }
    this.info.textContent = this.says(panel, cell);
    this.related(panel, cell).forEach((marks, number) => {
      const other = this.panels[number];
      if (other.table) other.grid.mark({ ...marks, ...other.marks });
    });
  }
}

class View {
  constructor(root, page) {
    this.page = page;
    this.cards = [];
    const changed = () => this.changed();
    this.by = select(BY, { onchange: changed });
    this.level = element("input", { type: "number", min: 1, max: 8, value: 1, onchange: changed, oninput: changed });
    this.dtype = select([["f32", "f32"]], { onchange: changed });
    this.levelField = labelled("Level", this.level);
    this.dtypeField = labelled("Elements", this.dtype);
    this.examples = select([["", "Choose ..."]], { onchange: () => this.example() });
    this.operations = element("div", { class: "operations" });
    this.list = element("div");
    root.append(
      element("div", { class: "row tools" },
        labelled("Examples", this.examples), labelled("Colour by", this.by), this.levelField, this.dtypeField,
        element("button", { class: "act", type: "button", onclick: () => this.add() }, "Add an expression")),
      this.list,
      element("details", {}, element("summary", {}, "Operations that an expression can call"), this.operations));
    this.ready = this.menus();
    addEventListener("resize", delayed(100, () => this.cards.forEach((card) => card.fit())));
  }

  async menus() {
    const { examples, operations, dtypes } = await this.page.call("menus");
    this.menu = examples;
    this.examples.append(...examples.map(({ title }, at) => element("option", { value: at }, title)));
    this.dtype.replaceChildren(...dtypes.map((name) => element("option", { value: name, selected: name === "f32" }, name)));
    const params = (list) => list.map((name) => (name.startsWith("?") ? `[${name.slice(1)}]` : name)).join(", ");
    this.operations.append(...operations.map(({ name, params: list }) => element("code", {}, `${name}(${params(list)})`)));
  }

  get options() {
    return { by: this.by.value, level: Math.max(1, Number(this.level.value) || 1), dtype: this.dtype.value };
  }

  show(params) {
    this.ready.then(() => {
      this.by.value = params.get("by") ?? "value";
      if (this.by.selectedIndex < 0) this.by.value = "value";
      this.level.value = natural(params.get("level"), 1);
      this.dtype.value = params.get("dtype") ?? "f32";
      if (this.dtype.selectedIndex < 0) this.dtype.value = "f32";
      const states = [];
      for (const [name, value] of params) {
        if (name === "e") states.push({ expression: value, facts: "", tile: "" });
        else if (name === "facts" && states.length) states.at(-1).facts = value;
        else if (name === "tile" && states.length) states.at(-1).tile = value;
      }
      if (!states.length) states.push({ expression: FIRST, facts: "", tile: "" });
      this.cards = states.map((state) => new Card(this, state));
      this.#list();
      this.#evaluate(this.cards);
    }, (error) => this.list.replaceChildren(fault(error)));
  }

  #list() {
    this.list.replaceChildren(...this.cards.map((card) => card.root));
    this.cards.forEach((card) => { card.remove.hidden = this.cards.length === 1; });
  }

  #evaluate(cards) {
    const { options } = this;
    this.levelField.hidden = options.by !== "mode";
    this.dtypeField.hidden = options.by !== "bank" && options.by !== "sector";
    cards.forEach((card) => card.evaluate(options));
  }

  /** What is to be done after an edit: of one card, or of all. */
  changed(card) {
    const { by, level, dtype } = this.options;
    const params = this.cards.flatMap(({ state: { expression, facts, tile } }) => [["e", expression], ...(facts ? [["facts", facts]] : []), ...(tile ? [["tile", tile]] : [])]);
    if (by !== "value") params.push(["by", by]);
    if (by === "mode" && level !== 1) params.push(["level", level]);
    if ((by === "bank" || by === "sector") && dtype !== "f32") params.push(["dtype", dtype]);
    this.page.write(params);
    this.#evaluate(card ? [card] : this.cards);
  }

  add() {
    this.page.keep();
    const card = new Card(this, { expression: this.cards.at(-1)?.state.expression ?? FIRST, facts: "", tile: "" });
    this.cards.push(card);
    this.#list();
    this.changed(card);
    card.input.focus();
  }

  remove(card) {
    this.page.keep();
    this.cards = this.cards.filter((other) => other !== card);
    this.#list();
    this.changed();
    this.cards[0].input.focus();
  }

  example() {
    const chosen = this.menu[this.examples.value];
    this.examples.value = "";
    if (!chosen) return;
    this.page.keep();
    const card = this.cards.at(-1);
    card.input.value = chosen.expression;
    card.tile.value = chosen.tile;
    card.facts.value = "";
    card.more.open = Boolean(chosen.tile);
    this.by.value = chosen.by;
    this.changed();
  }
}

export default { title: "Layouts", mount: (root, page) => new View(root, page) };
