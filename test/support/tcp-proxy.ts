// A TCP proxy on loopback between a program and a server that it depends on. Like a network, it can be cut off, stalled
// and restored.

import { connect, createServer, type Server, type Socket } from "node:net";

export interface TcpProxy {
  readonly port: number;
  /** Ends every connection at once, including new ones. */
  cut(): void;
  /** Stops all traffic without ending connections. Data that was sent arrives after `restore`. */
  stall(): void;
  /** Silences the open connections for ever, without ending them; new ones work. */
  strand(): void;
  /**
   * Passes on the next data of any client that contains this text, and ends its connection in place of the answer. `stayCut`: new
   * connections are ended as well, until `restore`. Resolves when the answer is lost.
   */
  loseAnswer(to: string, options?: { stayCut?: boolean }): Promise<void>;
  restore(): void;
  stop(): Promise<void>;
}

/** Starts a proxy to a port on loopback. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  let state: "open" | "cut" | "stalled" = "open";
  const pairs = new Set<readonly [Socket, Socket]>();
  const stranded: Socket[] = [];
  let loses: { readonly to: string; lost(): void } | undefined;
  const server: Server = createServer((client) => {
    client.on("error", () => undefined);
    if (state === "cut") return client.resetAndDestroy();
    const target = connect({ host: "127.0.0.1", port: targetPort });
    const pair = [client, target] as const;
    pairs.add(pair);
    target.on("error", () => client.destroy());
    for (const [from, to] of [pair, [target, client]] as const) {
      from.setNoDelay(true);
      from.on("close", () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
    client.on("data", (data: Buffer) => {
      if (loses === undefined || !data.includes(loses.to)) return;
      loseAnswerOf(pair, loses.lost);
      loses = undefined;
    });
    if (state === "open") flow(pair);
    else client.pause();
    return client;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port.");
  return {
    port: address.port,
    cut() {
      state = "cut";
      for (const [client, target] of pairs) {
        client.resetAndDestroy();
        target.destroy();
      }
    },
    stall() {
      state = "stalled";
      for (const pair of pairs) hold(pair);
    },
    strand() {
      for (const pair of pairs) {
        hold(pair);
        pairs.delete(pair);
        stranded.push(...pair);
      }
    },
    loseAnswer(to, { stayCut = false } = {}) {
      return new Promise((resolve) => {
        loses = {
          to,
          lost() {
            loses = undefined;
            if (stayCut) state = "cut";
            resolve();
          },
        };
      });
    },
    restore() {
      const wasStalled = state === "stalled";
      state = "open";
      if (wasStalled) for (const pair of pairs) flow(pair);
    },
    async stop() {
      state = "cut";
      for (const socket of [...pairs, stranded].flat()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function flow([client, target]: readonly [Socket, Socket]): void {
  client.pipe(target);
  target.pipe(client);
}

function hold([client, target]: readonly [Socket, Socket]): void {
  client.unpipe(target).pause();
  target.unpipe(client).pause();
}

function loseAnswerOf([client, target]: readonly [Socket, Socket], lost: () => void): void {
  target.unpipe(client);
  target.once("data", () => {
    lost();
    client.resetAndDestroy();
  });
  target.resume();
}
