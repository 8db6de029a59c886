// Descriptions by a model: which pages it is asked about and which answers are used. Failures of the model do not matter.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { say } from "../support/fake-model.ts";
import type { FakeSite } from "../support/fake-site.ts";
import { parseLlmstxt } from "../support/llmstxt-parser.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";
import { startAcme } from "./llmstxt-site.ts";
import { webConfig } from "./support.ts";

interface Asked {
  readonly title: string;
  readonly address: string;
  readonly text: string;
}

let site: FakeSite;
let upstream: FakeUpstream;
let app: TestApp;
let answer: (asked: Asked) => string | Response;
const asked: Asked[] = [];
const systems: string[] = [];

const config = (model = "") => {
  const { web } = webConfig([site.host]) as { web: object };
  return {
    web: { ...web, model },
    providers: {
      up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
    },
    models: [
      { id: "reader", routes: [{ provider: "up", model: "up-model" }], prices: { input: 1, output: 2 }, tier: "free" },
      { id: "dear", routes: [{ provider: "up", model: "up-dear" }], prices: { input: 9, output: 9 }, tier: "free" },
    ],
  };
};

beforeAll(async () => {
  site = startAcme();
  upstream = startUpstream((received) => {
    const [system, user] = (received.json?.["messages"] ?? []) as { content: string }[];
    systems.push(system?.content ?? "");
    const one = JSON.parse(user?.content ?? "{}") as Asked;
    asked.push(one);
    const said = answer(one);
    return said instanceof Response ? said : say(received, { text: said });
  });
  app = await startTestApp({ config: config() });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  upstream.stop();
});
beforeEach(() => {
  asked.length = 0;
  systems.length = 0;
  answer = ({ title }) => `A page that tells of ${title.replace(" | Acme", "")}.`;
});

/** The notes in the file, by path. */
async function notes(body: Record<string, unknown> = {}): Promise<Record<string, string>> {
  const response = await app.post("/v1/llmstxt", { url: site.url, max_urls: 12, ...body });
  const { status, llmstxt } = (await response.json()) as { status: string; llmstxt: string };
  expect([response.status, status]).toEqual([200, "completed"]);
  const links = parseLlmstxt(llmstxt).sections.flatMap((section) => section.links);
  return Object.fromEntries(links.map(({ url, note }) => [new URL(url).pathname, note]));
}

const DESCRIBED = ["/", "/pricing", "/product"];

test("the model is only asked about pages without a description", async () => {
  const found = await notes();
  const paths = asked.map(({ address }) => new URL(address).pathname);
  expect(paths.filter((path) => DESCRIBED.includes(path))).toEqual([]);
  expect(paths).toHaveLength(9);
  expect(found["/docs/api"]).toBe("A page that tells of API.");
  expect(found["/pricing"]).toBe("What widgets cost.");
  // The text of a page is sent to the model as data, separate from the instructions.
  expect(systems.every((system) => !system.includes("Turner"))).toBe(true);
  expect(asked.find(({ title }) => title.startsWith("API"))?.text).toContain("Every call of the Turner");
});

test("`none` uses no model, and a named model is used", async () => {
  await app.reconfigure(config("none"));
  const found = await notes();
  expect(asked).toEqual([]);
  expect(found["/docs/api"]).toBe("Every call of the Turner's interface, with its parameters.");
  await app.reconfigure(config("dear"));
  await notes({ max_urls: 8 });
  expect(new Set(upstream.received.slice(-asked.length).map(({ json }) => json?.["model"]))).toEqual(
    new Set(["up-dear"]),
  );
  await app.reconfigure(config());
});

const OWN = "Every call of the Turner's interface, with its parameters.";

test.each([
  ["two lines", "One line.\n## And a section"],
  ["a line separator", "One line.\u2028Another"],
  ["a link", "See [this](https://evil.example/) page."],
  ["an address", "Go to https://evil.example/ now."],
  ["a bare host", "Go to www.evil.example now."],
  ["markup", "A <b>bold</b> page about the interface."],
  ["too much", `It says ${"very ".repeat(100)}much.`],
  ["nothing", "   "],
  ["hardly anything", "OK."],
  ["JSON", '{"description": "A page about the interface."}'],
])("an answer with %s is not used", async (_, said) => {
  answer = () => said;
  expect((await notes())["/docs/api"]).toBe(OWN);
});

test("quotation marks around an answer and invisible characters are removed", async () => {
  answer = () => '"The \u202Einterface\u202C of the Turner, call by call."';
  expect((await notes())["/docs/api"]).toBe("The interface of the Turner, call by call.");
});

test("a model that fails is soon no longer asked, and the pages' own text is used", async () => {
  answer = () => Response.json({ error: { message: "down" } }, { status: 400 });
  expect((await notes())["/docs/api"]).toBe(OWN);
  // Three failed questions, and those that were in progress.
  expect(asked.length).toBeLessThanOrEqual(6);
});

test("an answer that was cut off is not used, the others are", async () => {
  answer = ({ title }) =>
    title.startsWith("API")
      ? Response.json({
          id: "x",
          object: "chat.completion",
          choices: [
            { index: 0, message: { role: "assistant", content: "A page that is about" }, finish_reason: "length" },
          ],
        })
      : "A page that somebody has read.";
  const found = await notes();
  expect([found["/docs/api"], found["/docs/deploy"]]).toEqual([OWN, "A page that somebody has read."]);
});
