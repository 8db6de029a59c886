// Path patterns: `*` within a segment, `**` across, `?` one character; anchored at both ends. Matched against the path, or
// against the whole address when the pattern has a scheme. A pattern without a leading slash gets one.

/** More than this in one pattern is no pattern. */
const CHARS_MAX = 1000;

/** A test for addresses; undefined when the pattern cannot be used. */
export function compileGlob(pattern: string): ((address: string) => boolean) | undefined {
  const text = pattern.trim();
  if (text === "" || text.length > CHARS_MAX) return undefined;
  const isWhole = text.includes("://");
  const rooted = isWhole || text.startsWith("/") ? text : `/${text}`;
  const matcher = new RegExp(`^${translate(rooted)}$`);
  if (isWhole) return (address) => matcher.test(address);
  return (address) => {
    const { pathname } = new URL(address);
    return matcher.test(pathname) || matcher.test(decoded(pathname));
  };
}

/** Neighbouring stars are one: "***" and the like would make matching slow without saying more. */
function translate(glob: string): string {
  return glob
    .replace(/\*{3,}/g, "**")
    .split(/(\*\*|\*|\?)/)
    .map((part) =>
      part === "**"
        ? ".*"
        : part === "*"
          ? "[^/]*"
          : part === "?"
            ? "[^/]"
            : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
    )
    .join("");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
