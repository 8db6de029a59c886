// The official clients of the protocol, one for each of its eras, connected to a gateway.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { JsonRecord } from "../../src/mcp/tool.ts";
import type { TestApp } from "../support/app.ts";

const INFO = { name: "test", version: "1.0.0" };

/** The revision of the protocol without sessions. */
export const MODERN = "2026-07-28";

/** The methods of a client that the tests use. All clients have them. */
export interface AnyClient {
  listTools(): Promise<{ tools: ListedTool[] }>;
  /** With `onprogress`, progress is requested. */
  call(name: string, args?: JsonRecord, options?: CallOptions): Promise<CallResult>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  onprogress?(progress: { progress: number; total?: number | undefined; message?: string | undefined }): void;
}

export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: JsonRecord;
  readonly outputSchema?: JsonRecord | undefined;
  readonly annotations?: JsonRecord | undefined;
}

export interface CallResult {
  readonly content: { type: string; text?: string; data?: string; mimeType?: string }[];
  readonly structuredContent?: JsonRecord;
  readonly isError?: boolean;
}

/** Where a client finds the gateway. */
export type Place = Pick<TestApp, "url" | "key">;

type ClientTransport = Parameters<Client["connect"]>[0];
type OlderClientTransport = Parameters<OlderClient["connect"]>[0];

const headersOf = ({ key }: Place) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });
const address = ({ url }: Place) => new URL(`${url}/mcp`);

/** The current client with a transport. `mode` says which era it uses. */
export async function currentClient(transport: ClientTransport, mode: "auto" | "legacy" | { pin: string }) {
  const client = new Client(INFO, { versionNegotiation: { mode } });
  await client.connect(transport);
  return wrap(client as unknown as Wrapped);
}

/** The client of the previous SDK. */
export async function olderClient(transport: OlderClientTransport) {
  const client = new OlderClient(INFO);
  await client.connect(transport);
  const { callTool, ...rest } = {
    listTools: () => client.listTools(),
    callTool: (params: CallParams, options?: object) => client.callTool(params, undefined, options),
    close: () => client.close(),
  };
  return wrap({ callTool, ...rest } as unknown as Wrapped);
}

interface CallParams {
  readonly name: string;
  readonly arguments: JsonRecord;
}

interface Wrapped {
  listTools(): Promise<{ tools: ListedTool[] }>;
  callTool(params: CallParams, options?: object): Promise<CallResult>;
  close(): Promise<void>;
}

function wrap(client: Wrapped): AnyClient {
  return {
    listTools: () => client.listTools(),
    call: (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: args }, { timeout: 120_000, ...options }),
    close: () => client.close(),
  };
}

/** Every client, by a description. */
export const CLIENTS: Readonly<Record<string, (place: Place) => Promise<AnyClient>>> = {
  "the current client": (place) => currentClient(httpTransport(place), "auto"),
  "the current client, held to the revision without sessions": (place) =>
    currentClient(httpTransport(place), { pin: MODERN }),
  "the current client as one of 2025": (place) => currentClient(httpTransport(place), "legacy"),
  "the client of the SDK before": (place) =>
    olderClient(new OlderTransport(address(place), headersOf(place)) as OlderClientTransport),
};

function httpTransport(place: Place): ClientTransport {
  return new StreamableHTTPClientTransport(address(place), headersOf(place));
}

/** Connects a client, passes it to `work`, and closes it. */
export async function withClient<T>(
  place: Place,
  work: (client: AnyClient) => Promise<T>,
  connect = CLIENTS["the current client"] as (place: Place) => Promise<AnyClient>,
): Promise<T> {
  const client = await connect(place);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** The error within a result. */
export function errorIn({ content, isError }: CallResult): JsonRecord {
  if (isError !== true) throw new Error(`No error: ${JSON.stringify(content).slice(0, 300)}`);
  const { error, ...rest } = JSON.parse(content[0]?.text ?? "") as { error: JsonRecord };
  return { ...error, ...rest };
}

/** The `_meta` of a request of the revision without sessions. */
const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A request of the revision without sessions, as an argument of `fetch`. */
export function modernRequest(
  place: Place,
  method: string,
  params: JsonRecord = {},
  headers: Record<string, string> = {},
) {
  const name = params["name"];
  return {
    method: "POST",
    headers: {
      authorization: `Bearer ${place.key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": MODERN,
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } }),
  };
}

/** A request of a 2025 revision, as an argument of `fetch`. */
export function olderRequest(place: Place, body: unknown, headers: Record<string, string> = {}) {
  return {
    method: "POST",
    headers: {
      authorization: `Bearer ${place.key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(body),
  };
}

/** The messages in an answer, which may be a stream. */
export async function messagesOf(response: Response): Promise<JsonRecord[]> {
  const text = await response.text();
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
    return text === "" ? [] : [JSON.parse(text) as JsonRecord].flat();
  }
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: ") && line.length > 6)
    .map((line) => JSON.parse(line.slice(6)) as JsonRecord);
}

/** A page that is never answered. */
export function hangingPage() {
  let waiting: ((visit: { readonly gone: Promise<void> }) => void)[] = [];
  return {
    page(request: Request): Promise<Response> {
      const { promise: gone, resolve } = Promise.withResolvers<void>();
      request.signal.addEventListener("abort", () => resolve(), { once: true });
      for (const tell of waiting) tell({ gone });
      waiting = [];
      return new Promise<Response>(() => undefined);
    },
    /** Resolves at the next request for the page. `gone` resolves when the client has left. */
    visited: () => new Promise<{ readonly gone: Promise<void> }>((resolve) => waiting.push(resolve)),
  };
}
