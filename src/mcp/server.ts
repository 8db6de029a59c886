// One MCP server, which handles the protocol's requests for tools. The SDK creates one for each HTTP request, or for
// the single client on stdio. The SDK implements the protocol; this file lists the tools and runs them.

import type { Server } from "@modelcontextprotocol/server";
import type { AtOnce } from "../base/at-once.ts";
import { ApiError } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import type { ApiEndpoint } from "../http/endpoint.ts";
import { asApiError } from "../http/errors.ts";
import type { InnerRun } from "../http/inner-call.ts";
import { watchJob } from "./progress.ts";
import { failureResult, type ToolResult, toolResult } from "./results.ts";
import { schemasOf } from "./schemas.ts";
import type { ServedTool, ServedTools } from "./servers/servers.ts";
import type { Ask, JsonRecord, McpTool, Resources, ToolRun } from "./tool.ts";
import { TOOLS } from "./tools/index.ts";
import { withTime } from "./waiting.ts";

/** The client that is served. */
export interface McpClient {
  readonly resources: Resources;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Calls an endpoint with the client's key. */
  call(asked: Ask & { readonly signal: AbortSignal; readonly isQuiet?: boolean }): InnerRun;
  /** Records a call that the client may cancel by a separate message. */
  begin(id: string | number): { readonly signal: AbortSignal; done(): void };
  /** Called for each call of a tool. */
  called(tool: string): void;
  /** The tools of other servers that the client may use; absent on stdio, where no server is configured. */
  readonly served?: ServedTools;
  /** Counts a call of such a tool against the key's limit. Throws `ApiError`. */
  admit?(): AtOnce<unknown>;
}

/** What all servers share. */
export interface ServerDeps {
  /** Every documented endpoint. */
  endpoints(): Promise<readonly ApiEndpoint[]>;
  /** Called with an unexpected error. */
  unexpected(error: unknown): void;
}

/** The SDK, which is loaded when the first client connects. */
export type McpSdk = typeof import("@modelcontextprotocol/server");

const INSTRUCTIONS =
  "Tools of a Sallyport gateway for reading the web. Begin with search where the address is not known and with map where " +
  "the site is; read pages with scrape; use crawl for many pages of one site.";

/** How long clients may cache the list, since models and engines change. */
const LIST_TTL_MS = 60_000;

/** The gateway creates the answers, and the endpoints check the arguments, so the SDK has nothing to validate. */
const NO_VALIDATION = {
  getValidator: () => (data: unknown) => ({ valid: true as const, data: data as never, errorMessage: undefined }),
};

/** Creates a server for a client. */
export function createServer(sdk: McpSdk, deps: ServerDeps, client: McpClient): Server {
  const server = new sdk.Server(
    { name: "sallyport", title: "Sallyport", version: VERSION },
    {
      // `listChanged` is not offered, since there is no stream on which a change could be reported.
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: NO_VALIDATION,
      cacheHints: { "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "private" } },
    },
  );
  server.setRequestHandler("tools/list", async () => {
    try {
      const served = (await client.served?.list()) ?? [];
      return { tools: [...(await listTools(deps, client)), ...served.map(({ name, tool }) => ({ ...tool, name }))] };
    } catch (error) {
      deps.unexpected(error);
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InternalError, "The tools could not be listed. Try again.");
    }
  });
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    const found = tool === undefined ? await findServed(client, params.name) : undefined;
    if (found !== undefined && "failed" in found) return found.failed;
    if (tool === undefined && found === undefined)
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 200)}`);
    client.called(params.name);
    const running = client.begin(mcpReq.id);
    const signal = AbortSignal.any([mcpReq.signal, client.signal, running.signal]);
    const token = mcpReq._meta?.progressToken;
    const tell = (progress: { progress: number; total?: number; message: string }) => {
      if (token === undefined || signal.aborted) return;
      // If the client has disconnected meanwhile, nobody waits for the answer.
      mcpReq
        .notify({ method: "notifications/progress", params: { progressToken: token, ...progress } })
        .catch(() => undefined);
    };
    const run = { deps, client, signal, tell: token === undefined ? undefined : tell };
    try {
      if (tool !== undefined) return await runTool(tool, params.arguments ?? {}, run);
      return (await runServed(found!.served, params.arguments ?? {}, run)) as ToolResult;
    } finally {
      running.done();
    }
  });
  return server;
}

/** A tool of another server. A name without a server's is none. */
async function findServed(
  { served }: McpClient,
  name: string,
): Promise<{ served: ServedTool } | { failed: ToolResult } | undefined> {
  if (!name.includes("__")) return undefined;
  try {
    const tool = await served?.find(name);
    return tool && { served: tool };
  } catch (error) {
    return { failed: failureResult(asServerError(error)) };
  }
}

/** A failure of another server, in words. */
function asServerError(error: unknown): ApiError {
  const isDown = error instanceof Error && error.name === "ServerDown";
  return isDown ? new ApiError("mcp_server_unavailable", error.message) : asApiError(error);
}

/** Calls a tool of another server, whose result is passed on as it is. */
async function runServed(served: ServedTool, args: JsonRecord, { deps, client, signal, tell }: RunOptions) {
  try {
    await client.admit?.();
    return await served.call(args, { signal, progress: tell });
  } catch (error) {
    signal.throwIfAborted();
    const known = asServerError(error);
    if (known.apiCode === "internal_error") deps.unexpected(error);
    return failureResult(known);
  }
}

/** The tools that this client can use, in a fixed order. */
async function listTools({ endpoints }: ServerDeps, { resources }: McpClient) {
  const described = await endpoints();
  const offered = await Promise.all(
    TOOLS.map(async (tool) => ((await (tool.isOffered?.(resources) ?? true)) ? [tool] : [])),
  );
  return Promise.all(
    offered.flat().map(async (tool) => {
      const { name, title, description, readOnly, openWorld } = tool;
      const all = schemasOf(tool, described);
      const { input, output } = (await tool.schemas?.(all, () => resources.decisionModels())) ?? all;
      return {
        ...{ name, title, description },
        inputSchema: input as { type: "object" },
        outputSchema: output as { type: "object" },
        annotations: {
          title,
          readOnlyHint: readOnly,
          destructiveHint: false,
          openWorldHint: openWorld,
        },
      };
    }),
  );
}

interface RunOptions {
  readonly deps: ServerDeps;
  readonly client: McpClient;
  readonly signal: AbortSignal;
  /** Reports progress; undefined if the client did not request it. */
  readonly tell: ((progress: { progress: number; total?: number; message: string }) => void) | undefined;
}

async function runTool(tool: McpTool, args: JsonRecord, { deps, client, signal, tell }: RunOptions) {
  const never = new AbortController().signal;
  const ask = (asked: Ask) => client.call({ ...asked, signal }).answer;
  const look = (asked: Ask) => client.call({ ...asked, signal, isQuiet: true }).answer;
  const progress = (job: JsonRecord) => tell?.(progressOf(job));
  const run: ToolRun = {
    signal,
    ask,
    look,
    end: (asked) => client.call({ ...asked, signal: never, isQuiet: true }).answer,
    askForJob: (asked) =>
      tell === undefined ? ask(asked) : watchJob(client.call({ ...asked, signal }), { look, progress, signal }),
    progress,
    decisionModels: () => client.resources.decisionModels(),
  };
  try {
    return toolResult(await tool.run(withTime(args, tool), run));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) deps.unexpected(error);
    return failureResult(asApiError(error));
  }
}

/** A job's state in the form of the protocol's progress messages. */
function progressOf({ completed, total, status, stage }: JsonRecord) {
  const message = typeof stage === "string" ? stage : String(status);
  const known = typeof total === "number" && total > 0 ? { total } : {};
  return { progress: Number(completed ?? 0), ...known, message };
}
