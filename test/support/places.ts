// So many places for pages of either kind.

/** For `createManners`. */
export function places(count: number): Record<"jobs" | "singles", () => number> {
  return { jobs: () => count, singles: () => count };
}
