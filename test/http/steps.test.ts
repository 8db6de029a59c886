// No body may hold up the event loop. Every endpoint gets its worst bodies, and the processor time between two turns of the loop
// is measured, which the load of the machine does not change.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { ENDPOINTS } from "../../src/app/endpoints.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type QuietUpstream, startQuietUpstream } from "../support/quiet-upstream.ts";
import { longestStep } from "../support/steps.ts";
import { type SearchSite, startSearchSite } from "../web/search-site.ts";
import { SMALL_BODIES, WORST_BODIES } from "./worst-bodies.ts";

/** The longest step that a body may take. */
const STEP_MS_MAX = 50;
/** A step that is too long is measured again, since code runs slowly before it is compiled and garbage is collected at any time. */
const TRIES = 4;

let app: TestApp;
let site: SearchSite;
let upstream: QuietUpstream;
const model = (id: string, kind: string) => ({
  id,
  kind,
  context_length: 100_000_000,
  routes: [{ provider: "up", model: id }],
});
beforeAll(async () => {
  site = startSearchSite();
  upstream = await startQuietUpstream();
  app = await startTestApp({
    tier: "premium",
    key: { rpm: 1_000_000 },
    config: {
      web: { render: "never" },
      ...site.config(["wikipedia"]),
      providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "sk-of-the-provider", discover: false } },
      models: [
        model("worst-chat", "chat"),
        model("worst-embedding", "embedding"),
        model("worst-rerank", "rerank"),
        model("worst-speech", "speech"),
        model("worst-image", "image"),
      ],
    },
  });
});
afterAll(async () => {
  await Promise.all([app.stop(), site.stop()]);
  upstream.stop();
});

test("every endpoint that reads a body has its worst bodies, or a reason", () => {
  const reading = ENDPOINTS.filter(({ method }) => /^(?:POST|PUT|PATCH)$/.test(method)).map(
    ({ method, path }) => `${method} ${path}`,
  );
  const rows = Object.keys(WORST_BODIES);
  expect(reading.filter((route) => !rows.includes(route) && !SMALL_BODIES.test(route))).toEqual([]);
  expect(rows.filter((route) => !reading.includes(route))).toEqual([]);
});

const ROWS = Object.entries(WORST_BODIES).flatMap(([route, bodies]) =>
  typeof bodies === "string" ? [] : [[route, bodies] as const],
);

test.each(ROWS)(
  "%s takes no step above 50 ms",
  async (route, bodies) => {
    const [method = "", path = ""] = route.split(" ");
    for (const [at, body] of bodies.entries()) {
      const bytes = Buffer.from(JSON.stringify(body));
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      let shortestMs = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < TRIES && shortestMs >= STEP_MS_MAX; attempt++) {
        const { longestMs, result } = await longestStep(async () => {
          const response = await app.call(path, { method, headers, body: bytes });
          return { status: response.status, text: await response.text() };
        });
        shortestMs = Math.min(shortestMs, longestMs);
        const { status, text } = result;
        // 502 and 503: no page can be reached, and no model is there for extraction.
        expect([route, at, status < 500 || status === 502 || status === 503]).toEqual([route, at, true]);
        // A provider that fails would suspend itself, and the bodies after that would not be read to the end.
        expect([route, at, text.includes('"code":"provider_')]).toEqual([route, at, false]);
        // A job that goes on would be measured with the next body.
        const [, job] = /^\{"success":true,"id":"(\w+)"/.exec(text) ?? [];
        if (job !== undefined) await app.call(`${path}/${job}`, { method: "DELETE" });
      }
      expect({ route, at, longestMs: shortestMs < STEP_MS_MAX ? "short" : shortestMs }).toEqual({
        ...{ route, at },
        longestMs: "short",
      });
    }
  },
  60_000,
);
