// A linked image is fetched once for a request, also after its conversation was shortened between two routes.

import { expect, test } from "bun:test";
import { createImagesStage } from "../../../../src/gateway/stages/images/stage.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const turnOf = (words: string, urls: readonly string[]) => {
  const parts = urls.map((url) => ({ type: "image_url", image_url: { url } }));
  const body = { messages: [{ role: "user", content: [{ type: "text", text: words }, ...parts] }] };
  return { body, members: {}, text: JSON.stringify(body), before: undefined, chat: { messages: [] } } as never;
};

test("each image is fetched once for all turns of a request, and again for another request", async () => {
  const fetched: string[] = [];
  const stage = createImagesStage(
    () =>
      (async (url: string) => {
        fetched.push(url);
        return { status: 200, body: new Uint8Array(PNG) };
      }) as never,
  );
  const [whole, short] = [
    turnOf("long", ["http://a.example/1", "http://a.example/2"]),
    turnOf("", ["http://a.example/2"]),
  ];
  const route = { provider: { quirks: { image_urls: false } } } as never;
  const { signal } = new AbortController();
  const run = await stage.open(whole);
  for (const turn of [whole, whole, short, whole]) expect(await run?.adapt?.(turn, route, signal)).toBeDefined();
  expect(fetched).toEqual(["http://a.example/1", "http://a.example/2"]);
  await (await stage.open(short))?.adapt?.(short, route, signal);
  expect(fetched).toHaveLength(3);
});
