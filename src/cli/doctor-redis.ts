// Checks the Redis that nodes share, if one is configured.

import type { Config } from "../config/schema.ts";
import type { Finding } from "./doctor-provider.ts";

/** One line if `redis.url` is set. */
export async function checkRedis({ redis: { url, onFailure } }: Pick<Config, "redis">): Promise<Finding[]> {
  if (url === "") return [];
  const { connectRedis } = await import("../shared-state/redis.ts");
  let fault = "it does not answer";
  const redis = connectRedis({
    url,
    changed: () => undefined,
    problem: (error) => {
      fault = error instanceof Error ? error.message : String(error);
    },
  });
  await redis.settled();
  const isUp = redis.isUp();
  await redis.close();
  if (isUp) return [{ name: "redis", status: "ok", message: "answers; limits are shared through it" }];
  const meanwhile =
    onFailure === "local" ? "each node admits its share of a limit" : "requests are answered 503 (redis.on_failure)";
  return [
    { name: "redis", status: "failed", message: `redis.url cannot be reached: ${fault}; until then ${meanwhile}` },
  ];
}
