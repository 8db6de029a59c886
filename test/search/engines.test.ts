// Properties of every search engine, with all stored responses.

import { describe, expect, test } from "bun:test";
import { CATEGORIES, type EngineContext, type Parsed, type SearchEngine } from "../../src/search/engine.ts";
import { ENGINES } from "../../src/search/engines/index.ts";
import { SUSPENDS } from "../../src/search/suspensions.ts";
import {
  bodyOf,
  contextFor,
  contextOfCase,
  play,
  readSample,
  responseTo,
  type SampleCase,
  sampleNames,
} from "./samples.ts";

test("every engine has samples, and every sample has an engine", () => {
  expect(ENGINES.map(({ name }) => name).sort()).toEqual(sampleNames());
});

test("names are unique, in the spelling of the configuration", () => {
  expect(new Set(ENGINES.map(({ name }) => name)).size).toBe(ENGINES.length);
  for (const { name } of ENGINES) expect(name).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
});

describe.each(ENGINES.map((engine) => [engine.name, engine] as const))("%s", (name, engine) => {
  const sample = readSample(name);
  const named = new Map(sample.cases.map((one) => [one.name, one]));

  test("has consistent facts", () => {
    expect(sample.source.length).toBeGreaterThan(20);
    expect(engine.categories.length).toBeGreaterThan(0);
    for (const category of engine.categories) expect(CATEGORIES).toContain(category);
    expect(engine.weight ?? 1).toBeGreaterThan(0);
    expect(engine.timeoutMs).toBeGreaterThan(0);
    expect(engine.pagesMax ?? 1).toBeGreaterThan(0);
    expect(URL.canParse(engine.about.website)).toBe(true);
    expect(engine.selectors["results"] ?? "").not.toBe("");
    const cannotBeAsked = engine.key !== undefined || engine.needsBaseUrl === true;
    if (cannotBeAsked) expect(engine.enabledByDefault).toBe(false);
    if (engine.enabledByDefault) expect(engine.about.official).toBe(true);
  });

  test("has the samples that every engine needs", () => {
    for (const kind of ["full", "empty", "changed", "language", "rate-limited"])
      expect([...named.keys()]).toContain(kind);
  });

  test.each(sample.cases.map((one) => [one.name, one] as const))("reads: %s", (_name, one) => {
    const { parsed, requests } = play(engine, one);
    expect(requests.length).toBe(one.answers.length);
    if (one.failure === undefined) expect(parsed).toEqual(expectedHits(one));
    else {
      expect(failureOf(parsed)?.kind).toBe(one.failure as never);
      expect(failureOf(parsed)?.retryAfterMs).toBe(one.retryAfterMs as never);
    }
  });

  test("takes no body of an accepted request for a failure of its host", () => {
    for (const one of sample.cases.filter(({ failure }) => failure !== undefined)) {
      const { parsed } = play(engine, one);
      const failure = failureOf(parsed);
      const isAccepted = (one.answers.at(-1)?.status ?? 200) < 300;
      if (isAccepted && failure !== undefined)
        expect([one.name, SUSPENDS[failure.kind]]).not.toEqual([one.name, "growing"]);
      if (failure?.kind !== "rate_limited") continue;
      // Whatever the engine's own words are, `Retry-After` is heeded.
      const answers = one.answers.map((answer) => ({ ...answer, headers: { ...answer.headers, "retry-after": "17" } }));
      expect(failureOf(play(engine, { ...one, answers }).parsed)?.retryAfterMs).toBe(17_000);
    }
  });

  test("returns plain texts and web addresses", () => {
    for (const one of sample.cases) {
      for (const hit of hitsOf(play(engine, one).parsed)) {
        for (const text of [hit.title, hit.snippet])
          expect(text).not.toMatch(/\s{2}|^\s|\s$|[\n\r\t]|&(?:amp|quot|#\d+);/);
        for (const url of [hit.url, hit.thumbnail, hit.file])
          if (url !== undefined) expect(url).toMatch(/^https?:\/\/\S+$/);
        if (hit.publishedAt !== undefined)
          expect(hit.publishedAt).toMatch(/^\d{4}(?:-\d\d){0,2}(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?$/);
      }
    }
  });

  test("treats a truncated answer as a failure, or returns only its complete results", () => {
    const full = named.get("full")!;
    const body = lastBody(engine.name, full);
    const whole = JSON.stringify(hitsOf(play(engine, full).parsed));
    const wanted = hitsOf(play(engine, full).parsed).map((hit) => JSON.stringify(hit));
    for (let part = 1; part < 60; part++) {
      const at = Math.floor((body.length * part) / 60);
      const { parsed } = play(engine, full, { change: (text) => text.slice(0, at) });
      if (parsed.kind === "failure") continue;
      expect(whole).not.toBe("[]");
      for (const hit of hitsOf(parsed)) expect(wanted).toContain(JSON.stringify(hit));
      expect(hitsOf(parsed).length).toBeGreaterThan(0);
    }
  });

  test("never treats a changed answer as one without results", () => {
    const full = named.get("full")!;
    for (const [what, change] of changesOf(lastBody(engine.name, full))) {
      const { parsed } = play(engine, full, { change });
      if (parsed.kind === "hits" && parsed.hits.length === 0) throw new Error(`${what}: no hits, and no failure`);
    }
  });

  test.each(STATUSES)("reports what status %d means", (status, kinds) => {
    const context = contextFor(engine);
    const request = engine.request(context);
    for (const body of ["", "<html><body>Sorry</body></html>", "{}"]) {
      const parsed = engine.parse(responseTo(request, { status }, body), context);
      expect(kinds).toContain(failureOf(parsed)?.kind ?? parsed.kind);
    }
  });

  test("reads any answer without throwing", () => {
    const context = contextOfCase(engine, named.get("full")!);
    const request = engine.request(context);
    const empty = lastBody(engine.name, named.get("empty")!).trim();
    for (const body of STRANGE_BODIES.filter((one) => one !== empty)) {
      const parsed = engine.parse(responseTo(request, {}, body), context);
      expect([body, failureOf(parsed)?.kind ?? parsed.kind]).not.toEqual([body, "hits"]);
    }
  });

  test("uses the operator's selectors, and reports unknown ones", () => {
    for (const one of sample.cases) {
      const base = contextOfCase(engine, one);
      const withSelectors = (selectors: Record<string, string>) => ({
        ...base,
        settings: { ...base.settings, selectors },
      });
      const { parsed } = play(engine, one, { context: withSelectors({ ...engine.selectors }) });
      expect(parsed).toEqual(play(engine, one).parsed);
      if (one.name !== "full") continue;
      const results = play(engine, one, { context: withSelectors({ results: "nowhere" }) });
      expect(failureOf(results.parsed)?.kind).toBe("changed_markup");
      const outcome = outcomeOf(engine, one, withSelectors({ titel: "h2" }));
      expect(failureOf(outcome)?.message).toContain('"titel"');
    }
  });

  test("shows nothing of the body in a failure", () => {
    for (const one of sample.cases) {
      const failure = failureOf(play(engine, one).parsed);
      if (failure === undefined) continue;
      expect(failure.message).toMatch(/^[A-Z].*\.$/);
      const body = lastBody(engine.name, one);
      if (body.length > 20) expect(body).not.toContain(failure.message);
    }
  });
});

/** Statuses and the failures that they may stand for, depending on the engine. */
const STATUSES: [number, string[]][] = [
  [400, ["refused", "bad_key", "changed_markup", "server_error"]],
  [401, ["blocked", "bad_key"]],
  [403, ["blocked", "bad_key", "refused", "captcha"]],
  [404, ["changed_markup"]],
  [429, ["rate_limited", "captcha"]],
  [500, ["server_error"]],
  [503, ["server_error", "captcha", "rate_limited"]],
];

const STRANGE_BODIES = [
  "",
  "null",
  "[]",
  "{}",
  "42",
  '"text"',
  "<html></html>",
  "<html><body><p>We are closed.</p></body></html>",
  "<?xml version='1.0'?><nothing/>",
  "{".repeat(5000),
  "<div>".repeat(500_000),
  "<div>".repeat(100_000) + "</p>".repeat(100_000),
  '<div class="web-result snippet"><h2><a href="https://x.example/">'.repeat(20_000),
  "<entry><item><PubmedArticle>".repeat(20_000),
  `[${"[".repeat(100_000)}${"]".repeat(100_000)}]`,
  '{"__proto__":{"results":[{"title":"x","url":"https://x.example"}]}}',
];

/** The body with each of its outer names renamed in turn: keys of JSON, classes and ids of markup, and elements of XML. */
function changesOf(body: string): [string, (text: string) => string][] {
  const names = new Set<string>();
  for (const [, name] of body.matchAll(/"(\w+)"\s*:/g)) names.add(`"${name}"`);
  for (const [, list = ""] of body.matchAll(/\b(?:class|id)="([^"]+)"/g))
    for (const one of list.split(/\s+/)) names.add(one);
  for (const [, name] of body.matchAll(/<([A-Za-z][\w:-]*)/g)) names.add(`<${name}`);
  return [...names].filter((name) => /[A-Za-z]/.test(name)).map((name) => [name, renaming(name)]);
}

function renaming(name: string): (text: string) => string {
  const bare = name.replace(/[<"]/g, "");
  if (name.startsWith("<"))
    return (text) => text.replace(new RegExp(`(</?)${escaped(bare)}(?![\\w:-])`, "g"), "$1renamed");
  return (text) => text.replace(new RegExp(`(?<![\\w-])${escaped(bare)}(?![\\w-])`, "g"), "renamed");
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The outcome of a case. It may fail before all of its answers are used. */
function outcomeOf(engine: SearchEngine, one: SampleCase, context: EngineContext): Parsed {
  const [answer] = one.answers;
  const first = engine.parse(responseTo(engine.request(context), answer!, bodyOf(engine.name, answer!)), context);
  return first.kind === "failure" ? first : play(engine, one, { context }).parsed;
}

function lastBody(name: string, one: ReturnType<typeof readSample>["cases"][number]): string {
  return bodyOf(name, one.answers.at(-1)!);
}

function hitsOf(parsed: Parsed) {
  return parsed.kind === "hits" ? parsed.hits : [];
}

function failureOf(parsed: Parsed) {
  return parsed.kind === "failure" ? parsed.failure : undefined;
}

function expectedHits(one: ReturnType<typeof readSample>["cases"][number]): Parsed {
  const { hits, suggestions, corrections, backOffMs } = one;
  return {
    kind: "hits",
    hits: hits ?? [],
    ...(suggestions !== undefined && { suggestions }),
    ...(corrections !== undefined && { corrections }),
    ...(backOffMs !== undefined && { backOffMs }),
  };
}
