// The OpenAPI description of extraction and llms.txt, which are jobs that a client waits for up to a time limit.

import { type TProperties, Type } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";
import { anyObject, mapOf, oneOf, orNull, pathId } from "../http/endpoint.ts";
import type { NamelessText } from "../http/served-endpoint.ts";
import { LLMSTXT_URLS, LLMSTXT_URLS_MAX } from "./llmstxt/jobs.ts";

type Kind = "extract" | "llmstxt";

const STATUSES = ["processing", "completed", "failed", "cancelled"];

/** The members of every response about such a job. */
const JOB = {
  success: Type.Boolean({ description: "False if the job failed." }),
  job_id: Type.String(),
  id: Type.String({ description: "The same as `job_id`." }),
  status: oneOf(STATUSES),
  total: Type.Integer({ description: "Number of pages to read." }),
  completed: Type.Integer({ description: "Number of pages that were read." }),
  creditsUsed: Type.Integer({ description: "One for each page, and one more if a browser was needed." }),
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
    description:
      "How long the request waits. If the job takes longer, the response has the status `processing`, and the job can be polled.",
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
}

/** The descriptions of the three endpoints of such a job: start, poll and cancel. */
function jobTexts(kind: Kind, told: Told): Record<"start" | "read" | "cancel", NamelessText> {
  const { answer: schema } = told;
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
  const id = pathId("id", "The `job_id` from the response to the start.", `${kind}_01a204b1c159705394b214d6bf6f3ad5`);
  const rest = { group: "Web" as const, parameters: [id], errors: [named] };
  return {
    start: {
      ...{ group: "Web", summary: told.summary, description: told.description },
      body: {
        schema: Type.Object(told.members, { $id: `${schema["$id"]}Request`, additionalProperties: true }),
        examples: { plain: told.example },
      },
      answer: { description: "The job, which has ended or is still running.", schema },
      errors: failures,
    },
    read: {
      ...rest,
      summary: "Read such a job",
      description: "Poll every 5 to 10 seconds while `status` is `processing`. Finished jobs are kept for a while.",
      answer: { description: "The job.", schema },
    },
    cancel: {
      ...rest,
      summary: "Cancel such a job",
      description: "A finished job keeps its status.",
      answer: { description: "The status of the job.", schema: CANCELLED },
    },
  };
}

/** The addresses to extract from. */
const URLS = Type.Array(Type.String({ maxLength: 8192 }), {
  minItems: 1,
  maxItems: 20,
  description: "Pages to read.",
});

const EXTRACT = jobTexts("extract", {
  summary: "Extract data from pages",
  description:
    "Extracts data from the pages, as `schema` or the prompt describes. Each field is returned with the text of the " +
    "page that supports it. Fields that no page contains are null and named in `unsupported`.",
  members: {
    urls: URLS,
    prompt: Type.String({ minLength: 1, maxLength: 20_000, description: "What to extract, in plain words." }),
    schema: Type.Optional(anyObject("A JSON Schema of `data`; without it, `data` has no fixed structure.")),
    system_prompt: Type.Optional(
      Type.String({ maxLength: 20_000, description: "Additional instructions to the model." }),
    ),
    allow_external_links: Type.Optional(
      Type.Boolean({ default: false, description: "Follow links to other sites that may help." }),
    ),
    documents: Type.Optional(
      Type.Boolean({ default: false, description: "Also read PDF, plain text, JSON and feeds." }),
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
      data: Type.Unknown({ description: "The extracted data; null while the job is running." }),
      sources: Type.Optional(
        mapOf(Type.Array(Type.Object({ url: Type.String(), quote: Type.String() })), {
          description: "The sources of each field.",
        }),
      ),
      unsupported: Type.Optional(Type.Array(Type.String(), { description: "Fields that no page contains." })),
      warnings: Type.Optional(Type.Array(Type.String(), { description: "Pages that could not be read, and why." })),
    },
    { $id: "Extract" },
  ),
});

const TEXTS = {
  llmstxt: Type.Optional(Type.String({ description: "The file." })),
  llmsfulltxt: Type.Optional(orNull(Type.String({ description: "The pages' own texts, with `show_full_text`." }))),
};

const LLMSTXT = jobTexts("llmstxt", {
  summary: "Write the llms.txt of a site",
  description: "A short guide to a site for language models: its most useful pages, each with a sentence about it.",
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
      stage: Type.Optional(Type.String({ description: "The current step of the job." })),
      ...TEXTS,
      data: Type.Optional(Type.Object(TEXTS)),
    },
    { $id: "Llmstxt" },
  ),
});

/** The descriptions by the names of their operations. */
export const JOB_TEXTS = {
  startExtract: EXTRACT.start,
  getExtract: EXTRACT.read,
  cancelExtract: EXTRACT.cancel,
  startLlmstxt: LLMSTXT.start,
  getLlmstxt: LLMSTXT.read,
  cancelLlmstxt: LLMSTXT.cancel,
};
