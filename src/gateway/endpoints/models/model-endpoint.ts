// Serves the endpoints of models that do not chat: admission, plan, budget, routes with fallback and breakers, and the usage row
// work as for a chat. The body is forwarded unchanged except for the model, and the answer likewise.

import { ApiError } from "../../../base/errors.ts";
import type { JsonObject, ModelEndpoint } from "../../../catalog/endpoints/endpoint.ts";
import type { CatalogModel, ModelRoute } from "../../../catalog/models.ts";
import { requireModel } from "../../../catalog/resolve.ts";
import { readJsonBody } from "../../../http/body.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import type { Spools } from "../../../http/spool.ts";
import { openUpload, type Upload } from "../../../http/upload.ts";
import { tryRoutes } from "../../calls/attempts.ts";
import { withinDeadline } from "../../calls/request-deadline.ts";
import { callTraceOf } from "../../calls/route-call.ts";
import { headerText } from "../../centre/answer.ts";
import type { LookedUp, TextCache } from "../../stages/cache/deps.ts";
import { worstCostMicros } from "../../usage/worst-case.ts";
import { askRoute, hasEndpoint } from "./endpoint-call.ts";
import type { Asked, EndpointDeps } from "./endpoint-request.ts";

interface ModelEndpointDeps extends EndpointDeps {
  spools: Spools;
  /** Maximum number of bytes of a form. */
  uploadBytesMax(): number;
  /** Answers equal requests for embeddings. */
  cached: TextCache;
}

/** The request's content. */
interface Sent {
  readonly text: string;
  readonly body: JsonObject;
  readonly upload?: Upload;
}

/** Creates the function that answers requests to a model endpoint. */
export function createModelEndpoint(deps: ModelEndpointDeps) {
  return async (request: Request, endpoint: ModelEndpoint): Promise<Response> => {
    const exchange = exchangeOf(request);
    const caller = await deps.admit(request, exchange);
    const sent = endpoint.file === undefined ? await readJsonBody(request, deps.bodyLimits()) : undefined;
    const { text, body, upload }: Sent = sent ?? (await readForm(deps, request, endpoint.file as string));
    if (upload !== undefined) exchange.atEnd(() => void upload.close());
    const id = body["model"];
    if (typeof id !== "string" || id === "") {
      throw new ApiError("invalid_request", "'model' must be the id of a model.", { param: "model" });
    }
    endpoint.check(body);
    const { model, routes } = requireModel(deps.catalog(), id, {
      tier: caller.account.tier,
      models: caller.models,
      isDecisionModel: deps.isDecisionModel,
      kind: endpoint.kind,
    });
    exchange.log["model"] = model.id;
    exchange.headers["x-sallyport-model"] = headerText(model.id);
    const able = routesThatHave(deps, endpoint, { model, routes });
    const looked =
      endpoint.isRepeatable === true ? deps.cached({ request, caller, model: model.id, text, body }) : undefined;
    const { hit, keep }: LookedUp = looked === undefined ? {} : await looked;
    if (hit !== undefined) return hit;
    const measured = endpoint.measure(body);
    if (caller.budgets !== undefined) {
      const bytes = upload?.declaredBytes ?? deps.uploadBytesMax();
      const worst = endpoint.worst?.(body, bytes) ?? measured;
      const micros = model.prices === undefined ? 0 : worstCostMicros(model.prices, worst);
      await deps.budgets.reserve(caller.budgets, exchange, micros);
    }
    const asked = { request, endpoint, exchange, caller, model, text, body, measured, upload };
    const response = answer(deps, able, asked);
    return keep === undefined ? response : keep(await response);
  };
}

/** Reads the fields of a form before its first file. Throws 400 if the file is missing. */
async function readForm(
  deps: Pick<ModelEndpointDeps, "spools" | "uploadBytesMax">,
  request: Request,
  file: string,
): Promise<Sent> {
  const limits = { maxBytes: deps.uploadBytesMax() };
  const upload = await openUpload(request, deps.spools, { field: "model", limits });
  if (!upload.files.some((name) => name === file || name === `${file}[]`)) {
    await upload.close();
    throw new ApiError("invalid_request", `'${file}' must be a file of the form.`, { param: file });
  }
  const named = exchangeOf(request).alias?.model;
  const fields = [...upload.fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
  return {
    text: "",
    body: { ...Object.fromEntries(fields), ...(named === undefined ? {} : { model: named }) },
    upload,
  };
}

/** The routes whose provider has the endpoint. Throws 400 if there are none. */
function routesThatHave(
  deps: EndpointDeps,
  endpoint: ModelEndpoint,
  { model, routes }: { model: CatalogModel; routes: readonly ModelRoute[] },
): readonly ModelRoute[] {
  const able = routes.filter((route) => {
    const provider = deps.provider(route.provider);
    return provider !== undefined && hasEndpoint(endpoint, provider);
  });
  if (able.length > 0) return able;
  const message = `No provider of the model "${model.id}" supports ${endpoint.path}.`;
  throw new ApiError("wrong_model_family", message, { param: "model" });
}

function answer(deps: EndpointDeps, routes: readonly ModelRoute[], asked: Asked): Promise<Response> {
  const { exchange, endpoint, request } = asked;
  return withinDeadline(request, deps.requestTimeoutMs(), (deadline) =>
    tryRoutes(routes, deps, {
      signal: deadline.signal,
      remainingMs: deadline.remainingMs,
      attempt: (attempt) => askRoute(deps, attempt, asked, deadline),
      account: asked.caller.accountId,
      trace: {
        ...callTraceOf(request, exchange),
        operation: endpoint.operation,
      },
    }),
  );
}
