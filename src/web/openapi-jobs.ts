// The OpenAPI description of extraction and llms.txt: jobs that a client waits for up to a time limit.

import { type TProperties, Type } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";
import { type ApiEndpoint, anyObject, mapOf, oneOf, orNull, pathId } from "../http/endpoint.ts";
import { LLMSTXT_URLS, LLMSTXT_URLS_MAX } from "./llmstxt/jobs.ts";

type Kind = "extract" | "llmstxt";

const STATUSES = ["processing", "completed", "failed", "cancelled"];

/** What every response about such a job contains. */
const JOB = {
  success: Type.Boolean({ description: "False when it failed." }),
  job_id: Type.String(),
  id: Type.String({ description: "The same as `job_id`." }),
  status: oneOf(STATUSES),
  total: Type.Integer({ description: "Pages that are to be read." }),
  completed: Type.Integer({ description: "Pages that were read." }),
  creditsUsed: Type.Integer({ description: "One for each page, and one more where a browser was needed." }),
  created_at: Type.String(),
  expires_at: Type.String(),
  expiresAt: Type.String(),
  error: Type.Optional(orNull(Type.String())),
  error_code: Type.Optional(Type.String()),
};

const CANCELLED = Type.Object(
  { success: Type.Literal(true), job_id: Type.String(), id: Type.String(), status: oneOf(STATUSES) },
  { $id: "JobEnd" },
);

const WAIT = Type.Optional(
  Type.Integer({
    minimum: 10,
    maximum: 120,
    default: 60,
    description: "How long the caller waits; a job that takes longer is answered with `processing` and polled.",
  }),
);

interface Told {
  readonly summary: string;
  readonly description: string;
  readonly members: TProperties;
  readonly example: unknown;
  readonly answer: ReturnType<typeof Type.Object>;
  /** Codes besides those of both kinds. */
  readonly errors?: readonly ErrorCode[];
  readonly calls: { readonly start: string; readonly read: string; readonly cancel: string };
}

/** The three endpoints of such a job. */
function jobEndpoints(kind: Kind, told: Told): ApiEndpoint[] {
  const { calls, answer: schema } = told;
  const failures: ErrorCode[] = [
    `${kind}_timeout`,
    `${kind}_upstream_error`,
    `${kind}_unavailable`,
    `${kind}_internal_error`,
    "url_not_allowed",
    "scrape_failed",
    "request_too_large",
    ...(told.errors ?? []),
  ];
  const named = `${kind}_job_not_found` as const;
  const id = pathId("id", "The `job_id` that the start gave.", `${kind}_01a204b1c159705394b214d6bf6f3ad5`);
  const path = `/v1/${kind}`;
  const rest = { group: "Web" as const, access: "key" as const, parameters: [id], errors: [named] };
  return [
    {
      ...{ method: "POST", path, id: calls.start, group: "Web", access: "counted" },
      ...{ summary: told.summary, description: told.description },
      body: {
        schema: Type.Object(told.members, { $id: `${schema["$id"]}Request`, additionalProperties: true }),
        examples: { plain: told.example },
      },
      answer: { description: "The job, finished or still under way.", schema },
      errors: failures,
    },
    {
      ...{ method: "GET", path: `${path}/:id`, id: calls.read, ...rest },
      summary: "Read such a job",
      description: "Poll every 5 to 10 seconds while `status` is `processing`. Finished jobs are kept for a while.",
      answer: { description: "The job.", schema },
    },
    {
      ...{ method: "DELETE", path: `${path}/:id`, id: calls.cancel, ...rest },
      summary: "Cancel such a job",
      description: "A finished job keeps its status.",
      answer: { description: "The job's status now.", schema: CANCELLED },
    },
  ];
}

/** The addresses of an extraction. */
const URLS = Type.Array(Type.String({ maxLength: 8192 }), {
  minItems: 1,
  maxItems: 20,
  description: "Pages to read.",
});

const EXTRACT = jobEndpoints("extract", {
  calls: { start: "startExtract", read: "getExtract", cancel: "cancelExtract" },
  summary: "Extract data from pages",
  description:
    "Reads the pages and gives what they say, in the shape of `schema` or as the prompt asks, each field with the words of the " +
    "page that it comes from. What no page says is null and named in `unsupported`.",
  members: {
    urls: URLS,
    prompt: Type.String({ minLength: 1, maxLength: 20_000, description: "What to extract, in plain words." }),
    schema: Type.Optional(anyObject("A JSON Schema of `data`; without it `data` has no fixed shape.")),
    system_prompt: Type.Optional(
      Type.String({ maxLength: 20_000, description: "Further instructions to the model that reads." }),
    ),
    allow_external_links: Type.Optional(
      Type.Boolean({ default: false, description: "Follow links to other sites, where they help." }),
    ),
    documents: Type.Optional(
      Type.Boolean({ default: false, description: "Read PDF, plain text, JSON and feeds too." }),
    ),
    only_main_content: Type.Optional(
      Type.Boolean({ default: false, description: "Leave out navigation, headers, footers and sidebars." }),
    ),
    timeout_seconds: WAIT,
  },
  errors: ["tier_required"],
  example: {
    urls: ["https://example.com/"],
    prompt: "What is the page called?",
    schema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
  },
  answer: Type.Object(
    {
      ...JOB,
      data: Type.Unknown({ description: "What was found; null while it is under way." }),
      sources: Type.Optional(
        mapOf(Type.Array(Type.Object({ url: Type.String(), quote: Type.String() })), {
          description: "Where each field comes from.",
        }),
      ),
      unsupported: Type.Optional(Type.Array(Type.String(), { description: "Fields that no page says." })),
      warnings: Type.Optional(Type.Array(Type.String(), { description: "Pages that could not be read, and why." })),
    },
    { $id: "Extract" },
  ),
});

const TEXTS = {
  llmstxt: Type.Optional(Type.String({ description: "The file." })),
  llmsfulltxt: Type.Optional(orNull(Type.String({ description: "The pages' own texts, with `show_full_text`." }))),
};

const LLMSTXT = jobEndpoints("llmstxt", {
  calls: { start: "startLlmstxt", read: "getLlmstxt", cancel: "cancelLlmstxt" },
  summary: "Write the llms.txt of a site",
  description: "A short guide to a site for language models: its most useful pages with a sentence on each.",
  members: {
    url: Type.String({ maxLength: 8192, description: "Root URL of the site." }),
    max_urls: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LLMSTXT_URLS_MAX, default: LLMSTXT_URLS, description: "Most pages." }),
    ),
    show_full_text: Type.Optional(Type.Boolean({ default: false, description: "Give `llmsfulltxt` too." })),
    timeout_seconds: WAIT,
  },
  example: { url: "https://example.com/", max_urls: 3 },
  answer: Type.Object(
    {
      ...JOB,
      url: Type.String(),
      stage: Type.Optional(Type.String({ description: "What is being done." })),
      ...TEXTS,
      data: Type.Optional(Type.Object(TEXTS)),
    },
    { $id: "Llmstxt" },
  ),
});

/** The endpoints. */
export const JOB_ENDPOINTS: readonly ApiEndpoint[] = [...EXTRACT, ...LLMSTXT];
