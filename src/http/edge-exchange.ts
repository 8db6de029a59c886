// The exchange of one request at the edge, as an object of one shape.

import type { FailedRoute } from "../base/attempt.ts";
import type { Tracer, TraceSpan } from "../telemetry/span.ts";
import type { BodyBudget, BodyHold } from "./body-budget.ts";
import type { Exchange, TokenMeter, WireTap } from "./exchange.ts";
import type { Peer } from "./peer.ts";
import { runAtEnd } from "./request-end.ts";

/** What exchanges need from the edge. */
export interface EdgeExchangeDeps {
  makeRequestId(): string;
  routeOf(path: string): string;
  peer(request: Request): Peer;
  /** The memory budget for bodies of all requests. */
  readonly bodies: BodyBudget;
  readonly tracer?: Tracer | undefined;
  release(request: Request): void;
  /** Called for an unexpected error. */
  unexpected(exchange: Exchange, cause: unknown): void;
  finished(exchange: Exchange, status: number): void;
}

/** The exchange of a request. */
export class EdgeExchange implements Exchange {
  readonly requestId: string;
  namesAnswer: boolean;
  readonly startedMs = performance.now();
  readonly method: string;
  readonly path: string;
  alias: Exchange["alias"] = undefined;
  readonly span: TraceSpan | undefined;
  readonly headers: Record<string, string> = {};
  holder: string | undefined = undefined;
  readonly log: Record<string, unknown> = {};
  thrown?: unknown = undefined;
  declare caller?: NonNullable<Exchange["caller"]>;
  declare wire?: WireTap;
  declare tokens?: TokenMeter;
  declare takeAnswer?: (value: object) => void;
  recorded = false;
  readonly failedRoutes: FailedRoute[] = [];
  streaming = false;
  readonly #request: Request;
  readonly #deps: EdgeExchangeDeps;
  #peer: Peer | undefined;
  #isFinished = false;
  #body: BodyHold | undefined;
  #atEnd: (() => void)[] | undefined;

  constructor(request: Request, { method, path }: { method: string; path: string }, deps: EdgeExchangeDeps) {
    this.#request = request;
    this.#deps = deps;
    this.method = method;
    this.path = path;
    const given = request.headers.get("x-request-id") || undefined;
    this.namesAnswer = given === undefined;
    this.requestId = given ?? deps.makeRequestId();
    this.span = deps.tracer?.request(`${method} ${this.route}`, request.headers, {
      "http.request.method": method,
      "http.route": this.route,
    });
  }

  get route(): string {
    return this.#deps.routeOf(this.path);
  }

  get address(): string {
    return this.#client().address;
  }

  get secure(): boolean {
    return this.#client().secure;
  }

  get isUnnamedProxy(): boolean {
    return this.#client().isUnnamedProxy;
  }

  /** Only few routes need the address, so it is looked up on demand. */
  #client(): Peer {
    this.#peer ??= this.#deps.peer(this.#request);
    return this.#peer;
  }

  holdBody(bytes: number): BodyHold | Promise<BodyHold> {
    const hold = this.#deps.bodies.hold(this.holder ?? this.address, bytes, this.#request.signal);
    return hold instanceof Promise ? hold.then((one) => this.#keep(one)) : this.#keep(hold);
  }

  #keep(hold: BodyHold): BodyHold {
    // The request may have been aborted while it waited.
    if (this.#isFinished) hold.release();
    this.#body = hold;
    return hold;
  }

  atEnd(work: () => void): void {
    if (this.#isFinished) work();
    else {
      this.#atEnd ??= [];
      this.#atEnd.push(work);
    }
  }

  #runAtEnd(work: readonly (() => void)[]): void {
    runAtEnd(work, (error) => this.#deps.unexpected(this, error));
  }

  finish(status: number): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#body?.release();
    if (this.#atEnd !== undefined) this.#runAtEnd(this.#atEnd);
    this.#deps.release(this.#request);
    this.#deps.finished(this, status);
  }
}
