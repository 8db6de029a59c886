// The documents' blocks that are run, tried with the compiled program and an environment that holds nothing but the
// system's own commands. Each block has a folder of its own.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Trials } from "./trials.ts";

const ROOT = join(import.meta.dir, "../..");
const BINARY = join(ROOT, "dist/sallyport");
const TESTS = ["guides", "commands", "service-commands"].map((name) => `test/docs/${name}.test.ts`);
const MS_MAX = 480_000;

/** Tries them. */
export async function tryDocuments({ folder, trial, skip }: Trials): Promise<void> {
  for (const file of TESTS) {
    const name = `the blocks of ${file} with the compiled program`;
    if (!existsSync(BINARY)) {
      skip(name, 1, "run `bun run build` first");
      continue;
    }
    await trial(name, async () => {
      const child = Bun.spawn([process.execPath, "test", "--timeout", "90000", "--only-failures", file], {
        cwd: ROOT,
        env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: folder, TEST_BINARY: BINARY },
        ...({ stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: MS_MAX } as const),
      });
      const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      return (await child.exited) === 0 ? undefined : out + err;
    });
  }
}
