// Adds a parameter and a member of `reasoning` in a copy of the repository: one line in chat/, one in the table of each dialect and
// one in the table of each format. No place can be left out, and nothing else is needed for them to be read, sent and documented.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Copy, copyRepository } from "./recipe.ts";

const TIMEOUT_MS = 120_000;

/** A line, and the mark of the line above which it is put. */
type Line = readonly [mark: string, line: string];

/** The places in tables: the file, and the lines with the marks above which they are put. */
const TABLES: readonly (readonly [path: string, parameter: Line, reasoning: Line])[] = [
  table("src/upstream/dialects/openai-chat/request.ts", 'toyWeight: "toy_weight"', 'toy: "reasoning_toy"'),
  table("src/upstream/dialects/responses/request.ts", 'toyWeight: "toy_weight"', 'toy: "toy"'),
  table("src/upstream/dialects/anthropic/request.ts", 'toyWeight: "toy_weight"', "toy: false"),
  table("src/upstream/dialects/gemini/request.ts", 'toyWeight: "toyWeight"', "toy: writeThinking"),
  table("src/wire/chat-completions/fields.ts", weight("toy_weight"), toy("reasoning.toy")),
  table("src/wire/responses/fields.ts", weight("toy_weight"), toy("reasoning.toy")),
  table("src/wire/messages/fields.ts", weight("weight_of_toys"), toy("output_config.toy")),
  table("src/wire/completions/fields.ts", weight("toy_weight"), "toy: false"),
  table("src/wire/ollama/fields.ts", weight("options.toy_weight"), "toy: false"),
  table("src/wire/gemini/fields.ts", weight("generationConfig.toyWeight"), "toy: false"),
];

function table(path: string, parameter: string, reasoning: string): [string, Line, Line] {
  return [path, ["    topK:", `    ${parameter},`], ["    summary", `    ${reasoning},`]];
}

function weight(name: string): string {
  return `toyWeight: field("${name}", anInteger(0, 8), "The weight of a toy.")`;
}

function toy(path: string): string {
  return `toy: field("${path}", aString, "A toy.")`;
}

/** The tables alone, which are checked in a second. */
const TSCONFIG = {
  extends: "./tsconfig.json",
  compilerOptions: { incremental: false, tsBuildInfoFile: null },
  files: ["src/wire/index.ts", "src/upstream/dialects/index.ts"],
  include: [],
};

/** What becomes of them exactly, beside the rows that follow from the tables. */
const ROWS = `
  row("toy_weight", { toy_weight: 3 }, "same", "same", "same", config({ toyWeight: 3 })),
  row("reasoning.toy", { reasoning: { toy: "x" } }, "same", "same", "dropped", config({ toy: "x" })),`;

const QUESTIONS = `
import { ENDPOINTS } from "./src/app/endpoints.ts";
import { WIRE_FORMATS } from "./src/wire/index.ts";

const described = WIRE_FORMATS.map(({ path }) => {
  const { properties } = ENDPOINTS.find((one) => one.method === "POST" && one.path === path).body.schema;
  const { type, minimum, maximum, description } =
    properties.toy_weight ??
    properties.weight_of_toys ??
    properties.options?.properties.toy_weight ??
    properties.generationConfig.properties.toyWeight;
  const { toy } = (properties.reasoning ?? properties.output_config)?.properties ?? {};
  return [type, minimum, maximum, description, toy?.description];
});
console.log(JSON.stringify(described));
`;

let copy: Copy;
beforeAll(() => {
  copy = copyRepository();
  copy.add("tsconfig.tables.json", JSON.stringify(TSCONFIG));
  copy.addLine("src/chat/request.ts", "  topK?: number;", "  toyWeight?: number;");
  copy.addLine("src/chat/request.ts", "  budgetTokens?: number;", "  toy?: string;");
}, TIMEOUT_MS);
afterAll(() => copy.remove(), TIMEOUT_MS);

/** The errors of the compiler by file. */
async function errors(): Promise<ReadonlyMap<string, string>> {
  const { text } = await copy.bun("x", "tsc", "--noEmit", "--pretty", "false", "-p", "tsconfig.tables.json");
  const byFile = new Map<string, string>();
  let last = "";
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    // The further lines of an error are indented.
    last = /^(\S+)\(\d+,\d+\): /.exec(line)?.[1] ?? last;
    byFile.set(last, `${byFile.get(last) ?? ""}${line}\n`);
  }
  return byFile;
}

describe("a parameter in one line for each table", () => {
  test(
    "does not compile where a table says nothing about it",
    async () => {
      const found = await errors();
      const silent = TABLES.map(([path]) => path);
      expect([...found.keys()].sort()).toEqual([...silent].sort());
      for (const path of silent) {
        expect({ path, error: found.get(path) }).toMatchObject({ error: expect.stringMatching(/\btoyWeight\b/) });
        expect({ path, error: found.get(path) }).toMatchObject({ error: expect.stringMatching(/\btoy\b/) });
      }
    },
    TIMEOUT_MS,
  );

  test(
    "does not compile where a function that does not read it is said to write it",
    async () => {
      for (const [path, parameter, reasoning] of TABLES) {
        copy.addLine(path, ...parameter);
        if (path.includes("completions/fields") && !path.includes("chat")) {
          copy.replace(path, /(reasoning: \{[^}]*) \}/, `$1, ${reasoning[1].trim()} }`);
        } else copy.addLine(path, ...reasoning);
      }
      expect([...(await errors()).keys()]).toEqual(["src/upstream/dialects/gemini/request.ts"]);
      copy.replace("src/upstream/dialects/gemini/request.ts", /toy: writeThinking/, 'toy: "toy"');
      expect([...(await errors())]).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "is read from every format, and sent or reported by every protocol",
    async () => {
      copy.replace("test/gateway/parameters/chat.ts", /(export const CHAT[^=]*= \[)/, `$1${ROWS}`);
      const suites = [
        "test/gateway/parameters.test.ts",
        "test/docs/openapi.test.ts",
        "test/docs/request-members.test.ts",
      ];
      const { ok, text } = await copy.bun("test", ...suites, "-t", "toy|documents the parameters|is described as");
      if (!ok) expect.unreachable(text);
      for (const name of ["toy_weight", "reasoning.toy", "weight_of_toys", "output_config.toy"]) {
        expect(text).toContain(` > ${name} `);
      }
    },
    TIMEOUT_MS,
  );

  test(
    "is in the API document, with its range",
    async () => {
      copy.add("questions.ts", QUESTIONS);
      const { ok, text } = await copy.bun("questions.ts");
      if (!ok) expect.unreachable(text);
      const weight = ["integer", 0, 8, "The weight of a toy."];
      expect(JSON.parse(text)).toEqual([
        ...Array.from({ length: 3 }, () => [...weight, "A toy."]),
        ...Array.from({ length: 4 }, () => [...weight, null]),
      ]);
    },
    TIMEOUT_MS,
  );
});
