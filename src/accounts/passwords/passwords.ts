// Password hashes. argon2id; the hash contains its parameters, so that they can change later.

import { COMMON_PASSWORDS } from "./common-passwords.ts";

/** Shorter passwords are refused (NIST SP 800-63B asks for at least 8; a gateway key is worth more than that). */
export const PASSWORD_CHARS_MIN = 10;
/** Longer ones would only let an attacker waste hashing time. */
export const PASSWORD_CHARS_MAX = 1024;
/** 64 MiB and two passes: above OWASP's minimum (19 MiB, two passes), a quarter of a second on a slow core. */
const ARGON2 = { algorithm: "argon2id", memoryCost: 65_536, timeCost: 2 } as const;
/** The prefix of our hashes; the runtime always uses one lane. */
const ARGON2_PREFIX = `$argon2id$v=19$m=${ARGON2.memoryCost},t=${ARGON2.timeCost},p=1$`;

/** The problem of a new password, as a public sentence; undefined if it is acceptable. */
export function passwordFault(password: string): string | undefined {
  const length = [...password].length;
  if (length < PASSWORD_CHARS_MIN) return `The password must have at least ${PASSWORD_CHARS_MIN} characters.`;
  if (length > PASSWORD_CHARS_MAX) return `The password must have at most ${PASSWORD_CHARS_MAX} characters.`;
  if (COMMON_PASSWORDS.has(fold(password).toLowerCase())) return "The password is too common. Choose another.";
  return undefined;
}

/** The hash to store. Takes a quarter of a second of one core, off the event loop. */
export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(fold(password), ARGON2);
}

/** Whether the password matches the stored hash. */
export function verifyPassword(password: string, hash: string): Promise<boolean> {
  return Bun.password.verify(fold(password), hash);
}

/** Whether the hash was made with other parameters than the current ones. */
export function isOutdatedHash(hash: string): boolean {
  return !hash.startsWith(ARGON2_PREFIX);
}

/** A hash that no password matches: checking against it takes as long as checking a real one. */
export function nobodysHash(): string {
  const random = () =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(32)))
      .toString("base64")
      .replace(/=+$/, "");
  return `${ARGON2_PREFIX}${random()}$${random()}`;
}

/** Keyboards compose the same character differently. */
function fold(password: string): string {
  return password.normalize("NFKC");
}
