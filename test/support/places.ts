// This many places for pages of any kind.

/** For `createHostScheduler`. */
export function places(count: number): Record<"jobs" | "singles" | "browser", () => number> {
  return { jobs: () => count, singles: () => count, browser: () => count };
}
