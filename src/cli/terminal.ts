// Whether standard error is a terminal. The platform's stream is not made where it cannot be one: a service logs into a pipe or a
// file, one in the background into nothing, and both start without the code of streams.

import { fstatSync, statSync } from "node:fs";

/** Whether logs are read in a terminal. `nothing`: the file of what is written nowhere; not every system has it. */
export function isTerminal(nothing = "/dev/null"): boolean {
  try {
    const target = fstatSync(2);
    if (!target.isCharacterDevice() || target.rdev === statSync(nothing, { throwIfNoEntry: false })?.rdev) return false;
  } catch {
    return false; // It is closed.
  }
  return process.stderr.isTTY === true;
}
