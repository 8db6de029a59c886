// The descriptions of the endpoints that manage keys.

import { Type } from "@sinclair/typebox";
import { type ApiParameter, oneOf, orNull, pathId } from "../../http/endpoint.ts";
import { optionalRuns, runLimits } from "../../http/run-limits-schema.ts";
import type { NamelessText } from "../../http/served-endpoint.ts";
import { KEY_MEMBERS } from "./own-key.ts";

const text = (description: string) => Type.String({ description });

const KEY = Type.Object(
  {
    object: Type.Literal("key"),
    ...KEY_MEMBERS,
    label: text("The beginning and the end of the secret."),
    account: text("The id of its account."),
    project: orNull(text("The id of its project.")),
    budget_period: orNull(text("After this time the budget renews, such as `30d`; null: never.")),
    runs: runLimits("Its own limits of each agent run; those of the plan and the project hold too."),
    addresses: orNull(
      Type.Array(Type.String(), { description: "Ranges of addresses from which it may be used; null: from anywhere." }),
    ),
    disabled: Type.Boolean({ description: "Whether it is refused with 403 `key_disabled`." }),
    passthrough: Type.Boolean(),
    no_store: Type.Boolean({ description: "Whether the content of its requests is never stored." }),
    management: orNull(oneOf(["account", "project", "all"], { description: "What a management key manages." })),
    created_at: Type.String(),
    last_used_at: orNull(Type.String()),
    old_secret_until: orNull(text("Until this time the secret before the last rotation works too.")),
  },
  { $id: "ManagedKey" },
);

const SECRET = text("The secret. It is shown here only.");
const KEY_WITH_SECRET = Type.Composite([KEY, Type.Object({ key: SECRET })], { $id: "ManagedKeyWithSecret" });

const SETTINGS = {
  rpm: Type.Optional(orNull(Type.Integer({ minimum: 1, description: "Requests a minute; null: the plan's." }))),
  tpm: Type.Optional(orNull(Type.Integer({ minimum: 1, description: "Tokens a minute; null: the plan's." }))),
  parallel: Type.Optional(orNull(Type.Integer({ minimum: 1, description: "Requests at once; null: the plan's." }))),
  budget: Type.Optional(orNull(Type.Number({ minimum: 0, description: "The budget in US dollars; null: none." }))),
  budget_period: Type.Optional(orNull(text("The budget renews after this time, such as `30d`; null: never."))),
  runs: optionalRuns("Limits of each agent run, beside those of the plan and the project."),
  models: Type.Optional(
    orNull(Type.Array(Type.String(), { description: "Patterns of the models that it may use, such as `gpt-*`." })),
  ),
  addresses: Type.Optional(
    orNull(Type.Array(Type.String(), { description: "Ranges of addresses such as `10.0.0.0/8`." })),
  ),
  expires_at: Type.Optional(orNull(text("A time in the future; null: never."))),
  project: Type.Optional(orNull(text("The id of a project of which the key's account is a member."))),
  disabled: Type.Optional(Type.Boolean()),
};

const NEW_KEY = Type.Object({
  name: text("1 to 100 characters."),
  ...SETTINGS,
  no_store: Type.Optional(Type.Boolean({ description: "Never store the content of its requests." })),
  passthrough: Type.Optional(
    Type.Boolean({ description: "Allow every path of a provider. Only administrators' accounts may have such keys." }),
  ),
  account: Type.Optional(text("The id of the key's account, for management keys of all accounts.")),
});

const OPENROUTER_KEY = Type.Object(
  {
    hash: text("The id of the key."),
    name: Type.String(),
    label: Type.String(),
    disabled: Type.Boolean(),
    usage: Type.Number({ description: "All that the key has spent." }),
    usage_daily: Type.Number(),
    usage_weekly: Type.Number(),
    usage_monthly: Type.Number(),
    byok_usage: Type.Number(),
    byok_usage_daily: Type.Number(),
    byok_usage_weekly: Type.Number(),
    byok_usage_monthly: Type.Number(),
    limit: orNull(Type.Number({ description: "The budget." })),
    limit_remaining: orNull(Type.Number()),
    limit_reset: orNull(Type.String()),
    include_byok_in_limit: Type.Boolean(),
    created_at: Type.String(),
    updated_at: Type.Null(),
    expires_at: orNull(Type.String()),
    creator_user_id: Type.Null(),
    external_user: Type.Null(),
    workspace_id: text("The id of the key's account."),
  },
  { $id: "OpenRouterManagedKey" },
);

const OPENROUTER_SETTINGS = {
  limit: Type.Optional(orNull(Type.Number({ minimum: 0, description: "The budget in US dollars." }))),
  limit_reset: Type.Optional(orNull(oneOf(["daily", "weekly", "monthly"]))),
};

const ID = pathId("id", "The id of the key.", "00000000-0000-7000-8000-000000000000");
const query = (name: string, schema: ApiParameter["schema"]): ApiParameter => ({ name, in: "query", schema });
const OFFSET = query("offset", Type.Integer({ minimum: 0, description: "How many keys are skipped; default 0." }));

const SCOPE =
  "A management key manages the keys of its account, or of its project; one that was made with `--manage-all` those of all accounts.";
const RIGHTS =
  "A key gets no right that its account does not have: limits above the plan's, and `passthrough`, are 403 `permission_denied`.";
const group = "Management";

/** The descriptions by operation. */
export const MANAGED_KEY_TEXTS = {
  listKeys: {
    group,
    summary: "List keys",
    description: `${SCOPE} Keys that were deleted are left out.`,
    parameters: [
      query("limit", Type.Integer({ minimum: 1, maximum: 500, description: "Default 100." })),
      OFFSET,
      query("search", text("A part of the name or the label, ignoring case, or the id.")),
      query("state", oneOf(["live", "disabled", "expired"])),
      query("project", text("The id of a project.")),
    ],
    answer: {
      description: "A page of keys, the oldest first.",
      schema: Type.Object({
        object: Type.Literal("list"),
        data: Type.Array(KEY),
        total: Type.Integer({ description: "How many keys there are on all pages." }),
        has_more: Type.Boolean(),
      }),
    },
  },
  createKey: {
    group,
    summary: "Create a key",
    description: `The secret is in this answer only. ${RIGHTS}`,
    body: { schema: NEW_KEY, examples: { limited: { name: "ci", rpm: 10, budget: 5, budget_period: "30d" } } },
    answer: { status: 201, description: "The key with its secret.", schema: KEY_WITH_SECRET },
    errors: ["permission_denied"],
  },
  getKey: {
    group,
    summary: "Look at a key",
    description: SCOPE,
    parameters: [ID],
    answer: { description: "The key.", schema: KEY },
    errors: ["key_not_found"],
  },
  updateKey: {
    group,
    summary: "Change a key",
    description: `What is absent stays, null clears a setting. It applies at once. ${RIGHTS}`,
    parameters: [ID],
    body: {
      schema: Type.Object({ name: Type.Optional(text("1 to 100 characters.")), ...SETTINGS }),
      examples: { disable: { disabled: true } },
    },
    answer: { description: "The key as it is now.", schema: KEY },
    errors: ["key_not_found", "permission_denied"],
  },
  deleteKey: {
    group,
    summary: "Delete a key",
    description: "It stops working at once, also with the secret before its last rotation. Its usage stays.",
    parameters: [ID],
    answer: {
      description: "It is gone.",
      schema: Type.Object({
        id: Type.String(),
        object: Type.Literal("key.deleted"),
        deleted: Type.Literal(true),
      }),
    },
    errors: ["key_not_found"],
  },
  rotateKey: {
    group,
    summary: "Give a key another secret",
    description:
      "Id, limits, budget and spending stay. The old secret works on for the time in `grace`, and without it no longer. Of a project's keys only the holder's account may do it.",
    parameters: [ID],
    body: {
      required: false,
      schema: Type.Object({
        grace: Type.Optional(text("How long the old secret works, such as `1h`; at most 30 days.")),
      }),
      examples: { hour: { grace: "1h" } },
    },
    answer: { description: "The key with its new secret.", schema: KEY_WITH_SECRET },
    errors: ["key_not_found", "permission_denied"],
  },
  listOpenRouterKeys: {
    group,
    summary: "List keys, as OpenRouter does",
    description: `${SCOPE} 100 keys, the newest first.`,
    parameters: [OFFSET, query("include_disabled", Type.Boolean({ description: "Whether disabled keys are listed." }))],
    answer: { description: "The keys.", schema: Type.Object({ data: Type.Array(OPENROUTER_KEY) }) },
  },
  createOpenRouterKey: {
    group,
    summary: "Create a key, as OpenRouter does",
    description: "The secret is in this answer only.",
    body: {
      schema: Type.Object({
        name: text("1 to 100 characters."),
        ...OPENROUTER_SETTINGS,
        expires_at: Type.Optional(orNull(Type.String())),
        workspace_id: Type.Optional(text("The id of the key's account.")),
      }),
      examples: { limited: { name: "ci", limit: 5, limit_reset: "monthly" } },
    },
    answer: {
      status: 201,
      description: "The key with its secret.",
      schema: Type.Object({ data: OPENROUTER_KEY, key: SECRET }),
    },
    errors: ["permission_denied"],
  },
  getOpenRouterKeyByHash: {
    group,
    summary: "Look at a key, as OpenRouter does",
    description: SCOPE,
    parameters: [ID],
    answer: { description: "The key.", schema: Type.Object({ data: OPENROUTER_KEY }) },
    errors: ["key_not_found"],
  },
  updateOpenRouterKey: {
    group,
    summary: "Change a key, as OpenRouter does",
    description: "What is absent stays, null clears a setting.",
    parameters: [ID],
    body: {
      schema: Type.Object({
        name: Type.Optional(Type.String()),
        disabled: Type.Optional(Type.Boolean()),
        ...OPENROUTER_SETTINGS,
      }),
      examples: { disable: { disabled: true } },
    },
    answer: { description: "The key as it is now.", schema: Type.Object({ data: OPENROUTER_KEY }) },
    errors: ["key_not_found", "permission_denied"],
  },
  deleteOpenRouterKey: {
    group,
    summary: "Delete a key, as OpenRouter does",
    description: "It stops working at once.",
    parameters: [ID],
    answer: { description: "It is gone.", schema: Type.Object({ deleted: Type.Literal(true) }) },
    errors: ["key_not_found"],
  },
} satisfies Readonly<Record<string, NamelessText>>;
