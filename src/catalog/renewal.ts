// Where renewed prices and limits come from: a file of the operator, and a list that was fetched and is kept in the data directory.
// Nothing is fetched unless an address is configured.

import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/schema.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import type { MetadataLookup } from "./metadata.ts";
import { type Renewed, readRenewed, withRenewed } from "./renewed.ts";

/** File name of the kept list within the data directory. */
const KEPT_FILE = "prices.json";
/** LiteLLM's list has less than two megabytes. */
const BYTES_MAX = 32 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 60_000;
/** How often a file is looked at. */
const LOOK_MS = 60_000;

/** The settings that decide where the list comes from. */
export type RenewalConfig = Pick<Config, "catalog" | "dataDir">;

/** The renewed list; undefined if there is none. The operator's file takes precedence. Throws an `Error` that names the file. */
export function readKept(config: RenewalConfig): Renewed | undefined {
  const path = pathOf(config);
  return path === undefined ? undefined : readFile(path);
}

/** The metadata of well-known models, with the renewed list. `failed` is called if that list cannot be read. */
export async function loadKnownModels(
  config: RenewalConfig,
  failed: (error: unknown) => void = () => undefined,
): Promise<MetadataLookup> {
  const { loadMetadata } = await import("./metadata.ts");
  const packed = await loadMetadata();
  try {
    return withRenewed(packed, readKept(config));
  } catch (error) {
    failed(error);
    return packed;
  }
}

/** Fetches the list of the configured address and keeps it. Throws an `Error` that says what failed. */
export async function fetchList(config: RenewalConfig, signal?: AbortSignal): Promise<Renewed> {
  const { url } = config.catalog.prices;
  const limit = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const response = await fetch(url, { signal: signal === undefined ? limit : AbortSignal.any([limit, signal]) });
  if (!response.ok) throw new Error(`${url} answered with status ${response.status}`);
  return keepList(config, await boundedText(response, url), url);
}

/** Keeps the list of a file in the data directory. Throws an `Error` that names the file. */
export function keepFile(config: RenewalConfig, path: string): Renewed {
  return keepList(config, textOf(path), path);
}

function keepList({ dataDir }: RenewalConfig, text: string, source: string): Renewed {
  const renewed = readFrom(text, source);
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, KEPT_FILE);
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
  return renewed;
}

async function boundedText(response: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > BYTES_MAX) throw new Error(`${url} sent more than ${BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The file that is in force; undefined if there is none. A configured file must exist. */
function pathOf({ catalog, dataDir }: RenewalConfig): string | undefined {
  if (catalog.prices.file !== "") return catalog.prices.file;
  const kept = join(dataDir, KEPT_FILE);
  return existsSync(kept) ? kept : undefined;
}

function readFile(path: string): Renewed {
  return readFrom(textOf(path), path);
}

function textOf(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > BYTES_MAX) throw new Error(`larger than ${BYTES_MAX} bytes`);
    return readFileSync(path, "utf8");
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string };
    throw new Error(`${path} cannot be read: ${code ?? message}`, { cause });
  }
}

function readFrom(text: string, source: string): Renewed {
  try {
    return readRenewed(text);
  } catch (cause) {
    throw new Error(`${source} is not a list of prices: ${(cause as Error).message}`, { cause });
  }
}

/**
 * The metadata of well-known models while the gateway runs: loaded once there is a provider that needs it, and again when the list
 * has changed.
 */
export function createKnownModels(deps: {
  config(): RenewalConfig & Pick<Config, "providers">;
  clock: Clock;
  /** Called when other metadata is known. */
  changed(): void;
  /** Called when the renewed list could not be read or fetched. */
  failed?: ((error: unknown) => void) | undefined;
}) {
  let lookUp: MetadataLookup | undefined;
  let looking: Timer | undefined;
  let fetching: Timer | undefined;
  let abort = new AbortController();
  let seen: string | undefined;

  const look = async () => {
    const config = deps.config();
    // A gateway with only the demo starts without metadata.
    if (config.providers.every(isEmbedded)) return;
    const now = markOf(config);
    if (now === seen) return;
    seen = now;
    let isRead = true;
    const found = await loadKnownModels(config, (error) => {
      isRead = false;
      deps.failed?.(error);
    });
    // A file that is being written in place must not take away the prices that are known.
    if (!isRead && lookUp !== undefined) return;
    lookUp = found;
    deps.changed();
  };
  const renew = async () => {
    try {
      await fetchList(deps.config(), abort.signal);
      await look();
    } catch (error) {
      if (!abort.signal.aborted) deps.failed?.(error);
    }
    if (!abort.signal.aborted) schedule(deps.config().catalog.prices.intervalMs);
  };
  const schedule = (afterMs: number) => {
    clearTimeout(fetching);
    const { url, intervalMs } = deps.config().catalog.prices;
    if (url === "" || intervalMs === 0) return;
    fetching = setTimeout(renew, afterMs);
    fetching.unref();
  };
  const scheduleDue = () => schedule(dueMs(deps.config(), deps.clock.now()));
  return {
    /** The metadata of a vendor's model, as far as it has been loaded. */
    find: (baseUrl: string, model: string) => lookUp?.(baseUrl, model),
    /** Resolves when the metadata is loaded. */
    start() {
      abort = new AbortController();
      looking = setInterval(look, LOOK_MS);
      looking.unref();
      scheduleDue();
      return look();
    },
    reconfigure() {
      scheduleDue();
      void look();
    },
    stop() {
      abort.abort();
      clearInterval(looking);
      clearTimeout(fetching);
    },
  };
}

/** When the kept list is older than the interval. A program that runs for less than one would otherwise never fetch it. */
function dueMs({ catalog, dataDir }: RenewalConfig, nowMs: number): number {
  const { intervalMs } = catalog.prices;
  const keptMs = statSync(join(dataDir, KEPT_FILE), { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;
  return Math.min(intervalMs, Math.max(0, keptMs + intervalMs - nowMs));
}

/** Changes with the file that is in force. If it cannot be looked at, reading it says why. */
function markOf(config: RenewalConfig): string {
  const path = pathOf(config);
  try {
    const stat = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? "" : `${path} ${stat.mtimeMs} ${stat.size}`;
  } catch {
    return `${path}`;
  }
}
