// Certificate authorities of `net.ca_file`. Loaded only where the configuration names one.

import { readFileSync } from "node:fs";
import { environment } from "../config/load.ts";
import { CommandError } from "./failure.ts";
import { restart } from "./restart.ts";

const AUTHORITIES_VARIABLE = "NODE_EXTRA_CA_CERTS";

/** Replaces the process if the authorities of `net.ca_file` are not trusted yet. Throws if the file is unusable. */
export function trustAuthorities(argv: readonly string[], file: string): void {
  if (environment()[AUTHORITIES_VARIABLE] === file) return;
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(`net.ca_file: ${file} cannot be read (${(error as { code?: string }).code ?? error})`);
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----"))
    throw new CommandError(`net.ca_file: expected PEM certificates in ${file}`);
  restart(argv, { [AUTHORITIES_VARIABLE]: file });
  throw new CommandError(`net.ca_file: start the program with ${AUTHORITIES_VARIABLE}=${file} on this system`);
}
