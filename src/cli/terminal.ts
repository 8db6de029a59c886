// Whether standard error is a terminal. The platform's stream is not made where it cannot be one: a service logs into a pipe or a
// file, and starts without the code of streams.

import { fstatSync } from "node:fs";

/** Whether logs are read in a terminal. */
export function isTerminal(): boolean {
  try {
    if (!fstatSync(2).isCharacterDevice()) return false;
  } catch {
    return false; // It is closed.
  }
  return process.stderr.isTTY === true;
}
