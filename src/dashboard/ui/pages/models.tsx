// The models that a member can name in a request: their capabilities, prices, required plans and health.

import type { MemberModelView } from "../../contract.ts";
import { CopyButton } from "../parts/copy.tsx";
import { HealthBadge } from "../parts/model-health.tsx";
import { CONTEXT, MODEL_PRICE, ModelName, ModelPage } from "../parts/model-table.tsx";
import { Badge } from "../parts/notice.tsx";
import type { Column } from "../parts/table.tsx";
import { hrefOf } from "../router.ts";
import { profile } from "../session.ts";

export function ModelListPage() {
  return (
    <ModelPage
      path="/catalog"
      label="Name, vendor, kind or capability"
      wordsOf={(model) => [model.id, model.name, model.owned_by, model.kind, ...model.aliases, ...model.abilities]}
      columns={COLUMNS}
      nothing={
        profile.value?.admin === true ? (
          <>
            There are no models yet. Add a provider with its key to the configuration; then look at{" "}
            <a href={hrefOf("/admin/providers")}>Providers</a> for what it lists.
          </>
        ) : (
          "There are no models yet. Ask your operator to add a provider."
        )
      }
    />
  );
}

const COLUMNS: readonly Column<MemberModelView>[] = [
  {
    head: "Model",
    class: "long",
    cell: (model) => (
      <>
        <ModelName of={model}>
          {[model.kind, ...model.abilities].map((one) => (
            <Badge key={one}>{one}</Badge>
          ))}
        </ModelName>
        {model.description !== "" && <p class="hint">{model.description}</p>}
      </>
    ),
  },
  {
    head: "Plan",
    cell: ({ tier, usable }) => (
      <span>
        <span class="capital">{tier}</span> {!usable && <Badge kind="warn">above your plan</Badge>}
      </span>
    ),
  },
  {
    head: "Health",
    cell: ({ status }) => (status === null ? <span>not checked</span> : <HealthBadge health={status} />),
  },
  CONTEXT,
  MODEL_PRICE,
  {
    head: "Actions",
    actions: true,
    class: "once",
    cell: ({ id, kind, usable }) => (
      <>
        {kind === "chat" && usable && (
          <a
            class="button copy"
            href={`${hrefOf("/playground")}?model=${encodeURIComponent(id)}`}
            aria-label={`Try it: ${id}`}
          >
            Try it
          </a>
        )}
        <CopyButton text={id} what={id} />
      </>
    ),
  },
];
