// Providers on loopback that fail below HTTP: they refuse, hang while connecting, reset, fail the TLS handshake, or
// stop in the middle of an answer.

import { dlopen, FFIType, ptr } from "bun:ffi";
import { connect, type Socket } from "node:net";

/** A TCP server that runs its script after it has read a complete request head. */
export interface RawUpstream {
  port: number;
  /** The request heads so far. */
  heads: string[];
  stop(): void;
}

/** Actions on one connection: send bytes, close it, or reset it. */
export interface RawConnection {
  send(text: string): void;
  end(): void;
  reset(): void;
}

/** Starts a server that sends plain text to every connection, whatever it receives. */
export function startPlain(): RawUpstream {
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      },
      error() {},
    },
  });
  return { port: listener.port, heads: [], stop: () => listener.stop(true) };
}

/** Starts a server that passes every request to `script`. */
export function startRaw(script: (connection: RawConnection, head: string) => void): RawUpstream {
  const heads: string[] = [];
  const listener = Bun.listen<{ head: string }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { head: "" };
      },
      data(socket, bytes) {
        const before = socket.data.head;
        socket.data.head += bytes.toString("latin1");
        const end = socket.data.head.indexOf("\r\n\r\n");
        if (end < 0 || before.includes("\r\n\r\n")) return;
        const head = socket.data.head.slice(0, end);
        heads.push(head);
        script(
          {
            send: (text) => void socket.write(text),
            end: () => void socket.end(),
            reset: () => socket.terminate(),
          },
          head,
        );
      },
      error() {},
    },
  });
  return { port: listener.port, heads, stop: () => listener.stop(true) };
}

/** A port of loopback on which nothing listens. */
export function closedPort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

/**
 * A port that answers no connection attempt: its queue is full and nothing accepts connections, so further attempts
 * hang as they do with a host that is down. Linux only.
 */
export async function startBlackhole(): Promise<{ port: number; stop(): void }> {
  const libc = dlopen("libc.so.6", {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    bind: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
    listen: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    getsockname: { args: [FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
    close: { args: [FFIType.i32], returns: FFIType.i32 },
  });
  const [AF_INET, SOCK_STREAM, BACKLOG, ADDRESS_BYTES] = [2, 1, 0, 16];
  const fd = libc.symbols.socket(AF_INET, SOCK_STREAM, 0);
  // struct sockaddr_in: family in host order, port 0, 127.0.0.1.
  const address = new Uint8Array(ADDRESS_BYTES);
  address.set([AF_INET, 0, 0, 0, 127, 0, 0, 1]);
  if (libc.symbols.bind(fd, ptr(address), ADDRESS_BYTES) !== 0 || libc.symbols.listen(fd, BACKLOG) !== 0)
    throw new Error("The black hole could not be dug.");
  libc.symbols.getsockname(fd, ptr(address), ptr(new Uint32Array([ADDRESS_BYTES])));
  const port = (address[2] ?? 0) * 256 + (address[3] ?? 0);
  // Connections are accepted until the queue is full; the first attempt that is not accepted shows that it is. The wait
  // is divided into parts, so that after a stall of the machine an accepted connection is noticed before all parts are
  // over.
  const fillers: Socket[] = [];
  for (let full = false; !full && fillers.length < 16; ) {
    const socket = connect({ host: "127.0.0.1", port });
    socket.on("error", () => {});
    fillers.push(socket);
    full = await Promise.race([
      new Promise<boolean>((resolve) => socket.once("connect", () => resolve(false))),
      inParts(100).then(() => true),
    ]);
  }
  return {
    port,
    stop() {
      for (const socket of fillers) socket.destroy();
      libc.symbols.close(fd);
      libc.close();
    },
  };
}

async function inParts(ms: number): Promise<void> {
  for (let part = 0; part < 10; part++) await Bun.sleep(ms / 10);
}
