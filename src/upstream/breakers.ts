// The breakers of all providers. Each provider has one for connections, and one for each of its models: a failure to connect
// concerns all models, an answer with 5xx or a time-out only the model that was asked.

import type { AtOnce } from "../base/at-once.ts";
import type { Clock } from "../base/clock.ts";
import {
  Breaker,
  type BreakerSettings,
  type BreakerSnapshot,
  type BreakerState,
  type CallOutcome,
  type JoinBreaker,
  type Permit,
} from "./breaker.ts";

/** The state of a provider: the worst of its own and its models'. */
export interface ProviderSnapshot extends BreakerSnapshot {
  /** The states of the models that were called, where they differ; else empty. */
  readonly models: ReadonlyMap<string, BreakerSnapshot>;
}

/** The breaker of a route: those of the provider and of the model in one. */
export class RouteBreaker {
  readonly #provider: Breaker;
  readonly model: Breaker;

  constructor(provider: Breaker, model: Breaker) {
    this.#provider = provider;
    this.model = model;
  }

  get state(): BreakerState {
    return worse(this.#provider.state, this.model.state);
  }

  /** Whether a call for this account would be refused now. */
  refuses(account: string): boolean {
    return this.#provider.refuses() || this.model.refuses(account);
  }

  /** Milliseconds until a call may be permitted. */
  waitMs(account: string): number {
    return Math.max(this.#provider.waitMs(), this.model.waitMs(account));
  }

  /** Permission for a call; undefined if a breaker refuses it. Only asynchronous if other nodes are asked. */
  acquire(account: string): AtOnce<Permit | undefined> {
    if (this.refuses(account)) return undefined;
    const provider = this.#provider.acquireOfAll();
    return provider instanceof Promise ? this.#later(provider, account) : this.#withModel(provider, account);
  }

  async #later(provider: Promise<Permit | undefined>, account: string): Promise<Permit | undefined> {
    return this.#withModel(await provider, account);
  }

  #withModel(provider: Permit | undefined, account: string): AtOnce<Permit | undefined> {
    if (provider === undefined) return undefined;
    const model = this.model.acquireOfAll(account);
    return model instanceof Promise ? bothLater(provider, model) : bothOf(provider, model);
  }
}

async function bothLater(provider: Permit, model: Promise<Permit | undefined>): Promise<Permit | undefined> {
  return bothOf(provider, await model);
}

function bothOf(provider: Permit, model: Permit | undefined): Permit | undefined {
  if (model !== undefined) return new RoutePermit(provider, model);
  provider.settle("unknown");
  return undefined;
}

class RoutePermit implements Permit {
  readonly #provider: Permit;
  readonly #model: Permit;

  constructor(provider: Permit, model: Permit) {
    this.#provider = provider;
    this.#model = model;
  }

  settle(outcome: CallOutcome): void {
    // Whoever answers, well or badly, can be reached; a model that nobody asked shows nothing.
    this.#provider.settle(outcome === "failed" ? "ok" : outcome);
    this.#model.settle(outcome === "unreachable" ? "unknown" : outcome);
  }
}

interface Group {
  readonly own: Breaker;
  readonly routes: Map<string, RouteBreaker>;
}

/** The number of models for which a provider has breakers; beyond it, those without failures are dropped. */
const MODELS_MAX = 2000;

/** The breakers of all providers, by name and model. */
export class Breakers {
  readonly #groups = new Map<string, Group>();
  readonly #clock: Clock;
  readonly #changed: (provider: string, state: BreakerState, model?: string) => void;
  readonly #join: JoinBreaker | undefined;

  /** `join` connects the breakers with those of other nodes. */
  constructor(
    clock: Clock,
    changed: (provider: string, state: BreakerState, model?: string) => void = () => {},
    join: JoinBreaker | undefined = undefined,
  ) {
    this.#clock = clock;
    this.#changed = changed;
    this.#join = join;
  }

  /** Applies a new configuration: known providers keep their state, new ones start closed, removed ones are dropped. */
  configure(settings: ReadonlyMap<string, BreakerSettings>): void {
    for (const [name, group] of this.#groups) {
      if (settings.has(name)) continue;
      this.#groups.delete(name);
      for (const breaker of breakersOf(group)) breaker.peers?.leave();
    }
    for (const [name, own] of settings) {
      const known = this.#groups.get(name);
      if (known === undefined) this.#groups.set(name, { own: this.#add(name, own), routes: new Map() });
      else for (const breaker of breakersOf(known)) breaker.settings = own;
    }
  }

  #add(provider: string, settings: BreakerSettings, model?: string): Breaker {
    const breaker = new Breaker(settings, this.#clock, (state) => this.#changed(provider, state, model));
    breaker.peers = this.#join?.(model === undefined ? provider : `${provider}/${model}`, breaker);
    return breaker;
  }

  /** The breaker of a provider's model; undefined if the provider is not configured or is built in. */
  of(provider: string, model: string): RouteBreaker | undefined {
    const group = this.#groups.get(provider);
    if (group === undefined) return undefined;
    const known = group.routes.get(model);
    if (known !== undefined) return known;
    if (group.routes.size >= MODELS_MAX) dropIdle(group.routes);
    const made = new RouteBreaker(group.own, this.#add(provider, group.own.settings, model));
    group.routes.set(model, made);
    return made;
  }

  /** Makes the breaker of this shared name, which is open on another node; nothing for a provider that is not configured. */
  know(name: string): void {
    const provider = [...this.#groups.keys()].find((one) => name.startsWith(`${one}/`));
    if (provider !== undefined) this.of(provider, name.slice(provider.length + 1));
  }

  /** The state of a provider's model, without making a breaker for it. */
  stateOf(provider: string, model: string): BreakerState | undefined {
    const group = this.#groups.get(provider);
    return group?.routes.get(model)?.state ?? group?.own.state;
  }

  /** Closes all breakers of a provider; false if it has none. */
  reset(provider: string): boolean {
    const group = this.#groups.get(provider);
    if (group === undefined) return false;
    for (const breaker of breakersOf(group)) breaker.reset();
    return true;
  }

  snapshot(): Map<string, ProviderSnapshot> {
    return new Map([...this.#groups].map(([name, group]) => [name, snapshotOf(group)]));
  }
}

function breakersOf({ own, routes }: Group): Breaker[] {
  return [own, ...[...routes.values()].map(({ model }) => model)];
}

function snapshotOf({ own, routes }: Group): ProviderSnapshot {
  const provider = own.snapshot();
  // A provider that cannot be reached is open for all its models.
  const models = [...routes].map(([name, { model }]) => {
    const one = model.snapshot();
    return [name, RANK[provider.state] > RANK[one.state] ? { ...one, state: provider.state } : one] as const;
  });
  const all = [provider, ...models.map(([, one]) => one)];
  const worst = all.reduce((a, b) => (RANK[b.state] > RANK[a.state] ? b : a));
  const differ = all.some(({ state }) => state !== worst.state);
  return {
    state: worst.state,
    failures: all.reduce((sum, { failures }) => sum + failures, 0),
    openedAtMs: worst.openedAtMs,
    models: new Map(differ ? models : []),
  };
}

const RANK: Readonly<Record<BreakerState, number>> = { closed: 0, half_open: 1, open: 2 };

function worse(a: BreakerState, b: BreakerState): BreakerState {
  return RANK[b] > RANK[a] ? b : a;
}

/** Drops breakers that know of no failure. */
function dropIdle(routes: Map<string, RouteBreaker>): void {
  for (const [name, { model }] of routes) {
    const { state, failures } = model.snapshot();
    if (state !== "closed" || failures > 0) continue;
    model.peers?.leave();
    routes.delete(name);
  }
}
