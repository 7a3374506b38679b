// Pictures as SVG: what draws on a canvas writes one.

const escaped = (text) => String(text).replace(/[&<>"]/g, (of) => `&#${of.charCodeAt(0)};`);
const short = (number) => String(Math.round(number * 100) / 100);
const ANCHORS = { left: "start", center: "middle", right: "end" };

/** The part of a canvas's context that the page's pictures use. */
export class Svg {
  #parts = [];
  #path = "";

  constructor(width, height) {
    Object.assign(this, { width, height, fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, font: "10px monospace", textAlign: "left" });
  }

  beginPath() {
    this.#path = "";
  }

  moveTo(x, y) {
    this.#path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x, y) {
    this.#path += `L${short(x)} ${short(y)}`;
  }

  rect(x, y, width, height) {
    this.#path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
  }

  stroke() {
    if (this.#path) this.#parts.push(`<path d="${this.#path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${short(this.lineWidth)}"/>`);
  }

  fillRect(x, y, width, height) {
    this.#parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${this.fillStyle}"/>`);
  }

  /** Texts are centred on their line, as on a canvas whose baseline is the middle. */
  fillText(text, x, y) {
    const [, size, family] = this.font.match(/([\d.]+)px (.*)/);
    this.#parts.push(`<text x="${short(x)}" y="${short(y)}" dy=".35em" font-size="${short(size)}" font-family="${escaped(family)}" text-anchor="${ANCHORS[this.textAlign]}" fill="${this.fillStyle}">${escaped(text)}</text>`);
  }

  /** The file, on a ground of this colour. */
  text(ground) {
    const size = [this.width, this.height].map(short);
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${size[0]}" height="${size[1]}" viewBox="0 0 ${size.join(" ")}">\n<rect width="100%" height="100%" fill="${ground}"/>\n${this.#parts.join("\n")}\n</svg>\n`;
  }
}
