// How the clients of a format name MCP servers whose tools shall be called within the answer.

import type { ChatRequest } from "../chat/request.ts";

/** An MCP server that a request names. */
export interface NamedMcpServer {
  readonly label: string;
  /** Absent if the gateway's configuration shall know it. */
  readonly url: string | undefined;
  /** What the client wants to be sent to the address, and to no other. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where it stands in the body. */
  readonly param: string;
  /** Whether the model may use a tool. */
  allows(tool: { readonly name: string; readonly isReadOnly: boolean }): boolean;
  /** Whether a call waits until the client approves it; undefined if the request does not say. */
  needsApproval(tool: { readonly name: string; readonly isReadOnly: boolean }): boolean | undefined;
}

/** A tool as a list shows it. */
export interface ListedMcpTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly isReadOnly: boolean;
}

/** A block or an item that only the format has. */
export type McpBlock = Readonly<Record<string, unknown>>;

/** A call that the history holds. */
export interface McpCallBlock {
  readonly label: string;
  readonly callId: string;
  readonly name: string;
  /** JSON text. */
  readonly input: string;
  /** What the server said. Absent: the call waits for its approval. */
  readonly result?: { readonly text: string; readonly isError: boolean };
  /** Under which the client approves the call, or has approved it. */
  readonly approvalId?: string;
}

/** The words of a format. */
export interface McpFormat {
  /** The protocol's name in `origin`. */
  readonly origin: string;
  /** The servers of a request. Throws 400 for one that cannot be read. */
  named(chat: ChatRequest, body: McpBlock): readonly NamedMcpServer[];
  /** The request without the servers of these names. */
  without(chat: ChatRequest, labels: ReadonlySet<string>): Pick<ChatRequest, "tools" | "extra">;
  /** A call in the history; undefined for any other block. `resultOf` finds a block with a result by the id of its call. */
  call(block: McpBlock, resultOf: (id: unknown) => McpBlock | undefined): McpCallBlock | undefined;
  /** Whose list of tools, or the result of which call a block is, neither of which is needed again; undefined for any other block. */
  beside(block: McpBlock): { readonly label: string } | { readonly callId: string } | undefined;
  /** What the client says to a call that waits; undefined for any other block. */
  approval?(block: McpBlock): { readonly id: string; readonly approve: boolean; readonly reason: string } | undefined;
  /** The block that lists the tools of a server, or says why there are none. */
  listed?(label: string, tools: readonly ListedMcpTool[], error: string | undefined): McpBlock;
  /** The block that asks the client to approve a call. */
  asked?(id: string, call: { readonly label: string; readonly name: string; readonly input: string }): McpBlock;
}
