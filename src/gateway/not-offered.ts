// OpenAI endpoints that are not offered here. A client gets a clear error instead of a 404 for the path.

import { ApiError } from "../base/errors.ts";

/** What is not offered, by path below `/v1`; and what to use instead, if anything. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  assistants: "Use /v1/responses with tools.",
  "audio/voices": "",
  batches: "Send the requests one by one: limits are by the minute, and many may be under way at once.",
  containers: "",
  evals: "",
  fine_tuning: "Fine-tune at the provider, and add the model to the configuration.",
  "images/variations": "Use /v1/images/edits.",
  live: "",
  realtime: "",
  skills: "",
  uploads: "Send the file whole to /v1/files.",
  vector_stores: "Use /v1/embeddings with a vector database.",
  videos: "",
};

/** The page that lists what is not offered. */
const PAGE = "/docs/guides/not-offered";

/** The paths of the endpoints, each with everything below it. */
export const NOT_OFFERED_PATHS: readonly string[] = Object.keys(NOT_OFFERED).map((name) => `/v1/${name}`);

/** Refuses a request to one of them, or below. */
export function refuseNotOffered(path: string): never {
  const instead = NOT_OFFERED[path.slice("/v1/".length)] ?? "";
  throw new ApiError("not_offered", `${path} is not offered. ${instead}${instead && " "}See ${PAGE}.`);
}
