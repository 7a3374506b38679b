// Elements, and what is said to screen readers.

/**
 * An element. Properties that begin with "on" are listeners; those with a hyphen, `role`, `for`, `list` and `class` are attributes; the others are
 * properties. Children are elements, texts, lists of these, or nothing (null, false).
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (!name.includes("-") && !["role", "for", "class", "list"].includes(name)) made[name] = value;
    else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Why a call has no answer; the fields are those of girih_page::Fault. */
export class Fault extends Error {
  constructor({ kind, message, field, span, witness }) {
    super(message);
    Object.assign(this, { kind, field, span, witness });
  }
}

/** Gives a person a file. */
export function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** A button that saves a picture, of whatever has `svg()`. `name()` says which picture it is; `rename()` has the button take another name. */
export function saves(picture, name) {
  const file = () => `${name().replace(/[^\w.-]+/g, "-").slice(0, 60)}.svg`;
  const button = element("button", { class: "act link save", type: "button", onclick: () => save(file(), "image/svg+xml", picture.svg()) }, "SVG");
  button.rename = () => {
    button.title = `save ${name()} as SVG`;
    button.setAttribute("aria-label", button.title);
  };
  button.rename();
  return button;
}

let count = 0;

/** An id that no other element of the page has. */
export function fresh(name) {
  count += 1;
  return `${name}-${count}`;
}

/** A form field with its label: the label's text, then the field. */
export function labelled(text, field, properties = {}) {
  field.id ||= fresh("field");
  return element("div", { class: "field", ...properties }, element("label", { for: field.id }, text), field);
}

/** A choice of one of `[value, text]`. */
export function select(choices, properties = {}) {
  const options = choices.map(([value, text]) => element("option", { value }, text));
  return element("select", properties, options);
}

/** Has screen readers say a text, once they are done with what they say. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** So many characters of a line are shown at each side of what is wrong: more would go on in another line, above the caret. */
const BESIDE = 36;

/** The line of a text in which a place is, with what is wrong marked and a caret below it. */
function caret(text, { at, end }) {
  const begin = text.lastIndexOf("\n", at - 1) + 1;
  const close = text.indexOf("\n", at);
  const stop = close < 0 ? text.length : close;
  const last = Math.max(at, Math.min(end, stop));
  const [from, to] = [Math.max(begin, at - BESIDE), Math.min(stop, last + BESIDE)];
  const before = (from > begin ? "… " : "") + text.slice(from, at);
  return ["\n  ", before, element("mark", {}, text.slice(at, last)), text.slice(last, to), to < stop ? " …" : "", `\n  ${" ".repeat(before.length)}${"^".repeat(Math.max(1, last - at))}`];
}

/**
 * What to show where a call has thrown: the message, and the text of the field that is wrong with a caret below the place. Whoever knows that
 * field gives it, so that it is marked.
 */
export function fault(error, field) {
  const id = fresh("fault");
  const lines = [error.message];
  if (field) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-errormessage", id);
    if (error.span) lines.push(...caret(field.value, error.span));
  }
  return element("pre", { class: "fault", role: "alert", id }, lines);
}

/** Takes the mark of a fault from a field. */
export function fine(field) {
  field.removeAttribute("aria-invalid");
  field.removeAttribute("aria-errormessage");
}

/** The most characters of a text that stand in an address. */
export const LINKED = 24000;

/** What to say of a longer one. */
export function unlinked() {
  return element("p", { class: "faint", hidden: true }, `The address keeps texts of up to ${LINKED} characters: a link does not show this one.`);
}

/** A number from 0 on that a text of the address says, or another one. */
export function natural(text, other = 0) {
  const number = Number(text);
  return text !== null && text !== "" && Number.isSafeInteger(number) && number >= 0 ? number : other;
}

/** Calls `run` at once, but not more often than every so many milliseconds: of the calls that come meanwhile, the last one follows. */
export function delayed(milliseconds, run) {
  let timer = null;
  let again = null;
  const next = () => {
    timer = null;
    if (again) call(...again);
  };
  const call = (...args) => {
    again = null;
    timer = setTimeout(next, milliseconds);
    run(...args);
  };
  return (...args) => {
    if (timer === null) call(...args);
    else again = args;
  };
}
