// Certificate authorities of `net.ca_file`. Loaded only where the configuration names one.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { environment } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { CommandError } from "./failure.ts";
import { restart } from "./restart.ts";

const AUTHORITIES_VARIABLE = "NODE_EXTRA_CA_CERTS";

/** Replaces the process if the authorities of `net.ca_file` are not trusted yet. Throws if the file is unusable. */
export function trustAuthorities(argv: readonly string[], { net: { caFile }, dataDir }: Config): void {
  const present = environment()[AUTHORITIES_VARIABLE] ?? "";
  if (present === caFile) return;
  let text: string;
  try {
    text = readFileSync(caFile, "utf8");
  } catch (error) {
    throw new CommandError(`net.ca_file: ${caFile} cannot be read (${(error as { code?: string }).code ?? error})`);
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----"))
    throw new CommandError(`net.ca_file: expected PEM certificates in ${caFile}`);
  const others = present === "" ? "" : readIfThere(present);
  if (others.includes(text.trim())) return;
  const file = others === "" ? caFile : both(`${others.trimEnd()}\n${text}`, { present, dataDir });
  restart(argv, { [AUTHORITIES_VARIABLE]: file });
  throw new CommandError(`net.ca_file: start the program with ${AUTHORITIES_VARIABLE}=${file} on this system`);
}

/** The runtime warns about a file of the variable that cannot be read, and goes on without it. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** The runtime reads one file, so the authorities of the variable and the configured ones are written into one. */
function both(text: string, { present, dataDir }: { present: string; dataDir: string }): string {
  const file = join(dataDir, "authorities.pem");
  const fresh = `${file}.${process.pid}`;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(fresh, text, { mode: 0o600 });
    renameSync(fresh, file);
  } catch (error) {
    const reason = (error as { code?: string }).code ?? error;
    throw new CommandError(
      `net.ca_file: ${AUTHORITIES_VARIABLE} names ${present}, and ${file} for the authorities of both cannot be written (${reason}): put them into one file yourself`,
    );
  }
  return file;
}
