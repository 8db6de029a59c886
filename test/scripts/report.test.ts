import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filesToRepeat, judge } from "../../scripts/report.ts";

const one = (name: string, inside = "", file = "test/a.test.ts", group = "") =>
  `<testcase name="${name}" classname="${group}" time="0.1" file="${file}" line="2" assertions="1"${
    inside === "" ? " />" : `>\n${inside}\n</testcase>`
  }`;
const suite = (...cases: string[]) =>
  `<testsuites tests="1"><testsuite name="a">${cases.join("\n")}</testsuite></testsuites>`;
const FAILURE = '<failure type="AssertionError" message="a &gt; b">text</failure>';
const good = { xml: suite(one("fine")), exitCode: 0, files: ["test/a.test.ts"], strict: true };

test("the report of a run without failures", () => {
  expect(judge(good)).toEqual({ passed: 1, failed: 0, skipped: 0, notes: [] });
});

test("failures and skips are counted, skips are named", () => {
  const xml = suite(
    one("fine"),
    one("bad", FAILURE),
    one("later", "<skipped />", "test/a.test.ts", "a &amp; b, optional"),
  );
  expect(judge({ ...good, xml, exitCode: 1 })).toEqual({
    passed: 1,
    failed: 1,
    skipped: 1,
    notes: ["skipped: test/a.test.ts: a & b, optional > later"],
  });
});

test("a skipped test fails where everything must run, and only there", () => {
  const xml = suite(one("fine"), one("renders in the browser", "<skipped />"));
  expect(judge({ ...good, xml })).toMatchObject({ passed: 1, failed: 1, skipped: 0 });
  expect(judge({ ...good, xml, strict: false })).toMatchObject({ passed: 1, failed: 0, skipped: 1 });
});

test("a file that did not load is a failure", () => {
  const verdict = judge({ ...good, files: ["test/a.test.ts", "test/b.test.ts"], exitCode: 1 });
  expect(verdict).toMatchObject({ passed: 1, failed: 1 });
  expect(verdict.notes.join()).toContain("test/b.test.ts");
});

test("each answer that the OpenAPI document does not name is a failure, whatever the tests say", () => {
  expect(judge({ ...good, undocumented: ["POST /v1/scrape 418 teapot"] })).toEqual({
    passed: 1,
    failed: 1,
    skipped: 0,
    notes: ["failed: not in the OpenAPI document: POST /v1/scrape 418 teapot"],
  });
});

test.each([
  ["an empty report", { xml: "", exitCode: 0, files: [] }],
  ["a crash after the report", { exitCode: 139 }],
  ["no test at all", { xml: suite(), files: [] }],
])("is never good: %s", (_name, change) => {
  expect(judge({ ...good, ...change }).failed).toBe(1);
});

describe("a second run", () => {
  const A = "test/a.test.ts";
  const B = "test/b.test.ts";
  const bad = { xml: suite(one("fine"), one("bad", FAILURE)), exitCode: 1, files: [A], strict: true };
  const second = (xml: string, exitCode: number) => [{ file: A, xml, exitCode }];

  test("is for files with a failure and files that did not run, and for none where much is broken", () => {
    expect(
      filesToRepeat(suite(one("fine"), one("bad", FAILURE), one("fine", "", B)), [A, B, "test/c.test.ts"]),
    ).toEqual([A, "test/c.test.ts"]);
    const all = Array.from({ length: 13 }, (_, at) => `test/${at}.test.ts`);
    expect(filesToRepeat("", all)).toEqual([]);
    expect(filesToRepeat("", all.slice(1))).toHaveLength(12);
  });

  test("names what passes only then, and counts it as passed", () => {
    expect(judge({ ...bad, again: second(suite(one("fine"), one("bad")), 0) })).toEqual({
      passed: 2,
      failed: 0,
      skipped: 0,
      notes: ["passed only when run again: test/a.test.ts > bad"],
    });
  });

  test("settles one test where another fails again", () => {
    const xml = suite(one("fine"), one("bad", FAILURE), one("worse", FAILURE));
    const again = second(suite(one("fine"), one("bad"), one("worse", FAILURE)), 1);
    expect(judge({ ...bad, xml, again })).toMatchObject({
      passed: 2,
      failed: 1,
      notes: ["passed only when run again: test/a.test.ts > bad"],
    });
  });

  test.each([
    ["what fails again", suite(one("fine"), one("bad", FAILURE)), 1],
    ["what is missing", suite(one("fine")), 1],
    ["what is skipped", suite(one("fine"), one("bad", "<skipped />")), 0],
    ["a name of which one of two tests fails", suite(one("bad"), one("bad", FAILURE)), 1],
    ["a run without a report", "", 1],
  ])("does not excuse %s", (_name, xml, exitCode) => {
    expect(judge({ ...bad, again: second(xml, exitCode) })).toMatchObject({ passed: 1, failed: 1, notes: [] });
  });

  test("does not excuse files that were not run again", () => {
    const xml = suite(one("bad", FAILURE), one("bad", FAILURE, B));
    expect(judge({ ...bad, xml, again: second(suite(one("bad")), 0) })).toMatchObject({ passed: 1, failed: 1 });
  });

  test("does not excuse a crash of the first run as a whole", () => {
    const verdict = judge({ ...bad, exitCode: 139, again: second(suite(one("fine"), one("bad")), 0) });
    expect(verdict).toMatchObject({ passed: 2, failed: 1 });
    expect(verdict.notes).toContain("failed: the run ended with code 139 after 2 tests");
  });

  test.each(["(unnamed)", "(worker crashed)"])("settles a failure that is no test of its own: %s", (name) => {
    const xml = suite(one(name, FAILURE));
    expect(judge({ ...bad, xml, again: second(suite(one("fine"), one("other")), 0) })).toEqual({
      passed: 2,
      failed: 0,
      skipped: 0,
      notes: [`passed only when run again: test/a.test.ts > ${name}`],
    });
    expect(judge({ ...bad, xml, again: second(suite(one("fine"), one("other", FAILURE)), 1) }).failed).toBe(1);
  });

  test("settles a file that did not load", () => {
    const xml = suite(one("fine", "", B));
    const files = [A, B];
    expect(judge({ ...bad, xml, files, again: second(suite(one("fine")), 0) })).toMatchObject({
      passed: 2,
      failed: 0,
      notes: ["passed only when run again: test/a.test.ts > (did not load)"],
    });
    expect(judge({ ...bad, xml, files, again: second("", 1) })).toMatchObject({ passed: 1, failed: 1 });
  });
});

/** Runs the command on one file. */
function runFile(file: string, env: Record<string, string> = {}) {
  const script = join(import.meta.dir, "../../scripts/test.ts");
  const child = Bun.spawnSync([process.execPath, script, file], { env: { ...process.env, ...env } });
  return { code: child.exitCode, lines: child.stdout.toString().trim().split("\n") };
}

test("the command fails with an answer that the OpenAPI document does not name", () => {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-undocumented-"));
  const note = JSON.stringify(join(import.meta.dir, "../support/answers.ts"));
  const file = join(dir, "one.test.ts");
  const answering = (code: string) =>
    writeFileSync(
      file,
      `import { test } from "bun:test";
import { noteAnswer } from ${note};
test("fine", () => noteAnswer({ msg: "request", method: "POST", path: "/v1/scrape", status: 401, error: "${code}" }));
`,
    );
  try {
    answering("missing_api_key");
    const good = runFile(file);
    expect([good.code, good.lines.at(-1)]).toEqual([0, "1 passed, 0 failed, 0 skipped"]);
    answering("teapot");
    const failed = "failed: not in the OpenAPI document: POST /v1/scrape 401 teapot";
    const bad = runFile(file);
    expect([bad.code, ...bad.lines.slice(-2)]).toEqual([1, failed, "1 passed, 1 failed, 0 skipped"]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("the command runs a file with a failure again, and fails with what fails again", () => {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-again-"));
  try {
    const mark = JSON.stringify(join(dir, "mark"));
    const source = `import { existsSync, writeFileSync } from "node:fs";
import { expect, test } from "bun:test";
test("late", () => { const isSecond = existsSync(${mark}); writeFileSync(${mark}, ""); expect(isSecond).toBe(true); });
test("wrong", () => expect(process.env["TEST_IS_WRONG"]).toBeUndefined());
`;
    writeFileSync(join(dir, "one.test.ts"), source);
    const run = (env: Record<string, string>) => runFile(join(dir, "one.test.ts"), env);
    const note = expect.stringMatching(/^passed only when run again: \S*one\.test\.ts > late$/);
    const first = run({});
    expect(first.lines.slice(-2)).toEqual([note, "2 passed, 0 failed, 0 skipped"]);
    expect(first.code).toBe(0);
    rmSync(join(dir, "mark"));
    const second = run({ TEST_IS_WRONG: "1" });
    expect(second.lines.slice(-2)).toEqual([note, "1 passed, 1 failed, 0 skipped"]);
    expect(second.code).toBe(1);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
