// Names that every object has, put in every place of a body of every documented endpoint: as a further member of each object, and
// instead of each text. Whatever is looked up by them must not find what `Object.prototype` holds.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { ENDPOINTS } from "../../src/app/endpoints.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type SearchSite, startSearchSite } from "../web/search-site.ts";

const NAMES = ["constructor", "__proto__", "toString", "valueOf", "hasOwnProperty"];
/** The values of further members: one for each kind of JSON. */
const VALUES = ["true", '"x"', "[1]", '{"prototype":{"stream":true}}'];
/** Nothing is to be fetched, and an address of this machine is refused at once. */
const ADDRESS = "http://127.0.0.1:1/";
/** Failures of what is not under test: pages, engines, jobs, and models that are not configured. */
const ELSEWHERE = /"(?:code|error)":"(?:[a-z]+_upstream_error|[a-z]+_unavailable|[a-z]+_timeout|provider_[a-z_]+)"/;

let app: TestApp;
let site: SearchSite;
beforeAll(async () => {
  site = startSearchSite();
  app = await startTestApp({
    key: { rpm: 1_000_000 },
    config: { web: { render: "never" }, ...site.config(["wikipedia"]) },
  });
});
afterAll(() => Promise.all([app.stop(), site.stop()]));

/** The bodies, each with one place changed. `__proto__` is only a member in text that is parsed. */
function* changed(body: unknown): Generator<string> {
  const whole = JSON.stringify(body).replaceAll("https://example.com/", ADDRESS);
  for (const { index } of whole.matchAll(/\{/g)) {
    const isEmpty = whole[index + 1] === "}";
    for (const [at, name] of NAMES.entries()) {
      const member = `${JSON.stringify(name)}:${VALUES[at % VALUES.length]}${isEmpty ? "" : ","}`;
      yield whole.slice(0, index + 1) + member + whole.slice(index + 1);
    }
    const all = NAMES.map((name) => `${JSON.stringify(name)}:"x"`).join();
    yield whole.slice(0, index + 1) + all + (isEmpty ? "" : ",") + whole.slice(index + 1);
  }
  for (const { 0: text, index } of whole.matchAll(/"(?:[^"\\]|\\.)*"/g))
    for (const name of NAMES) yield whole.slice(0, index) + JSON.stringify(name) + whole.slice(index + text.length);
}

const BODIES = ENDPOINTS.flatMap(({ method, path, body }) =>
  Object.values(body?.examples ?? {}).map((example) => ({ method, path: path.replace(":id", "none"), example })),
);

test("no name of an object's prototype causes an internal error, wherever it stands", async () => {
  const complaints: string[] = [];
  let sent = 0;
  const send = async (method: string, path: string, body: string) => {
    const headers = { "content-type": "application/json" };
    const response = await app.call(path, { method, headers, body, redirect: "manual" });
    const text = await response.text();
    sent++;
    if (response.status >= 500 && response.status !== 501 && !ELSEWHERE.test(text))
      complaints.push(`${method} ${path} ${body.slice(0, 200)}: ${response.status} ${text.slice(0, 200)}`);
  };
  for (const { method, path, example } of BODIES) {
    // These endpoints take no key, and limit tries rather than requests.
    if (path.startsWith("/v1/auth/")) continue;
    for (const body of changed(example)) await send(method, path, body);
  }
  expect(sent).toBeGreaterThan(1500);
  expect(complaints).toEqual([]);
}, 120_000);
