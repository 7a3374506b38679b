// The map of a block's shared memory, and a part of it as numbers.
import { element } from "./dom.js";
import { Grid, fill } from "./grid.js";

/** When a cell was changed, in words, and how strong its colour is. */
const AGES = [["in this step", 1], ["in the last 32 steps", 0.9], ["in the last 1024 steps", 0.75], ["before", 0.6]];

const who = (by) => (by === 0 ? "not written" : by === 1 ? "by an asynchronous operation" : `by warp ${by - 2}`);

/** A colour `share` of the way from a ground, both "#rrggbb". */
function mix(colour, ground, share) {
  const [a, b] = [colour, ground].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return `#${a.map((part, i) => Math.round(part * share + b[i] * (1 - share)).toString(16).padStart(2, "0")).join("")}`;
}

/** The map. `fields` are what stands between it and the numbers. */
export class SharedMemory {
  constructor(...fields) {
    this.caption = element("figcaption");
    this.pointed = element("div", { class: "mono faint" });
    this.matrix = element("div", { class: "scroll small" });
    this.grid = new Grid({
      label: "shared memory",
      onpoint: (row, column) => { this.pointed.textContent = row === null ? "" : this.#told(row, column); },
      describe: (row, column) => this.#told(row, column),
    });
    this.root = element("figure", {}, this.caption, this.grid.root, this.pointed, fields, this.matrix);
  }

  /** Begins a run whose block has so many bytes. */
  begin(bytes) {
    [this.bytes, this.told] = [bytes, ""];
    this.root.hidden = bytes === 0;
  }

  /** Shows the memory after a step: the unit of a cell in bytes, and runs of equal cells. */
  draw({ unit, runs }) {
    if (this.bytes === 0) return;
    // Most steps change nothing.
    const told = JSON.stringify(runs);
    if (told === this.told) return;
    [this.told, this.unit, this.runs] = [told, unit, runs];
    this.cells = runs.flatMap(([count, ...of]) => Array(count).fill(of));
    this.fit();
  }

  /** Draws again, as the window or its colours are others now. */
  fit() {
    if (!this.cells || this.bytes === 0) return;
    const { unit, cells } = this;
    const style = getComputedStyle(this.root);
    const [ground, engine, flying] = ["--raised", "--class-copy", "--class-barrier"].map((name) => style.getPropertyValue(name).trim());
    this.across = cells.length > 1280 ? 64 : 32;
    const rows = Math.ceil(cells.length / this.across);
    const palette = [];
    const numbers = new Map();
    const numbered = ([by, age, flight]) => {
      const key = flight ? "flight" : by ? `${by} ${age}` : "none";
      if (!numbers.has(key)) numbers.set(key, palette.push(flight ? flying : by ? mix(by === 1 ? engine : fill("numbers", by - 2), ground, AGES[age][1]) : ground) - 1);
      return numbers.get(key);
    };
    this.caption.textContent = `Shared memory, ${this.bytes} bytes: ${unit === 4 ? "a cell is a word, a column a bank" : `a cell is ${unit} bytes`}. Coloured by the warp that has changed it last, orange for an asynchronous copy, the stronger the more recently; violet is in flight.`;
    this.grid.draw({
      rows, columns: this.across, fills: { palette, inks: [], cells: cells.map(numbered) },
      size: Math.max(4, Math.min(14, Math.floor(400 / rows), Math.floor((this.root.clientWidth - 60) / this.across))),
      rowNames: Array.from({ length: rows }, (_, row) => row * this.across * unit),
    });
  }

  /** Shows a part as numbers, or why there is none. */
  part(rows, problem) {
    const table = () => element("table", { class: "matrix mono" }, element("tbody", {}, rows.map((row) => element("tr", {}, row.map((of) => element("td", {}, of))))));
    this.matrix.replaceChildren(problem ?? (rows.length === 0 ? "" : table()));
  }

  /** What is said of a cell. */
  #told(row, column) {
    const i = row * this.across + column;
    if (!this.cells?.[i]) return "";
    const [by, age, flight] = this.cells[i];
    return [`bytes ${i * this.unit} to ${i * this.unit + this.unit - 1}: ${who(by)}${by ? ` ${AGES[age][0]}` : ""}`,
      flight & 1 && "going to be written", flight & 2 && "going to be read"].filter(Boolean).join("; ");
  }
}
