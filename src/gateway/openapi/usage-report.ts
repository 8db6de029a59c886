// The description of the report of usage.

import { Type } from "@sinclair/typebox";
import { type ApiParameter, orNull } from "../../http/endpoint.ts";
import type { NamelessText } from "../../http/served-endpoint.ts";

const whole = (description: string) => Type.Integer({ minimum: 0, description });

const ROW = Type.Object(
  {
    day: Type.Optional(Type.String({ description: "The UTC day." })),
    hour: Type.Optional(Type.String({ description: "The beginning of the hour." })),
    model: Type.Optional(orNull(Type.String({ description: "Null: requests without a model." }))),
    key: Type.Optional(orNull(Type.String({ description: "The id of the key. Null: of deleted accounts." }))),
    project: Type.Optional(orNull(Type.String({ description: "The id of the project. Null: keys without one." }))),
    tag: Type.Optional(Type.String({ description: "A request with several tags counts for each." })),
    requests: whole("Requests, with those that failed."),
    errors: whole("Requests that failed."),
    input_tokens: whole("With those that were read from a cache."),
    output_tokens: whole("With those of reasoning."),
    cached_tokens: whole("Read from a cache."),
    cost: orNull(Type.Number({ description: "In US dollars. Null: no price is known." })),
    unpriced: whole("Calls without a known price. The cost does not contain them."),
  },
  { description: "Sums, under the name of what they are grouped by." },
);

const LINE = Type.Object(
  {
    month: Type.String({ description: "The UTC month, such as `2030-12`." }),
    provider: Type.String(),
    model: Type.String({ description: "The provider's own name of the model." }),
    service: orNull(Type.String({ description: "The service tier or speed. Null: the ordinary one." })),
    class: Type.String({
      description:
        "What is billed: `input`, `cached_input`, `cache_write`, `cache_write_1h`, `output`, `searches`, `searched_requests`, `requests`, `audio_ms`, `images` or `characters`; of long prompts with the number of tokens above which they cost more.",
    }),
    amount: whole("Tokens, searches, requests, milliseconds, images or characters."),
    unpriced: whole("The part of the amount whose price is not known."),
    cost: orNull(Type.Number({ description: "In US dollars. Null: no price is known." })),
  },
  { description: "What a provider bills in a month, by model and class (`by=class`)." },
);

const USAGE = Type.Object(
  {
    object: Type.Literal("list"),
    by: Type.String(),
    from: Type.String({ description: "The beginning of the first hour or day." }),
    to: Type.String({ description: "The end of the last one." }),
    has_more: Type.Boolean({ description: "Whether there are more rows than an answer holds." }),
    data: Type.Array(Type.Union([ROW, LINE])),
  },
  { $id: "UsageReport" },
);

const parameter = (name: string, description: string, example?: string): ApiParameter => ({
  ...{ name, in: "query", schema: Type.String({ description }) },
  ...(example === undefined ? {} : { example }),
});

/** The descriptions by the names of their operations. */
export const USAGE_REPORT_TEXTS = {
  getUsage: {
    group: "Accounts",
    summary: "Report usage and spending",
    description:
      "What the account has used, with the key of a project what the project has, and with a key of an administrator for everything what all have. With `Accept: text/csv` the answer is a file of comma-separated values. An answer has at most 10,000 rows: `has_more` says that there are others, and a file that would lack some is refused. Days are UTC days; sums by the hour are kept for 14 days. With `by=class` it is what providers bill by month, model and class, to be laid beside their invoices; for keys of administrators for everything.",
    parameters: [
      {
        name: "by",
        in: "query",
        schema: Type.Union(
          (["day", "hour", "model", "key", "project", "tag", "class"] as const).map((one) => Type.Literal(one)),
          { description: "What the sums are grouped by." },
        ),
        example: "model",
      },
      parameter("from", "The first day, or a time in ISO 8601. The last 30 days without it, or 24 hours."),
      parameter("to", "The last day, or the time at which the span ends. Now without it."),
      parameter("model", "The usage of this model alone."),
      parameter("key", "The usage of the key with this id alone."),
    ],
    answer: { description: "The sums.", schema: USAGE },
    errors: ["invalid_request", "permission_denied"],
  },
} satisfies Readonly<Record<string, NamelessText>>;
