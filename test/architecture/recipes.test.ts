// Recipes of one file and one line in a list, performed in a copy of the repository: a command, a client format, a
// decision backend, an endpoint for models that do not chat, a tool for agents. (vendor-recipe.test.ts and
// engine-recipe.test.ts perform those for vendors and search engines.)

import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Copy, copyRepository } from "./recipe.ts";
import { RULES } from "./rules.ts";
import { readFiles } from "./source.ts";

const TIMEOUT_MS = 120_000;

const COMMAND = `// \`sallyport greet\`: says hello.

import type { Command } from "./command.ts";

/** The command. */
export const greet: Command = {
  summary: "say hello",
  usage: "[NAME]",
  args: [0, 1],
  async run({ args, out }) {
    out(\`Hello, \${args[0] ?? "you"}!\\n\`);
    return 0;
  },
};
`;

const FORMAT = `// A client format of its own path: completions under another name.

import { completionsFormat } from "../completions/format.ts";
import type { WireFormat } from "../format.ts";

/** The format. */
export const toy: WireFormat = { ...completionsFormat, name: "toy-completions", path: "/v1/toy", idPrefix: "toy-" };
`;

const BACKEND = `// Gives every option the same probability.

import type { DecisionBackend } from "./backend.ts";

export const even: DecisionBackend = {
  kind: "even",
  asText: false,
  answer: async ({ questions, spec }) => ({
    readings: questions.map(({ options }) => [
      { order: options.map((_, at) => at), logProbabilities: options.map(() => -Math.log(options.length)), labelled: true },
    ]),
    outputTokens: 0,
    route: spec.routes[0]!,
  }),
};
`;

const ENDPOINT = `// Ranks texts, in the words of a toy.

import { ApiError } from "../../base/errors.ts";
import { reportedUsage } from "../../chat/usage.ts";
import type { JsonObject, ModelEndpoint } from "./endpoint.ts";
import { rankingUsage } from "./endpoint-usage.ts";

export const toyRank: ModelEndpoint = {
  path: "/v1/toy/rank",
  kind: "rerank",
  upstreamPath: "/rank",
  dialects: ["openai-chat"],
  operation: "rerank",
  check(body) {
    if (!Array.isArray(body["texts"])) throw new ApiError("invalid_request", "'texts' must be a list.", { param: "texts" });
  },
  measure: () => ({ inputTokens: 5, outputTokens: 0 }),
  usage: ({ usage }) => reportedUsage({ input: (usage as JsonObject | null | undefined)?.["total_tokens"], output: 0 }),
  shownUsage: rankingUsage,
};
`;

const ENDPOINT_FIXTURE = `import type { EndpointFixture } from "./fixture.ts";

export const fixture: EndpointFixture = {
  body: { texts: ["a", "b"] },
  answer: (model) => ({ model, ranks: [1, 0], usage: { total_tokens: 3 } }),
  tokens: 3,
  untold: (model) => ({ model, ranks: [1, 0] }),
  refused: [[{ texts: "a" }, "texts"]],
};
`;

const DESCRIPTIONS = `// The toys.

import { anyObject } from "../../http/endpoint.ts";
import type { EndpointText } from "../../http/served-endpoint.ts";

const toy = (id: string): EndpointText => ({
  ...{ id, group: "Models", summary: "A toy", description: "For trying." },
  body: { schema: anyObject("A request."), examples: {} },
  answer: { description: "An answer." },
});

/** The descriptions by path. */
export const TOY_PATHS = { "/v1/toy": toy("createToy"), "/v1/toy/rank": toy("rankToys") };
`;

const TOOL = `// \`greeting\`: a page's first words, as a toy.

import type { McpTool } from "../tool.ts";

/** The tool. */
export const greetingTool: McpTool = {
  name: "greeting",
  title: "Read a greeting",
  description:
    "Reads a page and returns what it says first, for trying how a tool is added. Use it for nothing else: scrape returns the page.",
  endpoint: "POST /v1/scrape",
  readOnly: true,
  openWorld: true,
  run: async (args, { ask }) => ({ data: await ask({ method: "POST", path: "/v1/scrape", body: args }) }),
};
`;

const TOOL_FIXTURE = `import type { ToolFixture } from "./fixture.ts";

export const fixture: ToolFixture = {
  args: { url: "https://example.com/" },
  text: "Example Domain",
  data: { success: true },
  refused: { args: {}, param: "url" },
};
`;

/** Reads from a running gateway of the copy what it contains about the additions. */
const QUESTIONS = `
import { expect, test } from "bun:test";
import { KNOWN_NAMES } from "../src/app/names.ts";
import { startGateway } from "./decisions/support.ts";

test("toys answer", async () => {
  const backend = { kind: "even", routes: [{ provider: "demo", model: "m" }] };
  const gateway = await startGateway({ decisions: { models: [{ id: "even-1.0.0", backend }] } });
  try {
    const key = await gateway.key("premium");
    const prompt = { model: "demo-echo", prompt: "hi" };
    const answer = await gateway.post("/v1/toy", prompt, key);
    expect([answer.status, answer.body.id?.slice(0, 4), answer.body.choices?.[0]?.text]).toEqual([200, "toy-", "hi"]);
    expect((await gateway.post("/v1/toy", prompt, "nonsense")).status).toBe(401);
    expect((await gateway.get("/v1/models/demo-echo", key)).body.endpoints).toContain("/v1/toy");
    const criteria = { a: "one", b: "other" };
    const asked = { model: "even-1.0.0", state: "s", questions: { q: { type: "choice", criteria } } };
    const { status, body } = await gateway.post("/v1/systemone", asked, key);
    expect([status, body.answers?.q?.probabilities]).toEqual([200, { a: 0.5, b: 0.5 }]);
    expect(KNOWN_NAMES["decision backend"]).toContain("even");
  } finally {
    await gateway.stop();
  }
});
`;

let copy: Copy;
beforeAll(() => {
  copy = copyRepository();
  copy.add("src/cli/greet.ts", COMMAND);
  copy.addLine(
    "src/cli/index.ts",
    "  {",
    '  { name: "greet", summary: "say hello", load: async () => (await import("./greet.ts")).greet },',
  );
  copy.add("src/wire/toy/format.ts", FORMAT);
  list("src/wire/index.ts", 'import { toy } from "./toy/format.ts";', "WIRE_FORMATS", "toy");
  copy.add("src/decisions/backends/even.ts", BACKEND);
  list("src/decisions/backends/index.ts", 'import { even } from "./even.ts";', "BACKENDS", "even");
  copy.add("src/catalog/endpoints/toy-rank.ts", ENDPOINT);
  list("src/catalog/endpoints/index.ts", 'import { toyRank } from "./toy-rank.ts";', "MODEL_ENDPOINTS", "toyRank");
  copy.add("src/mcp/tools/greeting.ts", TOOL);
  list("src/mcp/tools/index.ts", 'import { greetingTool } from "./greeting.ts";', "TOOLS", "greetingTool");
  copy.add("test/toys.test.ts", QUESTIONS);
});
afterAll(() => copy.remove());

/** Adds a name to the end of a list. */
function list(path: string, line: string, name: string, member: string): void {
  copy.addLine(path, "import ", line);
  copy.replace(path, new RegExp(`(export const ${name}[^=]*= \\[[^\\]]*?),?\\s*\\];`), `$1, ${member}];`);
}

const run = async (...args: string[]) => {
  const { ok, text } = await copy.bun(...args);
  if (!ok) expect.unreachable(text);
  return text;
};

test(
  "no route of theirs is taken without a description, and each opens to a key alone",
  async () => {
    const without = await copy.bun("test", "test/accounts/credentials.test.ts", "-t", "every route");
    expect([without.ok, without.text]).toEqual([
      false,
      expect.stringContaining("POST /v1/toy has no description in src/gateway/openapi/"),
    ]);
    copy.add("src/gateway/openapi/toys.ts", DESCRIPTIONS);
    const descriptions = "src/gateway/openapi/index.ts";
    copy.addLine(descriptions, "import ", 'import { TOY_PATHS } from "./toys.ts";');
    copy.replace(descriptions, /(export const PATH_TEXTS[^=]*= \{)/, "$1\n  ...TOY_PATHS,");
    await run("test", "test/accounts/credentials.test.ts");
  },
  TIMEOUT_MS,
);

test(
  "a command is run, listed and tried with the others",
  async () => {
    expect(await run("src/main.ts", "greet", "Ada")).toStartWith("Hello, Ada!");
    expect(await run("src/main.ts", "--help")).toMatch(/greet +say hello/);
    await run("test", "test/cli/run.test.ts");
  },
  TIMEOUT_MS,
);

test(
  "a client format and a decision backend answer, and are known where names are checked",
  async () => {
    await run("test", "test/toys.test.ts");
  },
  TIMEOUT_MS,
);

test(
  "a client format is not taken without a request and goldens, and held to those of all formats",
  async () => {
    const suite = ["test", "test/wire/golden.test.ts", "test/wire/garbled.test.ts", "-t", "toy-completions"];
    const without = await copy.bun(...suite);
    expect([without.ok, without.text]).toEqual([false, expect.stringContaining("toy-completions has no request")]);
    const goldens = join(copy.dir, "test/golden/wire");
    cpSync(join(goldens, "openai-completions"), join(goldens, "toy-completions"), { recursive: true });
    for (const name of readdirSync(join(goldens, "toy-completions"))) {
      const file = join(goldens, "toy-completions", name);
      // The answers of the added format are those of completions, except for the prefix of their ids.
      writeFileSync(file, readFileSync(file, "utf8").replaceAll("cmpl-", "toy-"));
    }
    await run(...suite);
  },
  TIMEOUT_MS,
);

test(
  "an endpoint is not taken without a fixture, and has everything that a chat's request has",
  async () => {
    const suite = ["test", "test/gateway/endpoints/models/model-endpoints.test.ts", "-t", "/v1/toy/rank"];
    const without = await copy.bun(...suite);
    expect([without.ok, without.text]).toEqual([false, expect.stringContaining("/v1/toy/rank has no fixture")]);
    copy.add("test/gateway/endpoints/models/toy-rank.ts", ENDPOINT_FIXTURE);
    await run(...suite);
  },
  TIMEOUT_MS,
);

test(
  "a tool for agents is not taken without a fixture, and is called by every client",
  async () => {
    const suite = ["test", "test/mcp/tools.test.ts", "-t", "greeting"];
    const without = await copy.bun(...suite);
    expect([without.ok, without.text]).toEqual([false, expect.stringContaining("greeting has no fixture")]);
    copy.add("test/mcp/tools/greeting.ts", TOOL_FIXTURE);
    await run("test", "test/mcp/tools.test.ts", "-t", "greeting|the list is in the order");
  },
  TIMEOUT_MS,
);

test("none of them breaks a rule of the house", async () => {
  const files = await readFiles(copy.dir, ["src", "test", "scripts"]);
  expect(RULES.flatMap((rule) => rule.check(files).violations)).toEqual([]);
});
