// The frame of the page: tabs, the address, and calls of girih.
import { ask } from "./ask.js";
import { element, fault } from "./dom.js";
import { setPalettes } from "./grid.js";
import { VIEWS } from "./views.js";

/** What a view gets of the page. */
class Page {
  #view;
  #latest = new Map();

  constructor(view) {
    this.#view = view;
  }

  /** The answer of a call of this view, or a thrown Fault. */
  call(call, body) {
    return ask(this.#view, call, body);
  }

  /**
   * The answer of a call unless `key` is asked again before the answer is there, which withdraws the call: null then. It is for what follows
   * a person's edits, where the last edit alone counts.
   */
  async latest(key, call, body) {
    this.#latest.get(key)?.abort();
    const control = new AbortController();
    this.#latest.set(key, control);
    try {
      const answer = await ask(this.#view, call, body, control.signal);
      return control.signal.aborted ? null : answer;
    } catch (error) {
      if (error.name === "AbortError" || control.signal.aborted) return null;
      throw error;
    } finally {
      // Keys are cards, too, which may be gone by now.
      if (this.#latest.get(key) === control) this.#latest.delete(key);
    }
  }

  /** Puts the state of the view into the address, in place of what is there; of a view that has been left, into that which its tab goes to. */
  write(params) {
    const text = new URLSearchParams(params).toString();
    addresses.set(this.#view, `#${this.#view}${text && "?"}${text}`);
    if (shown === this.#view) replace();
  }

  /** Keeps the state that the address has for the browser's way back: what the view writes next is another one. */
  keep() {
    if (shown !== this.#view) return;
    put();
    keeps = true;
  }
}

/** The view that is shown, or is about to be. */
let shown;
/** The addresses of views as they were written last. */
const addresses = new Map();

/** Whether the next address comes beside the one that is there, and not in its place. */
let keeps = false;

/** Puts the state of the view that is shown into the address. */
function put() {
  const hash = addresses.get(shown);
  if (!hash || location.hash === hash) return;
  if (keeps) history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
  keeps = false;
}

/** Puts it there soon: browsers refuse addresses that change with every key that is held down, and take their time with each. */
let soon = null;
function replace() {
  soon ??= setTimeout(() => {
    soon = null;
    put();
  }, 150);
}

const main = document.getElementById("main");
const tabs = new Map();
const mounted = new Map();

/** The view and its state that the address names. */
function address() {
  const [name, ...rest] = location.hash.slice(1).split("?");
  const view = Object.hasOwn(VIEWS, name) ? name : Object.keys(VIEWS)[0];
  return [view, new URLSearchParams(rest.join("?"))];
}

function show() {
  // The link that skips the tabs.
  if (location.hash === "#main" && shown) return;
  const [name, params] = address();
  shown = name;
  keeps = false;
  addresses.set(name, location.hash.startsWith(`#${name}`) ? location.hash : "");
  for (const [other, tab] of tabs) {
    const chosen = other === name;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
  }
  for (const [other, { panel }] of mounted) panel.hidden = other !== name;
  document.title = `girih: ${VIEWS[name].title}`;
  if (!mounted.has(name)) {
    const panel = element("section", { role: "tabpanel", id: `view-${name}`, "aria-labelledby": `tab-${name}` });
    main.append(panel);
    tabs.get(name).setAttribute("aria-controls", panel.id);
    mounted.set(name, { panel, view: VIEWS[name].mount(panel, new Page(name)) });
  }
  mounted.get(name).view.show(params);
}

/** Turns to another view. */
function leave(name) {
  if (name === shown) return;
  put();
  shown = name;
  location.hash = addresses.get(name) || `#${name}`;
}

function keys(event) {
  const names = [...tabs.keys()];
  const at = names.indexOf(shown);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: names.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const name = names[(to + names.length) % names.length];
  leave(name);
  tabs.get(name).focus();
}

async function start() {
  try {
    setPalettes(await ask("colours", "palettes"));
  } catch (error) {
    main.replaceChildren(fault(error));
    return;
  }
  const list = document.getElementById("tabs");
  list.addEventListener("keydown", keys);
  for (const [name, { title }] of Object.entries(VIEWS)) {
    const tab = element("button", { role: "tab", type: "button", id: `tab-${name}`, onclick: () => leave(name) }, title);
    tabs.set(name, tab);
    list.append(tab);
  }
  addEventListener("hashchange", show);
  addEventListener("pagehide", put);
  show();
}

start();
