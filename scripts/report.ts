// Evaluates the machine-readable report of a test run. Its functions are pure, so that tests can check the evaluation
// itself.

export interface ReportInput {
  /** The report as JUnit XML; "" if the run wrote none. */
  xml: string;
  exitCode: number;
  /**
   * The test files that had to run. One that is missing in the report could not be loaded. Empty if only some tests
   * were requested.
   */
  files: readonly string[];
  /** On a machine that must be able to run everything, only tests that are marked as optional may be skipped. */
  strict: boolean;
  /** The second runs, each of a single file. */
  again?: readonly SecondRun[];
  /** Answers that the OpenAPI document does not contain. */
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
  /** Further lines for the reader, besides the failures that the runner has printed. */
  notes: string[];
}

/** The limit of files that are run again. More files do not fail by chance. */
const AGAIN_MAX = 12;

/** The files that are run again: those with a failed test, and those that had to run but did not. */
export function filesToRepeat(xml: string, files: readonly string[]): string[] {
  const cases = testCases(xml);
  const seen = new Set(cases.map((one) => one.file));
  const failed = cases.filter((one) => one.outcome === "failed").map((one) => one.file);
  const repeated = [...new Set([...failed, ...files.filter((file) => !seen.has(file))])];
  return repeated.length > AGAIN_MAX ? [] : repeated;
}

/** Counts the results; `failed` is never 0 if the run was not successful. */
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
  // Exit code 1 means that tests failed, which a second run may have settled. Any other code is a crash.
  const isExplained = exitCode === 0 || (exitCode === 1 && excused.length > 0);
  if (failed === 0 && (!isExplained || cases.length === 0)) {
    notes.push(`failed: the run ended with code ${exitCode} after ${cases.length} tests`);
    failed = 1;
  }
  const skipped = skips.length - missed;
  return { passed: cases.filter((one) => one.outcome === "passed").length, failed, skipped, notes };
}

/** The combined result of both runs of a file. A failed test that passes in the second run has passed, and is named. */
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
  // Failures without a name, such as those of a hook or a crash, are in brackets.
  const isSettled = failures.every((name) => passed.has(name) || /(?:^|> )\((?:unnamed|worker crashed)\)$/.test(name));
  if (exitCode === 0 && passed.size > 0 && failed.size === 0 && isSettled) {
    const names = first.length === 0 ? ["(did not load)"] : failures;
    // The tests of the second run are used, since a failed hook or a crash may have hidden some in the first.
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
  /** The name with the names of its groups. */
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
