// The tools for the program that started this one, over its input and output. The server ends when its input ends; calls in
// progress are then cancelled without an answer.

import type { Readable, Writable } from "node:stream";
import type { CallEndpoint, InnerCaller } from "../http/inner-call.ts";
import { createServer, type McpClient, type ServerDeps } from "./server.ts";
import type { Resources } from "./tool.ts";

/** What the server needs. */
export interface StdioDeps extends ServerDeps {
  readonly resources: Resources;
  readonly call: CallEndpoint;
}

/** The streams that connect to the other program. */
export interface StdioPlace {
  readonly input: Readable;
  readonly output: Writable;
  /** Ends the server. */
  readonly signal: AbortSignal;
}

/** Serves until the input ends, the output fails or the signal aborts. */
export async function serveOnStreams(deps: StdioDeps, { input, output, signal }: StdioPlace): Promise<void> {
  const [sdk, { serveStdio, StdioServerTransport }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  const over = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    over.abort(new Error("The client has left."));
    resolve();
  };
  for (const event of ["end", "close"]) input.once(event, end);
  output.once("error", end);
  signal.addEventListener("abort", end, { once: true });
  const client = clientOf(deps, over.signal);
  const served = serveStdio(() => createServer(sdk, deps, client), {
    transport: new StdioServerTransport(input, output),
    onerror: deps.unexpected,
  });
  try {
    if (signal.aborted) end();
    await promise;
  } finally {
    await served.close();
    signal.removeEventListener("abort", end);
  }
}

function clientOf({ resources, call }: StdioDeps, signal: AbortSignal): McpClient {
  const never = new AbortController().signal;
  const from: InnerCaller = {
    requestId: "stdio",
    authorization: "",
    address: "",
    secure: true,
    isUnnamedProxy: false,
    origin: "http://localhost",
  };
  return {
    resources,
    signal,
    call: (asked) => call(from, asked),
    // On these streams, the SDK itself receives cancellations.
    begin: () => ({ signal: never, done: () => undefined }),
    called: () => undefined,
  };
}
