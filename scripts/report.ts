// Reads the machine-readable report of a test run. Pure, so that the verdict itself is tested.

export interface ReportInput {
  /** The JUnit text; "" when the run wrote none. */
  xml: string;
  exitCode: number;
  /** Test files that had to run: one that is not in the report did not load. Empty when only some were asked for. */
  files: readonly string[];
  /** A machine that must be able to run everything: there only what calls itself optional may be skipped. */
  strict: boolean;
  /** Second runs, each of one file alone. */
  again?: readonly SecondRun[];
  /** Answers that the OpenAPI document does not name. */
  undocumented?: readonly string[];
}

export interface SecondRun {
  file: string;
  xml: string;
  exitCode: number;
}

export interface Verdict {
  passed: number;
  failed: number;
  skipped: number;
  /** What a reader should know beside the failures the runner printed itself. */
  notes: string[];
}

/** More files than this do not fail by chance: running them again would only take time. */
const AGAIN_MAX = 12;

/** Which files get a second run: those with a failed test, and those that had to run and did not. */
export function filesToRepeat(xml: string, files: readonly string[]): string[] {
  const cases = testCases(xml);
  const seen = new Set(cases.map((one) => one.file));
  const failed = cases.filter((one) => one.outcome === "failed").map((one) => one.file);
  const repeated = [...new Set([...failed, ...files.filter((file) => !seen.has(file))])];
  return repeated.length > AGAIN_MAX ? [] : repeated;
}

/** Counts what happened; `failed` is never 0 when the run was not good. */
export function judge({ xml, exitCode, files, strict, again = [], undocumented = [] }: ReportInput): Verdict {
  const first = testCases(xml);
  const settled = again.map((run) => settle(run, first));
  const repeated = new Set(again.map((run) => run.file));
  const cases = [...first.filter((one) => !repeated.has(one.file)), ...settled.flatMap((one) => one.cases)];
  const skips = cases.filter((one) => one.outcome === "skipped");
  const notes = skips.map((one) => `skipped: ${one.file}: ${one.name}`);
  let failed = cases.filter((one) => one.outcome === "failed").length;

  const seen = new Set(cases.map((one) => one.file));
  const unseen = files.filter((file) => !seen.has(file));
  notes.push(...unseen.map((file) => `failed: ${file}: did not load, or holds no test`));
  failed += unseen.length;

  const missed = strict ? skips.filter((one) => !/\boptional\b/.test(one.name)).length : 0;
  if (missed > 0) notes.push(`failed: ${missed} tests were skipped; are chromium and postgresql installed?`);
  failed += missed;

  notes.push(...undocumented.map((answer) => `failed: not in the OpenAPI document: ${answer}`));
  failed += undocumented.length;

  const excused = settled.flatMap((one) => one.excused);
  notes.push(...excused.map((name) => `passed only when run again: ${name}`));
  // 1 says that tests failed, which a second run may have settled; any other code is a crash.
  const isExplained = exitCode === 0 || (exitCode === 1 && excused.length > 0);
  if (failed === 0 && (!isExplained || cases.length === 0)) {
    notes.push(`failed: the run ended with code ${exitCode} after ${cases.length} tests`);
    failed = 1;
  }
  const skipped = skips.length - missed;
  return { passed: cases.filter((one) => one.outcome === "passed").length, failed, skipped, notes };
}

/** What both runs together say of a file: a failed test has passed when it passes in the second, and is named. */
function settle(
  { file, xml, exitCode }: SecondRun,
  all: readonly TestCase[],
): { cases: TestCase[]; excused: string[] } {
  const first = all.filter((one) => one.file === file);
  const second = testCases(xml).filter((one) => one.file === file);
  const named = (outcome: TestCase["outcome"]) =>
    new Set(second.filter((one) => one.outcome === outcome).map((one) => one.name));
  const [passed, failed] = [named("passed"), named("failed")];
  const failures = first.filter((one) => one.outcome === "failed").map((one) => one.name);
  // What has no name of its own, a hook or a crash, is in brackets.
  const isSettled = failures.every((name) => passed.has(name) || /(?:^|> )\((?:unnamed|worker crashed)\)$/.test(name));
  if (exitCode === 0 && passed.size > 0 && failed.size === 0 && isSettled) {
    const names = first.length === 0 ? ["(did not load)"] : failures;
    // Its tests are those of the second run: the first may have missed some, behind a failed hook or a crash.
    return { cases: second, excused: names.map((name) => `${file} > ${name}`) };
  }
  const excused = new Set<string>();
  const cases = first.map((one): TestCase => {
    if (one.outcome !== "failed" || !passed.has(one.name) || failed.has(one.name)) return one;
    excused.add(`${file} > ${one.name}`);
    return { ...one, outcome: "passed" };
  });
  return { cases, excused: [...excused] };
}

interface TestCase {
  file: string;
  /** With the names of the groups around it. */
  name: string;
  outcome: "passed" | "failed" | "skipped";
}

function testCases(xml: string): TestCase[] {
  return [...xml.matchAll(/<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)].map(([, tag = "", inside = ""]) => {
    const group = attribute(tag, "classname");
    return {
      file: attribute(tag, "file"),
      name: group === "" ? attribute(tag, "name") : `${group} > ${attribute(tag, "name")}`,
      outcome: /<(?:failure|error)\b/.test(inside) ? "failed" : inside.includes("<skipped") ? "skipped" : "passed",
    };
  });
}

function attribute(tag: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
  const names: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return value.replace(/&(lt|gt|quot|apos|amp);/g, (_all, entity: string) => names[entity] ?? "");
}
