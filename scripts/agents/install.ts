// Installs the coding agents that are tried against the gateway, into a folder outside the repository.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** The packages of the agents, by the names of their programs. */
export const AGENTS = {
  claude: { program: "Claude Code", package: "@anthropic-ai/claude-code", version: "2.1.330" },
  codex: { program: "Codex", package: "@openai/codex", version: "0.169.0" },
  gemini: { program: "Gemini CLI", package: "@google/gemini-cli", version: "0.61.0" },
  opencode: { program: "opencode", package: "opencode-ai", version: "1.18.33" },
} as const;

export type AgentName = keyof typeof AGENTS;

/** Installs those that are not installed already. */
export function installAgents(folder: string, names: readonly AgentName[]): void {
  mkdirSync(folder, { recursive: true });
  const missing = names.filter((name) => !existsSync(join(folder, "node_modules/.bin", name)));
  if (missing.length === 0) return;
  // One command, as a further one would remove what it does not name.
  const packages = names.map((name) => `${AGENTS[name].package}@${AGENTS[name].version}`);
  const npm = ["npm", "install", "--no-save", "--prefix", folder, ...packages];
  const { exitCode } = Bun.spawnSync(npm, { stdio: ["ignore", "inherit", "inherit"] });
  if (exitCode !== 0) throw new Error("The agents could not be installed.");
}
