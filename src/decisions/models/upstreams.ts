// The providers of decision models: the chat providers, and those that only answer decisions. They are created from the
// configuration, and again when it changes.

import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/schema.ts";
import { type AttemptDeps, tryRoutes } from "../../gateway/calls/attempts.ts";
import { fetchAnswer } from "../../upstream/ask.ts";
import type { UpstreamRequest } from "../../upstream/dialect.ts";
import { openaiChat } from "../../upstream/dialects/openai-chat/dialect.ts";
import type { Provider } from "../../upstream/provider.ts";
import { AnswerBreakers } from "../backends/answer-breaker.ts";
import type { BackendSpec, Upstream } from "../backends/backend.ts";
import { type CallDeadline, decisionProvider, upstreamOf } from "../backends/calls.ts";

export interface DecisionUpstreamsDeps extends Omit<AttemptDeps, "provider"> {
  config(): Config;
  /** Finds a chat provider by its name. */
  chatProvider(name: string): Provider | undefined;
  clock: Clock;
}

/** The upstreams of all decision models. */
export interface DecisionUpstreams {
  /** Opens the upstreams of a version for one request. */
  open(spec: BackendSpec, deadline: CallDeadline): Upstream;
  /** The providers that only answer decisions, in the order of the configuration. */
  own(): ReadonlyMap<string, Provider>;
  /** Applies the current configuration. */
  reconfigure(): void;
}

/** Creates the providers. Nothing is called yet. */
export function createUpstreams(deps: DecisionUpstreamsDeps): DecisionUpstreams {
  let own = new Map<string, Provider>();
  const reconfigure = () => {
    own = new Map();
    for (const entry of deps.config().providers) {
      const provider = decisionProvider(entry, openaiChat);
      if (provider !== undefined) own.set(entry.name, provider);
    }
  };
  reconfigure();
  const attempts: AttemptDeps = { ...deps, provider: (name) => own.get(name) ?? deps.chatProvider(name) };

  const send = async (provider: Provider, request: UpstreamRequest, signal: AbortSignal): Promise<string> => {
    return (await fetchAnswer(provider, request, { clock: deps.clock, signal })).text;
  };

  const answerBreakers = new AnswerBreakers({
    clock: deps.clock,
    settingsOf: (name) => deps.config().providers.find((provider) => provider.name === name)?.breaker,
  });
  return {
    open: (spec, deadline) =>
      upstreamOf(
        spec,
        {
          tryRoutes: (routes, options) =>
            answerBreakers.tryRoutes(routes, options.attempt, (some, attempt) =>
              tryRoutes(some, attempts, { ...options, attempt }),
            ),
          send,
        },
        deadline,
      ),
    own: () => own,
    reconfigure,
  };
}
