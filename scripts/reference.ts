// Writes the documents that are generated from the sources: the pages of docs/reference, and docs/sallyport.schema.json
// (the configuration's JSON Schema). A test compares the files with the output of this script.

import { join } from "node:path";
import { KNOWN_NAMES } from "../src/app/names.ts";
import { configJsonSchemaText, JSON_SCHEMA_FILE } from "../src/config/json-schema.ts";
import { cliPage } from "./reference/cli.ts";
import { clientsPage } from "./reference/clients.ts";
import { configurationPage } from "./reference/configuration.ts";
import { errorsPage } from "./reference/errors.ts";
import { httpApiPage } from "./reference/http-api.ts";
import { providerPage } from "./reference/providers.ts";
import { vendorRulesPage } from "./reference/vendor-rules.ts";

/** Path below docs/ → the file's text. */
export const GENERATED: Readonly<Record<string, () => string | Promise<string>>> = {
  [JSON_SCHEMA_FILE]: () => configJsonSchemaText(KNOWN_NAMES),
  "reference/cli.md": cliPage,
  "reference/clients.md": clientsPage,
  "reference/configuration.md": configurationPage,
  "reference/errors.md": errorsPage,
  "reference/http-api.md": httpApiPage,
  "reference/providers.md": providerPage,
  "reference/vendor-rules.md": vendorRulesPage,
};

if (import.meta.main) {
  for (const [file, write] of Object.entries(GENERATED)) {
    const path = join(import.meta.dir, "../docs", file);
    await Bun.write(path, await write());
    console.log(path);
  }
}
