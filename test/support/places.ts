// A limit of concurrent pages of all kinds.

/** For `createHostScheduler`. */
export function places(count: number): Record<"jobs" | "singles" | "browser", () => number> {
  return { jobs: () => count, singles: () => count, browser: () => count };
}
