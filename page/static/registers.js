// The registers of a warp.
import { element, labelled } from "./dom.js";
import { lanesOf } from "./numbers.js";

/** So many registers are laid out together: those that cannot be seen are not. */
const CHUNK = 64;
/** The height of a register's row, in rem. */
const HEIGHT = 1.35;

export class Registers {
  constructor() {
    this.filter = element("input", { type: "text", spellcheck: false, autocomplete: "off", placeholder: "all", oninput: () => this.#sift() });
    this.changing = element("input", { type: "checkbox", onchange: () => this.#sift() });
    this.body = element("div", { role: "none" });
    const head = ["register", "type", "lanes 0 to 31"].map((text) => element("span", { role: "columnheader" }, text));
    this.box = element("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "registers" },
      element("div", { class: "registers", role: "table", "aria-label": "registers" }, element("div", { class: "register head", role: "row" }, head), this.body));
    this.root = element("div", {},
      element("div", { class: "row small" }, labelled("Registers whose names contain", this.filter), labelled("only what has a value", this.changing, { class: "field check" })),
      this.box);
    this.changing.checked = true;
  }

  /** Begins a run: `[name, type]` of every register. */
  begin(registers) {
    this.chunks = Array.from({ length: Math.ceil(registers.length / CHUNK) }, () => ({ root: element("div", { class: "chunk", role: "rowgroup" }), count: 0 }));
    this.rows = registers.map(([name, type], at) => {
      const value = element("span", { class: "mono", role: "cell" });
      const toggle = element("button", { class: "plain mono", type: "button", "aria-expanded": "false", title: "show each lane", onclick: () => this.#toggle(at) }, name);
      const row = element("div", { class: "register", role: "row", hidden: true }, element("span", { role: "rowheader" }, toggle), element("span", { class: "faint", role: "cell" }, type), value);
      const chunk = this.chunks[Math.floor(at / CHUNK)];
      chunk.root.append(row);
      return { name, type, row, value, toggle, chunk, lanes: false, text: "" };
    });
    this.body.replaceChildren(...this.chunks.map(({ root }) => root));
    this.last = [];
    this.#sift();
  }

  /** Shows the values after a step, `[number, text]` of those that may be others than before, and which ones the step has written. */
  draw(values, changed) {
    for (const at of this.last) this.rows[at].row.classList.remove("changed");
    this.last = changed;
    for (const at of changed) this.rows[at].row.classList.add("changed");
    for (const [at, text] of values) {
      const of = this.rows[at];
      if (of.text === text) continue;
      const shows = (of.text === "") !== (text === "");
      of.text = text;
      this.#value(of);
      if (shows) this.#show(of);
    }
    const first = this.rows[changed[0]]?.row;
    if (first && !first.hidden) {
      const [top, { scrollTop, clientHeight }] = [first.offsetTop, this.box];
      if (top < scrollTop + 24 || top > scrollTop + clientHeight - 24) this.box.scrollTop = top - clientHeight / 2;
    }
  }

  /** Opens a register to its lanes, or closes it. */
  #toggle(at) {
    const of = this.rows[at];
    of.lanes = !of.lanes;
    of.row.classList.toggle("open", of.lanes);
    of.toggle.setAttribute("aria-expanded", String(of.lanes));
    this.#value(of);
  }

  /** Puts the value of a register into its row. An integer is there in hexadecimal too, as findings have addresses. */
  #value(of) {
    const integer = /^\d+$/.test(of.text) && !/^(f|bf|pred)/.test(of.type);
    const text = integer && Number(of.text) > 9 ? `${of.text} (0x${BigInt(of.text).toString(16)})` : of.text;
    of.value.title = text;
    of.value.replaceChildren(of.lanes ? element("ol", { class: "lanes", start: 0 }, lanesOf(of.text).map((lane) => element("li", {}, lane))) : text);
  }

  #show(of) {
    const hidden = !of.name.includes(this.filter.value.trim()) || (this.changing.checked && of.text === "");
    if (of.row.hidden === hidden) return;
    of.row.hidden = hidden;
    const { root } = of.chunk;
    of.chunk.count += hidden ? -1 : 1;
    root.hidden = of.chunk.count === 0;
    root.style.containIntrinsicHeight = `${of.chunk.count * HEIGHT}rem`;
  }

  #sift() {
    for (const { root, count } of this.chunks ?? []) root.hidden = count === 0;
    for (const of of this.rows ?? []) this.#show(of);
  }
}
