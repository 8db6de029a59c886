// The blocks of code of the README and of the documents that people write, and how a reader would run one.

import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programCommand } from "../support/source-program.ts";

const root = join(import.meta.dir, "../..");
/** The commands run until somebody ends them. */
const ENDLESS = / --follow\b/;

/** A block of code of a document. */
export interface Snippet {
  /** `README.md`, or the path under `docs/`. */
  readonly document: string;
  /** The heading it stands under. */
  readonly heading: string;
  readonly language: string;
  /** What follows the language: `run`, or `install=PACKAGE@VERSION,…`, … (CONTRIBUTING.md). */
  readonly marks: readonly string[];
  readonly code: string;
}

/** Every block of README.md and docs/, but for the reference, which is written from the sources. */
export function allSnippets(): Snippet[] {
  const written = [...new Bun.Glob("**/*.md").scanSync({ cwd: join(root, "docs") })];
  const documents = written.filter((path) => !path.startsWith("reference/")).sort();
  return ["README.md", ...documents].flatMap((document) => snippetsOf(document, documentText(document)));
}

/** What a document says. */
export function documentText(document: string): string {
  return readFileSync(join(root, document === "README.md" ? "" : "docs", document), "utf8");
}

function snippetsOf(document: string, text: string): Snippet[] {
  const heading = (before: string) =>
    [...before.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^#{1,6} (.+)$/gm)].at(-1)?.[1] ?? "";
  return [...text.matchAll(/^ *```(\S*)([^\n]*)\n([\s\S]*?)^ *```$/gm)].map(
    ({ 1: language = "", 2: marks = "", 3: code = "", index }) => ({
      ...{ document, language, code, heading: heading(text.slice(0, index)) },
      marks: marks.trim().split(/\s+/).filter(Boolean),
    }),
  );
}

/** The blocks under a heading of a document, in their order. */
export function snippetsUnder(document: string, heading: string): Snippet[] {
  const found = snippetsOf(document, documentText(document)).filter((one) => one.heading === heading);
  if (found.length === 0) throw new Error(`${document} has no code under "${heading}".`);
  return found;
}

/** What stands behind a mark: `install=a,b` has `a,b` behind `install`; undefined where it is not there. */
export function markOf({ marks }: Snippet, name: string): string | undefined {
  return marks.find((mark) => mark.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Where a snippet finds the gateway, and a site in place of the one that it names. */
export interface SnippetWorld {
  readonly url: string;
  readonly key: string;
  readonly site: string;
  /** A folder with packages; the repository's unless given. */
  readonly modules?: string;
  /** A folder whose content it finds in its own. */
  readonly files?: string;
  /** Further words of the text, and what stands for them here. */
  readonly words?: Readonly<Record<string, string>>;
}

/** What a snippet said. */
export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** The text of a snippet with this place's addresses and key. */
export function hereOf(code: string, { url, key, site, words = {} }: SnippetWorld): string {
  const all = { ...words, "https://example.com": site, "http://127.0.0.1:8787": url, "sk-…": key };
  return Object.entries(all).reduce((text, [word, here]) => text.replaceAll(word, here), code);
}

/** Runs it as a reader would, in a folder of its own, after the blocks marked `env` that stand before it. */
export async function runSnippet(snippet: Snippet, world: SnippetWorld): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-snippet-"));
  try {
    if (world.files !== undefined) cpSync(world.files, folder, { recursive: true });
    const modules = world.modules ?? join(root, "node_modules");
    symlinkSync(modules, join(folder, "node_modules"));
    const isScript = snippet.language === "js";
    const name = isScript ? "snippet.mjs" : "snippet.sh";
    const code = hereOf([...preamble(snippet), commandsOf(snippet)].join("\n"), world);
    writeFileSync(join(folder, name), code.replaceAll(/(?<=\s)\/(?=(?:var|tmp)\/)/g, `${folder}/`));
    return await ran(isScript ? [process.execPath, name] : ["sh", "-eu", name], {
      folder,
      env: {
        PATH: `${commandFolder(folder)}:${join(modules, ".bin")}:${process.env["PATH"] ?? ""}`,
        HOME: folder,
        ...{ SALLYPORT_URL: world.url, SALLYPORT_KEY: world.key },
      },
      isEndless: ENDLESS.test(code),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of what a terminal shows, the lines that a person types. */
function commandsOf({ language, code }: Snippet): string {
  if (language !== "console") return code;
  return [...code.matchAll(/^\$ (.*)$/gm)].map(([, line]) => line).join("\n");
}

/** What its reader has set by then. */
function preamble(snippet: Snippet): string[] {
  if (snippet.language === "js") return [];
  const before = snippetsOf(snippet.document, documentText(snippet.document));
  const at = before.findIndex(({ heading, code }) => heading === snippet.heading && code === snippet.code);
  return before.slice(0, at).flatMap(({ marks, code }) => (marks.includes("env") ? [code] : []));
}

/** A folder with the program under its name. */
function commandFolder(folder: string): string {
  const bin = join(folder, ".bin");
  mkdirSync(bin);
  const file = join(bin, "sallyport");
  writeFileSync(
    file,
    `#!/bin/sh\nexec ${programCommand()
      .map((word) => `'${word}'`)
      .join(" ")} "$@"\n`,
  );
  chmodSync(file, 0o755);
  return bin;
}

interface Place {
  readonly folder: string;
  readonly env: Record<string, string>;
  /** It is ended, as by Ctrl-C, when it has said something. */
  readonly isEndless: boolean;
}

async function ran(command: string[], { folder, env, isEndless }: Place): Promise<Ran> {
  const streams = { stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const;
  // A process group of its own: what it has started ends with it.
  const child = Bun.spawn(command, { cwd: folder, env, ...streams, detached: isEndless });
  const read = async () => {
    let said = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      if (said === "" && isEndless) process.kill(-child.pid, "SIGINT");
      said += text;
    }
    return said;
  };
  const [out, err, code] = await Promise.all([read(), new Response(child.stderr).text(), child.exited]);
  const isStopped = isEndless && child.signalCode === "SIGINT";
  return { exitCode: isStopped || (isEndless && code === 130) ? 0 : code, out, err };
}
