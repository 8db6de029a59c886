// The MCP servers of one request: which of them the gateway calls, their tools, and the calls that a client has approved.

import { ApiError } from "../../../base/errors.ts";
import type { ChatEvent } from "../../../chat/event.ts";
import type { ChatRequest, FunctionTool } from "../../../chat/request.ts";
import type { ServerToolOutput } from "../../../chat/server-tools.ts";
import { dialectFor } from "../../../upstream/dialect-choice.ts";
import type { ListedMcpTool, NamedMcpServer } from "../../../wire/mcp-format.ts";
import type { ChatTurn } from "../../centre/stage.ts";
import { argumentsOf } from "./call.ts";
import type { CallMemory } from "./call-memory.ts";
import type { ChatMcpServer, ChatMcpTool, ChatMessages, ChatToolsDeps, McpSaid, ToolCaller } from "./deps.ts";
import { McpHistory } from "./mcp-history.ts";
import { functionName } from "./mcp-names.ts";
import { saidText, shortSaid } from "./told.ts";

/** Tools of all servers of a request that names them; providers take fewer still. */
const TOOLS_MAX = 512;
/** The most functions that every provider takes. Tools that the client did not ask for are left out beyond it. */
const FUNCTIONS_MAX = 128;
const SERVERS_MAX = 20;
/** How long a request waits for the list of a server that its client did not ask for. */
const HIDDEN_WAIT_MS = 3000;
const DESCRIPTION_CHARS_MAX = 4000;

/** Calls of MCP servers in one answer. */
export const MCP_CALLS_MAX = 100;

/** What the model is told of a call beyond that. */
export const CALLS_SPENT: McpSaid = {
  text: `The call was not made: an answer may have ${MCP_CALLS_MAX}.`,
  isError: true,
};
const GONE: McpSaid = { text: "The tool is not available any more.", isError: true };

interface PlannedServer {
  readonly label: string;
  readonly server: ChatMcpServer;
  /** How the client named it; undefined for one that every request gets. */
  readonly named: NamedMcpServer | undefined;
  readonly asksUnlessTold: boolean;
}

/** The servers of a request. */
export class McpPlan {
  readonly history: McpHistory | undefined;
  readonly #isOwn: (label: string) => boolean;
  readonly #turn: ChatTurn;
  readonly #servers: readonly PlannedServer[];
  readonly #taken: ReadonlySet<string>;

  constructor(turn: ChatTurn, servers: readonly PlannedServer[], isOwn: (label: string) => boolean) {
    this.#turn = turn;
    this.#servers = servers;
    const { chat } = turn;
    this.#taken = new Set(chat.tools.flatMap((tool) => (tool.type === "server" ? [] : [tool.name])));
    this.#isOwn = isOwn;
    this.history = this.historyOf(chat.messages);
  }

  /** Reads the blocks of a history; undefined if the format has none. */
  historyOf(messages: ChatMessages): McpHistory | undefined {
    const format = this.#turn.format.mcp?.();
    return format && new McpHistory(messages, { format, isOwn: this.#isOwn, taken: this.#taken });
  }

  /** Whether the gateway calls any server for the request. */
  get isWanted(): boolean {
    return this.#servers.length > 0;
  }

  /** The request without the servers that the gateway calls. */
  without(chat: ChatRequest): Pick<ChatRequest, "tools" | "extra"> {
    const labels = new Set(this.#servers.flatMap(({ label, named }) => (named === undefined ? [] : [label])));
    return this.#turn.format.mcp?.().without(chat, labels) ?? chat;
  }

  /** Asks the servers for their tools. A server that is down has none, and the answer goes on. Throws 400 for too many. */
  async tools(signal: AbortSignal): Promise<{ tools: ChatMcpTool[]; told: ChatEvent[] }> {
    const format = this.#turn.format.mcp?.();
    const lists = await Promise.all(
      this.#servers.map(async (planned) => ({ planned, ...(await listOf(planned, signal)) })),
    );
    signal.throwIfAborted();
    const tools = lists.flatMap(({ planned, tools }) => tools.map((tool) => this.#tool(planned, tool)));
    const named = tools.filter(({ isHidden }) => !isHidden);
    if (named.length > TOOLS_MAX) {
      const param = this.#servers.find(({ named }) => named !== undefined)?.named?.param ?? "tools";
      const message = `Invalid '${param}': the MCP servers of a request may have ${TOOLS_MAX} tools, got ${named.length}. Name those that are needed.`;
      throw new ApiError("invalid_request", message, { param });
    }
    const told = lists.flatMap(({ planned: { label, named }, tools: of, error }): ChatEvent[] => {
      if (format?.listed === undefined || named === undefined || this.history?.listed.has(label) === true) return [];
      return [{ type: "opaque", choice: 0, origin: format.origin, value: format.listed(label, of, error) }];
    });
    const functions = this.#turn.chat.tools.length + named.length;
    const hidden = tools.filter(({ isHidden }) => isHidden).slice(0, Math.max(0, FUNCTIONS_MAX - functions));
    return { tools: [...named, ...hidden], told };
  }

  /** Answers the calls that the client has approved although the gateway calls no server for the request. */
  declineApproved(): void {
    for (const { result } of this.history?.approved ?? []) result.content.push({ type: "text", text: saidText(GONE) });
  }

  /** Whether calls that the client has approved are to be made. */
  get hasApproved(): boolean {
    return (this.history?.approved.length ?? 0) > 0;
  }

  /** Makes the calls that the client has approved: what the client sees of them, and their results by id. `mayCall` counts each. */
  async approved(
    tools: readonly ChatMcpTool[],
    by: ToolCaller,
    { mayCall, memory }: { mayCall: () => boolean; memory: CallMemory },
  ): Promise<{ events: ChatEvent[]; texts: ReadonlyMap<string, string> }> {
    const calls = this.history?.approved ?? [];
    const texts = new Map<string, string>();
    const { accountId } = by.caller;
    const { signal } = by;
    const events = await Promise.all(
      calls.map(async (approved, index): Promise<ChatEvent[]> => {
        const { call } = approved;
        const tool = tools.find(({ label, shown }) => label === call.label && shown === call.name);
        const input = argumentsOf(call.input);
        const outcome =
          tool === undefined
            ? GONE
            : !mayCall()
              ? CALLS_SPENT
              : await memory.once(accountId, approved, {
                  make: () => callMcp(tool, input, { ...by, isUnseen: true }),
                  signal,
                });
        texts.set(call.callId, saidText(outcome));
        const where = { choice: 0, id: `approved_${index}` };
        const { callId, name, label: server, approvalId } = call;
        return [
          { type: "server-tool-start", ...where, callId, kind: "mcp", name, server, approvalId },
          { type: "server-tool-end", ...where, input },
          { type: "server-tool-result", ...where, output: shownOutput(outcome) },
        ];
      }),
    );
    return { events: events.flat(), texts };
  }

  #tool({ label, server, named, asksUnlessTold }: PlannedServer, listed: ListedMcpTool): ChatMcpTool {
    return {
      kind: "mcp",
      shown: listed.name,
      name: functionName(label, listed.name, this.#taken),
      label,
      server,
      listed,
      needsApproval: named !== undefined && (named.needsApproval(listed) ?? asksUnlessTold),
      isHidden: named === undefined,
    };
  }
}

async function listOf(
  { server, named }: PlannedServer,
  leaving: AbortSignal,
): Promise<{ tools: readonly ListedMcpTool[]; error?: string }> {
  const late = named === undefined ? AbortSignal.timeout(HIDDEN_WAIT_MS) : undefined;
  try {
    const tools = await server.tools(late === undefined ? leaving : AbortSignal.any([leaving, late]));
    return { tools: named === undefined ? tools : tools.filter((tool) => named.allows(tool)) };
  } catch (error) {
    leaving.throwIfAborted();
    if (late?.aborted === true) return { tools: [] };
    if (!(error instanceof ApiError)) throw error;
    return { tools: [], error: error.message };
  }
}

/** The function for a tool. */
export function functionOfMcp({ name, listed: { description = "", inputSchema } }: ChatMcpTool): FunctionTool {
  return { type: "function", name, description: description.slice(0, DESCRIPTION_CHARS_MAX), parameters: inputSchema };
}

/** What the client sees of a result. */
export function shownOutput(said: McpSaid): ServerToolOutput {
  const { text, isError } = said.shown ?? said;
  return { type: "content", text: said.shown === undefined ? text : shortSaid(text), isError };
}

/** Calls a tool. A failure is a result. Throws the signal's reason alone. */
export async function callMcp(
  { server, shown }: ChatMcpTool,
  input: Readonly<Record<string, unknown>>,
  by: ToolCaller,
): Promise<McpSaid> {
  try {
    const { text, isError, ...more } = await server.call(shown, input, by);
    return { text: shortSaid(text), isError, ...more };
  } catch (error) {
    by.signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return { text: error.message, isError: true };
  }
}

/** The servers that the gateway calls for a request; undefined if neither the request nor its history has any. */
export function mcpPlanOf(deps: ChatToolsDeps, turn: ChatTurn): McpPlan | undefined {
  const { format, caller, chat, body } = turn;
  const named = format.mcp?.().named(chat, body) ?? [];
  const planned = named.flatMap((one) => {
    const found = serverOf(deps, turn, one);
    return found === undefined ? [] : [found];
  });
  if (planned.length > SERVERS_MAX) {
    throw new ApiError("invalid_request", `A request may name ${SERVERS_MAX} MCP servers, got ${planned.length}.`, {
      param: named[0]?.param ?? "tools",
    });
  }
  planned.push(...alwaysOf(deps, turn, planned).slice(0, SERVERS_MAX - planned.length));
  if (planned.length === 0 && format.mcp === undefined) return undefined;
  const isOwn = (label: string) =>
    planned.some((one) => one.label === label) || deps.mcp.configured(label, caller) !== undefined;
  return new McpPlan(turn, planned, isOwn);
}

/** Undefined if the provider runs it, or if nobody does. */
function serverOf(deps: ChatToolsDeps, turn: ChatTurn, named: NamedMcpServer): PlannedServer | undefined {
  const { label, url, param } = named;
  const mayName = deps.mcp.mayBeNamed();
  const own = url !== undefined && mayName ? undefined : deps.mcp.configured(label, turn.caller);
  if (own !== undefined) return { label, server: own, named, asksUnlessTold: false };
  if (isRelayed(deps, turn)) return undefined;
  if (url === undefined) throw unknown(named);
  // Without the right to connect there, the translation decides.
  if (!mayName) return undefined;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    const message = `Invalid '${param}': the address of the MCP server "${label}" is not an http or https URL.`;
    throw new ApiError("invalid_request", message, { param });
  }
  return { label, server: deps.mcp.at(url, named.headers), named, asksUnlessTold: true };
}

function unknown({ label, param }: NamedMcpServer): ApiError {
  const message = `Unsupported '${param}': no MCP server "${label}" is configured for this key, and no address is given.`;
  return new ApiError("unsupported_parameter", message, { param });
}

/** Whether a provider of the client's protocol gets the request, and with it the servers. */
function isRelayed(deps: ChatToolsDeps, { routes, chat, format }: ChatTurn): boolean {
  const [first] = routes;
  const provider = first && deps.provider(first.provider);
  return (
    first !== undefined &&
    provider !== undefined &&
    dialectFor(provider, first, chat, format.dialect).dialect.name === format.dialect
  );
}

/** The servers that every request of the caller gets, unless its model or what it asks for rules them out. */
function alwaysOf(deps: ChatToolsDeps, turn: ChatTurn, planned: readonly PlannedServer[]): PlannedServer[] {
  const { caller } = turn;
  if (!turn.model.supportsTools || deps.toolSettings().maxRounds < 2 || isInTheWay(turn.chat)) return [];
  return deps.mcp.always(caller).flatMap((label) => {
    const server = planned.some((one) => one.label === label) ? undefined : deps.mcp.configured(label, caller);
    return server === undefined ? [] : [{ label, server, named: undefined, asksUnlessTold: false }];
  });
}

/** Whether tools that a client does not know of would change what it gets. */
function isInTheWay({ n = 1, toolChoice, responseFormat }: ChatRequest): boolean {
  // A call of one of them would be the call that the client requires.
  if (n > 1 || toolChoice?.type === "none" || toolChoice?.type === "required") return true;
  // What a model says before a call would stand before the JSON, and some providers do not combine tools with a format.
  return responseFormat !== undefined && responseFormat.type !== "text";
}

/** The tools that the entries of a choice name, each a tool or all of a server's. A choice may have tens of thousands of entries. */
export function meantBy(
  entries: readonly Readonly<Record<string, unknown>>[],
  tools: readonly ChatMcpTool[],
): ChatMcpTool[] {
  const keyOf = (label: unknown, name: unknown) => JSON.stringify([label, typeof name === "string" ? name : null]);
  const keys = new Set(entries.map((entry) => keyOf(entry["server_label"], entry["name"])));
  return tools.filter(({ label, shown }) => keys.has(keyOf(label, null)) || keys.has(keyOf(label, shown)));
}
