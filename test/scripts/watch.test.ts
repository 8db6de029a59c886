// The watch on the vendors' SDKs: no name of the pinned versions is without a verdict, a new name is found, and the verdicts that
// were written down are what the gateway's readers and writers do.

import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compare } from "../../scripts/watch/compare.ts";
import { DECIDED } from "../../scripts/watch/decided.ts";
import { SdkTypes } from "../../scripts/watch/declarations.ts";
import { PINNED, SUBJECTS } from "../../scripts/watch/subjects.ts";
import { ApiError } from "../../src/base/errors.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { gemini } from "../../src/upstream/dialects/gemini/dialect.ts";
import { DIALECTS } from "../../src/upstream/dialects/index.ts";
import { WIRE_FORMATS } from "../../src/wire/index.ts";
import { chat, context } from "../upstream/support.ts";

type Json = Record<string, unknown>;

const { rows, stale } = compare(new SdkTypes(PINNED));
const verdicts = (sdk: string, kind: string) =>
  rows.filter((row) => row.sdk === sdk && row.kind === kind).map(({ name, verdict }) => [name, verdict] as const);

test("every name of the pinned SDKs has a verdict, and every written verdict is about a name", () => {
  expect(rows.filter(({ verdict }) => verdict === undefined)).toEqual([]);
  expect(stale).toEqual([]);
  expect(rows.length).toBeGreaterThan(500);
  // Every kind has names; a type that moved would be an error of its own.
  expect(new Set(rows.map(({ sdk, kind }) => `${sdk} ${kind}`)).size).toBe(SUBJECTS.length);
});

describe("of another version", () => {
  const dir = mkdtempSync(join(tmpdir(), "watch-"));
  afterAll(() => rmSync(dir, { recursive: true }));
  const file = "openai/resources/x.d.ts";
  mkdirSync(join(dir, "openai/resources"), { recursive: true });
  writeFileSync(
    join(dir, file),
    `import * as Own from "./x.js"; import { Far as Near } from "./y.js";
     export interface Params extends Base { /** Header param: no */ beta?: string; temperature?: number; 'planted'?: boolean }
     interface Base { kind: Own.Kind | null }
     export type Kind = 'a' | ('b');
     export type Item = Item.One | Near | Array<Own.Two>;
     export declare namespace Item { interface One extends Tagged { id: string } interface Tagged { type?: 'one' | null } }
     export interface Two { type: "two" } export declare enum Words { SECOND = "two", THIRD = "three" }
     export declare class Failed extends Error { readonly errorCode: 'failed'; }`,
  );
  writeFileSync(join(dir, "openai/resources/y.d.ts"), "export interface Far { type: 'far' }");
  const types = new SdkTypes(dir);

  test("a planted parameter, reason and code have no verdict", () => {
    const planted = (kind: string, name: string) => ({ sdk: "openai", kind, names: () => [name] }) as const;
    const subjects = [
      { sdk: "openai", kind: "chat parameter", names: (sdk: SdkTypes) => sdk.members(file, "Params") },
      planted("chat finish reason", "planted"),
      planted("responses stream event", "response.planted"),
      planted("responses input item", "planted_call"),
      planted("error code", "planted_code"),
      planted("effort", "planted"),
    ] as const;
    const found = compare(types, { subjects, decided: { "openai effort": { dropped: { "": "gone high" } }, x: {} } });
    expect(found.rows.filter(({ verdict }) => verdict === undefined).map(({ name }) => name)).toEqual([
      "planted",
      "planted",
      "response.planted",
      "planted_call",
      "planted_code",
      "planted",
    ]);
    expect(found.rows[0]).toMatchObject({ name: "temperature", verdict: "translated", derived: true });
    expect(found.stale).toEqual([
      "openai effort gone: no such name any more",
      "openai effort high: no such name any more",
      "x: no such kind any more",
    ]);
  });

  test("a type that was moved is reported, and the others are compared", () => {
    const subjects = [
      { sdk: "openai", kind: "effort", names: (sdk: SdkTypes) => sdk.words(file, "Gone") },
      { sdk: "openai", kind: "chat finish reason", names: () => ["stop"] },
    ] as const;
    const found = compare(types, { subjects, decided: {} });
    expect(found.rows).toMatchObject([{ name: "stop", verdict: "translated" }]);
    expect(found.stale).toEqual([`openai effort: ${file} has no Gone any more`]);
  });

  test("words are read from literals, unions, namespaces, enumerations, other files and inherited members", () => {
    expect(types.members(file, "Params")).toEqual(["temperature", "planted"]);
    expect(types.words(file, "Params", { path: ["kind"] })).toEqual(["a", "b"]);
    expect(types.words(file, "Item").sort()).toEqual(["far", "one", "two"]);
    expect(types.words(file, "Words")).toEqual(["two", "three"]);
    expect(types.wordsOfClasses(file, "errorCode")).toEqual(["failed"]);
    expect(() => types.members(file, "Gone")).toThrow("has no Gone any more");
    expect(() => types.words(file, "Params", { path: ["gone"] })).toThrow("has no gone any more");
  });
});

/** A model of each protocol that supports as much as one model can. */
const MODELS: Json = { gemini: "gemini-3-flash", "anthropic-messages": "claude-sonnet-4-6" };
const user = { role: "user", content: "hi" };

/** What happens to a body over every protocol but its own: `dropped` if its name is reported, `refused` if all of them refuse. */
function fate(format: string, name: string, body: Json): string {
  const wire = WIRE_FORMATS.find((one) => one.name === format);
  if (wire === undefined) throw new Error(`no format ${format}`);
  const fates = DIALECTS.filter((dialect) => dialect.name !== wire.dialect).map((dialect) => {
    try {
      const read = wire.decode({ model: "m", ...body }, { betas: "any" });
      const { dropped } = dialect.request(read, context({ model: String(MODELS[dialect.name] ?? "everything") }));
      return dropped.includes(`messages.${name}`) || dropped.includes(`tools.${name}`) ? "dropped" : "translated";
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return "refused";
    }
  });
  return (["translated", "dropped", "refused"] as const).find((one) => fates.includes(one)) ?? "";
}

const image = "https://x.test/a.png";
const tools = [{ type: "function", name: "g", parameters: {} }];

/** The members of input items whose fate depends on their content; others have an id and a name alone. */
const ITEMS: Readonly<Record<string, Json>> = {
  message: { role: "user", content: "x" },
  reasoning: { summary: [] },
  function_call: { arguments: "{}" },
  custom_tool_call: { input: "x" },
  computer_call_output: { output: { type: "computer_screenshot", image_url: image } },
  shell_call_output: { output: [{ stdout: "x", stderr: "", outcome: { type: "exit", exit_code: 0 } }] },
  program_output: { result: "x" },
  additional_tools: { role: "developer", tools },
  configuration_update: { reasoning: { effort: "low" } },
  compaction: { encrypted_content: "x" },
  mcp_approval_response: { approval_request_id: "a", approve: true },
};
/** Items that the gateway replaces before a request is translated, and one of which only the tools are sent. */
const REPLACED = ["item_reference", "compaction_trigger", "tool_search_output"];

/** The blocks of the messages format that are not simply a call or a result of the provider's tools. */
const BLOCKS: Readonly<Record<string, Json>> = {
  text: { text: "x" },
  image: { source: { type: "url", url: image } },
  document: { source: { type: "text", media_type: "text/plain", data: "x" } },
  search_result: { title: "x", source: "x", content: [{ type: "text", text: "x" }] },
  tool_result: { tool_use_id: "t", content: "x" },
  container_upload: { file_id: "f" },
  tool_addition: { tool: { type: "tool_reference", name: "g" } },
  tool_removal: { tool: { type: "tool_reference", name: "g" } },
};
const ASSISTANTS: Readonly<Record<string, Json>> = {
  thinking: { thinking: "x", signature: "s" },
  redacted_thinking: { data: "x" },
  tool_use: { id: "t", name: "g", input: {} },
  compaction: { content: "x" },
};

describe("the written verdicts are true of", () => {
  test.each(verdicts("openai", "responses input item"))("the input item %s", (type, verdict) => {
    if (REPLACED.includes(type)) return expect(verdict).toBe("translated");
    const item = { type, id: "i", call_id: "c", name: "g", status: "completed", ...ITEMS[type] };
    const output = type.endsWith("_output") && ITEMS[type] === undefined ? { output: "x" } : {};
    expect(fate("openai-responses", type, { input: [user, { ...item, ...output }] })).toBe(verdict as string);
  });

  test.each(verdicts("openai", "responses content part"))("the content part %s", (type, verdict) => {
    const part = { type, text: "x", refusal: "x", image_url: image, file_data: "ZmlsZQ==", filename: "a.pdf" };
    const role = type === "output_text" || type === "refusal" ? "assistant" : "user";
    expect(fate("openai-responses", type, { input: [user, { role, content: [part] }] })).toBe(verdict as string);
  });

  test.each(verdicts("openai", "responses tool"))("the tool %s of Responses", (type, verdict) => {
    const tool = { type, name: "g", parameters: {}, tools };
    expect(fate("openai-responses", type, { input: "hi", tools: [tool] })).toBe(verdict as string);
  });

  test.each(verdicts("openai", "chat tool"))("the tool %s of chat completions", (type, verdict) => {
    const tool = { type, [type]: { name: "g" } };
    expect(fate("openai-chat", type, { messages: [user], tools: [tool] })).toBe(verdict as string);
  });

  test.each(verdicts("openai", "chat content part"))("the content part %s of chat completions", (type, verdict) => {
    const part = {
      type,
      text: "x",
      refusal: "x",
      image_url: { url: image },
      input_audio: { data: "ZmlsZQ==", format: "wav" },
      file: { file_data: "data:application/pdf;base64,ZmlsZQ==" },
    };
    const role = type === "refusal" ? "assistant" : "user";
    expect(fate("openai-chat", type, { messages: [user, { role, content: [part] }] })).toBe(verdict as string);
  });

  test.each(verdicts("openai", "chat role"))("the role %s", (role, verdict) => {
    const call = { role: "assistant", tool_calls: [{ id: "g", type: "function", function: { name: "g" } }] };
    const message = { role, content: "x", ...(role === "tool" ? { tool_call_id: "g" } : { name: "g" }) };
    const messages = [user, ...(role === "tool" || role === "function" ? [call] : []), message];
    expect(fate("openai-chat", role, { messages })).toBe(verdict as string);
  });

  test.each(verdicts("@anthropic-ai/sdk", "request block"))("the block %s", (type, verdict) => {
    const block = { type, id: "t", tool_use_id: "t", name: "g", input: {}, ...BLOCKS[type], ...ASSISTANTS[type] };
    const call = { role: "assistant", content: [{ type: "tool_use", id: "t", name: "g", input: {} }] };
    const changes = type === "tool_addition" || type === "tool_removal";
    const role = changes ? "system" : BLOCKS[type] === undefined ? "assistant" : "user";
    const turns = [...(type === "tool_result" ? [call] : []), { role, content: [block] }];
    const given = [{ name: "g", input_schema: { type: "object" } }];
    const body = { max_tokens: 10, tools: given, messages: [user, ...turns, ...(role === "assistant" ? [user] : [])] };
    expect(fate("anthropic-messages", type, body)).toBe(verdict as string);
  });

  test.each(verdicts("@anthropic-ai/sdk", "tool"))("the tool %s of messages", (type, verdict) => {
    const tool = { type, name: "g", input_schema: { type: "object" } };
    expect(fate("anthropic-messages", type, { max_tokens: 10, messages: [user], tools: [tool] })).toBe(
      verdict as string,
    );
  });

  test("Gemini's reasons for blocking a prompt", () => {
    for (const [blockReason] of verdicts("@google/genai", "block reason")) {
      expect(gemini.events({ promptFeedback: { blockReason } }).at(-1)).toMatchObject({ reason: "content_filter" });
    }
  });

  test("Gemini's parts in answers", () => {
    const note = (name: string) => rows.find((row) => row.kind === "part member" && row.name === name)?.note;
    for (const [name, verdict] of verdicts("@google/genai", "part member")) {
      // These are about the part that they are in.
      if (name === "thought" || name === "thoughtSignature" || note(name) === "in requests") continue;
      const events = gemini.events({
        candidates: [{ content: { parts: [{ [name]: name === "text" ? "x" : {} }] }, finishReason: "STOP" }],
      });
      const isLeftOut = events.some(({ type }) => type === "opaque");
      expect([name, isLeftOut ? "dropped" : "translated"]).toEqual([name, verdict as string]);
    }
  });

  test("members of Gemini's configuration that a client sends", () => {
    const left = Object.values(DECIDED["@google/genai config member"]?.dropped ?? {}).flatMap((words) =>
      words.split(/\s+/),
    );
    const { dropped, body } = gemini.request(
      chat({ extra: Object.fromEntries(left.map((name) => [name, { a: 1 }])) }),
      context({ model: "gemini-3-flash" }),
    );
    expect(left.filter((name) => !dropped.includes(name))).toEqual([]);
    expect(left.filter((name) => body.includes(`"${name}"`))).toEqual([]);
  });

  test("Anthropic's error codes", () => {
    const codes = DECIDED["@anthropic-ai/sdk error code"];
    const kindOf = (status: number, type: string, error_code: string) => {
      const fault = anthropicMessages.fault(
        status,
        JSON.stringify({ type: "error", error: { type, message: "x", details: { error_code } } }),
        new Headers(),
      );
      return [error_code, fault.kind, fault.said.code];
    };
    const words = (list: string | undefined) => (list ?? "").split(/\s+/);
    for (const code of words(codes?.passed?.["with `invalid_request`"])) {
      const [status, type] =
        code === "thread_not_found" ? ([404, "not_found_error"] as const) : ([400, "invalid_request_error"] as const);
      expect(kindOf(status, type, code)).toEqual([code, "bad_request", code]);
    }
    const others = [
      ["`provider_auth_failed`", 403, "permission_error", "auth"],
      ["`provider_rate_limited`", 429, "rate_limit_error", "rate_limited"],
      ["`provider_unavailable`", 503, "overloaded_error", "unavailable"],
    ] as const;
    for (const [note, status, type, kind] of others) {
      for (const code of words(codes?.translated?.[note])) expect(kindOf(status, type, code)[1]).toBe(kind);
    }
  });
});
