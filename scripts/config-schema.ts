// Writes docs/sallyport.schema.json, the configuration's JSON Schema. A test holds the file to what this writes.
import { join } from "node:path";
import { NAMES } from "../src/app/names.ts";
import { configJsonSchemaText, JSON_SCHEMA_FILE } from "../src/config/json-schema.ts";

const path = join(import.meta.dir, "../docs", JSON_SCHEMA_FILE);
await Bun.write(path, configJsonSchemaText(NAMES));
console.log(path);
