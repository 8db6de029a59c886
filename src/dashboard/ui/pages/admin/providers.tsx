// All providers: the state of each, its last failure, a test of its keys, and a reset of its breaker.

import { useEffect } from "preact/hooks";
import type { Listing } from "../../../contract.ts";
import type { ProviderView } from "../../../contract-admin.ts";
import { call } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Badge, Empty, Notice, say } from "../../parts/notice.tsx";
import { TestButton, TestResult, useTest } from "../../parts/tested.tsx";
import { When } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf } from "../../router.ts";
import { FAULT_WORDS } from "./fault-words.ts";

/** The maximum age of the displayed state. */
const REFRESH_MS = 15_000;

export function ProvidersPage() {
  const { value, problem, reload } = useLoad<Listing<ProviderView>>("/admin/providers");
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [reload]);
  const providers = value.value?.data;
  return (
    <>
      <Title>Providers</Title>
      <p class="hint">
        They are named in the <a href={hrefOf("/admin/config")}>configuration</a>. A test asks for the list of models
        with each key; that costs nothing.
      </p>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {providers?.length === 0 && (
        <Empty>No provider is configured. Add one under providers in the configuration.</Empty>
      )}
      {providers?.map((provider) => (
        <Provider key={provider.name} provider={provider} changed={reload} />
      ))}
    </>
  );
}

function Provider({ provider, changed }: { provider: ProviderView; changed: () => Promise<void> }) {
  const test = useTest(`/admin/providers/${encodeURIComponent(provider.name)}/test`, () => void changed());
  const { name, breaker, last_error: last } = provider;
  const reset = async () => {
    try {
      await call("POST", `/admin/providers/${encodeURIComponent(name)}/reset`);
      say(`The breaker of ${name} is closed. Requests go to it again.`);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "danger");
    }
    await changed();
  };
  const mayReset = breaker !== null && (breaker.state !== "closed" || breaker.failures > 0);
  return (
    <section class="card provider" aria-label={name}>
      <div class="provider-head">
        <h2>{name}</h2>
        <State of={provider} />
        <span class="row">
          {mayReset && (
            <button type="button" onClick={() => void reset()}>
              Reset breaker<span class="off-screen"> of {name}</span>
            </button>
          )}
          <TestButton test={test} of={name} />
        </span>
      </div>
      <TestResult test={test} />
      <dl class="facts">
        <dt>Kind</dt>
        <dd>
          {provider.kind}
          {provider.base_url !== "" && (
            <>
              {" at "}
              <code>{provider.base_url}</code>
            </>
          )}
        </dd>
        <dt>Keys</dt>
        <dd>{keysText(provider)}</dd>
        <dt>Models</dt>
        <dd>
          {provider.models} offered{healthText(provider)}; {LIST_WORDS[provider.list.state](provider.list.models)}
        </dd>
        {breaker !== null && (
          <>
            <dt>Breaker</dt>
            <dd>
              {BREAKER_WORDS[breaker.state]}, {breaker.failures} of {breaker.failures_max} failures
              {breaker.opened_at !== null && (
                <>
                  , opened <When iso={breaker.opened_at} />
                </>
              )}
              {breaker.models.map(({ model, state }) => (
                <div key={model} class="long">
                  {model}: {BREAKER_WORDS[state].toLowerCase()}
                </div>
              ))}
            </dd>
          </>
        )}
        <dt>Last error</dt>
        <dd>
          {last === null ? (
            "None since the start"
          ) : (
            <>
              {FAULT_WORDS[last.kind] ?? last.kind}
              {last.status > 0 && ` (${last.status})`}, <When iso={last.at} />
              {last.over && "; it has answered since"}
            </>
          )}
        </dd>
      </dl>
    </section>
  );
}

const BREAKER_WORDS = { closed: "Closed", open: "Open", half_open: "Half open: the next request is a test" } as const;

const LIST_WORDS: Readonly<Record<ProviderView["list"]["state"], (models: number) => string>> = {
  ok: (models) => `its list has ${models}`,
  failed: (models) => (models === 0 ? "its list could not be fetched" : `its last good list had ${models}`),
  waiting: () => "its list has not come yet",
  off: () => "its models are not listed (discover: false)",
  built_in: () => "built in",
};

/** A label for the provider's state. A refused key opens no breaker although all calls fail. */
function State({ of: { breaker, list, last_error: last, health, models } }: { of: ProviderView }) {
  if (breaker?.state === "open") return <Badge kind="danger">Breaker open</Badge>;
  if (last?.kind === "auth" && !last.over) return <Badge kind="danger">Key refused</Badge>;
  if (breaker?.state === "half_open") return <Badge kind="warn">Half open</Badge>;
  if (list.state === "failed") return <Badge kind="warn">No model list</Badge>;
  if (list.state === "waiting") return <Badge>Waiting</Badge>;
  if (health.unavailable + health.degraded > 0) return <Badge kind="warn">Some models fail</Badge>;
  if (last !== null && !last.over) return <Badge kind="warn">Last request failed</Badge>;
  if (models === 0) return <Badge>No models</Badge>;
  return <Badge kind="ok">OK</Badge>;
}

function keysText({ credentials, variable, base_url: address }: ProviderView): string {
  if (credentials > 0) return `${credentials}`;
  if (address === "") return "None needed";
  return variable === null ? "None" : `None; ${variable} is not set`;
}

function healthText({ health: { healthy, degraded, unavailable, unknown } }: ProviderView): string {
  const parts = [
    ...(degraded > 0 ? [`${degraded} degraded`] : []),
    ...(unavailable > 0 ? [`${unavailable} unavailable`] : []),
  ];
  if (parts.length > 0) return ` (${parts.join(", ")})`;
  if (unknown > 0) return ` (${unknown} unknown)`;
  return healthy > 0 ? " (all healthy)" : "";
}
