// The configured MCP servers together: their tools under names that are unique and legal, for a caller.

import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { lone } from "../../base/limit.ts";
import { sizedText } from "../sized.ts";
import { isFor, type ServerAccess } from "./access.ts";
import {
  type McpServerSettings,
  type ServerCall,
  ServerConnection,
  ServerDown,
  type ServerFetch,
  type ServerState,
} from "./connection.ts";

/** What the servers need. */
export interface McpServersDeps {
  settings(): ReadonlyMap<string, McpServerSettings>;
  nowMs(): number;
  warn(message: string, fields: Record<string, unknown>): void;
}

/** A tool of a server, as clients of the gateway see it. */
export interface ServedTool {
  /** The unique name. */
  readonly name: string;
  readonly tool: Tool;
  call(args: Record<string, unknown>, how: ServerCall): Promise<CallToolResult>;
}

/** The tools of other servers that a caller may use. */
export interface ServedTools {
  list(): Promise<readonly ServedTool[]>;
  /** Undefined if there is none of that name. Rejects with `ServerDown`. */
  find(name: string): Promise<ServedTool | undefined>;
}

/** One server, with its own names. Both reject with `ServerDown`. */
export interface OneServer {
  tools(): Promise<readonly Tool[]>;
  call(tool: string, args: Record<string, unknown>, how: ServerCall): Promise<CallToolResult>;
}

/** Time limit of a call of a server that a client named. */
const NAMED_TIMEOUT_MS = 30_000;
/** The longest name of a tool in the protocol. */
const NAME_CHARS_MAX = 128;

/** The servers. */
export class McpServers {
  readonly #deps: McpServersDeps;
  readonly #open = new Map<string, { settings: McpServerSettings; connection: ServerConnection }>();

  constructor(deps: McpServersDeps) {
    this.#deps = deps;
  }

  /** The tools for a caller. Servers that are down have none. */
  async tools(access: ServerAccess): Promise<readonly ServedTool[]> {
    const listed = await Promise.all(
      this.#serversOf(access).map(async ([name, settings]) => {
        const connection = this.#connection(name, settings);
        return ifUp(async () => (await connection.tools("list")).map((tool) => served(name, tool, connection)));
      }),
    );
    const taken = new Set<string>();
    return listed.flatMap((tools) => tools ?? []).filter(({ name }) => !taken.has(name) && taken.add(name));
  }

  /** A tool by its name; undefined if the caller has none. Rejects with `ServerDown`. */
  async find(access: ServerAccess, name: string): Promise<ServedTool | undefined> {
    for (const [server, settings] of this.#serversOf(access)) {
      if (!name.startsWith(`${server}__`)) continue;
      const connection = this.#connection(server, settings);
      const tool = (await connection.tools("call")).find((one) => servedName(server, one.name) === name);
      return tool && served(server, tool, connection);
    }
    return undefined;
  }

  /** One server for a caller, under the names of its own; undefined if the caller has none of that name. */
  server(access: ServerAccess, name: string): OneServer | undefined {
    const settings = this.#deps.settings().get(name);
    if (settings === undefined || !isFor(name, settings, access)) return undefined;
    return one(this.#connection(name, settings));
  }

  /** A server at an address that a client named. Nothing of it is kept. */
  at(url: string, headers: Readonly<Record<string, string>>, fetch: ServerFetch): OneServer {
    const settings = {
      url,
      headers,
      command: [],
      env: {},
      tools: ["*"],
      tiers: [],
      timeoutMs: NAMED_TIMEOUT_MS,
      fetch,
    };
    const { nowMs } = this.#deps;
    const once = async <T>(work: (server: OneServer) => Promise<T>): Promise<T> => {
      // Its failures are the client's own to know of.
      const connection = new ServerConnection(new URL(url).hostname, settings, { nowMs, warn: () => undefined });
      // A list may have many pages, each of which has a time limit of its own.
      const late = lone(NAMED_TIMEOUT_MS, () => void connection.close().catch(() => undefined));
      try {
        return await work(one(connection));
      } finally {
        late.cancel();
        await connection.close().catch(() => undefined);
      }
    };
    return {
      tools: () => once((server) => server.tools()),
      call: (tool, args, how) => once((server) => server.call(tool, args, how)),
    };
  }

  /** What is known of the servers that were used, by name. */
  states(): ReadonlyMap<string, ServerState> {
    return new Map([...this.#open].map(([name, { connection }]) => [name, connection.state]));
  }

  /** Closes the connections of servers whose settings have changed. */
  reconfigure(): void {
    const now = this.#deps.settings();
    for (const [name, { settings, connection }] of this.#open) {
      if (JSON.stringify(now.get(name)) !== JSON.stringify(settings)) this.#drop(name, connection);
    }
  }

  async stop(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map(({ connection }) => connection.close().catch(() => undefined)));
  }

  #drop(name: string, connection: ServerConnection): void {
    this.#open.delete(name);
    connection.close().catch(() => undefined);
  }

  #connection(name: string, settings: McpServerSettings): ServerConnection {
    const known = this.#open.get(name);
    if (known !== undefined) return known.connection;
    const { nowMs, warn } = this.#deps;
    const connection = new ServerConnection(name, settings, { nowMs, warn });
    this.#open.set(name, { settings, connection });
    return connection;
  }

  #serversOf(access: ServerAccess): [string, McpServerSettings][] {
    return [...this.#deps.settings()].filter(([name, settings]) => isFor(name, settings, access));
  }
}

function one(connection: ServerConnection): OneServer {
  return {
    tools: () => connection.tools("list"),
    call: async (tool, args, how) => withinSize(await connection.call(tool, args, how)),
  };
}

function served(server: string, tool: Tool, connection: ServerConnection): ServedTool {
  return {
    name: servedName(server, tool.name),
    tool,
    call: async (args, how) => withinSize(await connection.call(tool.name, args, how)),
  };
}

async function ifUp<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServerDown) return undefined;
    throw error;
  }
}

/** `SERVER__tool` in the protocol's characters; a longer or illegal name is cut with a hash. */
function servedName(server: string, tool: string): string {
  const whole = `${server}__${tool}`;
  const legal = whole.replace(/[^A-Za-z0-9_.-]/g, "_");
  if (legal === whole && whole.length <= NAME_CHARS_MAX) return whole;
  return `${legal.slice(0, NAME_CHARS_MAX - 9)}_${Bun.hash.xxHash32(whole).toString(16).padStart(8, "0")}`;
}

/** A result whose texts are within the limit of an answer, with a note where one was cut. */
function withinSize(result: CallToolResult): CallToolResult {
  const content = result.content.map((part) => (part.type === "text" ? { ...part, text: sizedText(part.text) } : part));
  return { ...result, content };
}
