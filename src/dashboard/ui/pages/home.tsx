// The start page: the account's usage, and examples of using the gateway that can be pasted unchanged.

import type { KeyView, Listing, ModelChoice } from "../../contract.ts";
import { lazy } from "../lazy.tsx";
import { useLoad } from "../load.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Examples } from "../parts/examples.tsx";
import { Notice } from "../parts/notice.tsx";
import { ScopeChoice, SpanChoice } from "../parts/span.tsx";
import { dayText } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { hrefOf } from "../router.ts";
import { baseUrl, profile, session } from "../session.ts";

const Overview = lazy(() => import("./home/overview.tsx"), "Overview");

export function HomePage() {
  const who = profile.value;
  const keys = useLoad<Listing<KeyView>>("/keys").value.value?.data;
  const models = useLoad<Listing<ModelChoice>>("/models").value.value?.data;
  if (who === null) return null;
  const live = keys?.filter((key) => key.revoked_at === null);
  return (
    <>
      <Title actions={<SpanChoice />}>Overview</Title>
      <ScopeChoice />
      {!who.email_verified && (
        <Notice kind="warn">
          Your e-mail address is not verified yet{session.value.must_verify ? ", so your keys are refused" : ""}.{" "}
          <a href={hrefOf("/signup")}>Verify it now</a>
        </Notice>
      )}
      <PlanNotice />
      <div class="overview">
        <Overview>
          <FirstSteps keys={live} />
        </Overview>
      </div>
      <dl class="tiles">
        <div>
          <dt>Plan</dt>
          <dd class="capital">{who.tier}</dd>
        </div>
        <div>
          <dt>Requests a minute, each key</dt>
          <dd>{who.tier_rpm.toLocaleString("en")}</dd>
        </div>
        {who.tier_tpm !== null && (
          <div>
            <dt>Tokens a minute, each key</dt>
            <dd>{who.tier_tpm.toLocaleString("en")}</dd>
          </div>
        )}
        {who.tier_parallel !== null && (
          <div>
            <dt>Requests at once, each key</dt>
            <dd>{who.tier_parallel.toLocaleString("en")}</dd>
          </div>
        )}
        <div>
          <dt>
            <a href={hrefOf("/keys")}>Keys</a>
          </dt>
          <dd>{live?.length ?? "–"}</dd>
        </div>
        <div>
          <dt>
            <a href={hrefOf("/models")}>Chat models of your plan</a>
          </dt>
          <dd>{models?.filter(({ usable }) => usable).length ?? "–"}</dd>
        </div>
      </dl>
      <section class="card" aria-label="Quick start" id="quick-start">
        <h2>Quick start</h2>
        <div class="address">
          <span>Base URL</span>
          <code>{baseUrl.value}/v1</code>
          <CopyButton text={`${baseUrl.value}/v1`} what="the base URL" />
        </div>
        <Examples />
      </section>
    </>
  );
}

/** The steps to a first request. */
function FirstSteps({ keys }: { keys: readonly KeyView[] | undefined }) {
  if (keys === undefined) return null;
  return keys.length === 0 ? (
    <p>
      Begin here: <a href={hrefOf("/keys")}>create a key</a>, then copy a line of the quick start below.
    </p>
  ) : (
    <p>
      Copy a line of the <a href="#quick-start">quick start</a> below, or use the{" "}
      <a href={hrefOf("/playground")}>playground</a>.
    </p>
  );
}

function PlanNotice() {
  const who = profile.value;
  const end = who?.subscription_until ?? who?.trial_ends_at;
  if (who == null || end == null) return null;
  const what = who.subscription_until !== null ? "subscription" : "trial";
  const over = Date.parse(end) <= Date.now();
  return (
    <Notice kind={over ? "danger" : "info"}>
      Your {what} {over ? "ended" : "runs until"} {over ? `on ${dayText(end)}: keys are refused.` : `${dayText(end)}.`}
    </Notice>
  );
}
