// Which states of a job are not its last.

/** Queued, or worked on. */
export const OPEN_STATES = ["queued", "running"] as const;
