// What the framework makes. It is a third of the code of others in the program, and chats do not go through its router, so this file
// is loaded with the first request that does: `router.ts`.

import { Elysia, type ElysiaConfig } from "elysia";

/** Routes, none so far. */
export function madeRouter(options: ElysiaConfig<""> = {}): Elysia {
  return new Elysia(options);
}
