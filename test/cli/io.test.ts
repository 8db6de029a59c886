import { expect, test } from "bun:test";
import { join } from "node:path";

const IO = JSON.stringify(join(import.meta.dir, "../../src/cli/io.ts"));
const CHARS = 3_000_000;

const textOf = (stream: ReadableStream) => new Response(stream).text();

function run(code: string, stdin: "ignore" | Blob = "ignore") {
  const source = `const { processIo } = await import(${IO}); const io = processIo(); ${code}; process.exit();`;
  return Bun.spawn([process.execPath, "-e", source], { stdin, stdout: "pipe", stderr: "pipe" });
}

test("all output arrives, though the process ends at once and the reader is slow to begin", async () => {
  const child = run(`io.out("x".repeat(${CHARS})); io.err("e".repeat(${CHARS}))`);
  // Errors are written first, since stdout is full and waits.
  const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  expect([out.length, err.length, await child.exited]).toEqual([CHARS, CHARS, 0]);
});

test("a reader that leaves is no error", async () => {
  const child = run(`io.out("x".repeat(${CHARS}))`);
  await child.stdout.cancel();
  expect([await textOf(child.stderr), await child.exited]).toEqual(["", 0]);
});

test("stdin is read whole, and refused when it is too large", async () => {
  const read = (size: number) =>
    run(
      "await io.readStdin().then((text) => io.out(String(text.length)), (error) => io.err(error.message))",
      new Blob(["é".repeat(size / 2)]),
    );
  expect(await textOf(read(100_000).stdout)).toBe("50000");
  expect(await textOf(read(1_100_000).stderr)).toBe("sallyport: the input on stdin is too large");
});
