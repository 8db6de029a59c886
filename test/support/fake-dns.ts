// A name server on loopback. A test scripts its answers, one for each query, so that the addresses of a name can
// change.

import { createSocket } from "node:dgram";

/** A running fake name server. */
export interface FakeDns {
  /** `IP:port`, for the list of servers of a resolver. */
  readonly server: string;
  /** The number of queries for IPv4 addresses so far. */
  readonly asked: string[];
  close(): void;
}

const A = 1;

/**
 * Answers queries for IPv4 addresses with the result of `answer` (none: no such name), and all other queries with an
 * empty answer.
 */
export async function startFakeDns(answer: (name: string, nth: number) => string[]): Promise<FakeDns> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (message, from) => {
    const labels: string[] = [];
    let at = 12;
    while (message[at] !== 0) {
      const length = message[at] ?? 0;
      labels.push(message.toString("latin1", at + 1, at + 1 + length));
      at += length + 1;
    }
    const isA = message.readUInt16BE(at + 1) === A;
    const name = labels.join(".").toLowerCase();
    const addresses = isA ? answer(name, asked.filter((other) => other === name).length) : [];
    if (isA) asked.push(name);
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
    );
    socket.send(Buffer.concat([head, message.subarray(12, at + 5), ...records]), from.port, from.address);
  });
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done));
  return { server: `127.0.0.1:${socket.address().port}`, asked, close: () => socket.close() };
}
