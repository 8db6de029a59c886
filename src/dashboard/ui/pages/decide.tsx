// The form for trying a decision model: one situation, a question of each type, and the probabilities of the answers.

import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { DecisionChoice } from "../../contract.ts";
import { call } from "../api.ts";
import { type Form, Submit, useForm } from "../parts/form.tsx";
import { percent, short } from "../parts/time.tsx";

/** The body of `POST /v1/systemone`, with the members that are sent here. */
interface DecisionRequestBody {
  readonly model: string;
  readonly state: string;
  readonly questions: Readonly<Record<string, object>>;
}

/** Its answer, with the members that are shown. */
interface DecisionAnswers {
  readonly model: string;
  readonly answers: Readonly<
    Record<
      string,
      | { readonly type: "noul"; readonly noul: number }
      | {
          readonly type: "choice";
          readonly probabilities: Readonly<Record<string, number>>;
          readonly confidence: number;
        }
      | {
          readonly type: "score";
          readonly score: number;
          readonly probabilities: Readonly<Record<string, number>>;
          readonly confidence: number;
        }
    >
  >;
  readonly usage: { readonly input_tokens: number };
}

/** An example to start with; every field can be changed or emptied. */
const EXAMPLE = {
  state:
    "My order arrived with a broken lid. I would like a replacement, this week if you can, because it is a present. Where do I return the old one?",
  noul: "Does the customer ask for a replacement?",
  choice: "Which team should answer?",
  options: "shipping\nreturns\nbilling",
  score: "How urgent is it?",
  levels: "can wait\nthis week\nnow",
};

/** The form and the answer. */
export function Decide({ models }: { models: readonly DecisionChoice[] }) {
  const result = useSignal<{ answers: DecisionAnswers; model: string; ms: number } | undefined>(undefined);
  const form = useForm(
    async (values) => {
      const startedMs = performance.now();
      const answers = await call<DecisionAnswers>("POST", "/playground/decisions", bodyOf(values));
      result.value = { answers, model: answers.model, ms: performance.now() - startedMs };
    },
    { name: "decide", required: { state: "The situation" }, stays: true },
  );
  const id = useId();
  const usable = models.find((one) => one.usable)?.id;
  return (
    <>
      <form class="card" ref={form.ref} onSubmit={form.onSubmit} noValidate aria-label="Decision">
        <div class="field">
          <label for={`${id}-model`}>Decision model</label>
          <select id={`${id}-model`} name="model" defaultValue={usable}>
            {models.map((one) => (
              <option key={one.id} value={one.id} disabled={!one.usable}>
                {one.usable ? one.id : `${one.id} (${one.tier} plan)`}
              </option>
            ))}
          </select>
        </div>
        <Text form={form} name="state" label="Situation" rows={4} value={EXAMPLE.state} />
        <div class="thirds">
          <Text form={form} name="noul" label="A yes/no question" rows={2} value={EXAMPLE.noul} />
          <div class="stack">
            <Text form={form} name="choice" label="A choice" rows={2} value={EXAMPLE.choice} />
            <Text form={form} name="options" label="Options, one per line" rows={4} value={EXAMPLE.options} />
          </div>
          <div class="stack">
            <Text form={form} name="score" label="A score" rows={2} value={EXAMPLE.score} />
            <Text
              form={form}
              name="levels"
              label="Levels, lowest first, one per line"
              rows={4}
              value={EXAMPLE.levels}
            />
          </div>
        </div>
        <p class="hint">Empty questions are not asked.</p>
        <div class="row">
          <Submit form={form}>Decide</Submit>
        </div>
      </form>
      {result.value !== undefined && (
        <section class="card" aria-label="Answers" aria-live="polite">
          {Object.entries(result.value.answers.answers).map(([key, answer]) => (
            <Answer key={key} name={NAMES[key] ?? key} answer={answer} />
          ))}
          <p class="figures">
            {[
              result.value.model,
              `${short(result.value.answers.usage.input_tokens)} tokens in`,
              `${Math.round(result.value.ms)} ms`,
            ].join(" · ")}
          </p>
        </section>
      )}
    </>
  );
}

const NAMES: Readonly<Record<string, string>> = { noul: "Yes or no", choice: "Choice", score: "Score" };

function Text(props: { form: Form; name: string; label: string; rows: number; value: string }) {
  const { form, name, label, rows, value } = props;
  const id = useId();
  const problem = form.problems.value[name];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={rows}
        defaultValue={value}
        aria-invalid={problem === undefined ? undefined : "true"}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
      />
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function Answer({ name, answer }: { name: string; answer: DecisionAnswers["answers"][string] }) {
  const bars = answer.type === "noul" ? { yes: answer.noul, no: 1 - answer.noul } : answer.probabilities;
  return (
    <div class="stack">
      <h2>
        {name}
        {answer.type === "score" && <span class="figures"> mean level {answer.score.toFixed(2)}</span>}
        {answer.type !== "noul" && <span class="figures"> confidence {percent(answer.confidence)}</span>}
      </h2>
      <ul class="bars">
        {Object.entries(bars).map(([label, probability]) => (
          <li key={label}>
            <span class="long">{label}</span>
            <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
              <rect class="reach" width={100} height={10} />
              <rect class="filled" width={probability * 100} height={10} />
            </svg>
            <b>{percent(probability)}</b>
          </li>
        ))}
      </ul>
    </div>
  );
}

function bodyOf(values: Readonly<Record<string, string>>): DecisionRequestBody {
  const { model = "", state = "" } = values;
  const [noul, choice, score] = [filled(values["noul"]), filled(values["choice"]), filled(values["score"])];
  const [options, levels] = [linesOf(values["options"]), linesOf(values["levels"])];
  return {
    model,
    state,
    questions: {
      ...(noul === undefined ? {} : { noul: { type: "noul", instructions: noul } }),
      ...(choice === undefined
        ? {}
        : {
            choice: {
              type: "choice",
              instructions: choice,
              criteria: Object.fromEntries(options.map((option) => [option, null])),
            },
          }),
      ...(score === undefined ? {} : { score: { type: "score", instructions: score, criteria: levels } }),
    },
  };
}

function filled(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text.trim();
}

function linesOf(text: string | undefined): string[] {
  return (text ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
