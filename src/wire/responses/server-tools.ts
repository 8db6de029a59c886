// The items of tools that the gateway runs, in the responses format.

import type { ServerToolEnd, ServerToolResult, ServerToolStart } from "../../chat/event.ts";
import type { Citation, ServerToolCall, ServerToolOutput } from "../../chat/server-tools.ts";
import type { Fields } from "../check.ts";
import type { AnswerContext } from "../format.ts";
import { itemId } from "./shape.ts";

type Item = Record<string, unknown>;

/** The member in which an item carries what the model was given, sealed. */
const SEALED_MEMBER = "sealed_results";

/** The item of a call: in progress without `output`. */
export function callItemOf(
  id: string,
  call: ServerToolCall,
  { input, output, body }: { input: Readonly<Fields>; output: ServerToolOutput | undefined; body: Readonly<Fields> },
): Item {
  const status = output === undefined ? "in_progress" : output.type === "error" ? "failed" : "completed";
  const sealed = output === undefined || output.type === "error" ? undefined : sealedOf(output);
  return {
    id,
    type: "web_search_call",
    status,
    action: actionOf(call, { input, output, body }),
    ...(sealed === undefined ? {} : { [SEALED_MEMBER]: sealed }),
  };
}

function sealedOf(output: Exclude<ServerToolOutput, { type: "error" }>): string {
  return output.type === "pages" ? output.sealed() : output.page.sealed();
}

function actionOf(
  { kind }: ServerToolCall,
  { input, output, body }: { input: Readonly<Fields>; output: ServerToolOutput | undefined; body: Readonly<Fields> },
): Item {
  if (kind === "web_fetch") return { type: "open_page", url: String(input["url"] ?? "") };
  const query = String(input["query"] ?? "");
  const wantsSources = Array.isArray(body["include"]) && body["include"].includes("web_search_call.action.sources");
  if (!wantsSources || output?.type !== "pages") return { type: "search", query };
  return { type: "search", query, sources: output.pages.map(({ url }) => ({ type: "url", url })) };
}

/** The annotation of a text. */
export function urlCitation({ url, title, start, end }: Citation): Item {
  return { type: "url_citation", url, title, start_index: start, end_index: end };
}

/** The stream in which the items stand. */
interface ItemStream {
  readonly exchange: AnswerContext;
  /** The output index of the next item. */
  next(): number;
  add(item: Item): string;
  done(index: number, item: Item): string;
  event(name: string, members: Fields): string;
}

/** An item that waits for its result. */
interface OpenItem {
  readonly id: string;
  readonly index: number;
  readonly call: ServerToolCall;
  input: Fields;
}

/** Writes the items of a stream. */
export class ServerItems {
  readonly #stream: ItemStream;
  readonly #open = new Map<string, OpenItem>();

  constructor(stream: ItemStream) {
    this.#stream = stream;
  }

  write(event: ServerToolStart | ServerToolEnd | ServerToolResult): string {
    if (event.type === "server-tool-start") return this.#start(event);
    const open = this.#open.get(event.id);
    if (open === undefined) return "";
    if (event.type === "server-tool-result") return this.#result(event.id, open, event.output);
    open.input = event.input;
    return this.#stream.event("web_search_call.searching", { output_index: open.index, item_id: open.id });
  }

  /** Ends the items without a result. */
  end(): string {
    let out = "";
    for (const [id, open] of [...this.#open]) out += this.#result(id, open, { type: "error", code: "unavailable" });
    return out;
  }

  #start(call: ServerToolStart): string {
    const { exchange } = this.#stream;
    const index = this.#stream.next();
    const id = itemId("web_search_call", exchange, index);
    this.#open.set(call.id, { id, index, call, input: {} });
    const item = callItemOf(id, call, { input: {}, output: undefined, body: exchange.body });
    return (
      this.#stream.add(item) + this.#stream.event("web_search_call.in_progress", { output_index: index, item_id: id })
    );
  }

  #result(block: string, { id, index, call, input }: OpenItem, output: ServerToolOutput): string {
    this.#open.delete(block);
    const item = callItemOf(id, call, { input, output, body: this.#stream.exchange.body });
    return (
      this.#stream.event("web_search_call.completed", { output_index: index, item_id: id }) +
      this.#stream.done(index, item)
    );
  }
}
