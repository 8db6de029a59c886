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
  allow_private_networks: flag("Lets pages of private addresses be read. For tests and intranets only.", false),
  allow_hosts: list("Always allowed: host (all its ports), host:port or CIDR range.", element("destination")),
  ports: list("When not empty, only these target ports.", Type.Integer({ minimum: 1, maximum: 65_535 })),
  dns: list("Resolvers, as 127.0.0.1:53. Empty: the system's.", element("resolver")),
  respect_robots: flag("Obeys robots.txt.", true),
  job_timeout: duration("The hard limit of one extract, llmstxt or crawl job.", "15m", 1000),
  user_agent: formatted("header", "How pages are asked for.", "Sallyport/1.0 (self-hosted AI gateway)"),
  max_page: size("Larger pages (decompressed) are refused.", "10MiB", { least: 1024, most: 1024 ** 3 }),
  concurrency: integer("Pages at once over all jobs.", 8, { minimum: 1, maximum: 1000 }),
  single_concurrency: integer("Single pages and maps at once, over all accounts; more wait.", 32, {
    minimum: 1,
    maximum: 10_000,
  }),
  per_host_delay: duration("The wait between two requests to one host.", "0ms", 0),
  job_ttl: age("A finished job is purged after this.", "24h", 1000),
  render: choice("auto: HTTP first, the browser when the page needs it.", "auto", ["auto", "always", "never"]),
  browser: section("The browser that renders pages.", {
    executable: text("Path of a Chromium. Empty: looked for."),
    endpoint: formatted("browser", "CDP or Playwright URL of a remote browser."),
    proxy_address: formatted("origin", "How that remote browser reaches this gateway's guard."),
    max_memory: size(
      "The most memory that a local browser's process for a page may take; it is ended then (Linux).",
      "1GiB",
      {
        least: 128 * 1024 ** 2,
        most: 1024 ** 4,
      },
    ),
    max_pages: integer("Pages open at once.", 4, { minimum: 1, maximum: 100 }),
  }),
  model: text(
    "Chat model of extract and llmstxt. none: they use no model. Empty: the cheapest listed one with known prices and a context of 32k at least that the caller may use; never the demo.",
  ),
});

/** `search.engines.NAME` */
const Engine = section("What differs from the built-in facts of a search engine.", {
  enabled: optional(flag("Asks it, or does not.", true)),
  weight: optional(number("How much its ranking counts.", 1, { minimum: 0, maximum: 100 })),
  timeout: optional(duration("After this the others are no longer kept waiting for it.", "5s")),
  base_url: optional(formatted("url", "Replaces all of its origins; may be private, and is asked as often as needed.")),
  api_key: optional(text("Its key; turns on an engine that needs one.", "", { secret: true })),
  selectors: optional(
    map(
      "By name: where things stand in its answers (CSS selectors, JSON paths), in place of its own.",
      element("text"),
    ),
  ),
});

/** `search` */
export const SearchSection = section("Web search.", {
  only: list("When not empty, only these engines run.", nameOf("search engine", "An engine.", "")),
  engines: map("By name.", Engine, { names: "search engine" }),
  safe: flag("Asks engines for safe results.", true),
  compat: section("The shapes of other search services.", {
    anonymous: list(
      "Client addresses that may search in the shapes of SearXNG and Open WebUI without a key, at the free tier's rate.",
      element("cidr"),
    ),
  }),
});
