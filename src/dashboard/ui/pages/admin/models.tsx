// The whole catalog: who may use each model, its price, and its routes.

import { useSignal } from "@preact/signals";
import type { AdminModelView, Listing } from "../../../contract.ts";
import { useLoad } from "../../load.ts";
import { HealthBadge } from "../../parts/model-health.tsx";
import { Badge, Empty, Notice } from "../../parts/notice.tsx";
import { choose } from "../../parts/span.tsx";
import { short, usd } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { query } from "../../router.ts";

/** The number of models that are shown at once, since providers list hundreds and rendering all of them is slow. */
const SHOWN = 100;

/** The page. */
export function ModelsPage() {
  const { value, problem } = useLoad<Listing<AdminModelView>>("/admin/models");
  const typed = query.value.get("q") ?? "";
  const all = useSignal(false);
  const models = value.value?.data;
  const found = models?.filter((model) => holds(model, typed.trim().toLowerCase())) ?? [];
  const shown = all.value ? found : found.slice(0, SHOWN);
  return (
    <>
      <Title>Models</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      <Unpriced models={models ?? []} />
      <div class="field narrow">
        <label for="filter">Model, alias or provider</label>
        <input
          id="filter"
          type="search"
          value={typed}
          autoComplete="off"
          spellcheck={false}
          onInput={(event) => choose({ q: event.currentTarget.value })}
        />
      </div>
      {models !== undefined && found.length === 0 && <Empty>No model matches. Clear the filter to see all.</Empty>}
      {shown.length > 0 && <ModelTable models={shown} />}
      {found.length > shown.length && (
        <div class="row">
          <button type="button" onClick={() => (all.value = true)}>
            Show all {found.length}
          </button>
        </div>
      )}
    </>
  );
}

/** More names would not be readable. */
const NAMED_MAX = 10;

/** Names the models that cost money which no budget counts. */
function Unpriced({ models }: { models: readonly AdminModelView[] }) {
  const ids = models.filter((model) => model.used_unpriced).map(({ id }) => id);
  if (ids.length === 0) return null;
  const more = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : "";
  return (
    <Notice kind="warn">
      Used in the last 30 days without a known price, so their cost is not counted: {ids.slice(0, NAMED_MAX).join(", ")}
      {more}. Set <code>models[].prices</code> or the provider's <code>model_defaults.prices</code>.
    </Notice>
  );
}

function holds(model: AdminModelView, text: string): boolean {
  const names = [model.id, model.name, ...model.aliases, ...model.routes.flatMap((one) => [one.provider, one.model])];
  return names.some((name) => name.toLowerCase().includes(text));
}

function ModelTable({ models }: { models: readonly AdminModelView[] }) {
  return (
    <div class="table-card">
      <table class="stacks">
        <thead>
          <tr>
            <th>Model</th>
            <th>Plan</th>
            <th>Routes, in order</th>
            <th class="number">Context</th>
            <th class="number">
              <abbr title="US dollars per million tokens">$ per M in</abbr>
            </th>
            <th class="number">
              <abbr title="US dollars per million tokens">$ per M out</abbr>
            </th>
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <tr key={model.id}>
              <th scope="row" class="long">
                {model.id}{" "}
                <span class="badges">
                  <Status of={model} />
                  {!model.listed && <Badge>Hidden</Badge>}
                  {model.inferred && (
                    <Badge>
                      <abbr title="Limits and abilities as its newest known relative has them; not enforced">
                        inferred
                      </abbr>
                    </Badge>
                  )}
                  {model.capabilities.map((one) => (
                    <Badge key={one}>{one}</Badge>
                  ))}
                </span>
                {model.aliases.length > 0 && <p class="hint">also {model.aliases.join(", ")}</p>}
              </th>
              <td data-label="Plan">
                <span class="capital">{model.tier}</span>
              </td>
              <td data-label="Routes">
                <ol class="plain routes">
                  {model.routes.map((route) => (
                    <li key={`${route.provider} ${route.model}`} class="long">
                      {route.provider} / {route.model}{" "}
                      {route.breaker === "open" && <Badge kind="danger">breaker open</Badge>}
                      {route.breaker === "half_open" && <Badge kind="warn">breaker half open</Badge>}
                    </li>
                  ))}
                </ol>
              </td>
              <td data-label="Context" class="number">
                {model.context_length === null ? "–" : short(model.context_length)}
              </td>
              <td data-label="$ per M in" class="number">
                {model.prices === null ? "–" : usd(model.prices.input)}
                {model.prices?.varies && <abbr title="Long prompts cost more"> +</abbr>}
              </td>
              <td data-label="$ per M out" class="number">
                {model.prices === null ? "–" : usd(model.prices.output)}
                {model.prices?.varies && <abbr title="Long prompts cost more"> +</abbr>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Status({ of: { status } }: { of: AdminModelView }) {
  if (status === null) return null;
  return <HealthBadge health={status} />;
}
