import { expect, test } from "bun:test";
import { join } from "node:path";
import { isTerminal } from "../../src/cli/terminal.ts";

const FILE = join(import.meta.dir, "../../src/cli/terminal.ts");
/** Says also whether the platform's stream was needed. */
const scriptOf = (nothing: string) => `import { isTerminal } from ${JSON.stringify(FILE)};
import { isatty } from "node:tty";
let needed = "";
Object.defineProperty(process, "stderr", {
  get() {
    needed = ", by the stream";
    return { isTTY: isatty(2) };
  },
});
await Bun.write(process.argv[1], String(isTerminal(${nothing})) + needed);`;

async function said(options: Parameters<typeof Bun.spawn>[1], nothing = ""): Promise<string> {
  const answer = join(process.env["TMPDIR"] ?? "/tmp", `terminal-${crypto.randomUUID()}`);
  const child = Bun.spawn([process.execPath, "-e", scriptOf(nothing), answer], options);
  expect(await child.exited).toBe(0);
  const text = await Bun.file(answer).text();
  await Bun.file(answer).delete();
  return text;
}

test("a pipe, nothing and a terminal", async () => {
  expect(isTerminal()).toBe(process.stderr.isTTY === true);
  expect(await said({ stderr: "pipe" })).toBe("false");
  expect(await said({ stderr: "ignore" })).toBe("false");
  expect(await said({ terminal: {} })).toBe("true, by the stream");
});

test("a terminal on a system without the file of nothing", async () => {
  expect(await said({ terminal: {} }, '"/dev/no such file"')).toBe("true, by the stream");
});
