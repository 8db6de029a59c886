// Names of models, keys and tools by patterns of the configuration, in which `*` stands for any text.

/**
 * The expression of a pattern. What stands before each part but the last is taken at its first place and never given back: a later
 * place leaves less for the rest. So the time is linear in the name, which is a stranger's. With the flag `s`, `*` crosses lines.
 */
export function nameGlob(pattern: string, flags: "" | "is"): RegExp {
  const [first = "", ...others] = pattern.split("*").map((part) => RegExp.escape(part));
  const last = others.pop();
  const between = others.map((part, index) => `(?=(.*?${part}))\\${index + 1}`).join("");
  return new RegExp(`^${first}${between}${last === undefined ? "" : `.*${last}`}$`, flags);
}
