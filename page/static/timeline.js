// The timeline of a block's warps: a row for each, coloured by what the warp does. Screen readers get the step that is chosen from the view.
import { element, saves } from "./dom.js";
import { Svg } from "./svg.js";

const ROW = 18;
const LEFT = 58;
const TOP = 16;
/** The most pixels of a canvas's side: browsers draw nothing beyond theirs. */
const SIDE = 8192;

/** `onchoose(warp, step)` is called when a place of the timeline is clicked. */
export class Timeline {
  constructor({ onchoose }) {
    this.zoom = 1;
    this.canvas = element("canvas", { "aria-hidden": "true", onclick: (event) => this.#click(event, onchoose), onpointermove: (event) => this.#hover(event) });
    this.cursor = element("div", { class: "cursor" });
    this.box = element("div", { class: "cursor box" });
    this.scroll = element("div", { class: "timeline", tabIndex: 0, role: "img", "aria-label": "timeline of the warps" }, this.canvas, this.cursor, this.box);
    this.hovered = element("span", { class: "mono faint" });
    const button = (text, label, run) => element("button", { class: "act", type: "button", "aria-label": label, onclick: run }, text);
    this.root = element("div", {},
      this.scroll,
      element("div", { class: "row small" },
        button("−", "− shows more of the timeline", () => this.#zoomed(0.5)),
        button("+", "+ shows less of the timeline, larger", () => this.#zoomed(2)),
        button("all", "all: show the whole timeline", () => this.#zoomed(0)),
        saves(this, () => "timeline"),
        this.hovered));
  }

  /** Shows stretches, `[from, to, class, first step]` for each warp; `classes` are names of classes. */
  draw(stretches, classes) {
    this.stretches = stretches;
    this.classes = classes;
    this.end = Math.max(1, ...stretches.map((own) => own.at(-1)?.[1] ?? 0));
    this.begin = Math.min(this.end - 1, ...stretches.map((own) => own[0]?.[0] ?? this.end));
    this.#paint();
  }

  /** Draws again, as the window has another size now. */
  fit() {
    if (this.scroll.clientWidth > 0) this.#paint();
  }

  /** Marks a step of a warp. */
  mark(warp, step, moves = true) {
    this.marked = [warp, step];
    const time = this.#time(warp, step);
    this.cursor.hidden = this.box.hidden = time === null;
    if (time === null) return;
    const x = this.#x(time);
    if (moves) {
      const { scrollLeft, clientWidth } = this.scroll;
      if (x < scrollLeft + LEFT || x > scrollLeft + clientWidth - 20) this.scroll.scrollLeft = x - clientWidth / 2;
    }
    this.cursor.style.transform = `translateX(${Math.round(x)}px)`;
    this.box.style.transform = `translate(${Math.round(x - 2)}px, ${TOP + warp * ROW}px)`;
    this.box.style.width = `${Math.max(3, Math.round(this.scale)) + 4}px`;
  }

  #x(time) {
    return LEFT + (time - this.begin) * this.scale;
  }

  /** When a step is executed. */
  #time(warp, step) {
    let found = null;
    for (const [from, , number, first] of this.stretches?.[warp] ?? []) {
      if (first > step) break;
      if (number !== 0 || found === null) found = from + (number === 0 ? 0 : step - first);
    }
    return found;
  }

  #zoomed(by) {
    const middle = (this.scroll.scrollLeft + this.scroll.clientWidth / 2) / Math.max(1, this.width);
    this.zoom = by === 0 ? 1 : Math.max(1, this.zoom * by);
    this.#paint();
    this.scroll.scrollLeft = middle * this.width - this.scroll.clientWidth / 2;
  }

  #paint() {
    if (!this.stretches) return;
    const ratio = devicePixelRatio || 1;
    const room = Math.max(300, this.scroll.clientWidth - 4);
    const most = SIDE / ratio;
    this.width = Math.min(most, LEFT + (room - LEFT) * this.zoom);
    this.zoom = (this.width - LEFT) / (room - LEFT);
    this.scale = (this.width - LEFT - 6) / (this.end - this.begin);
    this.height = TOP + this.stretches.length * ROW + 4;
    const { canvas } = this;
    [canvas.width, canvas.height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    [canvas.style.width, canvas.style.height] = [`${this.width}px`, `${this.height}px`];
    [this.cursor.style.height, this.box.style.height] = [`${this.height - TOP + 4}px`, `${ROW - 1}px`];
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#rows(context);
    if (this.marked) this.mark(...this.marked, false);
  }

  /** The picture as SVG. */
  svg() {
    const svg = new Svg(this.width, this.height);
    this.#rows(svg);
    return svg.text(getComputedStyle(document.body).backgroundColor);
  }

  #rows(context) {
    const style = getComputedStyle(this.root);
    const fills = this.classes.map((name) => style.getPropertyValue(`--class-${name}`).trim());
    context.font = `11px ${style.getPropertyValue("--mono")}`;
    context.textBaseline = "middle";
    this.stretches.forEach((own, warp) => {
      const y = TOP + warp * ROW;
      context.fillStyle = style.color;
      context.textAlign = "left";
      context.fillText(`warp ${warp}`, 0, y + ROW / 2);
      for (const [from, to, number] of own) {
        context.fillStyle = fills[number];
        const wait = number === 0;
        context.fillRect(this.#x(from), y + (wait ? ROW / 2 - 2 : 1), Math.max((to - from) * this.scale, wait ? 0 : 0.7), wait ? 3 : ROW - 3);
      }
    });
    this.#ticks(context, style);
  }

  #ticks(context, style) {
    let apart = 1;
    while (apart * this.scale < 60) apart *= String(apart).startsWith("2") ? 2.5 : 2;
    context.fillStyle = style.getPropertyValue("--faint");
    context.textAlign = "center";
    for (let time = Math.ceil(this.begin / apart) * apart; time <= this.end; time += apart) {
      context.fillText(String(time), this.#x(time), 6);
      context.fillRect(this.#x(time), 11, 1, 3);
    }
  }

  #under(event) {
    const warp = Math.floor((event.offsetY - TOP) / ROW);
    const time = this.begin + (event.offsetX - LEFT) / this.scale;
    const own = this.stretches?.[warp];
    if (!own || own.length === 0) return null;
    const near = (of) => (time < of[0] ? of[0] - time : Math.max(0, time - of[1]));
    const [from, to, number, first] = own.reduce((best, of) => (near(of) < near(best) ? of : best));
    const step = number === 0 ? first : first + Math.min(Math.max(0, Math.floor(time - from)), Math.max(0, to - from - 1));
    return { warp, step, number };
  }

  #click(event, onchoose) {
    const at = this.#under(event);
    if (at) onchoose(at.warp, at.step);
  }

  #hover(event) {
    const at = this.#under(event);
    this.hovered.textContent = at ? `warp ${at.warp}, step ${at.step + 1}: ${this.classes[at.number]}` : "";
  }
}
