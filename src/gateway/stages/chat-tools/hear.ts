// What the client sees of a round: calls of the gateway's tools become its own blocks, and the sources of texts are named.

import type { ChatEvent, FinishEvent } from "../../../chat/event.ts";
import type { ServerToolKind } from "../../../chat/server-tools.ts";
import type { Hearing } from "../../centre/stage.ts";
import { argumentsOf } from "./call.ts";
import { CitationReader, type CitedPage } from "./cite.ts";
import type { ToolWish } from "./deps.ts";

/** A call of one of the gateway's tools. */
export interface OwnCall {
  /** The id of its block in the answer. */
  readonly block: string;
  /** The id under which it is known from now on. */
  readonly callId: string;
  readonly wish: ToolWish;
  text: string;
}

/** What an answer has of the gateway's tools. */
export interface ToolsState {
  /** By the names of their functions. */
  readonly wishes: ReadonlyMap<string, ToolWish>;
  /** The pages that the model was given, by number. */
  readonly pages: Map<number, CitedPage>;
  /** The calls, by the ids that the provider gave them in this round. */
  readonly calls: Map<string, OwnCall>;
  /** How often each tool was used. */
  readonly uses: Map<ServerToolKind, number>;
}

/** Creates what hears an answer. */
export function toolHearing(state: ToolsState): Hearing {
  const hearing = new ToolHearing(state);
  return { hear: (event) => hearing.hear(event) };
}

class ToolHearing {
  readonly #state: ToolsState;
  /** The open calls of the gateway's tools, by the ids of their blocks. */
  readonly #open = new Map<string, OwnCall>();
  readonly #texts = new Map<string, CitationReader>();
  #chars = 0;
  #hasClientCall = false;

  constructor(state: ToolsState) {
    this.#state = state;
  }

  hear(event: ChatEvent): readonly ChatEvent[] {
    switch (event.type) {
      case "tool-start":
        return this.#toolStart(event);
      case "tool-delta": {
        const call = this.#open.get(event.id);
        if (call === undefined) return [event];
        call.text += event.text;
        return [];
      }
      case "tool-end": {
        const call = this.#open.get(event.id);
        if (call === undefined) return [event];
        this.#open.delete(event.id);
        return [{ type: "server-tool-end", choice: event.choice, id: event.id, input: argumentsOf(call.text) }];
      }
      case "text-start":
        if (event.refusal !== true) this.#texts.set(event.id, new CitationReader(this.#state.pages, this.#chars));
        return [event];
      case "text-delta":
        return this.#said(event);
      case "finish":
        return [this.#finish(event)];
      default:
        return [event];
    }
  }

  #toolStart(event: Extract<ChatEvent, { type: "tool-start" }>): readonly ChatEvent[] {
    const wish = event.kind === "function" ? this.#state.wishes.get(event.name) : undefined;
    if (wish === undefined) {
      this.#hasClientCall = true;
      return [event];
    }
    const { id, choice } = event;
    const callId = `srvtoolu_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
    const call = { block: id, callId, wish, text: "" };
    this.#open.set(id, call);
    this.#state.calls.set(event.callId, call);
    return [{ type: "server-tool-start", choice, id, callId, kind: wish.kind, name: wish.shown }];
  }

  #said(event: Extract<ChatEvent, { type: "text-delta" }>): readonly ChatEvent[] {
    const { choice, id, text } = event;
    const reader = this.#texts.get(id);
    if (reader === undefined) return [event];
    this.#chars += text.length;
    const found = reader.add(text);
    if (found.length === 0) return [event];
    return [event, ...found.map((citation) => ({ type: "citation" as const, choice, id, citation }))];
  }

  #finish(event: FinishEvent): FinishEvent {
    const { usage, reason } = event;
    const searches = this.#state.uses.get("web_search");
    const fetches = this.#state.uses.get("web_fetch");
    return {
      ...event,
      // The client has no call to answer.
      ...(reason === "tool_calls" && !this.#hasClientCall ? { reason: "stop" as const } : {}),
      ...(usage === undefined
        ? {}
        : {
            usage: {
              ...usage,
              ...(searches === undefined ? {} : { webSearches: searches }),
              ...(fetches === undefined ? {} : { webFetches: fetches }),
            },
          }),
    };
  }
}
