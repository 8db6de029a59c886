// A recording server that answers as the clouds do, with the vendors' own implementations of signatures and event streams.

import { Sha256 } from "@aws-crypto/sha256-js";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { SignatureV4 } from "@smithy/signature-v4";

/** A request as it arrived. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** Headers of the connection, of the clients' own statistics, and those whose values differ each time. */
const BY_CHANCE =
  /^(?:accept(?:-.*)?|connection|content-length|host|user-agent|x-stainless-.*|x-goog-api-client|traceparent|x-amz-date|x-amz-content-sha256|x-amz-security-token|authorization|anthropic-version)$/;

/** The headers that two clients must send alike. */
export function withoutChance(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !BY_CHANCE.test(name)));
}

/** Keys for which signatures are checked. */
export const AWS_KEYS = {
  access_key_id: "AKIDEXAMPLE",
  secret_access_key: "secret-of-the-account",
  session_token: "session-of-the-role",
};

/** The server. Its path `/token` gives access tokens, `/refused` repeats what it was sent, and every list is empty. */
export function startCloudServer(accessToken = "cloud-token") {
  const seen: Seen[] = [];
  let script: (one: Seen) => Response = reply;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (pathname === "/token") return Response.json({ access_token: accessToken, expires_in: 3600 });
      if (pathname === "/refused") return Response.json({ error: await request.text() }, { status: 401 });
      const text = await request.text();
      const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
      const one = { method: request.method, path: pathname + search, headers: request.headers, text, body };
      if (request.method === "GET") return Response.json({ data: [] });
      seen.push(one);
      return script(one);
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    seen,
    /** Replaces how it answers; without an argument, as usual again. */
    answer(next: (one: Seen) => Response = reply) {
      script = next;
    },
    stop: () => server.stop(true),
  };
}

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content: [{ type: "text", text: "Hello." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
};
/** The events of a streamed answer. */
export const EVENTS = [
  { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];
const COMPLETION = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};
const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "m",
  output: [
    {
      type: "message",
      id: "m1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hello.", annotations: [] }],
    },
  ],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
};
const GENERATED = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hello." }] }, finishReason: "STOP", index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
};

/** The answer of the right kind for a path. */
function reply({ path, body }: Seen): Response {
  const sse = (events: readonly { type: string }[]) =>
    new Response(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  if (path.endsWith("/invoke-with-response-stream")) return eventStream(EVENTS.map(chunk));
  if (path.includes(":streamRawPredict") || (path.includes("/messages") && body["stream"] === true)) return sse(EVENTS);
  if (/\/invoke$|:rawPredict|\/messages/.test(path)) return Response.json(MESSAGE);
  if (path.includes("generateContent")) return Response.json(GENERATED);
  return Response.json(path.endsWith("/responses") ? RESPONSE : COMPLETION);
}

const codec = new EventStreamCodec(
  (bytes) => new TextDecoder().decode(typeof bytes === "string" ? Buffer.from(bytes) : bytes),
  (text) => new TextEncoder().encode(text),
);

/** A frame of an event stream, by the vendor's own implementation. */
export function frame(headers: Record<string, string>, payload: unknown): Uint8Array {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: "string" as const, value }]);
  return codec.encode({ headers: Object.fromEntries(typed), body: Buffer.from(JSON.stringify(payload)) });
}

/** A frame with an event of the model. */
export function chunk(event: unknown): Uint8Array {
  const headers = { ":event-type": "chunk", ":content-type": "application/json", ":message-type": "event" };
  return frame(headers, { bytes: Buffer.from(JSON.stringify(event)).toString("base64"), p: "abcd" });
}

/** An answer of frames, cut off after `end` bytes. */
export function eventStream(frames: readonly Uint8Array[], end = Number.POSITIVE_INFINITY): Response {
  const bytes = Buffer.concat(frames).subarray(0, end);
  // Frames arrive in pieces of any size.
  const pieces = Array.from({ length: Math.ceil(bytes.byteLength / 77) }, (_, at) =>
    bytes.subarray(at * 77, at * 77 + 77),
  );
  const body = new ReadableStream({
    async start(controller) {
      for (const piece of pieces) {
        controller.enqueue(piece);
        await Bun.sleep(0);
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "application/vnd.amazon.eventstream" } });
}

/** Whether the vendor's own implementation makes the same signature of what arrived. */
export async function isSigned({ method, path, headers, text }: Seen, service: string): Promise<boolean> {
  const said = headers.get("authorization") ?? "";
  const names = /SignedHeaders=([^,]+)/.exec(said)?.[1]?.split(";") ?? [];
  const time = headers.get("x-amz-date") ?? "";
  const signer = new SignatureV4({
    service,
    region: "us-west-2",
    sha256: Sha256,
    credentials: {
      accessKeyId: AWS_KEYS.access_key_id,
      secretAccessKey: AWS_KEYS.secret_access_key,
      sessionToken: AWS_KEYS.session_token,
    },
  });
  const { pathname, hostname } = new URL(path, `http://${headers.get("host")}`);
  const signed = await signer.sign(
    {
      method,
      protocol: "http:",
      hostname,
      path: pathname,
      headers: Object.fromEntries(names.map((name) => [name, headers.get(name) ?? ""])),
      body: text,
    },
    { signingDate: new Date(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z")) },
  );
  return signed.headers["authorization"] === said;
}
