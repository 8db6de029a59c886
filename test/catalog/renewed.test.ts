import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadMetadata } from "../../src/catalog/metadata.ts";
import { readRenewed, withRenewed } from "../../src/catalog/renewed.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { startTestApp } from "../support/app.ts";
import { FakeTerminal } from "../support/terminal.ts";

const OPENAI = "https://api.openai.com/v1";
const packed = await loadMetadata();

/** A part of LiteLLM's list, with its forms and oddities. */
const LITELLM = {
  sample_spec: { mode: "one of: chat, embedding", litellm_provider: "one of https://docs.litellm.ai" },
  "gpt-9-nova": {
    litellm_provider: "openai",
    mode: "chat",
    max_input_tokens: 2_000_000,
    max_output_tokens: 200_000,
    max_tokens: 200_000,
    input_cost_per_token: 3e-6,
    output_cost_per_token: 0.000012,
    cache_read_input_token_cost: 3e-7,
    input_cost_per_token_above_272k_tokens: 6e-6,
    output_cost_per_token_above_272k_tokens: 0.000018,
    supports_function_calling: true,
    supports_vision: true,
    supports_reasoning: true,
  },
  "gemini/gemini-9-flash": {
    litellm_provider: "gemini",
    mode: "chat",
    max_output_tokens: 65_536,
    input_cost_per_token: 1e-6,
    output_cost_per_token: 2e-6,
  },
  "claude-opus-4-1": {
    litellm_provider: "anthropic",
    mode: "chat",
    input_cost_per_token: 1e-6,
    output_cost_per_token: 5e-6,
    cache_creation_input_token_cost: 1.25e-6,
    cache_creation_input_token_cost_above_1hr: 2e-6,
    input_cost_per_token_above_200k_tokens: 2e-6,
    output_cost_per_token_above_200k_tokens: 7.5e-6,
    cache_creation_input_token_cost_above_200k_tokens: 2.5e-6,
    cache_creation_input_token_cost_above_1hr_above_200k_tokens: 4e-6,
  },
  "gpt-9-free": { litellm_provider: "openai", mode: "chat", input_cost_per_token: 0, output_cost_per_token: 0 },
  "gpt-4o": {
    litellm_provider: "openai",
    mode: "chat",
    max_output_tokens: -1,
    input_cost_per_token: "3",
    supports_vision: 1,
  },
  "gpt-image-9": { litellm_provider: "openai", mode: "image_generation", input_cost_per_token: 1e-6 },
  "somebody/model": { litellm_provider: "somebody", mode: "chat", input_cost_per_token: 1e-6 },
};

const OWN = {
  models: [
    {
      vendor: "openai",
      id: "GPT-9-nova",
      context_length: 2_000_000,
      max_output_tokens: 200_000,
      supports_tools: true,
      prices: { input: 3, output: 12, cache_read: 0.3, tiers: [{ above: 272_000, input: 6, output: 18 }] },
    },
    { vendor: "nobody", id: "x" },
    "not a model",
  ],
};

test.each<[string, unknown, number]>([
  ["LiteLLM's list", LITELLM, 5],
  ["our own words", OWN, 2],
])("public data that was fetched anew extends the packed data, in both forms: %s", (_name, list, models) => {
  const renewed = readRenewed(JSON.stringify(list));
  expect(renewed.count).toBe(models);
  const lookUp = withRenewed(packed, renewed);
  expect(packed(OPENAI, "gpt-9-nova")?.prices).toBeUndefined();
  for (const id of ["gpt-9-nova", "GPT-9-Nova"]) {
    expect(lookUp(OPENAI, id)).toMatchObject({
      contextLength: 2_000_000,
      maxOutputTokens: 200_000,
      supportsTools: true,
      prices: { input: 3, output: 12, tiers: [{ above: 272_000, input: 6, output: 18 }] },
    });
  }
  // Other servers may offer the same id with other limits.
  expect(lookUp("http://127.0.0.1:8000/v1", "gpt-9-nova")).toBeUndefined();
  // What the list does not know stays known.
  expect(lookUp(OPENAI, "gpt-4o-mini")).toEqual(packed(OPENAI, "gpt-4o-mini"));
});

test("what the list states replaces what the program knows, and nothing else", () => {
  const lookUp = withRenewed(packed, readRenewed(JSON.stringify(LITELLM)));
  const anthropic = "https://api.anthropic.com/v1";
  expect(lookUp(anthropic, "claude-opus-4-1")).toEqual({
    ...packed(anthropic, "claude-opus-4-1"),
    prices: {
      input: 1,
      output: 5,
      cacheWrite: 1.25,
      cacheWrite1h: 2,
      tiers: [{ above: 200_000, input: 2, output: 7.5, cacheWrite: 2.5, cacheWrite1h: 4 }],
    },
  });
  const google = "https://generativelanguage.googleapis.com/v1beta";
  expect(lookUp(google, "models/gemini-9-flash")).toMatchObject({ maxOutputTokens: 65_536, prices: { input: 1 } });
  // Zeros are no prices, and values of another form are no facts.
  expect(lookUp(OPENAI, "gpt-9-free")?.prices).toBeUndefined();
  expect(lookUp(OPENAI, "gpt-4o")).toEqual(packed(OPENAI, "gpt-4o"));
  expect(lookUp(OPENAI, "constructor")).toEqual(packed(OPENAI, "constructor"));
});

test.each(["", "no json", "[]", "{}", '{"models":[]}', '{"models":"x"}', "null"])("%p is refused", (text) => {
  expect(() => readRenewed(text)).toThrow(/^expected /);
});

/** A gateway that has not been told the price of a new model. */
const CONFIG = {
  providers: { openai: { api_key: "k", base_url: OPENAI, discover: false } },
  models: [{ id: "gpt-9-nova", routes: [{ provider: "openai" }] }],
};

test("a running gateway reads a list that was fetched, or the operator's file", async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => (url.endsWith("/list") ? Response.json(LITELLM) : new Response("no", { status: 404 })),
  });
  const app = await startTestApp({ config: CONFIG });
  const shown = async () => {
    const answer = await app.call("/v1/models/gpt-9-nova");
    return ((await answer.json()) as { pricing: { prompt: string } }).pricing.prompt;
  };
  const run = async (prices: Record<string, string>, ...argv: string[]) => {
    const cwd = mkdtempSync(join(tmpdir(), "sallyport-prices-"));
    writeFileSync(
      join(cwd, "sallyport.yaml"),
      JSON.stringify({ ...CONFIG, catalog: { prices }, data_dir: app.dataDir }),
    );
    const io = new FakeTerminal();
    const code = await runCommandLine(argv, { version: "0", io, surroundings: { env: {}, cwd } });
    return { code, out: io.stdout, err: io.stderr };
  };
  try {
    expect(await shown()).toBe("0");
    const url = `${server.url.href}list`;
    expect(await run({ url }, "models", "refresh", "--json")).toMatchObject({
      code: 0,
      out: `${JSON.stringify({ models: 5, source: url })}\n`,
    });
    await app.reconfigure(CONFIG);
    expect(await waitFor(shown, "0")).toBe("0.000003");

    // A list that cannot be read replaces nothing.
    const missing = `${server.url.href}missing`;
    expect(await run({ url: missing }, "models", "refresh")).toMatchObject({
      code: 1,
      err: `sallyport: ${missing} answered with status 404\n`,
    });
    const file = join(app.dataDir, "own.json");
    writeFileSync(
      file,
      JSON.stringify({ models: [{ vendor: "openai", id: "gpt-9-nova", prices: { input: 7, output: 8 } }] }),
    );
    await app.reconfigure({ ...CONFIG, catalog: { prices: { file } } });
    expect(await waitFor(shown, "0.000003")).toBe("0.000007");
    expect((await run({ file }, "doctor", "--json")).out).toContain("a renewed list with 1 models");
    writeFileSync(file, "{}");
    expect(await run({ file }, "doctor", "--json")).toMatchObject({
      code: 1,
      out: expect.stringContaining("is not a list"),
    });
    expect(await run({}, "models", "refresh")).toMatchObject({
      code: 2,
      err: expect.stringContaining("catalog.prices.url"),
    });
    expect((await run({}, "models", "refresh", "--file", file)).err).toContain("own.json is not a list of prices");
  } finally {
    await app.stop();
    await server.stop(true);
  }
});

/** The first value that differs from `before`; the catalog is rebuilt beside the requests. */
async function waitFor(read: () => Promise<string>, before: string): Promise<string> {
  for (;;) {
    const value = await read();
    if (value !== before) return value;
  }
}
