// Tests values against a JSON schema of the operator's. Its patterns take time in proportion to the text, since the values are
// a stranger's.

import { lazily } from "./lazily.ts";
import { LinearPattern } from "./linear-pattern.ts";

/** The compiler is large, and few configurations have a schema. */
const compiler = lazily(() => {
  const { default: Ajv2020 }: typeof import("ajv/dist/2020.js") = require("ajv/dist/2020.js");
  const { default: addFormats }: typeof import("ajv-formats") = require("ajv-formats");
  return { Ajv2020, addFormats };
});

/** Creates the test of values. Throws an `Error` that says what of the schema cannot be used. */
export function createSchemaTest(schema: Readonly<Record<string, unknown>>): (value: unknown) => boolean {
  const { Ajv2020, addFormats } = compiler();
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    code: { regExp: Object.assign(linear, { code: "linear" }) },
  });
  addFormats.default(ajv);
  const { $schema: _, ...rest } = schema;
  const check = ajv.compile(rest);
  return (value) => check(value) === true;
}

/** The compiler tells patterns apart by their text. */
function linear(source: string): { test(text: string): boolean; toString(): string } {
  const pattern = new LinearPattern(source);
  return { test: (text) => pattern.find(text, 0) !== undefined, toString: () => source };
}
