// A limit of concurrent pages of all kinds.

/** The same limit for jobs, single pages and the browser, for `createHostScheduler`. */
export function places(count: number): Record<"jobs" | "singles" | "browser", () => number> {
  return { jobs: () => count, singles: () => count, browser: () => count };
}
