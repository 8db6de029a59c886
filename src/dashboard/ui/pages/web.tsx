// The web tools: a form for each, its result beside its facts, and the same request as code. The selection is in the
// query, so that a link can be shared.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Refused, refusalOf, send } from "../api.ts";
import { useEscape } from "../escape.ts";
import { keep, recall } from "../kept.ts";
import { Code } from "../parts/copy.tsx";
import { FailureCodes } from "../parts/failure-codes.tsx";
import { JobPanel } from "../parts/job.tsx";
import { Notice } from "../parts/notice.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Title } from "../parts/title.tsx";
import { WEB_CODES } from "../request-code.ts";
import { hrefOf } from "../router.ts";
import { baseUrl, freshKey } from "../session.ts";
import { hasOptions, ToolForm } from "../web/form.tsx";
import { ToolViews, type WebAnswer } from "../web/result.tsx";
import { FieldProblem, type ToolValues, toolBody, WEB_TOOLS, type WebTool } from "../web/tools.ts";

/** The stored part of the page: the tool, the input of each form, and the jobs that were started. */
interface State {
  readonly tool: WebTool["slug"];
  readonly values: Readonly<Record<string, ToolValues>>;
  readonly jobs: Readonly<Record<string, string>>;
}

/** One request of a tool. */
interface Run {
  readonly startedMs: number;
  readonly abort: AbortController;
  readonly answer?: WebAnswer;
  readonly problem?: Refused | Error;
  readonly stopped?: true;
  readonly requestId?: string | null;
  readonly ms?: number;
}

export function WebPage() {
  const state = useSignal<State>(firstState());
  const runs = useSignal<Readonly<Record<string, Run>>>({});
  const tool = WEB_TOOLS.find(({ slug }) => slug === state.value.tool) ?? WEB_TOOLS[0];
  const change = (next: State) => {
    state.value = next;
    keep("web", next);
    history.replaceState(null, "", hrefOf(`/web?${queryOf(next)}`));
  };
  useEffect(
    () => () => {
      for (const { abort } of Object.values(runs.value)) abort.abort();
    },
    [],
  );
  return (
    <>
      <Title>Web tools</Title>
      <nav class="tools" aria-label="Tools">
        {WEB_TOOLS.map(({ slug, name }) => (
          <button
            key={slug}
            type="button"
            aria-pressed={slug === tool.slug}
            onClick={() => change({ ...state.value, tool: slug })}
          >
            {name}
          </button>
        ))}
      </nav>
      <p class="hint">{tool.about}</p>
      <OneTool key={tool.slug} tool={tool} state={state} runs={runs} change={change} />
    </>
  );
}

function OneTool(props: {
  tool: WebTool;
  state: Signal<State>;
  runs: Signal<Readonly<Record<string, Run>>>;
  change: (state: State) => void;
}) {
  const { tool, state, runs, change } = props;
  const { slug } = tool;
  const values = state.value.values[slug] ?? {};
  const problem = useSignal<FieldProblem | undefined>(undefined);
  const isOpen = useSignal(hasOptions(tool, values));
  const run = runs.value[slug];
  const isBusy = run !== undefined && run.ms === undefined;
  const jobId = state.value.jobs[slug];
  const setJob = (id: string | undefined) => {
    const { [slug]: _, ...jobs } = state.value.jobs;
    change({ ...state.value, jobs: id === undefined ? jobs : { ...jobs, [slug]: id } });
  };
  const submit = async () => {
    if (isBusy) return;
    problem.value = undefined;
    try {
      const body = toolBody(tool, values);
      setJob(undefined);
      await request(tool, body, { runs, started: setJob });
      const refused = runs.value[slug]?.problem;
      const field = refused instanceof Refused && fieldOf(tool, refused.param);
      if (refused !== undefined && field) problem.value = new FieldProblem(field, refused.message);
    } catch (error) {
      if (!(error instanceof FieldProblem)) throw error;
      problem.value = error;
    }
    if (problem.value !== undefined) showField(problem.value.field, tool, isOpen);
  };
  useEscape(isBusy, () => run?.abort.abort());
  const changeValue = (name: string, value: string) => {
    problem.value = undefined;
    change({ ...state.value, values: { ...state.value.values, [slug]: { ...values, [name]: value } } });
  };
  return (
    <>
      <ToolForm
        tool={tool}
        values={values}
        problem={problem.value}
        change={changeValue}
        submit={submit}
        isOpen={isOpen}
      >
        <div class="row">
          {isBusy ? (
            <button type="button" onClick={() => run.abort.abort()}>
              Cancel
            </button>
          ) : (
            <button type="submit" class="primary">
              {tool.action}
            </button>
          )}
          <RunState run={run} />
        </div>
      </ToolForm>
      <AsCode tool={tool} values={values} />
      {run?.problem !== undefined && problem.value === undefined && <Problem problem={run.problem} />}
      {run?.answer !== undefined && !tool.isJob && <ToolViews slug={slug} answer={run.answer} />}
      {jobId !== undefined && <StartedJob key={jobId} id={jobId} />}
    </>
  );
}

/** The job that was started here. */
function StartedJob({ id }: { id: string }) {
  return (
    <section class="page" aria-label="The job">
      <JobPanel id={id} isEscapable />
      <p class="hint">
        It goes on when this page is closed: see <a href={hrefOf(`/jobs/${id}`)}>its page</a> under Jobs.
      </p>
    </section>
  );
}

async function request(
  tool: WebTool,
  body: Record<string, unknown>,
  { runs, started }: { runs: Signal<Readonly<Record<string, Run>>>; started: (id: string) => void },
): Promise<void> {
  const startedMs = performance.now();
  const begun: Run = { startedMs, abort: new AbortController() };
  const update = (more: Partial<Run>) => {
    runs.value = { ...runs.value, [tool.slug]: { ...begun, ...more } };
  };
  update({});
  const ended = () => ({ ms: performance.now() - startedMs });
  try {
    const response = await send("POST", `/playground/web/${tool.slug}`, { body, signal: begun.abort.signal });
    if (!response.ok) throw await refusalOf(response);
    const answer = (await response.json()) as WebAnswer;
    update({ answer, requestId: response.headers.get("x-request-id"), ...ended() });
    if (tool.isJob) started(String(answer["job_id"]));
  } catch (error) {
    if (begun.abort.signal.aborted) update({ stopped: true, ...ended() });
    else update({ problem: error instanceof Error ? error : new Error(String(error)), ...ended() });
  }
}

/** The field that an error concerns: `urls[2]` belongs to `urls`. */
function fieldOf({ fields }: WebTool, param: string | null): string | undefined {
  return fields.find(
    ({ name }) =>
      param !== null && (param === name || (/^[.[]/.test(param.slice(name.length)) && param.startsWith(name))),
  )?.name;
}

function showField(name: string, tool: WebTool, isOpen: Signal<boolean>): void {
  if (tool.fields.some((field) => field.name === name && !field.main)) isOpen.value = true;
  // After the options have been rendered.
  requestAnimationFrame(() => document.getElementById(`tool-${name}`)?.focus());
}

function RunState({ run }: { run: Run | undefined }) {
  if (run === undefined) return null;
  const { ms, stopped, requestId } = run;
  return (
    <p class="figures" role="status">
      {ms === undefined ? <Elapsed sinceMs={run.startedMs} /> : stopped ? "Cancelled" : `${(ms / 1000).toFixed(1)} s`}
      {requestId != null && (
        <>
          {" · "}
          <code>{requestId}</code>
        </>
      )}
    </p>
  );
}

const SECOND_MS = 1000;

function Elapsed({ sinceMs }: { sinceMs: number }) {
  const nowMs = useSignal(performance.now());
  useEffect(() => {
    const timer = setInterval(() => (nowMs.value = performance.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return <>Working… {Math.floor(Math.max(0, nowMs.value - sinceMs) / SECOND_MS)} s</>;
}

/** The error, with the request id that an operator would ask for. */
function Problem({ problem }: { problem: Refused | Error }) {
  return (
    <Notice kind="danger">
      {problem.message}
      <FailureCodes error={problem} />
    </Notice>
  );
}

/** Computed only while it is visible. */
function AsCode({ tool, values }: { tool: WebTool; values: ToolValues }) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>This request as code</summary>
      {isOpen.value && (
        <Tabs
          label="Language"
          names={WEB_CODES.map(({ name }) => name)}
          panel={(index) => {
            const code = WEB_CODES[index] ?? WEB_CODES[0];
            const parts = { base: baseUrl.value, key: freshKey.value ?? "sk-…" };
            return (
              <Code
                text={code.text({ path: `/v1/${tool.slug}`, body: exampleBody(tool, values) }, parts)}
                what="the request"
              />
            );
          }}
        />
      )}
    </details>
  );
}

/** The request that would be sent, with examples in place of missing values. */
function exampleBody(tool: WebTool, values: ToolValues): Record<string, unknown> {
  const missing = tool.fields.filter(({ name, required }) => required && !(values[name] ?? "").trim());
  const examples = Object.fromEntries(missing.map(({ name, placeholder = "" }) => [name, placeholder]));
  try {
    return toolBody(tool, { ...values, ...examples });
  } catch {
    // A field is invalid; the form reports it when it is sent.
    return toolBody(tool, {
      ...Object.fromEntries(tool.fields.map(({ name }) => [name, ""])),
      ...requiredOf(tool, values),
      ...examples,
    });
  }
}

function requiredOf({ fields }: WebTool, values: ToolValues): ToolValues {
  return Object.fromEntries(fields.flatMap(({ name, required }) => (required ? [[name, values[name] ?? ""]] : [])));
}

/** The values of the query, otherwise those that this tab stored. */
function firstState(): State {
  const query = new URLSearchParams(location.search);
  const kept = recall<State>("web") ?? { tool: "scrape", values: {}, jobs: {} };
  const tool = WEB_TOOLS.find(({ slug }) => slug === query.get("tool"));
  if (tool === undefined) return kept;
  const named = tool.fields.flatMap(({ name }) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const values = named.length === 0 ? kept.values : { ...kept.values, [tool.slug]: Object.fromEntries(named) };
  return { ...kept, tool: tool.slug, values };
}

/** Browsers and proxies accept more, but nobody shares such a link. */
const QUERY_CHARS_MAX = 4000;

function queryOf({ tool, values }: State): string {
  const query = new URLSearchParams({ tool });
  const fields = WEB_TOOLS.find(({ slug }) => slug === tool)?.fields ?? [];
  for (const { name, initial = "" } of fields) {
    const value = values[tool]?.[name] ?? initial;
    if (value !== initial) query.set(name, value);
  }
  const text = query.toString();
  return text.length > QUERY_CHARS_MAX ? `tool=${tool}` : text;
}
