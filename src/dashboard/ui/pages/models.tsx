// The models that a member can name in a request: their capabilities, prices, required plans and health.

import { useSignal } from "@preact/signals";
import type { Listing, MemberModelView } from "../../contract.ts";
import { useLoad } from "../load.ts";
import { CopyButton } from "../parts/copy.tsx";
import { HealthBadge } from "../parts/model-health.tsx";
import { Badge, Empty, Notice } from "../parts/notice.tsx";
import { choose } from "../parts/span.tsx";
import { short, usd } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { hrefOf, query } from "../router.ts";
import { profile } from "../session.ts";

/** The number of models that are shown at once, since providers list hundreds and rendering all of them is slow. */
const SHOWN = 100;

/** The page. */
export function ModelListPage() {
  const { value, problem } = useLoad<Listing<MemberModelView>>("/catalog");
  const typed = query.value.get("q") ?? "";
  const all = useSignal(false);
  const models = value.value?.data;
  const found = models?.filter((model) => holds(model, typed.trim().toLowerCase())) ?? [];
  const shown = all.value ? found : found.slice(0, SHOWN);
  return (
    <>
      <Title>Models</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      <div class="field narrow">
        <label for="filter">Name, vendor, kind or capability</label>
        <input
          id="filter"
          type="search"
          value={typed}
          autoComplete="off"
          spellcheck={false}
          onInput={(event) => choose({ q: event.currentTarget.value })}
        />
      </div>
      {models?.length === 0 && <NoModels />}
      {models !== undefined && models.length > 0 && found.length === 0 && (
        <Empty>No model matches. Clear the filter to see all {models.length}.</Empty>
      )}
      {shown.length > 0 && <ModelList models={shown} />}
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

function NoModels() {
  if (profile.value?.admin !== true)
    return <Empty>There are no models yet. Ask your operator to add a provider.</Empty>;
  return (
    <Empty>
      There are no models yet. Add a provider with its key to the configuration; then look at{" "}
      <a href={hrefOf("/admin/providers")}>Providers</a> for what it lists.
    </Empty>
  );
}

function holds(model: MemberModelView, text: string): boolean {
  const words = [model.id, model.name, model.owned_by, model.kind, ...model.aliases, ...model.abilities];
  return words.some((word) => word.toLowerCase().includes(text));
}

function ModelList({ models }: { models: readonly MemberModelView[] }) {
  return (
    <div class="table-card">
      <table class="stacks">
        <thead>
          <tr>
            <th>Model</th>
            <th>Plan</th>
            <th>Health</th>
            <th class="number">Context</th>
            <th>
              <abbr title="US dollars per million tokens, in and out">Price per M</abbr>
            </th>
            <th>
              <span class="off-screen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <Row key={model.id} model={model} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ model }: { model: MemberModelView }) {
  const { id, kind, abilities, aliases, description, tier, usable, context_length: context } = model;
  return (
    <tr>
      <th scope="row" class="long">
        {id}{" "}
        <span class="badges">
          {[kind, ...abilities].map((one) => (
            <Badge key={one}>{one}</Badge>
          ))}
        </span>
        {aliases.length > 0 && <p class="hint">also {aliases.join(", ")}</p>}
        {description !== "" && <p class="hint">{description}</p>}
      </th>
      <td data-label="Plan">
        <span>
          <span class="capital">{tier}</span> {!usable && <Badge kind="warn">above your plan</Badge>}
        </span>
      </td>
      <td data-label="Health">
        <Health status={model.status} />
      </td>
      <td data-label="Context" class="number">
        {context === null ? "–" : short(context)}
      </td>
      <td data-label="Price per M">
        <Price of={model} />
      </td>
      <td class="actions once">
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
      </td>
    </tr>
  );
}

function Price({ of: { prices } }: { of: MemberModelView }) {
  if (prices === null) return <span>no price</span>;
  return (
    <span>
      {usd(prices.input)} in, {usd(prices.output)} out
      {prices.varies && <abbr title="Long prompts cost more"> +</abbr>}
    </span>
  );
}

function Health({ status }: { status: MemberModelView["status"] }) {
  if (status === null) return <span>not checked</span>;
  return <HealthBadge health={status} />;
}
