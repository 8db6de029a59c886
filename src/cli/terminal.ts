// Whether standard error is a terminal. The platform's stream is not made where it cannot be one: a service logs into a pipe or a
// file, one in the background into nothing, and both start without the code of streams.

import { fstatSync, statSync } from "node:fs";

/** Whether logs are read in a terminal. */
export function isTerminal(): boolean {
  try {
    const target = fstatSync(2);
    if (!target.isCharacterDevice() || target.rdev === statSync("/dev/null").rdev) return false;
  } catch {
    return false; // It is closed.
  }
  return process.stderr.isTTY === true;
}
