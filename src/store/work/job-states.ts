// The states of a job that are not final.

/** Queued or running. */
export const OPEN_STATES = ["queued", "running"] as const;
