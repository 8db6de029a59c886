// Builds the OpenAPI 3.1 document from the descriptions beside the routes and the table of errors. It contains nothing about
// single endpoints.

import type { TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";
import type { Access, ApiEndpoint, ApiParameter, GoodAnswer, Group, OtherFailure } from "../http/endpoint.ts";
import { ERROR, errorExamples, errorsOf } from "./errors.ts";
import { type Json, Schemas } from "./schemas.ts";

/** The input of the document. */
export interface DocumentParts {
  readonly version: string;
  /** The gateway's address for clients. */
  readonly server: string;
  readonly endpoints: readonly ApiEndpoint[];
  /** Whether maintenance closes a path. */
  isClosable(path: string): boolean;
}

/** In the order of display. */
const GROUPS: Readonly<Record<Group, string>> = {
  Chat: "Chats in the formats of OpenAI and Anthropic, over every provider.",
  Conversations: "Conversations that are kept here.",
  Files: "Images that chats refer to.",
  Models: "Which models there are, and which plan they belong to.",
  "Embeddings and ranking": "Vectors of texts, and documents by relevance.",
  "Audio and images": "Speech to text and back, and pictures.",
  Decisions: "Typed questions, answered with calibrated probabilities.",
  Web: "Search, single pages, whole sites.",
  "Search for other programs": "Search and pages in the shapes that other programs expect.",
  "For Firecrawl's clients": "Pages, sites and search in the shapes of Firecrawl's v2 API.",
  "For Ollama's clients": "Chats, embeddings and model lists in the shapes of Ollama's API.",
  "For Gemini's clients": "Chats, token counts, embeddings and model lists in the shapes of Gemini's API.",
  Management: "What a team manages with a management key, `sk-m-…`: keys.",
  Accounts: "Signing in, sessions, passwords. Accounts and keys are made in the dashboard.",
  Status: "Health, statistics, metrics.",
};

const INTRODUCTION = `One key for many models, typed decisions and the web.

Keys begin with \`sk-\` and travel as \`Authorization: Bearer sk-…\`. The endpoints under \`/v1/auth\` take the access token of
\`POST /v1/auth/token\` instead. Every answer has an \`X-Request-ID\`: the one that was sent, else a new one.

A request that fails is answered with \`{"error": {"message", "type", "code", "param"}}\`. An address that does not exist is
404 \`route_not_found\`, a known one under another method 405 \`method_not_allowed\` with \`Allow\`. Where waiting helps there is a
\`Retry-After\` in seconds. After the first event of a stream an error comes as an event and the stream ends.

Calls that count against a key's requests per minute carry \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and
\`X-RateLimit-Reset\`; where tokens per minute are limited, answers of models carry the same with \`-Tokens\`. Bodies may be compressed (\`Content-Encoding: gzip\`, \`deflate\`, \`br\`, \`zstd\`). Browsers on any origin
may call the API. Unknown members of a body are ignored, or passed on where an endpoint says so.`;

const SECURITY: Readonly<Record<Access, readonly Json[]>> = {
  open: [],
  key: [{ apiKey: [] }],
  counted: [{ apiKey: [] }],
  management: [{ managementKey: [] }],
  any_key: [{ apiKey: [] }, { managementKey: [] }],
  token: [{ accessToken: [] }],
};

const HEADERS: Readonly<Record<string, Json>> = {
  "X-Request-ID": {
    description: "The request's id: the one that was sent, else a new one.",
    schema: { type: "string" },
  },
  "X-RateLimit-Limit": { description: "Requests per minute of the key.", schema: { type: "integer" } },
  "X-RateLimit-Remaining": { description: "How many of them are left.", schema: { type: "integer" } },
  "X-RateLimit-Reset": { description: "Seconds until a request is free again.", schema: { type: "integer" } },
  "X-RateLimit-Limit-Tokens": {
    description:
      "Tokens per minute of the key or of its project, whichever has least left. Absent if neither has a limit.",
    schema: { type: "integer" },
  },
  "X-RateLimit-Remaining-Tokens": { description: "How many of them are left.", schema: { type: "integer" } },
  "X-RateLimit-Reset-Tokens": { description: "Seconds until the oldest are free again.", schema: { type: "integer" } },
  "Retry-After": { description: "Seconds to wait.", schema: { type: "integer", minimum: 1 } },
};

const LIMITED = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"].flatMap((name) => [
  name,
  `${name}-Tokens`,
]);
/** Errors of requests that are refused before they are counted. */
const BEFORE_COUNTING: ReadonlySet<ErrorCode> = new Set([
  "missing_api_key",
  "invalid_api_key",
  "trial_expired",
  "subscription_inactive",
  "email_not_verified",
  "management_key_not_allowed",
  "key_disabled",
  "address_not_allowed",
  "service_maintenance",
] satisfies ErrorCode[]);

/** The document. */
export function openApiDocument(parts: DocumentParts): Json {
  const schemas = new Schemas();
  const error = schemas.place(ERROR);
  const paths: Record<string, Json> = {};
  for (const endpoint of parts.endpoints) {
    const path = documentPath(endpoint);
    const method = endpoint.method.toLowerCase();
    const known = paths[path] ?? {};
    paths[path] = known;
    if (known[method] !== undefined) throw new Error(`${endpoint.method} ${endpoint.path} is described twice.`);
    known[method] = operation(endpoint, { schemas, error, closable: parts.isClosable(endpoint.path) });
  }
  const used = new Set(parts.endpoints.map(({ group }) => group));
  const codes = parts.endpoints.flatMap((one) => [...errorsOf(one, parts.isClosable(one.path)).values()].flat());
  return {
    openapi: "3.1.0",
    info: {
      title: "Sallyport",
      version: parts.version,
      summary: "A self-hosted AI gateway",
      description: INTRODUCTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      contact: { name: "The operator of this gateway" },
    },
    servers: [{ url: parts.server, description: "This gateway" }],
    tags: Object.entries(GROUPS)
      .filter(([name]) => used.has(name as Group))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key, `sk-…`, made in the dashboard." },
        managementKey: {
          type: "http",
          scheme: "bearer",
          description: "A management key, `sk-m-…`, made by `sallyport key create --manage`.",
        },
        accessToken: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description:
            "The access token of `POST /v1/auth/token`. No key opens these endpoints, and no token the others.",
        },
      },
      headers: { ...HEADERS },
      examples: errorExamples(new Set(codes)),
      schemas: schemas.components(),
    },
  };
}

/** `/v1/crawl/:id` → `/v1/crawl/{id}`; the only parameter of the path stands for `*`. */
export function documentPath({
  path,
  address,
  parameters = [],
}: Pick<ApiEndpoint, "path" | "address" | "parameters">): string {
  if (address !== undefined) return address;
  const rest = parameters.find((one) => one.in === "path")?.name ?? "rest";
  return path.replace(/:(\w+)/g, "{$1}").replace("*", `{${rest}}`);
}

interface Context {
  readonly schemas: Schemas;
  readonly error: Json;
  readonly closable: boolean;
}

function operation(endpoint: ApiEndpoint, context: Context): Json {
  const { id, group, summary, description, access, parameters = [], body } = endpoint;
  return {
    operationId: id,
    tags: [group],
    summary,
    description,
    security: SECURITY[access],
    ...(parameters.length === 0 ? {} : { parameters: parameters.map((one) => parameter(one, context)) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.required ?? true,
            content: {
              [body.type ?? "application/json"]: {
                schema: inline(body.schema, context),
                ...(Object.keys(body.examples).length === 0
                  ? {}
                  : {
                      examples: Object.fromEntries(
                        Object.entries(body.examples).map(([name, value]) => [name, { summary: name, value }]),
                      ),
                    }),
              },
            },
          },
        }),
    responses: responses(endpoint, context),
  };
}

/** Where a body is sent, members with a default are optional: generators require them in named schemas. */
function inline(schema: TSchema, { schemas }: Context): Json {
  const { $id: _name, ...rest } = schema;
  return schemas.place(rest as TSchema);
}

function parameter({ name, in: where, schema, required, example }: ApiParameter, { schemas }: Context): Json {
  const { description, ...rest } = schemas.place(schema);
  return {
    name,
    in: where,
    required: where === "path" || required === true,
    ...(description === undefined ? {} : { description }),
    schema: rest,
    ...(example === undefined ? {} : { example }),
  };
}

function responses(endpoint: ApiEndpoint, context: Context): Json {
  const { answer, access } = endpoint;
  const headers = headersOf(access);
  const status = answer.status ?? 200;
  const errors = errorsOf(endpoint, context.closable);
  const out: Json = {
    [status]: {
      description: answer.description,
      headers: {
        ...refs(headers),
        ...Object.fromEntries(
          Object.entries(answer.headers ?? {}).map(([name, description]) => [
            name,
            { description, schema: { type: "string" } },
          ]),
        ),
      },
      ...content(answer, context),
    },
  };
  const { instead } = answer;
  if (instead !== undefined)
    out[200] = { description: instead.description, headers: refs(headers), ...content(instead, context) };
  for (const [code, codes] of errors) out[code] = failure(code, codes, { ...context, endpoint });
  for (const one of endpoint.otherFailures ?? []) {
    // A status of its own counts before its range: what holds for the range is said there too.
    const within = [...errors.keys()].filter((status) => `${Math.floor(status / 100)}XX` === one.status);
    for (const key of [one.status, ...within])
      out[key] = withOther(out[key] as Json | undefined, one, { ...context, endpoint });
  }
  return out;
}

/** The headers of every answer to a request that was counted, if the endpoint counts requests. */
function headersOf(access: ApiEndpoint["access"]): string[] {
  return access === "counted" ? ["X-Request-ID", ...LIMITED] : ["X-Request-ID"];
}

function content(answer: Omit<GoodAnswer, "instead">, { schemas }: Context): Json {
  const { schema, type = "application/json", example, events } = answer;
  const types: Json = {
    ...(schema === undefined
      ? {}
      : { [type]: { schema: schemas.place(schema), ...(example === undefined ? {} : { example }) } }),
    ...(events === undefined
      ? {}
      : { "text/event-stream": { schema: { description: events.description, ...schemas.place(events.schema) } } }),
  };
  return Object.keys(types).length === 0 ? {} : { content: types };
}

function failure(
  status: number,
  codes: readonly ErrorCode[],
  { error, schemas, endpoint: { access, errorShape: shape } }: Context & { endpoint: ApiEndpoint },
): Json {
  const waits = status === 429 || status === 503;
  const isCounted = codes.some((code) => !BEFORE_COUNTING.has(code));
  const headers = isCounted ? headersOf(access) : ["X-Request-ID"];
  const usual = {
    schema: error,
    examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
  };
  return {
    description: codes.map((code) => `\`${code}\``).join(", "),
    headers: refs(waits ? [...headers, "Retry-After"] : headers),
    content: {
      "application/json": shape === undefined ? usual : { schema: schemas.place(shape.schema) },
    },
  };
}

/** A response besides, or instead of, the usual error of this status. */
function withOther(
  usual: Json | undefined,
  other: OtherFailure,
  { schemas, endpoint }: Context & { endpoint: ApiEndpoint },
): Json {
  const { status, description, schema = {} as TSchema, type = "application/json" } = other;
  const placed = schemas.place(schema);
  if (usual === undefined)
    return { description, headers: refs(headersOf(endpoint.access)), content: { [type]: { schema: placed } } };
  const content = usual["content"] as Record<string, { schema: Json }>;
  const known = content[type];
  const either = known === undefined ? { schema: placed } : { ...known, schema: { anyOf: [known.schema, placed] } };
  return {
    ...usual,
    ...(typeof status === "number" ? { description: `${usual["description"]}; or ${description}` } : {}),
    content: { ...content, [type]: either },
  };
}

function refs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
