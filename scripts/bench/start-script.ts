// Starts the scripts of a benchmark that are servers: each prints its port as its first line.

import { join } from "node:path";

/** The servers of a benchmark that were started so far, which it ends when it is over. */
export const startedScripts: Bun.Subprocess[] = [];

/** Starts a script of this folder and returns its port and its process. */
export async function startScript(file: string, ...args: string[]): Promise<{ port: number; pid: number }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, file), ...args], { stdout: "pipe" });
  startedScripts.push(child);
  let line = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    line += decoder.decode(chunk);
    if (line.includes("\n")) break;
  }
  return { port: Number(line), pid: child.pid };
}
