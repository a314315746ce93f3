// The way to the server: a question with its answer, or a task with the events that it tells.
//
// A task lasts as long as its stream is read: aborting the signal ends it on the server as well.

const UNREACHABLE = "The page does not answer. Is `pdb-solver serve` still running?";

export class Refused extends Error {}

async function post(what, fields, signal) {
  let response;
  try {
    response = await fetch(`api/${what}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(fields),
      signal,
    });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Refused(UNREACHABLE);
  }
  if (response.ok) return response;
  let reason = `the page answers with ${response.status}`;
  try {
    reason = (await response.json()).error;
  } catch { /* not from the page itself */ }
  throw new Refused(reason);
}

/** The answer to a question. Throws `Refused` with the reason, in one line. */
export async function ask(what, fields = {}, signal = undefined) {
  return (await post(what, fields, signal)).json();
}

/** Run a task, and call the handler of each event as it comes. Throws `Refused`, also for an event "error". */
export async function run(what, fields, handlers, signal) {
  const response = await post(what, fields, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch (error) {
      throw error.name === "AbortError" ? error : new Refused(UNREACHABLE);
    }
    if (part.done) throw new Refused(UNREACHABLE);
    text += part.value;
    const messages = text.split("\n\n");
    text = messages.pop();
    for (const message of messages) {
      const [, event, data] = message.match(/^event: (.*)\ndata: (.*)$/);
      const facts = JSON.parse(data);
      if (event === "error") throw new Refused(facts.error);
      if (event === "end") return;
      handlers[event]?.(facts);
    }
  }
}

/** Whether an error is only that nobody wants the answer any more. */
export const isAborted = (error) => error.name === "AbortError";
