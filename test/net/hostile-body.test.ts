// Bodies that cost more than their size suggests. The work must be linear in the bytes sent.

import { expect, spyOn, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { createAddressGuard } from "../../src/net/address-guard.ts";
import { createFetch, type FetchError } from "../../src/net/fetch.ts";
import { createResolve } from "../../src/net/resolve.ts";

const get = createFetch(createAddressGuard({ allowPrivateNetworks: true, allowHosts: [], ports: [] }, createResolve()));

/** A server that runs `send` for each connection, as long as `work` runs. */
async function withServer(send: (socket: Socket) => void, work: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    send(socket);
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => listening.resolve());
  await listening.promise;
  try {
    await work(`http://127.0.0.1:${(server.address() as { port: number }).port}/`);
  } finally {
    server.close();
  }
}

const LIMITS = { bytesMax: 10_000_000, timeoutMs: 30_000 };

test("an endless body in chunks of one byte is given up, and others work meanwhile", async () => {
  const flood = "1\r\nx\r\n".repeat(20_000);
  const send = (socket: Socket) => {
    const more = () => {
      if (socket.destroyed) return;
      socket.write(flood, () => setImmediate(more));
    };
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    more();
  };
  await withServer(send, async (url) => {
    let beats = 0;
    const beat = setInterval(() => beats++, 1);
    expect(await get(url, LIMITS).catch((error: FetchError) => error.fault)).toBe("protocol");
    clearInterval(beat);
    expect(beats).toBeGreaterThan(3);
  });
});

test("of two Location headers the first one is used", async () => {
  const send = (socket: Socket) =>
    socket.once("data", (asked) => {
      const isFirst = asked.toString("latin1").startsWith("GET / ");
      const head = isFirst ? "302 Found\r\nLocation: /a\r\nLocation: /b" : "200 OK";
      socket.end(`HTTP/1.1 ${head}\r\n\r\nhi`);
    });
  await withServer(send, async (url) => expect((await get(url, LIMITS)).url).toBe(`${url}a`));
});

test.each([["without end"], ["Content-Length: 999999999\r\n"]])(
  "a redirect does not wait for its body: %s",
  async (more) => {
    const send = (socket: Socket) =>
      socket.once("data", (asked) => {
        const isFirst = asked.toString("latin1").startsWith("GET / ");
        const length = more.includes(":") ? more : "";
        if (isFirst) socket.write(`HTTP/1.1 302 Found\r\nLocation: /a\r\n${length}\r\nwait`);
        else socket.end("HTTP/1.1 200 OK\r\n\r\nhi");
      });
    await withServer(send, async (url) => expect((await get(url, LIMITS)).url).toBe(`${url}a`));
  },
);

const ODD_HEADS: [name: string, wire: string[], body: string][] = [
  ["lines without a carriage return", ["HTTP/1.1 200 OK\nContent-Length: 2\n\nhi there"], "hi"],
  ["an empty line that comes in two", ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r", "\nhi"], "hi"],
  ["byte by byte", [..."HTTP/1.1 200 OK\r\nX: 1\r\n\r\nhi"], "hi"],
  ["an interim answer before it", ["HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi"], "hi"],
  [
    "chunks that come in pieces",
    [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "1",
      ";a=b\r",
      "\nh\r\n00",
      "1\r\ni",
      "\r\n0\r\nA: b\r\n\r\n",
    ],
    "hi",
  ],
];
test.each(ODD_HEADS)("an odd answer is read as browsers read it: %s", async (_, wire, body) => {
  const send = async (socket: Socket) => {
    socket.setNoDelay(true);
    for (const piece of wire) await new Promise((sent) => socket.write(piece, () => setImmediate(sent)));
    socket.end();
  };
  await withServer(send, async (url) => {
    expect(new TextDecoder().decode((await get(url, LIMITS)).body)).toBe(body);
  });
});

test.each([
  ["no number", "zz\r\n"],
  ["a negative one", "-5\r\nabcde\r\n"],
  ["more data than it said", "1\r\nabc\r\n0\r\n\r\n"],
  ["a line without end", "1".repeat(100_000)],
])("a chunk with %s", async (_, chunk) => {
  const send = (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`);
  await withServer(send, async (url) => {
    expect(await get(url, LIMITS).catch((error: FetchError) => error.fault)).toMatch(/^(?:protocol|too_large)$/);
  });
});

test("a body in chunks of one byte copies little more than it holds", async () => {
  const bytes = 50_000;
  const wire = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(bytes)}0\r\n\r\n`;
  let copied = 0;
  const { concat } = Buffer;
  const spy = spyOn(Buffer, "concat").mockImplementation((parts, total) => {
    const whole = concat.call(Buffer, parts, total) as Buffer<ArrayBuffer>;
    copied += whole.length;
    return whole;
  });
  try {
    await withServer(
      (socket) => socket.end(wire),
      async (url) => {
        const page = await get(url, { bytesMax: bytes, timeoutMs: 30_000 });
        expect(page.body.byteLength).toBe(bytes);
      },
    );
    expect(copied).toBeLessThan(wire.length * 10);
  } finally {
    spy.mockRestore();
  }
});
