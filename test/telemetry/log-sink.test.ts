import { describe, expect, jest, test } from "bun:test";
import { join } from "node:path";
import { bytesSink, type WriteBytes } from "../../src/telemetry/log-sink.ts";

type Answer = { take: number } | { code: string };

/** A descriptor that completes each write when the test says so. */
function slowDescriptor() {
  const calls: { text: string; answer: (answer: Answer) => void }[] = [];
  let taken = "";
  const write: WriteBytes = (bytes, done) => {
    const text = new TextDecoder().decode(bytes);
    calls.push({
      text,
      answer: (answer) => {
        if ("code" in answer) return done({ code: answer.code }, 0);
        taken += text.slice(0, answer.take);
        done(null, Math.min(answer.take, bytes.length));
      },
    });
  };
  return { calls, write, taken: () => taken };
}

const ALL: Answer = { take: Number.MAX_SAFE_INTEGER };

describe("the log sink", () => {
  test("has one write under way and sends what gathered meanwhile together", async () => {
    const descriptor = slowDescriptor();
    const sink = bytesSink(descriptor.write);
    for (const line of ["a\n", "b\n", "c\n"]) sink.write(line);
    expect(descriptor.calls.map((call) => call.text)).toEqual(["a\n"]);
    descriptor.calls[0]?.answer(ALL);
    expect(descriptor.calls.map((call) => call.text)).toEqual(["a\n", "b\nc\n"]);
    const drained = sink.drain();
    descriptor.calls[1]?.answer(ALL);
    await drained;
    expect(descriptor.taken()).toBe("a\nb\nc\n");
  });

  test("goes on where a short write stopped, and after a descriptor that was not ready", async () => {
    const descriptor = slowDescriptor();
    const sink = bytesSink((bytes, done) => {
      descriptor.write(bytes, done);
      const answers: Answer[] = [{ take: 2 }, { code: "EAGAIN" }, ALL];
      descriptor.calls.at(-1)?.answer(answers[Math.min(descriptor.calls.length, 3) - 1] ?? ALL);
    });
    sink.write("abcdef\n");
    await sink.drain();
    expect(descriptor.taken()).toBe("abcdef\n");
  });

  test("goes on after a disk that was full", async () => {
    jest.useFakeTimers();
    try {
      const descriptor = slowDescriptor();
      const sink = bytesSink(descriptor.write);
      sink.write("a\n");
      for (const code of ["ENOSPC", "EDQUOT"]) {
        descriptor.calls.at(-1)?.answer({ code });
        sink.write(`${code}\n`);
        jest.advanceTimersByTime(1000);
      }
      expect(descriptor.calls.map((call) => call.text)).toEqual(["a\n", "a\n", "a\n"]);
      descriptor.calls.at(-1)?.answer(ALL);
      descriptor.calls.at(-1)?.answer(ALL);
      expect(descriptor.taken()).toBe("a\nENOSPC\nEDQUOT\n");
    } finally {
      jest.useRealTimers();
    }
  });

  test("drops and counts what a stalled reader leaves waiting", () => {
    const descriptor = slowDescriptor();
    const sink = bytesSink(descriptor.write);
    const line = `${"x".repeat(64 * 1024 - 1)}\n`;
    for (let index = 0; index < 100; index += 1) sink.write(line);
    descriptor.calls[0]?.answer(ALL);
    const second = descriptor.calls[1]?.text ?? "";
    expect(second.length).toBeLessThan(4.1 * 1024 * 1024);
    // 4 MiB hold 64 of the hundred lines.
    expect(second).toContain('"msg":"log lines dropped: too many waited","lines":36');
  });

  test("gives up for good when the reader went away", async () => {
    const descriptor = slowDescriptor();
    const sink = bytesSink(descriptor.write);
    sink.write("a\n");
    sink.write("b\n");
    descriptor.calls[0]?.answer({ code: "EPIPE" });
    sink.write("c\n");
    await sink.drain();
    expect(descriptor.calls).toHaveLength(1);
  });

  test("a process whose reader closed standard error lives on", async () => {
    const program = `
      import { createLogger } from ${JSON.stringify(join(import.meta.dir, "../../src/telemetry/log.ts"))};
      import { descriptorSink } from ${JSON.stringify(join(import.meta.dir, "../../src/telemetry/log-sink.ts"))};
      const log = createLogger({ level: "info", format: "json", clock: { now: () => 0 }, secrets: [], ...descriptorSink(2) });
      await new Promise((go) => process.stdin.once("data", go));
      for (let i = 0; i < 2000; i += 1) log.error("line", { i, text: "x".repeat(500) });
      await log.flush();
      process.stdout.write("alive");
      process.exit(0);
    `;
    const child = Bun.spawn([process.execPath, "-e", program], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
    await child.stderr.cancel();
    child.stdin.write("go\n");
    await child.stdin.end();
    expect(await new Response(child.stdout).text()).toBe("alive");
    expect(await child.exited).toBe(0);
  });
});
