import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AnswerHead } from "../../../src/upstream/connection/answer-head.ts";
import { CallExchange } from "../../../src/upstream/connection/exchange.ts";
import { BrokenAnswer, InvalidHeader } from "../../../src/upstream/connection/failures.ts";
import { headEnd, headStart, targetOf } from "../../../src/upstream/connection/request-head.ts";
import "../../support/seed.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");
const OK = "HTTP/1.1 200 OK\r\n";

const requestOf = (method: string) => ({
  ...{ method, head: "", isAscii: true, body: undefined, bodyBytes: 0, upload: undefined },
  ...{ firstByteMs: 60_000, late: () => new Error("late") },
});

const idleCarrier = (release: (isKept: boolean) => void = () => {}) => ({
  ...{ mayBeStale: false, send() {}, write() {}, whenTaken: () => Promise.resolve() },
  ...{ pause() {}, resume() {}, close() {}, release },
});

/** Byte order marks, characters of every length, and what is no UTF-8. */
const PARTS_OF_TEXT = [
  [0xef, 0xbb, 0xbf],
  [0xc3],
  [0xa9],
  [0xe2, 0x82],
  [0xac],
  [0xf0, 0x9f, 0x98, 0x80],
  [0xff],
  [0x41],
];

test("the text of an answer is that of its bytes", () => {
  const property = fc.property(
    fc.array(fc.constantFrom(...PARTS_OF_TEXT), { maxLength: 6 }),
    fc.nat(400),
    (parts, cut) => {
      const body = Buffer.from(parts.flat());
      const all = Buffer.concat([bytes(`${OK}Content-Length: ${body.length}\r\n\r\n`), body]);
      const exchange = new CallExchange(requestOf("POST"), { answered() {}, refused() {}, again() {} });
      exchange.ready(idleCarrier());
      const at = cut % (all.length + 1);
      for (const piece of [all.subarray(0, at), all.subarray(at)]) if (piece.length > 0) exchange.received(piece);
      expect(exchange.isComplete).toBe(true);
      expect(exchange.text()).toBe(new TextDecoder().decode(body));
      expect(exchange.text()).toBe("");
      expect(exchange.read()).toBeUndefined();
    },
  );
  fc.assert(property, { numRuns: 2000 });
});

interface Read {
  head: AnswerHead | undefined;
  body: string;
  error: unknown;
  isComplete: boolean;
  /** Whether the connection may carry another request; undefined while the answer is not complete. */
  isKept: boolean | undefined;
}

/** Reads an answer from these pieces, and then the end of the connection if `ends`. */
async function read(pieces: readonly Buffer[], { method = "POST", ends = false } = {}): Promise<Read> {
  const out: Read = { head: undefined, body: "", error: undefined, isComplete: false, isKept: undefined };
  let isRead = false;
  const exchange = new CallExchange(requestOf(method), {
    answered: (answer) => {
      out.head = answer.head;
    },
    refused: (error) => {
      if (!isRead) out.error = error;
    },
    again: () => {
      throw new Error("not on this connection");
    },
  });
  exchange.ready(
    idleCarrier((isKept) => {
      out.isKept = isKept;
    }),
  );
  for (const piece of pieces) exchange.received(piece);
  if (ends) exchange.ended(true, undefined);
  out.isComplete = exchange.isComplete;
  const parts: Uint8Array[] = [];
  try {
    while (out.head !== undefined) {
      const part = exchange.read();
      if (part instanceof Promise) {
        part.catch(() => undefined);
        break;
      }
      if (part === undefined) break;
      parts.push(part);
    }
  } catch (error) {
    out.error = error;
  }
  isRead = true;
  exchange.stop(new Error("over"));
  out.body = Buffer.concat(parts).toString("latin1");
  return out;
}

const ANSWERS: Record<string, { text: string; body: string; isKept: boolean; method?: string; ends?: true }> = {
  "a length": { text: `${OK}Content-Length: 5\r\n\r\nhello`, body: "hello", isKept: true },
  "no body": { text: `${OK}Content-Length: 0\r\n\r\n`, body: "", isKept: true },
  "the same length twice": { text: `${OK}Content-Length: 2\r\ncontent-length: 2\r\n\r\nhi`, body: "hi", isKept: true },
  chunks: {
    text: `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0A\r\n0123456789\r\n0\r\n\r\n`,
    body: "abc0123456789",
    isKept: true,
  },
  "chunks with extensions and trailers": {
    text: `${OK}transfer-encoding: Chunked\r\n\r\n1;a=b\r\nx\r\n2 ; c\r\nyz\r\n0\r\nX-Sum: 1\r\nY: \r\n\r\n`,
    body: "xyz",
    isKept: true,
  },
  "interim answers": {
    text: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 1\r\n\r\n!`,
    body: "!",
    isKept: true,
  },
  "204 with a length": { text: "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", body: "", isKept: true },
  "304 with a length": { text: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", body: "", isKept: true },
  "an answer to HEAD": { text: `${OK}Content-Length: 9\r\n\r\n`, body: "", isKept: true, method: "HEAD" },
  "the end of the connection": { text: `${OK}\r\nall of it`, body: "all of it", isKept: false, ends: true },
  "HTTP/1.0": { text: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", body: "x", isKept: false },
  "a server that closes": {
    text: `${OK}Connection: foo, Close\r\nContent-Length: 1\r\n\r\nx`,
    body: "x",
    isKept: false,
  },
  "no reason": { text: "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", body: "x", isKept: true },
  "bytes after the answer": {
    text: `${OK}Content-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n\r\n`,
    body: "x",
    isKept: false,
  },
};

describe("an answer is read to its end", () => {
  test.each(Object.entries(ANSWERS))("%s", async (_name, { text, body, isKept, method = "POST", ends = false }) => {
    const got = await read([bytes(text)], { method, ends });
    expect(got).toMatchObject({ body, error: undefined, isComplete: true });
    expect(got.isKept ?? false).toBe(isKept);
  });
});

test("an answer is read alike however its bytes are split", async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...Object.values(ANSWERS)),
    fc.array(fc.nat(400), { maxLength: 12 }),
    async ({ text, method = "POST", ends = false, body }, cuts) => {
      const all = bytes(text);
      const places = [0, ...cuts.map((cut) => cut % (all.length + 1)).sort((a, b) => a - b), all.length];
      const pieces = places
        .slice(1)
        .map((to, at) => all.subarray(places[at], to))
        .filter((piece) => piece.length > 0);
      const got = await read(pieces, { method, ends });
      expect(got).toMatchObject({ body, error: undefined, isComplete: true });
    },
  );
  await fc.assert(property, { numRuns: 400 });
  for (const { text, method = "POST", ends = false, body } of Object.values(ANSWERS)) {
    const single = [...bytes(text)].map((byte) => Buffer.from([byte]));
    expect(await read(single, { method, ends })).toMatchObject({ body, error: undefined, isComplete: true });
  }
});

describe("an answer that can be read in two ways is an error", () => {
  test.each<[string, string]>([
    ["another protocol", "SSH-2.0-x\r\n\r\n"],
    ["HTTP/2", "HTTP/2 200 OK\r\n\r\n"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
    ["a status below 100", "HTTP/1.1 099 x\r\n\r\n"],
    ["an upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["a line that continues another", `${OK}A: b\r\n c\r\nContent-Length: 0\r\n\r\n`],
    ["a space before the colon", `${OK}Content-Length : 5\r\n\r\nhello`],
    ["no colon", `${OK}Content-Length\r\n\r\n`],
    ["no name", `${OK}: 5\r\n\r\n`],
    ["a line feed alone", `${OK}A: b\nContent-Length: 3\r\n\r\nabc`],
    ["a carriage return alone", `${OK}A: b\rContent-Length: 3\r\n\r\nabc`],
    ["a NUL", `${OK}A: \0\r\nContent-Length: 0\r\n\r\n`],
    ["two lengths", `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`],
    ["a list of lengths", `${OK}Content-Length: 5, 5\r\n\r\nhello`],
    ["a signed length", `${OK}Content-Length: +5\r\n\r\nhello`],
    ["a length in hex", `${OK}Content-Length: 0x5\r\n\r\nhello`],
    ["a length beyond all numbers", `${OK}Content-Length: 99999999999999999999\r\n\r\n`],
    ["an empty length", `${OK}Content-Length:\r\n\r\n`],
    ["a length with a space of another kind", `${OK}Content-Length: \xa05\r\n\r\nhello`],
    ["a length and chunks", `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["two codings", `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ["a coding twice", `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["an unknown coding", `${OK}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ["chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a chunk that is longer than it says", `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n`],
    ["a signed chunk", `${OK}Transfer-Encoding: chunked\r\n\r\n-1\r\n`],
    ["a chunk in 0x", `${OK}Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n`],
    ["a chunk without a size", `${OK}Transfer-Encoding: chunked\r\n\r\n;a\r\n`],
    ["a huge chunk", `${OK}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n`],
    ["a chunk whose line ends in a line feed", `${OK}Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n`],
    ["a trailer that is no header", `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\nHTTP/1.1 200 OK\r\n\r\n`],
    ["too many headers", `${OK}${"A: b\r\n".repeat(300)}\r\n`],
    ["a head that does not end", `${OK}A: ${"b".repeat(70_000)}`],
    ["a size that does not end", `${OK}Transfer-Encoding: chunked\r\n\r\n1;${"b".repeat(2000)}`],
    ["trailers that do not end", `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n${"A: b\r\n".repeat(5000)}`],
    ["interim answers without end", "HTTP/1.1 100 Continue\r\n\r\n".repeat(20)],
  ])("%s", async (_name, text) => {
    const got = await read([bytes(text)]);
    expect(got.error).toBeInstanceOf(BrokenAnswer);
    expect(got.isKept ?? false).toBe(false);
    // The same byte by byte.
    expect((await read([...bytes(text)].map((byte) => Buffer.from([byte])))).error).toBeInstanceOf(BrokenAnswer);
  });
});

describe("an answer that ends early is an error", () => {
  test.each<[string, string]>([
    ["in its head", `${OK}Content-Le`],
    ["before its first byte", ""],
    ["in its length", `${OK}Content-Length: 5\r\n\r\nhell`],
    ["in a chunk", `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhell`],
    ["before its last chunk", `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nhell\r\n`],
    ["in its trailers", `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n`],
  ])("%s", async (_name, text) => {
    expect((await read([bytes(text)], { ends: true })).error).toBeInstanceOf(BrokenAnswer);
  });
});

test("no text makes the reader throw, or keep a connection on which something is left", async () => {
  const words = [
    "HTTP/1.1 200 OK",
    "\r\n",
    "\n",
    "\r",
    " ",
    ":",
    "0",
    "5",
    "Content-Length",
    "Transfer-Encoding",
    "chunked",
    "\0",
    "x",
    ";",
  ];
  const property = fc.asyncProperty(fc.array(fc.constantFrom(...words), { maxLength: 40 }), async (parts) => {
    const got = await read([bytes(`${OK}${parts.join("")}`)]);
    if (got.error !== undefined) expect(got.error).toBeInstanceOf(BrokenAnswer);
    if (got.isKept === true) expect(got.isComplete).toBe(true);
  });
  await fc.assert(property, { numRuns: 1000 });
});

test("the fields of a head are those of its lines, read one after the other", async () => {
  const name = fc.string({ unit: fc.constantFrom("a", "Z", "-", "^", "~", " ", "é"), maxLength: 3 });
  const value = fc.string({
    unit: fc.constantFrom("b", " ", "\t", ":", "\xe9", "\x7f", "\r", "\n", "\0"),
    maxLength: 5,
  });
  const known = fc.constantFrom("Connection", "CONTENT-ENCODING", "keep-alive", "cOnTeNt-EnCoDiNg", "Keep_Alive");
  const property = fc.asyncProperty(
    fc.array(fc.tuple(fc.oneof(name, known), value), { maxLength: 6 }),
    async (lines) => {
      const text = lines.map(([left, right]) => `${left}:${right}\r\n`).join("");
      const { head, error } = await read([bytes(`${OK}${text}Content-Length: 0\r\n\r\n`)]);
      const isValid = lines.every(
        ([left, right]) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(left) && /^[\t\x20-\x7e\x80-\xff]*$/.test(right),
      );
      if (!isValid) {
        // A value may also have ended the head.
        if (!text.includes("\r\n\r\n")) expect(error).toBeInstanceOf(BrokenAnswer);
        return;
      }
      const trimmed = lines.map(
        ([left, right]) => [left.toLowerCase(), right.replace(/^[\t ]+|[\t ]+$/g, "")] as const,
      );
      expect(head?.fields).toEqual([...trimmed.flat(), "content-length", "0"]);
      expect(head?.encoding).toBe(trimmed.find(([left]) => left === "content-encoding")?.[1]);
    },
  );
  await fc.assert(property, { numRuns: 1000 });
});

describe("the head of a request", () => {
  const target = targetOf("http://up.example:8080/v1/chat/completions?a=b");
  const head = (headers: Record<string, string>) => headStart({ method: "POST", target, headers }) + headEnd(2);

  test("has the host, the headers and the length", () => {
    expect(head({ Authorization: "Bearer k", "x-a": "1" })).toBe(
      "POST /v1/chat/completions?a=b HTTP/1.1\r\nhost: up.example:8080\r\nuser-agent: Sallyport\r\naccept: */*\r\n" +
        "authorization: Bearer k\r\nx-a: 1\r\ncontent-length: 2\r\n\r\n",
    );
  });

  test("takes no header of the connection and no second length", () => {
    const text = head({
      "Content-Length": "9",
      "transfer-encoding": "chunked",
      Connection: "close",
      TE: "x",
      upgrade: "x",
    });
    expect(text).not.toMatch(/chunked|close|upgrade|9\r|te:/i);
  });

  test("the later spelling of a name counts", () => {
    expect(head({ authorization: "a", Authorization: "b" }).match(/authorization: .*/gi)).toEqual(["authorization: b"]);
  });

  test("no value and no name adds a line", () => {
    const text = fc.string({ unit: fc.constantFrom("a", ":", " ", "\r", "\n", "\0", "\x7f", "é", "→", "\u2028") });
    const property = fc.property(text, text, (name, value) => {
      let lines: string[];
      try {
        lines = head({ [name]: value }).split(/[\r\n]+/);
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidHeader);
        return;
      }
      expect(lines.length).toBe(7);
    });
    fc.assert(property, { numRuns: 1000 });
  });

  test.each([
    ["http://up.example/a b?c=d e", "/a%20b?c=d%20e"],
    ["http://up.example/a/../b", "/b"],
    ["http://up.example/a/%2e%2e/b", "/b"],
    ["http://up.example/a\r\nX: y", "/aX:%20y"],
    ["http://up.example/ü", "/%C3%BC"],
    ["http://up.example/a#b", "/a"],
    ["http://up.example", "/"],
    ["http://up.example/v1/models/a:generateContent?alt=sse", "/v1/models/a:generateContent?alt=sse"],
  ])("the path of %p", (url, path) => {
    expect(targetOf(url).path).toBe(path);
    // The second time, the origin is known.
    expect(targetOf(url).path).toBe(path);
  });
});
