import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileSink } from "../../src/telemetry/log-file.ts";

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "sallyport-log-file-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const never = (code: string) => {
  throw new Error(`cannot be written: ${code}`);
};
const read = (name: string) => readFileSync(join(home, name), "utf8");

test("after a rotation the lines go to a new file, and none is lost or written twice", async () => {
  const path = join(home, "one.log");
  const sink = fileSink(path, never);
  expect(statSync(path).mode & 0o777).toBe(0o640);
  sink.write("before\n");
  // The write is under way: it ends in the file that was moved.
  renameSync(path, `${path}.1`);
  sink.reopen();
  sink.write("after\n");
  await sink.drain();
  expect([read("one.log.1"), read("one.log")]).toEqual(["before\n", "after\n"]);
  renameSync(path, `${path}.2`);
  sink.reopen();
  sink.write("last\n");
  await sink.drain();
  expect([read("one.log.2"), read("one.log")]).toEqual(["after\n", "last\n"]);
});

test("a file is added to", async () => {
  for (const line of ["first\n", "second\n"]) {
    const sink = fileSink(join(home, "two.log"), never);
    sink.write(line);
    await sink.drain();
  }
  expect(read("two.log")).toBe("first\nsecond\n");
});

test("if the new file cannot be opened, the old one stays in use", async () => {
  const folder = join(home, "gone");
  const moved = join(home, "moved");
  mkdirSync(folder);
  const sink = fileSink(join(folder, "log"), never);
  renameSync(folder, moved);
  expect(() => sink.reopen()).toThrow("ENOENT");
  sink.write("still\n");
  await sink.drain();
  expect(readFileSync(join(moved, "log"), "utf8")).toBe("still\n");
});

test.skipIf(!existsSync("/dev/full"))(
  "a full disk is told once for each opened file, and does not end the log",
  async () => {
    const told: string[] = [];
    const sink = fileSink("/dev/full", (code) => told.push(code));
    for (const line of ["a\n", "b\n"]) {
      sink.write(line);
      await sink.drain();
    }
    expect(told).toEqual(["ENOSPC"]);
    sink.reopen();
    sink.write("c\n");
    await sink.drain();
    expect(told).toEqual(["ENOSPC", "ENOSPC"]);
  },
);
