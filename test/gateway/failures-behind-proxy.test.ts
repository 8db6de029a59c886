import { expect, test } from "bun:test";
import { join } from "node:path";

// Where the environment names a proxy, providers are called by `fetch`, so the same failures are tried with it.
test.each(["test/gateway/failures.test.ts", "test/upstream/call.test.ts"])(
  "%s holds behind a proxy",
  async (file) => {
    const child = Bun.spawn([process.execPath, "test", "--timeout", "60000", "--only-failures", file], {
      cwd: join(import.meta.dir, "../.."),
      env: { ...process.env, HTTP_PROXY: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1,localhost" },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    expect({ code, said: code === 0 ? "" : said }).toEqual({ code: 0, said: "" });
  },
  120_000,
);
