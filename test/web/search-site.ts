// A loopback site that answers in the formats of real engines, and the settings that direct the engines to it.

import { type FakeSite, type SitePage, startFakeSite } from "../support/fake-site.ts";

/** A result as an engine lists it. */
export interface Listed {
  url: string;
  title: string;
  text?: string;
}

/** The path of each engine, and the format of its results. */
const ENGINES: Record<string, { path: string; answer(hits: readonly Listed[]): unknown }> = {
  searxng: {
    path: "/search",
    answer: (hits) => ({ results: hits.map(({ url, title, text }) => ({ url, title, content: text ?? "" })) }),
  },
  wikipedia: {
    path: "/w/api.php",
    answer: (hits) => ({ query: { search: hits.map(({ title, text }) => ({ title, snippet: text ?? "" })) } }),
  },
  hackernews: {
    path: "/api/v1/search",
    answer: (hits) => ({ hits: hits.map(({ url, title }, index) => ({ objectID: String(index), url, title })) }),
  },
  github: {
    path: "/search/repositories",
    answer: (hits) => ({
      items: hits.map(({ url, title, text }) => ({ html_url: url, full_name: title, description: text })),
    }),
  },
  stackexchange: {
    path: "/2.3/search/advanced",
    answer: (hits) => ({ items: hits.map(({ url, title }) => ({ link: url, title })) }),
  },
  gitlab: {
    path: "/api/v4/projects",
    answer: (hits) =>
      hits.map(({ url, title, text }) => ({ web_url: url, name_with_namespace: title, description: text })),
  },
  "hugging-face": { path: "/api/models", answer: (hits) => hits.map(({ title }) => ({ id: title })) },
};

/** The site. */
export interface SearchSite extends FakeSite {
  /** Sets the results that an engine returns from now on. */
  lists(engine: string, hits: readonly Listed[]): void;
  answers(engine: string, page: SitePage): void;
  /** Results in an engine's own format. */
  shapes(engine: string, hits: readonly Listed[]): unknown;
  /** How often an engine was called. */
  asked(path: string, times?: number): Promise<void>;
  askedEngine(engine: string): number;
  /** `search` settings with which only these engines run, on this site. */
  config(engines: readonly string[], more?: Record<string, unknown>): Record<string, unknown>;
}

/** Starts the site. At first, no engine has any results. */
export function startSearchSite(pages: Record<string, SitePage> = {}): SearchSite {
  const site = startFakeSite(pages);
  const pathOf = (engine: string) => {
    const known = ENGINES[engine];
    if (known === undefined) throw new Error(`There is no fake of ${engine}.`);
    return known.path;
  };
  const lists = (engine: string, hits: readonly Listed[]) =>
    site.set(pathOf(engine), () => Response.json(ENGINES[engine]?.answer(hits)));
  for (const engine of Object.keys(ENGINES)) lists(engine, []);
  return {
    ...site,
    lists,
    shapes: (engine, hits) => ENGINES[engine]?.answer(hits),
    answers: (engine, page) => site.set(pathOf(engine), page),
    askedEngine: (engine) => site.hits.filter((hit) => hit.split("?", 1)[0] === pathOf(engine)).length,
    config: (engines, more = {}) => ({
      search: {
        only: engines,
        engines: Object.fromEntries(engines.map((name) => [name, { base_url: site.url }])),
        ...more,
      },
    }),
  };
}

/** Results about bread on their own host. */
export function breads(host: string, count: number): Listed[] {
  return Array.from({ length: count }, (_, index) => ({
    url: `https://${host}.example/${index + 1}`,
    title: `Bread ${index + 1}`,
    text: `All about bread, part ${index + 1} of ${host}.`,
  }));
}
