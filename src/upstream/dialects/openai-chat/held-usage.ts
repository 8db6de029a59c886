// The usage of one relayed chat stream. It is read wherever a server writes it, held back until the end, where the protocol has
// it, and sent with all of its members unless they are invalid.

import { isRecord } from "../../../base/json-object.ts";
import { spliceMembers } from "../../../base/json-splice.ts";
import { shownUsage } from "../../../chat/shown-usage.ts";
import { isSaneUsage } from "../../../chat/usage.ts";
import type { RelayIdentity } from "../../dialect.ts";
import { RelayedUsage } from "../../relayed-usage.ts";
import { CHAT_USAGE, openaiUsage, usagesIn } from "./usage.ts";

type Json = Record<string, unknown>;

/** The usage of one stream. */
export class HeldUsage extends RelayedUsage {
  readonly #identity: RelayIdentity;
  /** The data of the server's own frame for the usage. */
  #data: string | undefined;

  constructor(identity: RelayIdentity) {
    super(identity);
    this.#identity = identity;
  }

  /** Reads a chunk's figures. Returns the members of the chunk that must change, or undefined if the chunk must not be sent. */
  take(data: string, chunk: Readonly<Json>, isAlone: boolean): Json | undefined {
    const { id, model, includeUsage } = this.#identity;
    const members: Json = { id, model };
    for (const raw of usagesIn(chunk)) this.tell(openaiUsage(raw, chunk), raw);
    const { x_groq: groq, usage } = chunk;
    if (isRecord(groq) && !isSaneUsage(groq["usage"])) members["x_groq"] = { ...groq, usage: undefined };
    if (usage != null && isAlone) {
      // Some servers send the usage several times.
      this.#data = data;
      return undefined;
    }
    if (usage != null || (!includeUsage && Object.hasOwn(chunk, "usage"))) members["usage"] = undefined;
    return members;
  }

  /** The usage frame: the server's own with the settled figures, or one that it did not send. */
  frame(): string {
    const { id, model, createdSeconds: created } = this.#identity;
    const usage = shownUsage(this.raw, this.settle(), CHAT_USAGE);
    if (this.#data !== undefined) return `data: ${spliceMembers(this.#data, { id, model, usage })}\n\n`;
    const chunk = { id, object: "chat.completion.chunk", created, model, choices: [], usage };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}
