// A connection of OpenAI's client for tests, and what an upstream streams.

import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import type { TestApp } from "../../../support/app.ts";
import { chatChunk, sse } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;

/** A whole answer of an upstream of the Chat Completions API. */
export function chatStream(text: string): Response {
  return sse([
    chatChunk({ role: "assistant", content: text }),
    chatChunk({}, { finish: "stop" }),
    chatChunk(null, { usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }),
    "data: [DONE]\n\n",
  ]);
}

const ENDS = new Set(["response.completed", "response.failed", "response.incomplete", "error"]);

/** A connection of OpenAI's client. */
export function connect(own: Pick<TestApp, "key" | "url">) {
  const client = new OpenAI({ apiKey: own.key, baseURL: `${own.url}/v1` });
  const socket = new ResponsesWS(client);
  const events: Json[] = [];
  const closed = Promise.withResolvers<number>();
  const waiting: { done: (event: Json) => boolean; resolve: (event: Json) => void }[] = [];
  // Errors are events too.
  socket.on("error", () => undefined);
  socket.on("close", (code: number) => closed.resolve(code));
  socket.on("event", (event) => {
    const got = event as unknown as Json;
    events.push(got);
    for (const one of [...waiting]) {
      if (!one.done(got)) continue;
      waiting.splice(waiting.indexOf(one), 1);
      one.resolve(got);
    }
  });
  return {
    events,
    closed: closed.promise,
    close: () => socket.close(),
    send: (event: Json) => socket.send(event as never),
    sendRaw: (data: string | Uint8Array) => socket.sendRaw(data as never),
    /** The next event that `done` accepts. */
    when: (done: (event: Json) => boolean) => new Promise<Json>((resolve) => waiting.push({ done, resolve })),
    /** Sends a request, and returns the event that ends it. */
    ask(body: Json): Promise<Json> {
      const end = this.when((event) => ENDS.has(String(event["type"])) && event["stream_id"] === body["stream_id"]);
      this.send({ type: "response.create", ...body });
      return end;
    },
  };
}
