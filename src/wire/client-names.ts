// Parameter names in the client's own format, for `x-sallyport-dropped` and for the `param` of errors. Dialects use the names of
// chat completions.

import { isRecord } from "../base/json-object.ts";

/** The paths in the body at which each parameter may be. With "", it is only reported if one of its other paths exists. */
export type ClientNames = Readonly<Record<string, readonly string[]>>;

/** The parameter names of a format. */
export interface NamedFormat {
  /** The member with the turns, which dialects call `messages`. */
  readonly turns: string;
  readonly names: ClientNames;
}

type Body = Readonly<Record<string, unknown>>;

/** The client's name for a parameter; undefined if the client did not send it. */
export function clientName({ turns, names }: NamedFormat, name: string, body: Body): string | undefined {
  if (turns !== "messages" && (name === "messages" || name.startsWith("messages."))) {
    return `${turns}${name.slice("messages".length)}`;
  }
  // The client chose the name, which may be one that every object has.
  const candidates = Object.hasOwn(names, name) ? names[name] : undefined;
  if (candidates === undefined) return name;
  return candidates.find((path) => path !== "" && isThere(body, path)) ?? (candidates.at(-1) || undefined);
}

function isThere(body: Body, path: string): boolean {
  let value: unknown = body;
  for (const key of path.split(".")) value = isRecord(value) ? value[key] : undefined;
  return value !== undefined && value !== null;
}

/** The path of a part of the body, found by its identity; undefined if it is not in the body. */
export function locate(piece: object, body: unknown, path = ""): string | undefined {
  if (body === piece) return path;
  if (Array.isArray(body)) {
    for (const [i, element] of body.entries()) {
      const found = typeof element === "object" ? locate(piece, element, `${path}[${i}]`) : undefined;
      if (found !== undefined) return found;
    }
  } else if (isRecord(body)) {
    for (const [key, value] of Object.entries(body)) {
      if (typeof value !== "object") continue;
      const found = locate(piece, value, path === "" ? key : `${path}.${key}`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/**
 * The path of the part that contains a text, such as the URL or the data of a file; undefined if it is not in the body. A data URL
 * contains its data.
 */
export function locateText(text: string, body: unknown): string | undefined {
  const path = text === "" ? undefined : pathOfText(text, body, "");
  // The part is the innermost element of a list.
  return path?.slice(0, path.lastIndexOf("]") + 1) || path;
}

function pathOfText(text: string, value: unknown, path: string): string | undefined {
  if (typeof value === "string") return value.length >= text.length && value.endsWith(text) ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    const found = pathOfText(text, inner, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
