// The text of a kernel with counts beside each line.
import { element } from "./dom.js";

/** Numbers as they fit: 1200 is 1.2k. */
function short(number) {
  if (number < 10000) return String(number);
  const [size, unit] = number < 1e6 ? [1e3, "k"] : number < 1e9 ? [1e6, "M"] : [1e9, "G"];
  return `${(number / size).toFixed(number / size < 100 ? 1 : 0)}${unit}`;
}

/** Counts: name, head of the column, what it means, and its width. */
const COLUMNS = [
  ["executed", "ran", "how often a warp has executed the line", "2.2rem"],
  ["waits", "waits", "how often a warp had to wait there", "2.5rem"],
  ["wavefronts", "waves", "wavefronts of shared memory; after a slash, the fewest that there could be", "3.2rem"],
  ["sectors", "sectors", "sectors of global memory; after a slash, the fewest that there could be", "3.2rem"],
];

/** So many lines are laid out together: those that cannot be seen are not. */
const CHUNK = 64;

/** A line of the text. Its indent is room, so that a long word after it does not begin another line. */
function indented(line) {
  const text = line.trimStart();
  const code = element("code", {}, text);
  code.style.paddingLeft = `${3 + line.length - text.length}ch`;
  return code;
}

/** `onchoose(line)` is called when a line with instructions is clicked. */
export class Listing {
  constructor({ onchoose }) {
    this.onchoose = onchoose;
    this.body = element("div", { class: "lines" });
    this.head = element("div", { class: "line head", "aria-hidden": "true" });
    this.root = element("div", { class: "listing", tabIndex: 0, role: "region", "aria-label": "text of the kernel, with counts" }, this.head, this.body);
    this.body.addEventListener("click", ({ target }) => {
      const at = this.rows.indexOf(target.closest(".line.code"));
      if (at >= 0) this.onchoose(at + 1);
    });
  }

  /** Shows a text; `lines` are what instructions have done, and `findings` the lines that findings name. */
  draw(text, lines, findings) {
    const counts = new Map();
    for (const of of lines) {
      const sum = counts.get(of.line) ?? { executed: 0, waits: 0, wavefronts: 0, least_wavefronts: 0, sectors: 0, least_sectors: 0 };
      for (const name of Object.keys(sum)) sum[name] += of[name];
      counts.set(of.line, sum);
    }
    // Counts that are 0 everywhere need no column.
    const columns = COLUMNS.filter(([name]) => name === "executed" || lines.some((of) => of[name] > 0));
    const all = text.replace(/\n$/, "").split("\n");
    this.root.style.setProperty("--counts", columns.map(([, , , width]) => width).join(" "));
    this.head.replaceChildren(element("span", {}, "line"), ...columns.map(([, text, title]) => element("span", { class: "count", title }, text)), element("span", {}, "text"));
    const ratio = (number, least) => (number === 0 ? "" : number === least ? short(number) : `${short(number)}/${short(least)}`);
    const rows = all.map((line, at) => {
      const of = counts.get(at + 1);
      const count = ([name]) => {
        const least = of?.[`least_${name}`];
        return element("span", { class: of && of[name] > least ? "count worse" : "count" }, !of ? "" : name === "executed" ? short(of[name]) : ratio(of[name], least ?? of[name]));
      };
      return element("div", { class: `line${of ? " code" : ""}${findings.has(at + 1) ? " found" : ""}` },
        element("span", {}, String(at + 1)),
        columns.map(count),
        indented(line));
    });
    this.rows = rows;
    this.current = null;
    // The source line from which the lines after it come, where another one begins.
    const sources = new Map(lines.filter(({ source }) => source).map(({ line, source }) => [line, source]));
    let last = null;
    const sourced = rows.map((row, at) => {
      const source = sources.get(at + 1) ?? last;
      if (source === last) return [row];
      last = source;
      return [element("div", { class: "source" }, source), row];
    });
    const chunks = Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, at) => sourced.slice(at * CHUNK, (at + 1) * CHUNK).flat());
    this.body.replaceChildren(...chunks.map((chunk) => {
      const made = element("div", { class: "chunk" }, chunk);
      made.style.setProperty("--lines", chunk.length);
      return made;
    }));
  }

  /** Marks the line of the current step, and those where the other warps are. */
  mark(line, others) {
    this.#reach(line);
    for (const row of this.marked ?? []) {
      row.classList.remove("other");
      row.lastChild.removeAttribute("data-warps");
    }
    this.marked = [];
    for (const [other, warps] of others) {
      const row = this.rows[other - 1];
      if (!row) continue;
      row.classList.add("other");
      row.lastChild.dataset.warps = warps;
      this.marked.push(row);
    }
    this.current?.removeAttribute("aria-current");
    const row = this.rows[line - 1];
    if (!row) return;
    this.current = row;
    row.setAttribute("aria-current", "step");
  }

  /** Scrolls to a line, without moving the page. */
  #reach(line) {
    const row = this.rows[line - 1];
    if (!row) return;
    const [height, { scrollTop }] = [this.root.clientHeight, this.root];
    const top = row.getBoundingClientRect().top - this.body.getBoundingClientRect().top;
    if (top < scrollTop + 20 || top > scrollTop + height - 60) this.root.scrollTop = Math.max(0, top - height / 2);
  }
}
