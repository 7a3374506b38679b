// Tables of cells, drawn on a canvas: thousands of elements would take longer. Screen readers get a grid with the one cell that is chosen.
import { element, fresh } from "./dom.js";

let palettes = {};

/** Takes the fills of the page, lists of "#rrggbb" by name; the server has them from girih's pictures. */
export function setPalettes(all) {
  palettes = all;
}

/** The fill of a number: "numbers" or "threads" is the name of the palette. */
export function fill(name, number) {
  const list = palettes[name];
  return list[((number % list.length) + list.length) % list.length];
}

const FONT = `"DejaVu Sans Mono", Menlo, Consolas, monospace`;
/** The most pixels of a canvas's side, and of the canvas: browsers draw nothing beyond theirs. */
const SIDE = 8192;
const AREA = 1 << 24;

/**
 * A table that a person points at, or goes through by arrow keys.
 *
 * `label` names the table for screen readers. `onpoint(row, column)` is called when a cell is pointed at or gets the keyboard's focus, and with
 * (null, null) when none is; `onchoose(row, column)` when a cell is clicked, or Enter or Space is pressed. `describe(row, column)` gives what a screen
 * reader says of a cell.
 */
export class Grid {
  constructor({ label, onpoint = () => {}, onchoose = () => {}, describe }) {
    this.onpoint = onpoint;
    this.onchoose = onchoose;
    this.describe = describe;
    this.at = [0, 0];
    this.marks = [];
    this.pointed = null;
    this.base = element("canvas", { "aria-hidden": "true" });
    this.top = element("canvas", { "aria-hidden": "true" });
    this.cell = element("div", { role: "gridcell", id: fresh("cell") });
    this.line = element("div", { role: "row" }, this.cell);
    this.root = element("div", {
      class: "grid", role: "grid", tabIndex: 0, "aria-label": label, "aria-readonly": "true", "aria-activedescendant": this.cell.id,
      onkeydown: (event) => this.#key(event),
      onfocus: () => this.root.matches(":focus-visible") && this.#point(...this.at),
      onblur: () => this.#point(null, null),
    }, this.base, this.top, element("div", { class: "unseen" }, this.line));
    this.base.addEventListener("pointermove", (event) => this.#point(...this.#under(event)));
    this.base.addEventListener("pointerleave", () => this.#point(null, null));
    this.base.addEventListener("click", (event) => {
      const [row, column] = this.#under(event);
      if (row === null) return;
      this.#go(row, column);
      this.onchoose(row, column);
    });
  }

  /**
   * Draws a table: `rows` and `columns`; `fills[row * columns + column]`, each "#rrggbb"; `texts(i)`, the lines of a cell; the borders above each row and
   * left of each column, `rowBorders` and `columnBorders`, 0 for the thinnest; `rowNames` and `columnNames`; `width`, the pixels that the table may
   * take across; `size`, the pixels of a cell's side, if it is not what fits.
   */
  draw(table) {
    const { rows, columns, width = 900, rowNames, columnNames } = table;
    const longest = (names, count) => Math.max(1, ...(names ?? [String(count - 1)]).map((name) => name.length));
    this.table = table;
    this.margin = [Math.max(26, 8 + 6.2 * longest(rowNames, rows)), 20];
    const fit = Math.floor((width - this.margin[0] - 2) / columns);
    const ratio = devicePixelRatio || 1;
    const most = Math.floor(Math.min(SIDE / ratio / Math.max(rows, columns), Math.sqrt(AREA / (ratio * ratio) / (rows * columns))));
    this.size = Math.max(1, Math.min(most, table.size ?? Math.min(38, Math.max(fit, 5))));
    this.root.setAttribute("aria-rowcount", rows);
    this.root.setAttribute("aria-colcount", columns);
    this.at = [Math.min(this.at[0], rows - 1), Math.min(this.at[1], columns - 1)];
    this.pointed = null;
    for (const canvas of [this.base, this.top]) {
      const [x, y] = [this.margin[0] + columns * this.size + 2, this.margin[1] + rows * this.size + 2];
      canvas.width = Math.round(x * ratio);
      canvas.height = Math.round(y * ratio);
      canvas.style.width = `${x}px`;
      canvas.style.height = `${y}px`;
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.#cells();
    this.#names();
    this.#borders();
    this.mark([]);
    this.#say();
  }

  /** Marks cells in place of those that are marked: a list of `{ row, column, kind }`; kinds are "same" (shares), "from" (comes from), "wrong" and "chosen". */
  mark(marks) {
    this.marks = marks;
    const context = this.top.getContext("2d");
    context.clearRect(0, 0, this.top.width, this.top.height);
    const style = { same: ["#111111", 2], from: ["#7a1fa2", 3], wrong: ["#c40018", 4], chosen: ["#0b5cad", 4] };
    const all = this.pointed ? [...marks, { row: this.pointed[0], column: this.pointed[1], kind: "same" }] : marks;
    for (const { row, column, kind } of all) {
      const [colour, width] = style[kind];
      const [x, y, side] = [this.margin[0] + column * this.size, this.margin[1] + row * this.size, this.size];
      const line = Math.min(width, Math.max(1, side / 3));
      context.lineWidth = line + 2;
      context.strokeStyle = "#ffffff";
      context.strokeRect(x, y, side, side);
      context.lineWidth = line;
      context.strokeStyle = colour;
      context.strokeRect(x, y, side, side);
    }
  }

  /** Chooses a cell without a person's doing. */
  go(row, column) {
    this.#go(row, column);
  }

  #cells() {
    const { rows, columns, fills, texts } = this.table;
    const [left, top] = this.margin;
    const { size } = this;
    const context = this.base.getContext("2d");
    context.clearRect(0, 0, this.base.width, this.base.height);
    let last;
    for (let i = 0; i < rows * columns; i += 1) {
      if (fills[i] !== last) context.fillStyle = last = fills[i];
      context.fillRect(left + (i % columns) * size, top + Math.floor(i / columns) * size, size, size);
    }
    if (!texts || size < 14) return;
    context.fillStyle = "#15181c";
    context.textAlign = "center";
    context.textBaseline = "middle";
    let longest = 1;
    for (let i = 0; i < rows * columns; i += 1) for (const text of texts(i)) longest = Math.max(longest, text.length);
    const pixels = Math.min(12, size * 0.42, (size - 3) / longest / 0.602);
    if (pixels < 5.5) return;
    context.font = `${pixels}px ${FONT}`;
    for (let i = 0; i < rows * columns; i += 1) {
      const lines = texts(i);
      const [x, y] = [left + (i % columns + 0.5) * size, top + (Math.floor(i / columns) + 0.5) * size];
      lines.forEach((line, at) => context.fillText(line, x, y + (at - (lines.length - 1) / 2) * pixels * 1.15));
    }
  }

  #names() {
    const { rows, columns, rowNames, columnNames } = this.table;
    const [left, top] = this.margin;
    const context = this.base.getContext("2d");
    context.fillStyle = getComputedStyle(this.root).color;
    context.font = `10px ${FONT}`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const apart = (need) => [1, 2, 4, 8, 16, 32, 64, 128].find((step) => step * this.size >= need) ?? 256;
    for (let row = 0; row < rows; row += apart(11)) {
      context.fillText(rowNames?.[row] ?? row, left - 4, top + (row + 0.5) * this.size);
    }
    context.textAlign = "center";
    const longest = Math.max(...(columnNames ?? [String(columns - 1)]).map((name) => name.length));
    for (let column = 0; column < columns; column += apart(longest * 6.2 + 4)) {
      context.fillText(columnNames?.[column] ?? column, left + (column + 0.5) * this.size, top / 2);
    }
  }

  /** Lines between cells: the deeper the border lies in the hierarchy, the thicker. */
  #borders() {
    const { rows, columns, rowBorders = [], columnBorders = [] } = this.table;
    const [left, top] = this.margin;
    const context = this.base.getContext("2d");
    const width = (level) => (level === 0 ? (this.size < 9 ? 0 : 0.5) : Math.min(1 + 0.9 * (level - 1) + (this.size > 20 ? 0.5 : 0), 5));
    const lines = (count, borders, draw) => {
      for (let at = 0; at <= count; at += 1) {
        const edge = at === 0 || at === count;
        const level = edge ? Math.max(1, ...borders) : borders[at] ?? 0;
        context.lineWidth = width(level);
        if (context.lineWidth === 0 || width(level) === 0) continue;
        context.strokeStyle = level === 0 ? "#15181c66" : "#15181c";
        context.beginPath();
        draw(at * this.size);
        context.stroke();
      }
    };
    const [right, bottom] = [left + columns * this.size, top + rows * this.size];
    lines(rows, rowBorders, (y) => (context.moveTo(left, top + y), context.lineTo(right, top + y)));
    lines(columns, columnBorders, (x) => (context.moveTo(left + x, top), context.lineTo(left + x, bottom)));
  }

  #under(event) {
    const row = Math.floor((event.offsetY - this.margin[1]) / this.size);
    const column = Math.floor((event.offsetX - this.margin[0]) / this.size);
    const inside = row >= 0 && column >= 0 && row < this.table.rows && column < this.table.columns;
    return inside ? [row, column] : [null, null];
  }

  #point(row, column) {
    const same = row === null ? this.pointed === null : this.pointed?.[0] === row && this.pointed?.[1] === column;
    if (same || !this.table) return;
    this.pointed = row === null ? null : [row, column];
    this.mark(this.marks);
    this.onpoint(row, column);
  }

  #go(row, column) {
    this.at = [row, column];
    this.#say();
    this.#point(row, column);
  }

  #say() {
    const [row, column] = this.at;
    this.line.setAttribute("aria-rowindex", row + 1);
    this.cell.setAttribute("aria-colindex", column + 1);
    this.cell.textContent = this.describe?.(row, column) ?? `row ${row}, column ${column}`;
  }

  #key(event) {
    if (!this.table || event.ctrlKey || event.altKey || event.metaKey) return;
    let [row, column] = this.at;
    const { rows, columns } = this.table;
    const page = Math.max(1, Math.floor(rows / 4));
    switch (event.key) {
      case "ArrowUp": row -= 1; break;
      case "ArrowDown": row += 1; break;
      case "ArrowLeft": column -= 1; break;
      case "ArrowRight": column += 1; break;
      case "Home": column = 0; break;
      case "End": column = columns - 1; break;
      case "PageUp": row -= page; break;
      case "PageDown": row += page; break;
      case "Enter": case " ":
        event.preventDefault();
        this.onchoose(row, column);
        return;
      default: return;
    }
    event.preventDefault();
    this.#go(Math.min(Math.max(row, 0), rows - 1), Math.min(Math.max(column, 0), columns - 1));
    const [x, y] = [this.margin[0] + this.at[1] * this.size, this.margin[1] + this.at[0] * this.size];
    const { root, size } = this;
    if (x < root.scrollLeft) root.scrollLeft = x;
    if (x + size > root.scrollLeft + root.clientWidth) root.scrollLeft = x + size - root.clientWidth;
    if (y < root.scrollTop) root.scrollTop = y;
    if (y + size > root.scrollTop + root.clientHeight) root.scrollTop = y + size - root.clientHeight;
  }
}
