// What is run: a kernel by name or PTX, its launch, and the block that is recorded.
import { LINKED, delayed, element, fine, fresh, labelled, natural, unlinked } from "./dom.js";

const OWN = "own";

/** Why a field cannot be read. */
const refused = (field, message) => Object.assign(new Error(message), { field });

/** `onchange()` is called when something else is to be run; `onchoose()` before another kernel is chosen. */
export class Launch {
  constructor(page, { onchange, onchoose }) {
    const typed = delayed(150, onchange);
    const edited = delayed(40, () => this.#edited());
    this.onchange = onchange;
    this.unknown = null;
    this.choice = element("select", { onchange: () => {
      onchoose();
      this.unknown = null;
      this.#chosen(false);
      onchange();
    } });
    this.block = element("input", { type: "text", size: 7, value: "0,0,0", spellcheck: false, oninput: typed });
    this.seed = element("input", { type: "number", min: 0, value: 0, oninput: typed });
    this.sizes = element("input", { type: "text", size: 14, spellcheck: false, id: fresh("field"), oninput: typed });
    this.sizeNames = element("label", { for: this.sizes.id }, "Sizes");
    this.sized = element("div", { class: "field" }, this.sizeNames, this.sizes);
    this.ptx = element("textarea", { rows: 14, spellcheck: false, wrap: "off", oninput: edited });
    this.launches = element("textarea", { rows: 2, spellcheck: false, oninput: edited });
    this.file = element("input", { type: "file", accept: ".ptx", onchange: async () => {
      const [file] = this.file.files;
      if (!file) return;
      this.ptx.value = await file.text();
      // The same file, changed meanwhile, can be chosen again.
      this.file.value = "";
      this.#edited();
    } });
    this.help = element("pre", { class: "note" });
    this.notice = unlinked();
    this.texts = element("details", { class: "texts" }, element("summary", {}, "PTX and launch"),
      element("div", { class: "row" }, labelled("PTX", this.ptx, { class: "field wide" })),
      element("div", { class: "row" }, labelled("Launches, the last one is recorded", this.launches, { class: "field wide" }), labelled("PTX from a file", this.file)),
      this.notice,
      element("details", {}, element("summary", {}, "How launches and arguments are written"), this.help));
    this.root = element("div", {},
      element("div", { class: "row" }, labelled("Kernel", this.choice, { class: "field wide" }), this.sized, labelled("Block", this.block), labelled("Seed", this.seed)),
      this.texts);
    this.ready = this.#begin(page);
  }

  async #begin(page) {
    this.known = await page.call("list", {});
    const group = (label, all) => element("optgroup", { label }, all.map(({ name, about }) => element("option", { value: name }, about ? `${name} – ${about}` : name)));
    this.choice.append(group("Examples in PTX", this.known.examples), group("Kernels of girih", this.known.kernels), group("Programs over tiles, small", this.known.programs), element("option", { value: OWN }, "PTX of your own"));
    this.help.textContent = `${this.known.help[1]}\n\n${this.known.help[0].split("\n\nFiles have")[0]}`;
  }

  /** The kernel that is chosen, where it has sizes. */
  get #named() {
    return [...this.known.kernels, ...this.known.programs].find(({ name }) => name === this.choice.value);
  }

  get #example() {
    return this.known.examples.find(({ name }) => name === this.choice.value);
  }

  /** Fills the fields for the kernel that is chosen, and keeps what the address has said of them. */
  #chosen(keep) {
    if (this.unknown !== null) [this.ptx.value, this.launches.value] = ["", ""];
    const [example, named] = [this.#example, this.#named];
    if (example) [this.ptx.value, this.launches.value] = [example.ptx, example.launches];
    this.texts.hidden = Boolean(named);
    if (this.choice.value === OWN) this.texts.open = true;
    this.sized.hidden = !named;
    if (named) {
      this.sizeNames.textContent = `Sizes: ${named.sizes.map(([name]) => name).join(" x ")}`;
      if (!keep || !this.sizes.value) this.sizes.value = named.sizes.map(([, size]) => size).join("x");
    }
    if (!keep) this.block.value = "0,0,0";
  }

  #edited() {
    const example = this.#example;
    if (example && (example.ptx !== this.ptx.value || example.launches !== this.launches.value)) this.choice.value = OWN;
    this.onchange();
  }

  /** Takes over what the address says. */
  show(params) {
    const name = params.get("k") ?? "sum_race";
    this.sizes.value = params.get("z") ?? "";
    [this.choice.value, this.block.value, this.seed.value] = [name, params.get("b") ?? "0,0,0", natural(params.get("seed"))];
    // The program says which names are near.
    this.unknown = this.choice.value === name ? null : name;
    if (params.has("ptx")) [this.ptx.value, this.launches.value] = [params.get("ptx"), params.get("l") ?? ""];
    this.#chosen(true);
  }

  /** What the address says. A text of one's own is there if it is not long. */
  get params() {
    const params = { k: this.unknown ?? this.choice.value };
    if (this.#named) params.z = this.sizes.value;
    if (this.block.value !== "0,0,0") params.b = this.block.value;
    if (natural(this.seed.value)) params.seed = this.seed.value;
    this.notice.hidden = this.choice.value !== OWN || this.ptx.value.length + this.launches.value.length <= LINKED;
    if (this.choice.value === OWN && this.notice.hidden) Object.assign(params, { ptx: this.ptx.value, l: this.launches.value });
    return params;
  }

  /** The request for what is chosen; throws what is wrong with a field. */
  get request() {
    const all = (field, separator) => field.value.split(separator).map((text) => natural(text.trim(), null));
    const place = all(this.block, ",");
    if (place.length > 3 || place.includes(null)) throw refused("block", "Block: x, or x,y or x,y,z is accepted, such as 0,0,0");
    const seed = natural(this.seed.value, null);
    if (seed === null) throw refused("seed", "Seed: a whole number from 0 on is accepted");
    const shared = { block: [place[0], place[1] ?? 0, place[2] ?? 0], seed };
    if (this.unknown !== null) return { kernel: this.unknown, ...shared };
    const named = this.#named;
    if (!named) return { ptx: this.ptx.value, launches: this.launches.value, ...shared };
    const sizes = all(this.sizes, "x");
    if (sizes.length !== named.sizes.length || sizes.includes(null)) {
      throw refused("sizes", `Sizes: whole numbers for ${named.sizes.map(([name]) => name).join(" x ")} are accepted, such as ${named.sizes.map(([, size]) => size).join("x")}`);
    }
    return { kernel: this.choice.value, sizes, ...shared };
  }

  /** Whether there is a text of one's own to be run, and nothing in it. */
  get empty() {
    return this.choice.value === OWN && !this.ptx.value.trim() && !this.launches.value.trim();
  }

  /** The field that an error names. */
  field(name) {
    if (name === "ptx" || name === "launches") this.texts.open = true;
    return { ptx: this.ptx, launches: this.launches, block: this.block, seed: this.seed, sizes: this.sizes, kernel: this.sized.hidden ? this.choice : this.sizes }[name];
  }

  /** Takes the marks of errors from all fields. */
  fine() {
    for (const field of [this.ptx, this.launches, this.block, this.seed, this.choice, this.sizes]) fine(field);
  }
}
