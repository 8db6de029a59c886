// Finds the line of each key in a YAML text, to tell people where a value comes from. The runtime's parser gives no
// positions; this reads the indentation, the lists and the braces, but not the values. What it does not understand (anchors,
// merged keys) gets the line of the nearest key above.

/** A path in a parsed text: keys of groups and indexes of lists. */
export type Path = readonly (string | number)[];

/**
 * The line of a path, counted from 1. If the path has no line of its own, that of the closest group; undefined if there
 * is none.
 */
export type LineOf = (path: Path) => number | undefined;

/** Reads the lines of a text once. */
export function linesOf(text: string): LineOf {
  const found = new LineReader().read(text);
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const line = found.get(keyOf(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return undefined;
  };
}

/** A key that seems to stand a second time in its group. */
export interface RepeatedKey {
  readonly path: Path;
  /** The lines of the first and of the further one, counted from 1. */
  readonly first: number;
  readonly line: number;
}

/** The keys that seem to stand twice; outer ones come before their members. The caller confirms them with the parser. */
export function repeatedKeys(text: string): readonly RepeatedKey[] {
  const reader = new LineReader();
  reader.read(text);
  return reader.repeated;
}

const keyOf = (path: Path) => JSON.stringify(path);

/** A group or list that is open. */
interface Frame {
  /** Column of its keys or dashes; -1 within braces. */
  readonly column: number;
  readonly kind: "group" | "list";
  readonly path: Path;
  /** The key or index that was read last. */
  last: string | number;
}

const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'[\]{},&*!|>%@`-][^#]*?|-[^\s#][^#]*?)\s*:(?=\s|$)/;

class LineReader {
  readonly repeated: RepeatedKey[] = [];
  readonly #found = new Map<string, number>();
  #frames: Frame[] = [];
  /** Lines indented further than this belong to a multi-line text. */
  #textAbove: number | undefined;
  #quote: string | undefined;
  #braces: Frame[] = [];
  #line = 0;

  read(text: string): ReadonlyMap<string, number> {
    for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
      this.#line++;
      this.#readLine(line);
    }
    return this.#found;
  }

  #readLine(line: string): void {
    if (this.#braces.length > 0 || this.#quote !== undefined) {
      this.#readInside(line);
      return;
    }
    let column = line.length - line.trimStart().length;
    let rest = line.slice(column);
    if (rest === "") return;
    if (this.#textAbove !== undefined && column > this.#textAbove) return;
    this.#textAbove = undefined;
    if (rest.startsWith("#") || /^(?:---|\.\.\.)(?:\s|$)/.test(rest) || rest.startsWith("%")) return;
    for (let dash = /^-(?:\s+|$)/.exec(rest); dash !== null; dash = /^-(?:\s+|$)/.exec(rest)) {
      this.#item(column);
      column += dash[0].length;
      rest = rest.slice(dash[0].length);
    }
    const key = KEY.exec(rest);
    if (key !== null) this.#key(unquoted(key[1] ?? ""), column);
    this.#value(key === null ? rest : rest.slice(key[0].length), key === null ? column - 1 : column);
  }

  #item(column: number): void {
    this.#close((frame) => frame.column > column);
    const top = this.#frames.at(-1);
    if (top?.kind === "list" && top.column === column) top.last = Number(top.last) + 1;
    else this.#frames.push({ column, kind: "list", path: inside(top), last: 0 });
    this.#note(this.#frames.at(-1));
  }

  #key(name: string, column: number): void {
    // A list may start in the column of its key.
    this.#close((frame) => frame.column > column || (frame.column === column && frame.kind === "list"));
    const top = this.#frames.at(-1);
    if (top?.kind === "group" && top.column === column) top.last = name;
    else this.#frames.push({ column, kind: "group", path: inside(top), last: name });
    this.#note(this.#frames.at(-1));
  }

  #close(isOver: (frame: Frame) => boolean): void {
    for (let top = this.#frames.at(-1); top !== undefined && isOver(top); top = this.#frames.at(-1)) this.#frames.pop();
  }

  #note(frame: Frame | undefined): void {
    if (frame === undefined) return;
    const path = inside(frame);
    const key = keyOf(path);
    const first = this.#found.get(key);
    if (first === undefined) this.#found.set(key, this.#line);
    else if (frame?.kind === "group") this.repeated.push({ path, first, line: this.#line });
  }

  /** What follows a key or a dash. */
  #value(text: string, column: number): void {
    const value = text.trimStart().replace(/^(?:[&!]\S*\s+)+/, "");
    if (/^[|>][-+0-9]*\s*(?:#.*)?$/.test(value)) this.#textAbove = column;
    else if (/^[[{"']/.test(value)) this.#readInside(value);
  }

  /** Within braces or quotes, where indentation is irrelevant. */
  #readInside(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const char = text[at] ?? "";
      if (this.#quote !== undefined) {
        if (char === "\\" && this.#quote === '"') at++;
        else if (char === this.#quote) this.#quote = undefined;
        continue;
      }
      const top = this.#braces.at(-1);
      if (top === undefined && at > 0) return;
      if (char === "{" || char === "[") {
        const path = inside(top ?? this.#frames.at(-1));
        this.#braces.push({ column: -1, kind: char === "{" ? "group" : "list", path, last: 0 });
        if (char === "[") this.#note(this.#braces.at(-1));
      } else if (char === "}" || char === "]") {
        this.#braces.pop();
      } else if (char === "," && top?.kind === "list") {
        top.last = Number(top.last) + 1;
        this.#note(top);
      } else if (char === "#" && /\s/.test(text[at - 1] ?? " ")) {
        return;
      } else if (top?.kind === "group" && /[^\s,:]/.test(char) && /(?:^|[{,])\s*$/.test(text.slice(0, at))) {
        const key = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,:{}[\]][^,:{}[\]]*?)\s*:/.exec(text.slice(at));
        if (key === null) continue;
        top.last = unquoted(key[1] ?? "");
        this.#note(top);
        at += key[0].length - 1;
      } else if (char === '"' || char === "'") {
        this.#quote = char;
      }
    }
  }
}

function inside(frame: Frame | undefined): Path {
  return frame === undefined ? [] : [...frame.path, frame.last];
}

function unquoted(key: string): string {
  if (key.startsWith('"')) {
    try {
      return String(JSON.parse(key));
    } catch {
      return key;
    }
  }
  return key.startsWith("'") ? key.slice(1, -1).replaceAll("''", "'") : key;
}
