// One version of a decision model: its data, the measurements of its calibration, and moving an alias to it.

import type { DecisionVersionView, PromotionForm } from "../../../contract.ts";
import { call } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { confirmed } from "../../parts/confirm.tsx";
import { Field, Submit, useForm } from "../../parts/form.tsx";
import { Badge, Empty, Notice, say } from "../../parts/notice.tsx";
import { When } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf, path } from "../../router.ts";
import { VersionState } from "./decisions.tsx";
import { MeasurementSections } from "./measured.tsx";

/** The page. */
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
      <div class="table-card">
        <table class="stacks">
          <thead>
            <tr>
              <th>Questions</th>
              <th>Options</th>
              <th class="number">Temperature</th>
              <th class="number">Bias to true</th>
              <th>By position</th>
              <th class="number">Rows</th>
            </tr>
          </thead>
          <tbody>
            {version.parameters.map((one) => (
              <tr key={`${one.type} ${one.options}`}>
                <th scope="row">{one.type}</th>
                <td data-label="Options">{one.options}</td>
                <td data-label="Temperature" class="number">
                  {one.temperature.toFixed(3)}
                </td>
                <td data-label="Bias to true" class="number">
                  {one.bias === null ? "–" : one.bias.toFixed(3)}
                </td>
                <td data-label="By position">
                  <Positions of={one.positions} />
                </td>
                <td data-label="Rows" class="number">
                  {one.rows}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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
      {version.sightings.length === 0 ? (
        <Empty>No model has answered for it yet, or its upstreams do not report a model name.</Empty>
      ) : (
        <div class="table-card">
          <table class="stacks">
            <thead>
              <tr>
                <th>Reported model</th>
                <th>Provider</th>
                <th>Fingerprint</th>
                <th>First seen</th>
                <th>Last seen</th>
              </tr>
            </thead>
            <tbody>
              {version.sightings.map((one) => (
                <tr key={`${one.provider} ${one.model} ${one.fingerprint}`}>
                  <th scope="row" class="long">
                    {one.model || "does not say"}
                  </th>
                  <td data-label="Provider">{one.provider}</td>
                  <td data-label="Fingerprint" class="long">
                    {one.fingerprint || "–"}
                  </td>
                  <td data-label="First seen">
                    <When iso={one.first_at} />
                  </td>
                  <td data-label="Last seen">
                    <When iso={one.last_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
