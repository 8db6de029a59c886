// Every kind of provider failure, by the stage at which it occurs, and the error that the client receives.

import { CUT, chatAnswer, chatChunk, HANG, type Script, sse } from "./upstream.ts";

/** The error that a client receives if there is no other route. */
export interface Told {
  status: number;
  code: string;
}

export interface Failure {
  name: string;
  /** The scripted provider's answer; `stream` is different where a failure in a stream is different. */
  whole: Script;
  stream?: Script;
  told: Told;
  /** Whether another route is tried. */
  elsewhere: boolean;
  /** The number of calls on this route; its provider allows two. */
  calls: 1 | 2;
  /** Whether the provider's breaker counts the failure. */
  counts: boolean;
}

const status =
  (code: number, body: unknown = { error: { message: "upstream words", param: "messages" } }, headers = {}): Script =>
  () =>
    Response.json(body, { status: code, headers });

const text =
  (body: string, type = "application/json"): Script =>
  () =>
    new Response(body, { headers: { "content-type": type } });

const frame = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;

const UNAVAILABLE = {
  told: { status: 502, code: "provider_unavailable" },
  elsewhere: true,
  calls: 2,
  counts: true,
} as const;
const REFUSED = { elsewhere: false, calls: 1, counts: false } as const;
const OURS = { elsewhere: true, calls: 1, counts: false } as const;

/** Failures before any content, after which another route may be tried if that can help. */
export const EARLY: readonly Failure[] = [
  { name: "400", whole: status(400), told: { status: 400, code: "invalid_request" }, ...REFUSED },
  { name: "413", whole: status(413), told: { status: 413, code: "invalid_request" }, ...REFUSED },
  { name: "422", whole: status(422), told: { status: 400, code: "invalid_request" }, ...REFUSED },
  {
    name: "400, too long for the model",
    whole: status(400, { error: { message: "x", code: "context_length_exceeded" } }),
    told: { status: 400, code: "context_length_exceeded" },
    ...REFUSED,
  },
  { name: "401", whole: status(401), told: { status: 502, code: "provider_auth_failed" }, ...OURS },
  { name: "402", whole: status(402), told: { status: 502, code: "provider_auth_failed" }, ...OURS },
  { name: "403", whole: status(403), told: { status: 502, code: "provider_auth_failed" }, ...OURS },
  { name: "404", whole: status(404), told: { status: 502, code: "provider_model_missing" }, ...OURS },
  {
    name: "408",
    whole: status(408),
    told: { status: 504, code: "provider_timeout" },
    elsewhere: true,
    calls: 1,
    counts: true,
  },
  {
    name: "429",
    whole: status(429),
    told: { status: 429, code: "provider_rate_limited" },
    elsewhere: true,
    calls: 2,
    counts: false,
  },
  {
    name: "429 that asks for an hour",
    whole: status(429, {}, { "retry-after": "3600" }),
    told: { status: 429, code: "provider_rate_limited" },
    elsewhere: true,
    calls: 1,
    counts: false,
  },
  { name: "500", whole: status(500), ...UNAVAILABLE },
  { name: "503", whole: status(503), ...UNAVAILABLE },
  { name: "529", whole: status(529), ...UNAVAILABLE },
  {
    name: "302",
    whole: () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1:1/" } }),
    ...UNAVAILABLE,
  },
  { name: "200 that is not JSON", whole: text("<html>hello</html>", "text/html"), ...UNAVAILABLE },
  { name: "200 of another type", whole: text("plain words", "text/plain"), ...UNAVAILABLE },
  { name: "200 with nothing in it", whole: text(""), ...UNAVAILABLE },
  {
    name: "200 with an error in it",
    whole: () => Response.json({ error: { message: "overloaded" } }),
    stream: () => sse([`data: ${JSON.stringify({ error: { message: "overloaded" } })}\n\n`]),
    ...UNAVAILABLE,
  },
  {
    name: "a rate limit told with 200",
    whole: () => Response.json({ error: { message: "slow down", code: 429 } }),
    stream: () => sse([chatChunk({ role: "assistant" }), frame({ error: { message: "slow down", code: 429 } })]),
    told: { status: 429, code: "provider_rate_limited" },
    elsewhere: true,
    calls: 2,
    counts: false,
  },
  {
    name: "an error after the opening",
    whole: () => Response.json({ error: { message: "overloaded" } }),
    stream: () =>
      sse([
        chatChunk({ role: "assistant", content: "" }),
        `data: ${JSON.stringify({ error: { message: "overloaded" } })}\n\n`,
      ]),
    ...UNAVAILABLE,
  },
  {
    name: "cut after the headers",
    whole: () => sse([CUT]),
    ...UNAVAILABLE,
  },
  {
    name: "cut within the first event",
    whole: () => sse(['{"id":"x","choices":[{"mess', CUT]),
    stream: () => sse(['data: {"id":"x","choices":[{"del', CUT]),
    ...UNAVAILABLE,
  },
  {
    name: "ended within the first event",
    whole: text('{"id":"x","choices":[{"mess'),
    stream: () => sse(['data: {"id":"x","choices":[{"del']),
    ...UNAVAILABLE,
  },
  {
    name: "silence after the headers",
    whole: () => sse([HANG]),
    told: { status: 504, code: "provider_timeout" },
    elsewhere: true,
    calls: 1,
    counts: true,
  },
  {
    name: "no headers",
    whole: () => new Promise<Response>(() => {}),
    told: { status: 504, code: "provider_timeout" },
    elsewhere: true,
    calls: 1,
    counts: true,
  },
];

const BEGIN = [
  chatChunk({ role: "assistant", content: "" }),
  chatChunk({ content: "partial " }),
  chatChunk({ content: "words" }),
];
const END = [chatChunk({}, { finish: "stop" })];

/**
 * A stream that has begun, and how it continues after the client has received its content. No other route may be tried.
 */
export interface LateFailure {
  name: string;
  rest: Parameters<typeof sse>[0];
  /** What follows after the client has received the finish. */
  atLast?: Parameters<typeof sse>[0];
  /** The answer is complete in spite of the failure. */
  whole: boolean;
  /** The provider has reported the usage. */
  reported?: { input: number; output: number };
}

export const LATE: readonly LateFailure[] = [
  { name: "cut after content", rest: [CUT], whole: false },
  { name: "ended after content", rest: [], whole: false },
  { name: "cut within an event", rest: ['data: {"id":"x","cho', CUT], whole: false },
  { name: "ended within an event", rest: ['data: {"id":"x","cho'], whole: false },
  { name: "an event that is not JSON", rest: ["data: oops\n\n", HANG], whole: false },
  { name: "an error after content", rest: ['data: {"error":{"message":"down: up-secret"}}\n\n', HANG], whole: false },
  { name: "silence after content", rest: [HANG], whole: false },
  { name: "finish without [DONE]", rest: END, whole: true },
  { name: "finish, then cut", rest: END, atLast: [CUT], whole: true },
  { name: "finish, then silence", rest: [...END, HANG], whole: true },
  { name: "no usage", rest: [...END, "data: [DONE]\n\n"], whole: true },
  {
    name: "usage after the finish",
    rest: [
      ...END,
      chatChunk(null, { usage: { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 } }),
      "data: [DONE]\n\n",
    ],
    whole: true,
    reported: { input: 11, output: 4 },
  },
];

/** The part of the answer that the client has received. */
export interface Seen {
  content: Promise<unknown>;
  finish: Promise<unknown>;
}

/**
 * A failure late in a stream. The rest waits until the client has received the first part, which the break could
 * otherwise discard.
 */
export const begun = ({ rest, atLast }: LateFailure, seen: Seen): Response =>
  sse([...BEGIN, seen.content, ...rest, ...(atLast === undefined ? [] : [seen.finish, ...atLast])]);

/** The answer of a provider that does not fail. */
export const well: Script = ({ json }) =>
  json?.["stream"] === true
    ? sse([
        chatChunk({ role: "assistant", content: "" }),
        chatChunk({ content: "all is well" }),
        chatChunk({}, { finish: "stop" }),
        chatChunk(null, { usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } }),
        "data: [DONE]\n\n",
      ])
    : chatAnswer({ content: "all is well" });
