// Validates values against a schema with ajv. This is synchronous and as slow as the worst regular expression of the schema, so
// it runs in a worker.

import Ajv, { type ErrorObject, type Options } from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { readPattern } from "./keywords.ts";
import { draftOf, type JsonSchema } from "./schema.ts";

/** One validation error. */
export interface Complaint {
  /** JSON pointer into the value; "" is the value itself. */
  readonly path: string;
  readonly message: string;
}

/** A value to validate. */
interface ValidateTask {
  readonly schema: JsonSchema;
  readonly value: unknown;
}

/** The validation errors of the value, or the reason why the schema cannot be compiled. */
export type ValidateAnswer = { readonly complaints: readonly Complaint[] } | { readonly refused: string };

/** Maximum number of errors; a model cannot correct more at once. */
const COMPLAINTS_MAX = 50;
const MESSAGE_CHARS_MAX = 500;

const OPTIONS: Options = {
  allErrors: true,
  // Unknown formats and keywords are treated as annotations.
  strict: false,
  logger: false,
  // Schemas were checked before.
  validateSchema: false,
  code: { regExp: Object.assign((pattern: string) => readPattern(pattern), { code: "readPattern" }) },
};

/** Validates one value. Each call compiles the schema again, so that nothing of one job remains for the next. */
export function validateNow({ schema, value }: ValidateTask): ValidateAnswer {
  const ajv = draftOf(schema) === "2020-12" ? new Ajv2020(OPTIONS) : new Ajv(OPTIONS);
  addFormats.default(ajv);
  let check: ReturnType<typeof ajv.compile>;
  try {
    check = ajv.compile(forAjv(schema));
  } catch (error) {
    return { refused: clipped(error instanceof Error ? error.message : String(error)) };
  }
  return { complaints: check(value) ? [] : complaints(check.errors ?? []) };
}

/**
 * The schema without `$schema`, which was already read, and without non-standard keywords, some of which ajv refuses or
 * interprets.
 */
function forAjv({ $schema: _, ...schema }: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), function (this: { type?: unknown }, name, value) {
    if (typeof value !== "boolean") return value;
    if (name === "$async") return undefined;
    if (name !== "nullable") return value;
    const types = [this.type].flat();
    return types[0] === undefined || types.includes("null") ? undefined : value;
  });
}

/** Removes repeated errors, since alternatives in a schema report the same error several times. */
function complaints(errors: readonly ErrorObject[]): Complaint[] {
  const found = new Map<string, Complaint>();
  for (const error of errors) {
    const complaint = { path: error.instancePath, message: clipped(messageOf(error)) };
    found.set(`${complaint.path} ${complaint.message}`, complaint);
    if (found.size >= COMPLAINTS_MAX) break;
  }
  return [...found.values()];
}

function messageOf({ keyword, params, message }: ErrorObject): string {
  const said = message ?? `is against "${keyword}"`;
  if (keyword === "enum") return `${said}: ${JSON.stringify(params["allowedValues"])}`;
  if (keyword === "const") return `${said}: ${JSON.stringify(params["allowedValue"])}`;
  if (keyword === "additionalProperties") return `${said}: ${JSON.stringify(params["additionalProperty"])}`;
  return said;
}

function clipped(text: string): string {
  return text.length <= MESSAGE_CHARS_MAX ? text : `${text.slice(0, MESSAGE_CHARS_MAX)}…`;
}
