// The coding agents that are tried against the gateway, installed into a folder that is not the repository's.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const CLAUDE = "@anthropic-ai/claude-code@2.1.330";
const CODEX = "@openai/codex@0.169.0";

/** Installs them, unless they are there. */
export function installAgents(folder: string): void {
  mkdirSync(folder, { recursive: true });
  if (existsSync(join(folder, "node_modules/.bin/codex"))) return;
  const npm = ["npm", "install", "--no-save", "--prefix", folder, CLAUDE, CODEX];
  const { exitCode } = Bun.spawnSync(npm, { stdio: ["ignore", "inherit", "inherit"] });
  if (exitCode !== 0) throw new Error("The agents could not be installed.");
}
