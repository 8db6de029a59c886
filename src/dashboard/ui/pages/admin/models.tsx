// The whole catalog: who may use each model, its price, and its routes.

import type { AdminModelView } from "../../../contract.ts";
import { HealthBadge } from "../../parts/model-health.tsx";
import { CONTEXT, MODEL_PRICE, ModelName, ModelPage } from "../../parts/model-table.tsx";
import { Badge, Notice } from "../../parts/notice.tsx";
import type { Column } from "../../parts/table.tsx";

export function ModelsPage() {
  return (
    <ModelPage
      path="/admin/models"
      label="Model, alias or provider"
      wordsOf={({ id, name, aliases, routes }) => [
        ...[id, name, ...aliases],
        ...routes.flatMap(({ provider, model }) => [provider, model]),
      ]}
      columns={COLUMNS}
      nothing="There are no models yet. Add a provider with its key to the configuration."
      above={(models) => <Unpriced models={models} />}
    />
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

const COLUMNS: readonly Column<AdminModelView>[] = [
  { head: "Model", class: "long", cell: (model) => <Name of={model} /> },
  { head: "Plan", cell: ({ tier }) => <span class="capital">{tier}</span> },
  { head: "Routes, in order", label: "Routes", cell: (model) => <Routes of={model} /> },
  CONTEXT,
  MODEL_PRICE,
];

function Name({ of: model }: { of: AdminModelView }) {
  return (
    <ModelName of={model}>
      {model.status !== null && <HealthBadge health={model.status} />}
      {!model.listed && <Badge>Hidden</Badge>}
      {model.inferred && (
        <Badge>
          <abbr title="Limits and abilities as its newest known relative has them; not enforced">inferred</abbr>
        </Badge>
      )}
      {model.capabilities.map((one) => (
        <Badge key={one}>{one}</Badge>
      ))}
    </ModelName>
  );
}

function Routes({ of: { routes } }: { of: AdminModelView }) {
  return (
    <ol class="plain routes">
      {routes.map((route) => (
        <li key={`${route.provider} ${route.model}`} class="long">
          {route.provider} / {route.model} {route.breaker === "open" && <Badge kind="danger">breaker open</Badge>}
          {route.breaker === "half_open" && <Badge kind="warn">breaker half open</Badge>}
        </li>
      ))}
    </ol>
  );
}
