// The runnable examples of the guides: code blocks marked ```js run or ```sh run.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const GUIDES = join(root, "docs/guides");

/** A code block of a guide. */
export interface Snippet {
  readonly guide: string;
  /** The heading above it. */
  readonly heading: string;
  readonly language: string;
  /** The words after the language: `run`, or `install=PACKAGE@VERSION,…`. */
  readonly marks: readonly string[];
  readonly code: string;
}

/** Every code block of every guide. */
export function allSnippets(): Snippet[] {
  const guides = readdirSync(GUIDES).filter((name) => name.endsWith(".md"));
  return guides.flatMap((guide) => {
    const text = readFileSync(join(GUIDES, guide), "utf8");
    return [...text.matchAll(/^```(\S+)([^\n]*)\n([\s\S]*?)^```$/gm)].map(
      ({ 1: language = "", 2: marks = "", 3: code = "", index }) => ({
        ...{ guide, language, code },
        heading: [...text.slice(0, index).matchAll(/^##? (.+)$/gm)].at(-1)?.[1] ?? "",
        marks: marks.trim().split(/\s+/).filter(Boolean),
      }),
    );
  });
}

/** The addresses for a snippet: of the gateway, and of the site that replaces the one in the text. */
export interface SnippetWorld {
  readonly url: string;
  readonly key: string;
  readonly site: string;
}

/** Runs a snippet in its own folder, as a reader would. `modules`: the folder with its packages. */
export async function runSnippet(
  { language, code }: Snippet,
  { url, key, site }: SnippetWorld,
  modules = join(root, "node_modules"),
): Promise<{ exitCode: number; out: string; err: string }> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-snippet-"));
  try {
    mkdirSync(folder, { recursive: true });
    symlinkSync(modules, join(folder, "node_modules"));
    const name = language === "js" ? "snippet.mjs" : "snippet.sh";
    writeFileSync(join(folder, name), code.replaceAll("https://example.com", site));
    const command = language === "js" ? [process.execPath, name] : ["sh", "-eu", name];
    const run = Bun.spawn(command, {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, SALLYPORT_URL: url, SALLYPORT_KEY: key },
      ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    });
    const [out, err, exitCode] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
      run.exited,
    ]);
    return { exitCode, out, err };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
