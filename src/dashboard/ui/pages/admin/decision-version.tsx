// One version of a decision model: its data, the measurements of its calibration, and moving an alias to it.

import type { DecisionVersionView, PromotionForm } from "../../../contract.ts";
import { call } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { confirmed } from "../../parts/confirm.tsx";
import { Field, Submit, useForm } from "../../parts/form.tsx";
import { Badge, Empty, Notice, say } from "../../parts/notice.tsx";
import { Table } from "../../parts/table.tsx";
import { When } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf, path } from "../../router.ts";
import { VersionState } from "./decisions.tsx";
import { MeasurementSections } from "./measured.tsx";

export function DecisionVersionPage() {
  const id = decodeURIComponent(path.value.slice(path.value.lastIndexOf("/") + 1));
  const { value, problem, reload } = useLoad<DecisionVersionView>(
    `/admin/decisions/version?id=${encodeURIComponent(id)}`,
  );
  const version = value.value?.id === id ? value.value : undefined;
  return (
    <>
      <p class="back">
        <a href={hrefOf("/admin/decisions")}>All decision models</a>
      </p>
      <Title>{id}</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {version !== undefined && <Version key={id} version={version} changed={reload} />}
    </>
  );
}

function Version({ version, changed }: { version: DecisionVersionView; changed: () => Promise<void> }) {
  const { unfit, worse, drifted } = version;
  return (
    <>
      {unfit !== null && <Notice kind="danger">Taken out of the list: {unfit}.</Notice>}
      {drifted && (
        <Notice kind="warn">
          Its upstream now reports another model name: the measurements may no longer apply. Calibrate again.
        </Notice>
      )}
      {worse !== null && <Notice kind="warn">No alias is moved to it: {worse}.</Notice>}
      {version.notes.map((note) => (
        <Notice key={note} kind="warn">
          {note}
        </Notice>
      ))}
      <Facts version={version} />
      {worse === null && <Promote version={version} changed={changed} />}
      {version.measurement === null ? (
        <Empty>
          No measurements. Fit it to labelled rows with <code>sallyport calibrate</code>.
        </Empty>
      ) : (
        <MeasurementSections measurement={version.measurement} />
      )}
      {version.parameters.length > 0 && <Parameters version={version} />}
      <Sightings version={version} />
    </>
  );
}

function Facts({ version }: { version: DecisionVersionView }) {
  return (
    <section class="card" aria-label="Details">
      <dl class="facts">
        <dt>State</dt>
        <dd>
          <VersionState of={version} />
        </dd>
        {version.description !== "" && (
          <>
            <dt>Description</dt>
            <dd>{version.description}</dd>
          </>
        )}
        <dt>Aliases</dt>
        <dd>
          <span class="badges">
            {version.aliases.map((alias) => (
              <Badge key={alias} kind="info">
                {alias}
              </Badge>
            ))}
            {version.aliases.length === 0 && "No alias points to it"}
          </span>
        </dd>
        <dt>Backend</dt>
        <dd>{version.backend}</dd>
        <dt>Routes</dt>
        <dd>{version.routes.map(({ provider, model }) => `${provider} / ${model}`).join(", ")}</dd>
        <dt>Plan</dt>
        <dd class="capital">{version.tier}</dd>
        <dt>Price</dt>
        <dd>
          {version.input_price === null
            ? "Unknown: counted as free"
            : `$${version.input_price} per million input tokens; output is free`}
        </dd>
        <dt>Created</dt>
        <dd>
          {version.created_at === null ? "Discovered from its provider's list" : <When iso={version.created_at} />}
        </dd>
        <dt>Content hash</dt>
        <dd>
          <code>{version.hash}</code>
        </dd>
      </dl>
    </section>
  );
}

function Promote({ version, changed }: { version: DecisionVersionView; changed: () => Promise<void> }) {
  const elsewhere = version.all_aliases.filter((one) => one.version !== version.id);
  const form = useForm(
    async ({ alias = "" }) => {
      const now = version.all_aliases.find((one) => one.alias === alias.trim());
      const model = now?.own === false ? ", a version of another model," : "";
      const from = now === undefined ? "It is a new name." : `It points to ${now.version}${model} now.`;
      const sure = await confirmed({
        title: `Point ${alias} to ${version.id}?`,
        text: `${from} Requests for ${alias} will be answered by ${version.id}.`,
        action: "Promote",
      });
      if (!sure) return;
      await call("POST", "/admin/decisions/promote", { version: version.id, alias } satisfies PromotionForm);
      say(`${alias} points to ${version.id}.`);
      await changed();
    },
    { name: `promote-${version.id}`, required: { alias: "Alias" } },
  );
  return (
    <form class="card" ref={form.ref} onSubmit={form.onSubmit} noValidate aria-label="Promote">
      <div class="inline">
        <Field
          form={form}
          name="alias"
          label="Move alias to this version"
          list="aliases"
          value={elsewhere.find(({ own }) => own)?.alias}
          maxLength={200}
          autoComplete="off"
        />
        <Submit form={form}>Promote</Submit>
      </div>
      <datalist id="aliases">
        {elsewhere.map(({ alias, version: target }) => (
          <option key={alias} value={alias}>
            {target}
          </option>
        ))}
      </datalist>
    </form>
  );
}

function Parameters({ version }: { version: DecisionVersionView }) {
  return (
    <section class="stack" aria-labelledby="parameters">
      <h2 id="parameters">Calibration parameters</h2>
      <Table
        caption="Calibration parameters"
        rows={version.parameters}
        keyOf={({ type, options }) => `${type} ${options}`}
        columns={[
          { head: "Questions", cell: ({ type }) => type },
          { head: "Options", cell: ({ options }) => options },
          { head: "Temperature", class: "number", cell: ({ temperature }) => temperature.toFixed(3) },
          { head: "Bias to true", class: "number", cell: ({ bias }) => (bias === null ? "–" : bias.toFixed(3)) },
          { head: "By position", cell: ({ positions }) => <Positions of={positions} /> },
          { head: "Rows", class: "number", cell: ({ rows }) => rows },
        ]}
      />
    </section>
  );
}

function Positions({ of: positions }: { of: Readonly<Record<string, readonly number[]>> }) {
  const counts = Object.entries(positions);
  if (counts.length === 0) return <>–</>;
  return (
    <ul class="plain">
      {counts.map(([count, gains]) => (
        <li key={count}>
          {count} options: <code>{gains.map((gain) => gain.toFixed(2)).join("  ")}</code>
        </li>
      ))}
    </ul>
  );
}

function Sightings({ version }: { version: DecisionVersionView }) {
  return (
    <section class="stack" aria-labelledby="sightings">
      <h2 id="sightings">Models that answered for it</h2>
      <Table
        caption="Models that answered for it"
        rows={version.sightings}
        keyOf={({ provider, model, fingerprint }) => `${provider} ${model} ${fingerprint}`}
        empty="No model has answered for it yet, or its upstreams do not report a model name."
        columns={[
          { head: "Reported model", class: "long", cell: ({ model }) => model || "does not say" },
          { head: "Provider", cell: ({ provider }) => provider },
          { head: "Fingerprint", class: "long", cell: ({ fingerprint }) => fingerprint || "–" },
          { head: "First seen", cell: ({ first_at: at }) => <When iso={at} /> },
          { head: "Last seen", cell: ({ last_at: at }) => <When iso={at} /> },
        ]}
      />
    </section>
  );
}
