// Every tool of the list, called by every client with a real site, search engine, model and decision engine on loopback. Every
// listed tool is tested. A tool without a fixture fails the test.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ENDPOINTS } from "../../src/app/endpoints.ts";
import type { JsonRecord } from "../../src/mcp/tool.ts";
import { TOOLS } from "../../src/mcp/tools/index.ts";
import { type DocumentedGateway, startDocumentedGateway } from "../docs/gateway.ts";
import { type AnyClient, CLIENTS, errorIn, withClient } from "./support.ts";
import type { ToolFixture } from "./tools/fixture.ts";

let gateway: DocumentedGateway;

beforeAll(async () => {
  gateway = await startDocumentedGateway();
});
afterAll(() => gateway.stop());

const fileOf = (name: string) => join(import.meta.dir, "tools", `${name.replaceAll("_", "-")}.ts`);

async function fixtureOf(name: string): Promise<ToolFixture> {
  if (!existsSync(fileOf(name))) throw new Error(`${name} has no fixture: write ${fileOf(name)}`);
  const { fixture } = (await import(fileOf(name))) as { fixture: ToolFixture };
  return gateway.here(JSON.parse(JSON.stringify(fixture, asSource)) as ToolFixture);
}

/** Regular expressions are copied as their source, because JSON cannot express them. */
const asSource = (_: string, value: unknown) => (value instanceof RegExp ? `/${value.source}/` : value);

function expectText(text: string, wanted: string | RegExp): void {
  const pattern = /^\/(.*)\/$/s.exec(String(wanted))?.[1];
  if (pattern === undefined) expect(text).toContain(String(wanted));
  else expect(text).toMatch(new RegExp(pattern));
}

async function argsOf({ args, before }: ToolFixture, client: AnyClient): Promise<JsonRecord> {
  if (before === undefined) return args;
  const { structuredContent } = await client.call(before.tool, before.args);
  return { ...args, job_id: structuredContent?.["job_id"] };
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  describe(name, () => {
    test.each(TOOLS.map((tool) => [tool.name]))("%s", async (tool) => {
      const fixture = await fixtureOf(tool);
      await withClient(
        gateway.app,
        async (client) => {
          // Clients check structured content against the schema in the list of tools.
          await client.listTools();
          const result = await client.call(tool, await argsOf(fixture, client));
          const [first] = result.content;
          expect([result.isError, first?.type, first?.text]).toEqual([undefined, "text", expect.anything()]);
          expect(result.structuredContent).toMatchObject(fixture.data);
          expectText(first?.text ?? "", fixture.text);
          const { args, param, code = "invalid_request" } = fixture.refused;
          expect(errorIn(await client.call(tool, args))).toMatchObject({ code, param });
        },
        connect,
      );
    });
  });
}

test("the list is in the order of the tools, with a description and hints for each", async () => {
  const { tools } = await withClient(gateway.app, (client) => client.listTools());
  expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
  for (const { name, description = "", inputSchema, outputSchema, annotations } of tools) {
    expect([name, description.split(/\s+/).length < 120, description.length > 100]).toEqual([name, true, true]);
    expect(JSON.stringify([inputSchema, outputSchema])).not.toContain("$ref");
    expect(inputSchema).toMatchObject({ type: "object", properties: expect.anything() });
    expect(outputSchema).toMatchObject({ type: "object", properties: expect.anything() });
    expect(annotations).toMatchObject({ readOnlyHint: name !== "crawl", destructiveHint: false });
  }
});

test("parameters are those of the endpoints", async () => {
  const { tools } = await withClient(gateway.app, (client) => client.listTools());
  for (const { name, endpoint } of TOOLS) {
    const described = ENDPOINTS.find(({ method, path }) => `${method} ${path}` === endpoint);
    const body = described?.body?.schema as unknown as { properties: JsonRecord } | undefined;
    if (body === undefined) continue;
    const shown = tools.find((tool) => tool.name === name)?.inputSchema["properties"] as JsonRecord;
    expect([name, Object.keys(shown).filter((one) => one !== "wait_seconds")]).toEqual([
      name,
      Object.keys(body.properties),
    ]);
  }
});
