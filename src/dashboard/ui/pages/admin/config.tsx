// The loaded configuration: each value with its source. Values cannot be changed here; only the file and the
// environment set them, so that there is one place to look.

import { useSignal } from "@preact/signals";
import type { ConfigRow, ConfigView } from "../../../contract-admin.ts";
import { useLoad } from "../../load.ts";
import { Badge, Notice } from "../../parts/notice.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Title } from "../../parts/title.tsx";
import { navigate, query } from "../../router.ts";

/** The number of values that are shown at once. */
const SHOWN = 100;

export function ConfigPage() {
  const { value, problem } = useLoad<ConfigView>("/admin/config");
  const config = value.value;
  const typed = useSignal(query.value.get("q") ?? "");
  const showsDefaults = query.value.get("all") === "1";
  const show = (wanted: { all: boolean }) => {
    const chosen = new URLSearchParams({
      ...(typed.value === "" ? {} : { q: typed.value }),
      ...(wanted.all ? { all: "1" } : {}),
    });
    navigate(`/admin/config?${chosen}`, { replace: true });
  };
  const words = typed.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = config?.values.filter((row) => words.every((word) => textOf(row).includes(word))) ?? [];
  // A search shows all matches.
  const shown = showsDefaults || words.length > 0 ? matches : matches.filter(({ source }) => source.kind !== "default");
  return (
    <>
      <Title>Configuration</Title>
      <Where config={config} />
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      <div class="inline config-filter">
        <div class="field">
          <label for="search">Search</label>
          <input
            id="search"
            type="search"
            placeholder="Key, value, source or description"
            autoComplete="off"
            spellcheck={false}
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
              show({ all: showsDefaults });
            }}
          />
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={showsDefaults}
            onChange={(event) => show({ all: event.currentTarget.checked })}
          />
          Defaults too
        </label>
      </div>
      <Table
        key={`${showsDefaults} ${typed.value}`}
        caption="Values of the configuration"
        rows={config === undefined ? undefined : shown}
        keyOf={({ key }) => key}
        most={SHOWN}
        empty={words.length > 0 ? "No value matches. Clear the search to see all." : "Every value is a default."}
        columns={COLUMNS}
      />
    </>
  );
}

function Where({ config }: { config: ConfigView | undefined }) {
  return (
    <p class="hint">
      {config?.file == null ? (
        "There is no file: the environment and the defaults are used."
      ) : (
        <>
          Read from <code>{config.file}</code>.
        </>
      )}{" "}
      Change it there, then send the process SIGHUP. <code>sallyport config</code> prints the same.
    </p>
  );
}

const COLUMNS: readonly Column<ConfigRow>[] = [
  {
    head: "Key",
    class: "long",
    cell: ({ key, description }) => (
      <>
        <code>{key}</code>
        {description !== null && <p class="hint">{description}</p>}
      </>
    ),
  },
  {
    head: "Value",
    class: "long",
    cell: ({ value }) => {
      if (value === null) return <Badge>Hidden</Badge>;
      return value === "" ? <span class="hint">Not set</span> : <code>{value}</code>;
    },
  },
  { head: "Source", class: "source", cell: ({ source }) => <Source of={source} /> },
];

function Source({ of: { kind, name, line, through } }: { of: ConfigRow["source"] }) {
  const place = name === null ? "" : kind === "file" && line !== null ? `${fileName(name)}:${line}` : name;
  return (
    <span>
      {kind === "default" ? "Default" : kind === "preset" ? "Preset " : ""}
      {place !== "" && <code>{place}</code>}
      {through.map((one) => (
        <span key={one}>
          {", "}
          <code>{one}</code>
        </span>
      ))}
    </span>
  );
}

/** The complete path is shown above the table. */
function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

function textOf({ key, value, source, description }: ConfigRow): string {
  const words = [key, value, source.kind, source.name, ...source.through, description];
  return words.filter(Boolean).join(" ").toLowerCase();
}
