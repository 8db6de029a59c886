// How each block of code of the documents is tried. A block without a way, or with two, fails a test.

import { type Snippet, snippetsUnder } from "./snippets.ts";

/** Blocks that a script or another test tries, found there by document and heading. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "README.md, Quick start, sh": "scripts/outside/first-minute.ts",
  "guides/start.md, 1. Run it, sh": "scripts/outside/first-minute.ts",
  "guides/start.md, 3. Connect a provider, sh": "scripts/outside/first-minute.ts",
  "README.md, Quick start, python": "scripts/outside/programs.ts",
  "guides/sdks.md, OpenAI, python": "scripts/outside/programs.ts",
  "guides/deployment.md, systemd, ini": "scripts/outside/programs.ts",
  "guides/deployment.md, Reverse proxy with TLS, caddyfile": "scripts/outside/programs.ts",
  "guides/deployment.md, Reverse proxy with TLS, nginx": "scripts/outside/programs.ts",
  "guides/metrics.md, Metrics, yaml 2": "scripts/outside/programs.ts",
  "guides/metrics.md, Alerts worth having, yaml": "scripts/outside/programs.ts",
  "guides/postgresql.md, Moving, sh": "test/cli/migrate-database.test.ts",
  "guides/several-nodes.md, Compose, caddyfile": "test/docs/several-nodes.test.ts",
  "guides/several-nodes.md, Compose, yaml": "test/docs/several-nodes.test.ts",
  "guides/several-nodes.md, Kubernetes, yaml": "test/docs/several-nodes.test.ts",
  "guides/alerts.md, The webhook, json": "test/app/alerts.test.ts",
  "decisions.md, Calibration, jsonl": "test/decisions/docs.test.ts",
};

/** Blocks that nothing runs, and why. */
const LEFT: Readonly<Record<string, string>> = {
  "README.md, The executable, sh": ".ci/run builds the executable",
  "README.md, Development, sh": ".ci/run gives these commands, but for the one that serves until it is stopped",
  "guides/several-nodes.md, One machine, several processes, sh":
    "starts servers that run on; scripts/bench/nodes.ts starts them in the same way",
  "guides/deployment.md, systemd, sh": "wants a running systemd; the unit itself is checked",
  "guides/deployment.md, systemd, text": "wants logrotate; test/cli/log-file.test.ts does what it does",
  "guides/deployment.md, Container, sh": "wants a container engine; the file's commands are run without one",
  "guides/how-it-is-judged.md, Main content of pages, sh": "takes minutes; CONTRIBUTING.md says when it is run",
};

/** How it is called: document, heading, language, and which of several such. */
export function nameOf(snippet: Snippet): string {
  const { document, heading, language, code } = snippet;
  const alike = snippetsUnder(document, heading).filter((one) => one.language === language);
  const at = alike.findIndex((one) => one.code === code);
  return `${document}, ${heading}, ${language}${at === 0 ? "" : ` ${at + 1}`}`;
}

/** Those with commands of the program, which need a configuration and a database. */
export function isOfCommands({ language, marks, code }: Snippet): boolean {
  if (language === "console") return true;
  return language === "sh" && marks.includes("run") && /^sallyport /m.test(code);
}

/** True for a configuration of the program, or a part of one. */
export function isConfiguration(snippet: Snippet): boolean {
  return snippet.language === "yaml" && !snippet.marks.includes("client") && ELSEWHERE[nameOf(snippet)] === undefined;
}

/** The ways in which a block is tried. */
export function waysOf(snippet: Snippet): string[] {
  const name = nameOf(snippet);
  const { marks, language } = snippet;
  return [
    ...marks.map((mark) => mark.replace(/=.*/, "")),
    ...(language === "console" ? ["run"] : []),
    ...(isConfiguration(snippet) ? ["configuration"] : []),
    ...(name in ELSEWHERE ? ["elsewhere"] : []),
    ...(name in LEFT ? ["left"] : []),
  ];
}

export { ELSEWHERE, LEFT };
