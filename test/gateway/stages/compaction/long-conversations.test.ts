// Conversations of 130 or 400 turns with tools, in each client format over each upstream protocol, with a window of about
// twenty turns: every turn is answered, and facts from the middle are known at the end.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS } from "../../../support/fake-model.ts";
import { type FakeUpstream, startUpstream } from "../../../support/upstream.ts";
import { FORMAT_NAMES } from "./fixture.ts";
import { bodyOf, lookingModel, PATHS, Talker, tightUpstream } from "./tight-upstream.ts";

const WINDOW = 6000;
/** The long conversations run with the format's own protocol. For the others a shorter one is enough: it has records in a row too. */
const TURNS = { long: 400, short: 130 };

let upstream: FakeUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = startUpstream();
  app = await startTestApp({
    config: {
      providers: Object.fromEntries(
        DIALECTS.map((name) => [
          name,
          { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false },
        ]),
      ),
      models: DIALECTS.map((id) => ({
        id,
        context_length: WINDOW,
        prices: { input: 1, output: 1 },
        routes: [{ provider: id, model: "up-model" }],
      })),
      tiers: { premium: { rpm: 1_000_000 } },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const table = FORMAT_NAMES.flatMap((format) =>
  DIALECTS.map((dialect) => [format, dialect, dialect === format ? TURNS.long : TURNS.short] as const),
);

test.each(table)(
  "%s over %s, %i turns",
  async (format, dialect, turns) => {
    const { seen, script } = tightUpstream({ window: WINDOW, say: lookingModel() });
    upstream.answer(script);
    const talker = new Talker(format);
    const actions: string[] = [];
    for (let turn = 1; turn <= turns; turn++) {
      const fact = turn % 10 === 0 ? `Remember that fact-${turn} is v${turn}x. ` : "";
      talker.speak(`${fact}Please go on with part ${turn}.`, `line of the file ${turn} `.repeat(30));
      const stream = turn % 2 === 0;
      const answer = await app.post(
        PATHS[format],
        bodyOf(format, dialect, talker.list, { thread_id: `${format}-${dialect}`, stream }),
      );
      expect(answer.status).toBe(200);
      talker.hear(await answer.text());
      actions.push(answer.headers.get("x-sallyport-compaction")?.split(";")[0] ?? "none");
    }
    // The upstream's last prompt must contain every fact that was said in text.
    const last = seen.turns.at(-1)!.text;
    const lost = [];
    // A fact is said in every turn in which no tool result is due.
    const said = new Set(JSON.stringify(talker.list).match(/fact-\d+ is v\d+x/g));
    expect(said.size).toBeGreaterThan(turns / 20);
    for (const fact of said) if (!last.includes(fact)) lost.push(fact);
    expect(lost).toEqual([]);
    expect(Math.max(...seen.turns.map(({ text }) => text.length / 4))).toBeLessThanOrEqual(WINDOW);
    // At least three times a summary continued the previous one. Each time took a single call.
    expect(seen.summaries.length).toBeGreaterThanOrEqual(3);
    expect(seen.summaries.filter((text) => text.includes("The record so far")).length).toBe(seen.summaries.length - 1);
    expect(seen.summaries.length).toBeLessThan(turns / 10);
    expect(actions).toContain("reused");
    expect(actions).not.toContain("truncated");
  },
  60_000,
);
