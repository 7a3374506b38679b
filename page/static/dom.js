// Elements, and what is said to screen readers.

/**
 * An element. Properties that begin with "on" are listeners; those with a hyphen, `role`, `for`, `list` and `class` are attributes; the others are
 * properties. Children are elements, texts, lists of these, or nothing (null, false).
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.includes("-") || ["role", "for", "class", "list"].includes(name)) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
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
    if (error.span) {
      const { at, end } = error.span;
      const text = field.value;
      lines.push("\n  ", text.slice(0, at), element("mark", {}, text.slice(at, end)), text.slice(end), `\n  ${" ".repeat(at)}${"^".repeat(end - at)}`);
    }
  }
  return element("pre", { class: "fault", role: "alert", id }, lines);
}

/** Takes the mark of a fault from a field. */
export function fine(field) {
  field.removeAttribute("aria-invalid");
  field.removeAttribute("aria-errormessage");
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
