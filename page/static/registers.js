// The registers of a warp.
import { element, labelled } from "./dom.js";

/** `onopen()` is called when registers are opened or closed; `opened` are their names. */
export class Registers {
  constructor({ onopen }) {
    this.onopen = onopen;
    this.opened = new Set();
    this.filter = element("input", { type: "text", spellcheck: false, autocomplete: "off", placeholder: "all", oninput: () => this.#sift() });
    this.changing = element("input", { type: "checkbox", onchange: () => this.#sift() });
    this.body = element("tbody");
    this.root = element("div", {},
      element("div", { class: "row small" }, labelled("Registers whose names contain", this.filter), labelled("only what has a value", this.changing, { class: "field check" })),
      element("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "registers" },
        element("table", { class: "registers" },
          element("thead", {}, element("tr", {}, element("th", {}, "register"), element("th", {}, "type"), element("th", {}, "lanes 0 to 31"))),
          this.body)));
    this.changing.checked = true;
  }

  /** Begins a run: `[name, type]` of every register. */
  begin(registers) {
    this.opened.clear();
    this.rows = registers.map(([name, type]) => {
      const value = element("td", { class: "mono" });
      const toggle = element("button", { class: "plain mono", type: "button", "aria-expanded": "false", title: "show each lane", onclick: () => this.#toggle(name, toggle) }, name);
      const row = element("tr", {}, element("th", { scope: "row" }, toggle), element("td", { class: "faint" }, type), value);
      return { name, row, value, toggle, lanes: false, text: "" };
    });
    this.body.replaceChildren(...this.rows.map(({ row }) => row));
    this.last = [];
    this.#sift();
  }

  /** Shows the values after a step, `[number, text]` of those that are others than before, and which ones the step has written. */
  draw(values, changed, open) {
    for (const at of this.last) this.rows[at].row.classList.remove("changed");
    this.last = changed;
    for (const at of changed) this.rows[at].row.classList.add("changed");
    const shown = new Map(open.map(({ register, lanes }) => [register, lanes]));
    for (const [at, text] of values) {
      const of = this.rows[at];
      if (of.text === text) continue;
      const shows = (of.text === "") !== (text === "");
      of.text = text;
      if (!of.lanes) of.value.textContent = text;
      if (shows) this.#show(of);
    }
    this.rows.forEach((of, at) => {
      const lanes = shown.get(at);
      if (!lanes && !of.lanes) return;
      of.lanes = Boolean(lanes);
      of.value.replaceChildren(lanes ? element("ol", { class: "lanes", start: 0 }, lanes.map((lane) => element("li", {}, lane))) : of.text);
    });
    const first = changed[0] === undefined ? null : this.rows[changed[0]].row;
    if (first && !first.hidden) {
      const box = this.body.closest(".scroll");
      const top = first.offsetTop;
      if (top < box.scrollTop + 24 || top > box.scrollTop + box.clientHeight - 24) box.scrollTop = top - box.clientHeight / 2;
    }
  }

  #toggle(name, toggle) {
    const open = !this.opened.delete(name);
    if (open) this.opened.add(name);
    toggle.setAttribute("aria-expanded", String(open));
    this.onopen();
  }

  #show(of) {
    of.row.hidden = !of.name.includes(this.filter.value.trim()) || (this.changing.checked && of.text === "");
  }

  #sift() {
    for (const of of this.rows ?? []) this.#show(of);
  }
}
