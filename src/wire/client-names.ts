// What the parameters of a request are called in the client's own format: the names in `x-sallyport-dropped` and in the
// `param` of refusals. Dialects use the names of chat completions.

import { isFields } from "./check.ts";

/** Where a parameter may stand, as paths into the body; "": it is told only when one of the other paths is there. */
export type ClientNames = Readonly<Record<string, readonly string[]>>;

/** What a format says of its names. */
export interface NamedFormat {
  /** The member that holds the turns; dialects call it `messages`. */
  readonly turns: string;
  readonly names: ClientNames;
}

type Body = Readonly<Record<string, unknown>>;

/** The client's name for a parameter; undefined for one that the client never sent. */
export function clientName({ turns, names }: NamedFormat, name: string, body: Body): string | undefined {
  if (turns !== "messages" && (name === "messages" || name.startsWith("messages."))) {
    return `${turns}${name.slice("messages".length)}`;
  }
  const candidates = names[name];
  if (candidates === undefined) return name;
  return candidates.find((path) => path !== "" && isThere(body, path)) ?? (candidates.at(-1) || undefined);
}

function isThere(body: Body, path: string): boolean {
  let value: unknown = body;
  for (const key of path.split(".")) value = isFields(value) ? value[key] : undefined;
  return value !== undefined && value !== null;
}

/** The path of a piece that stands somewhere in the body, by identity; undefined when it is not there. */
export function locate(piece: object, body: unknown, path = ""): string | undefined {
  if (body === piece) return path;
  if (Array.isArray(body)) {
    for (const [i, element] of body.entries()) {
      const found = typeof element === "object" ? locate(piece, element, `${path}[${i}]`) : undefined;
      if (found !== undefined) return found;
    }
  } else if (isFields(body)) {
    for (const [key, value] of Object.entries(body)) {
      if (typeof value !== "object") continue;
      const found = locate(piece, value, path === "" ? key : `${path}.${key}`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
