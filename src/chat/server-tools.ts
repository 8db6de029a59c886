// Tools that the gateway runs within an answer: their calls, what they give, and the sources that a text names.

/** The kinds of the gateway's own tools. */
export type WebToolKind = "web_search" | "web_fetch";
/** The kinds of tools: its own, and those of MCP servers. */
export type ServerToolKind = WebToolKind | "mcp";

/** A call, as the client sees it. */
export interface ServerToolCall {
  callId: string;
  kind: ServerToolKind;
  name: string;
  /** The MCP server, as the client named it. */
  server?: string;
  /** The client's approval of the call. */
  approvalId?: string;
}

/** A page that was given to the model. */
export interface FoundPage {
  url: string;
  title: string;
  /** All that the model was given of it, for the client to carry. Sealed when a format wants it. */
  sealed(): string;
}

/** What a tool gave. */
export type ServerToolOutput =
  | { type: "pages"; pages: readonly FoundPage[] /** All pages in one value. */; sealed(): string }
  | { type: "page"; page: FoundPage; text: string; retrievedAt: string }
  | { type: "error"; code: ServerToolError }
  /** What an MCP server said. */
  | { type: "content"; text: string; isError: boolean };

/** Why a tool gave nothing, in the words of the messages format. */
export type ServerToolError =
  | "invalid_tool_input"
  | "max_uses_exceeded"
  | "query_too_long"
  | "too_many_requests"
  | "unavailable"
  | "url_not_accessible"
  | "url_not_allowed";

/** A source of a part of a text. */
export interface Citation {
  url: string;
  title: string;
  /** What the page says, word for word. */
  quote: string;
  /** Names the page for the gateway. */
  sealed(): string;
  /** Where the claim stands in its text block, and its end with the marker. */
  start: number;
  end: number;
  /** The characters of the answer's texts before the block. */
  before: number;
  /** The claim without the marker. */
  claim: string;
}

/** A call with what it gave, in a whole answer. */
export interface ServerToolBlock extends ServerToolCall {
  type: "server-tool";
  input: Readonly<Record<string, unknown>>;
  output?: ServerToolOutput;
}
