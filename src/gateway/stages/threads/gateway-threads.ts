// Anthropic's `thread` for upstreams without threads. The gateway holds the conversation under the id of its latest answer and
// sends it as a whole. Each answer can be continued once; instructions and tools of the thread stay the same. Errors have the
// vendor's codes, to which its SDKs react.

import { ApiError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json-object.ts";
import type { Element } from "../../../chat/entries.ts";
import type { Exchange } from "../../../http/exchange.ts";
import { answerElements } from "../../../wire/assembled.ts";
import type { WireFormat } from "../../../wire/format.ts";
import type { KeptThreads, ReadThread } from "./kept.ts";

/** The members that a thread keeps from its first request. */
const FIXED = ["system", "tools"];

/** A request in a thread that the gateway holds. */
export interface GatewayThread {
  /** The request with the whole conversation. */
  body: Element;
  /** Identifies the thread; undefined if it starts with this request. */
  threadId: string | undefined;
  /** Stores the answer under its id. */
  store(answer: { id: string; text: string; model: string; tokens: number }): Promise<void>;
}

export interface GatewayThreadsDeps {
  threads: KeptThreads;
  /** The setting `compaction.enabled`. If it is off, no text is stored. */
  enabled(): boolean;
}

/** The threads that the gateway holds. */
export class GatewayThreads {
  readonly #deps: GatewayThreadsDeps;
  /** The answers that are being continued by a request in progress. */
  readonly #open = new Set<string>();

  constructor(deps: GatewayThreadsDeps) {
    this.#deps = deps;
  }

  /** Whether the gateway holds threads that begin now. */
  areHeld(): boolean {
    return this.#deps.enabled();
  }

  /** Whether the gateway holds an answer that can be continued. */
  async has(accountId: string, previousId: string | undefined): Promise<boolean> {
    if (previousId === undefined || !this.#deps.enabled()) return false;
    return (await this.#deps.threads.find({ accountId, kind: "messages", threadId: previousId })) !== undefined;
  }

  /**
   * The complete request for a request that names a thread; undefined if it names none, or if the gateway holds none. Without an
   * exchange, nothing continues the thread: it is only read. Throws 400 or 404.
   */
  async open(
    format: WireFormat,
    body: Element,
    { accountId, exchange }: { accountId: string; exchange: Pick<Exchange, "atEnd"> | undefined },
  ): Promise<GatewayThread | undefined> {
    const { entries } = format;
    const thread = format.hasThreads === true ? body["thread"] : undefined;
    if (entries === undefined || !isRecord(thread) || !this.#deps.enabled()) return undefined;
    if (thread["type"] !== "create" && thread["type"] !== "continue") {
      const message = "Invalid 'thread.type': expected 'create' or 'continue'.";
      throw new ApiError("invalid_request", message, { param: "thread.type" });
    }
    const { thread: _thread, ...rest } = body;
    const previousId = thread["type"] === "continue" ? String(thread["previous_message_id"] ?? "") : undefined;
    const previous = previousId === undefined ? undefined : await this.#find(accountId, previousId);
    if (previousId !== undefined && exchange !== undefined) this.#claim(`${accountId} ${previousId}`, exchange);
    const root = (previous?.text.more?.["root"] as string | undefined) ?? previousId;
    const fixed = fixedOf(previous === undefined ? rest : (previous.text.more?.["fixed"] as Element));
    if (previous !== undefined) sameBeginning(fixed, rest);
    const whole = { ...rest, ...fixed, messages: [...(previous?.text.messages ?? []), ...entries.list(rest)] };
    return {
      body: whole,
      threadId: root,
      store: async ({ id, text, model, tokens }) => {
        const messages = [...whole.messages, ...answerElements(entries, text)];
        const { threads } = this.#deps;
        const name = (threadId: string) => ({ accountId, kind: "messages" as const, threadId });
        await threads.keep(name(id), { model, tokens, text: { format: format.name, messages, more: { fixed, root } } });
        // Of the previous answer, only the fact remains that it was continued.
        if (previousId === undefined) return;
        const successor = { format: format.name, messages: [], more: { continuedBy: id } };
        await threads.keep(name(previousId), { model, tokens: 0, text: successor });
      },
    };
  }

  async #find(accountId: string, previousId: string): Promise<ReadThread> {
    const found = await this.#deps.threads.find({ accountId, kind: "messages", threadId: previousId });
    if (found === undefined) {
      throw refusal("thread_not_found", `There is no answer '${previousId.slice(0, 100)}' to continue from.`);
    }
    if (found.text.more?.["continuedBy"] !== undefined) {
      throw refusal(
        "thread_already_continued",
        "This answer was already continued. Continue from the latest answer of the thread.",
      );
    }
    return found;
  }

  #claim(key: string, exchange: Pick<Exchange, "atEnd">): void {
    if (this.#open.has(key)) {
      throw refusal(
        "thread_continue_in_flight",
        "Another request is continuing from this answer. Wait until it has ended.",
      );
    }
    this.#open.add(key);
    exchange.atEnd(() => this.#open.delete(key));
  }
}

function fixedOf(body: Element): Record<string, unknown> {
  return Object.fromEntries(FIXED.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
}

/** Checks that repeated members equal those with which the thread began. */
function sameBeginning(fixed: Element, body: Element): void {
  for (const name of FIXED) {
    if (body[name] === undefined || Bun.deepEquals(body[name], fixed[name])) continue;
    throw refusal(
      "thread_fingerprint_mismatch",
      `'${name}' differs from the value with which this thread began.`,
      name,
    );
  }
}

function refusal(code: string, message: string, param = "thread.previous_message_id"): ApiError {
  const kind = code === "thread_not_found" ? "thread_not_found" : "invalid_request";
  return new ApiError(kind, message, { param, details: { error_code: code } });
}
