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
  if (call.kind === "mcp") return mcpItem(id, call, { input, output });
  const status = output === undefined ? "in_progress" : output.type === "error" ? "failed" : "completed";
  const sealed = output === undefined ? undefined : sealedOf(output);
  return {
    id,
    type: "web_search_call",
    status,
    action: actionOf(call, { input, output, body }),
    ...(sealed === undefined ? {} : { [SEALED_MEMBER]: sealed }),
  };
}

function sealedOf(output: ServerToolOutput): string | undefined {
  if (output.type === "pages") return output.sealed();
  return output.type === "page" ? output.page.sealed() : undefined;
}

/** The item of a call of an MCP server. It carries the id under which the model knows the call. */
function mcpItem(
  id: string,
  { callId, name, server, approvalId }: ServerToolCall,
  { input, output }: { input: Readonly<Fields>; output: ServerToolOutput | undefined },
): Item {
  const shown = output === undefined ? undefined : saidOf(output);
  return {
    id,
    type: "mcp_call",
    status: shown === undefined ? "in_progress" : shown.isError ? "failed" : "completed",
    call_id: callId,
    approval_request_id: approvalId ?? null,
    server_label: server,
    name,
    arguments: output === undefined ? "" : JSON.stringify(input),
    output: shown === undefined || shown.isError ? null : shown.text,
    error:
      shown?.isError === true
        ? { type: "mcp_tool_execution_error", content: [{ type: "text", text: shown.text }] }
        : null,
  };
}

function saidOf(output: ServerToolOutput): { text: string; isError: boolean } {
  return output.type === "content" ? output : { text: "The call was not finished.", isError: true };
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

function typeOf({ kind }: ServerToolCall): "mcp_call" | "web_search_call" {
  return kind === "mcp" ? "mcp_call" : "web_search_call";
}

/** The event of the end. Failed searches have none of their own. */
function endOf(call: ServerToolCall, output: ServerToolOutput): string {
  return call.kind === "mcp" && saidOf(output).isError ? "mcp_call.failed" : `${typeOf(call)}.completed`;
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
    const where = { output_index: open.index, item_id: open.id };
    if (open.call.kind !== "mcp") return this.#stream.event("web_search_call.searching", where);
    const text = JSON.stringify(event.input);
    return (
      this.#stream.event("mcp_call_arguments.delta", { ...where, delta: text }) +
      this.#stream.event("mcp_call_arguments.done", { ...where, arguments: text })
    );
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
    const type = typeOf(call);
    const id = itemId(type, exchange, index);
    this.#open.set(call.id, { id, index, call, input: {} });
    const item = callItemOf(id, call, { input: {}, output: undefined, body: exchange.body });
    return this.#stream.add(item) + this.#stream.event(`${type}.in_progress`, { output_index: index, item_id: id });
  }

  #result(block: string, { id, index, call, input }: OpenItem, output: ServerToolOutput): string {
    this.#open.delete(block);
    const item = callItemOf(id, call, { input, output, body: this.#stream.exchange.body });
    return (
      this.#stream.event(endOf(call, output), { output_index: index, item_id: id }) + this.#stream.done(index, item)
    );
  }
}
