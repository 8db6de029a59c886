// What the client sees of a round: calls of the gateway's tools become its own blocks, and the sources of texts are named.

import type { ChatEvent, FinishEvent } from "../../../chat/event.ts";
import type { ServerToolKind } from "../../../chat/server-tools.ts";
import type { Hearing } from "../../centre/stage.ts";
import { argumentsOf } from "./call.ts";
import { CitationReader, type CitedPage } from "./cite.ts";
import type { OwnTool } from "./deps.ts";

/** A call of one of the gateway's tools. */
export interface OwnCall {
  /** The id of its block in the answer. */
  readonly block: string;
  /** The id under which it is known from now on. */
  readonly callId: string;
  readonly tool: OwnTool;
  text: string;
}

/** What an answer has of the gateway's tools. */
export interface ToolsState {
  /** By the names of their functions. */
  readonly tools: Map<string, OwnTool>;
  /** The pages that the model was given, by number. */
  readonly pages: Map<number, CitedPage>;
  /** The calls, by the ids that the provider gave them in this round. */
  readonly calls: Map<string, OwnCall>;
  /** How often each tool was used. */
  readonly uses: Map<ServerToolKind, number>;
  /** Stands before the content of the answer. Empty once it was told. */
  told: readonly ChatEvent[];
  /** Writes the block that asks the client to approve a call. */
  readonly asks: ((id: string, call: { label: string; name: string; input: string }) => ChatEvent) | undefined;
}

/** Creates what hears one round of an answer. */
export function toolHearing(state: ToolsState): Hearing {
  const hearing = new ToolHearing(state);
  return {
    hear(event) {
      const heard = hearing.hear(event);
      if (state.told.length === 0 || event.type === "start" || event.type === "error") return heard;
      const before = state.told;
      state.told = [];
      return [...before, ...heard];
    },
  };
}

/** Whether the client sees a call as a block of its own. */
export function isShown({ tool }: OwnCall): boolean {
  return tool.kind !== "mcp" || !(tool.isHidden || tool.needsApproval);
}

/** Whether a call waits for the client. */
export function isAsked({ tool }: Pick<OwnCall, "tool">): boolean {
  return tool.kind === "mcp" && tool.needsApproval;
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
        if (isAsked(call)) return this.#ask(call);
        if (!isShown(call)) return [];
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
    const tool = event.kind === "function" ? this.#state.tools.get(event.name) : undefined;
    if (tool === undefined) {
      this.#hasClientCall = true;
      return [event];
    }
    const { id, choice } = event;
    const prefix = tool.kind !== "mcp" ? "srvtoolu" : isAsked({ tool }) ? "mcpr" : "mcptoolu";
    const callId = `${prefix}_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
    const call = { block: id, callId, tool, text: "" };
    this.#open.set(id, call);
    this.#state.calls.set(event.callId, call);
    if (!isShown(call)) return [];
    const server = tool.kind === "mcp" ? { server: tool.label } : {};
    return [{ type: "server-tool-start", choice, id, callId, kind: tool.kind, name: tool.shown, ...server }];
  }

  #ask({ callId, tool, text }: OwnCall): readonly ChatEvent[] {
    const asked = this.#state.asks?.(callId, {
      label: tool.kind === "mcp" ? tool.label : "",
      name: tool.shown,
      input: JSON.stringify(argumentsOf(text)),
    });
    return asked === undefined ? [] : [asked];
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
