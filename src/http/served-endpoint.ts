// An endpoint as one value: its route, who may call it, what it does, and its description. The routes and the OpenAPI document
// follow from a room's list of them.

import type { AtOnce } from "../base/at-once.ts";
import { lazily } from "../base/lazily.ts";
import type { DirectRoute } from "./edge.ts";
import type { Access, ApiEndpoint } from "./endpoint.ts";
import { createRouter } from "./router.ts";

/** What is said of an endpoint besides its route and who may call it. */
export type EndpointText = Omit<ApiEndpoint, "method" | "path" | "access">;

/** The same without the name of the operation, under which a file of descriptions lists it. */
export type NamelessText = Omit<EndpointText, "id">;

/** The names of the parameters of a path, such as `id` of `/v1/crawl/:id`. */
type Names<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** A request to an endpoint. */
export interface EndpointCall<Path extends string = string> {
  readonly request: Request;
  /** The parts of the path that its parameters stand for. */
  readonly params: Readonly<Record<Names<Path>, string>>;
}

/** An endpoint. `Deps`: what the endpoints of its room need from the rest of the program. */
export interface ServedEndpoint<Deps, Path extends string = string>
  extends Pick<ApiEndpoint, "method" | "path" | "access"> {
  /** Answers a request. */
  handle(deps: Deps, call: EndpointCall<Path>): Response | Promise<Response>;
  /** The description. A function, since only readers of the documentation need its schemas. */
  describe(): EndpointText;
}

/** Makes endpoints of one access: `enter` lets the caller in or throws, and the handler gets whom it let in. */
export function endpointsBehind<Deps, Caller>(
  access: Exclude<Access, "open">,
  enter: (deps: Deps, request: Request) => AtOnce<Caller>,
) {
  return <Path extends string>(
    method: ApiEndpoint["method"],
    path: Path,
    {
      handle,
      describe,
    }: Pick<ServedEndpoint<Deps>, "describe"> & {
      handle(deps: Deps, call: EndpointCall<Path> & { readonly caller: Caller }): Response | Promise<Response>;
    },
  ): ServedEndpoint<Deps> => ({
    ...{ method, path, access, describe },
    handle: async (deps, { request, params }: EndpointCall<Path>) =>
      handle(deps, { request, params, caller: await enter(deps, request) }),
  });
}

/** An endpoint for everyone. */
export function openEndpoint<Deps, Path extends string>(
  method: ApiEndpoint["method"],
  path: Path,
  how: Pick<ServedEndpoint<Deps, Path>, "handle" | "describe">,
): ServedEndpoint<Deps> {
  return { method, path, access: "open", ...how };
}

/** An endpoint for callers with a key, whom its handler lets in itself, since how it does depends on the request. */
export function admittingEndpoint<Deps, Path extends string>(
  access: Exclude<Access, "open">,
  method: ApiEndpoint["method"],
  path: Path,
  how: Pick<ServedEndpoint<Deps, Path>, "handle" | "describe">,
): ServedEndpoint<Deps> {
  return { method, path, access, ...how };
}

/**
 * Finds descriptions by the names of their operations. `load` requires the file in which they stand: it is loaded for readers of
 * the documentation only.
 */
export function describedBy<Texts extends Readonly<Record<string, NamelessText>>>(load: () => Texts) {
  return (id: keyof Texts & string) => (): EndpointText => ({ id, ...(load()[id] as NamelessText) });
}

/**
 * The routes of endpoints, made when they are first asked for. The handlers read bodies themselves, after they know the caller: 401
 * comes before 400.
 */
export function endpointRoutes<Deps>(endpoints: readonly ServedEndpoint<Deps>[], deps: Deps) {
  return lazily(() => {
    const routes = createRouter();
    for (const endpoint of endpoints) {
      routes.route(
        endpoint.method,
        endpoint.path,
        // The router prepares only what is named here.
        ({ request, params }: EndpointCall) => endpoint.handle(deps, { request, params }),
        { parse: "none" },
      );
    }
    return routes;
  });
}

/** The answers of some endpoints without parameters to requests that do not go through the router, by their paths. */
export function directAnswers<Deps>(
  endpoints: readonly ServedEndpoint<Deps>[],
  deps: Deps,
  paths: readonly string[],
): Map<string, DirectRoute> {
  const answers = new Map<string, DirectRoute>();
  for (const { path, handle } of endpoints) {
    if (paths.includes(path)) answers.set(path, async (request) => handle(deps, { request, params: {} }));
  }
  return answers;
}

/** The endpoints as the documentation describes them. */
export function descriptionsOf(
  endpoints: readonly Pick<ServedEndpoint<never>, "method" | "path" | "access" | "describe">[],
): ApiEndpoint[] {
  return endpoints.map(({ method, path, access, describe }) => ({ method, path, access, ...describe() }));
}
