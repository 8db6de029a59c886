// Installs the coding agents that are tried against the gateway, into a folder outside the repository.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const CLAUDE = "@anthropic-ai/claude-code@2.1.330";
const CODEX = "@openai/codex@0.169.0";
const OPENCODE = "opencode-ai@1.18.33";

/** Installs them unless they are installed already. */
export function installAgents(folder: string): void {
  mkdirSync(folder, { recursive: true });
  if (["codex", "opencode"].every((agent) => existsSync(join(folder, "node_modules/.bin", agent)))) return;
  const npm = ["npm", "install", "--no-save", "--prefix", folder, CLAUDE, CODEX, OPENCODE];
  const { exitCode } = Bun.spawnSync(npm, { stdio: ["ignore", "inherit", "inherit"] });
  if (exitCode !== 0) throw new Error("The agents could not be installed.");
}
