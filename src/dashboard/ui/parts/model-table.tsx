// The models of a catalog, for members and for admins: a search by words, the table, and its shared columns.

import type { ComponentChildren } from "preact";
import type { Listing, MemberModelView } from "../../contract.ts";
import { useLoad } from "../load.ts";
import { query } from "../router.ts";
import { Empty, Notice } from "./notice.tsx";
import { choose } from "./span.tsx";
import { type Column, Table } from "./table.tsx";
import { priceText, short } from "./time.tsx";
import { Title } from "./title.tsx";

/** The number of models that are shown at once, since providers list hundreds and rendering all of them is slow. */
const SHOWN = 100;

/** What both kinds of rows have. */
type ModelRow = Pick<MemberModelView, "id" | "aliases" | "tier" | "context_length">;

/** The page. `wordsOf`: what the search looks at; `nothing`: shown when there are no models at all. */
export function ModelPage<Row extends ModelRow>(props: {
  path: string;
  label: string;
  wordsOf: (model: Row) => readonly string[];
  columns: readonly Column<Row>[];
  nothing: ComponentChildren;
  above?: (models: readonly Row[]) => ComponentChildren;
}) {
  const { path, label, wordsOf, columns, nothing, above } = props;
  const { value, problem } = useLoad<Listing<Row>>(path);
  const typed = query.value.get("q") ?? "";
  const text = typed.trim().toLowerCase();
  const models = value.value?.data;
  const found = models?.filter((model) => wordsOf(model).some((word) => word.toLowerCase().includes(text)));
  return (
    <>
      <Title>Models</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {above?.(models ?? [])}
      <div class="field narrow">
        <label for="filter">{label}</label>
        <input
          id="filter"
          type="search"
          value={typed}
          autoComplete="off"
          spellcheck={false}
          onInput={(event) => choose({ q: event.currentTarget.value })}
        />
      </div>
      {models?.length === 0 ? (
        <Empty>{nothing}</Empty>
      ) : (
        <Table
          caption="Models"
          rows={found}
          keyOf={({ id }) => id}
          most={SHOWN}
          empty={`No model matches. Clear the filter to see all ${models?.length}.`}
          columns={columns}
        />
      )}
    </>
  );
}

/** A model's id with its labels and other names. */
export function ModelName({ of: { id, aliases }, children }: { of: ModelRow; children: ComponentChildren }) {
  return (
    <>
      {id} <span class="badges">{children}</span>
      {aliases.length > 0 && <p class="hint">also {aliases.join(", ")}</p>}
    </>
  );
}

/** The size of the model's context. */
export const CONTEXT: Column<ModelRow> = {
  head: "Context",
  class: "number",
  cell: ({ context_length: context }) => (context === null ? "–" : short(context)),
};

/** The price, in the same words as on every page. */
export const MODEL_PRICE: Column<Pick<MemberModelView, "prices">> = {
  head: "Price per M",
  title: "US dollars per million tokens, in and out",
  cell: ({ prices }) => (
    <span>
      {priceText(prices)}
      {prices?.varies && <abbr title="Long prompts cost more"> +</abbr>}
    </span>
  ),
};
