// Checks the repository against the architecture rules, and shows every rule failing on a planted violation.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { FLOORS, RULES, roomOf } from "./rules.ts";
import { type FileMap, importsOf, readFiles } from "./source.ts";
import { ALLOWED, namedIn } from "./vendor-names.ts";

const root = join(import.meta.dir, "../..");
const real = await readFiles(root, ["src", "test", "scripts"]);

/** A rule about the sources must not pass because a folder is empty. */
const SOURCE_FILES_MIN = 10;

describe("the tree", () => {
  test("was read", () => {
    const sources = [...real.keys()].filter((path) => path.startsWith("src/"));
    expect(sources.length).toBeGreaterThan(SOURCE_FILES_MIN);
    expect(sources).toContain("src/main.ts");
  });

  test("has only rooms with a floor", () => {
    const rooms = new Set([...real.keys()].filter((path) => path.startsWith("src/")).map(roomOf));
    expect([...rooms].filter((room) => FLOORS[room] === undefined)).toEqual([]);
  });

  test.each(RULES.map((rule) => [rule.name, rule] as const))(
    "%s",
    (_name, rule) => {
      const { looked, violations } = rule.check(real);
      expect(looked).toBeGreaterThan(SOURCE_FILES_MIN);
      expect(violations).toEqual([]);
      // Parsing every file takes a second, or longer while other tests run.
    },
    180_000,
  );
});

type Plant = [rule: string, violation: string, files: Record<string, string>];

const plants: Plant[] = [
  ["a file imports its own room", "up from floor 0 to 2", { "src/base/a.ts": 'import { x } from "../http/b.ts";' }],
  ["a file imports its own room", "sideways", { "src/net/a.ts": 'import type { X } from "../store/b.ts";' }],
  ["a file imports its own room", "up from", { "src/chat/a.ts": 'export { x } from "../gateway/run.ts";' }],
  ["a file imports its own room", "up from", { "src/chat/a.ts": 'const x = await import("../gateway/run.ts");' }],
  ["a file imports its own room", "up from", { "src/net/a.ts": 'type X = import("../app/start.ts").App;' }],
  ["a file imports its own room", "sideways", { "src/net/a.ts": 'import {\n  a,\n  type B,\n} from "../http/b.ts";' }],
  [
    "a file imports its own room",
    "up from",
    { "src/net/a.ts": 'new Worker(new URL("../pages/w.ts", import.meta.url))' },
  ],
  ["a file imports its own room", "has no floor", { "src/attic/a.ts": 'import { x } from "../base/ids.ts";' }],
  ["relative imports stay", "outside src", { "src/base/a.ts": 'import { x } from "../../test/support/x.ts";' }],
  ["imports stand", "one blank line", { "src/base/a.ts": '// H.\nimport { x } from "./ids.ts";\n' }],
  [
    "imports stand",
    "twice",
    { "src/base/a.ts": '// H.\n\nimport type { X } from "./b.ts";\nimport { x } from "./b.ts";\n' },
  ],
  ["imports stand", "only types", { "src/base/a.ts": '// H.\n\nimport { type A, type B } from "./ids.ts";\n' }],
  ["imports stand", "one block", { "test/base/a.ts": 'import { x } from "./x.ts";\n\nimport { y } from "./y.ts";\n' }],
  ["relative imports stay", "no extension", { "src/base/a.ts": 'import { x } from "./ids";' }],
  [
    "no two files stand in a circle",
    "src/base/a.ts -> src/base/b.ts -> src/base/a.ts",
    { "src/base/a.ts": 'import type { B } from "./b.ts";', "src/base/b.ts": 'import type { A } from "./a.ts";' },
  ],
  ["wire and upstream", "src/wire/a.ts", { "src/wire/a.ts": 'import type { D } from "../upstream/dialect.ts";' }],
  ["wire and upstream", "src/upstream/a.ts", { "src/upstream/a.ts": 'import type { W } from "../wire/format.ts";' }],
  [
    "wire and upstream",
    "catalog knows",
    {
      "src/catalog/a.ts": 'import type { W } from "../wire/format.ts";',
      "src/catalog/b.ts": 'import type { D } from "../upstream/dialect.ts";',
    },
  ],
  [
    "the text of a page is read",
    "src/pages/convert/a.ts:1",
    { "src/pages/convert/a.ts": "clean(element.textContent);" },
  ],
  [
    "the text of a page is read",
    "src/web/a.ts:1",
    { "src/web/a.ts": "if (node instanceof PageText) text += node.data;" },
  ],
  ["only store speaks SQL", "bun:sqlite", { "src/accounts/a.ts": 'import { Database } from "bun:sqlite";' }],
  ["only store speaks SQL", "drizzle-orm/bun", { "src/app/start.ts": 'import { x } from "drizzle-orm/bun-sqlite";' }],
  [
    "features know the store",
    "handed in",
    { "src/accounts/a.ts": 'import type { SqliteStore as Store } from "../store/engine/open.ts";' },
  ],
  [
    "the gateway's centre",
    "stages/b/c.ts",
    { "src/gateway/centre/a.ts": 'import type { C } from "../stages/b/c.ts";' },
  ],
  [
    "a stage imports no endpoint",
    "endpoints/files/uploads.ts",
    { "src/gateway/stages/files/uploaded.ts": 'import { f } from "../../endpoints/files/uploads.ts";' },
  ],
  ["a stage is named", "stages/b/stage.ts", { "src/gateway/inner/a.ts": 'import { b } from "../stages/b/stage.ts";' }],
  ["only http, app and", "elysia", { "src/gateway/centre/run.ts": 'import type { Context } from "elysia";' }],
  ["only http, app and", "@elysiajs/jwt", { "src/accounts/jwt.ts": 'import { jwt } from "@elysiajs/jwt";' }],
  ["pages and search/engines", "src/pages/a.ts", { "src/pages/a.ts": 'import { ApiError } from "../base/errors.ts";' }],
  [
    "pages and search/engines",
    "engines/a.ts",
    { "src/search/engines/a.ts": 'import { ApiError } from "../../base/errors.ts";' },
  ],
  ["dashboard/ui", "server code", { "src/dashboard/ui/a.tsx": 'import { x } from "../routes.ts";' }],
  ["dashboard/ui", "a server module", { "src/dashboard/ui/a.tsx": 'import { x } from "node:fs";' }],
  ["rooms that take URLs from users have", "node:http", { "src/web/a.ts": 'import { request } from "node:http";' }],
  ["rooms that take URLs from users call", "await fetch", { "src/pages/a.ts": "const r = await fetch(url);" }],
  ["rooms that take URLs from users call", "Bun.connect", { "src/jobs/a.ts": "Bun.connect({ hostname, port })" }],
  ["only pages drives a browser", "playwright", { "src/web/a.ts": 'import { chromium } from "playwright-core";' }],
  ["every thread's entry", "src/pages/a-worker.ts", { "src/pages/a-worker.ts": "", "scripts/build.ts": "" }],
  ["only config/load.ts reads", "process.env", { "src/gateway/a.ts": "const key = process.env.OPENAI_API_KEY;" }],
  ["only config/load.ts reads", "Bun.env", { "src/cli/a.ts": "const key = Bun.env.KEY;" }],
  ["only config/load.ts reads", "{ env }", { "src/cli/a.ts": "const { env } = process;" }],
  ["only config/load.ts reads", "node:process", { "src/cli/a.ts": 'import { env } from "node:process";' }],
  ["http names no feature", "/v1/messages", { "src/http/a.ts": 'if (path === "/v1/messages") return;' }],
  ["http names no feature", "anthropic-version", { "src/http/a.ts": 'headers.get("anthropic-version")' }],
  ["a provider's key is taken", "keys.take", { "src/gateway/a.ts": "const secret = provider.keys.take(now);" }],
  ["a client format is asked", "openai-chat", { "src/gateway/a.ts": 'if (format.name === "openai-chat") return;' }],
  ["only base/clock.ts", "Date.now", { "src/store/a.ts": "const at = Date.now();" }],
  ["only base/clock.ts", "new Date()", { "src/store/a.ts": "const at = new Date();" }],
  ["only base/clock.ts", "Date.now", { "src/store/a.ts": "schema.$defaultFn(Date.now)" }],
  ["only vendors names a vendor", "names groq", { "src/telemetry/a.ts": 'const NAMES = ["groq"];' }],
  ["only vendors names a vendor", "names groq.com", { "src/telemetry/a.ts": "const HOST = /(^|\\.)groq\\.com$/;" }],
  [
    "only vendors names a vendor",
    "names mistral.ai",
    { "src/config/a.ts": 'const url = "https://api.mistral.ai/v1";' },
  ],
  ["only vendors names a vendor", "names XAI_API_KEY", { "src/cli/a.ts": 'const hint = "set XAI_API_KEY";' }],
  ["only vendors names a vendor", "names vllm", { "src/decisions/a.ts": "const BODY = { vllm: {} };" }],
  ["only vendors names a vendor", "names claude", { "src/gateway/a.ts": 'if (family === "claude") return;' }],
  ["who is let in is waited for", "deps.authenticate(", { "src/web/a.ts": "  deps.authenticate(request);" }],
  ["console only in cli", "console.log", { "src/main.ts": 'console.log("hello");' }],
  ["no default export", "export default", { "src/base/a.ts": "export default 1;" }],
  ["no default export", "as default", { "src/base/a.ts": "export { a as default };" }],
  ["no file over 400 lines", "401 lines", { "src/base/a.ts": "x\n".repeat(401) }],
  [
    "no function over 80 lines",
    "long in line 2 has 81",
    { "src/base/a.ts": `// H.\nexport const long = () => {\n${"  x();\n".repeat(79)}};\n` },
  ],
  [
    "no function over 80 lines",
    "test(…) in line 2 has 81",
    { "test/base/a.test.ts": `describe("a", () => {\n  test("b", () => {\n${"    x();\n".repeat(79)}  });\n});\n` },
  ],
  [
    "in app nothing is used",
    "line 4: later",
    {
      "src/app/a.ts":
        "// H.\nexport function build() {\n  const now = make({\n    tell: () => later.tell(),\n  });\n  const later = make(now);\n}\n",
    },
  ],
  ["a header says", "no comment", { "src/base/a.ts": "export const a = 1;\n" }],
  ["names are kebab-case", "says nothing", { "src/base/utils.ts": "" }],
  ["names are kebab-case", "says nothing", { "test/helpers/a.ts": "" }],
  ["names are kebab-case", "not kebab-case", { "src/base/rateLimit.ts": "" }],
  ["no barrel files", "export *", { "src/base/a.ts": 'export * from "./b.ts";' }],
  ["no barrel files", "nothing of its own", { "src/base/a.ts": '// All.\nexport { b } from "./b.ts";\n' }],
];

describe("a planted violation", () => {
  test.each(plants)("breaks: %s (%s)", (name, violation, files) => {
    const rule = RULES.find((one) => one.name.startsWith(name));
    if (rule === undefined) throw new Error(`no rule is called ${name}`);
    expect(rule.check(planted(files)).violations.join("\n")).toContain(violation);
  });

  test("exists for every rule", () => {
    const unplanted = RULES.filter((rule) => !plants.some(([name]) => rule.name.startsWith(name)));
    expect(unplanted.map((rule) => rule.name)).toEqual([]);
  });

  test("an empty tree is not held to be good", () => {
    expect(RULES.map((rule) => rule.check(new Map()).looked)).toEqual(RULES.map(() => 0));
  });
});

describe("what is allowed", () => {
  test.each([
    ["a lower floor", { "src/gateway/a.ts": '// H.\n\nimport type { D } from "../upstream/dialect.ts";\n' }],
    ["a comment about time", { "src/base/a.ts": "// Date.now() is not asked here.\nlet a = 1; // not new Date()\n" }],
    ["a date from a number", { "src/base/a.ts": "// H.\nexport const at = (ms: number) => new Date(ms);\n" }],
    ["net's own fetch", { "src/pages/a.ts": "// H.\nconst r = await deps.fetch(url); await fetchPage(url);\n" }],
    ["routes with Elysia", { "src/web/routes.ts": '// H.\n\nimport { Elysia } from "elysia";\n' }],
    ["a long list of tests", { "test/base/a.test.ts": `describe("a", () => {\n${"  test.todo();\n".repeat(90)}});\n` }],
    [
      "a name that means something else further down",
      { "src/app/a.ts": "// H.\nexport const a = () => {\n  list.map((one) => one.id);\n  const one = 1;\n};\n" },
    ],
    ["a list", { "src/wire/index.ts": '// H.\n\nimport { a } from "./a.ts";\nexport const FORMATS = [a];\n' }],
    ["the UI's contract", { "src/dashboard/ui/a.tsx": '// H.\n\nimport type { C } from "../contract.ts";\n' }],
    ["a protocol of a vendor's name", { "src/upstream/dialects/gemini/a.ts": '// H.\nconst NAME = "gemini";\n' }],
    ["a vendor in a text", { "src/http/a.ts": '// H.\nconst WHY = "Ask openai or groq.";\n' }],
    ["cli and app in one room", { "src/cli/serve.ts": '// H.\n\nimport { buildApp } from "../app/start.ts";\n' }],
  ])("%s", (_name, files) => {
    const violations = RULES.flatMap((rule) => rule.check(planted(files)).violations);
    expect(violations).toEqual([]);
  });
});

test("every vendor's word that is allowed elsewhere is there", () => {
  const unused = ALLOWED.flatMap(({ path, words }) => {
    const found = [...real].filter(([file]) => path.test(file)).flatMap(([, text]) => namedIn(text));
    return words.filter((word) => !found.some((one) => one.word === word)).map((word) => `${path}: ${word}`);
  });
  expect(unused).toEqual([]);
});

test("imports are found in every spelling", () => {
  const text = [
    'import a from "./a.ts";',
    'import type { B } from "./b.ts";',
    'import {\n  c,\n} from "./c.ts";',
    'import "./d.ts";',
    'export { e } from "./e.ts";',
    'const f = await import("./f.ts");',
    'const g = require("./g.ts");',
    'import h from "./h.sql" with { type: "text" };',
    '// import i from "./i.ts";',
    '/* import j from "./j.ts"; */',
  ].join("\n");
  const found = importsOf("src/base/x.ts", text).map((one) => one.target);
  expect(found.sort()).toEqual(
    ["a.ts", "b.ts", "c.ts", "d.ts", "e.ts", "f.ts", "g.ts", "h.sql"].map((f) => `src/base/${f}`),
  );
});

function planted(files: Record<string, string>): FileMap {
  return new Map(Object.entries(files));
}
