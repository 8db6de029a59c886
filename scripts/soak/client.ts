// A client that checks everything: every answer must be complete, in order, and sent by a provider; every error must be
// one that the HTTP API documents.

import type { Told } from "./upstream.ts";

export type Path = "/v1/chat/completions" | "/v1/messages" | "/v1/responses";

export interface Ask {
  path: Path;
  model: string;
  prompt: string;
  stream: boolean;
  /** Disconnects when this text has arrived. */
  leaveAt?: string;
}

/** The outcome of a request. */
export type Outcome =
  | { kind: "whole"; text: string; usage: { input: number; output: number } | undefined }
  | { kind: "broken"; text: string; code: string }
  | { kind: "left"; text: string }
  | { kind: "refused"; status: number; code: string; retryAfter: string | null }
  /** An answer that no client may receive. */
  | { kind: "wrong"; why: string };

export interface Target {
  url: string;
  key: string;
}

/** Sends a request. A broken connection is `wrong` unless `mayBreak` is set. */
export async function ask(target: Target, one: Ask): Promise<Outcome> {
  const leaving = new AbortController();
  let response: Response;
  try {
    response = await fetch(target.url + one.path, {
      method: "POST",
      headers: { authorization: `Bearer ${target.key}`, "content-type": "application/json" },
      body: JSON.stringify(bodyOf(one)),
      signal: leaving.signal,
    });
  } catch (error) {
    return { kind: "wrong", why: `no answer: ${String(error)}` };
  }
  try {
    if (response.status !== 200) return await refusal(response);
    if (one.stream) return await readStream(response, one, leaving);
    const { text, usage } = readWhole(one.path, (await response.json()) as never);
    return { kind: "whole", text, usage };
  } catch (error) {
    return { kind: "wrong", why: `unreadable: ${String(error)}` };
  }
}

/** Compares an answer with what the provider sent; returns the difference, or undefined if they are equal. */
export function judge(outcome: Outcome, told: (id: string) => Told | undefined): string | undefined {
  if (outcome.kind === "wrong") return outcome.why;
  if (outcome.kind === "refused") return undefined;
  const id = outcome.text.slice(0, 36);
  const said = told(id);
  if (outcome.text === "") return outcome.kind === "whole" ? "an empty answer" : undefined;
  if (said === undefined) return `nobody said: ${outcome.text.slice(0, 60)}`;
  if (outcome.kind === "whole") return outcome.text === said.text ? undefined : `a changed answer: ${outcome.text}`;
  return said.text.startsWith(outcome.text) ? undefined : `a changed part: ${outcome.text}`;
}

function bodyOf({ path, model, prompt, stream }: Ask): unknown {
  if (path === "/v1/responses") return { model, input: prompt, stream, store: false };
  const messages = [{ role: "user", content: prompt }];
  if (path === "/v1/messages") return { model, messages, stream, max_tokens: 4096 };
  return { model, messages, stream, ...(stream ? { stream_options: { include_usage: true } } : {}) };
}

const REFUSALS: Readonly<Record<string, number>> = {
  provider_unavailable: 502,
  provider_timeout: 504,
  provider_rate_limited: 429,
  provider_circuit_open: 503,
  invalid_request: 400,
};

async function refusal(response: Response): Promise<Outcome> {
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  const code = String(error["code"]);
  const retryAfter = response.headers.get("retry-after");
  const { status } = response;
  if (REFUSALS[code] !== status) return { kind: "wrong", why: `${status} with code ${code}` };
  for (const member of ["message", "type", "code"]) {
    if (typeof error[member] !== "string") return { kind: "wrong", why: `an error without ${member}` };
  }
  if (code === "provider_circuit_open" && retryAfter === null) return { kind: "wrong", why: "503 without Retry-After" };
  if (response.headers.get("x-request-id") === null) return { kind: "wrong", why: "an error without X-Request-ID" };
  return { kind: "refused", status, code, retryAfter };
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of three public protocols, read where they are known.
type Loose = any;

function usageOf(usage: Loose): { input: number; output: number } | undefined {
  if (usage == null) return undefined;
  return { input: usage.prompt_tokens ?? usage.input_tokens, output: usage.completion_tokens ?? usage.output_tokens };
}

function readWhole(path: Path, body: Loose) {
  const usage = usageOf(body.usage);
  if (path === "/v1/chat/completions") return { text: body.choices[0].message.content as string, usage };
  if (path === "/v1/messages") return { text: body.content[0].text as string, usage };
  const message = body.output.find((item: Loose) => item.type === "message");
  return { text: message.content[0].text as string, usage };
}

async function readStream(response: Response, one: Ask, leaving: AbortController): Promise<Outcome> {
  const decoder = new TextDecoder();
  let rest = "";
  let text = "";
  let ended = false;
  let usage: { input: number; output: number } | undefined;
  let code: string | undefined;
  const reader = response.body!.getReader();
  for (;;) {
    const { done, value: chunk } = await reader.read();
    if (done) break;
    rest += decoder.decode(chunk, { stream: true });
    for (let at = rest.indexOf("\n\n"); at >= 0; at = rest.indexOf("\n\n")) {
      const data = /^data: (.*)$/m.exec(rest.slice(0, at))?.[1];
      rest = rest.slice(at + 2);
      if (data === undefined) continue;
      if (ended || code !== undefined) {
        // A Responses stream has its own terminator after its last event.
        if (data === "[DONE]" && one.path === "/v1/responses") continue;
        return { kind: "wrong", why: `after the end: ${data.slice(0, 100)}` };
      }
      if (data === "[DONE]") {
        ended = true;
        continue;
      }
      const event = JSON.parse(data) as Loose;
      if (event.error != null) {
        code = String(event.error.code);
        if (typeof event.error.request_id !== "string")
          return { kind: "wrong", why: "a stream error without request_id" };
        continue;
      }
      text += deltaOf(event);
      const told = usageOf(event.usage ?? event.response?.usage ?? undefined);
      if (told !== undefined) usage = { input: told.input ?? usage?.input, output: told.output };
      else if (event.message?.usage) usage = usageOf(event.message.usage);
      if (event.type === "message_stop" || event.type === "response.completed") ended = true;
    }
    if (one.leaveAt !== undefined && text.includes(one.leaveAt)) {
      leaving.abort();
      return { kind: "left", text };
    }
  }
  if (code !== undefined) {
    return code === "provider_stream_interrupted" || code in REFUSALS
      ? { kind: "broken", text, code }
      : { kind: "wrong", why: `a stream error with code ${code}` };
  }
  return ended ? { kind: "whole", text, usage } : { kind: "wrong", why: "a stream without an end" };
}

function deltaOf(event: Loose): string {
  if (event.type === "response.output_text.delta") return event.delta;
  if (event.type === "content_block_delta") return event.delta.text ?? "";
  return event.choices?.[0]?.delta?.content ?? "";
}
