// A form that is passed through: what is read of it, what is stored so that it can be sent again, and its limits.

import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSpools } from "../../src/http/spool.ts";
import { openUpload, type Upload, type UploadBody, type UploadLimits } from "../../src/http/upload.ts";

const MIB = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), "sallyport-spool-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const uploads = join(folder, "uploads");

const B = "b0undary";
const field = (name: string, value: string) =>
  `--${B}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const FILE = `--${B}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`;
const END = `\r\n--${B}--\r\n`;

/** The pieces of a body. A number stands for that many bytes of a file, in pieces of 64 KiB. */
function* piecesOf(parts: readonly (string | number)[]): Generator<Uint8Array> {
  for (const part of parts) {
    if (typeof part === "string") yield Buffer.from(part);
    else for (let left = part; left > 0; left -= 65_536) yield Buffer.alloc(Math.min(left, 65_536), left % 251);
  }
}

function requestOf(parts: readonly (string | number)[], more: { length?: number; hangs?: true; cuts?: true } = {}) {
  const pieces = piecesOf(parts);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = pieces.next();
        if (done !== true) controller.enqueue(value);
        else if (more.cuts === true) controller.error(new Error("reset"));
        else if (more.hangs !== true) controller.close();
        else await new Promise<void>(() => {});
      },
    },
    { highWaterMark: 0 },
  );
  const headers = new Headers({ "content-type": `multipart/form-data; boundary=${B}` });
  if (more.length !== undefined) headers.set("content-length", String(more.length));
  return new Request("http://localhost/", { method: "POST", body, headers });
}

const open = (request: Request, limits: Partial<UploadLimits> = {}, spools = createSpools(uploads)): Promise<Upload> =>
  openUpload(request, spools, { field: "model", limits: { maxBytes: 512 * MIB, ...limits } });

async function whole(body: UploadBody): Promise<{ size: number; hash: string; text: string }> {
  const hasher = new Bun.CryptoHasher("sha256");
  let size = 0;
  let text = "";
  for (let bytes = await body.next(); bytes !== undefined; bytes = await body.next()) {
    hasher.update(bytes);
    size += bytes.byteLength;
    if (text.length < 1000) text += Buffer.from(bytes).toString("latin1");
  }
  return { size, hash: hasher.digest("hex"), text };
}

test.each([
  ["before the file", [field("model", "m"), field("language", "de"), FILE, "RIFF", END], ["model", "language"]],
  [
    "after it",
    [field("language", "de"), FILE, "RIFF", "\r\n", field("model", "m"), END.slice(2)],
    ["language", "model"],
  ],
])("the model %s: read, and replaced for each provider", async (_name, parts, names) => {
  const length = parts.join("").length;
  const upload = await open(requestOf(parts, { length }));
  expect([...upload.fields.keys()]).toEqual(names);
  expect(upload.files).toEqual(["file"]);
  for (const model of ["theirs", "of-another"]) {
    const body = upload.body({ model });
    const { size, text } = await whole(body);
    expect(body.length).toBe(size);
    const form = await new Response(text, { headers: { "content-type": body.type } }).formData();
    expect([form.getAll("model"), form.get("language")]).toEqual([[model], "de"]);
    expect(await (form.get("file") as File).text()).toBe("RIFF");
  }
  await upload.close();
});

test("a stored upload is sent again byte for byte, even after an interruption in the middle", async () => {
  const upload = await open(requestOf([field("model", "m"), FILE, 5 * MIB, END]));
  const first = upload.body({ model: "a" });
  for (let piece = 0; piece < 20; piece++) await first.next();
  const second = await whole(upload.body({ model: "a" }));
  expect(upload.canBeSentAgain).toBe(true);
  expect(await whole(upload.body({ model: "a" }))).toEqual(second);
  expect(second.size).toBeGreaterThan(5 * MIB);
  // The file has no name, so that a process that dies leaves nothing behind.
  expect(readdirSync(uploads)).toEqual([]);
  await upload.close();
});

test("more than 25 MiB is not stored, and is passed on", async () => {
  const upload = await open(requestOf([field("model", "m"), FILE, 30 * MIB, END]));
  const { size } = await whole(upload.body({ model: "a" }));
  expect([size > 30 * MIB, upload.canBeSentAgain]).toEqual([true, false]);
  await upload.close();
});

describe("refused", () => {
  const good = [field("model", "m"), FILE, "RIFF", END];
  const size = good.join("").length;
  const cases: [string, () => Promise<unknown>, string][] = [
    [
      "a said length beyond the limit",
      () => open(requestOf(good, { length: size }), { maxBytes: size - 1 }),
      "request_too_large",
    ],
    [
      "a length beyond the limit that was not said",
      async () => whole((await open(requestOf(good), { maxBytes: size - 1 })).body({ model: "m" })),
      "request_too_large",
    ],
    [
      "a model behind 26 MiB",
      () => open(requestOf([FILE, 26 * MIB, "\r\n", field("model", "m"), END])),
      "invalid_request",
    ],
    ["silence", () => open(requestOf([FILE, 10], { hangs: true }), { stallMs: 5 }), "request_timeout"],
    ["too long in all", () => open(requestOf([FILE, 10], { hangs: true }), { totalMs: 5 }), "request_timeout"],
    ["a connection that breaks", () => open(requestOf([FILE, 10], { cuts: true })), "invalid_request"],
    ["an end in the middle", () => open(requestOf([FILE, 10])), "invalid_request"],
  ];
  test.each(cases)("%s", async (_name, work, code) => {
    expect(await work().then(String, (error: { apiCode: string }) => error.apiCode)).toBe(code);
  });

  test("a request just within the limit is accepted", async () => {
    const upload = await open(requestOf(good, { length: size }), { maxBytes: size });
    expect((await whole(upload.body({ model: "m" }))).size).toBeGreaterThan(0);
    await upload.close();
  });

  test("an upload that is compressed", async () => {
    const request = requestOf(good);
    request.headers.set("content-encoding", "gzip");
    expect(open(request)).rejects.toThrow("Content-Encoding");
  });
});

test("if the disk is full, an upload is passed on, but cannot be sent again", async () => {
  const upload = await open(requestOf([field("model", "m"), FILE, MIB, END]), {}, createSpools(uploads, MIB / 2));
  const { size } = await whole(upload.body({ model: "a" }));
  expect([size > MIB, upload.canBeSentAgain]).toEqual([true, false]);
  await upload.close();
});
