// The statements of the verbs in PostgreSQL's words. They are written in what both engines read, so that little is left: how
// values are named, what sorts text by its bytes, and that a column in a conflict's target stands without its table.

/** A statement as PostgreSQL takes it, and the name of each value where they have names. */
export interface Translated {
  readonly text: string;
  readonly names: readonly string[] | undefined;
}

/** Texts of statements are few; lists of values make some more. */
const KNOWN_MAX = 2000;
const known = new Map<string, Translated>();

/** The statement in PostgreSQL's words. */
export function translated(statement: string): Translated {
  let found = known.get(statement);
  if (found === undefined) {
    found = translate(statement);
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(statement, found);
  }
  return found;
}

// Literals and quoted names stay as they are.
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?|\$[A-Za-z]\w*/g;

function translate(statement: string): Translated {
  const names: string[] = [];
  let marks = 0;
  const numbered = statement.replace(TOKEN, (token) => {
    if (token === "?") return `$${++marks}`;
    if (!token.startsWith("$")) return token;
    const name = token.slice(1);
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  const text = numbered
    .replaceAll("COLLATE BINARY", 'COLLATE "C"')
    .replace(
      /(on conflict \()((?:"\w+"\."\w+"(?:, )?)+)(\))/gi,
      (_all, start: string, columns: string, end: string) => {
        return start + columns.replace(/"\w+"\.("\w+")/g, "$1") + end;
      },
    );
  return { text, names: names.length > 0 ? names : undefined };
}
