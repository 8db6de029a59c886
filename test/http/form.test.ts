// The names and types that a client gives the files of a form, at every endpoint that takes files.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readForm } from "../../src/http/form.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { startUpstream } from "../support/upstream.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const NAMES = [
  '; filename=""',
  '; filename="\0.png"',
  '; filename="\\0.html"',
  "; filename",
  "",
  "; filename*=UTF-8''a.png",
  '; filename=".."',
  '; filename="/"',
  '; filename="constructor"',
  '; filename="%"',
  '; filename="\xff\xfe.png"',
  `; filename="${"a".repeat(254)}😀.png"`,
  '; filename="a.png"; filename=""',
  '; filename="a.png"\r\nContent-Type: \0',
  '; filename="a.png"\r\nContent-Type: text/\xe9; charset="\x01"',
  '; filename="a.png"\r\nContent-Type: ',
];

const ENDPOINTS: readonly (readonly [string, Uint8Array, Readonly<Record<string, string>>])[] = [
  ["/v1/files", PNG, { purpose: "vision" }],
  ["/v2/parse", Buffer.from("<p>Text of a page</p>"), { options: "{}" }],
  ["/v1/audio/transcriptions", Buffer.from("RIFF"), { model: "heard" }],
  ["/v1/images/edits", PNG, { model: "drawn", prompt: "x" }],
];

const upstream = startUpstream();
upstream.answer(() => Response.json({ text: "x", data: [] }));
const model = (id: string, kind: string) => ({ id, kind, routes: [{ provider: "up", model: id }] });
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({
    key: { rpm: 1_000_000 },
    config: {
      providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "sk-of-the-provider", discover: false } },
      models: [model("heard", "transcription"), model("drawn", "image")],
    },
  });
});
afterAll(() => Promise.all([app.stop(), upstream.stop()]));

function formOf(disposition: string, content: Uint8Array, fields: Readonly<Record<string, string>>, field = "file") {
  const part = (head: string, body: Uint8Array) =>
    Buffer.concat([Buffer.from(`--X\r\nContent-Disposition: form-data; ${head}\r\n\r\n`), body, Buffer.from("\r\n")]);
  const texts = Object.entries(fields).map(([name, value]) => part(`name="${name}"`, Buffer.from(value)));
  return Buffer.concat([...texts, part(`name="${field}"${disposition}`, content), Buffer.from("--X--\r\n")]);
}

const headers = { "content-type": "multipart/form-data; boundary=X" };

test.each(ENDPOINTS)("no name or type of a file makes %s fail", async (path, content, fields) => {
  const field = path === "/v1/images/edits" ? "image" : "file";
  const statuses: number[] = [];
  for (const disposition of NAMES) {
    const body = formOf(disposition, content, fields, field);
    statuses.push((await app.call(path, { method: "POST", headers, body })).status);
  }
  const taken = statuses.filter((status) => status === 200);
  // 422: the type that the client states is not one that can be read.
  expect(statuses.filter((status) => ![200, 400, 422].includes(status))).toEqual([]);
  // A file part whose name is empty or odd is still a file.
  expect(taken.length).toBeGreaterThan(NAMES.length / 3);
});

test.each([
  ['; filename=""', ""],
  ['; filename="\0.png"', ""],
  ['; filename=".."', ""],
  ['; filename="a/b\\c.png"', "c.png"],
  [`; filename="${"a".repeat(254)}😀"`, `${"a".repeat(254)}\ufffd`],
])("the name of a file is text that is fit for a path: %s", async (disposition, name) => {
  const request = new Request("http://x/", { method: "POST", headers, body: formOf(disposition, PNG, {}) });
  const form = await readForm(request, 100_000);
  expect(form.file("file")).toMatchObject({ name, bytes: PNG.byteLength });
  expect([form.text("file"), form.file("none"), form.has("none")]).toEqual([undefined, undefined, false]);
});
