// A search that the provider runs, for a client of another protocol: the client's tool in the provider's form, and the provider's
// blocks as the client's own.

import type { ChatEvent } from "../../../chat/event.ts";
import type { ChatRequest, ServerTool } from "../../../chat/request.ts";
import { OWN_SEARCHES } from "../../../upstream/dialects/searches.ts";
import type { Noted, SaidCitation, SaidSearch } from "../../../upstream/own-search.ts";
import type { Provider } from "../../../upstream/provider.ts";
import type { ChatTurn } from "../../centre/stage.ts";
import type { ToolWish } from "./deps.ts";
import type { PageSeals } from "./seals.ts";
import { kindOf, SEARCH_MEMBER } from "./wishes.ts";

/** Whether a provider has a search with all that the client wants. */
export function hasSearch(
  provider: Pick<Provider, "quirks" | "dialect">,
  wish: ToolWish,
  { chat: { tools, toolChoice, extra }, format }: Pick<ChatTurn, "chat" | "format">,
): boolean {
  // A choice may name the tool.
  if ((toolChoice !== undefined && toolChoice.type !== "auto") || extra["tool_choice"] !== undefined) return false;
  // The tools of MCP servers become functions, whether or not the client lists them too.
  const besideFunctions = extra["mcp_servers"] != null || tools.some((tool) => kindOf(tool, format) !== wish.kind);
  return vendorTool(provider, wish, besideFunctions) !== undefined;
}

/** The tool in the provider's form. */
function vendorTool(
  { quirks, dialect }: Pick<Provider, "quirks" | "dialect">,
  wish: ToolWish,
  besideFunctions: boolean,
): ServerTool | undefined {
  if (quirks.web_search !== true || wish.kind !== "web_search") return undefined;
  return OWN_SEARCHES.get(dialect.name)?.tool({ ...wish, besideFunctions });
}

/** The request with the tools of a provider in its own form. */
export function withVendorTools(
  { chat, format }: Pick<ChatTurn, "chat" | "format">,
  theirs: readonly ToolWish[],
  provider: Pick<Provider, "quirks" | "dialect">,
): { readonly chat: ChatRequest } {
  // It reads the client's own words.
  if (provider.dialect.name === format.dialect) return { chat };
  // Functions that the client does not know of are left out if the provider refuses them.
  const made = theirs.flatMap((wish) => vendorTool(provider, wish, false) ?? []);
  if (made.length === 0) return { chat };
  const { [SEARCH_MEMBER]: _member, ...extra } = chat.extra;
  const tools = chat.tools.filter((tool) => !theirs.some(({ kind }) => kind === kindOf(tool, format)));
  return { chat: { ...chat, tools: [...tools, ...made], extra } };
}

/** Reads one round. */
export class VendorHearing {
  readonly #origin: string | undefined;
  readonly #seals: PageSeals;
  readonly #nextNumber: () => number;
  /** The blocks of searches, by the choice and the provider's ids, which are numbers in each choice with some. */
  readonly #calls = new Map<string, { id: string; callId: string }>();
  readonly #texts = new Map<string, string>();
  /** The last complete text of each choice that is not empty, and the characters of those before it. */
  readonly #last = new Map<number, { readonly text: string; readonly before: number }>();

  /** `origin`: the client's own protocol, whose blocks it can read. */
  constructor(origin: string | undefined, { seals, nextNumber }: { seals: PageSeals; nextNumber: () => number }) {
    this.#origin = origin;
    this.#seals = seals;
    this.#nextNumber = nextNumber;
  }

  hear(event: ChatEvent): readonly ChatEvent[] {
    switch (event.type) {
      case "opaque": {
        const search = event.origin === this.#origin ? undefined : OWN_SEARCHES.get(event.origin);
        const said = search?.said(event.value);
        return said === undefined ? [event] : said.flatMap((one) => this.#said(one, event.choice));
      }
      case "text-start":
        this.#texts.set(event.id, "");
        return [event];
      case "text-delta":
        this.#texts.set(event.id, (this.#texts.get(event.id) ?? "") + event.text);
        return [event];
      case "text-end":
        return this.#ended(event);
      default:
        return [event];
    }
  }

  #ended({ annotations = [], ...event }: Extract<ChatEvent, { type: "text-end" }>): readonly ChatEvent[] {
    const { choice, id } = event;
    const place = this.#placeOf(choice, this.#texts.get(id) ?? "");
    this.#texts.delete(id);
    const otherNotes: unknown[] = [];
    const found: Noted[] = [];
    for (const annotation of annotations) {
      const noted = this.#noted(annotation, place.text);
      if (noted === undefined) otherNotes.push(annotation);
      else found.push(noted);
    }
    if (found.length === 0) return [annotations.length === 0 ? event : { ...event, annotations }];
    return [
      ...found.flatMap(({ citations }) => citations.map((one) => this.#citation(one, { choice, id, ...place }))),
      otherNotes.length === 0 ? event : { ...event, annotations: otherNotes },
      ...found.flatMap(({ searches }) => searches.flatMap((one) => this.#said(one, choice))),
    ];
  }

  /** The text of which the annotations at the end of a text speak: of the one before, if they came after it in an empty one. */
  #placeOf(choice: number, text: string): { readonly text: string; readonly before: number } {
    const last = this.#last.get(choice);
    if (text === "") return last ?? { text, before: 0 };
    const place = { text, before: last === undefined ? 0 : last.before + last.text.length };
    this.#last.set(choice, place);
    return place;
  }

  /** What an annotation says; undefined for one that the client can read itself. */
  #noted(annotation: unknown, text: string): Noted | undefined {
    if (typeof annotation !== "object" || annotation === null) return undefined;
    for (const [origin, search] of OWN_SEARCHES) {
      const noted = search.noted(annotation as Readonly<Record<string, unknown>>, text);
      if (noted !== undefined) return origin === this.#origin ? undefined : noted;
    }
    return undefined;
  }

  #said(search: SaidSearch, choice: number): readonly ChatEvent[] {
    const key = `${choice} ${search.callId}`;
    if (search.type === "call") {
      const name = `s${this.#calls.size}.${search.callId}`;
      const call = { id: name, callId: `srvtoolu_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}` };
      this.#calls.set(key, call);
      return [
        { type: "server-tool-start", choice, ...call, kind: "web_search", name: "web_search" },
        { type: "server-tool-end", choice, id: call.id, input: { query: search.query } },
      ];
    }
    const call = this.#calls.get(key);
    if (call === undefined) return [];
    const { result } = search;
    if (typeof result === "string") {
      return [{ type: "server-tool-result", choice, id: call.id, output: { type: "error", code: result } }];
    }
    const pages = result.map((page) => ({ n: this.#nextNumber(), ...page, text: "" }));
    const output = {
      type: "pages" as const,
      pages: pages.map((page) => this.#seals.found(call.callId, page)),
      sealed: this.#seals.all(call.callId, pages),
    };
    return [{ type: "server-tool-result", choice, id: call.id, output }];
  }

  #citation(
    { url, title, start, end, quote }: SaidCitation,
    { choice, id, text, before }: { choice: number; id: string; text: string; before: number },
  ): ChatEvent {
    const sealed = this.#seals.cited(0);
    return {
      type: "citation",
      choice,
      id,
      citation: { url, title, quote, sealed, start, end, before, claim: text.slice(start, end) },
    };
  }
}
