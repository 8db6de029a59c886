// A large upload is streamed to the provider: whatever its size, the program needs the same amount of memory.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";

const MIB = 1024 * 1024;
const SMALL = 20 * MIB;
const LARGE = 300 * MIB;
const COLLECT_EVERY = 16 * MIB;
/** The amount that garbage collection may lag behind, with a wide margin. Buffering the upload would need its full size. */
const GROWTH_MAX = 150 * MIB;

let received = 0;
let peak = 0;
const upstream = Bun.serve({
  ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0, maxRequestBodySize: 2 * LARGE },
  async fetch(request) {
    received = 0;
    let collectAt = COLLECT_EVERY;
    for await (const chunk of request.body as ReadableStream<Uint8Array>) {
      received += chunk.byteLength;
      // In a process with a large heap the collector would wait for as much garbage again.
      if (received >= collectAt) {
        Bun.gc(true);
        collectAt += COLLECT_EVERY;
      }
      peak = Math.max(peak, process.memoryUsage.rss());
    }
    return Response.json({ text: "heard" });
  },
});
const app = await startTestApp({
  config: {
    providers: { up: { kind: "openai", base_url: `http://127.0.0.1:${upstream.port}/v1`, discover: false } },
    models: [{ id: "hearer", kind: "transcription", routes: [{ provider: "up", model: "theirs" }] }],
  },
});
afterAll(() => Promise.all([app.stop(), upstream.stop(true)]));

async function upload(bytes: number): Promise<number> {
  const B = "large";
  const field = `--${B}\r\nContent-Disposition: form-data; name="model"\r\n\r\nhearer\r\n`;
  const file = `--${B}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`;
  let left = bytes;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(Buffer.from(field + file)),
      pull(controller) {
        const size = Math.min(left, 256 * 1024);
        left -= size;
        if (size > 0) controller.enqueue(new Uint8Array(size));
        else {
          controller.enqueue(Buffer.from(`\r\n--${B}--\r\n`));
          controller.close();
        }
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { "content-type": `multipart/form-data; boundary=${B}` };
  const response = await app.call("/v1/audio/transcriptions", { method: "POST", body, headers });
  await response.text();
  return response.status;
}

test("an upload of 300 MiB is streamed within little memory", async () => {
  expect(await upload(SMALL)).toBe(200);
  const before = peak;
  expect(await upload(LARGE)).toBe(200);
  expect(received).toBeGreaterThan(LARGE);
  expect(peak - before).toBeLessThan(GROWTH_MAX);
}, 120_000);
