// Two models beside each other in the chat of the playground, in a real browser.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";

const SLOW_MS = 90_000;

interface Body {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** A provider with two models: each sends the first half of its answer at once, and the second half when it is released. */
function startModels() {
  const bodies: Body[] = [];
  let release = Promise.withResolvers<void>();
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const body = (await request.json()) as Body;
      bodies.push(body);
      if (body.model === "slow" && body.messages.at(-1)?.content === "break")
        return Response.json({ error: { message: "slow is broken", code: "bad" } }, { status: 400 });
      const usage = { prompt_tokens: body.model === "slow" ? 1000 : 2000, completion_tokens: 1000 };
      const stream = new ReadableStream({
        async start(controller) {
          const write = (text: string) => controller.enqueue(new TextEncoder().encode(text));
          write(chunk({ content: `${body.model} begins` }));
          await release.promise;
          write(chunk({ content: ` and ends ${bodies.length}` }));
          write(chunk({}, "stop"));
          write(`data: ${JSON.stringify({ id: "c", choices: [], usage })}\n\ndata: [DONE]\n\n`);
          controller.close();
        },
      });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    bodies,
    hold: () => {
      release = Promise.withResolvers();
    },
    release: () => release.resolve(),
    url: `http://127.0.0.1:${server.port}/v1`,
    stop: () => server.stop(true),
  };
}

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  let app: AccountsApp;
  let browser: TestBrowser;
  let upstream: ReturnType<typeof startModels>;

  beforeAll(async () => {
    upstream = startModels();
    const model = (id: string, prices: object) => ({ id, prices, routes: [{ provider: "up", model: id }] });
    const config = {
      tiers: { free: { rpm: 500 } },
      providers: { up: { kind: "openai", base_url: upstream.url, api_key: "k", discover: false } },
      models: [model("quick", { input: 1, output: 2 }), model("slow", { input: 10, output: 20 })],
    };
    [app, browser] = await Promise.all([startAccountsApp({ config }), startBrowser()]);
  }, SLOW_MS);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
    await upstream?.stop();
  });

  /** The playground with two models, one of which has answered before. */
  async function comparing(look: { width: number; dark: boolean }) {
    const name = `judge-${crypto.randomUUID().slice(0, 8)}`;
    await app.addAccount(name);
    const visitor = await browser.visitor({ ...look, address: freshAddress() });
    const { page } = visitor;
    await page.goto(`${app.app.url}/dashboard/playground`);
    await page.getByLabel("Username").fill(name);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Model", { exact: true }).selectOption("quick");
    const ask = async (text: string) => {
      await page.getByLabel("Message", { exact: true }).fill(text);
      await page.keyboard.press("Enter");
    };
    /** The answer of a model to a question, counted from 0. */
    const lane = (round: number, at: number) => page.locator(".lanes").nth(round).locator(".lane").nth(at);
    upstream.release();
    await ask("before");
    await page.getByText("in total").waitFor();
    // On a phone the settings are behind a button.
    if (look.width < 761) await page.getByText("Settings", { exact: true }).click();
    await page.getByLabel("Compare with").selectOption("slow");
    return { ...visitor, ask, lane };
  }

  test.each([
    { width: 1440, dark: false, beside: true },
    { width: 390, dark: true, beside: false },
  ])(
    "at $width px: both models stream the answer to one message, each with its own request, cost and times",
    async ({ width, dark, beside }) => {
      const { page, complaints, context, ask, lane } = await comparing({ width, dark });
      const [quick, slow] = [lane(0, 0), lane(0, 1)];
      upstream.hold();
      await ask("both");
      // Both have begun, and neither has ended.
      await quick.getByText("quick begins").waitFor();
      await slow.getByText("slow begins").waitFor();
      await page.getByRole("button", { name: "Stop" }).waitFor();
      upstream.release();
      await quick.getByText("quick begins and ends").waitFor();
      await slow.getByText("slow begins and ends").waitFor();
      // Prices are for a million tokens.
      await expectFigures(quick, ["quick", "2,000 in, 1,000 out", "$0.004"]);
      await expectFigures(slow, ["slow", "1,000 in, 1,000 out", "$0.03"]);
      for (const [answer, model] of [
        [quick, "quick"],
        [slow, "slow"],
      ] as const) {
        await answer.getByText("Request and response").click();
        await answer.getByRole("tabpanel").getByText(`"model": "${model}"`).waitFor();
        await answer.getByRole("tab", { name: "Response" }).click();
        await answer.getByRole("tabpanel").getByText(`${model} begins`).waitFor();
      }
      const [first, second] = [await quick.boundingBox(), await slow.boundingBox()];
      expect(first!.x === second!.x).toBe(!beside);
      expect(first!.y === second!.y).toBe(beside);
      expect(await faults(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "each model reads its own answers, one that fails is tried again alone, and a reload restores both",
    async () => {
      const { page, complaints, context, ask, lane } = await comparing({ width: 1440, dark: true });
      const bothEnd = async (round: number) => {
        for (const at of [0, 1]) await lane(round, at).getByText("in total").waitFor();
      };
      await ask("both");
      await bothEnd(0);
      await ask("again");
      await bothEnd(1);
      const of = (model: string) => upstream.bodies.findLast((body) => body.model === model)?.messages ?? [];
      const said = (model: string) => of(model).map(({ content }) => content.replace(/ begins.*/, ""));
      expect(said("quick")).toEqual(["before", "quick", "both", "quick", "again"]);
      expect(said("slow")).toEqual(["before", "quick", "both", "slow", "again"]);
      // An edited question goes to both, and each continues its own conversation.
      await page.getByRole("button", { name: "Edit the message again" }).click();
      await page.getByLabel("Your message").fill("better");
      await page.getByRole("button", { name: "Send again" }).click();
      await bothEnd(1);
      while (said("slow").at(-1) !== "better") await new Promise((resolve) => setImmediate(resolve));
      expect(said("quick")).toEqual(["before", "quick", "both", "quick", "better"]);
      expect(said("slow")).toEqual(["before", "quick", "both", "slow", "better"]);
      expect(await page.locator(".lanes").count()).toBe(2);
      await bothEnd(1);

      const asked = upstream.bodies.length;
      await ask("break");
      await lane(2, 1).getByText("slow is broken").waitFor();
      await lane(2, 0).getByText("in total").waitFor();
      await lane(2, 1).getByRole("button", { name: "Try again" }).click();
      while (upstream.bodies.length < asked + 3) await new Promise((resolve) => setImmediate(resolve));
      const models = upstream.bodies.slice(asked).map(({ model }) => model);
      expect(models.sort()).toEqual(["quick", "slow", "slow"]);
      await lane(2, 1).getByRole("button", { name: "Try again" }).waitFor();

      await page.reload();
      await lane(2, 1).getByText("slow is broken").waitFor();
      expect(await page.locator(".lanes").count()).toBe(3);
      // The list of models arrives after the conversation.
      await page.getByLabel("Compare with").getByRole("option", { name: "slow" }).waitFor({ state: "attached" });
      expect(await page.getByLabel("Compare with").inputValue()).toBe("slow");
      await page.getByLabel("Compare with").selectOption("");
      await page.getByText("quick begins and ends").nth(3).waitFor();
      expect(await page.locator(".lanes").count()).toBe(0);
      expect(await page.content()).not.toContain("slow begins");
      await page.getByRole("button", { name: "Clear" }).click();
      await page.getByText("No messages yet.").waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});

/** The line below an answer: its model, tokens, cost and times. */
async function expectFigures(lane: Locator, begin: readonly string[]): Promise<void> {
  const line = lane.locator("p.figures", { hasText: "in total" });
  const figures = ((await line.textContent()) ?? "").split(" · ");
  expect(figures.slice(0, 3)).toEqual([...begin]);
  expect(figures.slice(3).join()).toMatch(/first word after .*in total/);
}
