// Lets tool arguments flow while they stay a prefix of valid JSON; from the first fragment that does not, the rest of that
// call is held, mended at its end, or the answer ends with an error (contract §3 "tool arguments in streams").

import type { ChatEvent } from "./event.ts";
import { JsonPrefix, repairJson } from "./repair.ts";

interface Held {
  name: string;
  json: JsonPrefix;
  text: string;
  sent: number;
  flowing: boolean;
}

export class ToolGuard {
  readonly #calls = new Map<string, Held>();

  /** Appends what may go out. After an error event nothing follows. */
  push(event: ChatEvent, out: ChatEvent[]): void {
    if (event.type === "tool-start" && event.kind === "function") {
      this.#calls.set(event.id, { name: event.name, json: new JsonPrefix(), text: "", sent: 0, flowing: true });
    } else if (event.type === "tool-delta") {
      const call = this.#calls.get(event.id);
      if (call !== undefined) {
        call.text += event.text;
        call.flowing &&= call.json.push(event.text);
        if (!call.flowing) return;
        call.sent = call.text.length;
      }
    } else if (event.type === "tool-end") {
      const call = this.#calls.get(event.id);
      this.#calls.delete(event.id);
      if (call !== undefined && !(call.flowing && call.json.complete) && !this.#mend(call, event, out)) return;
    }
    out.push(event);
  }

  #mend(call: Held, event: { choice: number; id: string }, out: ChatEvent[]): boolean {
    const mended = repairJson(call.text);
    const sent = call.text.slice(0, call.sent);
    if (mended === undefined || !mended.startsWith(sent)) {
      const message = `The model called ${call.name} with arguments that are not valid JSON.`;
      out.push({ type: "error", code: "tool_arguments_invalid", message });
      return false;
    }
    if (mended.length > sent.length)
      out.push({ type: "tool-delta", choice: event.choice, id: event.id, text: mended.slice(sent.length) });
    return true;
  }
}
