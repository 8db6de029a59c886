// Which MCP servers a caller may use.

/** What a caller may use. */
export interface ServerAccess {
  readonly tier: string;
  /** The servers of its key; null: all of the plan. */
  readonly names: readonly string[] | null;
}

/** Whether a caller may use a server. */
export function isFor(
  name: string,
  { tiers }: { readonly tiers: readonly string[] },
  { tier, names }: ServerAccess,
): boolean {
  return (tiers.length === 0 || tiers.includes(tier)) && (names === null || names.includes(name));
}
