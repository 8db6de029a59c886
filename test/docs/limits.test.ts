// Checks every limit in the document: a value above the limit is refused with the documented error, and a value at the
// limit is not.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { ENDPOINTS } from "../../src/app/endpoints.ts";
import { PATHS } from "../../src/app/paths.ts";
import type { ErrorCode } from "../../src/base/errors.ts";
import { errorsOf } from "../../src/docs/errors.ts";
import type { ApiEndpoint } from "../../src/http/endpoint.ts";
import { type DocumentedGateway, errorOf, type Json, startDocumentedGateway } from "./gateway.ts";

let gateway: DocumentedGateway;

beforeAll(async () => {
  gateway = await startDocumentedGateway();
});
afterAll(() => gateway.stop());

/** One limit of one member of a body: a value that exceeds it, and a value that is just allowed. */
interface Bound {
  readonly endpoint: ApiEndpoint;
  readonly member: string;
  readonly keyword: string;
  readonly beyond: unknown;
  /** Undefined if no allowed value can be generated. */
  readonly within: unknown;
}

/** Members for which no value can be generated, and those that require other members. */
const BESIDE: Readonly<Record<string, Json>> = { top_logprobs: { logprobs: true } };

/** A text of this length; an address if the member requires one. */
function lettersFor(member: string, length: number): string {
  const start = member === "url" ? gateway.here("https://example.com/") : "";
  return start.padEnd(length, "a");
}

function boundsOf(endpoint: ApiEndpoint, member: string, schema: Json): Bound[] {
  const out: Bound[] = [];
  const add = (keyword: string, beyond: unknown, within?: unknown) =>
    out.push({ endpoint, member, keyword, beyond, within });
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, type } = schema;
  if (typeof maximum === "number") add("maximum", maximum + 1, maximum);
  if (typeof minimum === "number") add("minimum", minimum - 1, minimum);
  if (typeof maxLength === "number") add("maxLength", lettersFor(member, maxLength + 1), lettersFor(member, maxLength));
  if (typeof minLength === "number" && minLength > 0) add("minLength", "a".repeat(minLength - 1));
  if (typeof maxItems === "number")
    add(
      "maxItems",
      filled(schema, member, { endpoint, length: maxItems + 1 }),
      filled(schema, member, { endpoint, length: maxItems }),
    );
  if (minItems === 1) add("minItems", []);
  if (Array.isArray(schema["enum"])) add("enum", "no such thing", schema["enum"][0]);
  if (type === "integer") add("type", 1.5);
  if (type === "boolean") add("type", "maybe");
  for (const branch of (schema["anyOf"] as Json[] | undefined) ?? []) {
    // What one branch refuses another may accept, except for the length of its lists.
    const found = boundsOf(endpoint, member, branch).filter(({ keyword }) => keyword.endsWith("Items"));
    out.push(...found);
  }
  return out;
}

/** A list of this length with valid items: those of the schema's examples, or for objects those of the example. */
function filled(
  schema: Json,
  member: string,
  { endpoint, length }: { endpoint: ApiEndpoint; length: number },
): unknown[] {
  const items = (schema["items"] ?? {}) as Json;
  const [example] = Object.values(endpoint.body?.examples ?? {}) as Json[];
  const shown = example?.[member];
  const one = () => {
    if (Array.isArray(items["examples"])) return items["examples"][0] as unknown;
    if (Array.isArray(items["enum"])) return items["enum"][0] as unknown;
    if (items["type"] === "array") return [1];
    if (items["type"] === "integer") return 1;
    if (items["type"] === "object" && Array.isArray(shown)) return shown[0] as unknown;
    return gateway.here("https://example.com/");
  };
  return Array.from({ length }, one);
}

function allBounds(): Bound[] {
  return ENDPOINTS.flatMap((endpoint) => {
    // Members below an id are checked where the object is created.
    if (endpoint.path.includes(":") || endpoint.body === undefined || Object.keys(endpoint.body.examples).length === 0)
      return [];
    const { properties } = endpoint.body.schema as unknown as { properties: Record<string, Json> };
    return Object.entries(properties).flatMap(([member, schema]) => boundsOf(endpoint, member, schema));
  });
}

/** Only providers with a prompt cache accept 0, and the demo has none. */
const ONLY_SOME = "POST /v1/messages max_tokens minimum";

/** The codes of errors that are caused by a value of the request. */
const OF_THE_REQUEST: ReadonlySet<unknown> = new Set<ErrorCode>(["invalid_request", "invalid_question"]);

/** The name of the member in errors. */
const names = (param: unknown, member: string) =>
  typeof param === "string" && (param === member || /^[.[]/.test(param.slice(member.length)));

test("what lies beyond a bound is refused as documented, and what lies on it is not", async () => {
  const bounds = allBounds();
  expect(bounds.length).toBeGreaterThan(80);
  const complaints: string[] = [];
  for (const { endpoint, member, keyword, beyond, within } of bounds) {
    const what = `${endpoint.method} ${endpoint.path} ${member} ${keyword}`;
    const [example] = Object.values(endpoint.body?.examples ?? {});
    const send = (value: unknown) => {
      const body = { ...gateway.here(example as Json), ...BESIDE[member], [member]: value };
      return gateway.ask(endpoint, { body });
    };
    const refused = await send(beyond);
    const error = errorOf(refused.json);
    const code = error?.["code"] as ErrorCode;
    const documented = errorsOf(endpoint, PATHS.isClosable(endpoint.path)).get(refused.status) ?? [];
    if (refused.status < 400 || !documented.includes(code))
      complaints.push(`${what}: ${refused.status} ${code} to ${JSON.stringify(beyond).slice(0, 60)}`);
    else if (!names(error?.["param"], member)) complaints.push(`${what}: names ${error?.["param"]}`);
    if (within === undefined || what === ONLY_SOME) continue;
    const taken = await send(within);
    const again = errorOf(taken.json);
    if (again !== undefined && OF_THE_REQUEST.has(again["code"]) && names(again["param"], member))
      complaints.push(`${what}: ${JSON.stringify(within).slice(0, 60)} is refused: ${again["message"]}`);
  }
  expect(complaints).toEqual([]);
}, 120_000);

test("the same for parameters of the query", async () => {
  const complaints: string[] = [];
  let looked = 0;
  for (const endpoint of ENDPOINTS) {
    const prepared = await gateway.prepare(endpoint);
    for (const { name, in: where, schema } of endpoint.parameters ?? []) {
      const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
      if (where !== "query" || (minimum === undefined && maximum === undefined)) continue;
      const values = [minimum === undefined ? [] : [minimum - 1], maximum === undefined ? [] : [maximum + 1]].flat();
      for (const value of values) {
        const beside = name === "starting_after" ? "stream=true&" : "";
        const query = `${prepared.query === undefined ? "?" : `${prepared.query}&`}${beside}${name}=${value}`;
        const { status, json } = await gateway.ask(endpoint, { ...prepared, query });
        looked++;
        const error = errorOf(json);
        if (status !== 400 || error?.["param"] !== name)
          complaints.push(`${endpoint.path} ${name}=${value}: ${status} ${JSON.stringify(error)}`);
      }
    }
  }
  expect(looked).toBeGreaterThan(5);
  expect(complaints).toEqual([]);
});
