// The only reader of the environment. Finds the file, applies the overrides, reads it against the schema and returns either a
// complete configuration or all problems, one line each, without secrets.

import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { crossCheck } from "./check.ts";
import type { KnownNames } from "./fields.ts";
import { unreadable } from "./interpolate.ts";
import type { Origin } from "./origin.ts";
import { withEnvironment } from "./overrides.ts";
import { EMBEDDED_PRESETS, type PresetName, presetsOf } from "./presets.ts";
import { doubtsAbout } from "./provider-doubts.ts";
import { resolveProviders } from "./providers.ts";
import { ExternalText, type Problem, Reader } from "./read.ts";
import { type Move, pathText, RENAMED, type RenamedKey, renamedWarning, renameKeys } from "./renamed.ts";
import { type Config, ConfigFile, type CredentialConfig, type ReadConfig } from "./schema.ts";
import { TIER_IDS } from "./schema-server.ts";
import { childOf, withoutValue, withValue } from "./tree.ts";
import { parseYaml } from "./yaml.ts";

/** Searched in the working directory when no file is given. */
const DEFAULT_FILE = "sallyport.yaml";
/** No configuration is larger; prevents a wrong path from filling the memory. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;
/** No secret is larger. */
const SECRET_BYTES_MAX = 64 * 1024;

/** The sources of a configuration. */
export interface LoadOptions {
  /** `--config` */
  readonly file?: string | undefined;
  /** `--data-dir`, `--host`, `--port` */
  readonly dataDir?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** The process's own unless a test says otherwise. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /**
   * "unused": what is asked needs no provider, so a variable or a secret file that only a provider names may be missing. The
   * value is then absent, and a warning says so.
   */
  readonly providers?: "used" | "unused" | undefined;
  /** The existing names; absent: names are not checked. */
  readonly names?: KnownNames | undefined;
  /** The keys that have another name now; those of the program unless a test says otherwise. */
  readonly renamed?: readonly RenamedKey[];
}

/** A complete configuration, or all reasons why there is none. */
export type LoadResult =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly file: string | undefined;
      readonly origin: Origin;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The process's environment; for the few places that need a variable that is not configuration. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** Loads the configuration. Reads files, writes nothing. */
export function loadConfig(options: LoadOptions = {}): LoadResult {
  const env = options.env ?? environment();
  const cwd = options.cwd ?? process.cwd();
  const file = findFile(options, env, cwd);
  const label = file ?? "environment";
  const parsed = file === undefined ? { value: undefined, text: "" } : readFileForm(resolve(cwd, file));
  if ("problem" in parsed) return { ok: false, problems: [`${label}: ${parsed.problem}`] };
  const base = file === undefined ? cwd : dirname(resolve(cwd, file));
  const readText = (path: string) => readBounded(resolve(base, path), SECRET_BYTES_MAX);
  const reader = new Reader({ env, readFile: readText }, options.names);
  const renamed = options.renamed ?? RENAMED;
  const now = renameKeys(parsed.value, renamed, pathText);
  const { raw, ...environed } = overlay(now.raw, options, { env, renamed });
  const moves = [...now.moves, ...environed.moves];
  const warnings = [...now.moves.map((move) => `${label}: ${renamedWarning(move, pathText)}`), ...environed.warnings];
  const asLine = (problem: Problem) => line(label, problem, now.moves);
  const read = reader.read(ConfigFile, raw, "") as ReadConfig;
  const found: Problem[] = [...now.problems, ...environed.problems, ...reader.problems];
  const providers = resolveProviders(read.providers, env, found);
  const isNeedless = ({ path, unresolved }: Problem) =>
    options.providers === "unused" && unresolved === true && path.startsWith("providers.");
  if (options.providers !== "unused") warnings.push(...providers.flatMap(doubtsAbout).map(asLine));
  const problems = found.filter((problem) => !isNeedless(problem));
  warnings.push(...found.filter(isNeedless).map((problem) => `${asLine(problem)}; not needed for this`));
  // A problem with one key would make related keys look wrong too.
  if (problems.length === 0) problems.push(...crossCheck(read));
  if (problems.length > 0) return { ok: false, problems: problems.map(asLine) };
  const path = file === undefined ? undefined : resolve(cwd, file);
  const origin: Origin = { file: path, text: parsed.text, written: now.raw, raw, env, moves };
  return { ok: true, config: finish(read, providers, { cwd, base }), file, origin, warnings };
}

/** The sources that exist: for creating a first file. */
export interface Survey {
  /** Absolute path of the file that is, or would be, read. */
  readonly file: string;
  readonly exists: boolean;
  /** The presets whose key or address is in the environment. */
  readonly presets: readonly PresetName[];
}

/** Looks for a file and for well-known keys, without reading the file. */
export function surveyConfig(options: LoadOptions = {}): Survey {
  const env = options.env ?? environment();
  const cwd = options.cwd ?? process.cwd();
  const file = resolve(cwd, findFile(options, env, cwd) ?? DEFAULT_FILE);
  return { file, exists: statSync(file, { throwIfNoEntry: false }) !== undefined, presets: presetsOf(env) };
}

function findFile({ file }: LoadOptions, env: NonNullable<LoadOptions["env"]>, cwd: string): string | undefined {
  if (file !== undefined) return file;
  const named = env["SALLYPORT_CONFIG"];
  if (named !== undefined && named !== "") return named;
  const found = statSync(resolve(cwd, DEFAULT_FILE), { throwIfNoEntry: false });
  return found === undefined ? undefined : DEFAULT_FILE;
}

function readFileForm(path: string): { value: unknown; text: string } | { problem: string } {
  let text: string;
  try {
    text = readBounded(path, FILE_BYTES_MAX);
  } catch (error) {
    return { problem: `cannot be read (${unreadable(error)})` };
  }
  const parsed = parseYaml(text);
  return "problem" in parsed ? parsed : { ...parsed, text };
}

function readBounded(path: string, most: number): string {
  const stat = statSync(path);
  if (!stat.isFile() && !stat.isFIFO() && !stat.isCharacterDevice()) throw new Error("not a file");
  if (stat.size > most) throw new Error(`larger than ${most} bytes`);
  return readFileSync(path, "utf8");
}

/** The file's form with the environment's providers, the embedded one and all overrides added. */
function overlay(
  value: unknown,
  options: LoadOptions,
  { env, renamed }: Pick<Required<LoadOptions>, "env" | "renamed">,
) {
  let raw: unknown = value ?? {};
  // Where a JSON file names its schema for editors.
  if (typeof childOf(raw, "$schema") === "string") raw = withoutValue(raw, ["$schema"]);
  if (childOf(raw, "providers") === undefined) {
    raw = withValue(raw, ["providers"], Object.fromEntries(presetsOf(env).map((name) => [name, {}])));
  }
  const environed = withEnvironment(ConfigFile, raw, { env, renamed });
  raw = environed.raw;
  const flags: [string[], string, string | number | undefined][] = [
    [["data_dir"], "--data-dir", options.dataDir],
    [["server", "host"], "--host", options.host],
    [["server", "port"], "--port", options.port],
  ];
  for (const [path, source, given] of flags) {
    if (given !== undefined) raw = withValue(raw, path, new ExternalText(String(given), source));
  }
  for (const name of EMBEDDED_PRESETS) {
    if (childOf(childOf(raw, "providers"), name) === undefined) raw = withValue(raw, ["providers", name], {});
  }
  return { ...environed, raw };
}

function finish(
  read: ReadConfig,
  providers: Config["providers"],
  { cwd, base }: { cwd: string; base: string },
): Config {
  const usable = new Set(providers.map(({ name }) => name));
  const kept = <R extends { readonly provider: string }>(routes: readonly R[]) =>
    routes.filter((r) => usable.has(r.provider));
  const beside = (file: string) => (file === "" ? "" : resolve(base, file));
  const { tls } = read.server;
  return {
    ...read,
    dataDir: resolve(cwd, read.dataDir),
    server: {
      ...read.server,
      host: withoutBrackets(read.server.host),
      tls: { cert: beside(tls.cert), key: beside(tls.key) },
    },
    net: { ...read.net, caFile: beside(read.net.caFile) },
    log: { ...read.log, file: beside(read.log.file) },
    catalog: { prices: { ...read.catalog.prices, file: beside(read.catalog.prices.file) } },
    providers,
    tiers: TIER_IDS.map((id) => {
      const { rpm, tpm, parallel, trialMs, budget, runs } = read.tiers[id];
      return {
        ...{ id, rpm, runs },
        ...(tpm === 0 ? {} : { tpm }),
        ...(parallel === 0 ? {} : { parallel }),
        ...(trialMs === 0 ? {} : { trialMs }),
        ...(budget === undefined ? {} : { budget }),
      };
    }),
    models: read.models
      .map((model) => ({
        ...model,
        name: model.name === "" ? model.id : model.name,
        ownedBy: model.ownedBy === "" ? (model.routes[0]?.provider ?? "") : model.ownedBy,
        routes: kept(model.routes).map((route) => ({ ...route, model: route.model === "" ? model.id : route.model })),
      }))
      .filter(({ routes }) => routes.length > 0),
    decisions: {
      models: read.decisions.models
        .map((model) => ({
          ...model,
          name: model.name === "" ? model.id : model.name,
          backend: {
            ...model.backend,
            routes: kept(model.backend.routes).map((route) => ({
              ...route,
              model: route.model === "" ? model.id : route.model,
            })),
          },
          calibration: beside(model.calibration),
        }))
        .filter(({ backend }) => backend.routes.length > 0),
    },
    auth: { ...read.auth, oauth: new Map([...read.auth.oauth].filter(([, { clientId }]) => clientId !== "")) },
  };
}

/** An IPv6 address as it is listened on; in a URL, and so in many heads, it stands in brackets. */
function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

function line(label: string, { path, message, source }: Problem, moves: readonly Move[]): string {
  const at = path === "" ? message : `${path}: ${message}`;
  const move = moves.find(({ to }) => path === pathText(to) || /^[.[]/.test(path.split(pathText(to), 2)[1] ?? ""));
  // The file has another name than the message.
  const given = move === undefined || source !== undefined ? "" : ` (given as ${pathText(move.from)})`;
  return `${source ?? label}: ${at}${given}`.replaceAll(/[\r\n]+/g, " ");
}

/** Other headers contain names and titles, which logs may show. */
const SECRET_HEADER = /auth|key|token|secret|cookie|pass/i;

/** Every secret of a configuration, for the redaction of logs. */
export function secretsOf(config: Config): string[] {
  const { server, auth, compaction, alerts, guardrails } = config;
  const found: string[] = [server.metrics.token, auth.jwtSecret, compaction.secret, alerts.webhookSecret];
  for (const { apiKeys, headers, baseUrl, credentials } of config.providers) {
    if (credentials !== undefined) found.push(...credentialSecrets(credentials));
    found.push(...apiKeys, ...headerSecrets(headers), passwordOf(baseUrl));
  }
  for (const { check } of guardrails) found.push(...headerSecrets(check.headers), passwordOf(check.url));
  for (const { url, headers, env } of config.mcp.servers.values())
    found.push(passwordOf(url), ...headerSecrets(headers), ...headerSecrets(env));
  for (const { clientSecret } of config.auth.oauth.values()) found.push(clientSecret);
  // In a key of two parts, the second part alone is a secret too.
  for (const { apiKey = "" } of config.search.engines.values())
    found.push(apiKey, apiKey.slice(apiKey.indexOf(":") + 1));
  for (const url of [config.email.smtpUrl, config.database.url, config.redis.url]) found.push(url, passwordOf(url));
  return [...new Set(found)].filter((secret) => secret !== "");
}

function headerSecrets(headers: Readonly<Record<string, string>>): string[] {
  const named = Object.entries(headers).filter(([name]) => SECRET_HEADER.test(name));
  // `Bearer x`: the scheme is not part of the secret.
  return named.flatMap(([, value]) => [value, value.slice(value.indexOf(" ") + 1)]);
}

function credentialSecrets({ environment, ...own }: CredentialConfig): string[] {
  const variables = Object.entries(environment).filter(
    ([name]) => SECRET_HEADER.test(name) && !/_(?:FILE|ID)$/.test(name),
  );
  return [
    own.secretAccessKey,
    own.sessionToken,
    own.json,
    ...secretsInJson(own.json),
    own.clientSecret,
    ...variables.map(([, value = ""]) => value),
  ];
}

/** The members of an account's key file that are secrets, also of accounts within it. */
const SECRET_MEMBER = /^(?:private_key|refresh_token|client_secret)$/;

function secretsInJson(text: string): string[] {
  const found: string[] = [];
  try {
    JSON.parse(text, (name, value: unknown) => {
      // Texts may repeat a key of several lines as it is in JSON.
      if (typeof value === "string" && SECRET_MEMBER.test(name)) found.push(value, JSON.stringify(value).slice(1, -1));
      return value;
    });
  } catch {
    // The credential says that the text is no account's.
  }
  return found;
}

function passwordOf(url: string): string {
  if (!URL.canParse(url)) return "";
  const { password } = new URL(url);
  try {
    return decodeURIComponent(password);
  } catch {
    // A lone % is part of the password itself.
    return password;
  }
}
