// Limits concurrent and waiting password hashes, so that a flood of sign-ins takes neither all cores nor the memory that
// argon2id needs for each.

import { availableParallelism } from "node:os";
import { ApiError } from "../../base/errors.ts";
import { hashPassword, verifyPassword } from "./passwords.ts";

/** Hashes passwords in a queue. */
export interface PasswordHasher {
  /** Throws `ApiError` 503 `server_busy` if too many wait. */
  hash(password: string): Promise<string>;
  /** The same. */
  verify(password: string, hash: string): Promise<boolean>;
}

/** Each hash needs 64 MiB of memory. Half of the cores stay free for the gateway. */
const CONCURRENCY = Math.max(1, Math.floor(availableParallelism() / 2));
/** About 15 seconds of work. Clients that wait longer would give up. */
const WAITING_MAX = 64;

/** Creates a hasher; tests may pass their own functions. */
export function passwordHasher(
  options: {
    concurrency?: number;
    waitingMax?: number;
    hash?: typeof hashPassword;
    verify?: typeof verifyPassword;
  } = {},
): PasswordHasher {
  const { concurrency = CONCURRENCY, waitingMax = WAITING_MAX, hash = hashPassword, verify = verifyPassword } = options;
  const waiting: (() => void)[] = [];
  let running = 0;

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= concurrency) {
      if (waiting.length >= waitingMax) {
        throw new ApiError("server_busy", "Too many sign-ins at once. Try again.", { retryAfterSeconds: 5 });
      }
      // A finished task passes its slot on, so `running` does not change.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };

  return {
    hash: (password) => inTurn(() => hash(password)),
    verify: (password, stored) => inTurn(() => verify(password, stored)),
  };
}
