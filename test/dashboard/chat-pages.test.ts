// The chat of the playground in a real browser: rendered answers, tools, pictures, the request in every format, errors
// with the request id for the operator, following and stopping a long answer, and what survives a reload and the end of
// a session.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";

const isMissing = CHROMIUM === undefined;
const SLOW_MS = 90_000;
/** A picture of one pixel. */
const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const TOOLS = '[{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]';

type Body = {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly unknown[];
  readonly [name: string]: unknown;
};

let app: AccountsApp;
let browser: TestBrowser;
let base: string;
let upstream: ReturnType<typeof startModel>;

/** A provider whose behaviour the last message selects. */
function startModel() {
  const bodies: Body[] = [];
  const more = { text: Promise.withResolvers<void>() };
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const usage = `data: ${JSON.stringify({ id: "c", choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } })}\n\n`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const body = (await request.json()) as Body;
      bodies.push(body);
      const last = body.messages.at(-1);
      const said = typeof last?.content === "string" ? last.content : JSON.stringify(last?.content);
      if (said.includes("fail"))
        return Response.json({ error: { message: "no such luck", code: "bad" } }, { status: 400 });
      const encoder = new TextEncoder();
      const stream = new ReadableStream({
        async start(controller) {
          const write = (text: string) => controller.enqueue(encoder.encode(text));
          if (said.includes("weather") && body.tools !== undefined && last?.role === "user") {
            const call = { index: 0, id: "call_1", type: "function", function: { name: "get_weather", arguments: "" } };
            write(chunk({ role: "assistant", tool_calls: [call] }));
            write(chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Bergen"}' } }] }));
            write(chunk({}, "tool_calls"));
          } else if (said.includes("endless")) {
            write(chunk({ content: "line\n\n".repeat(100) }));
            await more.text.promise;
            write(chunk({ content: "and the end" }));
            return;
          } else {
            write(chunk({ content: `# Drawn\n\nYou said **${said.slice(0, 40)}** <b onclick="x">html</b>` }));
            write(chunk({}, "stop"));
          }
          write(usage);
          write("data: [DONE]\n\n");
          controller.close();
        },
      });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { bodies, more, url: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop(true) };
}

beforeAll(async () => {
  if (isMissing) return;
  upstream = startModel();
  const config = {
    tiers: { free: { rpm: 500 } },
    providers: { model: { kind: "openai", base_url: upstream.url, api_key: "k", discover: false } },
    models: [{ id: "talker", routes: [{ provider: "model", model: "m" }] }],
  };
  [app, browser] = await Promise.all([startAccountsApp({ config }), startBrowser()]);
  base = `${app.app.url}/dashboard`;
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
  await upstream?.stop();
});

async function signIn(page: Page, name: string): Promise<void> {
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function playing(name: string, look: { width: number; dark: boolean }) {
  await app.addAccount(name);
  const visitor = await browser.visitor({ ...look, address: freshAddress() });
  await visitor.page.goto(`${base}/playground`);
  await signIn(visitor.page, name);
  await visitor.page.getByRole("heading", { name: "Playground" }).waitFor();
  await visitor.page.getByLabel("Model", { exact: true }).selectOption("talker");
  return visitor;
}

async function ask(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

async function sound(page: Page): Promise<void> {
  expect(await faults(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
}

describe.skipIf(isMissing)("in a browser", () => {
  test.each([
    [390, true],
    [1440, false],
  ])(
    "at %i px: every format talks, calls a tool and takes a picture",
    async (width, dark) => {
      const { page, complaints, context } = await playing(`talker-${width}`, { width, dark });
      await sound(page);
      // On a phone the settings are behind a button.
      if (width < 761) await page.getByText("Settings", { exact: true }).click();
      await page.getByText("Tools, response format and more").click();
      await page.getByLabel("Tools", { exact: true }).fill("{");
      await ask(page, "hello");
      await page.getByText("This is not valid JSON").waitFor();
      await sound(page);
      expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("hello");
      await page.getByLabel("Tools", { exact: true }).fill(TOOLS);
      await page.getByLabel("Thread id").fill(`t-${width}`);
      for (const [format, path] of [
        ["chat", "/v1/chat/completions"],
        ["responses", "/v1/responses"],
        ["messages", "/v1/messages"],
      ] as const) {
        await page.getByLabel("Format", { exact: true }).selectOption(format);
        await page.getByLabel("Picture").setInputFiles({ name: "a.png", mimeType: "image/png", buffer: PICTURE });
        await page.getByRole("list", { name: "Pictures to send" }).getByRole("img").waitFor();
        await ask(page, "what is the weather");
        await page.getByLabel("Result of get_weather").fill("rain");
        await page.getByRole("button", { name: "Send results" }).click();
        await page.getByRole("heading", { name: "Drawn" }).waitFor();
        expect(upstream.bodies.at(-1)?.messages.slice(-3)).toMatchObject([
          { role: "user" },
          { role: "assistant", tool_calls: [{ function: { name: "get_weather", arguments: '{"city":"Bergen"}' } }] },
          { role: "tool", content: expect.stringContaining("rain") },
        ]);
        expect(JSON.stringify(upstream.bodies.at(-1)?.messages)).toContain(PICTURE.toString("base64"));
        expect(await page.locator(".reply b").count()).toBe(0);
        await page.getByText("7 in, 3 out").last().waitFor();
        await page.getByText("Request and response").last().click();
        await page.getByRole("tabpanel").getByText(`POST ${path}`).waitFor();
        await page.getByRole("tab", { name: "Response", exact: true }).click();
        await page.getByRole("tabpanel").getByText("data:").first().waitFor();
        await sound(page);
        await page.getByRole("button", { name: "Clear" }).click();
        await page.getByText("No messages yet.").waitFor();
      }
      await page.getByLabel("Response format").selectOption("json_schema");
      await page.getByLabel("JSON Schema of the answer").fill('{"type": "object"}');
      await ask(page, "as JSON");
      await page.getByRole("heading", { name: "Drawn" }).waitFor();
      expect(upstream.bodies.at(-1)?.["response_format"]).toMatchObject({ type: "json_schema" });
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a failure shows its code, its request and the provider, and is tried again",
    async () => {
      const { page, complaints, context } = await playing("failing", { width: 390, dark: false });
      await ask(page, "fail please");
      const alert = page.getByRole("alert");
      await alert.getByText("no such luck").waitFor();
      expect(await alert.locator("code").count()).toBe(2);
      await page.getByText("Request and response").click();
      await page.getByRole("tab", { name: "Route" }).click();
      const provider = page.getByRole("tabpanel").getByText("model", { exact: true });
      const again = page.getByRole("button", { name: "Check again" });
      await provider.or(again).first().waitFor();
      // The button may give way to the provider while it is being clicked.
      while (await again.isVisible()) {
        await again.click({ timeout: 2000 }).catch(async (error: unknown) => {
          if (await again.isVisible()) throw error;
        });
        await provider.or(again).first().waitFor();
      }
      await provider.waitFor();
      await sound(page);
      const asked = upstream.bodies.length;
      await page.getByRole("button", { name: "Try again" }).click();
      await alert.getByText("no such luck").waitFor();
      while (upstream.bodies.length === asked) await new Promise((resolve) => setImmediate(resolve));
      expect(upstream.bodies.at(-1)?.messages).toEqual(upstream.bodies[asked - 1]?.messages as never);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "an answer is asked for again, and the whole conversation is copied",
    async () => {
      const { page, complaints, context } = await playing("copier", { width: 1440, dark: false });
      await ask(page, "once more");
      await page.getByText("7 in, 3 out").waitFor();
      const asked = upstream.bodies.length;
      await page.getByRole("button", { name: "Answer again" }).click();
      while (upstream.bodies.length === asked) await new Promise((resolve) => setImmediate(resolve));
      expect(upstream.bodies.at(-1)?.messages).toEqual(upstream.bodies[asked - 1]?.messages as never);
      await page.getByText("7 in, 3 out").waitFor();
      expect(await page.getByRole("heading", { name: "Drawn" }).count()).toBe(1);
      await page.getByRole("button", { name: "Copy all of the conversation as Markdown" }).click();
      await page.getByText("Copied").waitFor();
      await page.getByLabel("Message", { exact: true }).focus();
      await page.keyboard.press("Control+V");
      const copied = await page.getByLabel("Message", { exact: true }).inputValue();
      expect(copied).toStartWith("## User\n\nonce more\n\n## talker\n\n# Drawn\n\nYou said **once more**");
      await sound(page);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test.each([
    { width: 1440, dark: false },
    { width: 390, dark: true },
  ])(
    "at $width px: an earlier message is edited with the keyboard, and the conversation continues from there",
    async ({ width, dark }) => {
      const { page, complaints, context } = await playing(`editor-${width}`, { width, dark });
      for (const [index, text] of ["first", "second", "third"].entries()) {
        await ask(page, text);
        await page.getByText("7 in, 3 out").nth(index).waitFor();
      }
      const edit = page.getByRole("button", { name: "Edit the message second" });
      await edit.focus();
      await page.keyboard.press("Enter");
      const area = page.getByLabel("Your message");
      await area.waitFor();
      expect(await area.evaluate((element) => element === document.activeElement)).toBe(true);
      await sound(page);
      // Escape leaves everything as it was.
      await page.keyboard.press("Escape");
      await page.waitForFunction(() => document.activeElement?.ariaLabel === "Edit the message second");
      expect(await page.locator(".said.user").allTextContents()).toEqual(["first", "second", "third"]);
      await page.keyboard.press("Enter");
      await area.waitFor();
      await page.keyboard.type(", but better");
      await page.keyboard.press("Enter");
      await page.getByText("You said second, but better").waitFor();
      await page.getByText("7 in, 3 out").nth(1).waitFor();
      expect(await page.locator(".said.user").allTextContents()).toEqual(["first", "second, but better"]);
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("message");
      expect(upstream.bodies.at(-1)?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
      await page.reload();
      await page.getByText("You said second, but better").waitFor();
      expect(await page.locator(".said.user").allTextContents()).toEqual(["first", "second, but better"]);
      await sound(page);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a long answer is followed until its reader scrolls away, Stop stays in sight, and Esc stops",
    async () => {
      const { page, complaints, context } = await playing("follower", { width: 390, dark: true });
      await ask(page, "endless");
      const stop = page.getByRole("button", { name: "Stop" });
      const inSight = () => stop.evaluate((button) => button.getBoundingClientRect().bottom <= innerHeight);
      const atEnd = () =>
        page.waitForFunction(() => scrollY + innerHeight >= document.documentElement.scrollHeight - 80 && scrollY > 0);
      await page.getByText("line").nth(99).waitFor();
      await atEnd();
      expect(await inSight()).toBe(true);
      await page.mouse.move(200, 300);
      await page.mouse.wheel(0, -1500);
      await page.getByRole("button", { name: "To the end" }).waitFor();
      const top = await page.evaluate(() => scrollY);
      upstream.more.text.resolve();
      await page.getByText("and the end").waitFor();
      expect(Math.abs((await page.evaluate(() => scrollY)) - top)).toBeLessThan(5);
      expect(await inSight()).toBe(true);
      await page.getByRole("button", { name: "To the end" }).click();
      await atEnd();
      await page.keyboard.press("Escape");
      await page.getByText(/stopped/).waitFor();
      await sound(page);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a message that is sent before the models are loaded stays, and the reader is told",
    async () => {
      const { page, complaints, context } = await playing("early", { width: 390, dark: false });
      const held = Promise.withResolvers<void>();
      await page.route("**/dashboard/api/models", async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.reload();
      await ask(page, "too early");
      await page.getByText("The models are not loaded yet.").waitFor();
      expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("too early");
      held.resolve();
      await page.getByText("This request as code").waitFor();
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("heading", { name: "Drawn" }).waitFor();
      expect(await page.getByText("The models are not loaded yet.").count()).toBe(0);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a conversation outlives a reload, a server that is away and the end of the session, and nobody else sees it",
    async () => {
      const { page, context } = await playing("keeper", { width: 1440, dark: true });
      await page.getByLabel("System prompt").fill("Be brief.");
      await ask(page, "remember this");
      await page.getByRole("heading", { name: "Drawn" }).waitFor();
      await page.getByText("7 in, 3 out").waitFor();
      await page.getByLabel("Message", { exact: true }).fill("half a thought");
      await page.reload();
      await page.getByRole("heading", { name: "Drawn" }).waitFor();
      expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("half a thought");
      expect(await page.getByLabel("System prompt").inputValue()).toBe("Be brief.");
      await page.getByText("This request as code").waitFor();

      await context.setOffline(true);
      await page.getByLabel("Message", { exact: true }).fill("said to nobody");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").getByText("unreachable").waitFor();
      await context.setOffline(false);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("heading", { name: "Drawn" }).nth(1).waitFor();
      await context.clearCookies();
      await page.getByLabel("Message", { exact: true }).fill("said too late");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await signIn(page, "keeper");
      await page.getByRole("heading", { name: "Playground" }).waitFor();
      await page.getByText("said too late").waitFor();
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("heading", { name: "Drawn" }).nth(2).waitFor();

      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await app.addAccount("stranger");
      await signIn(page, "stranger");
      await page.goto(`${base}/playground`);
      await page.getByText("No messages yet.").waitFor();
      expect(await page.content()).not.toContain("remember this");
      await context.close();
    },
    SLOW_MS,
  );
});
