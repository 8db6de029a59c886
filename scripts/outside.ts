// Tries the documents with external tools: two linters for the OpenAPI document, two generators of clients whose
// programs must compile and work, the guides' examples for libraries that this repository does not install, and the
// documents' blocks with the compiled program; and public MCP servers behind the gateway. Usage:
// `bun scripts/outside.ts [--keep FOLDER]`. The last line is `N passed, N failed, N skipped`; what cannot be installed
// is skipped.

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DocumentedGateway, startDocumentedGateway } from "../test/docs/gateway.ts";
import { allSnippets, markOf, runSnippet, type Snippet } from "../test/docs/snippets.ts";
import { tryDocuments } from "./outside/documents.ts";
import { tryFirstMinute } from "./outside/first-minute.ts";
import { tryMcpServers } from "./outside/mcp-servers.ts";
import { tryPrograms } from "./outside/programs.ts";

const LINTERS = ["@redocly/cli@2.77.0", "@stoplight/spectral-cli@6.16.3"];
const GENERATORS = [
  ...["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "@hey-api/openapi-ts@0.95.0"],
  // The generators need this major version.
  ...["typescript@5.9.3", "@types/node@22.19.1"],
];
/** Programs written for Firecrawl, and the text that the answer of each must contain. */
const FIRECRAWL_TOOLS: readonly { name: string; does: string; packages: string[]; says: Record<string, RegExp> }[] = [
  {
    name: "firecrawl-mcp",
    does: "scrapes, maps, crawls and searches",
    packages: ["firecrawl-mcp@3.26.0", "@modelcontextprotocol/sdk@1.18.0"],
    says: {
      scraped: /"markdown": "# Example Domain/,
      mapped: /"url": "http/,
      started: /"id": "crawl_/,
      status: /"status": "completed"[\s\S]*"markdown": "# Example Domain/,
      found: /For examples/,
    },
  },
];
const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, skipLibCheck: true, target: "ES2022", module: "ESNext" },
    ...{ moduleResolution: "Bundler", types: ["node"], lib: ["ES2022", "DOM", "DOM.Iterable"] },
  },
  files: ["fetch-client.ts", "hey-client.ts"],
};
const HEY_CONFIG = `export default {
  input: "openapi.json", output: "hey", plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
};
`;

const argv = process.argv.slice(2);
const keep = argv.includes("--keep") ? argv[argv.indexOf("--keep") + 1] : undefined;
const folder = keep ?? mkdtempSync(join(tmpdir(), "sallyport-outside-"));
const counts = { passed: 0, failed: 0, skipped: 0 };

/** A command's exit code and output. */
async function run(
  command: string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<{ code: number; said: string }> {
  const own = { PATH: process.env["PATH"] ?? "", HOME: folder, CI: "true", ...env };
  const child = Bun.spawn(command, { cwd, env: own, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, said: out + err };
}

/** Installs these packages into a folder; undefined if they cannot be installed. */
async function withPackages(name: string, packages: readonly string[]): Promise<string | undefined> {
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  if (existsSync(join(place, "node_modules"))) return place;
  const npm = [
    "npm",
    "install",
    "--no-save",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--prefix",
    place,
    ...packages,
  ];
  // Uses the settings of the person who runs it, since packages may have to be downloaded in a special way.
  const child = Bun.spawn(npm, { cwd: place, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  if ((await child.exited) === 0) return place;
  rmSync(place, { recursive: true, force: true });
  return undefined;
}

/** One trial; `problem` returns what is wrong. */
async function trial(name: string, problem: () => Promise<string | undefined>): Promise<void> {
  const found = await problem().catch((error: unknown) => String(error));
  if (found === undefined) counts.passed++;
  else counts.failed++;
  process.stdout.write(`${found === undefined ? "ok  " : "FAIL"} ${name}\n${found === undefined ? "" : `${found}\n`}`);
}

function skip(name: string, count: number, why = "the packages could not be installed"): void {
  counts.skipped += count;
  process.stdout.write(`skip ${name}: ${why}\n`);
}

async function lint(document: string): Promise<void> {
  const place = await withPackages("linters", LINTERS);
  if (place === undefined) return skip("linters", 2);
  writeFileSync(join(place, "openapi.json"), document);
  writeFileSync(join(place, "redocly.yaml"), "extends: [recommended]\n");
  // An upgrade to WebSocket is answered with 101, which the rules do not take for a success.
  const upgrade = "#/paths/~1v1~1responses/get/responses";
  writeFileSync(
    join(place, ".redocly.lint-ignore.yaml"),
    `openapi.json:\n  operation-2xx-response:\n    - '${upgrade}'\n`,
  );
  const overrides = [{ files: [`openapi.json${upgrade}`], rules: { "operation-success-response": "off" } }];
  writeFileSync(join(place, ".spectral.json"), JSON.stringify({ extends: ["spectral:oas"], overrides }));
  const bin = join(place, "node_modules/.bin");
  await trial("Redocly's recommended rules, without warnings", async () => {
    const { code, said } = await run([join(bin, "redocly"), "lint", "openapi.json"], place);
    return code === 0 && !/\bYou have \d+ warning|\bWarning was generated\b/.test(said) ? undefined : said;
  });
  await trial("Spectral's rules, without warnings", async () => {
    const asked = [join(bin, "spectral"), "lint", "openapi.json", "--fail-severity", "hint"];
    const { code, said } = await run(asked, place);
    return code === 0 ? undefined : said;
  });
}

async function generate(document: string, gateway: DocumentedGateway): Promise<void> {
  const place = await withPackages("generators", GENERATORS);
  if (place === undefined) return skip("generated clients", 3);
  const bin = (name: string) => join(place, "node_modules/.bin", name);
  writeFileSync(join(place, "openapi.json"), document);
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify(TSCONFIG));
  writeFileSync(join(place, "hey.config.mjs"), HEY_CONFIG);
  for (const name of ["fetch-client", "hey-client"]) {
    copyFileSync(join(import.meta.dir, `outside/${name}.txt`), join(place, `${name}.ts`));
  }
  await trial("clients are generated and compile", async () => {
    for (const command of [
      [bin("openapi-typescript"), "openapi.json", "-o", "api.d.ts"],
      [bin("openapi-ts"), "-f", "hey.config.mjs"],
      [bin("tsc"), "-p", "."],
    ]) {
      const { code, said } = await run(command, place);
      if (code !== 0) return said;
    }
    return undefined;
  });
  const env = {
    SALLYPORT_URL: gateway.app.url,
    SALLYPORT_KEY: gateway.app.key,
    SITE_URL: gateway.here("https://example.com"),
  };
  for (const name of ["fetch-client", "hey-client"]) {
    await trial(`${name} completes a chat, a scrape and a decision`, async () => {
      const { code, said } = await run([process.execPath, `${name}.ts`], place, env);
      const answer = code === 0 ? (JSON.parse(said.trim().split("\n").at(-1) ?? "{}") as Record<string, unknown>) : {};
      const isGood =
        answer["said"] === "Say hello." &&
        String(answer["markdown"]).includes("Example Domain") &&
        typeof answer["probability"] === "number" &&
        answer["code"] === "model_not_found";
      return isGood ? undefined : said;
    });
  }
}

/** Runs the program unmodified, with the gateway's address and one of its keys. */
async function tryFirecrawlTools(gateway: DocumentedGateway): Promise<void> {
  const env = {
    SALLYPORT_URL: gateway.app.url,
    SALLYPORT_KEY: gateway.app.key,
    SITE_URL: gateway.here("https://example.com"),
  };
  for (const { name, does, packages, says } of FIRECRAWL_TOOLS) {
    const place = await withPackages(name, packages);
    if (place === undefined) {
      skip(name, 1);
      continue;
    }
    copyFileSync(join(import.meta.dir, `outside/${name}.txt`), join(place, `${name}.ts`));
    await trial(`${name} ${does}`, async () => {
      const { code, said } = await run([process.execPath, `${name}.ts`], place, env);
      if (code !== 0) return said;
      const lines = said.trim().split("\n");
      const answer = JSON.parse(lines.find((line) => line.startsWith("{")) ?? "{}") as Record<string, unknown>;
      const wrong = Object.keys(says).filter((member) => !says[member]?.test(String(answer[member])));
      return wrong.length === 0 ? undefined : `${wrong.join(", ")}: ${said}`;
    });
  }
}

/** The guides' examples for a library that they name with its version. */
async function tryExamples(gateway: DocumentedGateway): Promise<void> {
  const marked = allSnippets().flatMap((one): [Snippet, string[]][] => {
    const packages = markOf(one, "install");
    return packages === undefined ? [] : [[one, packages.split(",")]];
  });
  for (const [snippet, packages] of marked) {
    const name = `${snippet.document}, ${snippet.heading}`;
    const place = await withPackages(snippet.heading.toLowerCase().replaceAll(/\W+/g, "-"), packages);
    if (place === undefined) {
      skip(name, 1);
      continue;
    }
    await trial(name, async () => {
      const world = { url: gateway.app.url, key: gateway.app.key, site: gateway.here("https://example.com") };
      const { exitCode, out, err } = await runSnippet(snippet, { ...world, modules: join(place, "node_modules") });
      const isRight = exitCode === 0 && (snippet.language !== "js" || out.includes("Hello from"));
      return isRight ? undefined : out + err;
    });
  }
}

const gateway = await startDocumentedGateway();
const document = JSON.stringify(gateway.document, null, 2);
await lint(document);
await generate(document, gateway);
await tryFirecrawlTools(gateway);
await tryExamples(gateway);
await gateway.stop();
const outside = { folder, trial, skip, run };
await tryDocuments(outside);
await tryPrograms(outside);
await tryFirstMinute(outside);
await tryMcpServers({ ...outside, withPackages });
if (keep === undefined) rmSync(folder, { recursive: true, force: true });
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);
