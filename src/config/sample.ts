// The commented configuration that `sallyport init` writes, generated from the schema: every key with its default and
// description, commented out. A key added to the schema is included automatically.

import type { TSchema } from "@sinclair/typebox";
import { entryOf } from "../base/json-object.ts";
import type { Annotations } from "./fields.ts";
import { JSON_SCHEMA_FILE } from "./json-schema.ts";
import { EMBEDDED_PRESETS, EXAMPLE, findPreset, isAddressed, type PresetName } from "./presets.ts";
import { ConfigFile } from "./schema.ts";

/** The keys that are not commented out. */
export interface SampleChoices {
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  /** Providers whose key or address is in the environment. */
  readonly providers: readonly PresetName[];
}

/** Lines longer than this are hard to read beside their key. */
const COLUMNS = 118;
/** Examples for sections that are empty by default. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  providers: [
    `${EXAMPLE.preset}:`,
    `  api_key: \${${EXAMPLE.variable}}`,
    "my-server: # any OpenAI-compatible server",
    "  base_url: http://127.0.0.1:8000/v1",
    "  api_key: ${file:/run/secrets/my-server}",
    ...EMBEDDED_PRESETS.flatMap((name) => [`${name}:`, "  enabled: false"]),
  ],
  models: [
    "- id: fast",
    "  tier: free",
    "  aliases: [fast-latest]",
    "  context_length: 128000",
    "  max_output_tokens: 16384",
    "  routes:",
    `    - { provider: ${EXAMPLE.preset}, model: the-id-it-has-there, priority: 1, weight: 1 }`,
  ],
};

/** The file's text. It is read as the choices, and as the defaults everywhere else. */
export function sampleConfig(choices: SampleChoices): string {
  const sections = Object.entries(ConfigFile.properties).map(([key, schema]) => {
    if (key === "data_dir") return block(schema, [`data_dir: ${JSON.stringify(choices.dataDir)}`]);
    if (key === "server") return serverBlock(schema, choices);
    if (key === "providers") return providersBlock(schema, choices.providers);
    return block(schema, commented([`${key}:`, ...indent(keysOf(key, schema))]));
  });
  return `${[head(), ...sections].join("\n\n")}\n`;
}

function head(): string {
  return [
    `# yaml-language-server: $schema=./${JSON_SCHEMA_FILE}`,
    "# Configuration of Sallyport. A commented-out key stands with its default. Any value may hold ${NAME},",
    "# ${NAME:-default} or ${file:/path}. `sallyport doctor` checks this file; SIGHUP makes a running server reload it.",
  ].join("\n");
}

function block(schema: TSchema, lines: readonly string[]): string {
  return [`# ${schema.description ?? ""}`, ...lines].join("\n");
}

function serverBlock(schema: TSchema, { host, port }: SampleChoices): string {
  const rest = keysOf("server", schema).filter((line) => !/^(?:host|port):/.test(line));
  return block(schema, ["server:", `  host: ${host}`, `  port: ${port}`, ...indent(commented(rest))]);
}

function providersBlock(schema: TSchema, providers: readonly PresetName[]): string {
  const written = providers.flatMap((name) => {
    const variable = findPreset(name)?.variable ?? "";
    return isAddressed(name)
      ? [`${name}: {} # at ${variable}, else on this machine`]
      : [`${name}:`, `  api_key: \${${variable}}`];
  });
  if (written.length === 0) return block(schema, commented(["providers:", ...indent(EXAMPLES["providers"] ?? [])]));
  return block(schema, ["providers:", ...indent(written)]);
}

/** The lines of a section's keys, each with its default and description. */
function keysOf(name: string, schema: TSchema): string[] {
  const example = entryOf(EXAMPLES, name);
  if (example !== undefined) return [...example];
  const { properties = {} } = schema as TSchema & Annotations;
  return Object.entries(properties).flatMap(([key, child]) => {
    const node = child as TSchema & Annotations;
    // An optional group has keys without a default: it is written empty, and its description says how to fill it.
    const mayBeAbsent = node.properties !== undefined && node.default === undefined;
    if (node.properties !== undefined && !mayBeAbsent) {
      return [`${key}: # ${node.description ?? ""}`, ...indent(keysOf("", node))];
    }
    const line = mayBeAbsent ? `${key}:` : `${key}: ${literal(node)}`;
    const note = `# ${choices(node)}${node.description ?? ""}`;
    return line.length + note.length < COLUMNS ? [`${line} ${note}`] : [note, line];
  });
}

function choices(node: Annotations): string {
  return node.enum === undefined ? "" : `${node.enum.join(" | ")}. `;
}

function literal(node: Annotations): string {
  const value = node.default;
  if (node.patternProperties !== undefined) return "{}";
  if (typeof value !== "string") return JSON.stringify(value);
  // Durations and plain words need no quotes.
  return /^[A-Za-z0-9./][\w./-]*$/.test(value) && value !== "off" ? value : JSON.stringify(value);
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

function commented(lines: readonly string[]): string[] {
  return lines.map((line) => `# ${line}`);
}
