// Uploaded images through the running program, in all client formats and for all dialects; images by URL for providers that
// accept none.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { startUpstream } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const DATA = PNG.toString("base64");
const JPEG = Buffer.from([
  ...[0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0],
  ...[0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0, 0xff, 0xd9],
]);
const webp = (chunk: string, data: readonly number[]) => {
  const bytes = Buffer.from(`RIFF\x16\x00\x00\x00WEBP${chunk}\x0a\x00\x00\x00`, "latin1");
  return Buffer.concat([bytes, Buffer.from(data)]);
};
const SAMPLES: [string, Uint8Array, string][] = [
  ["png", PNG, "image/png"],
  ["jpeg", JPEG, "image/jpeg"],
  ["gif", Buffer.from("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), "image/gif"],
  ["webp", webp("VP8 ", [0, 0, 0, 0x9d, 1, 0x2a, 1, 0, 1, 0]), "image/webp"],
  ["lossless webp", webp("VP8L", [0x2f, 0, 0, 0, 0, 0, 0, 0, 0, 0]), "image/webp"],
  ["extended webp", webp("VP8X", Array<number>(10).fill(0)), "image/webp"],
];
const patched = (bytes: Uint8Array, at: number, ...values: number[]) => {
  const copy = Buffer.from(bytes);
  copy.set(values, at);
  return copy;
};
/** Files that begin like an image but contain none. */
const HOLLOW: [string, Uint8Array][] = [
  ["a PNG's signature", PNG.subarray(0, 8)],
  ["a PNG without width", patched(PNG, 16, 0, 0, 0, 0)],
  ["a PNG without height", patched(PNG, 20, 0, 0, 0, 0)],
  ["a PNG that begins with another chunk", patched(PNG, 12, 0x49, 0x44, 0x41, 0x54)],
  ["a PNG cut in its header", PNG.subarray(0, 30)],
  ["a JPEG's first bytes", JPEG.subarray(0, 6)],
  ["a JPEG without a frame", Buffer.concat([JPEG.subarray(0, 20), Buffer.from([0xff, 0xd9])])],
  ["a JPEG without width", patched(JPEG, 27, 0, 0)],
  ["a JPEG whose segment has no length", patched(JPEG, 4, 0, 0)],
  ["a GIF without a size", Buffer.from("GIF89a\x00\x00\x01\x00\x00\x00\x00;")],
  ["a GIF's signature", Buffer.from("GIF89a")],
  ["a WebP's signature", Buffer.from("RIFF\x10\x00\x00\x00WEBPVP8 ")],
  ["a WebP without a frame", webp("EXIF", Array<number>(10).fill(1))],
  ["a WebP without width", webp("VP8 ", [0, 0, 0, 0x9d, 1, 0x2a, 0, 0, 1, 0])],
];

const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/image.png") return new Response(PNG);
    if (pathname === "/moved") return Response.redirect("/image.png");
    if (pathname === "/inward") return Response.redirect("http://169.254.169.254/image.png");
    if (pathname === "/page") return new Response("<html>", { headers: { "content-type": "image/png" } });
    return new Response("gone", { status: 404 });
  },
});
const origin = `http://127.0.0.1:${site.port}`;

const ANSWERS: Record<string, Json> = {
  "/v1/chat/completions": {
    id: "c",
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  },
  "/v1/responses": {
    id: "r",
    object: "response",
    status: "completed",
    output: [
      {
        type: "message",
        id: "msg_u",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "ok", annotations: [] }],
      },
    ],
  },
  "/v1/messages": {
    id: "m",
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: "ok" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};
const GEMINI = { candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" }] };
const upstream = startUpstream(({ path }) => Response.json(ANSWERS[path] ?? GEMINI));

const provider = (kind: string, quirks: Json = {}) => ({
  kind,
  base_url: upstream.baseUrl,
  api_key: "k",
  discover: false,
  quirks,
});
const app = await startTestApp({
  config: {
    web: { allow_hosts: [`127.0.0.1:${site.port}`] },
    providers: {
      "openai-chat": provider("openai"),
      "openai-responses": provider("openai-responses"),
      "anthropic-messages": provider("anthropic"),
      gemini: provider("gemini", { image_urls: false }),
      "no-urls": provider("openai", { image_urls: false }),
    },
    models: ["openai-chat", "openai-responses", "anthropic-messages", "gemini", "no-urls"].map((id) => ({
      id,
      routes: [{ provider: id, model: "up-model" }],
    })),
  },
});

afterAll(async () => {
  await app.stop();
  upstream.stop();
  await site.stop(true);
});
beforeEach(() => {
  upstream.received.length = 0;
});

async function upload(
  content: Uint8Array,
  more: { purpose?: string; name?: string; headers?: Record<string, string> } = {},
) {
  const form = new FormData();
  form.append("file", new Blob([content as Uint8Array<ArrayBuffer>]), more.name ?? "dot.png");
  form.append("purpose", more.purpose ?? "vision");
  const response = await app.call("/v1/files", {
    method: "POST",
    body: form,
    ...(more.headers ? { headers: more.headers } : {}),
  });
  return { status: response.status, body: (await response.json()) as Json };
}

describe("POST, GET and DELETE /v1/files", () => {
  test.each(SAMPLES)("%s by its content", async (_name, content, mediaType) => {
    const { status, body } = await upload(content, { name: "no-extension" });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^file-/),
      object: "file",
      bytes: content.byteLength,
      created_at: expect.any(Number),
      filename: "no-extension",
      purpose: "vision",
      status: "processed",
    });
    const anthropic = { "anthropic-version": "2023-06-01" };
    const fetched = (await (await app.call(`/v1/files/${body["id"]}`, { headers: anthropic })).json()) as Json;
    expect(fetched).toMatchObject({ type: "file", mime_type: mediaType, size_bytes: content.byteLength });
    const bytes = await app.call(`/v1/files/${body["id"]}/content`);
    expect(Buffer.from(await bytes.arrayBuffer())).toEqual(Buffer.from(content));
    expect(bytes.headers.get("content-type")).toBe(mediaType);
    expect(bytes.headers.get("x-content-type-options")).toBe("nosniff");
    expect(bytes.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''no-extension");
  });

  test.each([
    ["text that calls itself an image", new TextEncoder().encode("hello"), {}, 400, "file"],
    ["nothing", new Uint8Array(), {}, 400, "file"],
    ["another purpose", PNG, { purpose: "fine-tune" }, 400, "purpose"],
    ["more than ten mebibytes", Buffer.concat([PNG, new Uint8Array(10 * 1024 * 1024)]), {}, 413, "file"],
  ])("%s is refused", async (_name, content, more, status, param) => {
    const answer = await upload(content, more);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ error: { param } });
  });

  test.each(HOLLOW)("%s is no image", async (_name, content) => {
    const { status, body } = await upload(content);
    expect([status, body["error"]]).toMatchObject([400, { code: "invalid_request", param: "file" }]);
  });

  test.each([
    ["../../../evil.png", "evil.png"],
    ["C:\\pictures\\cat.png", "cat.png"],
    ["/etc/passwd", "passwd"],
    ["..", "image"],
    ["a/", "image"],
    ["a/.", "image"],
    ["naïve name.png", "naïve name.png"],
  ])("a file named %p is stored as %p", async (given, kept) => {
    const { body } = await upload(PNG, { name: given });
    expect(body["filename"]).toBe(kept);
  });

  test("bodies that are not forms are refused", async () => {
    expect((await app.post("/v1/files", { file: "x" })).status).toBe(400);
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    expect((await app.call("/v1/files", { method: "POST", body: "garbage", headers })).status).toBe(400);
    expect((await app.call("/v1/files", { method: "POST", headers: { authorization: "" } })).status).toBe(401);
  });

  test("the list is newest first and can continue after a file", async () => {
    const first = (await upload(PNG)).body["id"];
    const second = (await upload(PNG)).body["id"];
    const page = (await (await app.call("/v1/files?limit=1")).json()) as { data: Json[]; has_more: boolean };
    expect(page).toMatchObject({ object: "list", data: [{ id: second }], has_more: true, last_id: second });
    const next = (await (await app.call(`/v1/files?limit=1&after=${second}`)).json()) as { data: Json[] };
    expect(next.data).toMatchObject([{ id: first }]);
    expect((await app.call("/v1/files?limit=0")).status).toBe(400);
  });

  test("a deleted file is gone", async () => {
    const { id } = (await upload(PNG)).body;
    const deleted = await app.call(`/v1/files/${id}`, { method: "DELETE" });
    expect(await deleted.json()).toEqual({ id, object: "file", deleted: true });
    expect((await app.call(`/v1/files/${id}/content`)).status).toBe(404);
    for (const method of ["GET", "DELETE"]) {
      const gone = await app.call(`/v1/files/${id}`, { method });
      expect(gone.status).toBe(404);
      expect(await gone.json()).toMatchObject({ error: { code: "file_not_found" } });
    }
    const use = await app.post("/v1/chat/completions", asChat("openai-chat", String(id)));
    expect(use.status).toBe(404);
    expect(upstream.received).toHaveLength(0);
  });

  test("x-api-key counts with an anthropic-version", async () => {
    const headers = { authorization: "", "x-api-key": app.key };
    const call = (more: Record<string, string>) => {
      const { authorization: _none, ...rest } = { ...headers, ...more };
      return fetch(`${app.url}/v1/files`, { headers: rest });
    };
    expect((await call({ "anthropic-version": "2023-06-01" })).status).toBe(200);
    expect((await call({})).status).toBe(401);
  });
});

const asChat = (model: string, url: string): Json => ({
  model,
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "What?" },
        { type: "image_url", image_url: { url, detail: "low" } },
      ],
    },
  ],
});
const FORMATS: [string, string, (model: string, id: string) => Json, (model: string, url: string) => Json][] = [
  ["chat", "/v1/chat/completions", asChat, asChat],
  [
    "responses",
    "/v1/responses",
    (model, file_id) => ({
      model,
      store: false,
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "What?" },
            { type: "input_image", file_id },
          ],
        },
      ],
    }),
    (model, image_url) => ({
      model,
      store: false,
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "What?" },
            { type: "input_image", image_url },
          ],
        },
      ],
    }),
  ],
  [
    "messages",
    "/v1/messages",
    (model, file_id) => ({
      model,
      max_tokens: 9,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What?" },
            { type: "image", source: { type: "file", file_id } },
          ],
        },
      ],
    }),
    (model, url) => ({
      model,
      max_tokens: 9,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What?" },
            { type: "image", source: { type: "url", url } },
          ],
        },
      ],
    }),
  ],
];
const MODELS = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"];

describe.each(FORMATS)("%s", (_name, path, byId, byUrl) => {
  test.each(MODELS)("an uploaded image reaches %s", async (model) => {
    const { id } = (await upload(PNG)).body;
    const response = await app.post(path, byId(model, String(id)));
    expect(response.status).toBe(200);
    expect(upstream.received[0]?.text).toContain(DATA);
    expect(upstream.received[0]?.text).not.toContain(String(id));
  });

  test.each(MODELS.slice(0, 3))("a URL stays a URL for %s, which takes them", async (model) => {
    const url = "https://images.example/dot.png";
    expect((await app.post(path, byUrl(model, url))).status).toBe(200);
    expect(upstream.received[0]?.text).toContain(url);
  });

  test.each(["gemini", "no-urls"])("an image by URL is fetched for %s", async (model) => {
    expect((await app.post(path, byUrl(model, `${origin}/moved`))).status).toBe(200);
    expect(upstream.received[0]?.text).toContain(DATA);
    expect(upstream.received[0]?.text).not.toContain(origin);
  });

  test.each([
    ["an uploaded image", "no-urls", byId],
    ["an image by URL", "no-urls", byUrl],
  ])("%s is found in a body that spells its characters as escapes", async (name, model, body) => {
    const source = name.startsWith("an uploaded") ? String((await upload(PNG)).body["id"]) : `${origin}/moved`;
    const text = JSON.stringify(body(model, source))
      .replaceAll("image", "\\u0069mage")
      .replaceAll("file-", "\\u0066ile-");
    expect((await app.call(path, { method: "POST", body: text })).status).toBe(200);
    expect(upstream.received[0]?.text).toContain(DATA);
  });

  test("the scheme of a URL may be in capital letters", async () => {
    expect((await app.post(path, byUrl("no-urls", `${origin.toUpperCase()}/moved`))).status).toBe(200);
    expect(upstream.received[0]?.text).toContain(DATA);
  });
});

describe("images that cannot be fetched", () => {
  test.each([
    ["a private network", "http://10.0.0.1/image.png", "url_not_allowed"],
    ["a redirect inward", `${origin}/inward`, "url_not_allowed"],
    ["what is no image, whatever it says", `${origin}/page`, "invalid_request"],
    ["a missing page", `${origin}/none`, "invalid_request"],
  ])("%s", async (_name, url, code) => {
    const response = await app.post("/v1/chat/completions", asChat("no-urls", url));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code } });
    expect(upstream.received).toHaveLength(0);
  });
});

test("a stored conversation shows its uploaded image again", async () => {
  const { id } = (await upload(PNG)).body;
  const input = [{ role: "user", content: [{ type: "input_image", file_id: id }] }];
  const first = (await (await app.post("/v1/responses", { model: "openai-responses", input })).json()) as Json;
  await app.post("/v1/responses", { model: "openai-responses", input: "And?", previous_response_id: first["id"] });
  expect(upstream.received[1]?.text).toContain(DATA);
});

test("ids that the gateway did not issue are left to the upstream", async () => {
  const body = FORMATS[2]?.[2]("anthropic-messages", "file_upstreams_own") ?? {};
  expect((await app.post("/v1/messages", body)).status).toBe(200);
  expect(upstream.received[0]?.text).toContain("file_upstreams_own");
});
