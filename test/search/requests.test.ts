// The requests of every engine, compared with a table of golden requests. It also tests that no query can escape from its
// parameter.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineContext, EngineRequest, SearchEngine, SearchQuery } from "../../src/search/engine.ts";
import { ENGINES } from "../../src/search/engines/index.ts";
import { ENGINE_REQUESTS, exchangeOf, requestsOf } from "./golden-requests.ts";
import { bodyOf, contextFor, readSample, responseTo } from "./samples.ts";

const golden = JSON.parse(readFileSync(join(import.meta.dir, "../..", ENGINE_REQUESTS), "utf8")) as Record<
  string,
  Record<string, string[]>
>;

test("requests are those of the table", () => {
  const now = Object.fromEntries(ENGINES.map((engine) => [engine.name, requestsOf(engine)]));
  for (const [name, requests] of Object.entries(now)) expect([name, requests]).toEqual([name, golden[name] ?? {}]);
  expect(Object.keys(now).sort()).toEqual(Object.keys(golden).sort());
});

describe.each(ENGINES.map((engine) => [engine.name, engine] as const))("%s", (_name, engine) => {
  test("sends the query as it is", () => {
    for (const text of ["a&b=c", "100% #1", "a+b c", 'say "hi"\\', "日本 Ωμέγα 😀", "x?y/z;k", "<b>'\"`${1}"]) {
      const request = searchRequest(engine, contextFor(engine, { query: { text } }));
      expect(valuesOf(request).some((value) => value.includes(text))).toBe(true);
      expect(/[\s<>"]/.test(request.url)).toBe(false);
    }
  });

  test("uses the operator's address, whatever the language", () => {
    for (const baseUrl of ["http://127.0.0.1:9", "http://127.0.0.1:9/prefix/", "https://proxy.example/a/b"]) {
      for (const language of [undefined, "en", "ja", "pt-BR"]) {
        const context = contextFor(engine, { query: { language }, settings: { baseUrl } });
        for (const request of exchangeOf(engine, context))
          expect(request.url.startsWith(`${baseUrl.replace(/\/$/, "")}/`)).toBe(true);
      }
    }
  });

  test("never sends its key in a query, which logs would store, unless its API accepts it nowhere else", () => {
    if ((engine.key ?? engine.optionalKey) === undefined) return;
    const request = searchRequest(engine, contextFor(engine, { settings: { apiKey: "who:secret" } }));
    const isInQuery = request.url.includes("secret");
    expect([engine.name, isInQuery]).toEqual([
      engine.name,
      ["pubmed", "stackexchange", "openalex"].includes(engine.name),
    ]);
  });

  test("needs no first request for a stored value", () => {
    const context = contextFor(engine);
    const remembered = rememberedBy(engine, context);
    if (remembered === undefined) return;
    const last = exchangeOf(engine, context).at(-1)!;
    expect(engine.request({ ...context, remembered })).toEqual(last);
  });

  test("requests a page of the wanted size, up to its maximum", () => {
    for (const limit of [1, 20]) expect(() => engine.request(contextFor(engine, { query: { limit } }))).not.toThrow();
  });
});

/** The request that carries the query. */
function searchRequest(engine: SearchEngine, context: EngineContext): EngineRequest {
  const { text } = context.query satisfies SearchQuery;
  const requests = exchangeOf(engine, context);
  return requests.find((request) => valuesOf(request).some((value) => value.includes(text))) ?? requests[0]!;
}

/** The value that an exchange asks to store. */
function rememberedBy(engine: SearchEngine, context: EngineContext): string | undefined {
  const [answer] = readSample(engine.name).cases.find(({ name }) => name === "full")!.answers;
  const request = engine.request(context);
  const parsed = engine.parse(responseTo(request, answer!, bodyOf(engine.name, answer!)), context);
  return parsed.kind === "next" ? parsed.remember?.value : undefined;
}

/** Every value that a server would read from the address, a form or JSON. */
function valuesOf({ url, body, headers }: EngineRequest): string[] {
  const address = new URL(url);
  const values = [...address.searchParams.values(), decodeURIComponent(address.pathname)];
  if (body === undefined) return values;
  if (/json/.test(headers["content-type"] ?? "")) return [...values, ...leaves(JSON.parse(body))];
  return [...values, ...new URLSearchParams(body).values()];
}

function leaves(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.values(value).flatMap(leaves);
}
