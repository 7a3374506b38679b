// What warps wait for: mbarriers, and copies and products in flight.
import { element } from "./dom.js";
import { address } from "./numbers.js";

/** Numbers in order, neighbours together: 0-3, 8. */
export function ranges(numbers) {
  const all = [];
  for (const number of numbers) {
    const last = all.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else all.push([number, number]);
  }
  return all.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(", ");
}

/** Lanes of a mask, in words. */
export function lanes(mask) {
  if (mask === 0) return "no lane";
  if (mask === 0xffffffff) return "all lanes";
  const all = Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => (mask >>> lane) & 1);
  return `lane${all.length > 1 ? "s" : ""} ${ranges(all)}`;
}

/** Warps, in words. */
export const warps = (all) => `warp${all.length > 1 ? "s" : ""} ${ranges(all)}`;

/** A table with a caption, heads, and rows of cells: texts, or elements. */
function table(caption, heads, rows) {
  return element("table", { class: "state" },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, heads.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, rows));
}

/** The opcode without most of its modifiers. */
function opcode(instruction) {
  const words = instruction.split(/\s+/).find((word) => !word.startsWith("@")).split(".");
  return words.slice(0, words[0] === "cp" ? 5 : 2).filter((word) => !word.includes(":")).join(".");
}

export class Waits {
  constructor() {
    this.mbarriers = element("div");
    this.flights = element("div");
    this.root = element("div", {}, this.mbarriers, this.flights);
    this.told = [];
  }

  /** Shows the mbarriers and what is in flight after a step. */
  draw(mbarriers, flights) {
    // Most steps change nothing.
    const told = [mbarriers, flights].map((all) => JSON.stringify(all));
    if (told[0] !== this.told[0]) this.mbarriers.replaceChildren(mbarriers.length ? this.#mbarriers(mbarriers) : "");
    if (told[1] !== this.told[1]) this.flights.replaceChildren(flights.length ? this.#flights(flights) : "");
    this.told = told;
  }

  #mbarriers(all) {
    return table("mbarriers", ["address", "phase", "parity", "arrivals missing", "bytes missing"], all.map((of) =>
      element("tr", { class: of.changed ? "changed" : null },
        [address(of.address), of.completed, of.completed % 2, `${of.pending} of ${of.expected}`, of.transactions].map((text) => element("td", {}, String(text))))));
  }

  #flights(all) {
    const bytes = (list) => list.map(([from, to]) => `${address(from)} to ${address(to - 1)}`).join(", ");
    return table("in flight", ["by", "operation", "bytes", "shared memory"], all.map((of) => element("tr", {},
      element("td", {}, `${warps(of.warps)}${of.bytes ? `, ${lanes(of.lanes)}` : ""}`),
      element("td", { class: "mono", title: of.instruction }, `${of.count > 1 ? `${of.count} x ` : ""}${opcode(of.instruction)}, line ${of.line}`),
      element("td", {}, of.bytes ? String(of.bytes) : ""),
      element("td", {}, [of.writes.length > 0 && `writes ${bytes(of.writes)}`, of.reads.length > 0 && `reads ${bytes(of.reads)}`, of.done && "done, not waited for"].filter(Boolean).join("; ")))));
  }
}
