// The commented configuration that `sallyport init` writes, generated from the schema: every key with its default and
// description, commented out. A key added to the schema is included automatically.

import type { TSchema } from "@sinclair/typebox";
import { entryOf } from "../base/json-object.ts";
import type { Annotations } from "./fields.ts";
import { JSON_SCHEMA_FILE } from "./json-schema.ts";
import { EMBEDDED_PRESETS, EXAMPLE, findPreset, isAddressed, type PresetName } from "./presets.ts";
import { ConfigFile } from "./schema.ts";
import { ProviderSection } from "./schema-providers.ts";

/** The keys that are not commented out. */
export interface SampleChoices {
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  /** Providers whose key or address is in the environment. */
  readonly providers: readonly PresetName[];
}

/** Lines longer than this are hard to read beside their key. */
const COLUMNS = 112;
/** Examples for sections that are empty by default. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  providers: [
    `${EXAMPLE.preset}:`,
    `  api_key: \${${EXAMPLE.variable}}`,
    ...indent(providerKeys(["api_key"])),
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
    if (key === "data_dir")
      return block(schema, [
        "# A relative path starts at the directory in which the program is started.",
        `data_dir: ${JSON.stringify(choices.dataDir)}`,
      ]);
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
  return [...wrapped(schema.description ?? ""), ...lines].join("\n");
}

function serverBlock(schema: TSchema, { host, port }: SampleChoices): string {
  const rest = keysOf("server", schema).filter((line) => !/^(?:host|port):/.test(line));
  return block(schema, ["server:", `  host: ${host}`, `  port: ${port}`, ...indent(commented(rest))]);
}

function providersBlock(schema: TSchema, providers: readonly PresetName[]): string {
  const written = providers.flatMap((name, at) => {
    const variable = findPreset(name)?.variable ?? "";
    // Once is enough: the keys are the same for each.
    const rest = (given: string[]) => (at === 0 ? indent(commented(providerKeys(given))) : []);
    return isAddressed(name)
      ? [`${name}: # at ${variable}, else on this machine`, ...rest([])]
      : [`${name}:`, `  api_key: \${${variable}}`, ...rest(["api_key"])];
  });
  if (written.length === 0) return block(schema, commented(["providers:", ...indent(EXAMPLES["providers"] ?? [])]));
  return block(schema, ["providers:", ...indent(written)]);
}

/** The keys of a provider beside those that are written. */
function providerKeys(given: readonly string[]): string[] {
  const properties = Object.entries(ProviderSection.properties).filter(([key]) => !given.includes(key));
  return linesOf({ ...ProviderSection, properties: Object.fromEntries(properties) });
}

/** The lines of a section's keys, each with its default and description. */
function keysOf(name: string, schema: TSchema): string[] {
  const example = entryOf(EXAMPLES, name);
  return example === undefined ? linesOf(schema) : [...example];
}

function linesOf(schema: TSchema): string[] {
  const { properties = {} } = schema as TSchema & Annotations;
  const entries = Object.entries(properties).map(([key, child]) => [key, child as TSchema & Annotations] as const);
  // A single value without a default has no line of its own, since nothing could stand there.
  const optional = entries.filter(([, node]) => node.properties === undefined && node.default === undefined);
  const lines = entries.flatMap(([key, node]) => {
    const note = `${choices(node)}${node.description ?? ""}${membersOf(node)}`;
    if (node.properties === undefined) return node.default === undefined ? [] : noted(`${key}: ${literal(node)}`, note);
    // An optional group has keys without a default: it is written empty, and its description says how to fill it.
    const isOptional = node.default === undefined;
    return [...noted(`${key}:`, note), ...(isOptional ? [] : indent(linesOf(node)))];
  });
  const names = optional.map(([key]) => key).join(", ");
  return optional.length === 0 ? lines : [...lines, ...wrapped(`Further keys: ${names}.`)];
}

/** A line with its note behind it, or above it if both are too long. */
function noted(line: string, note: string): string[] {
  return line.length + note.length + 3 < COLUMNS ? [`${line} # ${note}`] : [...wrapped(note), line];
}

/** The keys of an entry of a list or of a map that is empty by default. */
function membersOf({ items, patternProperties }: Annotations & { readonly items?: TSchema }): string {
  const entry = (items ?? Object.values(patternProperties ?? {})[0]) as (TSchema & Annotations) | undefined;
  const names = Object.keys(entry?.properties ?? {});
  return names.length === 0 ? "" : ` Keys of an entry: ${names.join(", ")}.`;
}

/** A comment in lines that are not too long. */
function wrapped(note: string): string[] {
  const lines: string[] = [];
  for (const word of note.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length + 1 < COLUMNS) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`# ${word}`);
  }
  return lines;
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
