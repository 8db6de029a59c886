// The configured MCP servers, for `/mcp` and for chats. Wiring only.

import { ApiError } from "../base/errors.ts";
import { untilAborted } from "../base/until-aborted.ts";
import type { GatewayView } from "../dashboard/contract-admin.ts";
import type { Caller } from "../gateway/admission/caller.ts";
import type { ChatMcpServer, ChatMcpServers, McpSaid, ToolCaller } from "../gateway/stages/chat-tools/deps.ts";
import { guardedCall } from "../gateway/stages/guardrails/guards.ts";
import { exchangeOf } from "../http/exchange.ts";
import { createInnerCalls, type InnerCaller } from "../http/inner-call.ts";
import { isFor, type ServerAccess } from "../mcp/servers/access.ts";
import type { McpServers, OneServer } from "../mcp/servers/servers.ts";
import type { Foundation } from "./foundation.ts";

type ServersDeps = Pick<Foundation, "config" | "log" | "clock">;

/** The servers as a service. Their code is loaded when they are first needed. */
export function createMcpServers({ config, log, clock }: ServersDeps) {
  let loading: Promise<McpServers> | undefined;
  return {
    open: () => {
      loading ??= import("../mcp/servers/servers.ts").then(
        ({ McpServers }) =>
          new McpServers({
            settings: () => config().mcp.servers,
            nowMs: () => clock.now(),
            warn: (message, fields) => log.warn(message, fields),
          }),
      );
      return loading;
    },
    /** What `/health` says of them. */
    health: async () => {
      if (config().mcp.servers.size === 0) return { status: "disabled" as const };
      const states = [...((await loading)?.states() ?? [])];
      const down = states.flatMap(([name, { error }]) => (error === undefined ? [] : [name]));
      return { status: down.length === 0 ? ("ok" as const) : ("degraded" as const), down };
    },
    /** What administrators see of them. */
    view: async (): Promise<GatewayView["mcp_servers"]> => {
      const states = await loading?.then((open) => open.states());
      return [...config().mcp.servers].map(([name, { url, auto }]) => {
        const state = states?.get(name);
        return {
          ...{ name, kind: url === "" ? "program" : "http", auto },
          status: state === undefined ? "unused" : state.error === undefined ? "up" : "down",
          error: state?.error ?? null,
          tools: state?.tools ?? null,
          calls: state?.calls ?? 0,
          failed_calls: state?.failedCalls ?? 0,
        };
      });
    },
    reconfigure: () => void loading?.then((open) => open.reconfigure()),
    stop: async () => (await loading)?.stop(),
  };
}

/** What a caller may use. */
export function accessOf({ account: { tier }, mcpServers }: Pick<Caller, "account" | "mcpServers">): ServerAccess {
  return { tier, names: mcpServers };
}

const NONE: readonly string[] = [];

interface ChatServersDeps extends Pick<Foundation, "config" | "callers" | "observer" | "log"> {
  readonly servers: Pick<ReturnType<typeof createMcpServers>, "open">;
  readonly guards: Parameters<typeof guardedCall>[0];
}

/** The servers as chats use them: each call is admitted and counted as a call of the same key. */
export function chatMcpServers({ config, callers, observer, log, servers, guards }: ChatServersDeps): ChatMcpServers {
  const counted = callers.vouched(async (request) => {
    await callers.admit(request, exchangeOf(request));
    return Response.json({});
  });
  const admit = ({ caller, exchange, signal }: ToolCaller) =>
    createInnerCalls({
      handle: (request) => counted(request, caller as Caller),
      via: "chat",
      finished: observer.finished,
      unexpected: ({ requestId }, error) => log.error("unexpected error", { request_id: requestId, error }),
    })(innerCallerOf(exchange), { method: "POST", path: "/mcp", body: {}, signal }).answer;
  const asked = (find: () => Promise<OneServer>, guardedAs = (tool: string) => tool): ChatMcpServer => ({
    async tools(signal) {
      const listing = async () => (await find()).tools();
      const tools = await orRefusal(signal, () => untilAborted(listing(), signal));
      return tools.map(({ name, description, inputSchema, annotations }) => ({
        name,
        description,
        inputSchema: inputSchema as Record<string, unknown>,
        isReadOnly: annotations?.readOnlyHint === true,
      }));
    },
    async call(tool, args, by) {
      await admit(by);
      const { caller, exchange, signal } = by;
      const guarded = guardedCall(guards, { caller: caller as Caller, model: guardedAs(tool), exchange });
      const isChecked = guarded === undefined || by.isUnseen !== true;
      const sent = isChecked ? args : (await guarded.input({ arguments: args }, signal)).arguments;
      const run = async () => (await find()).call(tool, { ...sent }, { signal, progress: undefined });
      const [result, { saidOf }] = await Promise.all([orRefusal(signal, run), import("../mcp/servers/said.ts")]);
      const said = saidOf(result);
      return guarded?.guardsOutput === true ? { ...said, shown: await shownOf(guarded, said, signal) } : said;
    },
  });
  return {
    configured(name, caller) {
      const settings = config().mcp.servers.get(name);
      const access = accessOf(caller);
      if (settings === undefined || !isFor(name, settings, access)) return undefined;
      const find = async () => {
        const found = (await servers.open()).server(access, name);
        if (found === undefined)
          throw new ApiError("mcp_server_unavailable", `The MCP server "${name}" is no longer configured.`);
        return found;
      };
      return asked(find, (tool) => `${name}__${tool}`);
    },
    always(caller) {
      const all = config().mcp.servers;
      return all.size === 0 ? NONE : alwaysFor(all, accessOf(caller));
    },
    mayBeNamed: () => config().mcp.clientsMayName,
    at: (url, headers) =>
      asked(async () => {
        const [open, { fetchNamed }] = await Promise.all([servers.open(), import("./named-mcp.ts")]);
        return open.at(url, headers, fetchNamed(config().web));
      }),
  };
}

function alwaysFor(
  all: ReturnType<ChatServersDeps["config"]>["mcp"]["servers"],
  access: ServerAccess,
): readonly string[] {
  return [...all].flatMap(([name, settings]) => (settings.auto && isFor(name, settings, access) ? [name] : []));
}

/** What a client may see of a result. The model's copy is looked through with all that it is sent. */
async function shownOf(
  guarded: Pick<NonNullable<ReturnType<typeof guardedCall>>, "output">,
  said: McpSaid,
  signal: AbortSignal,
): Promise<McpSaid> {
  try {
    return await guarded.output(said, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return { text: error.message, isError: true };
  }
}

/** A failure of a server as an error that clients may see. */
async function orRefusal<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && error.name === "ServerDown")
      throw new ApiError("mcp_server_unavailable", error.message);
    throw error;
  }
}

/** The caller is known, so that neither an address nor a key grants anything. */
export function innerCallerOf({ requestId, span }: ToolCaller["exchange"]): InnerCaller {
  const nowhere = { authorization: "", address: "", secure: true, isUnnamedProxy: true, origin: "http://localhost" };
  return { requestId, span, isPart: true, ...nowhere };
}
