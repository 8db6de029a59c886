// Endpoints of OpenAI, Anthropic, Ollama and Google that this gateway does not offer. A client gets a clear error instead of a 404 for the path.

import { ApiError } from "../../base/errors.ts";
import { entryOf } from "../../base/json-object.ts";

const ONE_BY_ONE = "Send the requests one by one: limits are per minute, and many may be in progress at once.";
const STORED = "Use /v1/responses, which stores answers.";

/** The endpoints that are not offered, by their path below `/v1`, with the alternative if there is one. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  assistants: "Use /v1/responses with tools.",
  "audio/voices": "",
  batches: ONE_BY_ONE,
  "chat/completions/:id": STORED,
  "chat/completions/:id/messages": STORED,
  containers: "",
  evals: "",
  fine_tuning: "Fine-tune at the provider, and add the model to the configuration.",
  "images/variations": "Use /v1/images/edits.",
  live: "",
  "messages/batches": ONE_BY_ONE,
  realtime: "",
  "responses/:id/cancel": "There are no background answers: close the connection to end one.",
  skills: "",
  uploads: "Send the file in one piece to /v1/files.",
  vector_stores: "Use /v1/embeddings with a vector database.",
  videos: "",
};

/** The endpoints of Ollama's API that change the models of a machine, by their path below `/api`. */
const OLLAMA: Readonly<Record<string, string>> = {
  blobs: "",
  copy: "",
  create: "Add the model to the configuration.",
  delete: "Remove the model from the configuration.",
  embeddings: "Use /api/embed.",
  pull: "Providers have their models; GET /api/tags lists them.",
  push: "",
};

/** The endpoints of Gemini's API that are not offered, by their path below `/v1beta`. */
const GEMINI: Readonly<Record<string, string>> = {
  auth_tokens: "",
  batches: "",
  cachedContents: "Providers cache prompts by themselves.",
  corpora: "",
  files: "Send the file as inlineData.",
  fileSearchStores: "",
  interactions: "Use generateContent.",
  operations: "",
  tunedModels: "",
};

/** The page that lists what is not offered. */
const PAGE = "/docs/guides/not-offered";

/** The paths of the endpoints, each with everything below it. */
export const NOT_OFFERED_PATHS: readonly string[] = [
  ...Object.keys(NOT_OFFERED).map((name) => `/v1/${name}`),
  ...Object.keys(OLLAMA).map((name) => `/api/${name}`),
  ...Object.keys(GEMINI).map((name) => `/v1beta/${name}`),
  "/upload/v1beta/files",
  // Live connections.
  "/ws",
];

const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  v1: NOT_OFFERED,
  api: OLLAMA,
  v1beta: GEMINI,
  "upload/v1beta": GEMINI,
};

/** Refuses a request to one of these paths, or to a path below. */
export function refuseNotOffered(path: string): never {
  const [, root = "", name = ""] = /^\/(v1|api|v1beta|upload\/v1beta)\/(.*)$/.exec(path) ?? [];
  const instead = entryOf(entryOf(TABLES, root) ?? {}, name) ?? "";
  const shown = path.replace(/:(\w+)/g, "{$1}");
  throw new ApiError("not_offered", `${shown} is not offered. ${instead}${instead && " "}See ${PAGE}.`);
}
