// Adds a kind of check for guardrails in a copy of the repository: one file, its name in the schema, and one line in each of two
// tables. A missing line does not compile, and nothing else is needed for chats of every format to be looked through.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Copy, copyRepository } from "./recipe.ts";

const TIMEOUT_MS = 120_000;

const SCHEMA = "src/config/schema-guardrails.ts";
const CHECK = `// Words in capitals.

import type { TextCheck } from "./check.ts";
import { patternCheck } from "./pattern.ts";

/** Creates the check of words in capitals. */
export function shoutsCheck(): TextCheck {
  return patternCheck("SHOUT", "\\\\b[A-Z]{3,32}\\\\b");
}
`;
const CHECKS = "src/gateway/stages/guardrails/checks/index.ts";
const TABLES: readonly (readonly [path: string, mark: string, line: string])[] = [
  ["src/config/check-guardrails.ts", "  pii: {", "  shouts: { findsParts: true, check: () => undefined },"],
  [CHECKS, "  pii: (", '  shouts: () => ({ checks: [shoutsCheck()], labels: ["SHOUT"] }),'],
];

const TSCONFIG = {
  extends: "./tsconfig.json",
  compilerOptions: { incremental: false, tsBuildInfoFile: null },
  files: ["src/config/check-guardrails.ts", "src/gateway/stages/guardrails/guards.ts"],
  include: [],
};

const TEST = `
import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS, say } from "../../../support/fake-model.ts";
import { CLIENT_FORMATS } from "../../../support/heard.ts";
import { startUpstream } from "../../../support/upstream.ts";

const upstream = startUpstream();
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [name, { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false }]),
    ),
    models: DIALECTS.map((id) => ({ id, routes: [{ provider: id, model: "m" }] })),
    guardrails: [{ name: "quiet", check: { kind: "shouts" }, action: "mask" }],
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const ROWS = CLIENT_FORMATS.flatMap((format) => DIALECTS.map((dialect) => [format.name, dialect, format] as const));
test.each(ROWS)("shouts are masked: %s over %s", async (_name, model, format) => {
  for (let at = 1; at < 8; at++) {
    const pieces = (text: string) => [text.slice(0, at), text.slice(at)];
    upstream.answer((received) => say(received, { text: "Oh MERCY, so.", calls: [], pieces }));
    const response = await app.post(format.path, { ...format.body({ stream: true, tools: false }), model });
    expect(format.streamed(await response.text()).text).toBe("Oh [SHOUT_1], so.");
  }
});
`;

let copy: Copy;
beforeAll(() => {
  copy = copyRepository();
  copy.add("tsconfig.checks.json", JSON.stringify(TSCONFIG));
  copy.add("src/gateway/stages/guardrails/checks/shouts.ts", CHECK);
  copy.replace(SCHEMA, /const KINDS = \["pii",/, 'const KINDS = ["pii", "shouts",');
}, TIMEOUT_MS);
afterAll(() => copy.remove(), TIMEOUT_MS);

/** The files in which the compiler finds errors. */
async function broken(): Promise<string[]> {
  const { text } = await copy.bun("x", "tsc", "--noEmit", "--pretty", "false", "-p", "tsconfig.checks.json");
  return [...new Set(text.match(/^\S+(?=\(\d+,\d+\): )/gm) ?? [])].sort();
}

test(
  "a kind of check that a table does not name does not compile",
  async () => {
    expect(await broken()).toEqual(TABLES.map(([path]) => path).sort());
    for (const [path, mark, line] of TABLES) copy.addLine(path, mark, line);
    copy.addLine(CHECKS, "import { wordsCheck }", 'import { shoutsCheck } from "./shouts.ts";');
    expect(await broken()).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "it looks through chats of every format, over every protocol",
  async () => {
    copy.add("test/gateway/stages/guardrails/shouts.test.ts", TEST);
    const { ok, text } = await copy.bun("test", "test/gateway/stages/guardrails/shouts.test.ts");
    expect(ok, text).toBe(true);
  },
  TIMEOUT_MS,
);
