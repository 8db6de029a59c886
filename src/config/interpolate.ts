// `${NAME}`, `${NAME:-default}` and `${file:/path}` in configuration texts; `$${` stands for a literal `${`. Inserted text is
// not interpolated again, so a value cannot refer to another.

/** The sources of interpolation. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file; throws if it cannot be read. Paths are used as written. */
  readFile(path: string): string;
}

/** The result. */
export interface Interpolated {
  readonly text: string;
  /** Whether something was inserted. */
  readonly changed: boolean;
  /** Whether the inserted text may be a secret: from a file, or a variable with such a name. */
  readonly secret: boolean;
}

const SECRET_NAME = /KEY|SECRET|TOKEN|PASS|CREDENTIAL|AUTH/i;

/** Inserts the values. Returns the reason as a string if that is impossible. */
export function interpolate(text: string, surroundings: Surroundings): Interpolated | string {
  if (!text.includes("${")) return { text, changed: false, secret: false };
  let out = "";
  let at = 0;
  let changed = false;
  let secret = false;
  for (;;) {
    const opening = text.indexOf("${", at);
    if (opening < 0) return { text: out + text.slice(at), changed, secret };
    if (text[opening - 1] === "$" && opening > at) {
      out += `${text.slice(at, opening - 1)}\${`;
      at = opening + 2;
      continue;
    }
    const close = text.indexOf("}", opening);
    if (close < 0) return "an unclosed ${";
    const found = lookUp(text.slice(opening + 2, close), surroundings);
    if (typeof found === "string") return found;
    out += text.slice(at, opening) + found.value;
    changed = true;
    secret ||= found.secret;
    at = close + 1;
  }
}

/** Why a file cannot be read, in words. */
export function unreadable(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "the user that runs this program may not read it";
  return error instanceof Error ? error.message : String(error);
}

function lookUp(word: string, { env, readFile }: Surroundings): { value: string; secret: boolean } | string {
  if (word.startsWith("file:")) {
    const path = word.slice("file:".length);
    try {
      // Editors and `echo` end a file with a newline that is not part of the value.
      return { value: readFile(path).replace(/\r?\n$/, ""), secret: true };
    } catch (error) {
      return `cannot read the file ${path} (${unreadable(error)})`;
    }
  }
  const match = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/.exec(word);
  const name = match?.[1];
  if (name === undefined) return `"\${${word}}" is not \${NAME}, \${NAME:-default} or \${file:/path}`;
  const secret = SECRET_NAME.test(name);
  const value = env[name];
  const fallback = match?.[2];
  // As in a shell, `:-` also replaces an empty value.
  if (fallback !== undefined) return { value: value === undefined || value === "" ? fallback : value, secret };
  return value === undefined ? `the environment variable ${name} is not set` : { value, secret };
}
