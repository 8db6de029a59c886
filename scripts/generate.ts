// Writes every file that is made from the sources (`bun run generate`): the pages of docs/reference, the JSON Schema of the
// configuration, and the requests that search engines are expected to send. With `--check` it writes nothing, names the files that
// are not up to date and fails; `bun run check` does so.

import { join } from "node:path";
import { KNOWN_NAMES } from "../src/app/names.ts";
import { configJsonSchemaText, JSON_SCHEMA_FILE } from "../src/config/json-schema.ts";
import { ENGINE_REQUESTS, engineRequests } from "../test/search/golden-requests.ts";
import { cliPage } from "./reference/cli.ts";
import { clientsPage } from "./reference/clients.ts";
import { configurationPage } from "./reference/configuration.ts";
import { errorsPage } from "./reference/errors.ts";
import { httpApiPage } from "./reference/http-api.ts";
import { providerPage } from "./reference/providers.ts";
import { enginePage } from "./reference/search-engines.ts";
import { vendorRulesPage } from "./reference/vendor-rules.ts";

const root = join(import.meta.dir, "..");

/** Path in the repository → the file's text. */
export const GENERATED: Readonly<Record<string, () => string | Promise<string>>> = {
  [`docs/${JSON_SCHEMA_FILE}`]: () => configJsonSchemaText(KNOWN_NAMES),
  "docs/reference/cli.md": cliPage,
  "docs/reference/clients.md": clientsPage,
  "docs/reference/configuration.md": configurationPage,
  "docs/reference/errors.md": errorsPage,
  "docs/reference/http-api.md": httpApiPage,
  "docs/reference/providers.md": providerPage,
  "docs/reference/search-engines.md": enginePage,
  "docs/reference/vendor-rules.md": vendorRulesPage,
  [ENGINE_REQUESTS]: engineRequests,
};

if (import.meta.main) {
  const isCheck = process.argv.includes("--check");
  for (const [file, write] of Object.entries(GENERATED)) {
    const onDisk = Bun.file(join(root, file));
    const text = await write();
    if ((await onDisk.exists()) && (await onDisk.text()) === text) continue;
    if (!isCheck) await onDisk.write(text);
    console.log(isCheck ? `${file} is not up to date: bun run generate` : file);
    if (isCheck) process.exitCode = 1;
  }
}
