// Reads the machine-readable report of a test run. Pure, so that the verdict itself is tested.

export interface ReportInput {
  /** The JUnit text; "" when the run wrote none. */
  xml: string;
  exitCode: number;
  /** Test files that had to run: one that is not in the report did not load. Empty when only some were asked for. */
  files: readonly string[];
  /** A machine that must be able to run everything: there only what calls itself optional may be skipped. */
  strict: boolean;
}

export interface Verdict {
  passed: number;
  failed: number;
  skipped: number;
  /** What a reader should know beside the failures the runner printed itself. */
  notes: string[];
}

/** Counts what happened; `failed` is never 0 when the run was not good. */
export function judge({ xml, exitCode, files, strict }: ReportInput): Verdict {
  const cases = testCases(xml);
  const skips = cases.filter((one) => one.outcome === "skipped");
  const notes = skips.map((one) => `skipped: ${one.file}: ${one.name}`);
  let failed = cases.filter((one) => one.outcome === "failed").length;

  const seen = new Set(cases.map((one) => one.file));
  const unseen = files.filter((file) => !seen.has(file));
  notes.push(...unseen.map((file) => `failed: ${file}: did not load, or holds no test`));
  failed += unseen.length;

  const missed = strict ? skips.filter((one) => !/\boptional\b/.test(one.name)).length : 0;
  if (missed > 0) notes.push(`failed: ${missed} tests were skipped; is chromium installed?`);
  failed += missed;

  if (failed === 0 && (exitCode !== 0 || cases.length === 0)) {
    notes.push(`failed: the run ended with code ${exitCode} after ${cases.length} tests`);
    failed = 1;
  }
  const skipped = skips.length - missed;
  return { passed: cases.filter((one) => one.outcome === "passed").length, failed, skipped, notes };
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
