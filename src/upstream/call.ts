// One HTTP call to a provider: credentials, deadlines, bounded bodies, and typed failures. Knows nothing about routes and
// retries.

import { setImmediate as nextTurn } from "node:timers/promises";
import { type Limit, limit, lone } from "../base/limit.ts";
import type { UpstreamRequest } from "./dialect.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";

export interface CallOptions {
  /** Aborts the call: the client left, or the deadline of the whole request passed. */
  signal: AbortSignal;
  /** The credential to use. */
  secret: string;
  /** Further headers, such as `traceparent`. */
  headers?: Readonly<Record<string, string>>;
  /** Goes up in the place of the request's body. */
  upload?: StreamedBody | undefined;
}

/** A body that is sent as it comes. */
export interface StreamedBody {
  /** The `Content-Type`. */
  readonly type: string;
  /** Undefined where it is not known. */
  readonly length: number | undefined;
  /** The next bytes, undefined at the end. What it throws ends the call. */
  next(): Promise<Uint8Array | undefined>;
}

/** Largest whole answer that is read; image answers in base64 are far below. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** How long and how much is read after an answer's end. */
const DRAIN_MS = 1000;
const DRAIN_BYTES_MAX = 64 * 1024;
/** How much of an error body is read, and how long. */
const ERROR_BYTES_MAX = 64 * 1024;
const ERROR_IDLE_MS = 30_000;
/** For a larger text, joining the changed parts and encoding it take two iterations of the event loop. */
const STEP_CHARS_MIN = 512 * 1024;
/** Bodies up to this size are read at once, within a single idle limit. */
const SMALL_BYTES = 1024 * 1024;

/**
 * Aborts the call of an answer where nothing else can: a body that is being read cannot be cancelled by others.
 */
const calls = new WeakMap<Response, AbortController>();

/**
 * Sends the request and resolves with the answer once its headers report success. Throws `UpstreamFault` for everything else;
 * if `signal` aborted, throws its reason.
 */
export async function callProvider(
  provider: Provider,
  request: UpstreamRequest,
  options: CallOptions,
): Promise<Response> {
  const { upload } = options;
  const headers = {
    ...(upload === undefined ? { "content-type": "application/json" } : uploadHeaders(upload)),
    // The card's protocol version is a default: a client's own takes precedence.
    ...provider.card.headers(options.secret),
    ...request.headers,
    ...options.headers,
    ...provider.extraHeaders,
  };
  // Looking at its end would join the text.
  if (request.body.length >= STEP_CHARS_MIN && request.body.endsWith("}")) await nextTurn();
  const deadline = new AbortController();
  const { firstByte, connect } = provider.timeoutsMs;
  const unanswered = () =>
    deadline.abort(new UpstreamFault("timeout", "The provider did not begin to answer in time."));
  let patience = limit(firstByte, unanswered);
  const probe = limit(connect, () => void probeConnect(provider, deadline));
  const onAbort = () => deadline.abort(options.signal.reason);
  if (options.signal.aborted) onAbort();
  else options.signal.addEventListener("abort", onAbort, { once: true });
  let response: Response;
  let isOver = false;
  try {
    response = await provider.transport(provider.baseUrl + request.path, {
      method: "POST",
      headers,
      body:
        upload === undefined
          ? request.body
          : streamOf(upload, {
              // While the client is waited for, the provider is not.
              waits: () => patience.cancel(),
              came: () => {
                if (!isOver) patience = limit(firstByte, unanswered);
              },
              failed: (error) => deadline.abort(error),
            }),
      signal: deadline.signal,
      // Bun would abort a call that is silent for five minutes; the operator's setting applies instead.
      timeout: false,
      // A redirect would send the credential elsewhere.
      redirect: "manual",
    });
  } catch (error) {
    throw asFault(error, deadline.signal, options.signal);
  } finally {
    isOver = true;
    patience.cancel();
    probe.cancel();
  }
  calls.set(response, deadline);
  // The listener stays: until the body ends, the client's leaving must abort the call.
  if (response.ok) return response;
  const body = await readBody(response, { bytesMax: ERROR_BYTES_MAX, idleMs: ERROR_IDLE_MS }, textOf).catch(() => "");
  options.signal.removeEventListener("abort", onAbort);
  if (response.status < 400)
    throw new UpstreamFault("unavailable", `The provider redirected the call (${response.status}).`, {
      status: response.status,
    });
  throw provider.dialect.fault(response.status, body, response.headers);
}

function uploadHeaders({ type, length }: StreamedBody): Record<string, string> {
  return { "content-type": type, ...(length === undefined ? {} : { "content-length": String(length) }) };
}

function streamOf(
  upload: StreamedBody,
  { waits, came, failed }: { waits(): void; came(): void; failed(error: unknown): void },
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        waits();
        try {
          const bytes = await upload.next();
          came();
          if (bytes === undefined) controller.close();
          else controller.enqueue(bytes);
        } catch (error) {
          failed(error);
          controller.error(error);
        }
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * `fetch` does not report whether it still waits for the connection. If no answer came within the connect timeout, a second
 * connection finds out whether the host can be reached.
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
    // Refused or unresolved: the call itself fails with a better error.
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

/** A whole answer as text, bounded. Throws `UpstreamFault` if it breaks off, stalls or is too large; the call is then over. */
export async function readAnswer(provider: Provider, response: Response, signal: AbortSignal): Promise<string> {
  return readBounded(response, boundsOf(provider, signal));
}

/** The same as bytes, for an answer that is only passed on. */
export async function readAnswerBytes(
  provider: Provider,
  response: Response,
  signal: AbortSignal,
): Promise<Uint8Array> {
  return readWithin(response, boundsOf(provider, signal), bytesOf);
}

function boundsOf({ timeoutsMs }: Provider, signal: AbortSignal): Bounds {
  return { bytesMax: ANSWER_BYTES_MAX, idleMs: timeoutsMs.idle, signal };
}

interface Bounds {
  readonly bytesMax: number;
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/** The same with other bounds. */
export async function readBounded(response: Response, bounds: Bounds): Promise<string> {
  return readWithin(response, bounds, textOf);
}

const textOf: Whole<string> = {
  small: (response) => response.text(),
  joined: (chunks, size) => new TextDecoder().decode(Buffer.concat(chunks, size)),
};

const bytesOf: Whole<Uint8Array> = {
  small: (response) => response.bytes(),
  joined: (chunks, size) => Buffer.concat(chunks, size),
};

/** How a body becomes a value: by the platform, or from the pieces that arrived. */
interface Whole<T> {
  small(response: Response): Promise<T>;
  joined(chunks: readonly Uint8Array[], size: number): T;
}

async function readWithin<T>(response: Response, { signal, ...limits }: Bounds, whole: Whole<T>): Promise<T> {
  try {
    return await readBody(response, limits, whole);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof UpstreamFault) throw error;
    throw new UpstreamFault("unavailable", "The provider's answer was cut off.", { cause: error });
  }
}

async function readBody<T>(
  response: Response,
  { bytesMax, idleMs }: Omit<Bounds, "signal">,
  whole: Whole<T>,
): Promise<T> {
  const declared = Number(response.headers.get("content-length") ?? Number.NaN);
  const call = calls.get(response);
  // The length counts encoded bytes: it only bounds an uncompressed body.
  if (call !== undefined && declared <= SMALL_BYTES && response.headers.get("content-encoding") === null) {
    const patience = limit(idleMs, () => call.abort(new UpstreamFault("timeout", "The provider stopped answering.")));
    try {
      return await whole.small(response);
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
  return whole.joined(chunks, size);
}

/** Reads a body with an idle timeout. */
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

  /** The next bytes, undefined at the end. Throws `UpstreamFault` `timeout` after the idle timeout, and network errors. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#reader === undefined) return undefined;
    this.#waitingSinceMs = performance.now();
    // One timer per body, restarted if data has arrived meanwhile.
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

  /** The answer is complete: waits briefly for the end of the body, so that the connection can be reused. */
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
      // The answer was received; whatever failed after it does not matter.
    } finally {
      patience.cancel();
    }
  }

  /** Ends the call: the provider sees the connection close. */
  cancel(): void {
    this.#stop();
    // The stream may have failed already; there is nobody left to tell.
    this.#reader?.cancel().catch(() => undefined);
  }

  #watch(): void {
    // Nobody waits for data: the client is slow, not the provider.
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
