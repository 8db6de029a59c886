// The names under which the reasoning behind tool calls is stored. The call ids of most providers are unique, but some number the
// calls of a conversation (`functions.look:0`). The conversations of an account may belong to different people and must not share
// reasoning, so for such ids the conversation up to the call is part of the name.

import type { ChatMessage } from "../../../chat/request.ts";

/** The names of the calls in one conversation. */
export class CallNames {
  readonly #messages: readonly ChatMessage[];
  /** The fingerprints of the conversation before each call, by the call's id. Computed when first needed. */
  #prints: Map<string, bigint> | undefined;
  /** The fingerprint of the whole conversation. */
  #whole = 0n;

  constructor(messages: readonly ChatMessage[]) {
    this.#messages = messages;
  }

  /** The name of a call in the conversation. */
  made(callId: string): string {
    if (isNeverAgain(callId)) return callId;
    const print = this.#read().get(callId);
    return print === undefined ? callId : `${callId} ${print}`;
  }

  /** The name of a call in the next answer. */
  next(callId: string): string {
    if (isNeverAgain(callId)) return callId;
    this.#read();
    return `${callId} ${this.#whole}`;
  }

  #read(): ReadonlyMap<string, bigint> {
    if (this.#prints !== undefined) return this.#prints;
    const prints = new Map<string, bigint>();
    let print = 0n;
    const add = (text: string) => {
      print = BigInt(Bun.hash(text, print));
    };
    for (const { role, content } of this.#messages) {
      const before = print;
      // Reasoning is left out, since clients omit it or return it in another form.
      for (const part of content) {
        if (part.type === "text" && part.text !== "") add(`${role} ${part.text}`);
        else if (part.type === "tool-call") {
          prints.set(part.callId, before);
          add(`${part.name} ${part.arguments}`);
        } else if (part.type === "tool-result") {
          for (const inner of part.content) if (inner.type === "text") add(inner.text);
        }
      }
    }
    this.#whole = print;
    this.#prints = prints;
    return prints;
  }
}

/** Whether an id has a random part: it is long, has digits, and does not look like a tool's name. */
function isNeverAgain(callId: string): boolean {
  if (/:\d+$/.test(callId)) return false;
  const runs = callId.match(/[A-Za-z0-9]{8,}/g) ?? [];
  return runs.some((run) => /\d.*\d/.test(run) || (/\d/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run)));
}
