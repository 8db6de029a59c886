// What the gateway asks a model itself passes the stages that open for such requests, and the row tells what it cost.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalFleet } from "../../../src/app/local-fleet.ts";
import { ApiError } from "../../../src/base/errors.ts";
import { resolveModel } from "../../../src/catalog/resolve.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { Caller } from "../../../src/gateway/admission/caller.ts";
import {
  type ChatTurn,
  NO_STAGES,
  reread,
  type Stage,
  type StagesByOrigin,
  type TurnEnd,
} from "../../../src/gateway/centre/stage.ts";
import { askModel } from "../../../src/gateway/inner/ask.ts";
import { createProbe } from "../../../src/gateway/inner/probe.ts";
import { guardrailsOf } from "../../../src/gateway/stages/guardrails/guards.ts";
import type { GuardTools } from "../../../src/gateway/stages/guardrails/tools.ts";
import { createStageLines, emptyStages, fillStages, type StageDeps } from "../../../src/gateway/stages/index.ts";
import type { UsageRecord } from "../../../src/store/usage/record.ts";
import { chatAnswer, startUpstream } from "../../support/upstream.ts";

const upstream = startUpstream();
const dataDir = mkdtempSync(join(tmpdir(), "sallyport-ask-"));
const file = join(dataDir, "config.yaml");
await Bun.write(
  file,
  JSON.stringify({
    data_dir: dataDir,
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
    models: [{ id: "m", routes: [{ provider: "up", model: "up-model" }] }],
    guardrails: [
      { name: "pii", check: { kind: "pii", find: ["email"] }, action: "mask" },
      { name: "no-stones", on: ["input"], check: { kind: "words", words: ["kryptonite"] }, action: "deny" },
      {
        name: "no-codes",
        on: ["output"],
        check: { kind: "pattern", patterns: { CODE: "code [0-9]{6}" } },
        action: "deny",
      },
    ],
  }),
);
const loaded = loadConfig({ file, dataDir, env: {} });
if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
const { config } = loaded;
const { fleet, calls } = createLocalFleet(config, () => undefined);
await fleet.start();
afterAll(() => {
  fleet.stop();
  upstream.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const turns: ChatTurn[] = [];
const ends: TurnEnd[] = [];

/** Masks a name for the provider and restores it; refuses a forbidden word beside the call. */
const guard: Stage = {
  name: "guard",
  open: ({ text }) =>
    text.includes("plain")
      ? undefined
      : {
          prepare(turn) {
            turns.push(turn);
            const content = JSON.parse(JSON.stringify(turn.content).replaceAll("Ada", "[NAME]")) as ChatTurn["content"];
            return { why: "guard", content, chat: reread(turn, content) };
          },
          async gate({ text }) {
            if (text.includes("forbidden")) throw new ApiError("content_policy_violation", "The text is forbidden.");
          },
          hears: () => ({
            hear: (event) =>
              event.type === "text-delta" ? [{ ...event, text: event.text.replaceAll("[NAME]", "Ada") }] : [event],
          }),
          settle: (end) => void ends.push(end),
        },
};

async function ask(user: string, stages: StagesByOrigin = { ...NO_STAGES, inner: [guard] }) {
  const rows: UsageRecord[] = [];
  const found = resolveModel(fleet.catalog(), "m");
  if (found === undefined) throw new Error("The model is configured.");
  const deps = {
    ...calls,
    stages,
    record: (row: UsageRecord) => void rows.push(row),
  };
  const payer = { caller: { accountId: "a", keyId: "k" } as Caller, requestId: "r", endpoint: "/v1/extract" };
  const options = { payer, timeoutMs: 10_000, stopping: new AbortController().signal };
  const question = { ...found, system: "Answer.", user, maxTokens: 10 };
  const answer = await askModel(deps, question, options).catch((error: ApiError) => error.apiCode);
  return { answer, rows };
}

test.each(["plain text of Ada", "a guarded text of Ada"])(
  "an answer to the gateway's own request: %s",
  async (user) => {
    let sent = "";
    upstream.answer((received) => {
      sent = received.text;
      return chatAnswer({ content: user.includes("plain") ? "Ada it is." : "[NAME] it is." });
    });
    const { answer, rows } = await ask(user);
    expect(answer).toMatchObject({ text: "Ada it is.", whole: true, usage: { outputTokens: 5 } });
    expect(sent.includes("Ada")).toBe(user.includes("plain"));
    expect(rows).toMatchObject([
      { requestId: "r", accountId: "a", keyId: "k", endpoint: "/v1/extract", outputTokens: 5 },
    ]);
    expect(rows.map(({ isCall, status }) => [isCall, status])).toEqual([[true, 200]]);
  },
);

test("stages know where the request comes from, and what it cost", () => {
  expect(turns.map(({ origin, edge }) => [origin, edge])).toEqual([["inner", "inner"]]);
  expect(ends.map(({ rounds }) => rounds.map(({ usage }) => usage?.outputTokens))).toEqual([[5]]);
});

test("a stage refuses the gateway's own request as it refuses a client's", async () => {
  upstream.answer(() => chatAnswer({ content: "Yes." }));
  expect(await ask("a forbidden text")).toMatchObject({ answer: "content_policy_violation" });
});

// The stages are only created, and none but the guardrails opens.
const guardrails = guardrailsOf(config.guardrails, () => ({}) as GuardTools);
const guards = { all: () => guardrails, count: () => undefined, warn: () => undefined };
const listed = fillStages(
  emptyStages(),
  createStageLines({ budgets: {}, history: {}, guards } as unknown as StageDeps),
);

test("the configured guardrails mask what leaves in the gateway's own requests, and restore it in the answer", async () => {
  let sent = "";
  upstream.answer((received) => {
    sent = received.text;
    return chatAnswer({ content: `Write to ${/\[EMAIL_\d+\]/.exec(received.text)?.[0]}.` });
  });
  expect(await ask("My address is ada@example.com.", listed)).toMatchObject({
    answer: { text: "Write to ada@example.com." },
    rows: [{ status: 200, outputTokens: 5 }],
  });
  expect(sent).not.toContain("ada@");
});

test.each([
  ["a question", "Where is the kryptonite?", 0, []],
  ["an answer", "What is the code?", 1, [{ outputTokens: 5, errorCode: "guardrail_denied" }]],
] as const)("the configured guardrails deny %s of the gateway's own requests", async (_what, user, calls, rows) => {
  let asked = 0;
  upstream.answer(() => {
    asked++;
    return chatAnswer({ content: "It is code 123456." });
  });
  const { answer, rows: recorded } = await ask(user, listed);
  expect([answer, asked]).toEqual(["guardrail_denied", calls]);
  expect(recorded).toMatchObject(rows);
});

test("a probe asks for the smallest answer, and is nobody's", async () => {
  const rows: UsageRecord[] = [];
  let sent: Record<string, unknown> = {};
  upstream.answer((received) => {
    sent = JSON.parse(received.text) as Record<string, unknown>;
    return chatAnswer({ content: "H" }, { finish: "length" });
  });
  const probe = createProbe({
    ...calls,
    catalog: fleet.catalog,
    record: (row) => void rows.push(row),
  });
  expect(await probe("m", new AbortController().signal)).toBe(true);
  expect([sent["max_tokens"] ?? sent["max_completion_tokens"], sent["user"]]).toEqual([1, undefined]);
  expect(rows).toMatchObject([{ accountId: "", keyId: "", endpoint: "probe", status: 200 }]);
  expect(await probe("unknown", new AbortController().signal)).toBe(false);
});
