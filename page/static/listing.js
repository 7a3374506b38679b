// The text of a kernel with counts beside each line.
import { element } from "./dom.js";

/** Numbers as they fit: 1200 is 1.2k. */
function short(number) {
  if (number < 10000) return String(number);
  const [size, unit] = number < 1e6 ? [1e3, "k"] : number < 1e9 ? [1e6, "M"] : [1e9, "G"];
  return `${(number / size).toFixed(number / size < 100 ? 1 : 0)}${unit}`;
}

/** `onchoose(line)` is called when a line with instructions is clicked. */
export class Listing {
  constructor({ onchoose }) {
    this.onchoose = onchoose;
    this.body = element("div", { class: "lines" });
    this.root = element("div", { class: "listing", tabIndex: 0, role: "region", "aria-label": "text of the kernel, with counts" },
      element("div", { class: "line head", "aria-hidden": "true" },
        element("span", {}, "line"), element("span", { title: "warps that have executed the line" }, "executed"), element("span", { title: "how often a warp had to wait" }, "waits"),
        element("span", { title: "wavefronts of shared memory, of the fewest that could be" }, "wavefr."), element("span", { title: "sectors of global memory, of the fewest that could be" }, "sectors"), element("span", {}, "text")),
      this.body);
  }

  /** Shows a text; `lines` are what instructions have done, and `findings` the lines that findings name. */
  draw(text, lines, findings) {
    const counts = new Map();
    for (const of of lines) {
      const sum = counts.get(of.line) ?? { executed: 0, waits: 0, wavefronts: 0, least_wavefronts: 0, sectors: 0, least_sectors: 0 };
      for (const name of Object.keys(sum)) sum[name] += of[name];
      counts.set(of.line, sum);
    }
    const ratio = (number, least) => (number === 0 ? "" : number === least ? short(number) : `${short(number)}/${short(least)}`);
    const rows = text.replace(/\n$/, "").split("\n").map((line, at) => {
      const of = counts.get(at + 1);
      const worse = of && (of.wavefronts > of.least_wavefronts || of.sectors > of.least_sectors);
      const row = element("div", { class: `line${of ? " code" : ""}${findings.has(at + 1) ? " found" : ""}` },
        element("span", {}, String(at + 1)),
        element("span", {}, of ? short(of.executed) : ""),
        element("span", {}, of && of.waits ? short(of.waits) : ""),
        element("span", { class: worse ? "worse" : null }, of ? ratio(of.wavefronts, of.least_wavefronts) : ""),
        element("span", { class: worse ? "worse" : null }, of ? ratio(of.sectors, of.least_sectors) : ""),
        element("code", {}, line));
      if (of) row.addEventListener("click", () => this.onchoose(at + 1));
      return row;
    });
    this.rows = rows;
    this.current = null;
    this.body.replaceChildren(...rows);
  }

  /** Marks the line of the current step, and those where the other warps are. */
  mark(line, others) {
    for (const row of this.marked ?? []) {
      row.classList.remove("other");
      row.removeAttribute("data-warps");
    }
    this.marked = [];
    for (const [other, warps] of others) {
      const row = this.rows[other - 1];
      if (!row) continue;
      row.classList.add("other");
      row.dataset.warps = warps;
      this.marked.push(row);
    }
    this.current?.removeAttribute("aria-current");
    const row = this.rows[line - 1];
    if (!row) return;
    this.current = row;
    row.setAttribute("aria-current", "step");
    const [top, height] = [row.offsetTop - this.body.offsetTop, this.root.clientHeight - 30];
    if (top < this.root.scrollTop + 20 || top > this.root.scrollTop + height - 40) this.root.scrollTop = Math.max(0, top - height / 2);
  }
}
