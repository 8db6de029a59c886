// The gateway's own HTTP client for providers. It keeps connections open for the next requests to the same server. It does not
// use `fetch` since that cannot tell a slow server from one that was not reached, keeps connections open that nobody waits for any
// more, and holds requests back beyond a fixed number.

import { type Limit, limitOf } from "../../base/limit.ts";
import type { Stoppable } from "../../base/stop-signal.ts";
import { Connection, type ConnectionOwner } from "./connection.ts";
import { CallExchange, type ExchangeListener, type StreamedBody, type WireBody } from "./exchange.ts";
import { type CallTarget, headEnd, headStart, type ServerOrigin, targetOf } from "./request-head.ts";
import type { WireAnswer } from "./wire-answer.ts";

export type { StreamedBody, WireBody } from "./exchange.ts";

/** A call over the network. */
export interface WireCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether further calls have the same object of headers, so that what is made of it may be kept. */
  readonly keepsHeaders?: boolean;
  readonly body?: WireBody | undefined;
  /** The body, if it is not known yet. */
  readonly upload?: StreamedBody | undefined;
  readonly connectMs: number;
  readonly firstByteMs: number;
  /** Creates the error for an answer that does not begin in time. */
  late(): Error;
}

/** A call in progress. */
export interface OpenCall extends Stoppable {
  /** Resolves with the answer when its head has arrived. Rejects with `NoConnection`, `BrokenAnswer` or the error of `stop`. */
  readonly answer: Promise<WireAnswer>;
}

/** Is told how a call goes on, once. Its functions must not throw. */
export interface CallListener {
  /** The head of the answer has arrived. */
  answered(answer: WireAnswer): void;
  /** There is no answer: `NoConnection`, `BrokenAnswer` or the error of `stop`. May be called before the call is returned. */
  refused(error: unknown): void;
}

export interface WireClient {
  call(call: WireCall): OpenCall;
  /** The same for those who want no promise. Absent if something is to be waited for before a call, such as a credential. */
  begin?(call: WireCall, listener: CallListener): Stoppable;
  /** The number of open connections, and how many of them are idle. */
  readonly state: { readonly open: number; readonly idle: number };
  /** Closes the idle connections. */
  close(): void;
}

/** Connections that are idle: how many for one server, how many in all, and for how long. */
const IDLE_MAX_EACH = 256;
const IDLE_MAX = 1024;
const IDLE_MS = 55_000;
/**
 * A server closes a connection that was idle for seconds, and its notice may cross the next request on its way. One that closes the
 * connection sooner has seen the request, which is then not sent again here.
 */
const STALE_MS = 1000;
/** A connection is not used any more this long before its server would close it. */
const IDLE_MARGIN_MS = 1000;

/** Options of a client, for tests. */
export interface WireClientOptions {
  readonly idleMs?: number;
  readonly idleMaxEach?: number;
  readonly staleMs?: number;
  /** The only certificate authority (PEM); the system's by default. */
  readonly ca?: string | undefined;
}

/** Creates a client with connections of its own. */
export function createWireClient({ ca, ...limits }: WireClientOptions = {}): Required<WireClient> {
  const { idleMs = IDLE_MS, idleMaxEach = IDLE_MAX_EACH, staleMs = STALE_MS } = limits;
  const pool = new Pool({ idleMs, idleMaxEach, staleMs, ca });
  const begin = (call: WireCall, listener: CallListener): Stoppable => {
    const { method, upload } = call;
    const length = upload === undefined ? lengthOf(call.body) : (upload.length ?? "chunked");
    const { target, start, isAscii } = call.keepsHeaders === true ? keptStart(call) : startOf(call);
    const made = new MadeCall(pool, { origin: target.origin, connectMs: call.connectMs, listener });
    const exchange = new CallExchange(
      {
        method,
        head: start + headEnd(length),
        isAscii,
        body: call.body,
        bodyBytes: typeof length === "number" ? length : 0,
        upload,
        firstByteMs: call.firstByteMs,
        late: call.late,
      },
      made,
    );
    if (!pool.carries(target.origin, exchange)) made.again(exchange);
    return exchange;
  };
  return {
    begin,
    call(call) {
      const { promise, resolve, reject } = Promise.withResolvers<WireAnswer>();
      const made = begin(call, { answered: resolve, refused: reject });
      return { answer: promise, stop: (reason) => made.stop(reason) };
    },
    get state() {
      return { open: pool.openCount, idle: pool.idleCount };
    },
    close: () => pool.close(),
  };
}

/** Whom a call goes to, and who hears of it. */
interface CallParts {
  readonly origin: ServerOrigin;
  readonly connectMs: number;
  readonly listener: CallListener;
}

/** A call in progress, as its exchange sees it. */
class MadeCall implements ExchangeListener {
  readonly #pool: Pool;
  readonly #parts: CallParts;

  constructor(pool: Pool, parts: CallParts) {
    this.#pool = pool;
    this.#parts = parts;
  }

  answered(answer: WireAnswer): void {
    this.#parts.listener.answered(answer);
  }

  refused(error: unknown): void {
    this.#parts.listener.refused(error);
  }

  again(exchange: CallExchange): void {
    const { origin, connectMs } = this.#parts;
    this.#pool.open(origin, exchange, connectMs);
  }
}

/** The beginning of a request's head, with its target. */
interface HeadStart {
  readonly method: string;
  readonly url: string;
  readonly target: CallTarget;
  readonly start: string;
  readonly isAscii: boolean;
}

const starts = new WeakMap<object, HeadStart>();

function startOf({ method, url, headers }: WireCall): HeadStart {
  const target = targetOf(url);
  const start = headStart({ method, target, headers });
  return { method, url, target, start, isAscii: /^[\0-\x7f]*$/.test(start) };
}

function keptStart(call: WireCall): HeadStart {
  const kept = starts.get(call.headers);
  if (kept !== undefined && kept.url === call.url && kept.method === call.method) return kept;
  const made = startOf(call);
  starts.set(call.headers, made);
  return made;
}

function lengthOf(body: WireBody | undefined): number | undefined {
  if (body === undefined) return undefined;
  if (typeof body === "string" || body instanceof Uint8Array) return Buffer.byteLength(body);
  return body.reduce((sum, part) => sum + part.byteLength, 0);
}

interface Idle {
  readonly connection: Connection;
  readonly until: Limit;
  readonly sinceMs: number;
}

function closeIdle(connection: Connection): void {
  connection.close();
}

interface PoolLimits {
  readonly idleMs: number;
  readonly idleMaxEach: number;
  readonly staleMs: number;
  readonly ca: string | undefined;
}

/** The connections of a client. */
class Pool implements ConnectionOwner {
  readonly #limits: PoolLimits;
  readonly #idle = new Map<string, Idle[]>();
  idleCount = 0;
  openCount = 0;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  /** Gives the exchange to an idle connection, the last one that was used. False if there is none. */
  carries(origin: ServerOrigin, exchange: CallExchange): boolean {
    const found = this.#idle.get(origin.key)?.pop();
    if (found === undefined) return false;
    this.idleCount--;
    found.until.cancel();
    found.connection.carry(exchange, performance.now() - found.sinceMs >= this.#limits.staleMs);
    return true;
  }

  open(origin: ServerOrigin, exchange: CallExchange, connectMs: number): void {
    this.openCount++;
    const connection = new Connection(origin, this);
    connection.open(exchange, { connectMs, ca: this.#limits.ca });
  }

  idle(connection: Connection): void {
    const { key } = connection.origin;
    let list = this.#idle.get(key);
    if (list === undefined) {
      list = [];
      this.#idle.set(key, list);
    }
    const { idleSeconds } = connection;
    const stated = idleSeconds === undefined ? Number.POSITIVE_INFINITY : idleSeconds * 1000 - IDLE_MARGIN_MS;
    const ms = Math.min(this.#limits.idleMs, stated);
    if (ms <= 0 || list.length >= this.#limits.idleMaxEach || this.idleCount >= IDLE_MAX) {
      connection.close();
      return;
    }
    this.idleCount++;
    const sinceMs = performance.now();
    list.push({ connection, until: limitOf(ms, closeIdle, connection, sinceMs), sinceMs });
  }

  closed(connection: Connection): void {
    this.openCount--;
    const { key } = connection.origin;
    const list = this.#idle.get(key);
    const at = list?.findIndex((one) => one.connection === connection) ?? -1;
    if (list === undefined || at < 0) return;
    list[at]?.until.cancel();
    list.splice(at, 1);
    this.idleCount--;
    if (list.length === 0) this.#idle.delete(key);
  }

  close(): void {
    for (const list of [...this.#idle.values()]) for (const { connection } of [...list]) connection.close();
  }
}
