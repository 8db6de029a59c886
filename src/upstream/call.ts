// One HTTP call to a provider: credentials, deadlines, bounded bodies, and failures in the provider's terms. Knows nothing
// of routes and retries.

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
/** Of an error body this much is read. */
const ERROR_BYTES_MAX = 64 * 1024;

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
    ...request.headers,
    ...provider.card.headers(options.secret),
    ...options.headers,
    ...provider.extraHeaders,
  };
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new UpstreamFault("timeout", "The provider did not begin to answer in time.")),
    provider.timeoutsMs.firstByte,
  );
  const probe = setTimeout(() => void probeConnect(provider, deadline), provider.timeoutsMs.connect);
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
      // A redirect would carry the credential elsewhere.
      redirect: "manual",
    });
  } catch (error) {
    throw asFault(error, deadline.signal, options.signal);
  } finally {
    clearTimeout(timer);
    clearTimeout(probe);
  }
  // The listener stays: until the body ends the client's leaving must end the call.
  if (response.ok) return response;
  const body = await readText(response, ERROR_BYTES_MAX, options.signal).catch(() => "");
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

/** A whole answer as text, bounded. Throws `UpstreamFault` when it breaks off or is too large. */
export async function readAnswer(provider: Provider, response: Response, signal: AbortSignal): Promise<string> {
  try {
    return await readText(response, ANSWER_BYTES_MAX, signal, provider.timeoutsMs.idle);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof UpstreamFault) throw error;
    throw new UpstreamFault("unavailable", "The provider's answer broke off.", { cause: error });
  }
}

async function readText(response: Response, bytesMax: number, signal: AbortSignal, idleMs = 30_000): Promise<string> {
  const declared = Number(response.headers.get("content-length") ?? Number.NaN);
  // The length counts encoded bytes: only a plain body is bounded by it.
  if (declared <= bytesMax && response.headers.get("content-encoding") === null) {
    return await withTimeout(response.text(), idleMs, signal);
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

function withTimeout<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new UpstreamFault("timeout", "The provider stopped answering.")), ms);
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    });
  });
}

/** Reads a body with an idle deadline. */
export class BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #idleMs: number;
  #waitingSinceMs = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #idled = false;

  constructor(response: Response, idleMs: number) {
    this.#reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
    this.#idleMs = idleMs;
  }

  /** The next bytes, undefined at the end. Throws `UpstreamFault` `timeout` after the idle limit, and what the network throws. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#reader === undefined) return undefined;
    // One slow clock per body instead of a timer per read.
    this.#timer ??= setInterval(() => this.#check(), Math.max(10, Math.min(1000, Math.floor(this.#idleMs / 4))));
    this.#waitingSinceMs = performance.now();
    try {
      const { done, value } = await this.#reader.read();
      if (this.#idled) throw new UpstreamFault("timeout", "The provider stopped answering.");
      if (!done) {
        this.#waitingSinceMs = 0;
        return value;
      }
      clearInterval(this.#timer);
      return undefined;
    } catch (error) {
      clearInterval(this.#timer);
      throw error;
    }
  }

  /** The answer is complete: waits briefly for the end of the body, so that the connection can be used again. */
  async drain(): Promise<void> {
    const timer = setTimeout(() => this.cancel(), DRAIN_MS);
    try {
      for (let size = 0; size < DRAIN_BYTES_MAX; ) {
        const chunk = await this.read();
        if (chunk === undefined) return;
        size += chunk.byteLength;
      }
      this.cancel();
    } catch {
      // The answer was had; whatever broke after it is nobody's loss.
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the call: the provider sees the connection close. */
  cancel(): void {
    clearInterval(this.#timer);
    // The stream may have failed already; there is nobody left to tell.
    this.#reader?.cancel().catch(() => undefined);
  }

  #check(): void {
    if (this.#waitingSinceMs === 0 || performance.now() - this.#waitingSinceMs < this.#idleMs) return;
    this.#idled = true;
    this.cancel();
  }
}
