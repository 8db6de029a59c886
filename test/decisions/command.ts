// Runs a command of the program in this process, with a directory's configuration.

import { runCommandLine } from "../../src/cli/run.ts";
import { FakeTerminal } from "../support/terminal.ts";

export async function runCommand(
  dir: string,
  argv: readonly string[],
): Promise<{ code: number; out: string; err: string }> {
  const io = new FakeTerminal();
  const code = await runCommandLine(argv, { version: "0", io, surroundings: { cwd: dir, env: {} } });
  return { code, out: io.stdout, err: io.stderr };
}
