// A large upload is streamed to the provider: whatever its size, the program needs the same amount of memory. The program is a process
// of its own: in this one, other tests have left a heap in which garbage is collected late, and slowly.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountStore } from "../../../../src/store/access/accounts.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { openStore } from "../../../../src/store/engine/open.ts";
import { programCommand } from "../../../support/source-program.ts";

const MIB = 1024 * 1024;
const SMALL = 20 * MIB;
const LARGE = 300 * MIB;
/** The amount that garbage collection may lag behind, with a wide margin. Buffering the upload would need its full size. */
const GROWTH_MAX = 100 * MIB;
/** Only Linux tells the peak of another process that still runs. */
const HAS_PEAK = process.platform === "linux";

let received = 0;
const upstream = Bun.serve({
  ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0, maxRequestBodySize: 2 * LARGE },
  async fetch(request) {
    received = 0;
    for await (const chunk of request.body as ReadableStream<Uint8Array>) received += chunk.byteLength;
    return Response.json({ text: "heard" });
  },
});
const folder = mkdtempSync(join(tmpdir(), "sallyport-upload-"));
const dataDir = join(folder, "data");
const store = openStore({ dataDir });
const account = await accountStore(store).createAccount({ username: "u", email: "u@example.com", tier: "premium" });
if ("refused" in account) throw new Error(account.refused);
const { key } = await keyStore(store).createKey({ accountId: account.id, name: "u" });
store.close();
const file = join(folder, "c.yaml");
await Bun.write(
  file,
  JSON.stringify({
    providers: { up: { kind: "openai", base_url: `http://127.0.0.1:${upstream.port}/v1`, discover: false } },
    models: [{ id: "hearer", kind: "transcription", routes: [{ provider: "up", model: "theirs" }] }],
  }),
);
const gateway = Bun.spawn([...programCommand(), "serve", "--port", "0", "--data-dir", dataDir, "--config", file], {
  cwd: folder,
  env: { PATH: process.env["PATH"] ?? "", HOME: folder },
  stdout: "pipe",
  stderr: "ignore",
});
const { value: said } = await gateway.stdout.getReader().read();
const url = /http:\S+/.exec(new TextDecoder().decode(said))?.[0];
afterAll(async () => {
  gateway.kill("SIGKILL");
  await gateway.exited;
  await upstream.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

/** The most memory that the gateway has had. */
function peak(): number {
  const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}

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
  const headers = { authorization: `Bearer ${key}`, "content-type": `multipart/form-data; boundary=${B}` };
  const response = await fetch(`${url}/v1/audio/transcriptions`, { method: "POST", body, headers });
  await response.text();
  return response.status;
}

test.skipIf(!HAS_PEAK)(
  "an upload of 300 MiB is streamed within little memory",
  async () => {
    expect(await upload(SMALL)).toBe(200);
    const before = peak();
    expect(before).toBeGreaterThan(MIB);
    expect(await upload(LARGE)).toBe(200);
    expect(received).toBeGreaterThan(LARGE);
    expect(peak() - before).toBeLessThan(GROWTH_MAX);
  },
  120_000,
);
