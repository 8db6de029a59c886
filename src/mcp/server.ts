// One MCP server: what the protocol's requests for tools come to. The SDK makes one for each HTTP request, or for the one
// client on stdio; it speaks the protocol, this says what is listed and what is done.

import type { Server } from "@modelcontextprotocol/server";
import { ApiError } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import type { ApiEndpoint } from "../http/endpoint.ts";
import { asApiError } from "../http/errors.ts";
import type { InnerRun } from "../http/inner-call.ts";
import { watchJob } from "./progress.ts";
import { failureResult, toolResult } from "./results.ts";
import { schemasOf } from "./schemas.ts";
import type { Ask, JsonRecord, McpCaller, McpTool, Resources, ToolRun } from "./tool.ts";
import { TOOLS } from "./tools/index.ts";
import { withTime } from "./waiting.ts";

/** Who is served. */
export interface McpClient {
  readonly caller: McpCaller;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
  /** Calls an endpoint in the caller's name. */
  call(asked: Ask & { readonly signal: AbortSignal; readonly isQuiet?: boolean }): InnerRun;
  /** Notes a call that the client may cancel by a message of its own. */
  begin(id: string | number): { readonly signal: AbortSignal; done(): void };
  /** A tool was called. */
  called(tool: string): void;
}

/** What the servers have in common. */
export interface ServerDeps {
  readonly resources: Resources;
  /** Every endpoint that is written down. */
  endpoints(): Promise<readonly ApiEndpoint[]>;
  /** An error no one expected. */
  unexpected(error: unknown): void;
}

/** The SDK; loaded when the first client comes. */
export type McpSdk = typeof import("@modelcontextprotocol/server");

const INSTRUCTIONS =
  "Tools of a Sallyport gateway for reading the web. Begin with search where the address is not known and with map where " +
  "the site is; read pages with scrape; use crawl for many pages of one site.";

/** How long clients may remember the list: models and engines come and go. */
const LIST_TTL_MS = 60_000;

/** Answers are ours and arguments are looked at by the endpoints: nothing is left for the SDK to validate. */
const NO_VALIDATION = {
  getValidator: () => (data: unknown) => ({ valid: true as const, data: data as never, errorMessage: undefined }),
};

/** A server for a client. */
export function createServer(sdk: McpSdk, deps: ServerDeps, client: McpClient): Server {
  const server = new sdk.Server(
    { name: "sallyport", title: "Sallyport", version: VERSION },
    {
      // Without `listChanged`: there is no stream on which a change could be told.
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: NO_VALIDATION,
      cacheHints: { "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "private" } },
    },
  );
  server.setRequestHandler("tools/list", async () => {
    try {
      return { tools: await listTools(deps, client) };
    } catch (error) {
      deps.unexpected(error);
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InternalError, "The tools could not be listed. Try again.");
    }
  });
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (tool === undefined)
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 200)}`);
    client.called(tool.name);
    const running = client.begin(mcpReq.id);
    const signal = AbortSignal.any([mcpReq.signal, client.signal, running.signal]);
    const token = mcpReq._meta?.progressToken;
    const tell = (progress: { progress: number; total?: number; message: string }) => {
      if (token === undefined || signal.aborted) return;
      // The client may have left meanwhile: then no one waits for it.
      mcpReq
        .notify({ method: "notifications/progress", params: { progressToken: token, ...progress } })
        .catch(() => undefined);
    };
    try {
      return await runTool(tool, params.arguments ?? {}, {
        deps,
        client,
        signal,
        tell: token === undefined ? undefined : tell,
      });
    } finally {
      running.done();
    }
  });
  return server;
}

/** The tools that work for this client, in a fixed order. */
async function listTools({ resources, endpoints }: ServerDeps, { caller }: McpClient) {
  const described = await endpoints();
  const offered = await Promise.all(
    TOOLS.map(async (tool) => ((await (tool.isOffered?.(resources, caller) ?? true)) ? [tool] : [])),
  );
  return Promise.all(
    offered.flat().map(async (tool) => {
      const { name, title, description, readOnly, openWorld } = tool;
      const all = schemasOf(tool, described);
      const { input, output } = (await tool.schemas?.(all, () => resources.decisionModels(caller))) ?? all;
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
  /** Undefined where the client does not want to know. */
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
    decisionModels: () => deps.resources.decisionModels(client.caller),
  };
  try {
    return toolResult(await tool.run(withTime(args, tool), run));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) deps.unexpected(error);
    return failureResult(asApiError(error));
  }
}

/** A job's state in the protocol's words. */
function progressOf({ completed, total, status, stage }: JsonRecord) {
  const message = typeof stage === "string" ? stage : String(status);
  const known = typeof total === "number" && total > 0 ? { total } : {};
  return { progress: Number(completed ?? 0), ...known, message };
}
