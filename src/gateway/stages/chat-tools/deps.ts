// What the tools that the gateway runs within a chat need from the rest of the program, and what they share.

import type { Clock } from "../../../base/clock.ts";
import type { ChatRequest, ToolCallPart, ToolResultPart } from "../../../chat/request.ts";
import type { WebToolKind } from "../../../chat/server-tools.ts";
import type { Config } from "../../../config/schema.ts";
import type { Provider } from "../../../upstream/provider.ts";
import type { ListedMcpTool } from "../../../wire/mcp-format.ts";
import type { Caller } from "../../admission/caller.ts";
import type { TurnExchange } from "../../centre/stage.ts";
import type { Sealer } from "../compaction/seal.ts";

/** For whom a tool works. */
export interface ToolCaller {
  readonly caller: Caller;
  readonly exchange: Pick<TurnExchange, "requestId" | "span" | "path" | "log" | "headers">;
  readonly signal: AbortSignal;
  /** Whether the client wrote what is asked, so that no guardrail has seen it yet. */
  readonly isUnseen?: boolean;
}

/** The web endpoints, admitted and counted as a call of the same key. Both reject with `ApiError`. */
export interface ChatWebTools {
  search(query: string, by: ToolCaller): Promise<readonly WebHit[]>;
  fetch(url: string, by: ToolCaller): Promise<WebHit>;
}

/** A page that was found or read. */
export interface WebHit {
  readonly url: string;
  readonly title: string;
  readonly text: string;
  /** The address after redirects. */
  readonly reached?: string;
}

/** What an MCP server said to a call. */
export interface McpSaid {
  readonly text: string;
  readonly isError: boolean;
  /** What the client may see of it, if that is something else. */
  readonly shown?: Omit<McpSaid, "shown">;
}

/** An MCP server whose tools a chat may call. Messages of errors are for clients. */
export interface ChatMcpServer {
  /** Its tools that the configuration allows. */
  tools(signal: AbortSignal): Promise<readonly ListedMcpTool[]>;
  /** Calls a tool, which counts as a call of the key. Rejects with `ApiError`, or with the signal's reason. */
  call(tool: string, args: Readonly<Record<string, unknown>>, by: ToolCaller): Promise<McpSaid>;
}

/** The MCP servers that chats may use. */
export interface ChatMcpServers {
  /** A configured one; undefined if there is none of that name for the caller. */
  configured(name: string, caller: Caller): ChatMcpServer | undefined;
  /** The names of those whose tools every request of the caller gets. */
  always(caller: Caller): readonly string[];
  /** Whether clients may name one by its address. */
  mayBeNamed(): boolean;
  /** One at an address that a client named. */
  at(url: string, headers: Readonly<Record<string, string>>): ChatMcpServer;
}

/** What the stage needs. */
export interface ChatToolsDeps {
  toolSettings(): Config["chatTools"];
  sealer: Sealer;
  readonly web: ChatWebTools;
  readonly mcp: ChatMcpServers;
  provider(name: string): Provider | undefined;
  clock: Clock;
}

/** A tool that the gateway runs for a request. */
export type OwnTool = ToolWish | ChatMcpTool;

/** A tool of an MCP server. */
export interface ChatMcpTool {
  readonly kind: "mcp";
  /** Its name at the server. */
  readonly shown: string;
  /** The name of the function that the model gets. */
  readonly name: string;
  /** The server, as the client named it. */
  readonly label: string;
  readonly server: ChatMcpServer;
  readonly listed: ListedMcpTool;
  /** Whether the client approves each call first. */
  readonly needsApproval: boolean;
  /** Whether the client did not ask for it, so that it does not see it. */
  readonly isHidden: boolean;
}

/** A tool that a request asks for, and its limits. */
export interface ToolWish {
  readonly kind: WebToolKind;
  /** Its name in the client's blocks. */
  readonly shown: string;
  /** The name of the function that the model gets. */
  readonly name: string;
  readonly maxUses: number;
  /** How often the client lets the model use it; undefined: it does not say. */
  readonly asked: number | undefined;
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
  /** Where the user is, in words. */
  readonly place: string | undefined;
  readonly location: Readonly<Record<string, string>> | undefined;
  /** How much of the pages the client wants for the model: `low`, `medium` or `high`. */
  readonly size: string | undefined;
  /** Characters of each page that the model gets. */
  readonly pageChars: number;
}

/** A page as the model was given it. Its number is unique in the conversation. */
export interface GivenPage {
  readonly n: number;
  readonly url: string;
  readonly title: string;
  readonly text: string;
}

/** A call in a history, with its result. */
export interface OpenedCall {
  readonly call: ToolCallPart;
  readonly result: ToolResultPart;
}

/** A message list that grows. */
export type ChatMessages = ChatRequest["messages"];
