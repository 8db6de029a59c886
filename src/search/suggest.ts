// Suggestions of queries from the public autocomplete endpoints of engines. They are optional: a result includes those that have
// arrived with its hits, and never waits for them.

import { encoded } from "./address.ts";
import type { EngineCallDeps } from "./ask.ts";
import type { ChosenEngine } from "./chosen.ts";
import type { SearchQuery } from "./engine.ts";

interface Source {
  /** The engine to which the endpoint belongs. It is only used if this engine is enabled. */
  readonly engine: string;
  url(query: SearchQuery): string;
}

/** The endpoints in the order of preference. Each answers `[query, [suggestion, …], …]`. */
const SOURCES: readonly Source[] = [
  { engine: "duckduckgo", url: ({ text }) => `https://duckduckgo.com/ac/?${encoded({ type: "list", q: text })}` },
  { engine: "brave-html", url: ({ text }) => `https://search.brave.com/api/suggest?${encoded({ q: text })}` },
  {
    engine: "wikipedia",
    url: ({ text, language }) =>
      `https://${editionOf(language)}.wikipedia.org/w/api.php?${encoded({ action: "opensearch", search: text, limit: SUGGESTIONS_MAX, namespace: 0, format: "json" })}`,
  },
];

const SUGGESTIONS_MAX = 8;
const SUGGESTION_CHARS_MAX = 200;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Maximum length of a query. Longer ones are sentences, which engines do not complete. */
const QUERY_CHARS_MAX = 100;

/** The suggestions of the first endpoint whose engine is among these; none if it is unavailable. */
export async function suggest(
  engines: readonly ChosenEngine[],
  query: SearchQuery,
  { fetchFor, pace }: EngineCallDeps,
  { leftMs, signal }: { leftMs: number; signal: AbortSignal },
): Promise<readonly string[]> {
  if (query.text.length > QUERY_CHARS_MAX) return [];
  for (const source of SOURCES) {
    const chosen = engines.find(({ name }) => name === source.engine);
    // An address of the operator's own only gets the requests of its engine.
    if (chosen === undefined || chosen.settings.baseUrl !== undefined) continue;
    const { requestRate } = chosen.engine;
    if (requestRate !== undefined && pace.next(`${chosen.network} suggestions`, requestRate, 0) === undefined)
      return [];
    const headers = { accept: "application/json", "user-agent": chosen.settings.userAgent };
    const home = source.url(query);
    const options = { headers, home, bytesMax: ANSWER_BYTES_MAX, timeoutMs: Math.max(1, leftMs), signal };
    // If this fails, the search is not affected.
    const answer = await fetchFor(chosen)(home, options).catch(() => undefined);
    return answer?.status === 200 ? read(new TextDecoder().decode(answer.body), query.text) : [];
  }
  return [];
}

function read(body: string, query: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return [];
  }
  const listed: unknown = Array.isArray(value) ? value[1] : undefined;
  if (!Array.isArray(listed)) return [];
  return listed
    .filter((one): one is string => typeof one === "string" && one.length <= SUGGESTION_CHARS_MAX)
    .filter((one) => one.trim() !== "" && one.toLowerCase() !== query.toLowerCase())
    .slice(0, SUGGESTIONS_MAX);
}

function editionOf(language: string | undefined): string {
  const primary = language?.toLowerCase().split("-", 1)[0] ?? "en";
  return /^[a-z]{2,3}$/.test(primary) ? primary : "en";
}
