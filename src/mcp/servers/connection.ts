// The connection to one configured MCP server, over HTTP or to a program that the gateway runs. It is opened by the first request,
// and again after a failure: at once by a call, and for lists after a pause that doubles.

import type { CallToolResult, Client, Progress, Tool, Transport } from "@modelcontextprotocol/client";
import { nameGlob } from "../../base/name-glob.ts";
import { VERSION } from "../../base/version.ts";
import { sizedText } from "../sized.ts";

/** The settings of a server. */
export interface McpServerSettings {
  /** Empty for a program. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The tools to offer, in which `*` stands for any text. */
  readonly tools: readonly string[];
  /** The plans that may use it; empty: all. */
  readonly tiers: readonly string[];
  readonly timeoutMs: number;
  /** In place of the usual one, for an address that a client named. */
  readonly fetch?: ServerFetch;
}

/** How a server is reached. */
export type ServerFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** What a call may use. */
export interface ServerCall {
  readonly signal: AbortSignal;
  /** Reports progress; undefined if nobody asked for it. */
  readonly progress: ((told: { progress: number; total?: number; message: string }) => void) | undefined;
}

const PAUSE_MS = 1000;
const PAUSE_MS_MAX = 30_000;
/** Tools of one server; further ones are left out. */
const TOOLS_MAX = 1000;
const PAGES_MAX = 100;

/** A server that cannot be used now. The message is for operators and clients alike, and names no address. */
export class ServerDown extends Error {
  override name = "ServerDown";
}

/** What is known of a server. */
export interface ServerState {
  /** Why it cannot be used; undefined if it answered, or was not asked yet. */
  readonly error: string | undefined;
  /** How many tools it had when it was last asked. */
  readonly tools: number | undefined;
  readonly calls: number;
  /** Calls that it refused, or did not answer. */
  readonly failedCalls: number;
}

/** One server. */
export class ServerConnection {
  readonly #name: string;
  readonly #settings: McpServerSettings;
  readonly #nowMs: () => number;
  readonly #warn: (message: string, fields: Record<string, unknown>) => void;
  /** The client in use. A client that was replaced may still be closing, and must not end its successor. */
  #client: Promise<Client> | undefined;
  #isClosed = false;
  #tools: Promise<readonly Tool[]> | undefined;
  #failures = 0;
  #retryAtMs = 0;
  #error: string | undefined;
  #listed: number | undefined;
  #calls = 0;
  #failedCalls = 0;

  constructor(
    name: string,
    settings: McpServerSettings,
    { nowMs, warn }: { nowMs(): number; warn(message: string, fields: Record<string, unknown>): void },
  ) {
    this.#name = name;
    this.#settings = settings;
    this.#nowMs = nowMs;
    this.#warn = warn;
  }

  /** What is known of the server. */
  get state(): ServerState {
    return { error: this.#error, tools: this.#listed, calls: this.#calls, failedCalls: this.#failedCalls };
  }

  /** The tools that the settings allow. Rejects with `ServerDown`, for a list without asking while the server rests. */
  async tools(use: "list" | "call"): Promise<readonly Tool[]> {
    const isResting = this.#error !== undefined && this.#nowMs() < this.#retryAtMs;
    if (this.#tools === undefined && isResting && use === "list") throw new ServerDown(this.#error);
    this.#tools ??= this.#list();
    return this.#tools;
  }

  /** Calls a tool. Rejects with `ServerDown`, or with the signal's reason. */
  async call(tool: string, args: Record<string, unknown>, { signal, progress }: ServerCall): Promise<CallToolResult> {
    const opening = this.#connected();
    this.#calls++;
    try {
      const client = await opening;
      const told = ({ progress: done, total, message }: Progress) =>
        progress?.({ progress: done, message: message ?? "", ...(total === undefined ? {} : { total }) });
      const result = await client.callTool(
        { name: tool, arguments: args },
        {
          signal,
          timeout: this.#settings.timeoutMs,
          maxTotalTimeout: this.#settings.timeoutMs,
          ...(progress === undefined ? {} : { onprogress: told }),
        },
      );
      return result as CallToolResult;
    } catch (error) {
      signal.throwIfAborted();
      this.#failedCalls++;
      const own = await refusalOf(error);
      if (own !== undefined) return { content: [{ type: "text", text: own }], isError: true };
      throw this.#failed(error, opening);
    }
  }

  /** Ends the connection for good: later calls are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await client?.close();
  }

  async #list(): Promise<readonly Tool[]> {
    const opening = this.#connected();
    try {
      const client = await opening;
      const tools: Tool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < PAGES_MAX && tools.length < TOOLS_MAX; page++) {
        const listed = await client.listTools(cursor === undefined ? {} : { cursor }, {
          timeout: this.#settings.timeoutMs,
        });
        tools.push(...listed.tools);
        cursor = listed.nextCursor;
        if (cursor === undefined) break;
      }
      const allowed = tools.slice(0, TOOLS_MAX).filter(({ name }) => isAllowed(name, this.#settings.tools));
      this.#failures = 0;
      this.#error = undefined;
      this.#listed = allowed.length;
      return allowed;
    } catch (error) {
      throw this.#failed(error, opening);
    }
  }

  #connected(): Promise<Client> {
    if (this.#isClosed)
      return Promise.reject(new ServerDown(`The MCP server "${this.#name}" is no longer configured.`));
    if (this.#client !== undefined) return this.#client;
    const opening: Promise<Client> = this.#connect(() => this.#forget(opening));
    this.#client = opening;
    return opening;
  }

  #forget(opening: Promise<Client>): void {
    if (this.#client !== opening) return;
    this.#client = undefined;
    this.#tools = undefined;
  }

  async #connect(closed: () => void): Promise<Client> {
    const sdk = await import("@modelcontextprotocol/client");
    const forget = () => {
      this.#tools = undefined;
    };
    // A list is only forgotten, at once: the next chat may follow the call that changed it.
    // Neither sampling nor elicitation is offered, so that a server which asks for them is refused by the SDK.
    // A server with a fetch of its own keeps no list, and such a fetch would wait for the end of the stream of changes.
    const listChanged =
      this.#settings.fetch === undefined
        ? { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: forget } } }
        : {};
    const client = new sdk.Client(
      { name: "sallyport", version: VERSION },
      { versionNegotiation: { mode: "auto" }, ...listChanged },
    );
    client.onclose = closed;
    await client.connect(await this.#transport(sdk), { timeout: this.#settings.timeoutMs });
    return client;
  }

  async #transport(sdk: typeof import("@modelcontextprotocol/client")): Promise<Transport> {
    const { url, headers, command, env, fetch } = this.#settings;
    if (url !== "") {
      const own = fetch === undefined ? {} : { fetch };
      return new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, ...own });
    }
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const [program = "", ...args] = command;
    return new StdioClientTransport({ command: program, args, env, stderr: "ignore" });
  }

  /** Notes a failure of the server, and tells it without the server's own words, which may hold addresses and keys. */
  #failed(error: unknown, opening: Promise<Client>): ServerDown {
    if (error instanceof ServerDown) return error;
    opening.then((open) => open.close()).catch(() => undefined);
    if (this.#client !== undefined && this.#client !== opening) return new ServerDown(whyDown(this.#name, error));
    this.#failures++;
    const pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** (this.#failures - 1));
    this.#retryAtMs = this.#nowMs() + pauseMs;
    this.#error = whyDown(this.#name, error);
    this.#warn("an MCP server failed", { server: this.#name, error });
    this.#client = undefined;
    this.#tools = undefined;
    return new ServerDown(this.#error);
  }
}

/** Statuses that are about one call: the server works, and the calls of others go on over the same connection. */
const OF_ONE_CALL: ReadonlySet<number | undefined> = new Set([413, 422, 429, 431]);

/** What a call failed with if the server itself works: it refused the call, or was too slow with it. */
async function refusalOf(error: unknown): Promise<string | undefined> {
  const { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } = await import("@modelcontextprotocol/client");
  if (error instanceof ProtocolError) return sizedText(`The tool refused the call: ${error.message}`);
  if (!(error instanceof SdkError)) return undefined;
  if (error instanceof SdkHttpError && OF_ONE_CALL.has(error.status)) {
    return `The server refused the call with the status ${error.status}.`;
  }
  if (error.code === SdkErrorCode.RequestTimeout) return "The tool did not answer in time.";
  if (error.code !== SdkErrorCode.UnsupportedResultType && error.code !== SdkErrorCode.InvalidResult) return undefined;
  return "The tool asked for input of a person or a model, or answered in a form that is not the protocol's. Neither can be passed on.";
}

function whyDown(name: string, error: unknown): string {
  const text = error instanceof Error ? `${error.name} ${error.message}` : "";
  if (/unauthorized|\b401\b|oauth/i.test(text)) {
    return `The MCP server "${name}" wants its caller to sign in. Give a token under mcp.servers.${name}.headers, as in "Authorization: Bearer …".`;
  }
  if (/timeout|timed out/i.test(text)) return `The MCP server "${name}" did not answer in time.`;
  return `The MCP server "${name}" cannot be reached.`;
}

/** Whether a name matches one of the patterns, in which `*` stands for any text. */
function isAllowed(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => nameGlob(pattern, "").test(name));
}
