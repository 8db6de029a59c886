// How long a message over a WebSocket may be. The runtime collects a message until it is whole, and does not tell how much of it
// has arrived. So the limit of one message falls with the number of open connections: all unfinished messages together then have
// a limit too, of which an account has the part of its connections.

/** The limits of messages, in bytes. */
export interface MessageLimits {
  /** The longest message. A connection with a longer one is closed with 1009. */
  readonly one: number;
  /** All messages that have not fully arrived. It may change. */
  all(): number;
}

const DEFAULTS: MessageLimits = { one: 64 * 1024, all: () => 256 * 1024 * 1024 };
/** A message of this length is taken however many connections are open; beyond their maximum no more are opened. */
const LEAST_BYTES = 64 * 1024;

/** Creates the share of one connection. */
export function createMessageShare(limits: MessageLimits = DEFAULTS) {
  /** The number of connections for which the limit was set: a power of two, so that it rarely changes. */
  let places = 1;
  let bytes = limits.one;
  return {
    /** The longest message now. */
    bytes: () => bytes,

    /** Whether one more connection would make the limit too small. */
    isFull: (open: number) => (open + 1) * LEAST_BYTES > Math.max(limits.all(), LEAST_BYTES),

    /** Sets the limit for a number of open connections. Returns whether it has changed. */
    changes(open: number): boolean {
      // It rises late, so that connections that come and go do not change it each time.
      if (open > places || open < places / 4) places = 2 ** Math.ceil(Math.log2(Math.max(1, open)));
      const share = Math.floor(limits.all() / places);
      const before = bytes;
      bytes = Math.min(limits.one, Math.max(LEAST_BYTES, share));
      return bytes !== before;
    },
  };
}
