// Password hashes. argon2id with the runtime's parameters, which are in the hash, so that they can change later.

/** Shorter passwords are refused (NIST SP 800-63B asks for at least 8; a gateway key is worth more than that). */
const PASSWORD_CHARS_MIN = 10;
/** Longer ones would only buy hashing time for an attacker. */
const PASSWORD_CHARS_MAX = 1024;

/** What is wrong with a new password, as one public sentence; undefined when it will do. */
export function passwordFault(password: string): string | undefined {
  const length = [...password].length;
  if (length < PASSWORD_CHARS_MIN) return `The password must have at least ${PASSWORD_CHARS_MIN} characters.`;
  if (length > PASSWORD_CHARS_MAX) return `The password must have at most ${PASSWORD_CHARS_MAX} characters.`;
  return undefined;
}

/** The hash to store. Takes a quarter of a second of one core, off the event loop. */
export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password.normalize("NFKC"), { algorithm: "argon2id" });
}

/** Does the password belong to the stored hash? */
export function verifyPassword(password: string, hash: string): Promise<boolean> {
  return Bun.password.verify(password.normalize("NFKC"), hash);
}
