// OpenAI endpoints that this gateway does not offer. A client gets a clear error instead of a 404 for the path.

import { ApiError } from "../base/errors.ts";

/** The endpoints that are not offered, by their path below `/v1`, with the alternative if there is one. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  assistants: "Use /v1/responses with tools.",
  "audio/voices": "",
  batches: "Send the requests one by one: limits are per minute, and many may be in progress at once.",
  containers: "",
  evals: "",
  fine_tuning: "Fine-tune at the provider, and add the model to the configuration.",
  "images/variations": "Use /v1/images/edits.",
  live: "",
  realtime: "",
  skills: "",
  uploads: "Send the file in one piece to /v1/files.",
  vector_stores: "Use /v1/embeddings with a vector database.",
  videos: "",
};

/** The page that lists what is not offered. */
const PAGE = "/docs/guides/not-offered";

/** The paths of the endpoints, each with everything below it. */
export const NOT_OFFERED_PATHS: readonly string[] = Object.keys(NOT_OFFERED).map((name) => `/v1/${name}`);

/** Refuses a request to one of these paths, or to a path below. */
export function refuseNotOffered(path: string): never {
  const instead = NOT_OFFERED[path.slice("/v1/".length)] ?? "";
  throw new ApiError("not_offered", `${path} is not offered. ${instead}${instead && " "}See ${PAGE}.`);
}
