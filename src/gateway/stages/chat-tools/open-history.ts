// Reads the blocks of the gateway's tools in a history: each is again the call and the result that the model saw.

import { ApiError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json-object.ts";
import type { AssistantContent, ChatMessage, OpaquePart, ToolResultPart } from "../../../chat/request.ts";
import type { WebToolKind } from "../../../chat/server-tools.ts";
import type { ChatMessages, GivenPage, OpenedCall } from "./deps.ts";
import type { McpHistory } from "./mcp-history.ts";
import type { PageSeals } from "./seals.ts";
import { failureText, pagesText } from "./told.ts";

/** How a history is read. */
export interface HistoryOptions {
  readonly seals: PageSeals;
  /** The member with the history. */
  readonly param: string;
  /** The functions of the tools that the gateway runs for this request. Blocks of another server cannot be read then. */
  readonly names: ReadonlyMap<WebToolKind, string>;
  /** Reads the blocks of MCP servers; absent if the format has none. */
  readonly mcp?: McpHistory | undefined;
}

/** The history without such blocks, and all pages in it; undefined if it has none. */
export interface OpenedHistory {
  readonly messages: ChatMessage[];
  readonly pages: readonly GivenPage[];
}

/** Opens the blocks. Throws 400 `invalid_block`. */
export function openToolHistory(messages: ChatMessages, options: HistoryOptions): OpenedHistory | undefined {
  const pages: GivenPage[] = [];
  const out: ChatMessage[] = [];
  let isChanged = false;
  /** The results that were joined last, however many messages have them. */
  let joined: ToolResultPart[] | undefined;
  for (const message of messages) {
    if (message.role === "user" && options.mcp !== undefined) {
      const left = options.mcp.withoutApprovals(message.content);
      if (left !== undefined) {
        isChanged = true;
        if (left.length > 0) out.push({ ...message, content: left });
        continue;
      }
    }
    const opened = message.role === "assistant" ? new Turn(options, pages).read(message.content) : undefined;
    if (opened !== undefined) {
      isChanged = true;
      out.push(...opened);
      continue;
    }
    const last = out.at(-1);
    // The client's results join those of the gateway's tools, which were called beside them.
    if (message.role === "tool" && last?.role === "tool" && isChanged) {
      if (last.content !== joined) {
        joined = [...last.content];
        out[out.length - 1] = { role: "tool", content: joined };
      }
      joined.push(...message.content);
    } else out.push(message);
  }
  return isChanged ? { messages: out, pages } : undefined;
}

/** One turn of the assistant, which becomes the rounds that it was. */
class Turn {
  readonly #options: HistoryOptions;
  readonly #pages: GivenPage[];
  readonly #out: ChatMessage[] = [];
  #content: AssistantContent[] = [];
  #results: ToolResultPart[] = [];
  #isOurs = false;

  constructor(options: HistoryOptions, pages: GivenPage[]) {
    this.#options = options;
    this.#pages = pages;
  }

  /** The messages; undefined if nothing in the turn is the gateway's. */
  read(content: readonly AssistantContent[]): ChatMessage[] | undefined {
    if (!content.some((part) => this.#isToolBlock(part))) return undefined;
    const results = new Map<unknown, OpaquePart>();
    for (const part of content) {
      if (part.type === "opaque" && part.value["tool_use_id"] !== undefined)
        results.set(part.value["tool_use_id"], part);
    }
    for (const part of content) {
      if (part.type !== "opaque" || !this.#isToolBlock(part)) {
        this.#say(part);
        continue;
      }
      const { mcp } = this.#options;
      const opened =
        mcp?.isBlock(part.value) === true
          ? mcp.open(part.value, (id) => results.get(id)?.value)
          : this.#open(part, results);
      if (opened === "left") this.#say(part);
      else if (opened === "gone") this.#isOurs = true;
      else if (opened !== undefined) {
        this.#isOurs = true;
        this.#content.push(opened.call);
        this.#results.push(opened.result);
      }
    }
    if (!this.#isOurs) return undefined;
    this.#end();
    return this.#out;
  }

  #isToolBlock(part: AssistantContent): boolean {
    return isToolBlock(part) || (part.type === "opaque" && this.#options.mcp?.isBlock(part.value) === true);
  }

  #say(part: AssistantContent): void {
    // What was said after a result is of the next round; a client's call was of the same one.
    if (this.#results.length > 0 && part.type !== "tool-call") this.#end();
    if (part.type !== "text") this.#content.push(part);
    else {
      // The citations name pages of the gateway, which providers do not know.
      const { annotations: _annotations, ...text } = part;
      this.#content.push(text);
    }
  }

  #end(): void {
    if (this.#content.length > 0) this.#out.push({ role: "assistant", content: this.#content });
    if (this.#results.length > 0) this.#out.push({ role: "tool", content: this.#results });
    this.#content = [];
    this.#results = [];
  }

  /** `left`: a block of another server, for another server. Undefined for blocks without a meaning of their own. */
  #open({ value }: OpaquePart, results: ReadonlyMap<unknown, OpaquePart>): OpenedCall | "left" | undefined {
    const type = String(value["type"]);
    if (type === "web_search_call") return this.#item(value);
    const isUse = type === "server_tool_use";
    const block = isUse ? results.get(value["id"])?.value : value;
    if (block === undefined) return this.#options.names.size > 0 ? undefined : "left";
    const kind = String(block["type"]).replace(/_tool_result$/, "") as WebToolKind;
    const given = this.#given(kind, block["content"]);
    if (given === "foreign") return this.#foreign(type);
    if (!isUse) return undefined;
    return this.#pair(kind, { callId: String(value["id"]), input: value["input"], given });
  }

  /** The pages of a result block, or the code of its failure. */
  #given(kind: WebToolKind, content: unknown): readonly GivenPage[] | string | "foreign" {
    if (isRecord(content) && typeof content["error_code"] === "string") {
      return this.#options.names.has(kind) ? content["error_code"] : "foreign";
    }
    const list = Array.isArray(content) ? content : [content];
    // No pages do not say whose they are.
    if (list.length === 0 && !this.#options.names.has(kind)) return "foreign";
    const pages: GivenPage[] = [];
    for (const result of list) {
      const opened = this.#options.seals.open(isRecord(result) ? result["encrypted_content"] : undefined);
      if (opened === "foreign") return "foreign";
      if (opened === "changed") throw this.#invalid("was changed, or made for another account");
      const [page] = opened.pages;
      if (page === undefined || page.url !== (result as Record<string, unknown>)["url"]) {
        throw this.#invalid("was changed");
      }
      pages.push(page);
    }
    return pages;
  }

  #item(value: Readonly<Record<string, unknown>>): OpenedCall | "left" {
    const { action, id, status } = value;
    const input = isRecord(action) ? action : {};
    const kind = input["type"] === "open_page" ? "web_fetch" : "web_search";
    const sealed = value["sealed_results"];
    if (sealed === undefined && status === "failed" && this.#options.names.has(kind)) {
      return this.#pair(kind, { callId: String(id), input, given: "unavailable" });
    }
    const opened = this.#options.seals.open(sealed);
    if (opened === "foreign") return this.#foreign("web_search_call");
    if (opened === "changed") throw this.#invalid("was changed, or made for another account");
    return this.#pair(kind, { callId: opened.callId, input, given: opened.pages });
  }

  #foreign(type: string): "left" {
    // Without the tool, the translation decides.
    if (this.#options.names.size === 0) return "left";
    throw this.#invalid(`of type '${type}' was made by another server`);
  }

  #invalid(what: string): ApiError {
    const { param } = this.#options;
    const message = `Invalid '${param}': a result of a web search or a web page in it ${what}, so that it cannot be read. Send it as it was received, or leave it out.`;
    return new ApiError("invalid_block", message, { param });
  }

  #pair(
    kind: WebToolKind,
    { callId, input, given }: { callId: string; input: unknown; given: readonly GivenPage[] | string },
  ): OpenedCall {
    const name = this.#options.names.get(kind) ?? kind;
    const { query, url } = isRecord(input) ? input : {};
    const args = kind === "web_search" ? { query } : { url };
    if (typeof given !== "string") this.#pages.push(...given);
    const text = typeof given === "string" ? failureText(kind, given) : pagesText(given);
    return {
      call: { type: "tool-call", callId, name, kind: "function", arguments: JSON.stringify(args) },
      result: { type: "tool-result", callId, name, content: [{ type: "text", text }] },
    };
  }
}

const BLOCKS: ReadonlySet<string> = new Set(["web_search_call", "web_search_tool_result", "web_fetch_tool_result"]);

/** Whether a part is of a tool that the gateway may have run. */
function isToolBlock(part: AssistantContent): boolean {
  if (part.type !== "opaque") return false;
  const { type, name } = part.value;
  return BLOCKS.has(String(type)) || (type === "server_tool_use" && (name === "web_search" || name === "web_fetch"));
}
