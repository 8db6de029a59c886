// A scripted provider on loopback that records what it received.

export interface Received {
  method: string;
  path: string;
  headers: Headers;
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  json: Record<string, unknown> | undefined;
  /** Resolves if the caller disconnects before the answer is complete. */
  aborted: Promise<void>;
}

/** The provider's reaction to one request. */
export type Script = (received: Received) => Response | Promise<Response>;

export interface FakeUpstream {
  /** The address with its version segment, for `base_url`. */
  baseUrl: string;
  received: Received[];
  /** Replaces the script. */
  answer(script: Script): void;
  /** Resolves with the next request. */
  next(): Promise<Received>;
  stop(): Promise<void>;
}

/** Starts a provider. GET …/models returns `models`. */
export function startUpstream(
  script: Script = () => new Response("no script", { status: 500 }),
  models: string[] = [],
): FakeUpstream {
  let current = script;
  let waiting: ((received: Received) => void)[] = [];
  const received: Received[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    // A stream that is cut on purpose is not a failure of the test.
    error: () => new Response(null, { status: 500 }),
    async fetch(request) {
      const { pathname } = new URL(request.url);
      // What a proxy tells of its models; this is none.
      if (request.method === "GET" && pathname.endsWith("/model/info")) return new Response(null, { status: 404 });
      if (request.method === "GET" && pathname.endsWith("/models")) {
        return Response.json({ object: "list", data: models.map((id) => ({ id, object: "model" })) });
      }
      const text = await request.text();
      const one: Received = {
        method: request.method,
        path: pathname,
        headers: request.headers,
        text,
        json: parsed(text),
        aborted: new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(), { once: true })),
      };
      received.push(one);
      for (const resolve of waiting) resolve(one);
      waiting = [];
      return current(one);
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    received,
    answer(next) {
      current = next;
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
    async stop() {
      await server.stop(true);
      // The file of a test stays in memory, and what it has received would slow down every garbage collection after it.
      received.length = 0;
      waiting = [];
      current = script;
    },
  };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** A stream that sends the pieces in turn: text, bytes, a promise to wait for, or "hang" / "cut". */
export function sse(pieces: readonly (string | Uint8Array | Promise<unknown> | typeof HANG | typeof CUT)[]): Response {
  const encoder = new TextEncoder();
  let at = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const piece = pieces[at++];
          if (piece === undefined) return controller.close();
          if (piece === HANG) return new Promise<void>(() => {});
          // The server would print an Error, and the message of a failing test would be hard to find.
          if (piece === CUT) return controller.error(undefined);
          if (piece instanceof Promise) await piece;
          else return controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
        }
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Stops sending, but keeps the connection open. */
export const HANG = Symbol("hang");
/** Breaks the connection. */
export const CUT = Symbol("cut");

/** One OpenAI chat chunk as an SSE frame. */
export function chatChunk(delta: unknown, options: { finish?: string; usage?: unknown; index?: number } = {}): string {
  const choices = delta === null ? [] : [{ index: options.index ?? 0, delta, finish_reason: options.finish ?? null }];
  const chunk = { id: "chatcmpl-up", object: "chat.completion.chunk", created: 1, model: "up-model", choices };
  return `data: ${JSON.stringify({ ...chunk, ...(options.usage === undefined ? {} : { usage: options.usage }) })}\n\n`;
}

/** A complete OpenAI chat answer. */
export function chatAnswer(
  message: Record<string, unknown>,
  options: { finish?: string; extra?: Record<string, unknown> } = {},
): Response {
  return Response.json({
    id: "chatcmpl-up",
    object: "chat.completion",
    created: 1,
    model: "up-model",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: options.finish ?? "stop" }],
    usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    ...options.extra,
  });
}

/** The parsed data of every SSE frame in a response; `[DONE]` stays a string. */
export async function framesOf(response: Response): Promise<unknown[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .flatMap((frame) => frame.split("\n").filter((line) => line.startsWith("data: ")))
    .map((line) => (line === "data: [DONE]" ? "[DONE]" : (JSON.parse(line.slice(6)) as unknown)));
}
