// Limits how many passwords are hashed at once and how many wait, so that a flood of sign-ins takes neither every core
// nor the memory that argon2id needs for each.

import { availableParallelism } from "node:os";
import { ApiError } from "../../base/errors.ts";
import { hashPassword, verifyPassword } from "./passwords.ts";

/** Hashes passwords, one after the other. */
export interface PasswordHasher {
  /** Throws `ApiError` 503 `server_busy` when too many wait. */
  hash(password: string): Promise<string>;
  /** The same. */
  verify(password: string, hash: string): Promise<boolean>;
}

/** 64 MiB of memory each, and half of the cores stay free for the gateway. */
const CONCURRENCY = Math.max(1, Math.floor(availableParallelism() / 2));
/** About 15 seconds of work: later clients would have given up. */
const WAITING_MAX = 64;

/** Makes a hasher; a test may bring its own functions. */
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
      // Whoever ends hands its place on, so `running` stays as it is.
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
