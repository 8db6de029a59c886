// The keys of `providers`, `models` and `decisions`.

import { Type } from "@sinclair/typebox";
import { MODEL_KINDS } from "../vendors/model-kind.ts";
import {
  CREDENTIAL_KINDS,
  isEmbedded,
  kindFacts,
  PROVIDER_KINDS,
  type ProviderKind,
  USUAL_KIND,
} from "../vendors/protocols.ts";
import { QuirksSchema } from "../vendors/quirks.ts";
import {
  asWritten,
  choice,
  duration,
  entry,
  flag,
  formatted,
  integer,
  list,
  map,
  nameOf,
  number,
  optional,
  required,
  section,
  text,
} from "./fields.ts";
import { PRESET_NAMES } from "./presets.ts";
import { TIER_IDS } from "./schema-server.ts";

const KINDS = Object.keys(PROVIDER_KINDS) as ProviderKind[];

const TOKENS = { minimum: 1, maximum: 1_000_000_000 };

const PRICE = { minimum: 0, maximum: 1_000_000 };

/** For the cost of requests and budgets. */
const Prices = entry("US dollars per million tokens. Absent: the vendor's public prices.", {
  input: Type.Number({ description: "Input tokens.", ...PRICE }),
  output: optional(
    number(
      "Output tokens, including reasoning. Required, except for models without output: embedding and rerank.",
      0,
      PRICE,
    ),
  ),
  cache_read: optional(number("Input tokens read from a cache. Absent: the price of input.", 0, PRICE)),
  cache_write: optional(number("Input tokens written to a cache. Absent: the price of input.", 0, PRICE)),
  cache_write_1h: optional(
    number("Input tokens written to a cache for an hour. Absent: twice the price of input, as at Anthropic.", 0, PRICE),
  ),
  services: optional(
    map(
      "By service tier or speed, as the answer names it (priority, flex, fast): the factor on the prices of tokens. Absent: the vendor's public factors. Others cost the ordinary price.",
      number("The factor.", 1, { minimum: 0, maximum: 1000 }),
    ),
  ),
  per_search: optional(
    number("US dollars for a web search that the provider runs. Absent: the vendor's public price.", 0, PRICE),
  ),
  per_request: optional(number("US dollars for a request, whatever it contains.", 0, PRICE)),
  per_minute: optional(number("US dollars for a minute of audio.", 0, PRICE)),
  per_image: optional(number("US dollars for an image.", 0, PRICE)),
  per_million_characters: optional(number("US dollars per million characters of text that is spoken.", 0, PRICE)),
});

/** What is known about a model; absent: unknown, reported with the defaults and not enforced. */
const metadata = {
  context_length: optional(integer("Input and output tokens together.", 0, TOKENS)),
  max_output_tokens: optional(integer("Maximum tokens of one answer.", 0, TOKENS)),
  supports_tools: optional(flag("Can call tools.", true)),
  supports_vision: optional(flag("Reads images.", true)),
  supports_reasoning: optional(flag("Whether the model reasons before it answers.", false)),
  prices: optional(Prices),
};

/** What authenticates calls beside a key; see `upstream/credentials`. */
const CredentialSection = section(
  "What authenticates calls if there is no API key. Where keys are empty, the variables of the cloud's own tools apply.",
  {
    kind: optional(
      choice(
        "key: api_key; aws: signatures (SigV4) with access keys, a profile or a role; google: access tokens of a service account or the metadata server; entra: access tokens of Entra ID. Default: key if there is one, else the preset's.",
        "key",
        ["key", ...CREDENTIAL_KINDS],
      ),
    ),
    access_key_id: text("aws: access key."),
    secret_access_key: text("aws: its secret.", "", { secret: true }),
    session_token: text("aws: of temporary keys.", "", { secret: true }),
    profile: text(
      "aws: a profile with access keys in the shared files (those of roles, sign-ins and programs are not used). Empty: AWS_PROFILE, else default.",
    ),
    service: text("aws: the service for which calls are signed. Empty: the preset's."),
    file: text("google: path of a service account's key file. Empty: GOOGLE_APPLICATION_CREDENTIALS."),
    json: text("google: the text of that file.", "", { secret: true }),
    metadata: flag("google, entra: only the machine's own identity is used.", false),
    tenant: text("entra: tenant. Empty: AZURE_TENANT_ID."),
    client_id: text("entra: client. Empty: AZURE_CLIENT_ID."),
    client_secret: text("entra: the client's secret. Empty: AZURE_CLIENT_SECRET.", "", { secret: true }),
    scope: text("entra: scope of the tokens. Empty: https://ai.azure.com/.default."),
    token_url: formatted("url", "Address of the token server. Empty: the cloud's."),
    metadata_url: formatted("url", "Origin of the metadata server. Empty: the cloud's."),
  },
);

/** `providers.NAME` */
export const ProviderSection = section("An upstream that serves models.", {
  enabled: flag("Off: the provider and its routes are ignored.", true),
  preset: Type.Optional(
    Type.Unsafe<string>({
      type: "string",
      enum: PRESET_NAMES,
      description: "Fills kind, base_url and quirks. Default: the entry's own name when it is a known preset.",
    }),
  ),
  kind: optional(choice(`The protocol it speaks. Default: the preset's, else ${USUAL_KIND}.`, USUAL_KIND, KINDS)),
  base_url: formatted(
    "url",
    "Base URL with the version segment, as the vendor's SDK expects it. Default: the preset's.",
  ),
  api_key: formatted(
    "key",
    "API key. Default: the preset's environment variable, as long as the address is the preset's own: with base_url, or a region or resource that makes the host another one than the vendor's, the key is named here (${VARIABLE}).",
    "",
    { secret: true },
  ),
  api_keys: list(
    "Several API keys, used in turn; a failing one is suspended for a while.",
    Type.String({ secret: true, format: "key" }),
  ),
  credentials: CredentialSection,
  region: text("Clouds: region or location. Empty: AWS_REGION, GOOGLE_CLOUD_LOCATION."),
  project: text("Google's cloud: project. Empty: GOOGLE_CLOUD_PROJECT."),
  resource: text(
    "What the preset's address needs beside region and project: Microsoft's resource (the first part of its host), Cloudflare's account, Databricks' host, Snowflake's account.",
  ),
  headers: Type.Record(
    Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }),
    Type.String({ secret: true, blank: true, format: "header" }),
    {
      additionalProperties: false,
      description: "Further request headers.",
      default: {},
    },
  ),
  quirks: asWritten(QuirksSchema),
  timeout: section("Time limits.", {
    connect: duration("Time limit for establishing the connection.", "5s"),
    first_byte: duration("Time limit until the first byte of the answer.", "120s"),
    idle: duration("Time limit between two chunks of a stream.", "120s"),
  }),
  discover: flag("Whether the models it lists are offered.", true),
  discover_tier: choice("The tier of the models that it lists.", "free", TIER_IDS),
  model_defaults: section("Defaults for listed models about which nothing is known.", metadata),
  end_users: choice(
    "Whether the provider is told which user a request is from, as a keyed hash that is the same in all of the user's requests: account, key, off, or auto, which is account where the vendor acts against single users (OpenAI, Azure OpenAI) and off elsewhere. Sent where the client gives none, as `safety_identifier`, `user` or `metadata.user_id`.",
    "auto",
    ["auto", "account", "key", "off"],
  ),
  retry: section("Retries of calls that fail before the first byte.", {
    attempts: integer("Number of attempts on each route, including the first.", 2, { minimum: 1, maximum: 10 }),
    base: duration("Delay before the second attempt; it doubles each time.", "1s"),
    max: duration("The longest wait.", "8s"),
  }),
  breaker: section(
    "When calls to it are suspended (circuit breaker). Failures to connect suspend the provider, 5xx answers and time-outs the model; failures of one account alone suspend it for that account.",
    {
      failures: integer("Number of failures within the window that open the breaker.", 5, {
        minimum: 1,
        maximum: 10_000,
      }),
      window: duration("How far back failures count.", "30s"),
      cooldown: duration("How long the breaker stays open before one request is let through.", "15s"),
    },
  ),
});

const CHAT_KINDS = KINDS.filter((kind) => kindFacts(kind).dialect !== undefined && !isEmbedded({ kind }));

const routeKeys = {
  provider: required("Name of an entry of providers."),
  model: text("The model's id at the provider. Empty: the model's own id."),
  priority: integer("Routes with a lower number are tried first.", 1, { minimum: 0, maximum: 1000 }),
  weight: number("Share of the load among routes of equal priority.", 1, { minimum: 0, maximum: 1_000_000 }),
  prices: optional(Prices),
  protocol: optional(
    choice(
      "For clouds: the model's protocol, where its name says nothing (deployments, ARNs).",
      USUAL_KIND,
      CHAT_KINDS,
    ),
  ),
};

/** An entry of `models`. */
export const Model = entry("A model of the catalog. It replaces a discovered one with the same id.", {
  id: required("Its id in the API."),
  name: text("Display name. Empty: the id."),
  owned_by: text("Owner of the model. Empty: the provider of the first route."),
  description: text("For people."),
  kind: optional(
    choice("Kind of model. Default: the kind its provider lists or its name implies, else chat.", "chat", MODEL_KINDS),
  ),
  tier: choice("The tier it needs.", "free", TIER_IDS),
  visibility: choice("hidden: usable by id and alias, not listed.", "list", ["list", "hidden"]),
  aliases: list("Other ids for it.", required("An id.")),
  ...metadata,
  routes: list("Tried in order; equal priority shares the load by weight.", entry("A route to the model.", routeKeys), {
    minItems: 1,
    default: undefined,
  }),
  routing: choice(
    "Which of its routes is tried first. latency: the one whose answers began soonest in the last minutes (median); cost: the cheapest; busy: the one with the fewest requests in progress on this node. Equal ones by priority.",
    "priority",
    ["priority", "latency", "cost", "busy"],
  ),
  larger: text("A model that takes the requests which are too long for this one. Empty: none; they are refused."),
});

/** `catalog` */
export const CatalogSection = section("What is publicly known about models.", {
  prices: section(
    "Prices and limits that are newer than the program, without a new version of it: LiteLLM's model_prices_and_context_window.json, or {models: [{vendor, id, prices, …}]} with the keys of `models`.",
    {
      file: text(
        "A file with them, relative to the config file; it takes precedence over a list that was fetched. Empty: none.",
      ),
      url: formatted(
        "url",
        "Where `sallyport models refresh` fetches them; they are kept in data_dir. Empty: nowhere.",
      ),
      interval: duration("How often a running gateway fetches them from there. 0s: never.", "0s", 0),
    },
  ),
});

/** An entry of `decisions.models`. */
const DecisionModel = entry("A version of a decision model.", {
  id: required("Its id in the API, with its version."),
  name: text("Display name. Empty: the id."),
  description: text("For people."),
  tier: choice("The tier it needs.", "free", TIER_IDS),
  aliases: list(
    "Aliases that point to it at first; afterwards `sallyport decisions promote` moves them.",
    required("An id."),
  ),
  backend: entry("What answers.", {
    kind: nameOf("decision backend", "How the answer is obtained.", "systemone"),
    routes: list(
      "Several must serve the same version.",
      entry("A route to the model.", {
        ...routeKeys,
        path: formatted("path", "The endpoint's path. Empty: the default of the kind."),
      }),
      { minItems: 1, default: undefined },
    ),
    limits: map(
      "Limits of this backend: { questions: 64, options: 26 } of an upstream; { top_logprobs: 20, chosen_tokens: 128 } of a logprobs engine.",
      Type.Integer({ minimum: 1 }),
    ),
    orders: integer("Orders in which the options are shown (logprobs, verbalized).", 2, { minimum: 1, maximum: 64 }),
    concurrency: integer("Concurrent upstream calls of one request.", 20, { minimum: 1, maximum: 256 }),
    prior: choice(
      "Bias subtracted from each measurement (logprobs): content_free is the model's distribution over the options without a state, one more call for each order of a new question; auto: content_free where there is no calibration, else what the calibration's rows were read with.",
      "auto",
      ["auto", "none", "content_free"],
    ),
    min_label_mass: number(
      "If the option labels have less probability in total, the request fails with 503: the model answered something else (logprobs).",
      0.5,
      { minimum: 0, maximum: 1 },
    ),
  }),
  prices: optional(
    entry("US dollars per million tokens. Absent: the public prices.", {
      input: Type.Number({ description: "Input tokens; output is free.", ...PRICE }),
    }),
  ),
  calibration: text("File written by `sallyport calibrate`; relative to the config file. Empty: none."),
});

/** `decisions` */
export const DecisionsSection = section("Typed decisions.", {
  models: list("The versions offered.", DecisionModel),
});
