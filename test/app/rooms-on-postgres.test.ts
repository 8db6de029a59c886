// Whole rooms of tests once more, with the program on PostgreSQL. Any other file runs so too: TEST_ENGINE=postgres bun test FILE.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { HAS_POSTGRES } from "../support/postgres.ts";

/** One or two files of each room that stores something, which together take less than a minute. */
const FILES = [
  "test/accounts/sessions.test.ts",
  "test/gateway/stages/history/conversations.test.ts",
  "test/gateway/stages/files/files.test.ts",
  "test/gateway/admission/no-store.test.ts",
  "test/gateway/admission/storage.test.ts",
  "test/gateway/stages/threads/threads.test.ts",
  "test/web/crawl.test.ts",
];

test.skipIf(!HAS_POSTGRES)(
  "the program keeps its word on PostgreSQL",
  async () => {
    const child = Bun.spawn([process.execPath, "test", "--only-failures", "--timeout=90000", ...FILES], {
      cwd: join(import.meta.dir, "../.."),
      env: { ...process.env, TEST_ENGINE: "postgres" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    const code = await child.exited;
    const passed = Number(/^\s*(\d+) pass$/m.exec(err)?.[1] ?? 0);
    expect([code, code === 0 ? "" : `${out}${err}`.slice(-4000)]).toEqual([0, ""]);
    expect(passed).toBeGreaterThan(100);
  },
  400_000,
);
