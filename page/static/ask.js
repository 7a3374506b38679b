// Calls of girih, which the program that serves the page answers.
import { Fault } from "./dom.js";

/** Whether the page is a recording, which has no program. */
export const RECORDED = false;

/** The answer of a call, or a thrown Fault. */
export async function ask(view, call, body = {}, signal = undefined) {
  let response;
  try {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal };
    response = await fetch(`/api/${view}/${call}`, init);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Fault({ kind: "gone", message: "The program girih-page does not answer: it may have ended. Start it again, and reload the page." });
  }
  const answer = await response.json();
  if (!response.ok) throw new Fault(answer);
  return answer;
}
