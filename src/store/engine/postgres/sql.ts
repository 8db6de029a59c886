// Translates the verbs' statements for PostgreSQL. They are written in SQL that both engines accept, so few differences
// remain: the naming of values, sorting text by its bytes, and columns without their table in a conflict's target.

/** A statement in PostgreSQL's form, with the name of each value where values have names. */
export interface Translated {
  readonly text: string;
  readonly names: readonly string[] | undefined;
}

/** There are few different statements; lists of values add some more. */
const KNOWN_MAX = 2000;
const known = new Map<string, Translated>();

/** The statement in PostgreSQL's form. */
export function translated(statement: string): Translated {
  let found = known.get(statement);
  if (found === undefined) {
    found = translate(statement);
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(statement, found);
  }
  return found;
}

// Literals and quoted names stay unchanged.
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?\d*|\$[A-Za-z]\w*/g;

function translate(statement: string): Translated {
  const names: string[] = [];
  let marks = 0;
  const numbered = statement.replace(TOKEN, (token) => {
    if (token === "?") return `$${++marks}`;
    // A value that has a number may stand at several places.
    if (token.startsWith("?")) return `$${token.slice(1)}`;
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
