// Answers have a size that an agent can process, and say where something was left out. Many answers at the same time do not mix.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../../src/base/errors.ts";
import { jobAnswer } from "../../src/mcp/jobs.ts";
import { failureResult, toolResult } from "../../src/mcp/results.ts";
import { ANSWER_CHARS_MAX, sizedData, sizedText } from "../../src/mcp/sized.ts";
import type { JsonRecord } from "../../src/mcp/tool.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, startFakeSite } from "../support/fake-site.ts";
import { webConfig } from "../web/support.ts";
import { type CallResult, CLIENTS, withClient } from "./support.ts";

const WORDS = "Words of a page that goes on and on, and says what no one has asked it for. ";
let site: FakeSite;
let app: TestApp;

beforeAll(async () => {
  const long = `<p>${WORDS.repeat(40)}</p>`.repeat(260);
  const links = Array.from({ length: 6000 }, (_, at) => `<a href="/${"x".repeat(200)}/${at}">${at}</a>`).join(" ");
  site = startFakeSite({
    "/long": () => html(`<title>Long</title><main><h1>Long</h1>${long}</main>`),
    "/links": () => html(`<title>Links</title><main>${links}</main>`),
    "/robots.txt": () => new Response(""),
  });
  for (let at = 0; at < 40; at++)
    site.set(`/n/${at}`, () =>
      html(`<title>${at}</title><main><h1>Number ${at}</h1><p>${WORDS} This is ${at}.</p></main>`),
    );
  app = await startTestApp({ key: { rpm: 1_000_000 }, config: webConfig([site.host]) });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
});

/** The maximum length of the note that follows a shortened text. */
const NOTE_CHARS = 200;
const textOf = ({ content }: CallResult) => content.map(({ text = "" }) => text).join("");

describe("large answers", () => {
  test("a long page is shortened, with a note", async () => {
    await withClient(app, async (client) => {
      await client.listTools();
      const result = await client.call("scrape", { url: `${site.url}/long`, only_main_content: false });
      const text = textOf(result);
      expect(text.length).toBeLessThan(ANSWER_CHARS_MAX + NOTE_CHARS);
      expect(text).toMatch(/\[Cut after 500000 of \d+ characters\.\]$/);
      expect(JSON.stringify(result.structuredContent).length).toBeLessThan(ANSWER_CHARS_MAX * 1.1);
      expect(result.structuredContent).toMatchObject({ data: { metadata: { title: "Long", statusCode: 200 } } });
    });
  });

  test("a long list is shortened by whole addresses", async () => {
    await withClient(app, async (client) => {
      await client.listTools();
      const { structuredContent } = await client.call("map", { url: `${site.url}/links` });
      const links = (structuredContent?.["links"] ?? []) as string[];
      expect(links.length).toBeGreaterThan(500);
      expect(links.length).toBeLessThan(5000);
      expect(links.slice(1).filter((link) => !/\/\d+$/.test(link))).toEqual([]);
    });
  });

  test("any data stays within the limit and keeps its structure", () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 4 }), fc.nat(30), (data, times) => {
        const large = {
          rows: Array.from({ length: times }, () => ({ ...data, text: WORDS.repeat(700) })),
          last: "kept",
        };
        const sized = sizedData(large as JsonRecord);
        expect(JSON.stringify(sized.data).length).toBeLessThan(ANSWER_CHARS_MAX * 1.5);
        expect(sized.data["last"]).toBe("kept");
        expect(sized.isCut).toBe(JSON.stringify(sized.data) !== JSON.stringify(large));
      }),
      { numRuns: 30 },
    );
  });

  test("shortening never splits a character", () => {
    const text = sizedText("😀".repeat(ANSWER_CHARS_MAX));
    expect(text.isWellFormed()).toBe(true);
    expect(sizedText(`x${"😀".repeat(ANSWER_CHARS_MAX)}`).isWellFormed()).toBe(true);
  });

  test("images are returned as images, and one that is too large is named", () => {
    const small = toolResult({ text: "x", data: {}, images: ["aGk="] });
    expect(small.content).toEqual([
      { type: "text", text: "x" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ]);
    const large = toolResult({ text: "x", data: {}, images: ["a".repeat(6_000_000)] });
    expect(large.content).toEqual([{ type: "text", text: "x\n\n[A screenshot is too large to be shown.]" }]);
  });

  test("so are the screenshots of a crawl's pages, and data of other jobs is not changed", () => {
    const page = { markdown: "x", screenshot: "aGk=" };
    const crawl = toolResult(jobAnswer({ job_id: "crawl_1", data: [page, { markdown: "y" }] }));
    expect(crawl.structuredContent).toEqual({ job_id: "crawl_1", data: [{ markdown: "x" }, { markdown: "y" }] });
    expect(crawl.content.map(({ type }) => type)).toEqual(["text", "image"]);
    const found = { job_id: "extract_1", data: [null, page] };
    expect(toolResult(jobAnswer(found)).structuredContent).toEqual(found);
  });

  test("a failure contains the error as text, and no data", () => {
    const error = new ApiError("rate_limit_exceeded", "Wait.", { retryAfterSeconds: 2.4 });
    expect(failureResult(error)).toEqual({
      content: [
        {
          type: "text",
          text: JSON.stringify({
            error: { message: "Wait.", type: "rate_limit_error", code: "rate_limit_exceeded", param: null },
            status: 429,
            retry_after_seconds: 3,
          }),
        },
      ],
      isError: true,
    });
  });
});

test("many calls at once, by every client, each get their own answer", async () => {
  const clients = await Promise.all(Object.values(CLIENTS).map((connect) => connect(app)));
  try {
    const calls = clients.flatMap((client) =>
      Array.from({ length: 10 }, async (_, at) => {
        const result = await client.call("scrape", { url: `${site.url}/n/${at}` });
        expect(textOf(result)).toContain(`This is ${at}.`);
      }),
    );
    await Promise.all(calls);
    expect(calls).toHaveLength(40);
  } finally {
    for (const client of clients) await client.close();
  }
});
