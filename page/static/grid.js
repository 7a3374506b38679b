// Tables of cells, drawn on a canvas: thousands of elements would take longer. Screen readers get a grid with the one cell that is chosen.
import { element, fresh } from "./dom.js";
import { Svg } from "./svg.js";

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
/** The least pixels of a text's height that a person reads: smaller ones are not drawn. */
const LEAST = 10;
/** So many texts are drawn at a time, so that a large table is there at once, and its words follow. */
const TEXTS = 1000;
/** How cells are marked: the colour and the width of the frame. */
const MARKS = { same: ["#111111", 2], from: ["#8a1fb0", 3], wrong: ["#d0001c", 4], chosen: ["#0b57d0", 3], pointed: ["#111111", 3] };
const LINES = "#15181c";

/** The grids of the page, which are drawn again when colours or pixels change. */
const grids = new Set();
const again = () => {
  for (const grid of [...grids]) if (grid.root.isConnected) grid.again();
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);

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
    this.marks = {};
    this.pointed = null;
    this.turn = 0;
    /** The pixels that each canvas has. */
    this.sizes = new Map();
    this.base = element("canvas", { "aria-hidden": "true" });
    this.top = element("canvas", { "aria-hidden": "true" });
    this.cell = element("div", { role: "gridcell", id: fresh("cell") });
    this.line = element("div", { role: "row" }, this.cell);
    this.root = element("div", {
      class: "grid", role: "grid", tabIndex: 0, "aria-label": label, "aria-readonly": "true", "aria-activedescendant": this.cell.id,
      onkeydown: (event) => this.#key(event),
      onfocus: () => {
        this.#say();
        if (this.root.matches(":focus-visible")) this.#point(...this.at);
      },
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

  /** The side of a cell for which `columns` cells take `width` pixels with their row numbers, as far as cells may grow and shrink. */
  static fitting(columns, width, least = 5, most = 38) {
    return Math.max(least, Math.min(most, Math.floor((width - 40) / columns)));
  }

  /** The least side of a cell in which texts are drawn. */
  static legible(words) {
    const lines = words.map((word) => String(word).split("\n"));
    const [tall, longest] = [Math.max(1, ...lines.map((line) => line.length)), Math.max(1, ...lines.flat().map((text) => text.length))];
    return Math.ceil(Math.max((LEAST * tall * 1.1) / 0.84, LEAST * 0.602 * longest + 3));
  }

  /** Names the table for screen readers. */
  set label(text) {
    this.root.setAttribute("aria-label", text);
  }

  /**
   * Draws a table of `rows` and `columns`; the last row may have fewer cells. `fills` have a `palette` of "#rrggbb", `inks` for text on these, and for
   * each of the `cells`, row by row, its number in the palette. `words` are the texts of cells, in which a line feed begins another line. `levels`, for
   * rows and for columns, say how high in the hierarchy the line before each is; lines separate cells of different `groups`. `rowNames` stand for the
   * numbers of rows. `size` is the side of a cell in pixels.
   */
  draw(table) {
    const { rows, columns, rowNames = [rows - 1] } = table;
    for (const grid of grids) if (!grid.root.isConnected) grids.delete(grid);
    grids.add(this);
    this.turn += 1;
    this.table = table;
    const longest = Math.max(...rowNames.map((name) => String(name).length));
    this.margin = [Math.ceil(9 + 6.2 * longest), 17];
    const ratio = devicePixelRatio || 1;
    const most = Math.min(SIDE / ratio / Math.max(rows, columns), Math.sqrt(AREA / (ratio * ratio) / (rows * columns)));
    this.size = Math.max(1, Math.floor(Math.min(most, table.size)));
    this.root.setAttribute("aria-rowcount", rows);
    this.root.setAttribute("aria-colcount", columns);
    if (!this.#has(...this.at)) this.at = [0, 0];
    this.pointed = null;
    this.#paint(this.#fresh(this.base));
    this.mark({});
    this.#say();
  }

  /** Whether there is a cell. */
  #has(row, column) {
    const { columns, fills: { cells } } = this.table;
    return row >= 0 && column >= 0 && column < columns && row * columns + column < cells.length;
  }

  /** A canvas without a picture, as large as the table. */
  #fresh(canvas) {
    const ratio = devicePixelRatio || 1;
    const { margin, size, table: { rows, columns } } = this;
    const [x, y] = [margin[0] + columns * size + 3, margin[1] + rows * size + 3];
    const context = canvas.getContext("2d");
    // Pixels that stay are not made anew.
    const key = `${x} ${y} ${ratio}`;
    if (this.sizes.get(canvas) === key) {
      context.clearRect(0, 0, x, y);
      return context;
    }
    this.sizes.set(canvas, key);
    [canvas.width, canvas.height] = [Math.round(x * ratio), Math.round(y * ratio)];
    [canvas.style.width, canvas.style.height] = [`${x}px`, `${y}px`];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  /** Draws the table again, after colours or the ratio of pixels have changed. */
  again() {
    const { table, marks } = this;
    this.draw(table);
    this.mark(marks);
  }

  /** Marks cells, numbers by kind, in place of those that are marked. Kinds are "same" (shares), "from" (comes from), "wrong" and "chosen". */
  mark(marks) {
    this.marks = marks;
    this.top.hidden = !this.pointed && !Object.values(marks).some((cells) => cells.length ?? cells.size);
    if (!this.top.hidden) this.#frames(this.#fresh(this.top));
  }

  /** Draws frames around what is marked. */
  #frames(context) {
    const { columns } = this.table;
    const frame = (cells, [colour, width]) => {
      // The frame is on the cell's edge: what the cell says stays legible.
      const line = Math.min(width, Math.max(1, this.size / 3));
      context.beginPath();
      for (const cell of cells) context.rect(this.margin[0] + (cell % columns) * this.size, this.margin[1] + Math.floor(cell / columns) * this.size, this.size, this.size);
      for (const [style, thick] of [["#ffffff", line + 1.5], [colour, line]]) {
        context.lineWidth = thick;
        context.strokeStyle = style;
        context.stroke();
      }
    };
    for (const [kind, cells] of Object.entries(this.marks)) frame(cells, MARKS[kind]);
    if (this.pointed) frame([this.pointed[0] * columns + this.pointed[1]], MARKS.pointed);
  }

  /** Makes a cell the one at which the keyboard is. */
  go(row, column) {
    this.at = [row, column];
    this.#say();
  }

  /** The picture as SVG, with what is marked. */
  svg() {
    const { margin: [left, top], size, table: { rows, columns, fills: { palette, cells } } } = this;
    const svg = new Svg(left + columns * size + 3, top + rows * size + 3);
    // Neighbours of one colour are one rectangle.
    for (let from = 0, to; from < cells.length; from = to) {
      const end = Math.min(cells.length, (Math.floor(from / columns) + 1) * columns);
      for (to = from + 1; to < end && cells[to] === cells[from]; ) to += 1;
      svg.fillStyle = palette[cells[from]];
      svg.fillRect(left + (from % columns) * size, top + Math.floor(from / columns) * size, (to - from) * size, size);
    }
    this.#written(svg, Infinity);
    this.#frames(svg);
    return svg.text(getComputedStyle(document.body).backgroundColor);
  }

  #paint(context) {
    const { rows, columns, fills: { palette, cells } } = this.table;
    const [left, top] = this.margin;
    const { size } = this;
    // A pixel a cell, enlarged, takes a fraction of the time of a rectangle a cell.
    const pixels = new ImageData(columns, rows);
    // The canvas knows all notations of colours, and answers "#rrggbb".
    const number = (fill) => {
      context.fillStyle = fill;
      const [, red, green, blue] = context.fillStyle.match(/^#(..)(..)(..)$/);
      return Number(`0xff${blue}${green}${red}`);
    };
    const colours = palette.map(number);
    new Uint32Array(pixels.data.buffer).set(Array.from(cells, (cell) => colours[cell]));
    const small = new OffscreenCanvas(columns, rows);
    small.getContext("2d").putImageData(pixels, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, left, top, columns * size, rows * size);
    this.#written(context, TEXTS);
  }

  /** Draws what stands in and beside the cells; `most` texts at a time. */
  #written(context, most) {
    if (this.table.words) this.#words(context, most);
    this.#numbers(context);
    this.#lines(context);
  }

  #words(context, most) {
    const { columns, words, fills: { inks = [], cells } } = this.table;
    const [left, top] = this.margin;
    let [longest, tall] = [1, 1];
    const lines = words.map((word) => String(word).split("\n"));
    for (const line of lines) {
      tall = Math.max(tall, line.length);
      for (const text of line) longest = Math.max(longest, text.length);
    }
    const pixels = Math.min(13, (this.size * 0.84) / tall / 1.1, (this.size - 3) / longest / 0.602);
    if (pixels < LEAST) return;
    const font = `${pixels}px ${FONT}`;
    const turn = this.turn;
    const draw = (from) => {
      if (this.turn !== turn) return;
      const end = Math.min(lines.length, from + Math.ceil(most / tall));
      context.font = font;
      context.textAlign = "center";
      context.textBaseline = "middle";
      for (let i = from; i < end; i += 1) {
        context.fillStyle = inks[cells[i]] ?? LINES;
        const [x, y] = [left + ((i % columns) + 0.5) * this.size, top + (Math.floor(i / columns) + 0.52) * this.size];
        // Whole pixels are several times as fast as parts of them.
        lines[i].forEach((text, at) => context.fillText(text, Math.round(x), Math.round(y + (at - (lines[i].length - 1) / 2) * pixels * 1.08)));
      }
      if (end < lines.length) requestAnimationFrame(() => draw(end));
    };
    draw(0);
  }

  #numbers(context) {
    const { rows, columns, rowNames } = this.table;
    const [left, top] = this.margin;
    context.fillStyle = getComputedStyle(this.root).color;
    context.font = `10px ${FONT}`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const apart = (pixels) => [1, 2, 4, 8, 16, 32, 64, 128].find((step) => step * this.size >= pixels) ?? 256;
    for (let row = 0, step = apart(11); row < rows; row += step) context.fillText(rowNames?.[row] ?? row, left - 4, top + (row + 0.5) * this.size);
    context.textAlign = "center";
    const step = apart(String(columns - 1).length * 6.2 + 7);
    for (let column = 0; column < columns; column += step) context.fillText(column, left + (column + 0.5) * this.size, top / 2);
  }

  /** Lines between cells: the higher in the hierarchy, the thicker. */
  #lines(context) {
    const { rows, columns, levels: [ofRows, ofColumns] = [[], []], groups } = this.table;
    const [left, top] = this.margin;
    const { size } = this;
    const [right, bottom] = [left + columns * size, top + rows * size];
    const thick = (level) => Math.min(size / 4, 0.7 + 1.1 * level);
    // Lines of one height are one path.
    const draw = (count, levels, line) => {
      const edge = Math.max(1, ...levels);
      const heights = Map.groupBy(Array.from({ length: count + 1 }, (_, at) => at), (at) => (at === 0 || at === count ? edge : levels[at] ?? 0));
      for (const [level, lines] of [...heights].sort(([one], [other]) => one - other)) {
        if (level === 0 && size < 9) continue;
        context.lineWidth = level === 0 ? 1 : thick(level);
        context.strokeStyle = level === 0 ? "#15181c38" : LINES;
        context.beginPath();
        for (const at of lines) line(at * size);
        context.stroke();
      }
    };
    draw(rows, ofRows, (y) => (context.moveTo(left, top + y), context.lineTo(right, top + y)));
    draw(columns, ofColumns, (x) => (context.moveTo(left + x, top), context.lineTo(left + x, bottom)));
    if (!groups || size < 3) return;
    context.lineWidth = Math.min(3, size / 4);
    context.strokeStyle = LINES;
    context.beginPath();
    for (let i = 0; i < groups.length; i += 1) {
      const [x, y] = [left + (i % columns) * size, top + Math.floor(i / columns) * size];
      if (i % columns && groups[i] !== groups[i - 1]) context.moveTo(x, y), context.lineTo(x, y + size);
      if (i >= columns && groups[i] !== groups[i - columns]) context.moveTo(x, y), context.lineTo(x + size, y);
    }
    context.stroke();
  }

  #under(event) {
    if (!this.table) return [null, null];
    const row = Math.floor((event.offsetY - this.margin[1]) / this.size);
    const column = Math.floor((event.offsetX - this.margin[0]) / this.size);
    return this.#has(row, column) ? [row, column] : [null, null];
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

  /** Has a screen reader say the cell, if the keyboard is at the table. */
  #say() {
    if (document.activeElement !== this.root || !this.table) return;
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
    [row, column] = [Math.min(Math.max(row, 0), rows - 1), Math.min(Math.max(column, 0), columns - 1)];
    if (!this.#has(row, column)) return;
    this.#go(row, column);
    const [x, y] = [this.margin[0] + this.at[1] * this.size, this.margin[1] + this.at[0] * this.size];
    const { root, size } = this;
    if (x - this.margin[0] < root.scrollLeft) root.scrollLeft = x - this.margin[0];
    if (x + size > root.scrollLeft + root.clientWidth) root.scrollLeft = x + size - root.clientWidth;
    if (y - this.margin[1] < root.scrollTop) root.scrollTop = y - this.margin[1];
    if (y + size > root.scrollTop + root.clientHeight) root.scrollTop = y + size - root.clientHeight;
  }
}
