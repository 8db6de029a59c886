// No parameter is lost silently: every parameter of a client format is sent, translated, reported as dropped or refused, with
// every upstream protocol, through the running program. The list is compared with the official SDKs, so that a new version of an
// SDK reveals parameters without a row.

import { afterAll, describe, expect, test } from "bun:test";
import { SdkTypes } from "../../scripts/watch/declarations.ts";
import { PINNED } from "../../scripts/watch/subjects.ts";
import { WIRE_FORMATS } from "../../src/wire/index.ts";
import { startTestApp } from "../support/app.ts";
import { DIALECTS, KINDS, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";
import { CHAT } from "./parameters/chat.ts";
import { COMPLETIONS } from "./parameters/completions.ts";
import { GEMINI, GEMINI_MEMBERS } from "./parameters/gemini.ts";
import { MESSAGES } from "./parameters/messages.ts";
import { OLLAMA_CHAT, OLLAMA_CHAT_MEMBERS, OLLAMA_GENERATE, OLLAMA_GENERATE_MEMBERS } from "./parameters/ollama.ts";
import { RESPONSES } from "./parameters/responses.ts";
import { type Fate, type Json, type Row, rowsOf } from "./parameters/row.ts";

const upstream = startUpstream((received) => say(received, { text: "ok" }));
/** Models that support as many parameters of the protocol as one model can. */
const MODELS = {
  "openai-chat": "everything",
  "openai-responses": "everything",
  "anthropic-messages": "claude-sonnet-4-6",
  gemini: "gemini-3-flash",
} as const;
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [
        name,
        {
          kind: KINDS[name],
          base_url: upstream.baseUrl,
          api_key: "k",
          discover: false,
          retry: { attempts: 1 },
          quirks: { web_search: true },
        },
      ]),
    ),
    models: DIALECTS.map((id) => ({ id, supports_reasoning: true, routes: [{ provider: id, model: MODELS[id] }] })),
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

const DIALECT_OF = {
  chat: "openai-chat",
  responses: "openai-responses",
  claude: "anthropic-messages",
  gemini: "gemini",
} as const;
type Column = keyof typeof DIALECT_OF;
const COLUMNS = Object.keys(DIALECT_OF) as Column[];

interface ClientFormat {
  path: string;
  least: Json;
  rows: readonly Row[];
  /** The members of the SDK's request types, without the headers. */
  documented: readonly string[];
}

/** The types of the SDKs, from which header parameters are left out. */
const sdk = new SdkTypes(PINNED);

const message = [{ role: "user", content: "hi" }];
const FORMATS: readonly ClientFormat[] = [
  {
    path: "/v1/chat/completions",
    least: { messages: message },
    rows: CHAT,
    documented: sdk.members("openai/resources/chat/completions/completions.d.ts", "ChatCompletionCreateParamsBase"),
  },
  {
    path: "/v1/responses",
    least: { input: "hi" },
    rows: RESPONSES,
    documented: sdk.members("openai/resources/responses/responses.d.ts", "ResponseCreateParamsBase"),
  },
  {
    path: "/v1/messages",
    least: { max_tokens: 9000, messages: message },
    rows: MESSAGES,
    documented: [
      ...sdk.members("@anthropic-ai/sdk/resources/messages/messages.d.ts", "MessageCreateParamsBase"),
      ...sdk.members("@anthropic-ai/sdk/resources/beta/messages/messages.d.ts", "MessageCreateParamsBase"),
    ],
  },
  {
    path: "/v1/completions",
    least: { prompt: "hi" },
    rows: COMPLETIONS,
    documented: sdk.members("openai/resources/completions.d.ts", "CompletionCreateParamsBase"),
  },
  {
    path: "/api/chat",
    least: { messages: message, stream: false },
    rows: OLLAMA_CHAT,
    documented: OLLAMA_CHAT_MEMBERS,
  },
  {
    path: "/api/generate",
    least: { prompt: "hi", stream: false },
    rows: OLLAMA_GENERATE,
    documented: OLLAMA_GENERATE_MEMBERS,
  },
  {
    path: "/v1beta/generateContent",
    least: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    rows: GEMINI,
    documented: GEMINI_MEMBERS,
  },
];

/** The rows that were written by hand, and those that follow from the format's table. */
const TABLES = FORMATS.map((format) => {
  const fields = WIRE_FORMATS.find(({ path }) => path === format.path)?.fields;
  if (fields === undefined) throw new Error(`no format has ${format.path}`);
  return { ...format, rows: [...format.rows, ...rowsOf(fields, format.rows)] };
});

/** Parameters that every row's request contains. */
const IN_EVERY_ROW = ["model", "messages", "contents"];

describe.each(TABLES)("$path", ({ path, least, rows, documented }) => {
  test("has a row for every parameter that the SDK documents", () => {
    const listed = new Set([...IN_EVERY_ROW, ...rows.map(({ name }) => name.split(".")[0] ?? "")]);
    expect(documented.filter((name) => !listed.has(name))).toEqual([]);
  });

  describe.each(rows.map((row) => [row.name, JSON.stringify(row.sends).slice(0, 60), row] as const))(
    "%s %s",
    (_name, _sends, row) => {
      test.each(COLUMNS)("over %s", async (column) => {
        upstream.received.length = 0;
        const sends = await withStored(row.sends, column);
        const response = await app.post(path, { ...least, ...sends, model: DIALECT_OF[column] });
        const text = await response.text();
        expect({ status: response.status, text: response.status === 200 ? "" : text }).toEqual({
          status: row[column] === "refused" ? 400 : 200,
          text: row[column] === "refused" ? expect.any(String) : "",
        });
        const dropped = (response.headers.get("x-sallyport-dropped") ?? "").split(", ").filter((name) => name !== "");
        check(row[column], { row, text, dropped });
      });
    },
  );
});

/** Creates a stored answer or a conversation for the parameter that needs one. */
async function withStored(sends: Json, column: Column): Promise<Json> {
  if (sends["conversation"] === "STORED") {
    const conversation = await app.post("/v1/conversations", {});
    return { ...sends, conversation: ((await conversation.json()) as Json)["id"] };
  }
  if (sends["previous_response_id"] !== "STORED") return sends;
  const first = await app.post("/v1/responses", { model: DIALECT_OF[column], input: "first" });
  upstream.received.length = 0;
  return { ...sends, previous_response_id: ((await first.json()) as Json)["id"] };
}

function check(fate: Fate, { row, text, dropped }: { row: Row; text: string; dropped: string[] }): void {
  const up = upstream.received[0]?.json ?? {};
  const name = row.name.split(".")[0] ?? "";
  if (fate === "refused") {
    expect(upstream.received).toHaveLength(0);
    const { error } = JSON.parse(text) as Json;
    if (typeof error === "string") expect(error).toContain(`'${row.name}'`);
    else expect(paramOf(error as Json)).toBe(row.name);
    return;
  }
  expect(upstream.received).toHaveLength(1);
  if (fate === "sent or dropped") {
    const value = row.name.split(".").reduce<unknown>((inner, part) => (inner as Json)[part], row.sends);
    expect({ up, dropped, isTold: contains(up, value) || dropped.includes(row.name) }).toMatchObject({ isTold: true });
    return;
  }
  if (typeof fate === "string" && fate.startsWith("dropped")) {
    expect(dropped.sort()).toEqual((fate.slice("dropped ".length) || row.name).split(", "));
    return;
  }
  expect(dropped).toEqual([]);
  if (fate === "same") expect(up).toMatchObject({ [name]: row.sends[name] } as Json);
  else if (fate !== "ours") expect(up).toMatchObject(fate as Json);
}

/** The member that an error names, in each form of errors. */
function paramOf({ param, details }: Json): unknown {
  const [info] = (details ?? []) as { metadata?: Json }[];
  return param ?? info?.metadata?.["param"];
}

/** Whether a value is in a body, at any place. */
function contains(body: unknown, value: unknown): boolean {
  if (Bun.deepEquals(body, value)) return true;
  return typeof body === "object" && body !== null && Object.values(body).some((inner) => contains(inner, value));
}
