import { expect, test } from "bun:test";
import { judge } from "../../scripts/report.ts";

const one = (name: string, inside = "", file = "test/a.test.ts", group = "") =>
  `<testcase name="${name}" classname="${group}" time="0.1" file="${file}" line="2" assertions="1"${
    inside === "" ? " />" : `>\n${inside}\n</testcase>`
  }`;
const suite = (...cases: string[]) =>
  `<testsuites tests="1"><testsuite name="a">${cases.join("\n")}</testsuite></testsuites>`;
const FAILURE = '<failure type="AssertionError" message="a &gt; b">text</failure>';
const good = { xml: suite(one("fine")), exitCode: 0, files: ["test/a.test.ts"], strict: true };

test("a good run", () => {
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

test.each([
  ["an empty report", { xml: "", exitCode: 0, files: [] }],
  ["a crash after the report", { exitCode: 139 }],
  ["no test at all", { xml: suite(), files: [] }],
])("is never good: %s", (_name, change) => {
  expect(judge({ ...good, ...change }).failed).toBe(1);
});
