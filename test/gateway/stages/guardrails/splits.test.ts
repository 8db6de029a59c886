// Wherever a provider cuts its stream, nothing of what is masked or denied leaves: every kind of match, cut at each of its places,
// in every client format over every protocol.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS, type Said, say } from "../../../support/fake-model.ts";
import { CLIENT_FORMATS, type ClientFormat } from "../../../support/heard.ts";
import { startUpstream } from "../../../support/upstream.ts";

/** One match of each kind, and what is put in its place. */
const MATCHES: readonly (readonly [value: string, placeholder: string])[] = [
  ["ada.lovelace@example.com", "[EMAIL_1]"],
  ["+49 30 123456-78", "[PHONE_1]"],
  ["4111 1111 1111 1111", "[CARD_1]"],
  ["DE89 3704 0044 0532 0130 00", "[IBAN_1]"],
  ["203.0.113.77", "[IP_1]"],
  ["sk-proj-abcdefghijklmnopqrst0123", "[SECRET_1]"],
  ["launch code 123456", "[CODE_1]"],
  ["kryptonite", "[STONES_1]"],
];
const SPOKEN = `So: ${MATCHES.map(([value]) => value).join("; then ")}; done.`;
const MASKED = MATCHES.reduce((text, [value, placeholder]) => text.replace(value, placeholder), SPOKEN);
const CUTS = Math.max(...MATCHES.map(([value]) => value.length));

const upstream = startUpstream();
const checks = [
  ["pii", { kind: "pii", find: ["email", "phone", "card", "iban", "ip", "secret"] }],
  ["code", { kind: "pattern", patterns: { CODE: "launch code [0-9]{6}" } }],
  ["stones", { kind: "words", words: ["kryptonite"] }],
] as const;
const app = await startTestApp({
  config: {
    tiers: { premium: { rpm: 100_000 } },
    providers: Object.fromEntries(
      DIALECTS.map((name) => [name, { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false }]),
    ),
    models: DIALECTS.flatMap((id) =>
      ["mask", "deny"].map((use) => ({ id: `${use}-${id}`, routes: [{ provider: id, model: "up-model" }] })),
    ),
    guardrails: ["mask", "deny"].flatMap((action) =>
      checks.map(([name, check]) => ({
        name: action === "mask" ? name : `no-${name}`,
        ...{ on: ["output"], check, action, apply: { models: [`${action}-*`] } },
      })),
    ),
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** The text cut once within each match: before its character `at`, or its last. */
function cutWithin(text: string, at: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const [value] of MATCHES) {
    const start = text.indexOf(value);
    if (start === -1) continue;
    const cut = start + Math.min(at, value.length - 1);
    pieces.push(text.slice(from, cut));
    from = cut;
  }
  return [...pieces, text.slice(from)];
}

async function streamed(format: ClientFormat, model: string, said: Said) {
  upstream.answer((received) => say(received, said));
  const body = { ...format.body({ stream: true, tools: true }), model };
  const response = await app.post(format.path, body);
  const raw = await response.text();
  expect(response.status, raw).toBe(200);
  return { raw, heard: format.streamed(raw) };
}

const ROWS = CLIENT_FORMATS.flatMap((format) => DIALECTS.map((dialect) => [format.name, dialect, format] as const));

test.each(ROWS)("what is masked does not leave, wherever it is cut: %s over %s", async (_name, dialect, format) => {
  for (let at = 1; at <= CUTS; at++) {
    const pieces = (text: string) => (at === CUTS ? [...text] : cutWithin(text, at));
    const calls = format.isTextOnly === true ? [] : [{ id: "c_1", name: "weather", args: { city: SPOKEN } }];
    const { raw, heard } = await streamed(format, `mask-${dialect}`, {
      ...{ text: SPOKEN, reasoning: { text: SPOKEN, signature: "c2ln" }, calls, pieces },
    });
    expect(heard.text, `cut ${at}`).toBe(MASKED);
    if (heard.reasoning !== "") expect(heard.reasoning, `cut ${at}`).toBe(MASKED);
    if (calls.length > 0) expect(heard.calls, `cut ${at}`).toEqual([{ name: "weather", args: { city: MASKED } }]);
    expect(MATCHES.filter(([value]) => raw.includes(value.slice(3))).map(([value]) => value)).toEqual([]);
  }
});

test.each(ROWS)("what is denied does not leave, wherever it is cut: %s over %s", async (_name, dialect, format) => {
  for (const [value] of MATCHES.filter(([, label]) => /EMAIL|CODE/.test(label))) {
    const text = `So it is: ${value}, and more.`;
    for (let at = 1; at < value.length; at++) {
      const pieces = (whole: string) => cutWithin(whole, at);
      const { raw, heard } = await streamed(format, `deny-${dialect}`, { text, calls: [], pieces });
      expect("So it is: ".startsWith(heard.text), `cut ${at}: ${heard.text}`).toBe(true);
      // Neither the parts of it, nor what follows.
      const [before = "", after = ""] = [value.slice(0, at), value.slice(at)];
      for (const part of [before, after, "and more"]) if (part.length > 4) expect(raw).not.toContain(part);
    }
  }
});
