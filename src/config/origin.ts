// The origin of each value of a loaded configuration, for pages and commands: the file and its line, a variable, a
// command-line option, a preset, or the default. Computed on demand; never includes secrets.

import type { TSchema } from "@sinclair/typebox";
import type { Annotations } from "./fields.ts";
import { variableOf } from "./overrides.ts";
import { EMBEDDED_PRESETS, findPreset, isAddressed } from "./presets.ts";
import { ExternalText } from "./read.ts";
import { type Move, pathAsGiven } from "./renamed.ts";
import { type Config, ConfigFile, type ProviderConfig } from "./schema.ts";
import { holdsSecret, joinPath } from "./show.ts";
import { isGroup } from "./tree.ts";
import { linesOf, type Path } from "./yaml-lines.ts";

/** The sources of a configuration; stored beside it. */
export interface Origin {
  /** Absolute path of the file; undefined if there is none. */
  readonly file: string | undefined;
  readonly text: string;
  /** The parsed file without overrides, with the present names of all keys. */
  readonly written: unknown;
  /** With the overrides of the environment and the command line. */
  readonly raw: unknown;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What was given under old names. */
  readonly moves: readonly Move[];
}

/** The origin of a value. */
export interface ConfigSource {
  readonly kind: "file" | "variable" | "option" | "preset" | "default";
  /** The file, variable, option or preset. */
  readonly name: string | null;
  /** In the file. */
  readonly line: number | null;
  /** The interpolated sources, as `${NAME}` and `${file:/path}`. */
  readonly through: readonly string[];
}

/** One value. */
export interface ConfigValue {
  /** `server.max_body`, `models[0].id` */
  readonly key: string;
  /** In the file's form; null for a secret that is set. */
  readonly value: string | null;
  readonly source: ConfigSource;
  readonly description: string | null;
}

type Node = TSchema & Annotations;

/** A value as found at its place. */
interface Found {
  readonly path: Path;
  readonly node: Node;
  readonly value: unknown;
  readonly description: string | undefined;
}

const DEFAULT: ConfigSource = { kind: "default", name: null, line: null, through: [] };

/** Every value of a configuration, in the order of the schema. `secrets`: texts to hide wherever they occur. */
export function describeConfig(origin: Origin, config: Config, secrets: readonly string[]): ConfigValue[] {
  const lineOf = linesOf(origin.text);
  const values: Found[] = [];
  walk(ConfigFile as Node, origin.raw, { path: [], values, description: undefined });
  const providers = new Map(config.providers.map((provider) => [provider.name, provider]));
  const telling = secrets.filter(({ length }) => length >= SECRET_CHARS_MIN);
  const isSecretText = (text: string) => holdsSecret(text) || telling.some((secret) => text.includes(secret));
  return values.map((found) => {
    const { path, node, description } = found;
    const key = path.reduce<string>((so, step) => joinPath(so, step), "");
    const preset = presetValue(path, found, providers, origin);
    const { text: whole, through, secret } = textOf(preset?.value ?? found.value, origin);
    const text = withoutPassword(whole);
    const hidden =
      text !== "" &&
      (secret ||
        node.secret === true ||
        isSecretList(node) ||
        SECRET_NAME.test(String(path.at(-1))) ||
        isSecretText(text));
    return {
      key,
      value: hidden ? null : text,
      source: preset?.source ?? sourceOf(path, origin, { lineOf, through }),
      description: description ?? null,
    };
  });
}

const isSecretList = ({ items }: Node) => (items as Node | undefined)?.secret === true;

/** Shorter ones are hidden at their own key only; elsewhere they would match parts of ordinary words. */
const SECRET_CHARS_MIN = 6;

/** Names of headers and of free-form keys whose values are credentials. */
const SECRET_NAME = /authorization|api-?key|x-.*(?:key|token)|secret|cookie|password/i;

interface Walk {
  readonly path: Path;
  readonly values: Found[];
  readonly description: string | undefined;
}

function walk(node: Node, raw: unknown, { path, values, description = node.description }: Walk): void {
  const below = (child: Node, value: unknown, step: string | number) =>
    walk(child, value, { path: [...path, step], values, description: child.description ?? node.description });
  const given = isGroup(raw) ? raw : {};
  if (node.properties !== undefined && (raw === undefined || raw === null || isGroup(raw))) {
    const defaults = isGroup(node.default) ? node.default : {};
    for (const [key, child] of Object.entries(node.properties)) below(child as Node, given[key] ?? defaults[key], key);
    return;
  }
  if (node.patternProperties !== undefined && (raw === undefined || raw === null || isGroup(raw))) {
    const child = Object.values(node.patternProperties)[0] as Node;
    const entries = node.entries ?? {};
    const keys = [...new Set([...Object.keys(entries), ...Object.keys(given)])];
    for (const key of keys) {
      const own = given[key];
      below(child, isGroup(own) || own === undefined || own === null ? { ...entries[key], ...ownKeys(own) } : own, key);
    }
    if (keys.length > 0) return;
  }
  if (node.items?.["type"] === "object" && Array.isArray(raw) && raw.length > 0) {
    for (const [index, element] of raw.entries()) below(node.items as Node, element, index);
    return;
  }
  const empty = node.patternProperties !== undefined ? {} : "";
  values.push({ path, node, value: raw ?? node.default ?? empty, description });
}

function ownKeys(own: unknown): Readonly<Record<string, unknown>> {
  return isGroup(own) ? own : {};
}

function childAt(value: unknown, path: Path): unknown {
  let at: unknown = value;
  for (const step of path) {
    if (at instanceof ExternalText) return at;
    at = Array.isArray(at) ? at[Number(step)] : isGroup(at) ? at[step] : undefined;
  }
  return at;
}

function sourceOf(
  path: Path,
  { raw, written, file, env, moves }: Origin,
  { lineOf, through }: { lineOf(path: Path): number | undefined; through: readonly string[] },
): ConfigSource {
  const here = childAt(raw, path);
  if (here instanceof ExternalText && here.source !== undefined) {
    const kind = here.source.startsWith("--") ? "option" : "variable";
    return { kind, name: here.source, line: null, through };
  }
  const own = childAt(written, path);
  if (own !== undefined && own !== null && file !== undefined)
    return { kind: "file", name: file, line: lineOf(pathAsGiven(path, moves)) ?? null, through };
  if (here === undefined || here === null || isGroup(here)) return DEFAULT;
  // For a group that a variable set as JSON.
  const given = pathAsGiven(path, moves);
  const names = [path, given].flatMap((whole) => whole.map((_, at) => variableOf(whole.slice(0, whole.length - at))));
  return { ...DEFAULT, kind: "variable", name: names.find((name) => env[name] !== undefined) ?? null, through };
}

/** What an entry of `providers` takes from its preset and the preset's variable. */
function presetValue(
  path: Path,
  { value }: Found,
  providers: ReadonlyMap<string, ProviderConfig>,
  { env }: Origin,
): { readonly value: unknown; readonly source: ConfigSource } | undefined {
  const [section, name, key, ...more] = path;
  if (section !== "providers" || more.length > 0 || (value !== "" && value !== undefined)) return undefined;
  const provider = providers.get(String(name));
  const preset = provider?.preset;
  if (provider === undefined || preset === undefined) return undefined;
  const variable = findPreset(preset)?.variable;
  const isSet = variable !== undefined && (env[variable] ?? "").trim() !== "";
  const fromPreset: ConfigSource = { kind: "preset", name: preset, line: null, through: [] };
  const fromVariable: ConfigSource = { kind: "variable", name: variable ?? null, line: null, through: [] };
  if (key === "preset") return { value: preset, source: EMBEDDED_PRESETS.includes(preset) ? DEFAULT : fromPreset };
  if (key === "kind") return { value: provider.kind, source: fromPreset };
  if (key === "base_url" && provider.baseUrl !== "")
    return { value: provider.baseUrl, source: isAddressed(preset) && isSet ? fromVariable : fromPreset };
  if (key === "api_key" && isSet && !isAddressed(preset) && provider.apiKeys.includes((env[variable] ?? "").trim()))
    return { value: env[variable], source: fromVariable };
  return undefined;
}

const PUT_IN = /(?<!\$)\$\{([^}]*)\}/g;
const SECRET_VARIABLE = /KEY|SECRET|TOKEN|PASS|CREDENTIAL|AUTH/i;

/** A value as text, with its interpolations. The content of an included file is a secret, and not read again. */
function textOf(value: unknown, { env }: Origin): { text: string; through: string[]; secret: boolean } {
  const through: string[] = [];
  let secret = false;
  const put = (text: string) =>
    text.replace(PUT_IN, (whole, word: string) => {
      through.push(whole.replace(/:-[\s\S]*\}$/, "}"));
      if (word.startsWith("file:")) {
        secret = true;
        return "***";
      }
      const [name = "", ...fallback] = word.split(":-");
      secret ||= SECRET_VARIABLE.test(name);
      return env[name] || fallback.join(":-");
    });
  const plain = (one: unknown): unknown => {
    if (one instanceof ExternalText) return one.text;
    if (typeof one === "string") return put(one).replaceAll("$${", "${");
    if (Array.isArray(one)) return one.map(plain);
    return isGroup(one) ? Object.fromEntries(Object.entries(one).map(([key, child]) => [key, plain(child)])) : one;
  };
  const shown = plain(value);
  const text = typeof shown === "object" && shown !== null ? JSON.stringify(shown) : String(shown ?? "");
  return { text: text === "[]" ? "" : text, through: [...new Set(through)], secret };
}

/** An address may hold a password. */
function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^/\s@"]*@/g, "//***@");
}
