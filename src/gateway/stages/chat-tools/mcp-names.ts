// The names under which a model knows the tools of MCP servers.

/** The longest name of a function that every provider takes. */
const NAME_CHARS_MAX = 64;

/** `SERVER__tool` in the characters that every provider takes; a longer or illegal name is cut with a hash. */
export function functionName(label: string, tool: string, taken: ReadonlySet<string>): string {
  const whole = `${label}__${tool}`;
  const legal = whole.replace(/[^A-Za-z0-9_-]/g, "_");
  const isWhole = legal === whole && whole.length <= NAME_CHARS_MAX && /^[A-Za-z_]/.test(whole);
  if (isWhole && !taken.has(whole)) return whole;
  const hash = Bun.hash.xxHash32(whole).toString(16).padStart(8, "0");
  return `mcp_${legal.slice(0, NAME_CHARS_MAX - 13)}_${hash}`;
}
