// One connection to a provider's server, which carries one exchange at a time. Between exchanges the pool holds it.

import type { Socket } from "node:net";
import { type Limit, limit } from "../../base/limit.ts";
import { nodeNet, nodeTls } from "../../base/node-modules.ts";
import type { CallExchange, Carrier, ExchangeRequest } from "./exchange.ts";
import { BrokenAnswer, NoConnection } from "./failures.ts";
import type { ServerOrigin } from "./request-head.ts";

/** What a connection tells the pool. */
export interface ConnectionOwner {
  /** The connection is idle and can carry another exchange. */
  idle(connection: Connection): void;
  closed(connection: Connection): void;
}

type WireSocket = Bun.Socket<Connection>;
/** Smaller bodies are sent together with their head, as one text. */
const JOINED_CHARS_MAX = 64 * 1024;

/** One handler for all sockets: each has its connection as data. */
const HANDLER: Bun.SocketHandler<Connection> = {
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.drained(),
  end: (socket) => socket.data.ended(true),
  close: (socket, error) => socket.data.ended(error === undefined),
  error: (socket, error) => socket.data.broke(error),
};

/** A connection, open or being opened. */
export class Connection implements Carrier {
  readonly origin: ServerOrigin;
  readonly #owner: ConnectionOwner;
  #socket: WireSocket | undefined;
  #exchange: CallExchange | undefined;
  /** The attempt to connect, while it lasts. Unlike one of `Bun.connect`, it can be given up. */
  #opening: Socket | undefined;
  #isClosed = false;
  #isPaused = false;
  /** Bytes that the socket did not take yet, in parts that are not copied. */
  #unsent: Buffer[] | undefined;
  /** Called when all bytes were taken. */
  #taken: (() => void) | undefined;
  #patience: Limit | undefined;
  #cause: unknown;
  mayBeStale = false;
  /** After how many seconds the server closes the connection when it is idle, if it says so. */
  idleSeconds: number | undefined;

  constructor(origin: ServerOrigin, owner: ConnectionOwner) {
    this.origin = origin;
    this.#owner = owner;
  }

  /** Opens the connection for its first exchange. */
  open(exchange: CallExchange, { connectMs, ca }: { connectMs: number; ca: string | undefined }): void {
    const { host, port, isSecure } = this.origin;
    this.#exchange = exchange;
    exchange.waitsFor(this);
    this.#patience = limit(connectMs, () =>
      this.unreachable(new NoConnection("The server could not be reached in time.", { isLate: true })),
    );
    const named = { ...(isName(host) ? { servername: host } : {}), ...(ca === undefined ? {} : { ca }) };
    const opening: Socket = isSecure
      ? nodeTls().connect({ host, port, ALPNProtocols: ["http/1.1"], ...named })
      : nodeNet().connect({ host, port });
    this.#opening = opening;
    opening.once(isSecure ? "secureConnect" : "connect", () => this.#opened(opening));
    // An attempt that was given up may still fail.
    opening.on("error", (error) => this.unreachable(error));
    opening.once("close", () => this.unreachable(new Error("The server closed the connection.")));
  }

  /** Takes another exchange. */
  carry(exchange: CallExchange, mayBeStale: boolean): void {
    this.mayBeStale = mayBeStale;
    this.#exchange = exchange;
    this.#socket?.ref();
    exchange.ready(this);
  }

  #opened(opening: Socket): void {
    if (this.#isClosed) return;
    const socket = handleOf(opening);
    socket.data = this;
    socket.reload({ socket: HANDLER });
    this.#socket = socket;
    this.#opening = undefined;
    this.#patience?.cancel();
    // There are many small writes on a connection, and each must leave at once.
    socket.setNoDelay(true);
    this.#exchange?.ready(this);
  }

  /** Sends a request, of which the body may be long. */
  send({ head, isAscii, body, bodyBytes }: ExchangeRequest): void {
    if (typeof body === "string" && body.length <= JOINED_CHARS_MAX && isAscii) {
      this.#write(head + body, head.length + bodyBytes);
      return;
    }
    this.write(Buffer.from(head, "latin1"));
    if (typeof body === "string") this.write(Buffer.from(body, "utf8"));
    else if (body instanceof Uint8Array) this.write(body);
    else for (const part of body ?? []) this.write(part);
  }

  write(bytes: Uint8Array): void {
    this.#write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), bytes.byteLength);
  }

  whenTaken(): Promise<void> {
    if (this.#unsent === undefined || this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#taken = resolve;
    });
  }

  /** `size`: in bytes. */
  #write(data: string | Buffer, size: number): void {
    const socket = this.#socket;
    if (this.#isClosed || socket === undefined) return;
    if (this.#unsent !== undefined) {
      this.#unsent.push(typeof data === "string" ? Buffer.from(data) : data);
      return;
    }
    const written = socket.write(data);
    if (written >= size) return;
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    this.#unsent = [bytes.subarray(Math.max(0, written))];
  }

  drained(): void {
    const rest = this.#unsent;
    if (rest !== undefined) {
      // The server would take what follows, a request of others perhaps, for the rest of this body.
      if (rest.some(({ buffer }) => (buffer as ArrayBuffer).detached)) {
        this.#lost();
        return;
      }
      this.#unsent = undefined;
      for (const bytes of rest) this.#write(bytes, bytes.length);
    }
    if (this.#unsent === undefined) this.#wake();
  }

  /** The body was freed before it was sent. */
  #lost(): void {
    const exchange = this.#exchange;
    this.close();
    exchange?.failed(new BrokenAnswer("The body was freed before it was sent."));
  }

  #wake(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }

  received(bytes: Buffer): void {
    const exchange = this.#exchange;
    // What nobody asked for must not become the answer to the next request.
    if (exchange === undefined) this.close();
    else exchange.received(bytes);
  }

  /** The server has to wait until `resume`. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket?.resume();
  }

  release(isPersistent: boolean, idleSeconds: number | undefined): void {
    this.#exchange = undefined;
    this.idleSeconds = idleSeconds;
    if (!isPersistent || this.#unsent !== undefined || this.#isClosed) {
      this.close();
      return;
    }
    // A paused connection would never answer again.
    this.resume();
    this.#socket?.unref();
    this.#owner.idle(this);
  }

  broke(error: unknown): void {
    this.#cause = error;
  }

  /** The server closed the connection, or it broke. */
  ended(isOrderly: boolean): void {
    if (this.#isClosed) return;
    const exchange = this.#exchange;
    this.close();
    exchange?.ended(isOrderly, this.#cause);
  }

  unreachable(error: unknown): void {
    if (this.#isClosed) return;
    const exchange = this.#exchange;
    this.close();
    const known = error instanceof NoConnection ? error : undefined;
    exchange?.failed(known ?? new NoConnection("The server could not be reached.", { cause: error }));
  }

  /** Closes it at once, whatever it carries. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#exchange = undefined;
    this.#unsent = undefined;
    this.#patience?.cancel();
    this.#opening?.destroy();
    this.#socket?.terminate();
    this.#wake();
    this.#owner.closed(this);
  }
}

/**
 * The runtime's own socket below one of `node:net`, which costs several microseconds for each piece of data. From here on, its events
 * come to the connection.
 */
function handleOf(socket: Socket): WireSocket {
  const { _handle: handle } = socket as unknown as { _handle?: Partial<WireSocket> | null };
  if (typeof handle?.reload !== "function" || typeof handle.write !== "function")
    throw new Error("This version of the runtime has another kind of socket.");
  return handle as WireSocket;
}

function isName(host: string): boolean {
  return !host.includes(":") && !/^[\d.]+$/.test(host);
}
