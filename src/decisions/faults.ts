// Classifies the errors of a decision upstream, which have three formats: FastAPI's `detail` (text, object or list), the OpenAI
// envelope, and plain text. Quotes from the request are not repeated.

import { isRecord } from "../base/json-object.ts";
import { type FaultText, faultFromHttp, UpstreamFault } from "../upstream/fault.ts";

/** Classifies an HTTP error of a decision upstream. */
export function decisionFault(status: number, body: string, headers: Headers): UpstreamFault {
  const error = read(body);
  // TypeSafe answers a plain 400 to an unknown model and to a context that is too long.
  if (status === 400 && error.code === "max_tokens_exceeded") return contextFault(error, status);
  if (status === 413) return contextFault(error, status);
  if (status === 400 && /^unknown model\b/i.test(error.message)) {
    return new UpstreamFault("model_missing", error.message, { status });
  }
  const message = error.message === "" ? `The provider answered with status ${status}.` : error.message;
  return faultFromHttp(status, { ...error, message }, headers);
}

function contextFault(said: FaultText, status: number): UpstreamFault {
  return new UpstreamFault("context_length", said.message, { status });
}

function read(body: string, relayed = false): FaultText {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { message: "" };
  }
  if (!isRecord(parsed)) return { message: "" };
  const { detail, error } = parsed;
  if (Array.isArray(detail)) return readPlaces(detail);
  if (typeof detail === "string") return readText(detail);
  if (isRecord(detail)) return { message: textOr(detail["message"]), code: textOr(detail["error_type"]) };
  if (typeof error === "string") return { message: error };
  // vLLM's own errors have no envelope.
  if (!isRecord(error)) return { message: textOr(parsed["message"]) };
  const { message, code, param } = error;
  // A gateway that passes on its upstream's answer as text.
  const inner = relayed ? null : /^HTTP \d{3}: (\{.*\})$/s.exec(textOr(message));
  if (inner !== null) return read(inner[1]!, true);
  return { message: textOr(message), code: textOr(code), param: typeof param === "string" ? param : null };
}

/** Far more than such a text has; beyond it, none is looked for. */
const READ_CHARS_MAX = 8000;

/** Reads a plain text. It is about a question if it mentions one; some texts end with the key of the question. */
function readText(detail: string): FaultText {
  const key = /\bquestion must have [^:]+: (.+)$/s.exec(detail.slice(0, READ_CHARS_MAX))?.[1];
  if (key !== undefined) return { message: detail, param: `questions.${key}` };
  return OF_A_QUESTION.test(detail) ? { message: detail, param: "questions" } : { message: detail };
}

const OF_A_QUESTION =
  /\b(?:questions?|choices?|options?|candidates?|levels?|labels?|criteria|criterion|instructions?)\b/i;

/**
 * Reads `[{loc:["body","questions","q",…],msg,input}]`. The first entry that names a question counts; `input` may contain the
 * state and is not read.
 */
function readPlaces(places: readonly unknown[]): FaultText {
  for (const place of places) {
    const loc = isRecord(place) && Array.isArray(place["loc"]) ? place["loc"] : [];
    if (loc[0] !== "body" || loc[1] !== "questions" || loc.length < 3) continue;
    // The path in the body, without the type as which the question was parsed.
    const path = loc.slice(1).filter((_, at) => at !== 2 || !QUESTION_TYPES.has(loc[3]));
    return { message: textOr((place as Record<string, unknown>)["msg"]), param: pathText(path) };
  }
  return { message: "" };
}

const QUESTION_TYPES: ReadonlySet<unknown> = new Set(["noul", "choice", "score"]);

/** Writes a path such as `questions.q.criteria[1]`. */
function pathText(path: readonly unknown[]): string {
  return path
    .map((step, at) => (typeof step === "number" ? `[${step}]` : at === 0 ? step : `.${String(step)}`))
    .join("");
}

function textOr(value: unknown): string {
  return typeof value === "string" ? value : "";
}
