// No answer that failed, was cut off or broke off is kept, in any client format over any protocol.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS, type Said, say } from "../../../support/fake-model.ts";
import { CLIENT_FORMATS } from "../../../support/heard.ts";
import { type Received, startUpstream } from "../../../support/upstream.ts";

const upstream = startUpstream();
const app = await startTestApp({
  config: {
    cache: { mode: "ask" },
    tiers: { premium: { rpm: 100_000 } },
    providers: Object.fromEntries(
      DIALECTS.map((name) => [
        name,
        {
          ...{ kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
          breaker: { failures: 10_000 },
        },
      ]),
    ),
    models: DIALECTS.map((id) => ({ id, routes: [{ provider: id, model: "up-model" }] })),
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const GOOD: Said = { text: "Sunny." };
const failing = (said: Said) => (received: Received) => say(received, said);
/** What goes wrong, and whether it does so in whole answers too. */
const FAILURES: Readonly<Record<string, { answer(received: Received): Response; isWhole: boolean }>> = {
  "an error": { answer: () => Response.json({ error: { message: "no" } }, { status: 500 }), isWhole: true },
  "no JSON": { answer: () => new Response("<html>", { headers: { "content-type": "text/html" } }), isWhole: true },
  "a limit of tokens": { answer: failing({ text: "Su", cut: true }), isWhole: true },
  "a stream that ends early": {
    answer: failing({ text: "Sunny.", breaks: { after: 3, with: "end" } }),
    isWhole: false,
  },
  "a stream that fails": { answer: failing({ text: "Sunny.", breaks: { after: 3, with: "error" } }), isWhole: false },
};

const ROWS = CLIENT_FORMATS.flatMap((format) =>
  DIALECTS.flatMap((dialect) =>
    Object.entries(FAILURES).flatMap(([name, failure]) =>
      (failure.isWhole ? [false, true] : [true]).map(
        (stream) => [name, format.name, dialect, stream, { format, failure }] as const,
      ),
    ),
  ),
);

let count = 0;

test.each(ROWS)("%s is not kept: %s over %s, stream %p", async (_, _format, dialect, stream, { format, failure }) => {
  const text = `How is it in place ${count++}?`;
  const body = JSON.parse(
    JSON.stringify(format.body({ stream, tools: false })).replaceAll("How is it?", text),
  ) as object;
  const ask = async () => {
    const response = await app.post(format.path, { ...body, model: dialect }, { "cache-control": "max-age=60" });
    return { cache: response.headers.get("x-sallyport-cache"), text: await response.text() };
  };
  upstream.answer(failure.answer);
  await ask();
  upstream.answer(failing(GOOD));
  const first = await ask();
  expect([first.cache, first.text.includes("Sunny.") || stream]).toEqual(["miss", true]);
  const again = await ask();
  expect(again.cache).toStartWith("hit");
});
