// The architecture rules as pure functions over files, so that each can also be shown failing on a planted violation.

import { posix } from "node:path";
import { functionsOf, usesBeforeDeclaration } from "./functions.ts";
import { centreKnowsNoFeature, stagesAreListed, stagesImportNoEndpoint } from "./gateway-rules.ts";
import { importStyle } from "./import-rules.ts";
import { codeOf, type FileMap, type Import, importsOf, remembered } from "./source.ts";
import { vendorNames } from "./vendor-names.ts";

/** Room → floor. `main.ts`, the commands and `app` are one room, `program`, which alone may import everything. */
export const FLOORS: Readonly<Record<string, number>> = {
  program: 6,
  decisions: 5,
  web: 5,
  mcp: 5,
  status: 5,
  dashboard: 5,
  docs: 5,
  gateway: 4,
  accounts: 4,
  pages: 3,
  search: 3,
  jobs: 3,
  catalog: 3,
  store: 2,
  "shared-state": 2,
  net: 2,
  http: 2,
  wire: 2,
  upstream: 2,
  workers: 2,
  config: 1,
  telemetry: 1,
  chat: 1,
  tokens: 1,
  base: 0,
  vendors: 0,
};

/** The result of a rule, and how much it examined. A rule that examined nothing proves nothing. */
export interface Finding {
  looked: number;
  violations: string[];
}

export interface Rule {
  name: string;
  check(files: FileMap): Finding;
}

/** The room of a path under src/. */
export function roomOf(path: string): string {
  const [, first = "", second] = path.split("/");
  return second === undefined || first === "cli" || first === "app" ? "program" : first;
}

const isSource = (path: string) => path.startsWith("src/");
const isDeclaration = (path: string) => path.endsWith(".d.ts");

/** A rule over every import of src/. */
function importRule(name: string, refuse: (one: Import) => string | false): Rule {
  return {
    name,
    check(files) {
      const imports = [...files].filter(([path]) => isSource(path)).flatMap(([path, text]) => importsOf(path, text));
      const violations = imports.flatMap((one) => {
        const why = refuse(one);
        return why === false ? [] : [`${one.from} imports ${one.specifier}: ${why}`];
      });
      return { looked: imports.length, violations };
    },
  };
}

/** A rule about the lines of code (without comments) in the files that `where` accepts. */
function lineRule(name: string, pattern: RegExp, where: (path: string) => boolean): Rule {
  return {
    name,
    check(files) {
      const read = [...files].filter(([path]) => isSource(path));
      const violations = read
        .filter(([path]) => where(path))
        .flatMap(([path, text]) =>
          codeOf(text)
            .split("\n")
            .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
        );
      return { looked: read.length, violations };
    },
  };
}

/** A rule over whole files. */
function fileRule(name: string, refuse: (path: string, text: string) => string | false): Rule {
  const reasonOf = remembered(refuse);
  return {
    name,
    check(files) {
      const violations = [...files].flatMap(([path, text]) => {
        const why = reasonOf(path, text);
        return why === false ? [] : [`${path}: ${why}`];
      });
      return { looked: files.size, violations };
    },
  };
}

const isPackage = (specifier: string, names: readonly string[]) =>
  names.some((name) => specifier === name || specifier.startsWith(`${name}/`));

const floors = importRule("a file imports its own room and lower floors", ({ from, target }) => {
  if (target === undefined || !isSource(target)) return false;
  const [here, there] = [roomOf(from), roomOf(target)];
  const [floor, below] = [FLOORS[here], FLOORS[there]];
  if (floor === undefined) return `the room ${here} has no floor`;
  if (below === undefined) return `the room ${there} has no floor`;
  if (here === there || below < floor) return false;
  return below > floor ? `up from floor ${floor} to ${below}` : `sideways on floor ${floor}`;
});

const inside = importRule("relative imports stay in src and name the file with its extension", (one) => {
  const { from, target } = one;
  if (target === undefined) return false;
  if (target === "package.json" && from === "src/base/version.ts") return false;
  // The manual that the program contains is the repository's own.
  if (from === "src/docs/pages/manual.ts" && /^docs\/.+\.md$/.test(target)) return false;
  if (!isSource(target)) return "outside src";
  return posix.extname(target) === "" ? "no extension" : false;
});

const circles: Rule = {
  name: "no two files stand in a circle",
  check(files) {
    const edges = new Map<string, string[]>();
    for (const [path, text] of files) {
      if (isSource(path))
        edges.set(
          path,
          importsOf(path, text).flatMap(({ target }) => (target ? [target] : [])),
        );
    }
    const state = new Map<string, "open" | "done">();
    const violations: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (state.get(path) === "done") return;
      if (state.get(path) === "open") {
        violations.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
        return;
      }
      state.set(path, "open");
      for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
      state.set(path, "done");
    };
    for (const path of edges.keys()) visit(path, []);
    return { looked: [...edges.values()].flat().length, violations };
  },
};

const wireMeetsUpstream: Rule = {
  name: "wire and upstream never meet; only gateway knows both",
  check(files) {
    const seen = new Map<string, Set<string>>();
    const violations: string[] = [];
    let looked = 0;
    for (const [path, text] of files) {
      if (!isSource(path)) continue;
      const here = roomOf(path);
      for (const { target, specifier } of importsOf(path, text)) {
        looked += 1;
        const there = target === undefined ? "" : roomOf(target);
        if (there !== "wire" && there !== "upstream") continue;
        if (here !== there && (here === "wire" || here === "upstream")) violations.push(`${path} imports ${specifier}`);
        if (here !== there) seen.set(here, (seen.get(here) ?? new Set()).add(there));
      }
    }
    for (const [room, both] of seen) {
      if (both.size === 2 && room !== "gateway" && room !== "program")
        violations.push(`${room} knows wire and upstream`);
    }
    return { looked, violations };
  },
};

const sql = importRule("only store speaks SQL", ({ from, specifier }) =>
  isPackage(specifier, ["bun:sqlite", "node:sqlite", "drizzle-orm"]) && roomOf(from) !== "store" ? "SQL" : false,
);

const engines = importRule("features know the store by its verbs, never an engine", ({ from, target }) => {
  if (target === undefined || !target.startsWith("src/store/engine/")) return false;
  return roomOf(from) === "store" || roomOf(from) === "program" ? false : "take the verbs, handed in";
});

const elysia = importRule("only http, app and routes.ts files know Elysia", ({ from, specifier }) => {
  if (!isPackage(specifier, ["elysia", "@elysiajs"])) return false;
  return roomOf(from) === "http" || from.startsWith("src/app/") || from.endsWith("/routes.ts") ? false : "Elysia";
});

const errorCodes = importRule("pages and search/engines know no API error codes", ({ from, target }) =>
  target === "src/base/errors.ts" && (roomOf(from) === "pages" || from.startsWith("src/search/engines/"))
    ? "throw PageError or give no hits"
    : false,
);

const dashboardUi = importRule("dashboard/ui takes nothing from the server but its contract", ({ from, ...one }) => {
  const { target, specifier } = one;
  if (!from.startsWith("src/dashboard/ui/")) return false;
  if (target === undefined) return /^(?:bun|node:|bun:)/.test(specifier) ? "a server module" : false;
  return target.startsWith("src/dashboard/ui/") || /^src\/dashboard\/contract(?:-[a-z]+)?\.ts$/.test(target)
    ? false
    : "server code";
});

const NETWORK_MODULES = ["node:http", "node:https", "node:http2", "node:net", "node:tls", "node:dgram", "node:dns"];
/** Rooms whose URLs come from users, pages, sitemaps or robots files. */
const GUARDED_ROOMS = new Set(["pages", "search", "web", "jobs", "workers", "dashboard", "status", "decisions"]);

const networkModules = importRule("rooms that take URLs from users have no network module of their own", (one) =>
  isPackage(one.specifier, NETWORK_MODULES) && GUARDED_ROOMS.has(roomOf(one.from)) ? "use net/fetch.ts" : false,
);

const networkCalls = lineRule(
  "rooms that take URLs from users call no fetch or socket but net's",
  /(?:(?<![.\w$#])|\bglobalThis\.|\bBun\.)fetch\s*\(|\bBun\.(?:connect|udpSocket)\s*\(|\bnew\s+WebSocket\s*\(/,
  (path) => GUARDED_ROOMS.has(roomOf(path)) && !path.startsWith("src/dashboard/ui/"),
);

const browser = importRule("only pages drives a browser", ({ from, specifier }) =>
  isPackage(specifier, ["playwright", "playwright-core", "puppeteer", "puppeteer-core"]) && roomOf(from) !== "pages"
    ? "a browser"
    : false,
);

const threads: Rule = {
  name: "every thread's entry file is built in",
  check(files) {
    const build = files.get("scripts/build.ts") ?? "";
    const violations = [...files.keys()].filter(
      (path) => /^src\/(?:.*[-/])?worker\.ts$/.test(path) && !build.includes(`"${path}"`),
    );
    return { looked: files.size, violations };
  },
};

const environment = lineRule(
  "only config/load.ts reads the environment",
  /\bprocess\s*(?:\?\.|\.|\[["'`])\s*env\b|\bBun\.env\b|\bimport\.meta\.env\b|\{[^}]*\benv\b[^}]*\}\s*=\s*(?:process|Bun)\b|import\s*\{[^}]*\benv\b[^}]*\}\s*from\s*["'](?:node:process|bun)["']/,
  (path) => path !== "src/config/load.ts",
);

const featureWords = lineRule(
  "http names no feature",
  /["'`/](?:\/(?:v1|typesafe|dashboard)\/|(?:anthropic|openai|messages|responses|completions)\b)/,
  (path) => roomOf(path) === "http",
);

const providerKeys = lineRule(
  "a provider's key is taken in upstream alone, where one that fails is rested",
  /\bkeys\s*\.\s*take\s*\(/,
  (path) => roomOf(path) !== "upstream",
);

const formatNames = lineRule(
  "a client format is asked for what it says of itself, not for its name",
  /["'](?:openai-chat|openai-responses|openai-completions|anthropic-messages)["']/,
  (path) =>
    ["gateway", "http", "web", "status", "accounts", "dashboard", "telemetry"].includes(roomOf(path)) ||
    path.startsWith("src/app/"),
);

const time = lineRule(
  "only base/clock.ts asks the time",
  /\bDate\.now\b|\bnew\s+Date\s*(?:\(\s*\)|[;,)\]}]|$)|(?<![\w.])Date\s*\(\s*\)|\bperformance\.timeOrigin\b|\bTemporal\.Now\b/,
  (path) => path !== "src/base/clock.ts" && !path.startsWith("src/dashboard/ui/"),
);

const waitedFor = lineRule(
  "who is let in is waited for",
  /^\s*(?:void\s+)?(?:\w+\.)*(?:authenticate|admit|admitSearcher)\(\w*[rR]equest\b[^)]*\);/,
  () => true,
);

/** Folders whose code measures and compares texts, or writes Markdown; their other texts come from the reader of plain text too. */
const WITH_RAW_TEXT = ["dom", "content", "markdown", "browser", "words"].map((name) => `src/pages/${name}/`);
const plainText = lineRule(
  "the text of a page is read by words/plain-text.ts",
  /\.textContent\b|\.innerText\b|\bPageText\b/,
  (path) =>
    (roomOf(path) === "pages" || roomOf(path) === "web") &&
    !WITH_RAW_TEXT.some((folder) => path.startsWith(folder)) &&
    // Counts characters and looks for hints about scripts.
    path !== "src/pages/convert/needs-script.ts",
);

const consoles = lineRule("console only in cli", /\bconsole\s*(?:\.|\[)/, (path) => !path.startsWith("src/cli/"));

const defaults = lineRule(
  "no default export",
  /^\s*export\s+default\b|^\s*export\s*\{[^}]*\bas\s+default\b/,
  (path) => !isDeclaration(path),
);

const LINES_MAX = 400;

const length = fileRule(`no file over ${LINES_MAX} lines`, (_path, text) => {
  const lines = text.replace(/\n$/, "").split("\n").length;
  return lines > LINES_MAX ? `${lines} lines` : false;
});

const FUNCTION_LINES_MAX = 80;

// An argument of `describe` is a list of tests, each of which is checked separately.
const functionLength = fileRule(`no function over ${FUNCTION_LINES_MAX} lines`, (path, text) => {
  if (text.split("\n").length <= FUNCTION_LINES_MAX) return false;
  const long = functionsOf(path, text).filter(({ lines, listsTests }) => lines > FUNCTION_LINES_MAX && !listsTests);
  return long.length > 0 && long.map(({ name, line, lines }) => `${name} in line ${line} has ${lines}`).join(", ");
});

const wiringOrder = fileRule("in app nothing is used before it exists", (path, text) => {
  const early = path.startsWith("src/app/") ? usesBeforeDeclaration(path, text) : [];
  return early.length > 0 && early.join(", ");
});

const header = fileRule("a header says what the file guarantees", (path, text) =>
  path.startsWith("test/") || /^(?:#![^\n]*\n)?\/[/*]/.test(text) ? false : "the first line is no comment",
);

const BANNED_NAMES = /^(?:utils?|helpers?|services?|managers?|types?|common|misc)$/;

const names = fileRule("names are kebab-case and say what the thing is", (path) => {
  const parts = path.split("/");
  const file = parts.pop() ?? "";
  const stem = file.replace(/\.(?:d\.ts|test\.tsx?|tsx?)$/, "");
  const odd = [...parts, stem].find((part) => BANNED_NAMES.test(part));
  if (odd !== undefined) return `"${odd}" says nothing`;
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(stem) ? false : "not kebab-case";
});

const barrels: Rule = {
  name: "no barrel files",
  check(files) {
    const violations = [...files].flatMap(([path, text]) => {
      const code = codeOf(text);
      if (/^\s*export\s*\*/m.test(code)) return [`${path}: export *`];
      const rest = code.replace(/^\s*(?:import|export)\b[^"'`;=(]*\bfrom\s*["'][^"']+["'];?/gm, "");
      const reexports = /^\s*export\b[^"'`;=(]*\bfrom\s*["']/m.test(code);
      return reexports && rest.trim() === "" ? [`${path}: holds nothing of its own`] : [];
    });
    return { looked: files.size, violations };
  },
};

/** Every rule; each has a planted violation in rules.test.ts. */
export const RULES: readonly Rule[] = [
  floors,
  inside,
  importStyle,
  circles,
  wireMeetsUpstream,
  centreKnowsNoFeature,
  stagesAreListed,
  stagesImportNoEndpoint,
  sql,
  engines,
  elysia,
  errorCodes,
  dashboardUi,
  networkModules,
  networkCalls,
  browser,
  threads,
  environment,
  featureWords,
  formatNames,
  providerKeys,
  vendorNames,
  time,
  waitedFor,
  plainText,
  consoles,
  defaults,
  length,
  functionLength,
  wiringOrder,
  header,
  names,
  barrels,
];
