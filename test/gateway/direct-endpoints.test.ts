// Endpoints of models go past the router as chats do, and their tokens are only counted where nobody reported them.

import { expect, test } from "bun:test";
import { inputOf } from "../../src/catalog/endpoints/endpoint-usage.ts";
import { MODEL_ENDPOINTS } from "../../src/catalog/endpoints/index.ts";
import { directRoutes, type GatewayRoutesDeps } from "../../src/gateway/routes.ts";
import { JsonText } from "../../src/http/edge.ts";

const refused = new Error("refused");
const asked: string[] = [];
const routes = directRoutes({
  gateway: {} as GatewayRoutesDeps["gateway"],
  modelEndpoint: {
    handle: () => Promise.reject(new Error("this is the way through the router")),
    answer({ headers }, { path }, listener) {
      asked.push(path);
      if (headers.has("refuse")) listener.failed(refused);
      else
        listener.answered(new JsonText([Buffer.from(`{"path":`), Buffer.from(JSON.stringify(path)), Buffer.from("}")]));
    },
  },
});

function told(path: string, headers: Record<string, string> = {}): Promise<unknown> {
  return new Promise((answered, failed) =>
    routes.get(path)?.(new Request(`http://localhost${path}`, { method: "POST", headers }), { answered, failed }),
  );
}

test("each endpoint of models is answered past the router", async () => {
  expect(MODEL_ENDPOINTS.length).toBeGreaterThan(5);
  for (const { path } of MODEL_ENDPOINTS) {
    const answer = (await told(path)) as JsonText;
    expect(await answer.response().json()).toEqual({ path });
    expect(await told(path, { refuse: "1" }).catch((error: unknown) => error)).toBe(refused);
  }
  expect(new Set(asked)).toEqual(new Set(MODEL_ENDPOINTS.map(({ path }) => path)));
});

test("tokens of a request are counted when they are asked for, once", () => {
  let counted = 0;
  const input = inputOf(() => {
    counted++;
    return 7;
  });
  expect([input.outputTokens, counted]).toEqual([0, 0]);
  expect([input.inputTokens, input.inputTokens, { ...input }.inputTokens, counted]).toEqual([7, 7, 7, 1]);
});
