// Makes one HTTP call to a provider, with its credential, deadlines, limited bodies and typed errors. It knows nothing about
// routes and retries.

import type { AtOnce } from "../base/at-once.ts";
import { lazily } from "../base/lazily.ts";
import type { BodyText } from "../base/long-json.ts";
import { longStep } from "../base/long-steps.ts";
import { type Stop, type Stoppable, type StopSignal, stopWith } from "../base/stop-signal.ts";
import type { CallListener, StreamedBody, WireBody, WireCall, WireClient } from "./connection/client.ts";
import { OwnAnswer } from "./connection/own-answer.ts";
import type { UpstreamRequest } from "./dialect.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";
import { readError, type UpstreamAnswer } from "./read-answer.ts";
import { type CallOptions, faultOf, type SentCall, unanswered } from "./sent-call.ts";

/** Larger texts are joined, encoded and sent in three turns of the event loop. */
const STEP_CHARS_MIN = 512 * 1024;

/**
 * Sends the request and resolves with the answer once its headers report success. Otherwise throws `UpstreamFault` or, if
 * `signal` aborted, its reason.
 */
export function callProvider(
  provider: Provider,
  request: UpstreamRequest<BodyText>,
  options: CallOptions,
): Promise<UpstreamAnswer> {
  const headers = headersOf(provider, request, options);
  const encoded = sentBody(request.body);
  // Nearly all bodies are short, and then nothing is waited for before the call.
  return encoded instanceof Promise
    ? encoded.then((body) => send({ provider, request, body, headers, options }))
    : send({ provider, request, body: encoded, headers, options });
}

function send(sent: SentCall): Promise<UpstreamAnswer> {
  const { client } = sent.provider;
  return client === undefined ? callByPlatform(sent) : callByClient(client, sent);
}

async function callByPlatform(sent: SentCall): Promise<UpstreamAnswer> {
  const response = await byFetch()(sent);
  return response.ok ? response : await refused(sent.provider, response);
}

/** Throws the fault of an answer that is no success. */
async function refused(provider: Provider, response: UpstreamAnswer): Promise<never> {
  const refusal = await readError(response);
  if (response.status < 400)
    throw new UpstreamFault("unavailable", `The provider redirected the call (${response.status}).`, {
      status: response.status,
    });
  throw provider.dialect.fault(response.status, refusal, response.headers);
}

/** The body as it is sent. */
function sentBody(text: BodyText): AtOnce<WireBody> {
  if (typeof text !== "string") return text.parts;
  return text.length < STEP_CHARS_MIN ? text : encodedInSteps(text);
}

/** The bytes of a long text. The event loop gets a turn after each step. */
async function encodedInSteps(text: string): Promise<Uint8Array<ArrayBuffer>> {
  // This joins the parts of the text.
  text.endsWith("}");
  await longStep();
  const bytes = Buffer.from(text);
  await longStep();
  return bytes;
}

/** Few providers need it, and no start does. */
const byFetch = lazily(() => {
  const { callByFetch }: typeof import("./call-by-fetch.ts") = require("./call-by-fetch.ts");
  return callByFetch;
});

/** Whether nothing is to be waited for before a call, so that `hearCall` may be used: neither a credential nor a long body. */
export function beginsAtOnce({ client }: Provider, { body }: UpstreamRequest<BodyText>): boolean {
  return client?.begin !== undefined && typeof body === "string" && body.length < STEP_CHARS_MIN;
}

/**
 * Begins a call for those who want no promise. What the listener is told is raw: `checkedAnswer` and `callFailure` make of it what
 * `callProvider` does. Throws if `beginsAtOnce` is not true.
 */
function beginCall(
  { provider, request, listener }: { provider: Provider; request: UpstreamRequest<BodyText>; listener: CallListener },
  options: CallOptions,
): Stoppable {
  const { client } = provider;
  const { body } = request;
  if (client?.begin === undefined || typeof body !== "string") throw new Error("The call cannot begin at once.");
  const headers = headersOf(provider, request, options);
  return client.begin(wireCall({ provider, request, body, headers, options }), listener);
}

/** Begins a call that ends with its signal. A failure to begin is told too, so that this never throws. The listener may be told at once. */
export function hearCall(
  call: { provider: Provider; request: UpstreamRequest<BodyText>; listener: CallListener },
  options: CallOptions & { readonly signal: Stop },
): void {
  const { signal } = options;
  try {
    if (signal.aborted) throw signal.reason;
    // The call must be aborted if the client leaves, until the body ends.
    signal.stops(beginCall(call, options));
  } catch (error) {
    call.listener.refused(error);
  }
}

/** An answer whose head has arrived; a promise that rejects if the provider refused the call. */
export function checkedAnswer(provider: Provider, answer: OwnAnswer): AtOnce<OwnAnswer> {
  return answer.ok ? answer : refused(provider, answer);
}

/** The error of a call without an answer. */
export function callFailure(signal: StopSignal, error: unknown): unknown {
  return signal.aborted ? signal.reason : faultOf(error);
}

async function callByClient(client: WireClient, sent: SentCall): Promise<OwnAnswer> {
  const { provider, options } = sent;
  const { signal } = options;
  if (signal.aborted) throw signal.reason;
  let answer: OwnAnswer;
  try {
    const call = client.call(wireCall(sent));
    // The call must be aborted if the client leaves, until the body ends.
    stopWith(signal, call);
    answer = new OwnAnswer(await call.answer);
  } catch (error) {
    throw callFailure(signal, error);
  }
  return checkedAnswer(provider, answer);
}

function wireCall({ provider, request, body, headers, options: { upload } }: SentCall): WireCall {
  return {
    method: "POST",
    url: provider.baseUrl + request.path,
    headers,
    keepsHeaders: plain.get(provider)?.all === headers,
    body: upload === undefined ? body : undefined,
    upload,
    connectMs: provider.timeoutsMs.connect,
    firstByteMs: provider.timeoutsMs.firstByte,
    late: unanswered,
  };
}

/** The headers of calls that add none of their own, as nearly all are, and what they were made of. */
interface PlainHeaders {
  readonly own: Readonly<Record<string, string>>;
  readonly all: Readonly<Record<string, string>>;
}

const plain = new WeakMap<Provider, PlainHeaders>();

function headersOf(
  provider: Provider,
  request: UpstreamRequest<BodyText>,
  { upload, secret, headers }: CallOptions,
): Readonly<Record<string, string>> {
  // The protocol version on the provider's card is a default, and a client's own version takes precedence.
  const own = provider.card.headers(secret);
  const { extraHeaders } = provider;
  if (upload !== undefined || !isEmpty(request.headers) || !isEmpty(headers)) {
    const first = upload === undefined ? JSON_BODY : uploadHeaders(upload);
    return { ...first, ...own, ...request.headers, ...headers, ...extraHeaders };
  }
  const kept = plain.get(provider);
  if (kept !== undefined && (kept.own === own || isSame(kept.own, own))) return kept.all;
  const all = { ...JSON_BODY, ...own, ...extraHeaders };
  plain.set(provider, { own, all });
  return all;
}

const JSON_BODY = { "content-type": "application/json" };

function isEmpty(headers: Readonly<Record<string, string>> | undefined): boolean {
  for (const _ in headers) return false;
  return true;
}

function isSame(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  let count = 0;
  for (const name in one) {
    if (one[name] !== other[name]) return false;
    count++;
  }
  for (const _ in other) count--;
  return count === 0;
}

function uploadHeaders({ type, length }: StreamedBody): Record<string, string> {
  return { "content-type": type, ...(length === undefined ? {} : { "content-length": String(length) }) };
}
