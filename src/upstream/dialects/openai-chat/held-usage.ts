// The usage of one relayed chat stream. It is read wherever a server writes it, held back until the end, where the protocol has
// it, and sent with all of its members unless they are invalid.

import { spliceMembers } from "../../../base/json-splice.ts";
import type { Usage } from "../../../chat/event.ts";
import { isSaneUsage } from "../../../chat/usage.ts";
import type { RelayIdentity } from "../../dialect.ts";
import { isObject, openaiUsage, plainChatUsage } from "./usage.ts";

type Json = Record<string, unknown>;

/** The usage of one stream. */
export class HeldUsage {
  readonly #identity: RelayIdentity;
  #usage: Usage | undefined;
  /** The figures as the server sent them. */
  #raw: Readonly<Json> | undefined;
  /** The server's own frame with the figures. */
  #frame: string | undefined;

  constructor(identity: RelayIdentity) {
    this.#identity = identity;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Reads a chunk's figures. Returns the members of the chunk that must change, or undefined if the chunk must not be sent. */
  take(data: string, chunk: Readonly<Json>, isAlone: boolean): Json | undefined {
    const { id, model, includeUsage } = this.#identity;
    const members: Json = { id, model };
    const groq = isObject(chunk["x_groq"]) ? chunk["x_groq"] : undefined;
    if (groq?.["usage"] != null && !this.#note(groq["usage"])) members["x_groq"] = { ...groq, usage: undefined };
    const raw = chunk["usage"];
    const isSane = raw == null || this.#note(raw);
    const isTold = openaiUsage(raw) !== undefined || !isSane;
    if (isAlone && isTold) {
      // Some servers send the usage several times.
      if (includeUsage && isSane) this.#frame = `data: ${spliceMembers(data, members)}\n\n`;
      return undefined;
    }
    if (isTold || (!includeUsage && Object.hasOwn(chunk, "usage"))) members["usage"] = undefined;
    return members;
  }

  /** The usage frame: the server's own, or one with figures that it sent elsewhere, or with the gateway's counts. */
  frame(outputText: string): string {
    if (this.#frame !== undefined) return this.#frame;
    const { id, model, createdSeconds: created } = this.#identity;
    this.#usage ??= this.#identity.estimate(outputText);
    const usage = this.#raw ?? plainChatUsage(this.#usage);
    const chunk = { id, object: "chat.completion.chunk", created, model, choices: [], usage };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }

  /** Stores the figures. Returns false if they are invalid. */
  #note(raw: unknown): boolean {
    const isSane = isObject(raw) && isSaneUsage(raw);
    const usage = openaiUsage(raw);
    if (usage !== undefined) {
      this.#usage = usage;
      this.#raw = isSane ? raw : undefined;
    }
    return isSane;
  }
}
