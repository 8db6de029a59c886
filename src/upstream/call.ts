// One HTTP call to a provider: credentials, deadlines, bounded bodies, and failures in the provider's terms. Knows nothing
// of routes and retries.

import { setImmediate as nextTurn } from "node:timers/promises";
import { type Limit, limit, lone } from "../base/limit.ts";
import type { UpstreamRequest } from "./dialect.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";

export interface CallOptions {
  /** Ends the call: the client went, or the deadline of the whole request passed. */
  signal: AbortSignal;
  /** The credential to use. */
  secret: string;
  /** Further headers, as `traceparent`. */
  headers?: Readonly<Record<string, string>>;
}

/** Largest whole answer that is read; an image answer in base64 is far below. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** How long and how much is read past an answer's end. */
const DRAIN_MS = 1000;
const DRAIN_BYTES_MAX = 64 * 1024;
/** Of an error body this much is read, and waited for. */
const ERROR_BYTES_MAX = 64 * 1024;
const ERROR_IDLE_MS = 30_000;
/** Putting together what was changed of a larger text, and encoding it, are two turns of the event loop. */
const STEP_CHARS_MIN = 512 * 1024;
/** Bodies up to this size are read in one go, within one idle limit in all. */
const SMALL_BYTES = 1024 * 1024;

/**
 * What ends the call that an answer belongs to, where nothing else can: a body that is being read is no one's to
 * cancel.
 */
const calls = new WeakMap<Response, AbortController>();

/**
 * Sends the request and resolves with the answer once its headers say success. Throws `UpstreamFault` for everything else;
 * when `signal` aborted, with that signal's reason.
 */
export async function callProvider(
  provider: Provider,
  request: UpstreamRequest,
  options: CallOptions,
): Promise<Response> {
  const headers = {
    "content-type": "application/json",
    // The card's protocol version is a default: a client that named one is asked to be understood by it.
    ...provider.card.headers(options.secret),
    ...request.headers,
    ...options.headers,
    ...provider.extraHeaders,
  };
  // To look at its end the text has to be put together.
  if (request.body.length >= STEP_CHARS_MIN && request.body.endsWith("}")) await nextTurn();
  const deadline = new AbortController();
  const { firstByte, connect } = provider.timeoutsMs;
  const patience = limit(firstByte, () =>
    deadline.abort(new UpstreamFault("timeout", "The provider did not begin to answer in time.")),
  );
  const probe = limit(connect, () => void probeConnect(provider, deadline));
  const onAbort = () => deadline.abort(options.signal.reason);
  if (options.signal.aborted) onAbort();
  else options.signal.addEventListener("abort", onAbort, { once: true });
  let response: Response;
  try {
    response = await provider.transport(provider.baseUrl + request.path, {
      method: "POST",
      headers,
      body: request.body,
      signal: deadline.signal,
      // Bun would end a call that is silent for five minutes; how long one may be silent is the operator's to say.
      timeout: false,
      // A redirect would carry the credential elsewhere.
      redirect: "manual",
    });
  } catch (error) {
    throw asFault(error, deadline.signal, options.signal);
  } finally {
    patience.cancel();
    probe.cancel();
  }
  calls.set(response, deadline);
  // The listener stays: until the body ends the client's leaving must end the call.
  if (response.ok) return response;
  const body = await readText(response, { bytesMax: ERROR_BYTES_MAX, idleMs: ERROR_IDLE_MS }).catch(() => "");
  options.signal.removeEventListener("abort", onAbort);
  if (response.status < 400)
    throw new UpstreamFault("unavailable", `The provider redirected the call (${response.status}).`, {
      status: response.status,
    });
  throw provider.dialect.fault(response.status, body, response.headers);
}

/**
 * `fetch` does not tell whether it still waits for the connection. When no answer came within the connect timeout, a
 * second connection finds out whether the host can be reached at all.
 */
async function probeConnect(provider: Provider, deadline: AbortController): Promise<void> {
  if (provider.embedded) return;
  const url = new URL(provider.baseUrl);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const unreachable = () =>
    deadline.abort(new UpstreamFault("timeout", "The provider could not be reached in time.", { connecting: true }));
  const timer = setTimeout(unreachable, provider.timeoutsMs.connect);
  try {
    const socket = await Bun.connect({
      hostname: url.hostname.replace(/^\[|\]$/g, ""),
      port,
      socket: { data() {}, error() {} },
    });
    socket.terminate();
  } catch {
    // Refused or unresolved: the call itself fails with the same, and says it better.
  } finally {
    clearTimeout(timer);
  }
}

function asFault(error: unknown, deadline: AbortSignal, client: AbortSignal): unknown {
  if (client.aborted) return client.reason;
  if (deadline.aborted) return deadline.reason;
  if (error instanceof UpstreamFault) return error;
  return new UpstreamFault("unavailable", "The provider could not be reached.", { cause: error });
}

/** A whole answer as text, bounded. Throws `UpstreamFault` when it breaks off, stalls or is too large; the call is over then. */
export async function readAnswer(provider: Provider, response: Response, signal: AbortSignal): Promise<string> {
  return readBounded(response, { bytesMax: ANSWER_BYTES_MAX, idleMs: provider.timeoutsMs.idle, signal });
}

/** The same for other bounds than an answer's. */
export async function readBounded(
  response: Response,
  { signal, ...limits }: { bytesMax: number; idleMs: number; signal: AbortSignal },
): Promise<string> {
  try {
    return await readText(response, limits);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof UpstreamFault) throw error;
    throw new UpstreamFault("unavailable", "The provider's answer was cut off.", { cause: error });
  }
}

async function readText(
  response: Response,
  { bytesMax, idleMs }: { bytesMax: number; idleMs: number },
): Promise<string> {
  const declared = Number(response.headers.get("content-length") ?? Number.NaN);
  const call = calls.get(response);
  // The length counts encoded bytes: only a plain body is bounded by it.
  if (call !== undefined && declared <= SMALL_BYTES && response.headers.get("content-encoding") === null) {
    const patience = limit(idleMs, () => call.abort(new UpstreamFault("timeout", "The provider stopped answering.")));
    try {
      return await response.text();
    } finally {
      patience.cancel();
    }
  }
  const body = new BodyReader(response, idleMs);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const chunk = await body.read();
    if (chunk === undefined) break;
    size += chunk.byteLength;
    if (size > bytesMax) {
      body.cancel();
      throw new UpstreamFault("unavailable", "The provider's answer is too large.");
    }
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks, size));
}

/** Reads a body with an idle deadline. */
export class BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #idleMs: number;
  #waitingSinceMs = 0;
  #limit: Limit | undefined;
  #idled = false;
  #over = false;

  constructor(response: Response, idleMs: number) {
    this.#reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
    this.#idleMs = idleMs;
  }

  /** The next bytes, undefined at the end. Throws `UpstreamFault` `timeout` after the idle limit, and what the network throws. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#reader === undefined) return undefined;
    this.#waitingSinceMs = performance.now();
    // One limit per body, set again when it finds that bytes have come meanwhile.
    if (this.#limit === undefined && !this.#over) this.#limit = limit(this.#idleMs, () => this.#watch());
    try {
      const { done, value } = await this.#reader.read();
      if (this.#idled) throw new UpstreamFault("timeout", "The provider stopped answering.");
      if (!done) {
        this.#waitingSinceMs = 0;
        return value;
      }
      this.#stop();
      return undefined;
    } catch (error) {
      this.#stop();
      throw error;
    }
  }

  /** The answer is complete: waits briefly for the end of the body, so that the connection can be used again. */
  async drain(): Promise<void> {
    const patience = limit(DRAIN_MS, () => this.cancel());
    try {
      for (let size = 0; size < DRAIN_BYTES_MAX; ) {
        const chunk = await this.read();
        if (chunk === undefined) return;
        size += chunk.byteLength;
      }
      this.cancel();
    } catch {
      // The answer was had; whatever broke after it is no one's loss.
    } finally {
      patience.cancel();
    }
  }

  /** Ends the call: the provider sees the connection close. */
  cancel(): void {
    this.#stop();
    // The stream may have failed already; there is no one left to tell.
    this.#reader?.cancel().catch(() => undefined);
  }

  #watch(): void {
    // No one waits for bytes: the client is slow, not the provider.
    const waitedMs = this.#waitingSinceMs === 0 ? 0 : performance.now() - this.#waitingSinceMs;
    if (waitedMs < this.#idleMs) {
      this.#limit = lone(this.#idleMs - waitedMs, () => this.#watch());
      return;
    }
    this.#idled = true;
    this.cancel();
  }

  #stop(): void {
    this.#over = true;
    this.#limit?.cancel();
  }
}
