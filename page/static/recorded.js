// Calls of girih, which a recording answers as the program would.
import { Fault } from "./dom.js";

/** Whether the page is a recording, which has no program. */
export const RECORDED = true;

/** The answers, unpacked by the script that starts the page. */
const recording = window.recorded;

/** The states after each step of a warp. A state has what differs from the one before, which is added here. */
const states = [];
function statesOf({ warps }, warp) {
  let last = {};
  states[warp] ??= warps[warp].map((told, step) => (last = { ...last, ...told, warp, step }));
  return states[warp];
}

/** The values of all registers after a step. */
function values({ run, warps }, warp, step) {
  const all = run.registers.map(() => "");
  for (const { values } of warps[warp].slice(0, step + 1)) for (const [register, text] of values) all[register] = text;
  return [...all.entries()];
}

const ANSWERS = {
  "colours/palettes": ({ palettes }) => palettes,
  "kernels/list": () => ({ kernels: [], programs: [], examples: [], help: ["", ""] }),
  "kernels/run": ({ run }) => run,
  "kernels/timeline": ({ beside, order }, body) => (body.beside ? beside : order),
  "kernels/step": (all, { warp, step }) => {
    const own = statesOf(all, warp);
    const at = Math.min(step, own.length - 1);
    return { ...own[at], values: values(all, warp, at) };
  },
  "kernels/find": (all, { warp, line, after }) => {
    const here = statesOf(all, warp).filter((state) => state.line === line);
    const next = here.find(({ step }) => step > after) ?? here[0];
    return next ? [warp, next.step] : null;
  },
};

/** The answer of a call, or a thrown Fault. */
export async function ask(view, call, body = {}) {
  const answer = ANSWERS[`${view}/${call}`];
  if (!answer) throw new Fault({ kind: "no_call", message: "A recording has one launch, and nothing else can be asked of it." });
  return answer(recording, body);
}
