// A table of the dashboard. On a narrow screen each row becomes a block in which each cell shows its label; the styles are in
// style/parts.css.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Empty } from "./notice.tsx";

/** A column; the first one names the row. `State` is what the table's `use` made for the row. */
export interface Column<Row, State = undefined> {
  readonly head: string;
  /** Explains the heading. */
  readonly title?: string;
  /** Buttons: the heading is for screen readers alone, and no label is shown. */
  readonly actions?: true;
  /** The label on a narrow screen if it is not the heading; null: none. */
  readonly label?: string | null;
  /** Classes of the heading and the cells: `number` aligns to the right. */
  readonly class?: string;
  /** The whole text of a cell that may be cut. */
  readonly whole?: (row: Row) => string;
  /** The content; "–" stands for nothing, and is left out on a narrow screen. */
  readonly cell: (row: Row, state: State) => ComponentChildren;
}

interface TableProps<Row, State> {
  /** What the rows are, for screen readers. */
  readonly caption: string;
  /** Undefined while they are loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string | number;
  readonly columns: readonly Column<Row, State>[];
  /** Shown instead of a table without rows. */
  readonly empty?: ComponentChildren;
  /** Classes of the table. */
  readonly class?: string;
  /** The number of rows that are shown at first; a button shows the others. */
  readonly most?: number;
  /** A hook that holds the state of a row. */
  readonly use?: (row: Row) => State;
  readonly rowClass?: (row: Row) => string | undefined;
  /** What an open row shows below it: the id of the row with it, and its content. */
  readonly below?: (row: Row) => { readonly id: string; readonly shown: ComponentChildren } | undefined;
}

/** The table, or what stands for it if it has no rows. */
export function Table<Row, State = undefined>(props: TableProps<Row, State>) {
  const { caption, rows, keyOf, columns, empty, most, class: more = "" } = props;
  const isWhole = useSignal(false);
  if (rows === undefined) return null;
  if (rows.length === 0) return empty === undefined ? null : <Empty>{empty}</Empty>;
  const shown = most === undefined || isWhole.value ? rows : rows.slice(0, most);
  return (
    <>
      <div class="table-card">
        <table class={`stacks ${more}`.trim()}>
          <caption class="off-screen">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.head} scope="col" class={isNumber(column) ? "number" : undefined}>
                  <Heading of={column} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Line key={keyOf(row)} row={row} table={props} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < rows.length && (
        <div class="row">
          <button type="button" onClick={() => (isWhole.value = true)}>
            Show all {rows.length}
          </button>
        </div>
      )}
    </>
  );
}

function isNumber({ class: names = "" }: { readonly class?: string }): boolean {
  return names.split(" ").includes("number");
}

function Heading({ of: { head, title, actions } }: { of: Pick<Column<never>, "head" | "title" | "actions"> }) {
  if (actions === true) return <span class="off-screen">{head}</span>;
  return title === undefined ? head : <abbr title={title}>{head}</abbr>;
}

function Line<Row, State>({ row, table }: { row: Row; table: TableProps<Row, State> }) {
  const { columns, use, rowClass, below } = table;
  const state = use?.(row) as State;
  const details = below?.(row);
  return (
    <>
      <tr class={rowClass?.(row)}>
        {columns.map((column, at) => (
          <Cell key={column.head} column={column} row={row} state={state} isName={at === 0} />
        ))}
      </tr>
      {details !== undefined && (
        <tr class="detail-row" id={details.id}>
          <td colSpan={columns.length}>{details.shown}</td>
        </tr>
      )}
    </>
  );
}

function Cell<Row, State>(props: { column: Column<Row, State>; row: Row; state: State; isName: boolean }) {
  const { column, row, state, isName } = props;
  const children = column.cell(row, state);
  const names = [column.class, column.actions && "actions", children === "–" && "nil"].filter(Boolean).join(" ");
  const shared = { class: names || undefined, title: column.whole?.(row), children };
  if (isName) return <th scope="row" {...shared} />;
  const label = column.actions === true || column.label === null ? undefined : (column.label ?? column.head);
  return <td data-label={label} {...shared} />;
}
