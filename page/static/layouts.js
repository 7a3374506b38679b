// Layouts: an expression of `girih layout`, its operands and its result as tables.
import { delayed, element, fault, fine, labelled } from "./dom.js";
import { Grid, fill } from "./grid.js";

function mount(root, page) {
  const input = element("input", { type: "text", spellcheck: false, autocomplete: "off", oninput: delayed(30, () => evaluate(true)) });
  const result = element("div", { class: "mono" });
  const pointed = element("div", { class: "mono faint" });
  const grid = new Grid({
    label: "result",
    onpoint: (row, column) => { pointed.textContent = row === null ? "" : `(${row},${column}) -> ${value(row, column)}`; },
    describe: (row, column) => `(${row},${column}) is ${value(row, column)}`,
  });
  let table = null;
  const value = (row, column) => table.values[row * table.columns + column];
  root.append(element("div", { class: "card" }, element("div", { class: "row" }, labelled("Layout expression", input, { class: "field wide" })), result, grid.root, pointed));

  async function evaluate(write) {
    if (write) page.write({ e: input.value });
    try {
      const answer = await page.latest("evaluate", "evaluate", { expression: input.value });
      if (!answer) return;
      fine(input);
      result.replaceChildren(answer.text, ...answer.notes.map((note) => element("div", { class: "note" }, note)));
      table = answer.table;
      grid.root.hidden = !table;
      if (table) {
        const fills = table.values.map((index) => fill("numbers", index));
        grid.draw({ ...table, fills, texts: (i) => [String(table.values[i])], width: root.clientWidth - 40 });
      }
    } catch (error) {
      result.replaceChildren(fault(error, input));
      grid.root.hidden = true;
    }
  }

  return {
    show(params) {
      input.value = params.get("e") ?? "composition((10,2):(16,4), (5,4):(1,5))";
      evaluate(false);
    },
  };
}

export default { title: "Layouts", mount };
