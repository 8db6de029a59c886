// Lets tool arguments pass while they are a prefix of valid JSON; after the first fragment that is not, the rest of that call
// is held and repaired at its end, or the answer ends with an error.

import { ArgumentGuard } from "./argument-guard.ts";
import type { ChatEvent } from "./event.ts";

/** Guards the calls of one answer. */
export class ToolGuard {
  readonly #calls = new Map<string, { name: string; guard: ArgumentGuard }>();

  /** Appends what may be sent. Nothing follows an error event. */
  push(event: ChatEvent, out: ChatEvent[]): void {
    if (event.type === "tool-start" && event.kind === "function") {
      this.#calls.set(event.id, { name: event.name, guard: new ArgumentGuard() });
    } else if (event.type === "tool-delta") {
      if (this.#calls.get(event.id)?.guard.push(event.text) === false) return;
    } else if (event.type === "tool-end") {
      const call = this.#calls.get(event.id);
      this.#calls.delete(event.id);
      const rest = call === undefined ? "" : call.guard.end();
      if (rest === undefined) {
        const message = `The model called ${call?.name} with arguments that are not valid JSON.`;
        out.push({ type: "error", code: "tool_arguments_invalid", message });
        return;
      }
      if (rest !== "") out.push({ type: "tool-delta", choice: event.choice, id: event.id, text: rest });
    }
    out.push(event);
  }
}
