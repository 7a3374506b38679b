// Maps of memory: a block's shared memory and arrays in global memory, each with a part of it as numbers.
import { delayed, element, fine, labelled, saves, select } from "./dom.js";
import { Grid, fill } from "./grid.js";
import { TYPES, address, bytesOf, number } from "./numbers.js";

/** When a cell was changed, in words, and how strong its colour is. */
const AGES = [["in this step", 1], ["in the last 32 steps", 0.9], ["in the last 1024 steps", 0.75], ["before", 0.6]];
const age = (steps) => (steps === 0 ? 0 : steps <= 32 ? 1 : steps <= 1024 ? 2 : 3);

/** The most cells of a map. */
const CELLS = 4096;

/** A colour `share` of the way from a ground, both "#rrggbb". */
function mix(colour, ground, share) {
  const [a, b] = [colour, ground].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return `#${a.map((part, i) => Math.round(part * share + b[i] * (1 - share)).toString(16).padStart(2, "0")).join("")}`;
}

const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** The bytes of a region after a step, and for each word by whom and in which step it was changed last. */
class Image {
  constructor({ bytes, begin, changes }) {
    this.begin = unhex(begin);
    this.changes = changes.map(([step, at, by, bytes]) => ({ step, at, by, bytes: unhex(bytes) }));
    this.bytes = new Uint8Array(bytes);
    [this.by, this.step] = [1, 2].map(() => new Uint32Array(Math.ceil(bytes / 4)));
    this.#reset();
  }

  #reset() {
    this.done = 0;
    this.bytes.fill(0);
    this.bytes.set(this.begin);
    this.by.fill(0);
    this.step.fill(0);
  }

  /** Goes to what is after a step, by its number in the block. */
  go(step) {
    if (this.changes[this.done - 1]?.step > step) this.#reset();
    for (let of; (of = this.changes[this.done])?.step <= step; this.done += 1) {
      this.bytes.set(of.bytes, of.at);
      const [from, to] = [of.at >> 2, (of.at + of.bytes.length + 3) >> 2];
      this.by.fill(of.by, from, to);
      this.step.fill(of.step, from, to);
    }
    return this.changes[this.done - 1]?.step ?? -Infinity;
  }
}

/** The type that the elements of a region may have: that of its first access, where this is a number's, or one of its width that the kernel uses. */
function guessed(type, text) {
  if (TYPES.includes(type)) return type;
  if (type === "b16") return text.includes("bf16") ? "bf16" : text.includes(".f16") ? "f16" : "u16";
  if (type === "b64") return "u64";
  return text.includes(".f32") ? "f32" : "u32";
}

/** The map of a region, `text` being the kernel's. `element` gives where it is to be shown. */
export class Memory {
  constructor(region, text) {
    this.region = region;
    this.image = new Image(region);
    this.shared = region.name === "shared memory";
    this.unit = 4;
    while (region.bytes > this.unit * CELLS) this.unit *= 2;
    this.count = Math.ceil(region.bytes / this.unit);
    this.across = this.count > 1280 ? 64 : 32;
    this.caption = element("figcaption");
    this.pointed = element("div", { class: "mono faint pointed" });
    this.type = select(TYPES.map((name) => [name, name]), { onchange: () => { this.#part(); this.#point(); } });
    this.type.value = guessed(region.type, text);
    this.tile = element("input", { type: "text", size: 14, spellcheck: false, autocomplete: "off", placeholder: "0:8x16", oninput: delayed(40, () => this.#part()) });
    this.matrix = element("div", { class: "scroll small", tabIndex: 0, role: "region", "aria-label": `part of ${region.name}`, hidden: true });
    this.at = [null, null];
    this.grid = new Grid({
      label: region.name,
      onpoint: (row, column) => { this.at = [row, column]; this.#point(); },
      describe: (row, column) => this.#told(row, column),
    });
    this.root = element("figure", { class: "memory" }, this.caption, this.grid.root, this.pointed,
      element("div", { class: "row small" }, labelled("Values as", this.type), labelled("Part as a matrix, OFFSET:ROWSxCOLUMNS[:PITCH]", this.tile), saves(this.grid, () => region.name)),
      this.matrix);
    this.caption.textContent = this.#caption();
  }

  #caption() {
    const { region: { name, bytes, base }, unit, shared } = this;
    const cell = unit === 4 ? (shared ? "a cell is a word, a column a bank" : "a cell is a word") : `a cell is ${unit} bytes`;
    return `${name[0].toUpperCase()}${name.slice(1)}: ${bytes} bytes from address ${address(base)}${shared ? ` (${base})` : ""}; ${cell}`;
  }

  /** Marks the places of findings, which are addresses. */
  accuse(addresses) {
    const { region: { base, bytes }, unit } = this;
    this.racing = new Set(addresses.filter((at) => at >= base && at < base + bytes).map((at) => Math.floor((at - base) / unit)));
  }

  /** Shows the memory after a step: `flights` are operations on shared memory, `accesses` what lanes do in the step. */
  draw({ number: step, in_flight: flights, accesses }) {
    const last = this.image.go(step);
    this.accesses = this.#own(accesses);
    const ranges = this.shared ? flights.filter(({ done }) => !done).map(({ writes, reads }) => [writes, reads]) : [];
    // Most steps change nothing.
    const told = JSON.stringify([this.image.done, step - last > 1024 ? null : step, ranges]);
    if (told !== this.told) {
      this.told = told;
      this.#cells(step, ranges);
      this.fit();
      this.#part();
    }
    this.#mark();
    this.#point();
  }

  /** The lanes that access the region: `{ lane, at, bytes, write }`, where `at` counts from the region's begin. */
  #own(accesses) {
    const { base, bytes } = this.region;
    return accesses.flatMap(({ space, write, bytes: each, lanes, at }) => {
      if (this.shared !== space.startsWith("shared")) return [];
      const numbers = Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => (lanes >>> lane) & 1);
      return at.map((of, i) => ({ lane: numbers[i], at: of - base, bytes: each, write })).filter((of) => of.at >= 0 && of.at < bytes);
    });
  }

  /** By whom, how long ago, and what is in flight, of each cell. */
  #cells(step, ranges) {
    const { image, unit, count } = this;
    const words = unit / 4;
    this.cells = Array.from({ length: count }, (_, cell) => {
      let best = [0, 0];
      for (let word = cell * words; word < (cell + 1) * words && word < image.by.length; word += 1) {
        if (image.by[word] && image.step[word] >= best[1]) best = [image.by[word], image.step[word]];
      }
      return [best[0], best[0] ? age(step - best[1]) : 0, 0];
    });
    ranges.forEach((pair) => pair.forEach((all, kind) => all.forEach(([from, to]) => {
      const base = this.region.base;
      for (let cell = Math.floor((from - base) / unit); cell * unit < to - base; cell += 1) if (this.cells[cell]) this.cells[cell][2] |= kind + 1;
    })));
  }

  /** Draws again, as the window or its colours are others now. */
  fit() {
    if (!this.cells) return;
    const { cells, across, unit } = this;
    const style = getComputedStyle(this.root);
    const [ground, engine, flying] = ["--cell", "--class-copy", "--class-barrier"].map((name) => style.getPropertyValue(name).trim());
    const rows = Math.ceil(cells.length / across);
    const palette = [];
    const numbers = new Map();
    const numbered = ([by, age, flight]) => {
      const key = flight ? "flight" : by ? `${by} ${age}` : "none";
      if (!numbers.has(key)) numbers.set(key, palette.push(flight ? flying : by ? mix(by === 1 ? engine : fill("numbers", by - 2), ground, AGES[age][1]) : ground) - 1);
      return numbers.get(key);
    };
    this.grid.draw({
      rows, columns: Math.min(across, cells.length), fills: { palette, inks: [], cells: cells.map(numbered) },
      size: Math.max(4, Math.min(14, Math.floor(400 / rows), Math.floor((this.root.clientWidth - 76) / across))),
      rowNames: Array.from({ length: rows }, (_, row) => address(this.region.base + row * across * unit)),
    });
    this.#mark();
  }

  #mark() {
    if (!this.accesses || !this.grid.table) return;
    const of = (write) => {
      const cells = new Set();
      for (const access of this.accesses) {
        if (access.write !== write) continue;
        for (let cell = Math.floor(access.at / this.unit); cell * this.unit < access.at + access.bytes; cell += 1) if (cell < this.count) cells.add(cell);
      }
      return cells;
    };
    this.grid.mark({ from: of(false), chosen: of(true), wrong: this.racing ?? new Set() });
  }

  /** Shows a part as numbers, or what would be accepted. */
  #part() {
    const text = this.tile.value.trim();
    fine(this.tile);
    this.matrix.hidden = text === "";
    if (text === "") return;
    const read = text.match(/^(0x[0-9a-f]+|\d+):(\d+)x(\d+)(?::(\d+))?$/i);
    const [offset, rows, columns, pitch] = (read ?? []).slice(1).map((of) => of === undefined ? undefined : Number(of));
    const [step, size] = [pitch ?? columns, bytesOf(this.type.value)];
    const end = read && offset + ((rows - 1) * step + columns) * size;
    const refused = !read || rows * columns === 0 ? "OFFSET:ROWSxCOLUMNS or OFFSET:ROWSxCOLUMNS:PITCH is accepted, with the offset in bytes and the pitch in elements"
      : rows * columns > 1 << 14 ? "up to 16384 elements are shown" : end > this.region.bytes ? `${this.region.name} has ${this.region.bytes} bytes, and the part ends at ${end}` : null;
    if (refused) {
      this.tile.setAttribute("aria-invalid", "true");
      this.matrix.replaceChildren(element("pre", { class: "fault" }, refused));
      return;
    }
    const view = new DataView(this.image.bytes.buffer);
    const cell = (row, column) => element("td", {}, number(view, offset + (row * step + column) * size, this.type.value));
    const indices = (count) => Array.from({ length: count }, (_, at) => at);
    this.matrix.replaceChildren(element("table", { class: "matrix mono" }, element("tbody", {}, indices(rows).map((row) => element("tr", {}, indices(columns).map((column) => cell(row, column)))))));
  }

  #point() {
    const [row, column] = this.at;
    this.pointed.textContent = row === null ? this.#begin() : this.#told(row, column);
  }

  /** The first values. */
  #begin() {
    const { region: { base, bytes }, type: { value: type } } = this;
    const view = new DataView(this.image.bytes.buffer);
    const count = Math.min(8, Math.floor(bytes / bytesOf(type)));
    const values = Array.from({ length: count }, (_, nth) => number(view, nth * bytesOf(type), type));
    return `${address(base)}: ${values.join(" ")}${count * bytesOf(type) < bytes ? " …" : ""} (${type})`;
  }

  /** What is said of a cell. */
  #told(row, column) {
    const i = row * this.across + column;
    if (!this.cells?.[i]) return "";
    const [by, ago, flight] = this.cells[i];
    const { unit, region: { base, bytes }, type: { value: type } } = this;
    const view = new DataView(this.image.bytes.buffer);
    const values = [];
    for (let at = i * unit; at < Math.min((i + 1) * unit, bytes) && values.length < 8; at += bytesOf(type)) values.push(number(view, at, type));
    const lanes = this.accesses.filter((of) => of.at < (i + 1) * unit && of.at + of.bytes > i * unit);
    const doing = (write) => lanes.filter((of) => of.write === write).map(({ lane }) => lane);
    const who = by === 0 ? "not changed" : `changed by ${by === 1 ? (this.shared ? "an asynchronous operation" : "an asynchronous operation or another block") : `warp ${by - 2}`} ${AGES[ago][0]}`;
    const said = (all, what) => all.length > 0 && `${what} by lane${all.length > 1 ? "s" : ""} ${all.join(", ")}`;
    return [`${address(base + i * unit)}: ${values.join(" ")} (${type}${unit > 4 && values.length === 8 ? ", the first" : ""})`, who,
      flight & 1 && "going to be written", flight & 2 && "going to be read", said(doing(false), "read"), said(doing(true), "written"),
      this.racing?.has(i) && "a finding is about it"].filter(Boolean).join("; ");
  }
}
