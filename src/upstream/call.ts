// Makes one HTTP call to a provider, with its credential, deadlines, limited bodies and typed errors. It knows nothing about
// routes and retries.

import { setImmediate as nextTurn } from "node:timers/promises";
import { type Limit, limit, lone } from "../base/limit.ts";
import { nodeNet } from "../base/node-modules.ts";
import type { UpstreamRequest } from "./dialect.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";

export interface CallOptions {
  /** Aborts if the client left, or the deadline of the whole request passed. */
  signal: AbortSignal;
  /** The credential for the call. */
  secret: string;
  /** Additional headers, such as `traceparent`. */
  headers?: Readonly<Record<string, string>>;
  /** The body that is sent instead of the request's own. */
  upload?: StreamedBody | undefined;
}

/** A body that is sent as it arrives. */
export interface StreamedBody {
  /** The `Content-Type`. */
  readonly type: string;
  /** The length of the body; undefined if it is unknown. */
  readonly length: number | undefined;
  /** The next bytes; undefined at the end. If it throws, the call ends. */
  next(): Promise<Uint8Array | undefined>;
}

/** Maximum size of a whole answer. Answers with images in base64 are far smaller. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** How long and how far the rest of an answer is read after its end. */
const DRAIN_MS = 1000;
const DRAIN_BYTES_MAX = 64 * 1024;
/** How much of an error's body is read, and for how long. */
const ERROR_BYTES_MAX = 64 * 1024;
const ERROR_IDLE_MS = 30_000;
/** Larger texts are joined and encoded in two turns of the event loop. */
const STEP_CHARS_MIN = 512 * 1024;
/** Bodies up to this size are read at once, with a single idle limit. */
const SMALL_BYTES = 1024 * 1024;

/**
 * The controllers that abort the calls of answers. There is no other way to do so, since only its reader can cancel a body that
 * is being read.
 */
const calls = new WeakMap<Response, AbortController>();

/**
 * Sends the request and resolves with the answer once its headers report success. Otherwise throws `UpstreamFault` or, if
 * `signal` aborted, its reason.
 */
export async function callProvider(
  provider: Provider,
  request: UpstreamRequest,
  options: CallOptions,
): Promise<Response> {
  const { upload } = options;
  const headers = {
    ...(upload === undefined ? { "content-type": "application/json" } : uploadHeaders(upload)),
    // The protocol version on the provider's card is a default, and a client's own version takes precedence.
    ...provider.card.headers(options.secret),
    ...request.headers,
    ...options.headers,
    ...provider.extraHeaders,
  };
  // `endsWith` joins the parts of the text, so the event loop gets a turn after it.
  if (request.body.length >= STEP_CHARS_MIN && request.body.endsWith("}")) await nextTurn();
  const deadline = new AbortController();
  const { firstByte, connect } = provider.timeoutsMs;
  const unanswered = () =>
    deadline.abort(new UpstreamFault("timeout", "The provider did not begin to answer in time."));
  let patience = limit(firstByte, unanswered);
  let stopProbe: (() => void) | undefined;
  const probe = limit(connect, () => {
    stopProbe = probeConnect(provider, deadline);
  });
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
              // While the call waits for the client's data, the provider's time limit does not run.
              waits: () => patience.cancel(),
              came: () => {
                if (!isOver) patience = limit(firstByte, unanswered);
              },
              failed: (error) => deadline.abort(error),
            }),
      signal: deadline.signal,
      // Bun would abort a call that is silent for five minutes; instead, the operator's setting applies.
      timeout: false,
      // A redirect would send the credential to another server.
      redirect: "manual",
    });
  } catch (error) {
    throw asFault(error, deadline.signal, options.signal);
  } finally {
    isOver = true;
    patience.cancel();
    probe.cancel();
    stopProbe?.();
  }
  calls.set(response, deadline);
  // The listener stays, since until the body ends, the call must be aborted if the client leaves.
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
 * `fetch` does not tell whether it still waits for the connection. If there was no answer within the connect timeout, a second
 * connection finds out whether the host can be reached. Returns what ends the attempt: the system would hold it for minutes.
 */
function probeConnect(provider: Provider, deadline: AbortController): (() => void) | undefined {
  if (provider.embedded) return;
  const url = new URL(provider.baseUrl);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const socket = nodeNet().connect({ host: url.hostname.replace(/^\[|\]$/g, ""), port });
  const timer = setTimeout(() => {
    deadline.abort(new UpstreamFault("timeout", "The provider could not be reached in time.", { connecting: true }));
  }, provider.timeoutsMs.connect);
  const stop = () => {
    clearTimeout(timer);
    socket.destroy();
  };
  socket.once("connect", stop);
  // If the connection is refused, or the host is not found, the call itself fails with a better error.
  socket.on("error", stop);
  return stop;
}

function asFault(error: unknown, deadline: AbortSignal, client: AbortSignal): unknown {
  if (client.aborted) return client.reason;
  if (deadline.aborted) return deadline.reason;
  if (error instanceof UpstreamFault) return error;
  return new UpstreamFault("unavailable", "The provider could not be reached.", {
    cause: error,
    connecting: isConnectError(error),
  });
}

/** Codes of the runtime for a connection that was not made: refused, no such host, or a certificate that is not accepted. */
const CONNECT_CODE =
  /^(?:ConnectionRefused|FailedToOpenSocket|ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH)$|CERT|TLS|ISSUER|SIGNATURE/;

function isConnectError(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && CONNECT_CODE.test(code);
}

/**
 * Reads a whole answer as text, up to the limit. Throws `UpstreamFault` if it breaks off, stalls or is too large; the call is
 * then over.
 */
export async function readAnswer(provider: Provider, response: Response, signal: AbortSignal): Promise<string> {
  return readBounded(response, boundsOf(provider, signal));
}

/** Reads the whole answer as bytes, for answers that are only passed on. */
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

/** Reads the answer as text, with the given limits. */
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

/** The two ways to turn a body into a value: directly by the runtime, or from the pieces that arrived. */
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
  // The length counts encoded bytes, so it only limits a body that is not compressed.
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

/** Reads a body with a time limit for pauses. */
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

  /** The next bytes; undefined at the end. Throws `UpstreamFault` `timeout` after a long pause, and network errors. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#reader === undefined) return undefined;
    this.#waitingSinceMs = performance.now();
    // There is one timer for each body. It restarts if data has arrived meanwhile.
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

  /** Waits a short time for the end of the body after the answer is complete, so that the connection can be reused. */
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
      // The answer is complete, so an error after it does not matter.
    } finally {
      patience.cancel();
    }
  }

  /** Aborts the call, so that the provider sees the connection close. */
  cancel(): void {
    this.#stop();
    // The stream may have failed already, and nobody needs the error.
    this.#reader?.cancel().catch(() => undefined);
  }

  #watch(): void {
    // If nobody is waiting for data, the client is slow and not the provider.
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
