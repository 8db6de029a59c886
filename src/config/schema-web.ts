// The keys of `web` and `search`.

import { Type } from "@sinclair/typebox";
import {
  age,
  choice,
  duration,
  element,
  flag,
  formatted,
  integer,
  list,
  map,
  nameOf,
  number,
  optional,
  section,
  size,
  text,
} from "./fields.ts";

/** `web` */
export const WebSection = section("Scrape, crawl, map, extract and llms.txt.", {
  allow_private_networks: flag("Allows pages at private addresses. For tests and intranets only.", false),
  allow_hosts: list(
    "Hosts (with all ports), host:port pairs or CIDR ranges that are always allowed.",
    element("destination"),
  ),
  allow_caller_data: list(
    "Private destinations, written as in allow_hosts, to which webhooks and the callers' own request headers may be sent.",
    element("destination"),
  ),
  ports: list("If not empty, only these target ports are allowed.", Type.Integer({ minimum: 1, maximum: 65_535 })),
  dns: list("Resolvers, as 127.0.0.1:53. Empty: the system's.", element("resolver")),
  respect_robots: flag("Obeys robots.txt.", true),
  job_timeout: duration("Time limit of one extract, llmstxt or crawl job.", "15m", 1000),
  user_agent: formatted("header", "How pages are fetched.", "Sallyport/1.0 (self-hosted AI gateway)"),
  max_page: size("Larger pages (decompressed) are refused.", "10MiB", { least: 1024, most: 1024 ** 3 }),
  concurrency: integer("Concurrent page fetches over all jobs.", 8, { minimum: 1, maximum: 1000 }),
  single_concurrency: integer("Concurrent single pages and maps over all accounts; more wait.", 32, {
    minimum: 1,
    maximum: 10_000,
  }),
  per_host_delay: duration("Delay between two requests to one host.", "0ms", 0),
  job_ttl: age("A finished job is deleted after this time.", "24h", 1000),
  render: choice("auto: HTTP first, the browser when the page needs it.", "auto", ["auto", "always", "never"]),
  browser: section("The browser that renders pages.", {
    executable: text("Path of a Chromium. Empty: search the usual places."),
    endpoint: formatted("browser", "CDP or Playwright URL of a remote browser."),
    proxy_address: formatted("origin", "Address at which the remote browser reaches this gateway's egress proxy."),
    max_memory: size("Memory limit of a local browser's renderer process; it is killed beyond it (Linux).", "1GiB", {
      least: 128 * 1024 ** 2,
      most: 1024 ** 4,
    }),
    max_pages: integer("Concurrent open pages.", 4, { minimum: 1, maximum: 100 }),
  }),
  actions_script: flag(
    "Allows callers of /v2 to run their own scripts in the pages that the browser renders for them.",
    false,
  ),
  cache: section("Pages that were read for /v2 and may be reused for the same account.", {
    max_age: duration("Maximum age of such a page. 0ms: no page is stored.", "0ms", 0),
    size: size("Memory limit for all stored pages together.", "64MiB", { least: 0, most: 1024 ** 4 }),
  }),
  extractor: choice(
    "How the main content of a page is chosen for /v1/scrape and /v2/scrape. rules: by the built-in rules. model: where these are unsure, the chat model of the key model labels the blocks of the page, and the caller's key pays for it. Crawls, other jobs and the command line always use the rules.",
    "rules",
    ["rules", "model"],
  ),
  extractor_below: number(
    "With the extractor model: pages whose predicted extraction quality is lower than this are labelled.",
    0.8,
    { minimum: 0, maximum: 1 },
  ),
  model: text(
    "Chat model of extract and llmstxt. none: they use no model. Empty: the cheapest listed one with known prices and a context of 32k at least that the caller may use; never the demo.",
  ),
});

/** `search.engines.NAME` */
const Engine = section("Overrides of a search engine's built-in settings.", {
  enabled: optional(flag("Whether it is queried.", true)),
  weight: optional(number("Weight of its ranking.", 1, { minimum: 0, maximum: 100 })),
  timeout: optional(duration("After this time, the results of the other engines are returned without it.", "5s")),
  base_url: optional(
    formatted(
      "url",
      "Origin that replaces all of the engine's own. It may be a private address, and is not rate limited.",
    ),
  ),
  api_key: optional(text("API key; enables an engine that needs one.", "", { secret: true })),
  selectors: optional(
    map(
      "By name: selectors for its answers (CSS selectors, JSON paths) that replace the built-in ones.",
      element("text"),
    ),
  ),
});

/** `compat` */
export const CompatSection = section("Compatibility with clients that cannot do what others can.", {
  ollama: section("Clients of Ollama's format.", {
    anonymous: list(
      "Client addresses that may use the endpoints of Ollama's format without a key. All share one account of the free tier, which is made for them.",
      element("cidr"),
    ),
  }),
});

/** `search` */
export const SearchSection = section("Web search.", {
  only: list("If not empty, only these engines are used.", nameOf("search engine", "An engine.", "")),
  engines: map("By name.", Engine, { names: "search engine" }),
  safe: flag("Asks engines to filter explicit results.", true),
  compat: section("Compatibility with other search services.", {
    anonymous: list(
      "Client addresses that may use the SearXNG and Open WebUI endpoints without a key, at the free tier's rate.",
      element("cidr"),
    ),
  }),
});
